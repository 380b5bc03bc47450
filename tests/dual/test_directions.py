"""How the direction -A^* lam of the oracle is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unipd import Problem, solve
from unipd.atoms import Blocks
from unipd.couplings import LeastSquares
from unipd.dual import call_oracle_along
from unipd.maps import DenseMatrix, Sampling
from unipd.sharp import NuclearBall

PLACES = [0, 1, 2, 0], [1, 0, 1, 0]
RATINGS = np.array([1.0, -2.0, 3.0, 0.5])


class Doubled:
    """Twice another map; all else is passed on."""

    def __init__(self, inside: Any) -> None:
        self.inside = inside

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inside, name)

    def image(self, atom: Any) -> Any:
        return 2.0 * self.inside.image(atom)

    def adjoint(self, dual: Any) -> Any:
        return self.inside.adjoint(2.0 * dual)


def sampling_problem(A: Any, b: Any, scale: float = 1.0) -> Problem:
    return Problem(NuclearBall((3, 2)), A, b, LeastSquares(scale))


def direction_of(problem: Problem, dual: Any) -> Any:
    return call_oracle_along(problem, dual, None, problem.sharp, 0.0, None)[0]


def test_a_map_that_wraps_another_is_called_itself() -> None:
    plain = Sampling(*PLACES, (3, 2))
    for A, factor in ((plain, 1.0), (Doubled(plain), 2.0)):
        direction = direction_of(sampling_problem(A, RATINGS), RATINGS)
        np.testing.assert_array_equal(direction.toarray(), -factor * plain.adjoint(RATINGS).toarray())


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad", "frank-wolfe", "pairwise"])
def test_a_wrapped_map_is_solved_as_the_map_that_it_stands_for(method: str) -> None:
    plain = Sampling(*PLACES, (3, 2))
    wrapped = solve(sampling_problem(Doubled(plain), RATINGS), method, accuracy=1e-2)
    same = solve(sampling_problem(plain, 0.5 * RATINGS, 4.0), method, accuracy=1e-2)
    assert wrapped.objective == pytest.approx(same.objective, rel=1e-9)
    assert wrapped.dual_bound == pytest.approx(same.dual_bound, rel=1e-9)


class Explicit(Sampling):
    """Sampled entries whose adjoint is a SciPy matrix."""

    def adjoint(self, dual: Any) -> Any:
        return super().adjoint(dual).tocsr()


def test_a_class_below_sampling_may_have_another_adjoint() -> None:
    direction = direction_of(sampling_problem(Explicit(*PLACES, (3, 2)), RATINGS), RATINGS)
    np.testing.assert_array_equal(direction.toarray(), -Sampling(*PLACES, (3, 2)).adjoint(RATINGS).toarray())


@pytest.mark.parametrize("shape", [(3, 5), (4, 4), (5, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_the_opposite_product_of_a_matrix_is_that_of_its_adjoint(shape: tuple[int, int], dtype: Any) -> None:
    rng = np.random.default_rng(6)
    entries = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype is np.complex128 else 0.0)
    A, lam = DenseMatrix(entries.astype(dtype)), rng.standard_normal(shape[0]).astype(dtype)
    kept = lam.copy()
    opposite = A.negated_adjoint(lam)
    np.testing.assert_array_equal(opposite, -A.adjoint(lam))
    np.testing.assert_array_equal(lam, kept)
    assert opposite.dtype == dtype


class InBlocks(DenseMatrix):
    """A matrix whose adjoint comes in two blocks, which know no product with a number."""

    def adjoint(self, dual: Any) -> Any:
        product = super().adjoint(dual)
        return Blocks((product[:1], product[1:]))


@pytest.mark.parametrize("rows", [2, 5])
def test_a_matrix_with_an_adjoint_of_its_own_is_called_at_the_opposite_vector(rows: int) -> None:
    entries = np.arange(3.0 * rows).reshape(rows, 3)
    opposite: Any = InBlocks(entries).negated_adjoint(np.ones(rows))
    np.testing.assert_array_equal(np.concatenate(opposite.parts), -entries.sum(axis=0))
