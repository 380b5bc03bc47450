"""The semidefinite map against dense references."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

from unipd._util.arrays import inner as dot
from unipd.atoms import Blocks, LowRank, inner_product, one_hot
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.maps import BlockMap, DenseMatrix, Entries, SdpMap, SymmetricOperator


@dataclass
class Case:
    """A map and the same matrices, dense."""

    map: SdpMap
    matrices: np.ndarray
    rng: np.random.Generator

    def factor(self, rank: int) -> np.ndarray:
        return self.rng.standard_normal((self.map.domain[0], rank))

    def naive_image(self, point: np.ndarray) -> np.ndarray:
        return np.tensordot(self.matrices, point, 2)


def make(order: int, constraints: int, seed: int, density: float, ones: bool) -> Case:
    rng = np.random.default_rng(seed)
    columns: list[list[float]] = [[], [], [], []]
    matrices = []
    for i in range(constraints):
        full = rng.standard_normal((order, order)) * (rng.random((order, order)) < density)
        if ones and rng.random() < 0.4:
            v = rng.standard_normal(order) if rng.random() < 0.5 else np.ones(order)
            full = rng.standard_normal() * np.outer(v, v)
        upper = np.triu(full)
        for a, c in zip(*np.nonzero(upper), strict=True):
            first, second = (a, c) if rng.random() < 0.5 else (c, a)
            for column, entry in zip(columns, (i, first, second, upper[a, c]), strict=True):
                column.append(entry)
        matrices.append(upper + np.triu(upper, 1).T)
    shuffle = rng.permutation(len(columns[3]))
    places = [np.array(column, np.int64)[shuffle] for column in columns[:3]]
    entries = Entries(*places, np.array(columns[3], np.float64)[shuffle])
    return Case(SdpMap((order, order), entries, constraints), np.array(matrices), rng)


cases = st.builds(
    make, st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**32), st.sampled_from([0.0, 0.3, 1.0]), st.booleans()
)


@settings(max_examples=60)
@given(cases)
def test_images_of_dense_points(case: Case) -> None:
    point = case.rng.standard_normal(case.map.domain)
    np.testing.assert_allclose(case.map.image(point), case.naive_image(point), atol=1e-12)


@settings(max_examples=60)
@given(cases, st.integers(1, 4), st.booleans())
def test_images_of_low_rank_points(case: Case, rank: int, hermitian: bool) -> None:
    left, other, weights = case.factor(rank), case.factor(rank), case.rng.standard_normal(rank)
    atom = LowRank(left, left if hermitian else other, weights)
    np.testing.assert_allclose(case.map.image(atom), case.naive_image((left * weights) @ atom.right.T), atol=1e-12)


@settings(max_examples=60)
@given(cases)
def test_adjoints_are_the_weighted_sums(case: Case) -> None:
    dual = case.rng.standard_normal(case.map.codomain)
    found, naive = case.map.adjoint(dual), np.tensordot(dual, case.matrices, 1)
    block = case.factor(3)
    np.testing.assert_allclose(found.toarray(), naive, atol=1e-13)
    np.testing.assert_allclose(found.tocsr().toarray(), naive, atol=1e-13)
    np.testing.assert_allclose(found.diagonal(), np.diag(naive), atol=1e-13)
    for product in (found.matmat, found.rmatmat, found.__matmul__, aslinearoperator(found).matmat):
        np.testing.assert_allclose(product(block), naive @ block, atol=1e-12)
    for product in (found.matvec, found.rmatvec, found.__matmul__, aslinearoperator(found).matvec):
        np.testing.assert_allclose(product(block[:, 0]), naive @ block[:, 0], atol=1e-12)


@settings(max_examples=60)
@given(cases, st.integers(1, 3))
def test_the_adjoint_identity(case: Case, rank: int) -> None:
    dual, factor = case.rng.standard_normal(case.map.codomain), case.factor(rank)
    atom = LowRank(factor, factor, np.ones(rank))
    assert dot(case.map.image(atom), dual) == pytest.approx(inner_product(case.map.adjoint(dual), atom), abs=1e-11)


@settings(max_examples=40)
@given(cases)
def test_norms_and_scaling(case: Case) -> None:
    naive = np.linalg.norm(case.matrices, axis=(1, 2))
    np.testing.assert_allclose(case.map.frobenius_norms(), naive, atol=1e-13)
    factors, point = case.rng.standard_normal(case.map.codomain), case.rng.standard_normal(case.map.domain)
    scaled = case.map.scale_rows(factors)
    np.testing.assert_allclose(scaled.image(point), factors * case.naive_image(point), atol=1e-12)
    found = scaled.adjoint(np.ones_like(factors)).toarray()
    np.testing.assert_allclose(found, np.tensordot(factors, case.matrices, 1), atol=1e-13)
    np.testing.assert_allclose(scaled.frobenius_norms(), np.abs(factors) * naive, atol=1e-13)
    np.testing.assert_allclose(case.map.image(point), case.naive_image(point), atol=1e-12)


def test_calls_repeat_bit_for_bit_and_change_nothing() -> None:
    case = make(6, 4, 0, 0.5, True)
    factor = case.factor(2)
    atom, dual = LowRank(factor, factor, np.ones(2)), case.rng.standard_normal(4)
    before = factor.copy(), dual.copy()
    images = [case.map.image(atom) for _ in range(3)]
    products = [case.map.adjoint(dual).matvec(factor[:, 0]) for _ in range(3)]
    assert all(np.array_equal(image, images[0]) for image in images)
    assert all(np.array_equal(product, products[0]) for product in products)
    assert all(np.array_equal(a, b) for a, b in zip((factor, dual), before, strict=True))


def test_blocks_with_their_own_oracles_are_a_block_map() -> None:
    psd, diagonal = make(3, 2, 1, 1.0, False), np.array([[1.0, 0.0], [2.0, -1.0]])
    both = BlockMap([psd.map, DenseMatrix(diagonal)])
    x = psd.rng.standard_normal((3, 3))
    expected = psd.naive_image(x) + diagonal @ [5.0, 7.0]
    np.testing.assert_allclose(both.image(Blocks((x, np.array([5.0, 7.0])))), expected, atol=1e-12)


def test_maxcut_reads_only_the_diagonal() -> None:
    n = 50_000
    index = np.arange(n)
    diagonal = SdpMap((n, n), Entries(index, index, index, np.ones(n)), n)
    assert diagonal.nbytes < 100 * n
    factor = np.full((n, 2), 0.5)
    np.testing.assert_array_equal(diagonal.image(LowRank(factor, factor, np.ones(2))), np.full(n, 0.5))
    operator = diagonal.adjoint(np.arange(n, dtype=np.float64))
    np.testing.assert_array_equal(operator.matvec(np.ones(n)), np.arange(n))
    assert operator.tocsr().nnz == n
    with pytest.raises(MemoryForecastError, match="too large"):
        operator.toarray()


@pytest.mark.parametrize("scale", [1.0, 3.0, -1 / 3, 1e-200, 1e200])
def test_dense_rank_one_data_is_kept_as_vectors(scale: float) -> None:
    n = 200
    ones = SdpMap((n, n), Entries.from_matrices([scale * np.ones((n, n))]), 1)
    assert ones.nbytes < 100 * n
    np.testing.assert_allclose(ones.image(np.eye(n)), [n * scale], rtol=1e-14)
    np.testing.assert_allclose(ones.adjoint(np.ones(1)).toarray(), scale, rtol=1e-14)


def test_only_what_is_rank_one_is_kept_as_vectors() -> None:
    v = np.array([1.0, -2.0, 1e-3, 4.0])
    outer = np.outer(v, v)
    near = outer.copy()
    near[0, 1] = near[1, 0] = near[0, 1] * (1 + 1e-12)
    hollow = np.ones((4, 4)) - np.eye(4)
    both = SdpMap((4, 4), Entries.from_matrices([-outer, near, hollow, np.diag(v)]), 4)
    assert both.pattern.owners.tolist() == [0]
    for index, matrix in enumerate([-outer, near, hollow, np.diag(v)]):
        np.testing.assert_allclose(both.adjoint(np.eye(4)[index]).toarray(), matrix, rtol=1e-14)


def test_single_precision_stays_single() -> None:
    data = np.array([[1.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 1.0]], np.float32)
    both = SdpMap((3, 3), Entries.from_matrices([data, np.ones((3, 3), np.float32)]), 2)
    factor = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]], np.float32)
    dual = np.array([1.0, -2.0], np.float32)
    operator = both.adjoint(dual)
    results = [
        both.image(LowRank(factor, factor, np.ones(2, np.float32))),
        both.image(data),
        both.frobenius_norms(),
        both.scale_rows([1.0, 2.0]).image(data),
        operator.matvec(factor[:, 0]),
        operator.matmat(factor),
        operator.toarray(),
    ]
    assert {result.dtype for result in results} == {np.dtype(np.float32)}
    assert both.dtype == np.float32
    naive = [np.sum(a * (factor @ factor.T)) for a in (data, np.ones((3, 3)))]
    np.testing.assert_allclose(results[0], naive, rtol=1e-6)


def test_entries_come_from_sparse_and_dense_matrices_alike() -> None:
    matrix = np.array([[1.0, 2.0], [2.0, 0.0]])
    for form in (sp.csr_array(matrix), sp.coo_array(matrix), sp.csc_matrix(matrix)):
        operator = SdpMap((2, 2), Entries.from_matrices([form]), 1).adjoint(np.ones(1))
        np.testing.assert_array_equal(operator.toarray(), matrix)


def test_sparse_points_are_read() -> None:
    case = make(3, 2, 1, 1.0, False)
    atom = one_hot((3, 3), 5, 2.0)
    np.testing.assert_allclose(case.map.image(atom), case.naive_image(atom.dense()), atol=1e-14)


ONE = Entries([0], [0], [1], [1.0])
WRONG = {
    "domain": (lambda: SdpMap((2, 3), ONE, 1), "domain"),
    "domain of zero": (lambda: SdpMap((0, 0), ONE, 1), "domain"),
    "domain of nothing": (lambda: SdpMap((), ONE, 1), "domain"),
    "domain as a number": (lambda: SdpMap(2, ONE, 1), "domain"),
    "domain of three": (lambda: SdpMap((2, 2, 2), ONE, 1), "domain"),
    "huge domain": (lambda: SdpMap((2**31, 2**31), ONE, 1), "domain"),
    "constraints": (lambda: SdpMap((2, 2), ONE, 0), "constraints"),
    "constraint": (lambda: SdpMap((2, 2), Entries([1], [0], [0], [1.0]), 1), "constraint"),
    "row": (lambda: SdpMap((2, 2), Entries([0], [2], [0], [1.0]), 1), "row"),
    "col": (lambda: SdpMap((2, 2), Entries([0], [0], [2], [1.0]), 1), "col"),
    "vectors": (lambda: SdpMap((2,), ONE, 1), "domain"),
    "negative": (lambda: Entries([0], [-1], [0], [1.0]), "row"),
    "fraction": (lambda: Entries([0], [0.5], [0], [1.0]), "row"),
    "lengths": (lambda: Entries([0], [0, 0], [0], [1.0]), "row"),
    "nan": (lambda: Entries([0], [0], [0], [np.nan]), "value"),
    "no matrices": (lambda: Entries.from_matrices([]), "matrices"),
    "not symmetric": (lambda: Entries.from_matrices([np.triu(np.ones((2, 2)))]), "matrices[0]"),
    "not square": (lambda: Entries.from_matrices([np.ones((2, 3))]), "matrices[0]"),
    "dual": (lambda: SdpMap((2, 2), ONE, 1).adjoint(np.ones(2)), "dual"),
    "atom": (lambda: SdpMap((2, 2), ONE, 1).image(np.ones((3, 3))), "atom"),
    "complex atom": (lambda: SdpMap((2, 2), ONE, 1).image(np.ones((2, 2), complex)), "atom"),
    "blocks": (lambda: SdpMap(((2, 2), (1,)), ONE, 1), "domain"),
    "factors": (lambda: SdpMap((2, 2), ONE, 1).scale_rows([1.0, 2.0]), "factors"),
    "vector": (lambda: SdpMap((2, 2), ONE, 1).adjoint(np.ones(1)).matvec(np.ones(3)), "x"),
    "complex vector": (lambda: SdpMap((2, 2), ONE, 1).adjoint(np.ones(1)).matvec(np.ones(2, complex)), "x"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_refused(name: str) -> None:
    call, argument = WRONG[name]
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.argument == argument


def test_a_place_with_two_values_is_refused() -> None:
    twice = Entries([0, 0], [0, 1], [1, 0], [1.0, 1.0])
    np.testing.assert_array_equal(SdpMap((2, 2), twice, 1).adjoint(np.ones(1)).toarray(), [[0, 1], [1, 0]])
    with pytest.raises(InvalidInput, match=r"\(0, 0, 1\).*one value, got 1.0 and 2.0"):
        SdpMap((2, 2), Entries([0, 0], [0, 1], [1, 0], [1.0, 2.0]), 1)


def test_a_map_without_entries_is_zero() -> None:
    empty = SdpMap((2, 2), Entries([], [], [], []), 2)
    np.testing.assert_array_equal(empty.image(np.ones((2, 2))), np.zeros(2))
    operator = empty.adjoint(np.ones(2))
    assert isinstance(operator, SymmetricOperator)
    np.testing.assert_array_equal(operator.matvec(np.ones(2)), np.zeros(2))


def test_large_keys_are_sorted_without_overflow() -> None:
    big = 2**31 - 1
    entries = Entries([big, 0, big], [big, 5, 0], [big, 4, big], [1.0, 2.0, 3.0]).canonical()
    assert entries.value.tolist() == [2.0, 3.0, 1.0]
    assert entries.row.tolist() == [4, 0, big]


def _in_corner(corner: np.ndarray, order: int) -> np.ndarray:
    out = np.zeros((order, order))
    out[: corner.shape[0], : corner.shape[0]] = corner
    return out


@pytest.mark.parametrize(
    ("matrix", "terms"),
    [
        (_in_corner(np.ones((5, 5)), 6), 1),
        (_in_corner(np.outer([1.0, -2.0, 3.0, 0.5, 4.0], [1.0, -2.0, 3.0, 0.5, 4.0]), 7), 1),
        (_in_corner(np.ones((2, 2)), 6), 0),  # cheaper as entries
        (_in_corner(np.ones((5, 5)) + np.eye(5), 6), 0),
        (np.ones((6, 6)) - np.diag([0.0, 0.0, 0.0, 0.0, 1.0, 1.0]), 0),
    ],
)
def test_rank_one_matrices_in_some_rows_are_kept_as_vectors(matrix: np.ndarray, terms: int) -> None:
    order = matrix.shape[0]
    built = SdpMap((order, order), Entries.from_matrices([np.eye(order), matrix]), 2)
    assert built.pattern.vectors.shape[1] == terms
    factor = np.random.default_rng(0).standard_normal((order, 3))
    point = LowRank(factor, factor, np.ones(3))
    np.testing.assert_allclose(built.image(point), [np.sum(factor**2), np.sum(matrix * (factor @ factor.T))])
    np.testing.assert_allclose(built.adjoint(np.array([0.5, 2.0])).toarray(), 0.5 * np.eye(order) + 2.0 * matrix)
