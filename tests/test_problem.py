"""The template: what it accepts, how it reads it, and what it derives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from unipd import Problem
from unipd.couplings import Absolute, AtLeast, AtMost, Equality, Huber, L2Ball, LeastSquares
from unipd.maps import BlockMap, DenseMatrix, OperatorMap, SparseMatrix
from unipd.sharp import L1Ball, Linear, Product, Simplex

A = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 1.0]])
B = np.array([1.0, 2.0])


def test_maps_are_read_from_what_users_have() -> None:
    import pylops

    forms: list[tuple[Any, type]] = [
        (A, DenseMatrix),
        (A.tolist(), DenseMatrix),
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
    assert Problem(Simplex(3), A, B, LeastSquares(2.0)).scale(123.0) == pytest.approx(5.0)
    assert Problem(Simplex(3), A, B, Absolute()).scale(123.0) == pytest.approx(3.0)
    assert Problem(Simplex(3), A, 0 * B, LeastSquares()).scale(0.5) == 1.0
    constrained = Problem(Simplex(3), A, B, L2Ball(0.1))
    assert constrained.scale(0.5) == 1.0
    assert constrained.scale(-7.0) == 7.0


def test_problems_print_their_parts() -> None:
    assert repr(Problem(Linear([1.0, 2.0, 3.0], Simplex(3)), A, B, "<=")) == "Problem(Linear, DenseMatrix, n=2, AtMost)"
    assert repr(Problem(Simplex(3), sp.csc_array(A), B, LeastSquares())).endswith("n=2, LeastSquares, split)")


def test_points_may_be_arrays_of_any_shape() -> None:
    problem = Problem(Simplex((3, 2)), np.ones((1, 6)), [1.0])
    assert problem.map.domain == (3, 2)
    assert problem.map.adjoint(np.ones(1)).shape == (3, 2)
