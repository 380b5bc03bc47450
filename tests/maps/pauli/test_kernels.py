"""The matrix-free kernels against loops over strings, and against the dense path."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

from unipd.atoms import LowRank, SparsePoint
from unipd.maps.pauli import PauliMap, PauliOperator, default_count, longest_light, random_paulis

from .test_naive import complex_normal, naive_image, naive_product

ROUNDING = {"single": 3e-6, "double": 1e-14}
precisions = pytest.mark.parametrize("precision", ["single", "double"])


def strings(rng, qubits, kind):
    """Return the masks of a set of strings of some kind."""
    p = 1 << qubits
    if kind == "few":
        return rng.integers(0, p, (2, 3))
    if kind == "identity":
        return np.zeros((2, 1), int)
    if kind == "diagonal":
        return np.stack([np.zeros(40, int), rng.integers(0, p, 40)])
    if kind == "inside a block":
        return np.stack([rng.integers(0, 64, 90), rng.integers(0, p, 90)])
    if kind == "repeated":
        return rng.integers(0, p, (2, 50))[:, rng.integers(0, 50, 300)]
    if kind == "long lists":
        return np.stack([rng.integers(0, 8, 240) * (p // 8), rng.integers(0, p, 240)])
    if kind == "one x mask":
        return np.stack([np.full(2 * p, p - 3), rng.integers(0, p, 2 * p)])
    return np.stack(random_paulis(qubits, default_count(qubits), seed=int(rng.integers(1000))))


KINDS = ["random", "few", "identity", "diagonal", "inside a block", "repeated", "long lists", "one x mask"]


def check(measure, rng, rounding):
    """Compare a product and an image with the loops over strings."""
    size, count = measure.domain[0], measure.codomain[0]
    dual = rng.standard_normal(count)
    u, v = complex_normal(rng, (2, size)) / np.sqrt(2 * size)
    operator = measure.adjoint(dual)
    product = operator.matvec(v)
    expected = naive_product(measure.qubits, measure.x, measure.z, dual, v)
    error = rounding * np.linalg.norm(dual)
    assert np.linalg.norm(product - expected) <= error
    assert product.dtype == operator.dtype
    assert np.linalg.norm(product) <= operator.norm_bound() * np.linalg.norm(v)
    np.testing.assert_array_equal(operator.rmatvec(v), product)
    image = measure.image(LowRank(v[:, None], v[:, None], np.ones(1)))
    np.testing.assert_allclose(image, naive_image(measure.qubits, measure.x, measure.z, v, v), atol=rounding)
    assert image @ dual == pytest.approx(np.vdot(v, product).real, abs=error)
    image = measure.image(LowRank(u[:, None], v[:, None], np.array([-2.0])))
    expected = -2.0 * naive_image(measure.qubits, measure.x, measure.z, u, v)
    np.testing.assert_allclose(image, expected, atol=8 * rounding)


@precisions
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("qubits", [6, 7, 9])
def test_kernels_against_loops_over_strings(qubits, kind, precision):
    rng = np.random.default_rng(qubits)
    x, z = strings(rng, qubits, kind)
    check(PauliMap(qubits, x, z, precision, method="matrix-free"), rng, ROUNDING[precision])


def test_kernels_on_ten_qubits():
    rng = np.random.default_rng(10)
    check(PauliMap(10, *random_paulis(10, 1500, seed=1)), rng, ROUNDING["single"])


@settings(max_examples=60)
@given(st.integers(6, 8), st.integers(1, 400), st.integers(0, 8), st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_kernels_against_the_dense_path(qubits, count, x_bits, z_bits, seed):
    """Strings with only some bits free crowd into few groups, lists and blocks; both paths give the same."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 1 << qubits, count) & sum(1 << b for b in rng.integers(0, qubits, x_bits))
    z = rng.integers(0, 1 << qubits, count) & sum(1 << b for b in rng.integers(0, qubits, z_bits))
    free = PauliMap(qubits, x, z, "double", method="matrix-free")
    dense = PauliMap(qubits, x, z, "double", method="dense")
    dual = rng.standard_normal(count)
    block = complex_normal(rng, (1 << qubits, 2))
    operator = free.adjoint(dual)
    assert isinstance(operator, PauliOperator)
    expected = dense.adjoint(dual).matmat(block)
    scale = np.abs(dual).sum() * np.abs(block).max()
    np.testing.assert_allclose(operator.matmat(block), expected, atol=1e-13 * scale)
    np.testing.assert_allclose(operator @ block[:, 0], expected[:, 0], atol=1e-13 * scale)
    scale = np.linalg.norm(block) ** 2
    for atom in (LowRank(block, block, np.array([1.0, -0.5])), LowRank(block, block[::-1].copy(), np.array([1j, 2.0]))):
        np.testing.assert_allclose(free.image(atom), dense.image(atom), atol=1e-13 * scale)


def test_both_ways_of_making_diagonals_are_used():
    """The kinds above reach the tables, the cut lists and the transform."""
    rng = np.random.default_rng(0)
    layouts = {kind: PauliMap(9, *strings(rng, 9, kind)).layout for kind in KINDS}
    assert layouts["one x mask"].heavy.all()
    assert not layouts["random"].heavy.any()
    lengths = np.diff(layouts["long lists"].bounds)
    assert not layouts["long lists"].heavy.any()
    assert layouts["long lists"].x.size > np.unique(layouts["long lists"].x).size
    assert lengths.max() <= 6
    assert longest_light(9) > 6


def test_every_string_of_seven_qubits():
    x, z = np.divmod(np.arange(4**7), 2**7)
    rng = np.random.default_rng(7)
    dual, v = rng.standard_normal(4**7), complex_normal(rng, 2**7)
    free = PauliMap(7, x, z, "double", method="matrix-free")
    dense = PauliMap(7, x, z, "double", method="dense")
    np.testing.assert_allclose(free.adjoint(dual).matvec(v), dense.adjoint(dual).matvec(v), atol=1e-10)
    atom = LowRank(v[:, None], v[:, None], np.ones(1))
    np.testing.assert_allclose(free.image(atom), dense.image(atom), atol=1e-11)
    purity = np.linalg.norm(free.image(atom)) ** 2 / 2**7
    assert purity == pytest.approx(np.linalg.norm(v) ** 4)


def test_arrays_and_sparse_points_on_many_qubits():
    rng = np.random.default_rng(8)
    measure = PauliMap(8, *random_paulis(8, 100, seed=2), method="matrix-free")
    x = complex_normal(rng, (256, 256))
    expected = [np.sum(measure.adjoint(row).toarray().conj() * x).real for row in np.eye(100)[:3]]
    np.testing.assert_allclose(measure.image(x)[:3], expected, rtol=1e-5)
    point = SparsePoint((256, 256), np.array([5, 256]), np.array([1.0, 2j]))
    np.testing.assert_allclose(measure.image(point), measure.image(point.dense()))


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e12, 1e30])
def test_scales_do_not_change_accuracy(scale):
    """Dual vectors and factors are scaled before they are rounded to single precision."""
    rng = np.random.default_rng(3)
    measure = PauliMap(8, *random_paulis(8, 300, seed=3), method="matrix-free")
    dual, v = rng.standard_normal(300), complex_normal(rng, 256)
    product = measure.adjoint(scale * dual).matvec(v)
    np.testing.assert_allclose(product / scale, measure.adjoint(dual).matvec(v), rtol=1e-5)
    image = measure.image(LowRank(scale * v[:, None], v[:, None], np.ones(1)))
    np.testing.assert_allclose(image / scale, measure.image(LowRank(v[:, None], v[:, None], np.ones(1))), atol=1e-4)


def test_zero_dual_and_zero_factors():
    measure = PauliMap(8, *random_paulis(8, 50, seed=4), method="matrix-free")
    operator = measure.adjoint(np.zeros(50))
    assert not operator.matvec(np.ones(256)).any()
    assert operator.norm_bound() == 0.0
    zeros = np.zeros((256, 1))
    assert not measure.image(LowRank(zeros, zeros, np.ones(1))).any()


def test_two_adjoints_live_at_once():
    rng = np.random.default_rng(5)
    measure = PauliMap(8, *random_paulis(8, 200, seed=5), method="matrix-free")
    dual = rng.standard_normal(200)
    kept = dual.copy()
    v = complex_normal(rng, 256)
    first = measure.adjoint(dual)
    before = first.matvec(v)
    dual *= -3.0
    second = measure.adjoint(dual)
    np.testing.assert_allclose(second.matvec(v), -3.0 * before, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(first.matvec(v), before)
    np.testing.assert_array_equal(measure.adjoint(kept).matvec(v), before)


def test_memory_used_again_leaves_no_trace():
    """Maps of other sizes and precisions between two products change nothing."""
    rng = np.random.default_rng(9)
    maps = [
        PauliMap(q, *random_paulis(q, 300, seed=q), precision, method="matrix-free")
        for q in (8, 9)
        for precision in ("single", "double")
    ]
    vectors = [complex_normal(rng, m.domain[0]) for m in maps]

    def results():
        for measure, v in zip(maps, vectors, strict=True):
            yield measure.adjoint(np.ones(300)).matvec(v)
            yield measure.image(LowRank(v[:, None], v[:, None], np.ones(1)))

    for first, second in zip(list(results()), list(results()), strict=True):
        np.testing.assert_array_equal(first, second)


def test_scipy_takes_the_operator():
    rng = np.random.default_rng(6)
    measure = PauliMap(8, *random_paulis(8, 200, seed=6), method="matrix-free")
    operator = measure.adjoint(rng.standard_normal(200))
    block = complex_normal(rng, (256, 3))
    np.testing.assert_array_equal(aslinearoperator(operator).matmat(block), operator @ block)
    np.testing.assert_array_equal(aslinearoperator(operator).rmatvec(block[:, 0]), operator @ block[:, 0])
    np.testing.assert_allclose(operator.toarray() @ block, operator @ block, atol=1e-3)
