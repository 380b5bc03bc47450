"""Naive references with p x p matrices and Kronecker products."""

from functools import reduce

import numpy as np

SINGLE = {
    "I": np.eye(2),
    "X": np.array([[0, 1], [1, 0]]),
    "Y": np.array([[0, -1j], [1j, 0]]),
    "Z": np.diag([1, -1]),
}


def pauli(label: str) -> np.ndarray:
    return reduce(np.kron, [SINGLE[letter] for letter in label])


def density(state) -> np.ndarray:
    return sum(e * np.outer(v, v.conj()) for e, v in zip(state.eigenvalues, state.eigenvectors.T, strict=True))


def root(matrix: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.conj().T


def fidelity(rho: np.ndarray, sigma: np.ndarray) -> float:
    half = root(rho)
    return float(np.trace(root(half @ sigma @ half)).real ** 2)


def projectors(basis: str) -> list[np.ndarray]:
    """Projectors of all outcomes: on the eigenvectors of each letter, outcome 0 for eigenvalue +1."""
    single = {letter: [(np.eye(2) + SINGLE[letter]) / 2, (np.eye(2) - SINGLE[letter]) / 2] for letter in "XYZ"}
    words = [format(outcome, f"0{len(basis)}b") for outcome in range(2 ** len(basis))]
    return [reduce(np.kron, [single[a][int(bit)] for a, bit in zip(basis, bits, strict=True)]) for bits in words]


def probabilities(rho: np.ndarray, basis: str) -> np.ndarray:
    """Probability of every outcome."""
    return np.array([np.trace(projector @ rho).real for projector in projectors(basis)])
