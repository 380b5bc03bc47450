"""Frank-Wolfe and its variants: rates, active sets, and unsupported problems."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from support.references import loss_reference
from unipd import (
    AwayStepFrankWolfe,
    BlendedPairwise,
    FrankWolfe,
    MaxIterations,
    PairwiseFrankWolfe,
    Problem,
    iterate,
    solve,
)
from unipd._typing import Array
from unipd.couplings import Absolute, Huber, LeastSquares, WeightedLeastSquares
from unipd.errors import InvalidInput
from unipd.methods.frank_wolfe import ActiveSet, active_set
from unipd.methods.universal import greedy_gamma
from unipd.sharp import L1Ball, L1NormSquared, Linear, Simplex

VARIANTS: dict[str, Any] = {
    "away-step": AwayStepFrankWolfe(),
    "pairwise": PairwiseFrankWolfe(),
    "blended-pairwise": BlendedPairwise(),
    "lazy": BlendedPairwise(lazy=True),
}
every_variant = pytest.mark.parametrize("name", VARIANTS)


def interior_problem() -> tuple[Problem, float]:
    """Least squares over the simplex whose solution has several nonzeros and a positive residual."""
    random = np.random.default_rng(6)
    A = random.standard_normal((30, 12))
    b = A @ np.concatenate([random.dirichlet(np.ones(5)), np.zeros(7)]) + 0.1 * random.standard_normal(30)
    problem = Problem(Simplex(12), A, b, LeastSquares())
    return problem, solve(problem, "corrective", accuracy=1e-13, stop=MaxIterations(30)).dual_bound


def overcomplete_problem() -> Problem:
    """Least squares over the l1 ball, where away steps are taken while the oracle points to new vertices."""
    random = np.random.default_rng(0)
    A = random.standard_normal((20, 60))
    return Problem(L1Ball(60, 2.0), A, A[:, :4].sum(axis=1) + random.standard_normal(20), LeastSquares())


def errors_of(problem: Problem, optimum: float, method: Any, count: int) -> Array:
    states = islice(iterate(problem, method), count)
    return np.array([state.certificate.objective for state in states]) - optimum


@every_variant
def test_away_and_pairwise_steps_converge_linearly_where_plain_steps_do_not(name: str) -> None:
    problem, optimum = interior_problem()
    fast = errors_of(problem, optimum, VARIANTS[name], 120)
    plain = errors_of(problem, optimum, FrankWolfe("line-search"), 120)
    assert fast[-1] <= 1e-10
    assert plain[-1] >= 1e-6
    middle = fast[fast > 1e-11][10:]
    slopes = np.log(middle[len(middle) // 2]) - np.log(middle[0]), np.log(middle[-1]) - np.log(middle[len(middle) // 2])
    assert slopes[1] <= 0.3 * slopes[0] < 0


@pytest.mark.parametrize("step_size", ["open-loop", "line-search", "short-step"])
def test_plain_steps_keep_their_one_over_k_bound(step_size: str) -> None:
    problem, optimum = interior_problem()
    columns = problem.map.matrix
    diameter = max(float(np.linalg.norm(u - v)) for u in columns.T for v in columns.T)
    errors = errors_of(problem, optimum, FrankWolfe(step_size), 200)
    steps = np.arange(1, errors.size + 1)
    assert np.all(errors[1:] <= (2.0 * diameter**2 / (steps + 2.0))[1:])


@pytest.mark.parametrize("step_size", ["line-search", "short-step"])
def test_objective_never_rises_with_a_searched_or_short_step(step_size: str) -> None:
    problem, optimum = interior_problem()
    assert np.all(np.diff(errors_of(problem, optimum, FrankWolfe(step_size), 100)) <= 1e-12)


@every_variant
def test_the_active_set_is_a_convex_combination_of_distinct_vertices(name: str) -> None:
    problem, _ = interior_problem()
    for state in islice(iterate(problem, VARIANTS[name]), 60):
        active = state.primal
        assert isinstance(active, ActiveSet)
        assert active.weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert active.weights.min() > 0
        assert len({vertex.key for vertex in active.vertices}) == len(active.vertices)
        np.testing.assert_allclose(problem.map.image(active.point()), state.image, atol=1e-10)
        assert problem.sharp.contains(active.point())


COSTS: dict[str, Any] = {
    "no cost": Simplex(12),
    "linear": Linear(np.linspace(-2.0, 1.0, 12), Simplex(12)),
    "curved": L1NormSquared(12),
}
LOSSES: dict[str, Any] = {
    "least squares": LeastSquares(),
    "scaled": LeastSquares(2.5),
    "weighted": WeightedLeastSquares(np.linspace(1.0, 2.0, 30)),
    "huber": Huber(0.5),
}


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", [*VARIANTS, "line-search", "short-step"])
def test_the_slope_of_a_step_is_that_of_loss_and_cost(
    name: str, loss: str, cost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slope passed to a step is that of the gradient, also after vectors and sums were recomputed."""
    random = np.random.default_rng(6)
    A, coupling = random.standard_normal((30, 12)), LOSSES[loss]
    problem = Problem(COSTS[cost], A, 2.0 * random.standard_normal(30), coupling)
    recorded: list[tuple[Any, ...]] = []
    stepped, gammas = active_set.exact_step, FrankWolfe._choose_step  # pyright: ignore[reportPrivateUsage]

    def step(given: Problem, image: Any, direction: Any, fall: float, rise: float, upper: float) -> Any:
        recorded.append((image, direction[0].copy(), fall, rise))
        return stepped(given, image, direction, fall, rise, upper)

    def gamma(method: FrankWolfe, given: Problem, state: Any, direction: Any, fall: float, rise: float) -> float:
        recorded.append((state.image, direction[0].copy(), fall, rise))
        return gammas(method, given, state, direction, fall, rise)

    monkeypatch.setattr(active_set, "exact_step", step)
    monkeypatch.setattr(FrankWolfe, "_choose_step", gamma)
    for state in islice(
        iterate(problem, VARIANTS.get(name) or FrankWolfe(name), accuracy=1e-9), active_set.REFRESH + 5
    ):
        expected = problem.sharp.objective(state.primal.point()) + coupling.value(state.image - problem.b)
        assert state.certificate.objective == pytest.approx(expected, rel=1e-9)
        image, direction, fall, rise = recorded[-1]
        gradient = coupling.gradient(image - problem.b)
        size = 1.0 + float(np.linalg.norm(gradient)) * float(np.linalg.norm(image) + np.linalg.norm(direction))
        assert fall == pytest.approx(-float(np.vdot(gradient, direction)) - rise, abs=1e-12 * size)
    assert len(recorded) >= 20


@every_variant
def test_what_is_computed_anew_of_an_active_set_takes_the_place_of_running_sums(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, _ = interior_problem()
    summed = ActiveSet.image
    monkeypatch.setattr(ActiveSet, "image", lambda active: summed(active) + 0.25)  # as if much had piled up
    for state in islice(iterate(problem, VARIANTS[name]), active_set.REFRESH + 5):
        assert isinstance(state, active_set.ActiveSetState)
        assert state.cached_gradient is not None
        residual = state.image - problem.b
        np.testing.assert_allclose(state.cached_gradient[1][0], residual, rtol=1e-12)
        assert state.certificate.objective == pytest.approx(0.5 * float(residual @ residual), rel=1e-12)


@every_variant
def test_only_vertices_that_gain_weight_have_their_image_computed(name: str) -> None:
    problem = overcomplete_problem()
    calls, products, known, ways = 1, 0, set[bytes](), set[bool]()
    for state in islice(iterate(problem, VARIANTS[name]), 80):
        active, first = state.primal, not known
        assert isinstance(active, ActiveSet)
        entered = {vertex.key for vertex in active.vertices} - known
        spent = state.counts.matvecs - products - 2 * first  # the start takes an oracle call and an image
        assert spent == state.counts.oracle_calls - calls + len(entered) - first
        ways.add(bool(entered))
        calls, products = state.counts.oracle_calls, state.counts.matvecs
        known = {vertex.key for vertex in active.vertices}
    assert ways == {True, False}


def test_the_open_loop_step_is_two_over_k_plus_two() -> None:
    problem = Problem(L1Ball(2), np.eye(2), [3.0, 0.0], LeastSquares())
    points = [state.primal.point()[0] for state in islice(iterate(problem, FrankWolfe("open-loop")), 4)]
    assert points == pytest.approx([1.0] * 4)
    problem = Problem(L1Ball(2), np.eye(2), [0.1, 0.0], LeastSquares())
    first, second = (state.primal.point()[0] for state in islice(iterate(problem, FrankWolfe("open-loop")), 2))
    assert first == 1.0
    assert second == pytest.approx(1.0 - 2.0 * 2.0 / 3.0)


def test_a_start_at_zero_in_the_set_may_take_a_short_first_step() -> None:
    problem = Problem(L1Ball(3), np.eye(3), [0.0, 0.25, 0.0], LeastSquares())
    state = next(iterate(problem, FrankWolfe("line-search")))
    np.testing.assert_allclose(state.primal.point(), [0.0, 0.25, 0.0])
    assert state.counts.oracle_calls == 1


def test_the_greedy_step_of_a_quadratic_is_the_minimiser() -> None:
    problem, _ = loss_reference("simplex", "scaled least squares")
    random = np.random.default_rng(0)
    for _ in range(20):
        here, there = random.standard_normal((2, problem.b.size))
        gamma = greedy_gamma(problem, here, there, 0.4)
        grid = np.linspace(0.0, 1.0, 2001)
        values = [problem.coupling.value(here + g * (there - here) - problem.b) + 0.4 * g for g in grid]
        assert gamma == pytest.approx(grid[int(np.argmin(values))], abs=1e-3)


@pytest.mark.parametrize("method", [FrankWolfe(), AwayStepFrankWolfe(), PairwiseFrankWolfe()], ids=lambda m: m.name)
@pytest.mark.parametrize("coupling", ["=", "<=", Absolute()])
def test_constraints_and_nonsmooth_losses_are_refused(method: Any, coupling: Any) -> None:
    problem = Problem(Simplex(3), np.eye(3), [0.2, 0.3, 0.5], coupling)
    with pytest.raises(InvalidInput, match=method.name):
        solve(problem, method)


@pytest.mark.parametrize("method", [FrankWolfe(), *VARIANTS.values()], ids=lambda method: method.name)
def test_a_gradient_that_is_kept_serves_its_own_image_only(method: Any) -> None:
    problem, _ = interior_problem()
    state: Any = next(islice(iterate(problem, method), 7, None))
    assert state.cached_gradient[0] is state.image
    np.testing.assert_allclose(state.cached_gradient[1][0], state.image - problem.b, atol=1e-14)
    elsewhere = replace(state, image=state.image + 0.5)
    np.testing.assert_allclose(method.step(problem, elsewhere).dual, elsewhere.image - problem.b, atol=1e-14)
