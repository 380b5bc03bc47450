"""Products and images of several columns at once, against one column at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unipd import atoms
from unipd.maps.pauli import MULTI_VECTOR_COLUMNS, PauliBlocks, PauliMap

from .test_naive import matrix


def some_strings(qubits, count, seed):
    generator = np.random.default_rng(seed)
    return generator.integers(1 << qubits, size=count), generator.integers(1 << qubits, size=count), generator


def block_of(generator, rows, columns):
    return generator.standard_normal((rows, columns)) + 1j * generator.standard_normal((rows, columns))


@given(st.integers(1, 4), st.integers(1, 40), st.integers(1, 5), st.integers(0, 1000))
def test_products_and_images_are_those_of_the_matrices(qubits, count, columns, seed):
    x, z, generator = some_strings(qubits, count, seed)
    wide = PauliBlocks(qubits, x, z, np.complex128)
    dual, left, right = generator.standard_normal(count), *(block_of(generator, 1 << qubits, columns) for _ in range(2))
    paulis = [matrix(qubits, int(a), int(b)) for a, b in zip(x, z, strict=True)]
    expected = sum(value * pauli for value, pauli in zip(dual, paulis, strict=True)) @ left
    np.testing.assert_allclose(wide.product(dual, left), expected, atol=1e-10)
    traces = [np.trace(pauli @ left @ right.conj().T).real for pauli in paulis]
    np.testing.assert_allclose(wide.image_of_factors(left, right), traces, atol=1e-10)


@pytest.mark.parametrize(("precision", "tolerance"), [("single", 1e-4), ("double", 1e-11)])
def test_many_columns_give_what_one_after_the_other_gives(precision, tolerance):
    """Nine qubits: four parts, some blocks of which come from other rows."""
    x, z, generator = some_strings(9, 12_000, 1)
    measured = PauliMap(9, x, z, precision, 1, method="matrix-free")
    assert measured.blocks.is_faster(MULTI_VECTOR_COLUMNS + 8)
    left, right = (block_of(generator, 512, MULTI_VECTOR_COLUMNS + 8) / 100 for _ in range(2))
    operator = measured.adjoint(generator.standard_normal(x.size))
    apart = np.stack([operator.matvec(column) for column in left.T], axis=1)
    together = operator.matmat(left)
    assert together.dtype == apart.dtype
    np.testing.assert_allclose(together, apart, atol=tolerance * np.abs(apart).max())
    weights = generator.standard_normal(MULTI_VECTOR_COLUMNS + 8)
    for other in (left, right):
        terms = [atoms.LowRank(left[:, [i]], other[:, [i]], weights[[i]]) for i in range(weights.size)]
        expected = sum(measured.image(term) for term in terms)
        found = measured.image(atoms.LowRank(left, other, weights))
        np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max())


def test_few_strings_or_columns_stay_with_the_kernels():
    x, z, _ = some_strings(9, 100, 2)
    assert not PauliBlocks(9, x, z, np.complex128).is_faster(MULTI_VECTOR_COLUMNS)
    assert not PauliBlocks(9, np.arange(512), np.zeros(512, int), np.complex64).is_faster(MULTI_VECTOR_COLUMNS - 1)
    assert PauliBlocks(9, np.arange(512), np.zeros(512, int), np.complex64).is_faster(MULTI_VECTOR_COLUMNS)
    assert not PauliBlocks(15, np.arange(1 << 15), np.zeros(1 << 15, int), np.complex64).is_faster(1000)


def test_no_dual_vector_gives_no_product():
    wide = PauliBlocks(2, np.array([1]), np.array([0]), np.complex64)
    assert not np.any(wide.product(np.zeros(1), np.ones((4, 3))))
