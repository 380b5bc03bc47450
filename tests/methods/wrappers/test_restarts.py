"""Restarts: continuation in eps, decreasing M, and rates achieved without knowing the parameters."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import unipd
from unipd import AccUniPDGrad, MaxIterations, Restarts, Status, UniPDGrad, couplings, sharp
from unipd.methods import merit
from unipd.methods.universal import next_t


def _ridge(weight: float = 0.01) -> unipd.Problem:
    """A strongly convex f and a quadratic loss: the dual is smooth and strongly convex."""
    random = np.random.default_rng(0)
    A = random.standard_normal((20, 40)) * np.logspace(0, -1.5, 40)
    return unipd.Problem(sharp.L2NormSquared(40, weight), A, A @ np.ones(40), couplings.LeastSquares())


def _least_norm(decay: float) -> unipd.Problem:
    random = np.random.default_rng(1)
    rows, _ = np.linalg.qr(random.standard_normal((60, 40)))
    A = np.logspace(0, -decay, 40)[:, None] * rows.T
    return unipd.Problem(sharp.L2NormSquared(60, 0.5), A, A @ random.standard_normal(60), "=")


def _program() -> unipd.Problem:
    random = np.random.default_rng(2)
    A = random.standard_normal((6, 20))
    b = A @ random.dirichlet(np.ones(20))
    return unipd.Problem(sharp.Linear(random.standard_normal(20), sharp.Simplex(20)), A, b, "<=")


def _error(result: unipd.Result) -> float:
    return max(abs(result.gap), result.infeasibility)


@pytest.mark.parametrize("continuation", [True, False])
def test_restarts_converge_linearly_where_the_dual_is_strongly_convex(continuation: bool) -> None:
    problem = _ridge()
    method = Restarts(AccUniPDGrad(), continuation=continuation)
    gaps = unipd.solve(problem, method, accuracy=1e-11, stop=MaxIterations(2000)).history["gap"]
    assert gaps[-1] <= 1e-11
    reached = [int(np.argmax(gaps <= level)) for level in (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)]
    steps = np.diff(reached)
    assert steps.max() <= 2.0 * steps.min() + 20
    plain = unipd.solve(problem, AccUniPDGrad(), accuracy=1e-11, stop=MaxIterations(reached[-1]))
    assert plain.gap > 10 * gaps[-1]


def test_the_accelerated_rate_appears_without_its_parameters() -> None:
    """f strongly convex, so nu = 1: the dual residual falls like k^-2, that of the plain method like k^-1.

    With squared singular values spread evenly over the logarithmic scale and lam* = 1 these are the rates exactly.
    """
    sizes = np.logspace(0, -2.5, 60)
    problem = unipd.Problem(sharp.L2NormSquared(60, 0.5), np.diag(sizes), -(sizes**2), "=")
    optimum, lengths = 0.5 * float(sizes @ sizes), np.array([20, 40, 80, 160, 320])
    slopes = {}
    for method in (UniPDGrad(eps=1e-9), AccUniPDGrad(eps=1e-9), AccUniPDGrad(eps=1e-9, monotone=False)):
        bounds = unipd.solve(problem, method, accuracy=1e-12, stop=MaxIterations(320)).history["dual_bound"]
        residuals = np.log(optimum - bounds[lengths - 1])
        slopes[method.name, getattr(method, "monotone", None)] = np.polyfit(np.log(lengths), residuals, 1)[0]
    assert slopes["unipdgrad", None] == pytest.approx(-1.0, abs=0.1)
    assert slopes["accunipdgrad", True] == pytest.approx(-2.0, abs=0.2)
    assert slopes["accunipdgrad", False] == pytest.approx(-2.0, abs=0.2)


def test_the_rate_of_theorem_two_holds_with_and_without_monotone_smoothness() -> None:
    problem = _least_norm(decay=1.0)
    solution = np.linalg.lstsq(problem.map.matrix @ problem.map.matrix.T, -problem.b, rcond=None)[0]
    optimum = 0.5 * float(np.linalg.norm(problem.map.matrix.T @ solution)) ** 2
    for monotone in (True, False):
        method, weight_sum = AccUniPDGrad(monotone=monotone, eps=1e-8), 0.0
        for state in unipd.iterate(problem, method):
            weight_sum = state.weight_sum
            limit = 0.5 * float(solution @ solution) / weight_sum + 0.5e-8
            assert -limit <= optimum - state.certificate.dual_bound <= limit * (1 + 1e-9)
            distance = float(np.linalg.norm(solution))
            feasibility = (2 * distance + math.sqrt(weight_sum * 1e-8)) / weight_sum
            assert state.certificate.violation <= feasibility * (1 + 1e-9)
            if state.iteration == 60:
                break
        assert weight_sum > 60**2 / (4 * 2 * float(np.linalg.norm(problem.map.matrix, 2)) ** 2)


def test_the_momentum_makes_the_weights_add_up() -> None:
    """S_k = sum t_i / M_i = t_k^2 / M_k for every sequence of M."""
    random = np.random.default_rng(3)
    sizes = 10.0 ** random.uniform(-2, 2, 50)
    t, total = 1.0, 1.0 / sizes[0]
    for before, now in itertools.pairwise(sizes):
        t = next_t(t, now / before)
        total += t / now
        assert t * t / now == pytest.approx(total)


def test_smoothness_falls_again_when_it_may() -> None:
    problem = _ridge()
    stop = MaxIterations(60)
    rising = unipd.solve(problem, AccUniPDGrad(smoothness=1e6), accuracy=1e-9, stop=stop)
    falling = unipd.solve(problem, AccUniPDGrad(smoothness=1e6, monotone=False), accuracy=1e-9, stop=stop)
    assert np.all(np.diff(rising.history["smoothness"]) >= 0)
    assert falling.history["smoothness"].min() < 1e3
    assert falling.gap < 0.1 * rising.gap
    with pytest.raises(unipd.errors.InvalidInput, match="monotone"):
        AccUniPDGrad(monotone=False, step_rule="analytic")


def test_an_inexact_oracle_does_not_break_a_falling_smoothness() -> None:
    random = np.random.default_rng(4)
    measurements = unipd.maps.RankOneMeasurements(random.standard_normal((40, 6)))
    b = measurements.image(np.eye(6) / 6)
    problem = unipd.Problem(sharp.Spectrahedron(6), measurements, b, couplings.LeastSquares())
    result = unipd.solve(problem, AccUniPDGrad(monotone=False), accuracy=1e-3, stop=MaxIterations(500))
    assert result.status is Status.SOLVED


@pytest.mark.parametrize("name", ["unipdgrad", "accunipdgrad"])
def test_continuation_needs_no_eps(name: str) -> None:
    """With nu = 0 and eps of the requested accuracy the methods crawl; continuation finds a better one."""
    problem = _program()
    stop = unipd.MaxOracleCalls(1500)
    plain = unipd.solve(problem, name, accuracy=1e-6, stop=stop)
    staged = unipd.solve(problem, name, accuracy=1e-6, stop=stop, continuation=True)
    assert _error(staged) < 0.2 * _error(plain)
    assert _error(staged) < 0.1
    assert staged.settings["stages"] == "continuation"


@pytest.mark.parametrize("method", [Restarts(UniPDGrad()), Restarts(AccUniPDGrad()), Restarts(AccUniPDGrad(), False)])
def test_the_best_point_is_kept_and_bounds_hold(method: Restarts) -> None:
    problem = _program()
    optimum = unipd.solve(problem, accuracy=1e-9).objective
    errors, bounds = [], []
    for state in unipd.iterate(problem, method, accuracy=1e-6):
        errors.append(merit(problem, state.certificate, state.certificate.dual_bound))
        bounds.append(state.certificate.dual_bound)
        image = problem.map.image(state.primal.point())
        np.testing.assert_allclose(image, state.image, atol=1e-9)
        if state.iteration == 250:
            break
    assert state.iteration == len(errors)
    assert np.all(np.diff(bounds) >= 0)
    assert bounds[-1] <= optimum + 1e-9
    # A better bound may show the same point to be worse than it seemed; a new point is never worse.
    rises = np.diff(errors)[np.diff(bounds) == 0]
    assert rises.max(initial=0.0) <= 1e-9


def test_the_averaged_dual_vector_is_that_of_the_stage() -> None:
    stages = 0
    duals, weights = list[np.ndarray](), list[float]()
    for state in itertools.islice(unipd.iterate(_program(), Restarts(UniPDGrad()), accuracy=1e-3), 120):
        inner = state.inner
        if inner.iteration == 0:
            duals, weights, stages = [], [], stages + 1
            assert not inner.average_dual.any()
        else:
            duals, weights = [*duals, inner.dual], [*weights, 1.0 / inner.smoothness]
            np.testing.assert_allclose(inner.average_dual, np.average(duals, axis=0, weights=weights), atol=1e-9)
    assert stages > 2


def test_stages_are_for_universal_methods() -> None:
    problem = _program()
    for option in ("continuation", "restart"):
        with pytest.raises(unipd.errors.InvalidInput, match="unipdgrad"):
            unipd.solve(problem, "corrective", **{option: True})
    with pytest.raises(unipd.errors.InvalidInput, match="inner: expected UniPDGrad"):
        Restarts(unipd.Corrective())
    assert unipd.solve(_ridge(), "accunipdgrad", accuracy=1e-8, restart=True).settings["stages"] == "restart"


def test_a_run_in_stages_resumes_bit_for_bit(tmp_path) -> None:
    problem, method = _program(), Restarts(AccUniPDGrad())
    whole = unipd.solve(problem, method, accuracy=1e-6, stop=MaxIterations(120))
    path = tmp_path / "stages.ckpt"
    unipd.solve(problem, method, accuracy=1e-6, stop=MaxIterations(70), checkpoint=path, every="10it")
    resumed = unipd.solve(problem, method, accuracy=1e-6, stop=MaxIterations(120), checkpoint=path, resume=True)
    assert resumed.iterations == 120
    np.testing.assert_array_equal(resumed.x, whole.x)
    np.testing.assert_array_equal(resumed.dual, whole.dual)
