"""The blocks of a semidefinite map: what each contributes to an image and to the adjoint.

Both kinds answer the same questions. ``products`` reads a point at the places of the union pattern (and
along the rank-one vectors); ``adjoint`` puts values back there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, IntArray, Shape
from unipd.errors import InvalidInput
from unipd.maps.sdp.operator import SymmetricOperator


@dataclass(frozen=True, eq=False)
class PsdBlock:
    """A semidefinite block: its pattern as pairs row <= col and as symmetric CSR, and rank-one terms."""

    shape: Shape
    """(n, n)."""
    pairs: slice
    """Where the block's pairs are among those of all blocks."""
    rows: IntArray
    cols: IntArray
    starts: IntArray
    """CSR row pointers of the pattern, both triangles."""
    indices: IntArray
    """CSR column indices."""
    source: IntArray
    """The pair that each place of the CSR form takes its value from."""
    owners: IntArray
    """Constraint of each rank-one term (distinct)."""
    coefficients: Array
    vectors: Array
    """One column a rank-one term c v v^T."""

    @property
    def nbytes(self) -> int:
        """Bytes of the pattern and the vectors."""
        held = (self.rows, self.cols, self.starts, self.indices, self.source, self.vectors, self.coefficients)
        return sum(array.nbytes for array in held)

    def scaled(self, factors: Array) -> PsdBlock:
        """Return the block with constraint i multiplied by ``factors[i]`` in the rank-one terms."""
        return replace(self, coefficients=self.coefficients * factors[self.owners])

    def term_norms(self) -> Array:
        """Return the Frobenius norm of each rank-one term."""
        return np.abs(self.coefficients) * np.sum(self.vectors**2, axis=0)

    def products(self, atom: Any) -> tuple[Array, Array]:
        """Return the entries of X on the pattern and v^T X v for each rank-one vector."""
        _check("atom", atom, self.shape)
        if not isinstance(atom, atoms.LowRank):
            return self._dense_products(np.asarray(atoms.dense(atom)))
        weighted = atom.left * atom.weights.astype(atom.dtype, copy=False)
        if atom.hermitian:
            return self._row_products("row_products", weighted, atom.left)
        return self._row_products("symmetric_row_products", weighted, atom.right)

    def pair_products(self, left: Any, right: Any) -> tuple[Array, Array]:
        """Return the products of (L R^T + R L^T) / 2 for factors of shape (n, r)."""
        left, right = np.asarray(left), np.asarray(right)
        for name, factor in (("left", left), ("right", right)):
            _check(name, factor, (self.shape[0], left.shape[-1] if left.ndim == 2 else 1))
        return self._row_products("symmetric_row_products", left, right)

    def adjoint(self, values: Array, dual: Array) -> SymmetricOperator:
        """Return the symmetric matrix with ``values`` on the pattern plus sum_k lam_k c_k v_k v_k^T."""
        coefficients = self.coefficients * dual[self.owners]
        return SymmetricOperator(self.starts, self.indices, values[self.source], self.vectors, coefficients)

    def _row_products(self, kernel: str, left: Array, right: Array) -> tuple[Array, Array]:
        from unipd.maps.sdp import kernels  # numba is loaded on first use

        dtype = np.result_type(left.dtype, right.dtype)
        left, right = np.ascontiguousarray(left, dtype), np.ascontiguousarray(right, dtype)
        out = np.empty(self.rows.size, dtype)
        getattr(kernels, kernel)(self.rows, self.cols, left, right, out)
        return out, np.sum((self.vectors.T @ left) * (self.vectors.T @ right), axis=1)

    def _dense_products(self, x: Array) -> tuple[Array, Array]:
        on_pattern = (x[self.rows, self.cols] + x[self.cols, self.rows]) / 2
        return on_pattern, np.sum(self.vectors * (x @ self.vectors), axis=0)


@dataclass(frozen=True, eq=False)
class DiagonalBlock:
    """A diagonal block of length d, whose points are vectors."""

    shape: Shape
    """(d,)."""
    pairs: slice
    """Where the block's places are among those of all blocks."""
    places: IntArray
    """The entries that occur in some constraint."""
    owners: IntArray
    """Empty: a diagonal block has no rank-one terms."""
    coefficients: Array

    @property
    def nbytes(self) -> int:
        """Bytes of the places."""
        return self.places.nbytes

    def scaled(self, factors: Array) -> DiagonalBlock:
        """Return the block itself: it holds no values."""
        return self

    def term_norms(self) -> Array:
        """Return no norms."""
        return self.coefficients

    def products(self, atom: Any) -> tuple[Array, Array]:
        """Return the entries of x that occur."""
        _check("atom", atom, self.shape)
        return np.asarray(atoms.dense(atom))[self.places], self.coefficients

    def pair_products(self, left: Any, right: Any) -> tuple[Array, Array]:
        """Return the entries of the entrywise product of two vectors."""
        left, right = np.asarray(left), np.asarray(right)
        for name, factor in (("left", left), ("right", right)):
            _check(name, factor, self.shape)
        return left[self.places] * right[self.places], self.coefficients

    def adjoint(self, values: Array, dual: Array) -> Array:
        """Return the vector with ``values`` at the places and zeros elsewhere."""
        out = np.zeros(self.shape, values.dtype)
        out[self.places] = values
        return out


def _check(name: str, atom: Any, shape: Shape) -> None:
    found = tuple(getattr(atom, "shape", ()))
    if found != shape:
        raise InvalidInput(name, f"shape {shape}", f"shape {found}")
    if atom.dtype.kind == "c":
        raise InvalidInput(name, "real numbers", f"dtype {atom.dtype}")
