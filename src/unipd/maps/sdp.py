"""The linear map of semidefinite programs, A(X)_i = <A_i, X>, straight from the nonzeros of the data.

Dense rank-one matrices among the A_i are kept as vectors. The cost may be one more row; on a face of the psd cone the
map is Z -> A(Q Z Q^T), with Q a basis of the complement of a vector. The adjoint is a
:class:`~unipd.spectral.SymmetricOperator`, which has certified bounds on its eigenvalues.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd._util.arrays import precision
from unipd._util.lazy import compile_lazily
from unipd.atoms import LowRank, dense
from unipd.errors import InvalidInput
from unipd.maps.base import Map
from unipd.spectral.operators import LazyMatrix
from unipd.spectral.symmetric import SymmetricOperator

_RANK_ONE_ULPS = 8.0
"""An entry may differ from c v_i v_j by this many units in the last place, the rounding of three products."""


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of A_1, ..., A_m: ``value[k]`` is A_i[row, col] and, by symmetry, A_i[col, row].

    Indices count from zero. An entry may be given in either triangle, but only once.

    Parameters
    ----------
    constraint, row, col
        Indices of each entry.
    value
        The numbers.

    See Also
    --------
    SdpMap, unipd.SDP

    Examples
    --------
    The matrix [[1, 2], [2, 0]] as the only constraint:

    >>> Entries([0, 0], [0, 0], [0, 1], [1.0, 2.0]).value
    array([1., 2.])
    """

    constraint: IntArray
    row: IntArray
    col: IntArray
    value: Array

    def __init__(self, constraint: Any, row: Any, col: Any, value: Any) -> None:
        values = validate.real_array("value", value, ndim=1)
        for name, given in (("constraint", constraint), ("row", row), ("col", col)):
            object.__setattr__(self, name, index_array(name, given, values.size))
        object.__setattr__(self, "value", values)

    @classmethod
    def from_matrices(cls, matrices: Sequence[Any], name: str = "matrices") -> Entries:
        """Return the entries of symmetric matrices (arrays or SciPy sparse), one matrix per constraint.

        ``name`` names the list in error messages.

        >>> Entries.from_matrices([np.eye(2)]).row
        array([0, 1], dtype=int32)
        """
        if len(matrices) == 0:
            raise InvalidInput(name, "at least one symmetric matrix", "an empty list")
        parts = [_upper_triangle(f"{name}[{index}]", matrix) for index, matrix in enumerate(matrices)]
        constraint = np.repeat(np.arange(len(parts)), [part.nnz for part in parts])
        row, col, value = (np.concatenate(part) for part in zip(*((p.row, p.col, p.data) for p in parts), strict=True))
        return cls(constraint, row, col, value)

    @classmethod
    def concatenate(cls, parts: Sequence[Entries]) -> Entries:
        """Return the entries of all parts as one list."""
        columns = zip(*((part.constraint, part.row, part.col, part.value) for part in parts), strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    def select(self, chosen: Any) -> Entries:
        """Return the entries of a mask or of indices."""
        return Entries(self.constraint[chosen], self.row[chosen], self.col[chosen], self.value[chosen])

    def canonical(self) -> Entries:
        """Return the entries in the upper triangle, sorted, each place once and no zeros.

        Raises :class:`~unipd.errors.InvalidInput` when a place is given two different values.
        """
        row, col = np.minimum(self.row, self.col), np.maximum(self.row, self.col)
        chosen, conflict = deduplicate_entries((self.constraint, row, col), self.value)
        if conflict is not None:
            place = tuple(int(part[conflict[1]]) for part in (self.constraint, row, col))
            got = f"{self.value[conflict[0]]} and {self.value[conflict[1]]}"
            raise InvalidInput(f"entry (constraint, row, col) = {place}", "one value", got)
        return Entries(self.constraint, row, col, self.value).select(chosen)

    def sum_duplicates(self, order: int) -> Entries:
        """Return the entries in the upper triangle of order n, sorted, those at the same place added up and no zeros.

        >>> Entries([0, 0], [0, 1], [1, 0], [1.0, 2.0]).sum_duplicates(2).value
        array([3.])
        """
        low, high = np.minimum(self.row, self.col), np.maximum(self.row, self.col)
        keys, inverse = np.unique((self.constraint.astype(np.int64) * order + low) * order + high, return_inverse=True)
        total = np.bincount(inverse, self.value, minlength=keys.size)
        constraint, place = np.divmod(keys, order * order)
        return Entries(constraint, *np.divmod(place, order), total).select(total != 0.0)


def deduplicate_entries(keys: tuple[IntArray, ...], value: Array) -> tuple[IntArray, tuple[int, int] | None]:
    """Return the indices of distinct nonzero entries, sorted by the keys, and the first conflict if any.

    An entry repeated with the same value counts once; a conflict is a pair of indices with the same keys and
    different values.
    """
    order = _sort_order(keys)
    is_new = np.zeros(order.size, bool)
    is_new[:1] = True
    for key in keys:
        ranked = key[order]
        is_new[1:] |= ranked[1:] != ranked[:-1]
    ranked = value[order]
    clash = np.flatnonzero(~is_new[1:] & (ranked[1:] != ranked[:-1]))
    if clash.size:
        return order, (int(order[clash[0]]), int(order[clash[0] + 1]))
    return order[is_new & (ranked != 0)], None


def _sort_order(keys: tuple[IntArray, ...]) -> IntArray:
    """Return the stable order of the tuples of keys, through one 64-bit key (much faster) when they fit in it."""
    spans = [int(key.max(initial=0)) + 1 for key in keys]
    if math.prod(spans) >= 2**63:
        return np.lexsort(keys[::-1])
    joint = keys[0].astype(np.int64)
    for key, span in zip(keys[1:], spans[1:], strict=True):
        joint = joint * span + key
    return np.argsort(joint, kind="stable")


def index_array(name: str, given: Any, size: int) -> IntArray:
    """Return ``size`` nonnegative indices as 32-bit integers, or raise."""
    array = np.asarray(given)
    if array.shape != (size,):
        raise InvalidInput(name, f"{size} indices, one per value", f"shape {array.shape}")
    if size == 0:
        return np.zeros(0, np.int32)
    if array.dtype.kind not in "iu":
        raise InvalidInput(name, "integers", f"dtype {array.dtype}")
    if array.min() < 0 or array.max() >= 2**31:
        raise InvalidInput(name, "indices from 0 to 2^31 - 1", f"{array.min()} to {array.max()}")
    return array.astype(np.int32, copy=False)


def _upper_triangle(name: str, matrix: Any) -> Any:
    """Return the upper triangle of a symmetric matrix in coordinate form."""
    explicit = matrix if scipy.sparse.issparse(matrix) else validate.real_array(name, matrix, ndim=2)
    array: Any = scipy.sparse.coo_array(explicit)
    validate.real_array(name, array.data)
    if array.shape[0] != array.shape[1]:
        raise InvalidInput(name, "a square matrix", f"shape {array.shape}")
    array.sum_duplicates()
    array.eliminate_zeros()  # scipy.sparse.block_diag of arrays stores all their entries
    gap = abs(array - array.T)
    if gap.nnz and gap.max() > validate.SYMMETRY * abs(array).max():
        raise InvalidInput(name, "a symmetric matrix", f"entries that differ from their mirror by {gap.max():.3g}")
    return scipy.sparse.triu(array, format="coo")


def split_rank_one(entries: Entries, order: int) -> tuple[Entries, IntArray, Array, Array]:
    """Split the dense rank-one matrices c v v^T of order n off canonical entries.

    Dense means that all k (k + 1) / 2 entries in some k >= 2 rows and columns are given, and that they are at least as
    many as the n numbers of v. The constant matrix c 11^T is the common case (theta numbers, graph partitioning).
    Returns the other entries and, for each of these matrices, its constraint, c, and v as a column.
    """
    starts = np.flatnonzero(np.diff(entries.constraint, prepend=-1, append=-1))
    counts = np.diff(starts)
    width = np.rint((np.sqrt(8.0 * counts + 1.0) - 1.0) / 2.0).astype(np.int64)
    owners: list[int] = []
    coefficients: list[float] = []
    vectors = [np.zeros((order, 0), entries.value.dtype)]
    rest = np.ones(entries.value.size, bool)
    for run in np.flatnonzero((width >= 2) & (counts == width * (width + 1) // 2) & (counts >= order)):
        part = slice(starts[run], starts[run + 1])
        factors = _rank_one_factors(entries.row[part], entries.col[part], entries.value[part], order)
        if factors is not None:
            owners.append(int(entries.constraint[starts[run]]))
            coefficients.append(factors[0])
            vectors.append(factors[1][:, None])
            rest[part] = False
    columns = np.concatenate(vectors, axis=1)
    return entries.select(rest), np.array(owners, np.intp), np.array(coefficients, columns.dtype), columns


def _rank_one_factors(row: IntArray, col: IntArray, value: Array, order: int) -> tuple[float, Array] | None:
    """Return (c, v) with c v v^T equal to the matrix up to rounding, or None.

    The row through the largest diagonal entry a_pp determines both: c = a_pp, v = a_p / a_pp.
    """
    diagonal = np.flatnonzero(row == col)
    if diagonal.size * (diagonal.size + 1) // 2 != value.size:
        return None
    largest = diagonal[np.argmax(np.abs(value[diagonal]))]
    pivot, coefficient = row[largest], value[largest]
    vector = np.zeros(order, value.dtype)
    vector[row[col == pivot]] = value[col == pivot]
    vector[col[row == pivot]] = value[row == pivot]
    with np.errstate(over="ignore", invalid="ignore"):
        vector /= coefficient
        model = coefficient * vector[row] * vector[col]
        is_close = np.abs(model - value) <= _RANK_ONE_ULPS * precision(value) * np.abs(value)
    is_whole = is_close.all() and np.count_nonzero(vector) == diagonal.size
    return (float(coefficient), vector) if is_whole else None


@dataclass(frozen=True, eq=False)
class Pattern:
    """The union of the sparsity patterns as pairs row <= col and as symmetric CSR, and the rank-one terms."""

    rows: IntArray
    cols: IntArray
    starts: IntArray
    """CSR row pointers, both triangles."""
    indices: IntArray
    """CSR column indices."""
    source: IntArray
    """The pair that each place of the CSR form takes its value from."""
    owners: IntArray
    """Constraint of each rank-one term (distinct)."""
    coefficients: Array
    vectors: Array
    """One column v per rank-one term c v v^T."""

    @property
    def nbytes(self) -> int:
        """Bytes of the pattern and the vectors."""
        arrays = (self.rows, self.cols, self.starts, self.indices, self.source, self.vectors, self.coefficients)
        return sum(array.nbytes for array in arrays)

    def products(self, atom: Any) -> tuple[Array, Array]:
        """Return the entries of X on the pattern and v^T X v for each rank-one vector."""
        if atom.dtype.kind == "c":
            raise InvalidInput("atom", "real numbers", f"dtype {atom.dtype}")
        if not isinstance(atom, LowRank):
            x = np.asarray(dense(atom))
            on_pattern = (x[self.rows, self.cols] + x[self.cols, self.rows]) / 2
            return on_pattern, np.sum(self.vectors * (x @ self.vectors), axis=0)
        return self._factor_products(atom)

    def _factor_products(self, atom: LowRank) -> tuple[Array, Array]:
        dtype = np.result_type(atom.left.dtype, atom.right.dtype)
        left = np.ascontiguousarray(atom.left * atom.weights.astype(atom.dtype, copy=False), dtype)
        right = np.ascontiguousarray(atom.left if atom.hermitian else atom.right, dtype)
        out = np.empty(self.rows.size, dtype)
        row_products(self.rows, self.cols, left, right, out)
        if not atom.hermitian:
            mirrored = np.empty_like(out)
            row_products(self.cols, self.rows, left, right, mirrored)
            out = (out + mirrored) / 2
        return out, np.sum((self.vectors.T @ left) * (self.vectors.T @ right), axis=1)

    def adjoint(self, values: Array, dual: Array) -> SymmetricOperator:
        """Return the symmetric matrix with ``values`` on the pattern plus sum_k lam_k c_k v_k v_k^T."""
        coefficients = self.coefficients * dual[self.owners]
        return SymmetricOperator(self.starts, self.indices, values[self.source], self.vectors, coefficients)


def _row_products_plain(rows: IntArray, cols: IntArray, left: Array, right: Array, out: Array) -> None:
    np.einsum("kc,kc->k", left[rows], right[cols], out=out)


@compile_lazily(reorder=True, plain=_row_products_plain)
def row_products(rows: IntArray, cols: IntArray, left: Array, right: Array, out: Array) -> None:
    """Set out[k] = <left[rows[k]], right[cols[k]]>; unsigned indices spare the wrap-around of negative ones."""
    for pair in range(rows.size):
        i, j = np.uint32(rows[pair]), np.uint32(cols[pair])
        total = out.dtype.type(0)
        for column in range(left.shape[1]):
            total += left[i, column] * right[j, column]
        out[pair] = total


class SdpMap(Map):
    """A(X)_i = <A_i, X> for sparse symmetric A_i and positive semidefinite X.

    An image reads X = L diag(w) R^T at the union of the sparsity patterns only, one row product per place, followed by
    one sparse product: O(r |pattern| + nnz), so MaxCut's diag(X) costs O(r n). The adjoint has that fixed pattern and
    is never made dense. Dense rank-one data (such as the all-ones matrix) is recognised and kept as vectors.

    Several blocks are either one block diagonal matrix or, each with its own oracle, a :class:`~unipd.maps.BlockMap`.

    Parameters
    ----------
    domain
        (n, n).
    entries
        The nonzeros of A_1, ..., A_m.
    constraints
        m.

    Raises
    ------
    InvalidInput
        ``constraints``: expected an integer of at least 1.

    See Also
    --------
    InnerProducts, unipd.SDP

    Examples
    --------
    MaxCut's diagonal of a matrix of order 3:

    >>> from unipd.atoms import LowRank
    >>> diagonal = SdpMap((3, 3), Entries([0, 1, 2], [0, 1, 2], [0, 1, 2], [1.0] * 3), 3)
    >>> v = np.array([[1.0], [2.0], [3.0]])
    >>> diagonal.image(LowRank(v, v, np.ones(1)))
    array([1., 4., 9.])
    >>> diagonal.adjoint(np.array([1.0, 0.0, 2.0])).toarray().diagonal()
    array([1., 0., 2.])
    """

    has_adjoint_entries = True

    def __init__(self, domain: Any, entries: Entries, constraints: int) -> None:
        count, order = validate.integer("constraints", constraints, minimum=1), _order(domain)
        _check_ranges(entries, count, order)
        sparse, *terms = split_rank_one(entries.canonical(), order)
        union, pair = np.unique(sparse.row.astype(np.int64) * order + sparse.col, return_inverse=True)
        rows, cols = (part.astype(np.int32) for part in np.divmod(union, order))
        dtype = sparse.value.dtype
        doubled = np.where(sparse.row == sparse.col, 1, 2).astype(dtype) * sparse.value
        self.matrix: Any = scipy.sparse.csr_array((doubled, (sparse.constraint, pair)), shape=(count, union.size))
        """CSR matrix M with A(X) = M x, x the entries of X on the pattern; entries off the diagonal count twice."""
        self.pattern = Pattern(rows, cols, *_symmetric_csr(order, rows, cols), *terms)
        self.weights: Array = np.where(rows == cols, 1.0, 0.5).astype(dtype)
        """1 for each pair on the diagonal and 1/2 for the others: undoes the doubling in M."""
        self._transposed: Any = self.matrix.T
        super().__init__((order, order), (count,), dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of the sparse matrix, the pattern and the rank-one vectors."""
        arrays = (self.matrix.data, self.matrix.indices, self.matrix.indptr, self.weights)
        return sum(array.nbytes for array in arrays) + self.pattern.nbytes

    def image(self, atom: Any) -> Array:
        """Return A(X); for an X that is not symmetric, the image of its symmetric part."""
        self._check_atom(atom)
        on_pattern, quadratic = self.pattern.products(atom)
        out = self.matrix @ on_pattern
        if quadratic.size:
            out[self.pattern.owners] += self.pattern.coefficients * quadratic
        return out

    def adjoint(self, dual: Array) -> SymmetricOperator:
        """Return A^*(lam) = sum_i lam_i A_i as an operator."""
        lam = self._check_dual(dual)
        return self.pattern.adjoint((self._transposed @ lam) * self.weights, lam)

    def frobenius_norms(self) -> Array:
        """Return the Frobenius norm of each A_i.

        >>> SdpMap((2, 2), Entries.from_matrices([np.array([[1.0, 2.0], [2.0, 4.0]])]), 1).frobenius_norms()
        array([5.])
        """
        squares = self.matrix.power(2) @ self.weights
        terms = self.pattern
        squares[terms.owners] += (np.abs(terms.coefficients) * np.sum(terms.vectors**2, axis=0)) ** 2
        return np.sqrt(squares)

    def diagonals(self) -> Any:
        """Return the CSR matrix with the diagonal of each A_i that is diagonal; rows of other constraints are empty.

        >>> pair = SdpMap((2, 2), Entries.from_matrices([np.diag([1.0, 2.0]), np.array([[1.0, 1.0], [1.0, 0.0]])]), 2)
        >>> pair.diagonals().toarray()
        array([[1., 2.],
               [0., 0.]])
        """
        pattern, matrix = self.pattern, self.matrix
        off = np.asarray((matrix[:, pattern.rows != pattern.cols] != 0).sum(axis=1)) > 0
        off[pattern.owners] = True
        lengths = np.diff(matrix.indptr)
        chosen = np.flatnonzero(~np.repeat(off, lengths))
        rows = np.repeat(np.arange(matrix.shape[0]), lengths)[chosen]
        places = (rows, pattern.rows[matrix.indices[chosen]])
        return scipy.sparse.csr_array((matrix.data[chosen], places), shape=(matrix.shape[0], self.domain[0]))

    def scale_rows(self, factors: Any) -> SdpMap:
        """Return the map X -> factors * A(X), sharing the pattern.

        >>> trace = SdpMap((2, 2), Entries.from_matrices([np.eye(2)]), 1)
        >>> trace.scale_rows([0.5]).image(np.eye(2))
        array([1.])
        """
        factor = validate.real_array("factors", factors, shape=self.codomain).astype(self.dtype, copy=False)
        other = copy.copy(self)
        values = self.matrix.data * np.repeat(factor, np.diff(self.matrix.indptr))
        other.matrix = scipy.sparse.csr_array(
            (values, self.matrix.indices, self.matrix.indptr), shape=self.matrix.shape
        )
        other._transposed = other.matrix.T
        other.pattern = replace(self.pattern, coefficients=self.pattern.coefficients * factor[self.pattern.owners])
        return other


def _symmetric_csr(order: int, rows: IntArray, cols: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return row pointers, column indices and source pair of each place, for pairs row <= col and their mirrors."""
    off = np.flatnonzero(rows != cols)
    full_rows, full_cols = np.concatenate([rows, cols[off]]), np.concatenate([cols, rows[off]])
    source = np.concatenate([np.arange(rows.size), off])
    by_row = np.argsort(full_rows.astype(np.int64) * order + full_cols, kind="stable")
    starts = np.zeros(order + 1, np.int64)
    np.cumsum(np.bincount(full_rows, minlength=order), out=starts[1:])
    return starts, full_cols[by_row], source[by_row]


def _order(domain: Any) -> int:
    """Return n of the domain (n, n)."""
    is_square = isinstance(domain, (tuple, list)) and len(domain) == 2 and domain[0] == domain[1]
    if not is_square or not isinstance(domain[0], (int, np.integer)) or not 1 <= domain[0] < 2**31:
        raise InvalidInput("domain", "a square shape (n, n) with 1 <= n < 2^31", repr(domain))
    return int(domain[0])


def _check_ranges(entries: Entries, constraints: int, order: int) -> None:
    limits = ((entries.constraint, constraints), (entries.row, order), (entries.col, order))
    for name, (index, limit) in zip(("constraint", "row", "col"), limits, strict=True):
        if index.max(initial=0) >= limit:
            raise InvalidInput(name, f"indices below {limit}", f"{index.max()}")


class CostAndConstraintsMap(Map):
    """A, with the cost C as one more row of the same data: C + A^*(lam) is one sparse matrix.

    Parameters
    ----------
    cost_and_constraints
        X -> (<C, X>, A(X)), a semidefinite map, perhaps distributed or reduced to a face.

    See Also
    --------
    SdpMap, ReducedMap

    Examples
    --------
    >>> cost_map = CostAndConstraintsMap(SdpMap((2, 2), Entries.from_matrices([np.diag([1.0, 2.0]), np.eye(2)]), 2))
    >>> cost_map.image(np.eye(2)), cost_map.slack(np.array([3.0])).toarray()
    (array([2.]), array([[4., 0.], [0., 5.]]))
    """

    def __init__(self, cost_and_constraints: Any) -> None:
        rows = cost_and_constraints.codomain[0] - 1
        super().__init__(cost_and_constraints.domain, (rows,), cost_and_constraints.dtype)
        self.cost_and_constraints = cost_and_constraints
        self.cost: Any = cost_and_constraints.adjoint(np.eye(1, rows + 1, dtype=self.dtype)[0])

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The map of both."""
        return (self.cost_and_constraints,)

    @property
    def nbytes(self) -> int:
        """Bytes of the data."""
        return self.cost_and_constraints.nbytes

    def image(self, atom: Any) -> Array:
        """Return A(X)."""
        return self.cost_and_constraints.image(atom)[1:]

    def cost_and_image(self, atom: Any) -> tuple[float, Array]:
        """Return <C, X> and A(X), computed together."""
        both = self.cost_and_constraints.image(atom)
        return float(both[0]), both[1:]

    def adjoint(self, dual: Array) -> Any:
        """Return A^*(lam), on the pattern of cost and constraints."""
        return self.cost_and_constraints.adjoint(np.concatenate([np.zeros(1, self.dtype), dual]))

    def slack(self, dual: Array) -> Any:
        """Return S = C + A^*(lam)."""
        return self.cost_and_constraints.adjoint(np.concatenate([np.ones(1, self.dtype), dual]))


class Reflection(LazyMatrix):
    """Q, a basis of the complement of a vector: all columns but the first of a Householder reflection.

    Over a face of the psd cone, {X : X v = 0}, points are Q Z Q^T and maps are ``TwoSidedMap(A, Q, Q)``.

    Parameters
    ----------
    vector
        A vector other than zero.

    See Also
    --------
    unipd.maps.TwoSidedMap, SdpMap

    Examples
    --------
    >>> reflection = Reflection(np.array([3.0, 4.0]))
    >>> abs(reflection.toarray().T @ np.array([3.0, 4.0])).round(12)
    array([0.])
    """

    def __init__(self, vector: Array) -> None:
        super().__init__((vector.size, vector.size - 1), vector.dtype)
        self.unit: Array = vector / np.linalg.norm(vector)
        axis = self.unit.copy()
        axis[0] += np.copysign(1.0, axis[0])
        self._axis: Array = axis / np.linalg.norm(axis)

    def matmat(self, block: Array) -> Array:
        """Return Q B."""
        padded = np.concatenate([np.zeros((1, block.shape[1]), block.dtype), block])
        return padded - 2.0 * np.outer(self._axis, self._axis @ padded)

    def rmatmat(self, block: Array) -> Array:
        """Return Q^T B."""
        return (block - 2.0 * np.outer(self._axis, self._axis @ block))[1:]

    def lift(self, atom: LowRank) -> LowRank:
        """Return Q Z Q^T for a psd Z."""
        left = self.matmat(atom.left)
        return LowRank(left, left, atom.weights)
