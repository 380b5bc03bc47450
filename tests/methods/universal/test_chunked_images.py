"""Universal methods on chunked images: the same iterates with fewer long vectors."""

from __future__ import annotations

import tracemalloc
from itertools import islice
from typing import Any

import numpy as np
import pytest

import unipd
from unipd.atoms import LowRank
from unipd.dual import (
    ChunkedSpace,
    DualValue,
    FusedSpace,
    Workspace,
    dual_space,
    evaluate,
    function,
    is_chunked,
    lower_bound,
)
from unipd.errors import OracleError
from unipd.maps import Sampling
from unipd.maps import sampling as pattern
from unipd.protocols import SharpAnswer
from unipd.run import iterate
from unipd.trackers import ImageOnly

SHAPE = (60, 40)


def problem(coupling: Any, dtype: Any = np.float64, *, by_column: bool = False) -> unipd.Problem:
    rng = np.random.default_rng(5)
    rows, cols = np.nonzero(rng.random(SHAPE) < 0.5)
    if by_column:
        order = np.argsort(cols, kind="stable")
        rows, cols = rows[order], cols[order]
    values = (rng.standard_normal((SHAPE[0], 2)) @ rng.standard_normal((2, SHAPE[1])))[rows, cols]
    sharp = (
        unipd.sharp.NuclearNormSquared(SHAPE, 1.0 / rows.size, engine=ENGINE)
        if coupling == "="
        else unipd.sharp.NuclearBall(SHAPE, 60.0, engine=ENGINE)
    )
    return unipd.Problem(sharp, Sampling(rows, cols, SHAPE, dtype), values, coupling)


ENGINE = unipd.spectral.Engine(solver="lanczos")
LOSS = unipd.couplings.LeastSquares(0.5)


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(function, "FUSED", 1)
    monkeypatch.setattr(function, "CHUNKED", 100)
    monkeypatch.setattr(pattern, "CACHE_ENTRIES", 90)


METHODS = {
    "unipdgrad": unipd.UniPDGrad(eps=0.5),
    "accunipdgrad": unipd.AccUniPDGrad(eps=0.5),
    "nonmonotone": unipd.AccUniPDGrad(eps=0.5, monotone=False),
    "greedy": unipd.AccUniPDGrad(eps=0.5, weights="greedy"),
}


def states(given: unipd.Problem, count: int = 12, method: str = "accunipdgrad") -> list[Any]:
    return list(islice(iterate(given, METHODS[method], tracker="lowrank"), count))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("coupling", [LOSS, "="], ids=["loss", "constraint"])
def test_the_iterates_are_those_of_whole_vectors(
    monkeypatch: pytest.MonkeyPatch, coupling: Any, by_column: bool, method: str
) -> None:
    whole = states(problem(coupling, by_column=by_column), method=method)
    monkeypatch.setattr(function, "FUSED", 1)
    monkeypatch.setattr(function, "CHUNKED", 100)
    monkeypatch.setattr(pattern, "CACHE_ENTRIES", 90)
    given = problem(coupling, by_column=by_column)
    assert type(dual_space(given)) is ChunkedSpace
    assert given.map.pattern.image_lines(np.ones((60, 1)), np.ones((40, 1)))[-1].size > 5  # pyright: ignore
    for one, other in zip(whole, states(given, method=method), strict=True):
        scale = np.abs(one.dual).max()
        np.testing.assert_allclose(one.dual, other.dual, atol=1e-4 * scale)
        np.testing.assert_allclose(one.image, other.image, atol=1e-3)
        assert one.smoothness == pytest.approx(other.smoothness, rel=1e-4)
        assert one.certificate.objective == pytest.approx(other.certificate.objective, rel=1e-4)
        assert one.certificate.violation == pytest.approx(other.certificate.violation, rel=1e-4)
        assert one.certificate.dual_bound == pytest.approx(other.certificate.dual_bound, rel=1e-3, abs=1e-6)
        assert one.counts.oracle_calls == other.counts.oracle_calls
        assert one.counts.trials == other.counts.trials
        np.testing.assert_allclose(other.image, given.map.image(other.primal.point()), atol=1e-9)


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("coupling", [LOSS, "="], ids=["loss", "constraint"])
@pytest.mark.usefixtures("in_parts")
def test_passes_are_those_of_whole_vectors(coupling: Any, by_column: bool, rank: int) -> None:
    """Step, lower model of another atom, average and extrapolation, with all their sums."""
    given, rng = problem(coupling, by_column=by_column), np.random.default_rng(rank)
    dual, mean = rng.standard_normal((2, given.b.size))
    answers: list[SharpAnswer] = []
    for objective in (0.25, 0.75):
        left, right = (rng.standard_normal((size, rank)) for size in SHAPE)
        atom = LowRank(left, right, np.arange(1.0, rank + 1))
        value = float(-dual @ given.map.image(atom)) - objective
        answers.append(SharpAnswer(atom, value, objective, 0.5, 3))
    whole, parts = FusedSpace(given), ChunkedSpace(given)
    base: Any = whole.complete(dual, answers[0])
    twin = parts.complete(dual, answers[0])
    assert twin.value == pytest.approx(base.value)
    assert (twin.upper_value, twin.conjugate) == pytest.approx((base.upper_value, base.conjugate))
    assert (twin.matvecs, base.matvecs) == (3, 4)
    step, other = whole.step(base, 4.0), parts.step(twin, 4.0)
    np.testing.assert_allclose(step.dual, other.dual)
    assert (step.model, step.length_sq, *step.sums) == pytest.approx((other.model, other.length_sq, *other.sums))
    model, again = whole.lower_model(base, answers[1]), parts.lower_model(twin, answers[1])
    assert again.value == pytest.approx(model.value)
    assert again.atom is answers[1].atom
    assert again.upper_value == again.conjugate == again.error == np.inf
    (one, squared), (two, parts_squared) = whole.average_image(mean, 0.25, base), parts.average_image(mean, 0.25, twin)
    np.testing.assert_allclose(one, two)
    assert squared == pytest.approx(parts_squared)
    np.testing.assert_allclose(parts.materialize(twin).gradient, base.gradient)
    np.testing.assert_allclose(parts.lincomb(dual, -0.5, mean), 1.5 * dual - 0.5 * mean)
    with pytest.raises(OracleError, match="nan"):
        parts.average_image(np.where(mean > 2, np.nan, mean), 0.25, twin)


@pytest.mark.usefixtures("in_parts")
def test_states_keep_no_images_of_atoms() -> None:
    given = problem(LOSS)
    first = METHODS["accunipdgrad"].start(given, ImageOnly(), np.zeros(given.b.size), 1e-3)
    assert type(first.point) is DualValue
    assert states(given, 3)[-1].last_base is None


@pytest.mark.usefixtures("in_parts")
def test_bounds_hold_and_close_in() -> None:
    given = problem(LOSS)
    last = states(given, 60)[-1]
    proven = lower_bound(given, evaluate(given, last.dual, certified=True)).value
    optimum = unipd.solve(given, "factored", accuracy=1e-6).objective
    assert 0.8 * optimum < proven <= optimum * (1 + 1e-6) <= last.certificate.objective * (1 + 2e-6)
    assert last.certificate.objective < 1.1 * optimum


@pytest.mark.usefixtures("in_parts")
def test_single_precision_stays_so() -> None:
    last = states(problem(LOSS, np.float32))[-1]
    assert last.dual.dtype == last.image.dtype == last.certificate.dual.dtype == np.float32


@pytest.mark.usefixtures("in_parts")
def test_a_search_that_cannot_succeed_is_reported() -> None:
    given = problem(LOSS)
    method = unipd.AccUniPDGrad(eps=1e-9, smoothness=1e-12, max_doublings=2)
    result = unipd.solve(given, method, accuracy=1e-9)
    assert result.status is unipd.Status.LINE_SEARCH_FAILED
    assert result.counts.trials == 3


def test_measurements_in_any_order_are_not_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(function, "CHUNKED", 1)
    places = np.array([2, 0, 1, 0]), np.array([1, 2, 0, 1])
    given = unipd.Problem(unipd.sharp.NuclearBall((3, 3), engine=ENGINE), Sampling(*places, (3, 3)), np.ones(4), LOSS)
    assert not is_chunked(given)


def test_few_long_vectors_live_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old and new dual vector and image, and the one before: five, and one for the best bound."""
    monkeypatch.setattr(function, "FUSED", 1)
    monkeypatch.setattr(function, "CHUNKED", 100)
    size = 1 << 20
    rows = np.repeat(np.arange(1024, dtype=np.int32), 1024)
    sampling = Sampling(rows, np.tile(np.arange(1024, dtype=np.int32), 1024), (1024, 1024), np.float32)
    values = np.sin(np.arange(size, dtype=np.float32))
    given = unipd.Problem(unipd.sharp.NuclearBall((1024, 1024), 50.0, engine=ENGINE), sampling, values, LOSS)
    running = iterate(given, unipd.AccUniPDGrad(eps=1.0), tracker="image")
    next(running)
    next(running)  # whatever has to be compiled is
    tracemalloc.start()
    try:
        next(running)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held <= 3.3 * values.nbytes
    assert peak <= 4.3 * values.nbytes


def ratings() -> unipd.Problem:
    rng = np.random.default_rng(5)
    places = np.sort(rng.choice(60 * 40, 900, replace=False))
    sampling = Sampling(places // 40, places % 40, (60, 40))
    return unipd.Problem(
        unipd.sharp.NuclearBall((60, 40), 30.0, engine=ENGINE), sampling, rng.standard_normal(900), LOSS
    )


@pytest.mark.usefixtures("in_parts")
def test_states_that_are_kept_do_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever keeps states of a run has the ones of a run that reuses no memory."""
    problem, method = ratings(), unipd.AccUniPDGrad(eps=1e-3)
    plain = list(islice(iterate(problem, method), 12))
    kept: list[Any] = []

    def keep_some(info: Any) -> None:
        if info.state.iteration % 5 == 0:
            kept.append(info.state)

    sizes: list[int] = []
    like = Workspace.like

    def count_vector(self: Workspace, vector: Any) -> Any:
        sizes.append(len(self))
        return like(self, vector)

    monkeypatch.setattr(Workspace, "like", count_vector)
    unipd.solve(problem, method, accuracy=1e-12, stop=unipd.MaxIterations(12), callback=keep_some)
    assert len(kept) == 2
    assert len(sizes) > 30 > 2 * max(sizes)  # most of them in reused memory
    for state in kept:
        twin: Any = plain[state.iteration - 1]
        for name in ("dual", "dual_previous", "image"):
            np.testing.assert_array_equal(getattr(state, name), getattr(twin, name))
