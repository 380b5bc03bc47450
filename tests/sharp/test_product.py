"""Products of sets."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from unipd.atoms import Blocks, one_hot
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer
from unipd.sharp import Birkhoff, Entropy, L1Ball, L2NormSquared, Linear, Product, Simplex, UnitSimplex

RNG = np.random.default_rng(0)


class Recorder(UnitSimplex):
    """A simplex that records its arguments, and answers with a given error."""

    def __init__(self, size: int, error: float = 0.0, bound_kind: str = "rigorous") -> None:
        super().__init__(size)
        self.asked: list[tuple[float, Any]] = []
        self.threads: set[int] = set()
        self.error, self.bound_kind = error, bound_kind

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        self.asked.append((tolerance, start))
        self.threads.add(threading.get_ident())
        found = super().__call__(direction)
        return SharpAnswer(found.atom, found.value, 0.0, self.error, 3, self.bound_kind)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_are_maximised_on_their_own(threads: int) -> None:
    parts = [Simplex(4), Linear(np.arange(3.0), L1Ball(3)), Entropy((2, 2)), Birkhoff(3)]
    product = Product(parts, threads=threads)
    y = tuple(RNG.standard_normal(part.shape) for part in parts)
    answer = product(y)
    alone = [part(direction) for part, direction in zip(parts, y, strict=True)]
    assert answer.value == sum(one.value for one in alone)
    assert answer.objective == sum(one.objective for one in alone)
    for found, one in zip(answer.atom.dense(), alone, strict=True):
        expected = one.atom if isinstance(one.atom, np.ndarray) else one.atom.dense()
        np.testing.assert_array_equal(found, expected)
    assert product.shape == ((4,), (3,), (2, 2), (3, 3))
    assert product.contains(answer.atom)
    assert product.contains(answer.atom.dense())
    assert product.support(y) == sum(part.support(direction) for part, direction in zip(parts, y, strict=True))
    assert product.maximum() == sum(part.maximum() for part in parts)


def test_threads_are_used() -> None:
    recorder = Recorder(2)
    Product([recorder, recorder], threads=2)((np.zeros(2), np.zeros(2)))
    assert threading.get_ident() not in recorder.threads


def test_a_block_outside_its_set_is_noticed() -> None:
    product = Product([Simplex(2), Simplex(2)])
    assert not product.contains(Blocks((one_hot((2,), 0, 1.0), one_hot((2,), 0, 2.0))))


def test_errors_work_and_tolerances_are_shared() -> None:
    first, second = Recorder(2, 0.1), Recorder(2, 0.2, "probabilistic")
    start = Blocks((one_hot((2,), 0, 1.0), one_hot((2,), 1, 1.0)))
    answer = Product([first, second])((np.ones(2), np.ones(2)), tolerance=1.0, start=start)
    assert answer.error == pytest.approx(0.3)
    assert answer.matvecs == 6
    assert answer.bound_kind == "probabilistic"
    assert first.asked == [(0.5, start.parts[0])]
    assert second.asked == [(0.5, start.parts[1])]


@pytest.mark.parametrize(
    ("kinds", "weakest"),
    [
        (["rigorous", "rigorous"], "rigorous"),
        (["rigorous", "probabilistic"], "probabilistic"),
        (["residual", "probabilistic", "rigorous"], "residual"),
        (["residual", "something else"], "something else"),
    ],
)
def test_the_weakest_certificate_counts(kinds: list[str], weakest: str) -> None:
    product = Product([Recorder(2, bound_kind=kind) for kind in kinds])
    assert product([np.ones(2)] * len(kinds)).bound_kind == weakest
    assert product.call_certified([np.ones(2)] * len(kinds)).bound_kind == weakest


def test_value_has_no_atom_when_a_block_gives_none() -> None:
    y = (np.array([1.0, 2.0]), np.array([[3.0]]))
    assert Product([Simplex(2), Birkhoff(1)]).value(y).atom is None
    assert Product([Birkhoff(1)]).value((y[1],)).atom.dense() == (np.array([[1.0]]),)


@pytest.mark.parametrize(
    ("parts", "degree", "linear"),
    [
        ([Simplex(2), L1Ball(3)], 1.0, True),
        ([L2NormSquared(2), L2NormSquared(3)], 2.0, False),
        ([Simplex(2), L2NormSquared(3)], None, False),
        ([Simplex(2), Linear(np.ones(2), Simplex(2))], None, True),
    ],
)
def test_degree_and_linearity(parts: Any, degree: float | None, linear: bool) -> None:
    product = Product(parts)
    assert (product.degree, product.linear, product.exact) == (degree, linear, True)


def test_bad_input() -> None:
    with pytest.raises(InvalidInput, match="at least one"):
        Product([])
    with pytest.raises(InvalidInput, match="threads"):
        Product([Simplex(2)], threads=0)
    with pytest.raises(InvalidInput, match="oracles"):
        Product([Simplex(2), 3])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="the class Simplex"):
        Product([Simplex])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="2 blocks"):
        Product([Simplex(2), Simplex(2)])((np.zeros(2),))
    with pytest.raises(InvalidInput, match="2 blocks"):
        Product([Simplex(2), Simplex(2)]).contains((np.zeros(2),))
