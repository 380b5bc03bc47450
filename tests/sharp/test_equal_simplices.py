"""Equal simplices evaluated together give the answers of single calls, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unipd.errors import InvalidInput
from unipd.sharp import Linear, Product, Simplex, UnitSimplex, runs_of, sum_answers
from unipd.sharp import product as equal_simplices

METHODS = ("__call__", "value", "call_certified")


def one_by_one(product, method, directions):
    """The naive twin: a loop over the blocks."""
    pairs = zip(product.oracles, directions, strict=True)
    return sum_answers([getattr(oracle, method, oracle)(y) for oracle, y in pairs])


def same(one, two):
    assert repr(one.value) == repr(two.value)
    assert repr(one.objective) == repr(two.objective)
    assert (one.error, one.matvecs, one.bound_kind) == (two.error, two.matvecs, two.bound_kind)
    assert (one.atom is None) == (two.atom is None)
    for left, right in zip(one.atom or (), two.atom or (), strict=True):
        assert type(left) is type(right)
        assert (left.shape, left.dtype, left.indices.dtype) == (right.shape, right.dtype, right.indices.dtype)
        np.testing.assert_array_equal(left.indices, right.indices)
        np.testing.assert_array_equal(left.values, right.values)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 7),
    st.integers(1, 5),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from(METHODS),
    st.booleans(),
)
def test_together_is_one_by_one(seed, count, size, kind, cost_kind, method, coarse):
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":  # which multiplies scalars of two precisions otherwise
        cost_kind = kind
    rng = np.random.default_rng(seed)
    scale = float(rng.choice([0.1, 1.0, 3.7]))

    def draw_direction(dtype):
        return (rng.integers(-2, 3, size) if coarse else rng.standard_normal(size)).astype(dtype)

    def block(form):
        simplex = (UnitSimplex if form == 2 else Simplex)(size, scale if form < 3 else 2 * scale)
        return simplex if form else Linear(draw_direction(cost_kind), simplex)

    product = Product([block(form) for form in np.sort(rng.integers(0, 4, count))])
    directions = tuple(draw_direction(kind) for _ in range(count))
    same(getattr(product, method)(directions), one_by_one(product, method, directions))


def test_runs_hold_what_is_alike():
    costs = np.zeros(3)
    bare = [Simplex(3, 2.0), *[Simplex(3)] * 2]
    priced = [*[Linear(costs, Simplex(3))] * 3, Linear(costs.astype("f4"), Simplex(3))]
    assert runs_of([*bare, *priced, Simplex((3, 1)), Simplex((3, 1)), UnitSimplex(3), UnitSimplex(3)]) == [
        *((0, 1), (1, 3), (3, 6), (6, 7)),
        *((7, 8), (8, 9), (9, 10), (10, 11)),
    ]
    long = Simplex(equal_simplices.LONGEST + 1)
    assert runs_of([long, long]) == [(0, 1), (1, 2)]


@pytest.mark.parametrize("threads", [1, 2])
def test_long_runs_are_cut(threads):
    rng = np.random.default_rng(0)
    product = Product([Linear(rng.standard_normal(8000), Simplex(8000)) for _ in range(70)], threads=threads)
    assert runs_of(product.oracles) == [(0, 32), (32, 64), (64, 70)]
    directions = tuple(rng.standard_normal((70, 8000)))
    same(product(directions), one_by_one(product, "__call__", directions))


def test_single_blocks_are_not_called(monkeypatch):
    """Equal blocks are evaluated together: no single simplex is called."""

    def fail_if_called(*_, **__):
        raise AssertionError("asked alone")

    monkeypatch.setattr(Simplex, "__call__", fail_if_called)
    monkeypatch.setattr(Linear, "__call__", fail_if_called)
    answer = Product([Linear(np.array([0.0, 1.0]), Simplex(2))] * 3)(tuple(np.eye(3, 2) * 5.0))
    assert [int(part.indices[0]) for part in answer.atom] == [0, 1, 0]


@pytest.mark.parametrize(
    "directions",
    [
        ([1.0, 2.0], [3.0, 1.0]),
        (np.array([1, 2]), np.array([3, 1])),
        (np.array([1.0, 2.0], "f4"), np.array([3.0, 1.0])),
        (np.array([1.0, 2.0], ">f8"), np.array([3.0, 1.0], ">f8")),
        (np.array([1.0, 2.0], "f2"), np.array([3.0, 1.0], "f2")),
        (np.ma.array([1.0, 2.0]), np.ma.array([3.0, 1.0])),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_other_directions_are_taken_one_by_one(directions, method):
    product = Product([Linear(np.array([0.5, 0.0]), Simplex(2))] * 2)
    same(getattr(product, method)(directions), one_by_one(product, method, directions))


@pytest.mark.parametrize(
    "wrong",
    [
        np.array([np.nan, 0.0]),
        np.array([np.inf, 0.0]),
        np.zeros(3),
        np.zeros((2, 1)),
        np.zeros(2, complex),
        "text",
        None,
    ],
)
@pytest.mark.parametrize("costs", [False, True])
def test_wrong_directions_are_refused_as_alone(wrong, costs):
    block = Linear(np.ones(2), Simplex(2)) if costs else Simplex(2)
    with pytest.raises(InvalidInput) as alone:
        block(wrong)
    with pytest.raises(InvalidInput) as together:
        Product([block, block])((np.zeros(2), wrong))
    assert str(together.value) == str(alone.value)
