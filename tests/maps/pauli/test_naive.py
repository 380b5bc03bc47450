"""Naive references of the Pauli map (a loop over strings), checked against Kronecker products."""

import itertools

import numpy as np
import pytest

from unipd.maps.pauli import parse, write

FACTORS = {
    "I": np.eye(2),
    "X": np.array([[0, 1], [1, 0]]),
    "Y": np.array([[0, -1j], [1j, 0]]),
    "Z": np.diag([1, -1]),
}
PARITY = np.array([bin(i).count("1") & 1 for i in range(1 << 12)])


def kronecker(label):
    """Return the matrix of a label, leftmost letter first."""
    result = np.ones((1, 1))
    for letter in label:
        result = np.kron(result, FACTORS[letter])
    return result


def matrix(qubits, x, z):
    """Return the matrix of the string with masks x and z."""
    return kronecker(write(qubits, np.array([x]), np.array([z]))[0])


def naive_apply(qubits, x, z, vector):
    """Return P(x, z) v, with P = i^|x & z| X^x Z^z: the signs of Z^z, then the permutation X^x, then the phase."""
    index = np.arange(1 << qubits)
    signed = (1.0 - 2.0 * PARITY[index & z]) * vector
    return 1j ** bin(x & z).count("1") * signed[index ^ x]


def naive_product(qubits, xs, zs, dual, vector):
    """Return sum_k lam_k P_k v."""
    total = np.zeros(1 << qubits, complex)
    for x, z, weight in zip(xs, zs, dual, strict=True):
        total += weight * naive_apply(qubits, int(x), int(z), vector)
    return total


def naive_image(qubits, xs, zs, left, right):
    """Return Re v^* P_k u, the image of u v^*."""
    return np.array(
        [np.vdot(right, naive_apply(qubits, int(x), int(z), left)).real for x, z in zip(xs, zs, strict=True)]
    )


def complex_normal(rng, shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def all_labels(qubits):
    return ["".join(letters) for letters in itertools.product("IXYZ", repeat=qubits)]


@pytest.mark.parametrize("qubits", [1, 2, 3])
def test_naive_references_are_the_kronecker_products(qubits):
    rng = np.random.default_rng(qubits)
    vector, other = complex_normal(rng, (2, 1 << qubits))
    _, xs, zs = parse(all_labels(qubits))
    for label, x, z in zip(all_labels(qubits), xs, zs, strict=True):
        expected = kronecker(label)
        np.testing.assert_allclose(naive_apply(qubits, int(x), int(z), vector), expected @ vector, atol=1e-14)
        value = naive_image(qubits, [x], [z], vector, other)[0]
        assert value == pytest.approx(np.trace(expected @ np.outer(vector, other.conj())).real, abs=1e-12)


def test_labels_follow_qiskit():
    qiskit = pytest.importorskip("qiskit.quantum_info")
    labels = all_labels(3)
    paulis = qiskit.PauliList(labels)
    _, xs, zs = parse(labels)
    places = 1 << np.arange(3)
    np.testing.assert_array_equal(paulis.x @ places, xs)
    np.testing.assert_array_equal(paulis.z @ places, zs)
    assert write(3, xs, zs) == labels
    for pauli, x, z in zip(paulis, xs, zs, strict=True):
        np.testing.assert_array_equal(pauli.to_matrix(), matrix(3, int(x), int(z)))
