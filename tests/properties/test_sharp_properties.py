"""Properties of every sharp oracle, at every dtype it supports."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd import atoms
from unipd.errors import InvalidInput

sys.path.insert(0, str(Path(__file__).parents[1]))
from sharp.cases import Case, flat, names, numbers, zeros
from sharp.registry import CASES

POLYTOPES = [case for case in CASES if case.polyhedral]
HOMOGENEOUS = [case for case in CASES if case.oracle.degree is not None]

every_case = pytest.mark.parametrize("case", CASES, ids=names(CASES))
every_homogeneous = pytest.mark.parametrize("case", HOMOGENEOUS, ids=names(HOMOGENEOUS))
every_polytope = pytest.mark.parametrize("case", POLYTOPES, ids=names(POLYTOPES))
examples = settings(max_examples=6)
draws = st.tuples(
    st.integers(0, 2**16),
    st.sampled_from([1.0, 1e-3, 30.0]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([0.0, -3.0, 3.0]),
)


@dataclass(frozen=True)
class Draw:
    """A generator, a dtype, a size of the numbers, the share of special ones (zeros, ties, subnormals) and a shift."""

    rng: np.random.Generator
    dtype: np.dtype[Any]
    scale: float
    special: float
    shift: float


def at_every_dtype(case: Case, drawn: tuple[int, float, float, float]) -> Iterator[Draw]:
    for dtype in case.dtypes:
        yield Draw(np.random.default_rng(drawn[0]), np.dtype(dtype), *drawn[1:])


def directions(case: Case, draw: Draw, count: int) -> list[Any]:
    how = (draw.dtype, draw.scale, draw.special, draw.shift)
    return [numbers(draw.rng, case.oracle.shape, *how) for _ in range(count)]


def mixture(case: Case, draw: Draw) -> tuple[Any, np.ndarray, list[Any]]:
    """Return a point of X with the weights and the answers it is a convex combination of."""
    answers = [case.oracle(y) for y in directions(case, draw, 3)]
    weights = draw.rng.dirichlet(np.ones(3))
    return atoms.combination(weights.tolist(), [answer.atom for answer in answers]), weights, answers


def rounding(draw: Draw, *sizes: float) -> float:
    """Return the rounding to expect in sums of terms of the given sizes."""
    precision = np.finfo(draw.dtype).eps
    return float(50 * precision * (1e-30 + sum(abs(size) for size in sizes)))


def size(y: Any, x: Any) -> float:
    return float(np.abs(flat(y)) @ np.abs(flat(x)))


@every_case
@examples
@given(drawn=draws)
def test_fenchel_young(case: Case, drawn: Any) -> None:
    for draw in at_every_dtype(case, drawn):
        (y,) = directions(case, draw, 1)
        answer = case.oracle(y)
        attained = atoms.inner_product(y, answer.atom) - case.oracle.objective(answer.atom)
        slack = rounding(draw, size(y, answer.atom), answer.objective, np.abs(flat(answer.atom)).sum())
        assert answer.value == pytest.approx(attained, rel=0, abs=slack)
        assert answer.objective == pytest.approx(case.oracle.objective(answer.atom), rel=0, abs=slack)
        assert answer.error == 0.0
        point, _, _ = mixture(case, draw)
        other = atoms.inner_product(y, point) - case.oracle.objective(point)
        assert answer.value >= other - slack - rounding(draw, size(y, point), case.oracle.objective(point))


@every_case
@examples
@given(drawn=draws)
def test_value_alone_agrees(case: Case, drawn: Any) -> None:
    for draw in at_every_dtype(case, drawn):
        (y,) = directions(case, draw, 1)
        answer, alone = case.oracle(y), case.oracle.value(y)
        slack = rounding(draw, size(y, answer.atom), answer.objective, np.abs(flat(answer.atom)).sum())
        assert alone.value == pytest.approx(answer.value, rel=0, abs=slack)
        assert math.isnan(alone.objective) or alone.objective == pytest.approx(answer.objective, rel=0, abs=slack)


@every_case
@examples
@given(drawn=draws)
def test_answers_and_mixtures_lie_in_the_set(case: Case, drawn: Any) -> None:
    for draw in at_every_dtype(case, drawn):
        point, _, answers = mixture(case, draw)
        tolerance = 1e-12 if draw.dtype in (np.float64, np.complex128) else 1e-5
        assert all(case.oracle.contains(answer.atom, tolerance) for answer in answers)
        assert case.oracle.contains(point, tolerance)


@every_case
@examples
@given(drawn=draws)
def test_support_bounds_the_set(case: Case, drawn: Any) -> None:
    for draw in at_every_dtype(case, drawn):
        (y,) = directions(case, draw, 1)
        point, _, answers = mixture(case, draw)
        support = case.oracle.support(y)
        for x in [point, case.oracle(y).atom, *(answer.atom for answer in answers)]:
            assert support >= atoms.inner_product(y, x) - rounding(draw, size(y, x))


@every_case
@examples
@given(drawn=draws)
def test_objective_is_convex_bounded_and_linear_when_said(case: Case, drawn: Any) -> None:
    for draw in at_every_dtype(case, drawn):
        point, weights, answers = mixture(case, draw)
        costs = np.array([answer.objective for answer in answers])
        value, average = case.oracle.objective(point), float(weights @ costs)
        # f may change fast along rounding errors of the mixture: compare at the size of its terms.
        slack = rounding(draw, *costs, value, 100 * np.abs(flat(point)).sum())
        assert value <= average + slack
        assert value <= case.oracle.maximum() + slack
        if case.oracle.linear:
            assert value == pytest.approx(average, rel=0, abs=slack)


@every_homogeneous
@examples
@given(drawn=draws, factor=st.sampled_from([4.0, 0.25, 64.0]))
def test_conjugate_is_homogeneous_when_said(case: Case, drawn: Any, factor: float) -> None:
    degree = case.oracle.degree
    for draw in at_every_dtype(case, drawn):
        (y,) = directions(case, draw, 1)
        scaled = tuple(factor * part for part in y) if isinstance(y, tuple) else factor * y
        answer, far = case.oracle(y), case.oracle(scaled)
        expected = factor**degree * answer.value
        slack = factor**degree * rounding(draw, size(y, answer.atom))
        assert far.value == pytest.approx(expected, rel=0, abs=slack)
        scaled_atom = factor ** (degree - 1.0) * flat(answer.atom)
        spread = float(np.abs(flat(far.atom)).max(initial=1e-30))
        np.testing.assert_allclose(flat(far.atom), scaled_atom, rtol=0, atol=rounding(draw, spread))


@every_case
@examples
@given(drawn=draws)
def test_atoms_keep_shape_and_dtype_and_calls_are_pure(case: Case, drawn: Any) -> None:
    for draw in at_every_dtype(case, drawn):
        (y,) = directions(case, draw, 1)
        before = flat(y).copy()
        first, second = case.oracle(y), case.oracle(y)
        expected = np.result_type(draw.dtype, np.complex64) if case.complex_values else draw.dtype
        assert first.atom.dtype == expected
        assert first.atom.shape == case.oracle.shape
        assert flat(first.atom).tobytes() == flat(second.atom).tobytes()
        assert (first.value, first.objective) == (second.value, second.objective)
        assert flat(y).tobytes() == before.tobytes()


@every_case
def test_the_zero_direction_has_an_answer(case: Case) -> None:
    for dtype in case.dtypes:
        answer = case.oracle(zeros(case.oracle.shape, dtype))
        assert case.oracle.contains(answer.atom, 1e-5)
        assert answer.value == pytest.approx(-answer.objective, abs=1e-6)
        assert case.oracle.support(zeros(case.oracle.shape, dtype)) == 0.0


@every_polytope
@examples
@given(drawn=draws)
def test_no_vertex_is_better(case: Case, drawn: Any) -> None:
    for draw in at_every_dtype(case, drawn):
        if draw.dtype.kind == "c" and not case.complex_values:
            draw = replace(draw, dtype=np.finfo(draw.dtype).dtype)
        (y,) = directions(case, draw, 1)
        scores = (case.vertices @ flat(y).conj()).real
        slack = rounding(draw, np.abs(case.vertices).max() * np.abs(flat(y)).sum())
        assert case.oracle(y).value == pytest.approx(scores.max(), rel=0, abs=slack)
        assert case.oracle.support(y) == pytest.approx(scores.max(), rel=0, abs=slack)


@every_case
def test_bad_directions_are_refused(case: Case) -> None:
    shape = case.oracle.shape
    good = zeros(shape, np.float64)
    if isinstance(good, tuple):
        wrong = [good[:1], (*good[:-1], np.zeros(17)), (*good[:-1], np.full_like(good[-1], np.nan))]
    else:
        wrong = [np.zeros((17, *shape)), np.full(shape, np.nan), np.full(shape, np.inf), "no numbers", None]
    wrong += [zeros(shape, complex)] if all(np.dtype(dtype).kind == "f" for dtype in case.dtypes) else []
    for bad in wrong:
        for ask in (case.oracle, case.oracle.value, case.oracle.support):
            with pytest.raises(InvalidInput):
                ask(bad)


@every_case
def test_points_of_the_wrong_shape_are_not_in_the_set(case: Case) -> None:
    if not isinstance(case.oracle.shape[0], tuple) and case.name != "from-callable":
        assert not case.oracle.contains(np.zeros((17, *case.oracle.shape)))
        assert not case.oracle.contains(np.full(case.oracle.shape, np.nan))
