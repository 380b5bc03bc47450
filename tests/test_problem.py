"""The template: accepted input, its interpretation, and derived quantities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import unipd
from unipd import Problem
from unipd.couplings import Absolute, AtLeast, AtMost, Equality, Huber, L2Ball, LeastSquares
from unipd.errors import InvalidInput
from unipd.maps import BlockMap, DenseMatrix, OperatorMap, SparseMatrix
from unipd.protocols import SharpAnswer
from unipd.sharp import Counted, L1Ball, Linear, Product, Simplex

A = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 1.0]])
B = np.array([1.0, 2.0])


def test_maps_are_read_from_what_users_have() -> None:
    import pylops

    forms: list[tuple[Any, type]] = [
        (A, DenseMatrix),
        (A.tolist(), DenseMatrix),
        (list(A), DenseMatrix),
        (sp.csr_matrix(A), SparseMatrix),
        (sp.coo_array(A), SparseMatrix),
        (aslinearoperator(A), OperatorMap),
        (pylops.MatrixMult(A), OperatorMap),
        (DenseMatrix(A), DenseMatrix),
    ]
    for form, kind in forms:
        problem = Problem(Simplex(3), form, B)
        assert isinstance(problem.map, kind)
        np.testing.assert_allclose(problem.map.image(np.array([1.0, 1.0, 1.0])), [6.0, 0.0])
        np.testing.assert_allclose(problem.map.adjoint(np.array([1.0, 2.0])), [1.0, 0.0, 5.0])


@pytest.mark.parametrize(("relation", "kind"), [("=", Equality), ("==", Equality), ("<=", AtMost), (">=", AtLeast)])
def test_relations_are_read_from_strings(relation: str, kind: type) -> None:
    assert type(Problem(Simplex(3), A, B, relation).coupling) is kind


def test_the_default_coupling_is_equality() -> None:
    assert isinstance(Problem(Simplex(3), A, B).coupling, Equality)


def test_lists_of_oracles_are_blocks() -> None:
    problem = Problem([Simplex(3), L1Ball(2)], [A, np.eye(2)], B)
    assert isinstance(problem.sharp, Product)
    assert isinstance(problem.map, BlockMap)
    assert problem.sharp.shape == problem.map.domain == ((3,), (2,))


def test_integers_become_floats_and_single_precision_stays() -> None:
    assert Problem(Simplex(3), A.astype(int), B.astype(int)).dtype == np.float64
    assert Problem(Simplex(3), A.astype(np.float32), B).dtype == np.float32
    assert Problem(L1Ball(3), A.astype(np.complex64), B).dtype == np.complex64


def test_the_right_hand_side_is_the_problems_own() -> None:
    b = B.copy()
    problem = Problem(Simplex(3), A, b)
    b[:] = 99.0
    np.testing.assert_array_equal(problem.b, B)


def test_losses_are_split_where_they_can_be() -> None:
    assert Problem(Simplex(3), A, B, LeastSquares()).split
    assert not Problem(Simplex(3), A, B, LeastSquares(), split=False).split
    assert not Problem(Simplex(3), A, B, Huber()).split
    assert Problem(Simplex(3), A, B, Huber(slack_radius=5.0)).split
    assert not Problem(Simplex(3), A, B, "=").split


def test_the_dual_is_free_for_equalities_and_split_losses() -> None:
    assert Problem(Simplex(3), A, B, "=").free_dual
    assert Problem(Simplex(3), A, B, LeastSquares()).free_dual
    assert not Problem(Simplex(3), A, B, "<=").free_dual
    assert not Problem(Simplex(3), A, B, LeastSquares(), split=False).free_dual


def test_gaps_are_measured_against_the_size_of_the_problem() -> None:
    assert Problem(Simplex(3), A, B, LeastSquares(2.0)).scale(0.5) == pytest.approx(5.0)
    assert Problem(Simplex(3), A, B, Absolute()).scale(-7.0) == 7.0
    assert Problem(Simplex(3), A, 0 * B, LeastSquares()).scale(0.0) > 0.0
    constrained = Problem(Linear([0.0, -4.0, 1.0], Simplex(3)), A, B, L2Ball(0.1))
    assert constrained.scale(-7.0) == 7.0
    assert constrained.scale(0.0) == pytest.approx(1e-4)  # an optimal value of zero: a share of the largest |f|
    assert constrained.relative_gap(0.0, 0.0) == 0.0
    assert constrained.relative_gap(np.inf, 0.0) == np.inf


def test_problems_print_their_parts() -> None:
    assert repr(Problem(Linear([1.0, 2.0, 3.0], Simplex(3)), A, B, "<=")) == "Problem(Linear, DenseMatrix, n=2, AtMost)"
    assert repr(Problem(Simplex(3), sp.csc_array(A), B, LeastSquares())).endswith("n=2, LeastSquares, split)")


def test_points_may_be_arrays_of_any_shape() -> None:
    problem = Problem(Simplex((3, 2)), np.ones((1, 6)), [1.0])
    assert problem.map.domain == (3, 2)
    assert problem.map.adjoint(np.ones(1)).shape == (3, 2)


def test_sets_of_real_points_may_stand_beside_complex_blocks() -> None:
    complex_block = 1j * np.eye(2)
    problem = Problem([L1Ball(2), Simplex(3)], [complex_block, A], B * (1 + 1j), LeastSquares())
    first, second = problem.sharp(problem.map.adjoint(-problem.b)).atom.parts
    assert (first.dtype, second.dtype) == (np.complex128, np.float64)
    result = unipd.solve(problem, accuracy=1e-8)
    best = result.x.parts
    assert result.status.success
    np.testing.assert_allclose(complex_block @ best[0] + A @ best[1], result.image, atol=1e-12)
    for blocks in ([complex_block, 1j * A], [np.eye(2), 1j * A]):
        with pytest.raises(InvalidInput, match="Simplex has real points"):
            Problem([L1Ball(2), Simplex(3)], blocks, B * (1 + 1j), LeastSquares())


@pytest.mark.parametrize("kind", [">f4", ">f8", ">c8", ">c16"])
def test_the_byte_order_of_a_file_changes_no_precision(kind: str) -> None:
    native = np.dtype(kind).newbyteorder("=")
    problem = Problem(L1Ball(3), A.astype(kind), B.astype(kind), LeastSquares())
    assert problem.dtype == problem.map.dtype == native
    assert problem.dtype.isnative
    operator = aslinearoperator(A.astype(kind))
    assert Problem(L1Ball(3), operator, B.astype(kind), LeastSquares()).dtype == native
    assert L1Ball(3)(np.ones(3, kind)).atom.dtype == native


class Half:
    """A sharp oracle that lacks a part."""

    shape, exact, degree, linear = (3,), True, 1.0, True

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        return Simplex(3)(direction)

    def objective(self, x: Any) -> float:
        return 0.0


@pytest.mark.parametrize("use", [lambda o: Problem(o, A, B), lambda o: Linear(np.ones(3), o), Counted])
def test_oracles_that_lack_a_part_raise_an_error_that_names_it(use: Any) -> None:
    with pytest.raises(InvalidInput, match="Half without value"):
        use(Half())
    with pytest.raises(InvalidInput, match=r"the class Half \(an object is needed\)"):
        use(Half)
    with pytest.raises(InvalidInput, match="expected a sharp oracle, got int"):
        use(3)


def test_maps_that_lack_a_part_raise_an_error_that_names_it() -> None:
    class Nameless:
        domain, codomain = (3,), (2,)

        def image(self, atom: Any) -> Any:
            return A @ atom

        def adjoint(self, dual: Any) -> Any:
            return A.T @ dual

    with pytest.raises(InvalidInput, match="Nameless without dtype"):
        Problem(Simplex(3), Nameless(), B)


def test_a_complex_map_on_a_real_set_raises_an_error_with_the_remedy() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((2, 4)) + 1j * rng.standard_normal((2, 4))
    b = A @ np.full(4, 0.25)
    simplex = unipd.sharp.Simplex(4)
    with pytest.raises(InvalidInput, match=r"^A: .*Simplex.*stack the real and the imaginary part"):
        unipd.Problem(simplex, A, b)
    stacked = unipd.Problem(simplex, np.vstack([A.real, A.imag]), np.concatenate([b.real, b.imag]))
    assert unipd.solve(stacked, accuracy=1e-6).status.success


def test_a_block_that_is_nearly_orthogonal_to_b_does_not_loosen_the_gap():
    """min 1/2 ||x + s z - b||^2 + ||x||^2 + ||z||^2: z alone would reach b at an arbitrary cost as <s, b> vanishes."""
    rng = np.random.default_rng(0)
    b, column = rng.standard_normal(20), rng.standard_normal((20, 1))
    column -= (1.0 - 1e-13) * b[:, None] * float(b @ column[:, 0]) / float(b @ b)
    blocks = unipd.sharp.Product([unipd.sharp.L2NormSquared(20), unipd.sharp.L2NormSquared(1)])
    for coupling in (unipd.couplings.LeastSquares(), unipd.couplings.Equality()):
        problem = unipd.Problem(blocks, [np.eye(20), column], b, coupling)
        assert problem.scale(0.0) <= float(b @ b)
