"""AccUniPDGrad with images made part by part: the same iterates, and fewer long vectors."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

import unipd
from unipd.atoms import LowRank
from unipd.dual import evaluate, lower_bound
from unipd.errors import OracleError
from unipd.maps import Sampling, pattern
from unipd.methods import streamed
from unipd.protocols import SharpAnswer
from unipd.run.loop import iterate

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
    monkeypatch.setattr(streamed, "LONG", 100)
    monkeypatch.setattr(pattern, "_PART_ENTRIES", 90)


def states(given: unipd.Problem, count: int = 12) -> list[Any]:
    method = unipd.AccUniPDGrad(eps=0.5)
    return list(islice(iterate(given, method, tracker="lowrank"), count))


@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("coupling", [LOSS, "="], ids=["loss", "constraint"])
def test_the_iterates_are_those_of_whole_vectors(
    monkeypatch: pytest.MonkeyPatch, coupling: Any, by_column: bool
) -> None:
    whole = states(problem(coupling, by_column=by_column))
    monkeypatch.setattr(streamed, "LONG", 100)
    monkeypatch.setattr(pattern, "_PART_ENTRIES", 90)
    given = problem(coupling, by_column=by_column)
    assert streamed.is_streamed(given)
    assert given.map.pattern.image_lines(np.ones((60, 1)), np.ones((40, 1)))[-1].size > 5  # pyright: ignore
    for one, other in zip(whole, states(given), strict=True):
        scale = np.abs(one.dual).max()
        np.testing.assert_allclose(one.dual, other.dual, atol=1e-4 * scale)
        np.testing.assert_allclose(one.image, other.image, atol=1e-3)
        np.testing.assert_allclose(one.ahead, other.ahead, atol=1e-4 * scale)
        assert one.certificate.objective == pytest.approx(other.certificate.objective, rel=1e-4)
        assert one.certificate.infeasibility == pytest.approx(other.certificate.infeasibility, rel=1e-4)
        assert one.counts.oracle_calls == other.counts.oracle_calls
        assert one.counts.trials == other.counts.trials
        np.testing.assert_allclose(other.image, given.map.image(other.primal.point()), atol=1e-9)


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("coupling", [LOSS, "="], ids=["loss", "constraint"])
@pytest.mark.usefixtures("in_parts")
def test_passes_are_those_of_numpy(coupling: Any, by_column: bool, rank: int) -> None:
    """Step, trial, value of another atom, average and extrapolation, with all their sums."""
    given, rng = problem(coupling, by_column=by_column), np.random.default_rng(rank)
    left, right = (rng.standard_normal((size, rank)) for size in SHAPE)
    answer = SharpAnswer(LowRank(left, right, np.arange(1.0, rank + 1)), 7.0, 0.25, 0.5, 3)
    dual, mean = rng.standard_normal((2, given.b.size))
    image, streams = given.map.image(answer.atom), streamed.Streams(given)
    inverse, halved = (2.0, 1.0) if given.split else (0.0, 0.0)
    step = streams.stepped(dual, answer, 4.0)
    gradient = given.b - image + inverse * dual
    np.testing.assert_allclose(step.dual, dual - gradient / 4.0)
    assert step.rise == pytest.approx(-(gradient @ gradient) / 8.0)
    assert step.base == pytest.approx(dual @ (given.b - image) - 0.25 + halved * (dual @ dual))
    assert streams.attained(dual, answer.atom, 0.25, step.slack) == pytest.approx(step.base)
    trial = streams.tried(step, answer)
    assert trial.value == pytest.approx(7.0 + step.dual @ given.b + halved * (step.dual @ step.dual))
    assert (trial.conjugate, trial.matvecs) == (7.5, 3)
    plain = replace(trial, energy=None)
    assert lower_bound(given, trial).value == pytest.approx(lower_bound(given, plain).value)
    mixed, squared = streams.mixed(mean, 0.25, answer.atom)
    np.testing.assert_allclose(mixed, 0.75 * mean + 0.25 * image)
    assert squared == pytest.approx(float(np.sum((mixed - given.b) ** 2)))
    np.testing.assert_allclose(streams.ahead(dual, mean, 0.5), 1.5 * dual - 0.5 * mean)
    with pytest.raises(OracleError, match="nan"):
        streams.mixed(np.where(mean > 2, np.nan, mean), 0.25, answer.atom)


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
    monkeypatch.setattr(streamed, "LONG", 1)
    places = np.array([2, 0, 1, 0]), np.array([1, 2, 0, 1])
    given = unipd.Problem(unipd.sharp.NuclearBall((3, 3), engine=ENGINE), Sampling(*places, (3, 3)), np.ones(4), LOSS)
    assert not streamed.is_streamed(given)


def test_few_long_vectors_live_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old and new dual vector and image, and the one before: five, and one for the best bound."""
    monkeypatch.setattr(streamed, "LONG", 100)
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
