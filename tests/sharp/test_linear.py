"""Linear costs over a set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from unipd.atoms import LowRank, apply_adjoint
from unipd.atoms import dense as dense_point
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer
from unipd.sharp import (
    Birkhoff,
    Counted,
    L1Ball,
    L2Ball,
    L2NormSquared,
    Linear,
    NuclearBall,
    Product,
    Simplex,
    Spectrahedron,
)
from unipd.spectral import LazyDifference, difference, pairing

RNG = np.random.default_rng(3)
Y, C = RNG.standard_normal((2, 4, 3)) + 1j * RNG.standard_normal((2, 4, 3))


class MatvecOnly:
    """The least that an operator may offer."""

    def __init__(self, matrix: np.ndarray) -> None:
        self._matrix = matrix
        self.shape, self.dtype = matrix.shape, matrix.dtype

    def matvec(self, x: np.ndarray) -> np.ndarray:
        return self._matrix @ x

    def rmatvec(self, x: np.ndarray) -> np.ndarray:
        return self._matrix.conj().T @ x


class TopSingularPair:
    """A spectral oracle in its plainest form: it reads directions through products alone."""

    shape, exact, degree, linear = (4, 3), True, 1.0, True

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        matrix = direction @ np.eye(3)
        u, s, vh = np.linalg.svd(matrix)
        atom = LowRank(u[:, :1], vh[:1].conj().T, np.ones(1))
        return SharpAnswer(atom, float(s[0]), 0.0)

    value = __call__

    def support(self, direction: Any) -> float:
        return self(direction).value

    def maximum(self) -> float:
        return 0.0

    def objective(self, x: Any) -> float:
        return 0.0

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        return True


FORMS = [np.asarray, sp.csr_array, sp.csc_matrix, aslinearoperator, MatvecOnly]
FORM_NAMES = ["array", "csr", "csc-matrix", "linear-operator", "matvec-only"]
left_form = pytest.mark.parametrize("left", FORMS, ids=FORM_NAMES)
right_form = pytest.mark.parametrize("right", FORMS, ids=FORM_NAMES)


@left_form
@right_form
def test_lazy_difference_is_the_difference(left: Any, right: Any) -> None:
    lazy = LazyDifference(left(Y), right(C))
    x, z = RNG.standard_normal((3, 2)), RNG.standard_normal((4, 2))
    np.testing.assert_allclose(lazy.matmat(x), (Y - C) @ x, rtol=1e-12)
    np.testing.assert_allclose(lazy @ x, (Y - C) @ x, rtol=1e-12)
    np.testing.assert_allclose(lazy @ x[:, 0], (Y - C) @ x[:, 0], rtol=1e-12)
    np.testing.assert_allclose(lazy.matvec(x[:, 0]), (Y - C) @ x[:, 0], rtol=1e-12)
    np.testing.assert_allclose(lazy.rmatmat(z), (Y - C).conj().T @ z, rtol=1e-12)
    np.testing.assert_allclose(lazy.rmatvec(z[:, 0]), (Y - C).conj().T @ z[:, 0], rtol=1e-12)
    assert (lazy.shape, lazy.dtype) == ((4, 3), np.complex128)


@left_form
@right_form
def test_spectral_sets_take_directions_and_costs_in_every_form(left: Any, right: Any) -> None:
    oracle = Linear(right(C), TopSingularPair())
    answer = oracle(left(Y))
    dense = answer.atom.dense()
    assert answer.value == pytest.approx(np.linalg.norm(Y - C, 2))
    assert answer.objective == pytest.approx(np.vdot(C, dense).real)
    assert oracle.objective(dense) == pytest.approx(np.vdot(C, dense).real)
    assert np.vdot(Y, dense).real - answer.objective == pytest.approx(answer.value)


def test_lazy_difference_works_inside_scipy() -> None:
    from scipy.sparse.linalg import svds

    lazy: Any = LazyDifference(aslinearoperator(Y), C)
    wrapped = LinearOperator(lazy.shape, matvec=lazy.matvec, rmatvec=lazy.rmatvec, dtype=lazy.dtype)
    top = svds(wrapped, 1, return_singular_vectors=False, v0=np.ones(3))
    assert top[0] == pytest.approx(np.linalg.norm(Y - C, 2))


def test_precision_follows_the_direction() -> None:
    single = Y.astype(np.complex64)
    assert LazyDifference(single, C).dtype == np.complex64
    assert LazyDifference(single.real, C).dtype == np.complex64
    assert LazyDifference(single.real, C.real).dtype == np.float32


@left_form
@pytest.mark.parametrize("right", FORMS[:3], ids=FORM_NAMES[:3])
def test_only_the_hermitian_part_of_a_cost_meets_hermitian_points(left: Any, right: Any) -> None:
    skew = np.triu(RNG.standard_normal((4, 4)))
    oracle = Linear(right(skew), Spectrahedron(4))
    y = np.diag([1.0, 2.0, 3.0, 4.0])
    expected = np.linalg.eigvalsh(y - 0.5 * (skew + skew.T))[-1]
    answer = oracle(left(y))
    assert answer.value == pytest.approx(expected)
    assert answer.objective == pytest.approx(np.vdot(skew, answer.atom.dense()))


def test_certificates_pass_through() -> None:
    cost = np.diag(np.arange(5.0))
    oracle = Linear(cost, Spectrahedron(5))
    answer = oracle.call_certified(aslinearoperator(np.eye(5)))
    assert answer.bound_kind == "rigorous"
    assert answer.value == pytest.approx(1.0)
    assert answer.value + answer.error >= 1.0
    assert answer.objective == pytest.approx(0.0)
    assert Linear(np.ones(3), Simplex(3)).call_certified(np.zeros(3)).value == -1.0


def test_the_maximum_over_an_inexact_set_counts_its_error() -> None:
    class Rough(TopSingularPair):
        exact = False

        def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
            found = super().__call__(direction)
            return SharpAnswer(found.atom, found.value - 0.5, 0.0, error=0.5)

    assert Linear(C, Rough()).maximum() == pytest.approx(np.linalg.norm(C, 2))


@left_form
@right_form
def test_differences_keep_their_form_and_bound_their_norm(left: Any, right: Any) -> None:
    found = difference(left(Y), right(C))
    explicit = (np.asarray, sp.csr_array, sp.csc_matrix)
    if left is np.asarray and right in explicit:
        assert isinstance(found, np.ndarray)
    elif left in explicit[1:] and right in explicit[1:]:
        assert sp.issparse(found)
    elif left in explicit and right in explicit:
        assert found.norm_bound() >= np.linalg.norm(Y - C, 2)
    else:
        assert found.norm_bound() is None
    np.testing.assert_allclose(found @ np.eye(3), Y - C, rtol=1e-12)


def test_maximum_and_degree() -> None:
    cost = np.array([1.0, -3.0, 2.0])
    oracle = Linear(cost, L1Ball(3, 2.0))
    assert oracle.maximum() == 6.0
    assert oracle.degree is None
    assert oracle.linear
    assert Linear(0 * cost, L1Ball(3)).degree == 1.0
    assert Linear(0 * cost, L2NormSquared(3)).degree == 2.0
    assert not Linear(cost, L2NormSquared(3)).linear


def test_the_value_alone_needs_no_atom() -> None:
    answer = Linear(np.array([1.0, 2.0]), L2Ball(2)).value(np.zeros(2))
    assert answer.atom is None
    assert answer.value == pytest.approx(np.sqrt(5.0))


def test_sparse_costs_over_array_sets() -> None:
    cost = sp.lil_matrix((3, 3))
    cost[0, 1] = cost[1, 0] = -5.0
    oracle = Linear(cost, Birkhoff(3))
    answer = oracle(np.zeros((3, 3)))
    assert answer.value == 10.0
    assert answer.objective == -10.0


def test_pairing_and_adjoint_of_plain_arrays() -> None:
    assert pairing(C, Y) == pytest.approx(np.vdot(C, Y).real)
    assert pairing(np.ones(2), [1.0, 2.0]) == 3.0
    np.testing.assert_allclose(apply_adjoint(sp.csr_array(C), np.eye(4)), C.conj().T)


@pytest.mark.parametrize(
    "cost",
    [np.ones(4), [1.0, np.nan, 2.0], [1.0, np.inf, 0.0], sp.csr_array(np.ones((3, 3))), "cost", None],
)
def test_bad_costs(cost: Any) -> None:
    with pytest.raises(InvalidInput, match="cost"):
        Linear(cost, Simplex(3))


def test_a_sparse_cost_must_be_finite() -> None:
    with pytest.raises(InvalidInput, match="nan"):
        Linear(sp.csr_array(np.array([[np.nan, 0.0], [0.0, 1.0]])), Birkhoff(2))


def test_a_complex_cost_over_real_points_is_refused_when_used() -> None:
    with pytest.raises(InvalidInput, match="real"):
        Linear(np.array([1.0j, 0.0]), Simplex(2))(np.zeros(2))


@pytest.mark.parametrize("cost", [np.ones(5), (np.ones(3), np.ones(2)), [np.ones(3), np.ones(2)]])
def test_each_block_has_its_own_cost(cost: Any) -> None:
    with pytest.raises(
        InvalidInput, match=r"oracle: expected one block \(give each block its own.*got Product of 2 blocks"
    ):
        Linear(cost, Product([Simplex(3), Simplex(2)]))


@pytest.mark.parametrize("oracle", [Birkhoff(3), L1Ball((3, 3)), Linear(np.ones((3, 3)), Counted(L2Ball((3, 3))))])
@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_matrix, sp.dia_array])
def test_sparse_costs_over_sets_that_read_arrays(oracle: Any, form: Any) -> None:
    cost, y = np.diag([3.0, -1.0, 2.0]), np.arange(9.0).reshape(3, 3)
    dense, sparse = Linear(cost, oracle)(y), Linear(form(cost), oracle)(y)
    assert (dense.value, dense.objective) == (sparse.value, sparse.objective)
    assert np.asarray(dense_point(dense.atom)).tolist() == np.asarray(dense_point(sparse.atom)).tolist()
    with pytest.raises(InvalidInput, match="cost: expected an array, since"):
        Linear(aslinearoperator(cost), oracle)


@pytest.mark.parametrize("form", [np.array, np.asmatrix, sp.csr_array, sp.csc_array])
@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_the_cost_is_a_copy(form: Any) -> None:
    entries = np.array([[1.0, 2.0], [3.0, 4.0]])
    for oracle in (L1Ball((2, 2)), NuclearBall((2, 2)), Spectrahedron(2)):
        cost = form(entries.copy())
        linear = Linear(cost, oracle)
        before = linear.objective(np.eye(2))
        cost[0, 0] = 100.0
        assert linear.objective(np.eye(2)) == before == 5.0
