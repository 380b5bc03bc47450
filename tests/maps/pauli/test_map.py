"""The Pauli map on few qubits: every string against Kronecker products, every kind of atom, invalid input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.atoms import LowRank, SparsePoint
from unipd.errors import InvalidInput
from unipd.maps.pauli import DenseOperator, PauliMap, random_paulis

from .test_naive import all_labels, complex_normal, kronecker, matrix

ROUNDING = {"single": 2e-6, "double": 1e-14}
precisions = pytest.mark.parametrize("precision", ["single", "double"])


def hermitian(rng, size):
    matrix = complex_normal(rng, (size, size))
    return matrix + matrix.conj().T


@precisions
@pytest.mark.parametrize("qubits", [1, 2, 3, 4])
def test_all_strings_against_kronecker_products(qubits, precision):
    rng = np.random.default_rng(qubits)
    labels = all_labels(qubits)
    stack = np.stack([kronecker(label) for label in labels])
    measure = PauliMap.from_labels(labels, precision)
    x, dual = hermitian(rng, 1 << qubits), rng.standard_normal(len(labels))
    bound = ROUNDING[precision] * np.linalg.norm(x)
    np.testing.assert_allclose(measure.image(x), np.einsum("kij,ji->k", stack, x).real, atol=bound)
    expected = np.einsum("k,kij->ij", dual, stack)
    operator = measure.adjoint(dual)
    bound = ROUNDING[precision] * np.linalg.norm(expected)
    np.testing.assert_allclose(operator.toarray(), expected, atol=bound)
    assert operator.dtype == (np.complex64 if precision == "single" else np.complex128)
    assert operator.norm_bound() >= np.linalg.norm(expected, 2)


def atoms_of(rng, size, rank):
    left, right = complex_normal(rng, (2, size, rank))
    weights = rng.standard_normal(rank)
    real = left.real.copy()
    places = np.array([0, size * size - 1, size])
    return [
        LowRank(left, left, weights),
        LowRank(real, real, weights),
        LowRank(left, right, weights),
        LowRank(left, right, weights * np.exp(1j * rng.standard_normal(rank))),
        LowRank(left, 0 * right, weights),
        SparsePoint((size, size), places, complex_normal(rng, 3)),
        complex_normal(rng, (size, size)),
        rng.standard_normal((size, size)),
    ]


@settings(max_examples=40)
@given(st.integers(1, 5), st.integers(1, 30), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_atoms_repeated_strings_and_the_adjoint_identity(qubits, count, rank, seed):
    """Re <A x, lam> = Re <x, A^* lam> for every kind of atom, with strings drawn with replacement."""
    rng = np.random.default_rng(seed)
    x, z = rng.integers(0, 1 << qubits, (2, count))
    measure = PauliMap(qubits, x, z, "double")
    dual = rng.standard_normal(count)
    matrix = measure.adjoint(dual).toarray()
    np.testing.assert_allclose(matrix, matrix.conj().T, atol=1e-12)
    stack = np.stack([kronecker(label) for label in measure.labels])
    np.testing.assert_allclose(matrix, np.einsum("k,kij->ij", dual, stack), atol=1e-12)
    for atom in atoms_of(rng, 1 << qubits, rank):
        image = measure.image(atom)
        dense = atom if isinstance(atom, np.ndarray) else atom.dense()
        assert image.dtype == np.float64
        np.testing.assert_allclose(image, np.einsum("kij,ji->k", stack, dense).real, atol=1e-11)
        assert image @ dual == pytest.approx(np.vdot(dense, matrix).real, abs=1e-10)


def test_shapes_and_sizes():
    measure = PauliMap(3, [0, 1], [2, 3])
    assert measure.domain == (8, 8)
    assert measure.codomain == (2,)
    assert measure.dtype == np.float64
    assert measure.nbytes > 0
    assert isinstance(measure.adjoint(np.zeros(2)), DenseOperator)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0, [0], [0]), "qubits"),
        ((29, [0], [0]), "qubits"),
        ((1.5, [0], [0]), "qubits"),
        ((2, [4], [0]), "x"),
        ((2, [0], [-1]), "z"),
        ((2, [0.5], [0]), "x"),
        ((2, [0, 1], [0]), "z"),
        ((2, [], []), "x"),
        ((2, [0], [0], "half"), "precision"),
        ((2, [0], [0], "single", 0), "threads"),
    ],
)
def test_wrong_input_is_refused(arguments, name):
    with pytest.raises(InvalidInput, match=name):
        PauliMap(*arguments)


@pytest.mark.parametrize("method", ["gpu", "matrix-free"])
def test_wrong_methods_are_refused(method):
    with pytest.raises(InvalidInput, match="method"):
        PauliMap(5, [0], [0], method=method)


@pytest.mark.parametrize("dual", [np.zeros(3), np.array([1.0, np.nan]), np.array([1j, 1.0]), np.zeros((2, 1))])
def test_wrong_duals_are_refused(dual):
    with pytest.raises(InvalidInput, match="dual"):
        PauliMap(2, [0, 1], [1, 1]).adjoint(dual)


@pytest.mark.parametrize("method", ["dense", "matrix-free"])
def test_wrong_shapes_are_refused(method):
    measure = PauliMap(6, [0, 1], [1, 1], method=method)
    with pytest.raises(InvalidInput, match="atom"):
        measure.image(np.zeros((64, 63)))
    with pytest.raises(InvalidInput, match="x"):
        measure.adjoint(np.ones(2)).matvec(np.zeros(63))


def test_adjoint_is_qiskits_operator():
    qiskit = pytest.importorskip("qiskit.quantum_info")
    labels = ["XYZ", "IIX", "ZZI", "XYZ", "III"]
    dual = np.array([0.5, -1.0, 2.0, 0.25, 3.0])
    expected = qiskit.SparsePauliOp(labels, dual).to_matrix()
    np.testing.assert_allclose(PauliMap.from_labels(labels, "double").adjoint(dual).toarray(), expected, atol=1e-14)


@pytest.mark.parametrize(("qubits", "count", "dense"), [(8, 10, True), (9, 32_767, False), (9, 32_768, True)])
def test_matrices_are_formed_where_they_are_faster(qubits, count, dense):
    assert PauliMap(qubits, *random_paulis(qubits, count)).dense == dense


@precisions
def test_matrices_of_repeated_strings(precision):
    """Repeated strings add up, and answers stay as they are when others are computed."""
    rng = np.random.default_rng(4)
    x, z = rng.integers(0, 8, 200), rng.integers(0, 8, 200)
    dual, other = rng.standard_normal((2, 200))
    measure = PauliMap(3, x, z, precision)
    found = measure.adjoint(dual).toarray()
    image = measure.image(found)
    measure.image(measure.adjoint(other).toarray())
    expected = sum(c * matrix(3, a, b) for c, a, b in zip(dual, x.tolist(), z.tolist(), strict=True))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 if precision == "single" else 1e-12)
    np.testing.assert_allclose(measure.adjoint(dual).toarray(), found, rtol=0, atol=0)
    traces = [np.trace(matrix(3, a, b) @ found).real for a, b in zip(x.tolist(), z.tolist(), strict=True)]
    np.testing.assert_allclose(image, traces, rtol=0, atol=1e-3 if precision == "single" else 1e-11)
