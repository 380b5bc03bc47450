"""Matrices with a known spectrum, and operators that count their products."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unipd.maps import Sampling
from unipd.spectral import Certification, Certified, Gram, bracket

DTYPES = (np.float32, np.float64, np.complex64, np.complex128)


def eps_of(dtype: Any) -> float:
    return float(np.finfo(dtype).eps)


def random_basis(rows: int, columns: int, dtype: Any, generator: np.random.Generator) -> Any:
    """Return orthonormal columns, uniform among all such."""
    entries = generator.standard_normal((rows, columns))
    if np.dtype(dtype).kind == "c":
        entries = entries + 1j * generator.standard_normal((rows, columns))
    return np.linalg.qr(entries)[0]


def hermitian(spectrum: Any, dtype: Any = np.float64, seed: int = 0) -> Any:
    """Return a Hermitian matrix with these eigenvalues (up to rounding in the dtype)."""
    basis = random_basis(len(spectrum), len(spectrum), dtype, np.random.default_rng(seed))
    matrix = (basis * np.asarray(spectrum, float)) @ basis.conj().T
    return (0.5 * (matrix + matrix.conj().T)).astype(dtype)


def rectangular(rows: int, columns: int, singular: Any, dtype: Any = np.float64, seed: int = 0) -> Any:
    """Return a matrix with these singular values."""
    generator = np.random.default_rng(seed)
    left = random_basis(rows, len(singular), dtype, generator)
    right = random_basis(columns, len(singular), dtype, generator)
    return ((left * np.asarray(singular, float)) @ right.conj().T).astype(dtype)


def certified_norm(operator: Any, steps: int = 150, delta: float = 1e-9, seed: int = 0) -> Certified:
    """Return a bracket of the largest singular value from a run on the Gram matrix alone."""
    gram = Gram(operator)
    plan = Certification(steps=steps, delta=delta, seed=seed)
    found = bracket(gram, plan, lambda low, up: gram.root(up) <= gram.root(low))
    return replace(found, upper=gram.root(found.upper), lower=gram.root(found.lower))


class CountingOperator:
    """A matrix that is only multiplied, vector by vector, and counts."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.shape = matrix.shape
        self.dtype = matrix.dtype
        self.products = 0

    def matvec(self, x: Any) -> Any:
        assert x.shape == (self.shape[1],)
        self.products += 1
        return self.matrix @ x

    def rmatvec(self, x: Any) -> Any:
        assert x.shape == (self.shape[0],)
        self.products += 1
        return self.matrix.conj().T @ x


class BlockOperator(CountingOperator):
    """The same with products of whole blocks, each column counted."""

    def matmat(self, block: Any) -> Any:
        self.products += block.shape[1]
        return self.matrix @ block

    def rmatmat(self, block: Any) -> Any:
        self.products += block.shape[1]
        return self.matrix.conj().T @ block


def bands_of(projected, size: int):
    """Return the diagonal of an upper bidiagonal matrix B and what is above it, ``size`` entries each, as two rows."""
    places = np.arange(size)
    return np.array([projected[places, places], projected[places, places + 1]])


class StepByStep:
    """The same matrix, known by its products alone."""

    def __init__(self, matrix) -> None:
        self.matrix, self.shape, self.dtype = matrix, matrix.shape, matrix.dtype

    def matvec(self, x):
        return self.matrix.matvec(x)

    def rmatvec(self, x):
        return self.matrix.rmatvec(x)


def sampled_operator(rows: int, columns: int, entries: int, dtype=np.float64, seed: int = 0, by_columns: bool = False):
    """Return a random sparse matrix, with its places sorted by rows or by columns, or not at all."""
    generator = np.random.default_rng(seed)
    places = np.sort(generator.integers(rows * columns, size=entries))
    i, j = places // columns, places % columns
    if by_columns:
        order = np.argsort(j, kind="stable")
        i, j = i[order], j[order]
    return Sampling(i, j, (rows, columns), dtype).adjoint(generator.standard_normal(entries).astype(dtype))
