"""The map of a semidefinite program: A(X)_i = <A_i, X>, straight from sparse data."""

from __future__ import annotations

import copy
from typing import Any, cast

import numpy as np
import scipy

from unipd import validate
from unipd._typing import Array, Shape
from unipd.atoms import Blocks
from unipd.errors import InvalidInput
from unipd.maps.base import Map
from unipd.maps.sdp import build
from unipd.maps.sdp.blocks import PsdBlock
from unipd.maps.sdp.entries import Entries


class SdpMap(Map):
    """A(X)_i = <A_i, X> for sparse symmetric A_i and X semidefinite, block diagonal or both.

    An image reads X = L diag(w) R^T at the union of the sparsity patterns only, one row product a place,
    then makes one sparse product: O(r |pattern| + nnz), so MaxCut's diag(X) costs O(r n). The adjoint has
    that fixed pattern and is never made dense. Dense rank-one data (such as the all-ones matrix) is
    recognised and kept as vectors.

    Parameters
    ----------
    domain
        (n, n) for one semidefinite block, (d,) for one diagonal block (a nonnegative vector), or a tuple
        of such shapes, for points that are :class:`~unipd.atoms.Blocks`.
    entries
        The nonzeros of A_1, ..., A_m.
    constraints
        m.

    Examples
    --------
    MaxCut's diagonal of a matrix of order 3:

    >>> from unipd.atoms import LowRank
    >>> diagonal = SdpMap((3, 3), Entries([0, 1, 2], [0] * 3, [0, 1, 2], [0, 1, 2], [1.0] * 3), 3)
    >>> v = np.array([[1.0], [2.0], [3.0]])
    >>> diagonal.image(LowRank(v, v, np.ones(1)))
    array([1., 4., 9.])
    >>> diagonal.adjoint(np.array([1.0, 0.0, 2.0])).toarray().diagonal()
    array([1., 0., 2.])
    """

    def __init__(self, domain: Any, entries: Entries, constraints: int) -> None:
        rows = validate.integer("constraints", constraints, minimum=1)
        self._single, shapes = _shapes(domain)
        self._matrix, self.blocks = build.build(shapes, entries, rows)
        self._transposed: Any = self._matrix.T
        self._weights = build.weights(self.blocks, entries.value.dtype)
        super().__init__(shapes[0] if self._single else shapes, (rows,), entries.value.dtype)

    @property
    def matrix(self) -> Any:
        """The CSR matrix M with A(X) = M x, x the entries of X on the union pattern."""
        return self._matrix

    @property
    def weights(self) -> Array:
        """1 for each pair on the diagonal and 1/2 for each off it."""
        return self._weights

    @property
    def nbytes(self) -> int:
        """Bytes of the sparse matrix, the patterns and the rank-one vectors."""
        arrays = (self._matrix.data, self._matrix.indices, self._matrix.indptr, self._weights)
        return sum(array.nbytes for array in arrays) + sum(block.nbytes for block in self.blocks)

    def image(self, atom: Any) -> Array:
        """Return A(X); for an X that is not symmetric, the image of its symmetric part."""
        parts = self._parts("atom", atom)
        return self._gather([block.products(part) for block, part in zip(self.blocks, parts, strict=True)])

    def pair_image(self, left: Any, right: Any) -> Array:
        """Return A((L R^T + R L^T) / 2): the bilinear form behind A(R R^T), for exact line searches.

        With X(t) = (R + t D)(R + t D)^T, A(X(t)) = A(R R^T) + 2 t pair_image(R, D) + t^2 A(D D^T).
        Factors have shape (n, r); those of a diagonal block are vectors, multiplied entrywise; for several
        blocks give one factor a block.

        >>> trace = SdpMap((2, 2), Entries.from_matrices([np.eye(2)]), 1)
        >>> trace.pair_image(np.ones((2, 1)), np.array([[1.0], [3.0]]))
        array([4.])
        """
        pairs = zip(self.blocks, self._parts("left", left), self._parts("right", right), strict=True)
        return self._gather([block.pair_products(first, second) for block, first, second in pairs])

    def adjoint(self, dual: Array) -> Any:
        """Return A^*(lam) = sum_i lam_i A_i: an operator, a vector for a diagonal block, a tuple for several."""
        lam = np.asarray(dual)
        if lam.shape != self.codomain:
            raise InvalidInput("dual", f"shape {self.codomain}", f"shape {lam.shape}")
        values = (self._transposed @ lam) * self._weights
        parts = tuple(block.adjoint(values[block.pairs], lam) for block in self.blocks)
        return parts[0] if self._single else parts

    def frobenius_norms(self) -> Array:
        """Return the Frobenius norm of each A_i.

        >>> SdpMap((2, 2), Entries.from_matrices([np.array([[1.0, 2.0], [2.0, 4.0]])]), 1).frobenius_norms()
        array([5.])
        """
        squares = self._with_values(self._matrix.data**2) @ self._weights
        for block in self.blocks:
            squares[block.owners] += block.term_norms() ** 2
        return np.sqrt(squares)

    def diagonals(self) -> Any:
        """Return the CSR matrix with the diagonal of each A_i that is diagonal, for one semidefinite block.

        Rows of other constraints are empty.

        >>> pair = SdpMap((2, 2), Entries.from_matrices([np.diag([1.0, 2.0]), np.array([[1.0, 1.0], [1.0, 0.0]])]), 2)
        >>> pair.diagonals().toarray()
        array([[1., 2.],
               [0., 0.]])
        """
        block, matrix = cast("PsdBlock", self.blocks[0]), self._matrix
        off = np.asarray((matrix[:, block.rows != block.cols] != 0).sum(axis=1)) > 0
        off[block.owners] = True
        kept = np.flatnonzero(~np.repeat(off, np.diff(matrix.indptr)))
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[kept]
        places = (rows, block.rows[matrix.indices[kept]])
        return scipy.sparse.csr_array((matrix.data[kept], places), shape=(matrix.shape[0], block.shape[0]))

    def scaled(self, factors: Any) -> SdpMap:
        """Return the map X -> factors * A(X), sharing the pattern.

        >>> trace = SdpMap((2, 2), Entries.from_matrices([np.eye(2)]), 1)
        >>> trace.scaled([0.5]).image(np.eye(2))
        array([1.])
        """
        factor = validate.real_array("factors", factors, shape=self.codomain).astype(self.dtype, copy=False)
        other = copy.copy(self)
        lengths = np.diff(self._matrix.indptr)
        other._matrix = self._with_values(self._matrix.data * np.repeat(factor, lengths))
        other._transposed = other._matrix.T
        other.blocks = tuple(block.scaled(factor) for block in self.blocks)
        return other

    def _with_values(self, values: Array) -> Any:
        """Return the sparse matrix with other values."""
        return scipy.sparse.csr_array((values, self._matrix.indices, self._matrix.indptr), shape=self._matrix.shape)

    def _gather(self, products: list[tuple[Array, Array]]) -> Array:
        """Return the image from the blocks' entries on the pattern and along the rank-one vectors."""
        entries = [on_pattern for on_pattern, _ in products]
        out = self._matrix @ (entries[0] if len(entries) == 1 else np.concatenate(entries))
        for block, (_, quadratic) in zip(self.blocks, products, strict=True):
            if quadratic.size:
                out[block.owners] += block.coefficients * quadratic
        return out

    def _parts(self, name: str, x: Any) -> tuple[Any, ...]:
        if self._single:
            return (x,)
        parts = tuple(x.parts if isinstance(x, Blocks) else x)
        if len(parts) != len(self.blocks):
            raise InvalidInput(name, f"{len(self.blocks)} blocks", f"{len(parts)}")
        return parts


def _shapes(domain: Any) -> tuple[bool, tuple[Shape, ...]]:
    """Return whether the domain is a single block, and the shapes of the blocks."""
    expected = "(n, n), (d,) or a tuple of such shapes"
    if not isinstance(domain, (tuple, list)) or not domain:
        raise InvalidInput("domain", expected, repr(domain))
    given = cast("tuple[Any, ...]", tuple(domain))
    single = not isinstance(given[0], (tuple, list))
    shapes = (given,) if single else tuple(tuple(shape) for shape in given)
    for shape in shapes:
        whole = all(isinstance(size, (int, np.integer)) and size >= 1 for size in shape)
        if not whole or len(shape) not in (1, 2) or shape[0] != shape[-1]:
            raise InvalidInput("domain", expected, repr(domain))
    return single, tuple(tuple(int(size) for size in shape) for shape in shapes)
