"""The sampling map: order of the measurements, threads, duplicates, memory and bad input."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse.linalg import svds

from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.maps import SampledMatrix, Sampling

SHAPE = (60, 40)
MANY = 1 << 19
"""So many measurements that threads share the work."""


def instance(order="rows", count=3000, shape=SHAPE, seed=0):
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, shape[0], count), rng.integers(0, shape[1], count)
    sort = {"rows": np.argsort(rows, kind="stable"), "cols": np.argsort(cols, kind="stable"), "none": np.arange(count)}
    return rows[sort[order]].astype(np.int32), cols[sort[order]].astype(np.int32), rng.standard_normal(count)


def naive_adjoint(rows, cols, dual, shape=SHAPE):
    out = np.zeros(shape)
    for row, col, value in zip(rows, cols, dual, strict=True):
        out[row, col] += value
    return out


@pytest.mark.parametrize("order", ["rows", "cols", "none"])
@pytest.mark.parametrize("shape", [SHAPE, SHAPE[::-1]])
def test_every_order_of_measurements(order, shape):
    rows, cols, dual = instance(order, shape=shape)
    sampling = Sampling(rows, cols, shape)
    np.testing.assert_array_equal(sampling.rows, rows)
    np.testing.assert_array_equal(sampling.cols, cols)
    expected = naive_adjoint(rows, cols, dual, shape)
    matrix = sampling.adjoint(dual)
    np.testing.assert_allclose(matrix.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(matrix.matvec(np.ones(shape[1])), expected.sum(axis=1), atol=1e-11)
    np.testing.assert_allclose(matrix.rmatvec(np.ones(shape[0])), expected.sum(axis=0), atol=1e-11)
    assert matrix.frobenius() == pytest.approx(np.linalg.norm(expected))


@pytest.mark.parametrize("order", ["rows", "cols"])
def test_sorted_measurements_need_no_permutation(order):
    rows, cols, dual = instance(order)
    sampling = Sampling(rows, cols, SHAPE)
    lines = SHAPE[order == "cols"]
    assert sampling.nbytes == 2 * rows.size + 8 * (lines + 1)
    assert sampling.adjoint(dual).values is dual


@pytest.mark.parametrize("order", ["rows", "none"])
def test_results_do_not_depend_on_threads(order):
    rows, cols, dual = instance(order, MANY)
    rng = np.random.default_rng(1)
    tall, wide = rng.standard_normal((SHAPE[0], 3)), rng.standard_normal((SHAPE[1], 3))
    answers = []
    for threads in (1, 2, None):
        sampling = Sampling(rows, cols, SHAPE, threads=threads)
        matrix = sampling.adjoint(dual)
        answers.append(
            [
                matrix.matvec(wide[:, 0]),
                matrix.rmatvec(tall[:, 0]),
                matrix.matmat(wide),
                matrix.rmatmat(tall),
                sampling.image(LowRank(tall[:, :1], wide[:, :1], np.ones(1))),
                sampling.image(LowRank(tall, wide, np.ones(3))),
            ]
        )
    for other in answers[1:]:
        for first, second in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(first, second)
    expected = (tall @ wide.T)[rows, cols]
    np.testing.assert_allclose(answers[0][5], expected, atol=1e-12)


def test_two_solves_in_two_threads():
    rows, cols, _ = instance("none", MANY)
    sampling = Sampling(rows, cols, SHAPE)
    duals = np.random.default_rng(2).standard_normal((2, rows.size))
    barrier = threading.Barrier(2)

    def products(dual):
        barrier.wait()
        results = []
        for scale in range(1, 30):
            matrix = sampling.adjoint(scale * dual)
            results.append(matrix.rmatvec(matrix.matvec(np.ones(SHAPE[1]))))
        return results

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(products, duals))
    for dual, results in zip(duals, found, strict=True):
        dense = naive_adjoint(rows, cols, dual)
        gram = dense.T @ (dense @ np.ones(SHAPE[1]))
        for scale, result in enumerate(results, start=1):
            np.testing.assert_allclose(result, scale**2 * gram, rtol=1e-9, atol=1e-9)


def test_duplicated_measurements_count_each():
    sampling = Sampling([0, 0, 1], [1, 1, 0], (2, 2))
    np.testing.assert_array_equal(sampling.image(np.array([[0.0, 5.0], [7.0, 0.0]])), [5.0, 5.0, 7.0])
    matrix = sampling.adjoint(np.array([1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(matrix.toarray(), [[0.0, 3.0], [4.0, 0.0]])
    assert matrix.frobenius() == 5.0
    assert matrix.nbytes == 24


def test_scatter_over_many_chunks():
    rows, cols, dual = instance("rows", count=5000, shape=(200, 5))
    sampling = Sampling(rows, cols, (200, 5))
    expected = naive_adjoint(rows, cols, dual, (200, 5))
    block = np.random.default_rng(3).standard_normal((200, 4))
    np.testing.assert_allclose(sampling.adjoint(dual).rmatmat(block), expected.T @ block, atol=1e-10)
    np.testing.assert_allclose(sampling.adjoint(dual).rmatvec(block[:, 0]), expected.T @ block[:, 0], atol=1e-10)


def test_scipy_takes_the_adjoint_as_an_operator():
    rows, cols, dual = instance()
    matrix = Sampling(rows, cols, SHAPE).adjoint(dual)
    top = svds(matrix, k=1, return_singular_vectors=False, random_state=0)[0]
    assert top == pytest.approx(np.linalg.norm(matrix.toarray(), 2))


def test_complex_vectors_meet_real_values():
    rows, cols, dual = instance()
    matrix = Sampling(rows, cols, SHAPE).adjoint(dual)
    x = np.exp(1j * np.arange(SHAPE[1]))
    np.testing.assert_allclose(matrix.matvec(x), matrix.toarray() @ x, atol=1e-11)


def test_single_precision_dual_stays_single():
    rows, cols, dual = instance("none")
    matrix = Sampling(rows, cols, SHAPE, np.float32).adjoint(dual.astype(np.float32))
    assert matrix.dtype == np.float32
    assert matrix.matvec(np.ones(SHAPE[1], np.float32)).dtype == np.float32


def test_real_map_takes_real_parts_of_complex_atoms():
    left, right = np.array([[1.0 + 2.0j]]), np.array([[3.0 - 1.0j]])
    atom = LowRank(left, right, np.ones(1))
    assert Sampling([0], [0], (1, 1)).image(atom) == atom.dense().real[0]
    assert Sampling([0], [0], (1, 1), np.complex128).image(atom) == atom.dense()[0]


@pytest.mark.parametrize(
    ("rows", "cols", "argument"),
    [
        ([0, -1], [0, 0], "rows"),
        ([0, 2], [0, 0], "rows"),
        ([0, 1], [0, 3], "cols"),
        ([0, 1], [0], "cols"),
        ([], [], "rows"),
        ([0.0, 1.0], [0, 1], "rows"),
        ([0, 1], [np.nan, 1], "cols"),
        ([[0, 1]], [[0, 1]], "rows"),
        ([True, False], [0, 1], "rows"),
    ],
)
def test_bad_indices(rows, cols, argument):
    with pytest.raises(InvalidInput, match=rf"^{argument}:"):
        Sampling(rows, cols, (2, 3))


def test_other_bad_input():
    for shape in [(2,), (0, 3), (2, 2.5), (2, 2**33)]:
        with pytest.raises(InvalidInput, match=r"^shape"):
            Sampling([0], [0], shape)
    with pytest.raises(InvalidInput, match=r"^threads"):
        Sampling([0], [0], (2, 3), threads=0)
    with pytest.raises(InvalidInput):
        Sampling([0], [0], (2, 3), dtype="U3")
    sampling = Sampling([0], [0], (2, 3))
    with pytest.raises(InvalidInput, match=r"^dual"):
        sampling.adjoint(np.ones(2))
    with pytest.raises(InvalidInput, match=r"^atom"):
        sampling.image(np.ones((3, 2)))
    matrix = sampling.adjoint(np.ones(1))
    assert isinstance(matrix, SampledMatrix)
    for product, size in [(matrix.matvec, 2), (matrix.rmatvec, 3), (matrix.matmat, 2), (matrix.rmatmat, 3)]:
        with pytest.raises(InvalidInput, match=r"^x"):
            product(np.ones((size, 1)))


@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("size", [70, 70_000])
def test_places_are_kept_in_sixteen_bits_where_they_fit(by_column: bool, size: int) -> None:
    rng = np.random.default_rng(3)
    rows, cols = np.nonzero(rng.random((50, 70)) < 0.3)
    if by_column:
        order = np.argsort(cols, kind="stable")
        rows, cols = rows[order], cols[order]
    shape = (size, 70) if by_column else (50, size)
    sampling = Sampling(rows, cols, shape)
    assert sampling.pattern.places.dtype == (np.uint16 if size == 70 else np.uint32)
    np.testing.assert_array_equal(sampling.rows, rows)
    np.testing.assert_array_equal(sampling.cols, cols)
    dual, dense = rng.standard_normal(rows.size), np.zeros(shape)
    dense[rows, cols] = dual
    x, y = rng.standard_normal((shape[1], 2)), rng.standard_normal(shape[0])
    np.testing.assert_allclose(sampling.adjoint(dual).matmat(x), dense @ x, atol=1e-12)
    np.testing.assert_allclose(sampling.negated_adjoint(dual).rmatvec(y), -dense.T @ y, atol=1e-12)
    np.testing.assert_allclose(sampling.negated_adjoint(dual).matmat(x), -dense @ x, atol=1e-12)
    opposite = sampling.negated_adjoint(dual)
    assert opposite.frobenius() == pytest.approx(np.linalg.norm(dense))
    np.testing.assert_array_equal(opposite.toarray(), -dense)
    np.testing.assert_array_equal(opposite.tocsr().toarray(), -dense)
    np.testing.assert_array_equal(opposite.values, -opposite.negative().values)
    assert opposite.nbytes == opposite.negative().nbytes == dual.nbytes


def test_places_beyond_sixteen_bits_stay_whole() -> None:
    sampling = Sampling([0, 1], [70_000, 3], (2, 70_001))
    assert sampling.cols.tolist() == [70_000, 3]
    wide = Sampling([0, 69_999], [1, 0], (70_000, 2))
    assert wide.rows.tolist() == [0, 69_999]


@pytest.mark.parametrize("kinds", ["ff", "fc", "cf", "cc"])
def test_factors_of_different_kinds_are_conjugated_each_for_itself(kinds):
    rng = np.random.default_rng(5)

    def factor(size, kind):
        return rng.standard_normal((size, 2)) + (1j * rng.standard_normal((size, 2)) if kind == "c" else 0.0)

    sampling = Sampling([0, 0, 2], [1, 2, 0], (3, 4), np.complex128)
    atom = LowRank(factor(3, kinds[0]), factor(4, kinds[1]), np.array([0.5, 2.0]))
    np.testing.assert_allclose(sampling.image(atom), atom.dense()[sampling.rows, sampling.cols], atol=1e-12)
