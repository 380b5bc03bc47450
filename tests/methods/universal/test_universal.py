"""The two universal methods beyond their theorems: weights, failures, inexact oracles, fast paths."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from support.oracles import Inexact, Wrapped
from support.references import LOSSES, SETS, constrained_reference, loss_reference
from unipd import AccUniPDGrad, MaxIterations, Problem, Status, UniPDGrad, iterate, solve
from unipd.couplings import LeastSquares
from unipd.errors import OracleError
from unipd.maps import Sampling
from unipd.protocols import SharpAnswer
from unipd.sharp import NuclearBall, Simplex

METHODS: dict[str, Any] = {"unipdgrad": UniPDGrad, "accunipdgrad": AccUniPDGrad}
both = pytest.mark.parametrize("method", METHODS)


def with_oracle(problem: Problem, oracle: Any) -> Problem:
    """Return the same problem with another oracle."""
    split = problem.split if problem.loss is not None else None
    return Problem(oracle, problem.map, problem.b, problem.coupling, split=split)


@both
@pytest.mark.parametrize("loss", LOSSES)
def test_greedy_weights_never_raise_the_objective(method: str, loss: str) -> None:
    problem, _ = loss_reference("box", loss)
    states = islice(iterate(problem, METHODS[method](eps=0.05, weights="greedy")), 60)
    objectives = np.array([state.certificate.objective for state in states])
    assert np.all(np.diff(objectives) <= 1e-9 * objectives[:-1])
    assert objectives[-1] < 0.9 * objectives[0]


@both
@pytest.mark.parametrize("coupling", SETS)
def test_greedy_weights_never_raise_the_feasibility_gap(method: str, coupling: str) -> None:
    problem, _ = constrained_reference("linear on the simplex", coupling)
    states = islice(iterate(problem, METHODS[method](eps=0.05, weights="greedy")), 60)
    distances = np.array([state.certificate.violation for state in states])
    assert np.all(np.diff(distances) <= 1e-9)
    assert distances[-1] < 0.7 * distances[0]


@both
def test_greedy_weights_are_the_best_on_the_segment(method: str) -> None:
    problem, _ = loss_reference("simplex", "least squares")
    last = None
    for state in islice(iterate(problem, METHODS[method](eps=0.05, weights="greedy")), 30):
        if last is not None:
            step = state.image - last.image
            for shift in (-0.01, 0.01):
                moved = problem.coupling.value(state.image + shift * step - problem.b)
                inside = np.any(step) and 0.0 < position(problem, last, state) < 1.0
                assert not inside or moved >= state.certificate.objective
        last = state


def position(problem: Problem, last: Any, state: Any) -> float:
    """Return the gamma of the last averaging step, from the weights of the newest atom's image."""
    atom = problem.map.image(state.last_base.atom if hasattr(state, "last_base") else last.point.atom)
    direction = atom - last.image
    return float(np.vdot(direction, state.image - last.image) / max(np.vdot(direction, direction), 1e-300))


@both
def test_a_line_search_that_cannot_succeed_is_reported(method: str) -> None:
    """Every answer but the first claims one more than the truth: no M explains that."""

    def boast(call: int, answer: SharpAnswer, direction: Any) -> SharpAnswer:
        return replace(answer, value=answer.value + call, objective=answer.objective - call)

    problem = Problem(Wrapped(Simplex(3), boast), np.eye(3), [0.2, 0.3, 0.5], "=")
    with pytest.raises(OracleError, match="does not maximise") as caught:
        solve(problem, METHODS[method](eps=1e-3, smoothness=1.0, max_doublings=25))
    result = caught.value.result
    assert result.status is Status.LINE_SEARCH_FAILED
    assert not result.status.success
    assert result.counts.trials == 26
    assert "Line search failed" in str(result)


@both
def test_states_end_after_a_failed_line_search(method: str) -> None:
    def boast(call: int, answer: SharpAnswer, direction: Any) -> SharpAnswer:
        return replace(answer, value=answer.value + call, objective=answer.objective - call)

    problem = Problem(Wrapped(Simplex(3), boast), np.eye(3), [0.2, 0.3, 0.5], "=")
    states = list(iterate(problem, METHODS[method](eps=1e-3, smoothness=1.0)))
    assert [state.failure for state in states] == [Status.LINE_SEARCH_FAILED]


INEXACT_CASES: dict[str, Any] = {
    "quadratic loss": lambda: loss_reference("simplex", "least squares"),
    "quadratic loss, prox form": lambda: loss_reference("l1 ball", "least squares", False),
    "linear program": lambda: constrained_reference("linear on the simplex", "equality"),
    "inequalities": lambda: constrained_reference("linear on the simplex", "at most"),
    "squared norm": lambda: constrained_reference("squared norm", "equality"),
}


@both
@pytest.mark.parametrize("obedient", [True, False], ids=["within tolerance", "beyond tolerance"])
@pytest.mark.parametrize("case", INEXACT_CASES)
def test_inexact_oracles_keep_bounds_valid_and_smoothness_finite(method: str, obedient: bool, case: str) -> None:
    problem, optimum = INEXACT_CASES[case]()
    exact = list(islice(iterate(problem, METHODS[method](eps=1e-2)), 100))
    oracle = Inexact(problem.sharp, obedient=obedient)
    states = list(islice(iterate(with_oracle(problem, oracle), METHODS[method](eps=1e-2)), 100))
    assert oracle.largest_error > 0
    calls_of_scale = 1 if case == "squared norm" else 0  # the typical objective of an f without a maximum
    assert all(state.certificate.dual_bound <= optimum + 1e-7 for state in states)
    assert all(state.failure is None for state in states)
    assert len(states) == 100
    largest = max(state.smoothness for state in exact)
    assert max(state.smoothness for state in states) <= 100.0 * largest
    assert states[-1].counts.oracle_calls == oracle.calls - calls_of_scale


def test_without_better_atoms_an_inexact_oracle_would_ruin_the_search() -> None:
    """The cure is needed: the oracle that passes for exact gets none, and the same run fails or M explodes."""
    problem, _ = loss_reference("simplex", "least squares")
    oracle = Inexact(problem.sharp, obedient=False, exact=True)
    states = list(islice(iterate(with_oracle(problem, oracle), AccUniPDGrad(eps=1e-2)), 100))
    assert states[-1].failure is not None or states[-1].smoothness > 1e8


@both
def test_any_maximiser_at_zero_will_do(method: str) -> None:
    """At lam = 0 every point of the simplex is a maximiser: an unusual choice changes the path, not the answer."""
    centre = np.full(6, 1.0 / 6.0)

    def central(call: int, answer: SharpAnswer, direction: Any) -> SharpAnswer:
        return answer if np.any(direction) else replace(answer, atom=centre)

    random = np.random.default_rng(1)
    A, b = random.standard_normal((4, 6)), 0.2 * random.standard_normal(4)
    plain = solve(Problem(Simplex(6), A, b, LeastSquares()), method, accuracy=1e-2)
    other = solve(Problem(Wrapped(Simplex(6), central), A, b, LeastSquares()), method, accuracy=1e-2)
    assert plain.status is other.status is Status.SOLVED
    assert other.objective == pytest.approx(plain.objective, abs=2e-2 * plain.problem.scale(0.0))


@both
def test_a_given_eps_is_used_as_it_is(method: str) -> None:
    problem, _ = constrained_reference("linear on the simplex", "equality")
    given = next(iterate(problem, METHODS[method](eps=0.123), accuracy=1e-9))
    scaled = next(iterate(problem, METHODS[method](), accuracy=0.1))
    assert given.eps == 0.123
    first = abs(problem.sharp(np.zeros(problem.sharp.shape)).objective)
    assert scaled.eps == pytest.approx(0.1 * max(first, problem.sharp.maximum()))


@both
def test_the_mean_objective_bounds_the_objective_of_the_mean(method: str) -> None:
    problem, _ = constrained_reference("squared norm", "at most")
    for state in islice(iterate(problem, METHODS[method](eps=1e-2)), 40):
        assert problem.sharp.objective(state.primal.point()) <= state.mean_objective + 1e-12
        np.testing.assert_allclose(problem.map.image(state.primal.point()), state.image, atol=1e-10)


@pytest.mark.parametrize(
    ("method", "smoothness"),
    [("unipdgrad", 1e-6), ("unipdgrad", 1.0), ("unipdgrad", 1e6), ("accunipdgrad", 1e-6), ("accunipdgrad", 1.0)],
)
def test_any_first_smoothness_leads_to_the_answer(method: str, smoothness: float) -> None:
    """UniPDGrad forgets a wrong M_{-1}; the accelerated method's M never falls, so it needs one below M_bar."""
    problem, optimum = constrained_reference("squared norm", "equality")
    result = solve(problem, METHODS[method](smoothness=smoothness), accuracy=1e-2, stop=MaxIterations(2000))
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(optimum, abs=2e-2)


@both
def test_products_that_make_a_small_matrix_dense_are_counted_for_every_trial(method: str) -> None:
    """Exact oracles of operators take as many products as there are columns, for points and for values."""
    rng, taken = np.random.default_rng(2), list[int]()
    places = np.sort(rng.choice(48, 30, replace=False))

    def note(call: int, answer: Any, direction: Any) -> Any:
        taken.append(answer.matvecs)
        return answer

    sampling = Sampling(places // 6, places % 6, (8, 6))
    oracle = Wrapped(NuclearBall((8, 6), 3.0), note)
    problem = Problem(oracle, sampling, rng.standard_normal(30), LeastSquares())
    state = list(islice(iterate(problem, METHODS[method](), accuracy=1e-9), 10))[-1]
    images = state.counts.matvecs - sum(taken)
    assert set(taken) == {6}
    assert 10 <= images <= 11  # one an iteration, and that of the first point


@pytest.mark.parametrize("method", [UniPDGrad(), AccUniPDGrad(), AccUniPDGrad(monotone=False)])
def test_states_have_all_their_fields(method: Any) -> None:
    """States are made without their constructors, which would require each of them."""
    problem = Problem(Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    for state in islice(iterate(problem, method), 3):
        assert set(vars(state)) == {field.name for field in fields(state)}
