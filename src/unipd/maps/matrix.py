"""Maps given by a dense or sparse matrix, by an operator, by an incidence list, or the identity.

:func:`as_map` converts user input to one of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array, FloatArray, IntArray, Shape
from unipd._util import arrays, validate
from unipd._util.lazy import compile_lazily
from unipd._util.threads import CACHE_ENTRIES
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.maps.base import Map, matrix_domain, require_map, shape_error
from unipd.maps.compose import BlockMap
from unipd.maps.sampling import checksum
from unipd.protocols import MapDefaults

_FEW = 8
"""Nonzeros of an atom up to which its columns are added one by one."""

_UNDERFLOW_MARGIN = 1e16
"""Multiple of the smallest number below which sums of squares may have lost digits to underflow."""


class DenseMatrix(Map):
    """A x with A a NumPy array of shape (n, p); a sparse atom costs only its columns.

    Parameters
    ----------
    matrix
        The array A of shape (n, p).
    domain
        Shape of x; by default that of a vector.

    Raises
    ------
    InvalidInput
        ``matrix``: expected an array of finite numbers.

    See Also
    --------
    SparseMatrix, OperatorMap, as_map

    Examples
    --------
    >>> DenseMatrix(np.eye(2)).image(atoms.one_hot((2,), 1, 3.0))
    array([0., 3.])
    """

    has_cheap_images = True
    has_adjoint_entries = True
    has_mixed_products = True

    def __init__(self, matrix: Any, domain: Shape | None = None) -> None:
        self.matrix = validate.finite_array("matrix", matrix, ndim=2)
        rows, columns = _nonempty(self.matrix.shape)
        super().__init__(matrix_domain(domain, columns), (rows,), self.matrix.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of the matrix."""
        return self.matrix.nbytes

    def image(self, atom: Any) -> Array:
        """Return A x."""
        try:
            if isinstance(atom, atoms.SparsePoint):
                return self.matrix[:, atom.indices] @ atom.values
            x = np.asarray(atoms.dense(atom)).reshape(-1)
            return _mixed_product(self.matrix, x) if is_mixed(self.matrix.dtype, x) else self.matrix @ x
        except (ValueError, IndexError) as error:
            raise shape_error("atom", atom, self.domain, error) from error

    def adjoint(self, dual: Array) -> Array:
        """Return A^* lam (conjugating the vector, not the matrix)."""
        multiply = _mixed_transposed_product if is_mixed(self.matrix.dtype, dual) else np.matmul
        try:
            if self.matrix.dtype.kind == "c":
                return multiply(dual.conj(), self.matrix).conj().reshape(self._domain)
            return multiply(dual, self.matrix).reshape(self._domain)
        except ValueError as error:
            raise shape_error("dual", dual, self.codomain, error) from error

    def negated_adjoint(self, dual: Array) -> Array:
        """Return -A^* lam; the shorter of lam and A^* lam is negated, and lam where a subclass has its own adjoint."""
        rows, columns = self.matrix.shape
        if rows > columns and type(self).adjoint is DenseMatrix.adjoint:
            return -1.0 * self.adjoint(dual)
        return self.adjoint(-1.0 * dual)

    def columns(self, places: Any) -> Array:
        """Return the columns at these places."""
        return self.matrix[:, places]

    def row_norms(self) -> FloatArray:
        """Return the norms of the matrix rows."""
        double = np.result_type(self.dtype, np.float64)
        with np.errstate(over="ignore"):
            if self.matrix.shape[1] > arrays.ENTRIES:
                squares = np.array([arrays.dot(row, row).real for row in self.matrix])
            else:
                squares = np.einsum("ij,ij->i", self.matrix, self.matrix.conj(), dtype=double).real
        norms = np.sqrt(squares)
        for row in np.flatnonzero(_is_out_of_range(squares, self.dtype)):
            norms[row] = scipy.linalg.norm(self.matrix[row].astype(double))  # BLAS scales it
        return norms


def _is_out_of_range(squares: FloatArray, dtype: np.dtype[Any]) -> Array:
    """Return which sums of squares in this precision overflowed, or lost digits below the smallest number."""
    return ~((squares > _UNDERFLOW_MARGIN * np.finfo(dtype).tiny) & np.isfinite(squares))


def is_mixed(dtype: np.dtype[Any], vector: Array) -> bool:
    """Whether a matrix of this dtype is in single and the vector in double precision.

    >>> is_mixed(np.dtype(np.float32), np.ones(2)), is_mixed(np.dtype(np.float64), np.ones(2))
    (True, False)
    """
    return dtype.char in "fF" and vector.dtype.char in "dD"


def _row_blocks(matrix: Array) -> list[slice]:
    """Return slices of rows with about ``CACHE_ENTRIES`` entries each."""
    step = max(1, CACHE_ENTRIES // matrix.shape[1])
    return [slice(first, first + step) for first in range(0, matrix.shape[0], step)]


def _mixed_product(matrix: Array, x: Array) -> Array:
    """Return M x in the precision of x, a block of rows at a time: M is never copied as a whole."""
    dtype = np.result_type(matrix, x)
    return np.concatenate([matrix[rows].astype(dtype) @ x for rows in _row_blocks(matrix)])


def _mixed_transposed_product(vector: Array, matrix: Array) -> Array:
    """Return v M in the precision of v, a block of rows at a time."""
    if vector.shape != matrix.shape[:1]:
        raise ValueError(f"{vector.shape} does not match {matrix.shape[0]} rows")
    total = np.zeros(matrix.shape[1], np.result_type(matrix, vector))
    for rows in _row_blocks(matrix):
        total += vector[rows] @ matrix[rows].astype(total.dtype)
    return total


class SparseMatrix(Map):
    """A x with A a SciPy sparse matrix or array, kept by columns (CSC) and never made dense.

    Parameters
    ----------
    matrix
        The sparse matrix A of shape (n, p).
    domain
        Shape of x; by default that of a vector.

    Raises
    ------
    InvalidInput
        ``matrix``: expected finite numbers.

    See Also
    --------
    DenseMatrix, as_map

    Examples
    --------
    >>> SparseMatrix(scipy.sparse.eye_array(2)).adjoint(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    has_cheap_images = True
    has_adjoint_entries = True
    has_mixed_products = True

    def __init__(self, matrix: Any, domain: Shape | None = None) -> None:
        if not scipy.sparse.issparse(matrix):
            matrix = validate.finite_array("matrix", matrix, ndim=2)
        rows, columns = _nonempty(matrix.shape)
        compressed = _by_columns(matrix)
        compressed = compressed.astype(validate.floating_dtype("matrix", compressed.dtype), copy=False)
        if not np.isfinite(compressed.data).all():
            raise InvalidInput("matrix", "finite numbers", "NaN or inf among the stored entries")
        self.matrix: Any = compressed
        self._transposed = compressed.T
        super().__init__(matrix_domain(domain, columns), (rows,), compressed.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of the three CSC arrays."""
        return self.matrix.data.nbytes + self.matrix.indices.nbytes + self.matrix.indptr.nbytes

    def image(self, atom: Any) -> Array:
        """Return A x; a sparse atom reads only its columns."""
        try:
            return self._product(atom)
        except (ValueError, IndexError) as error:
            raise shape_error("atom", atom, self.domain, error) from error

    def _product(self, atom: Any) -> Array:
        if not isinstance(atom, atoms.SparsePoint):
            return self.matrix @ np.asarray(atoms.dense(atom)).reshape(-1)
        if atom.indices.size > _FEW:
            return self.matrix[:, atom.indices] @ atom.values
        out = np.zeros(self.codomain, np.result_type(self.dtype, atom.dtype))
        starts = self.matrix.indptr
        for column, value in zip(atom.indices, atom.values, strict=True):
            part = slice(starts[column], starts[column + 1])
            np.add.at(out, self.matrix.indices[part], value * self.matrix.data[part])
        return out

    def adjoint(self, dual: Array) -> Array:
        """Return A^* lam."""
        try:
            multiply = self._mixed_transposed_product if is_mixed(self.dtype, dual) else self._transposed.__matmul__
            if self.dtype.kind == "c":
                return multiply(dual.conj()).conj().reshape(self.domain)
            return multiply(dual).reshape(self.domain)
        except ValueError as error:
            raise shape_error("dual", dual, self.codomain, error) from error

    def _mixed_transposed_product(self, vector: Array) -> Array:
        """Return v A in the precision of v, some columns at a time: A is never copied as a whole."""
        matrix, starts, last = self.matrix, self.matrix.indptr, 0
        pieces: list[Array] = []
        while last < matrix.shape[1]:
            end = int(np.searchsorted(starts, starts[last] + CACHE_ENTRIES, side="right")) - 1
            first, last = last, max(last + 1, end)
            part = slice(starts[first], starts[last])
            rows = (matrix.data[part], matrix.indices[part], starts[first : last + 1] - starts[first])
            pieces.append(scipy.sparse.csr_array(rows, shape=(last - first, matrix.shape[0])) @ vector)
        return np.concatenate(pieces)

    def columns(self, places: Any) -> Any:
        """Return the columns at these places, compressed."""
        return self.matrix[:, places]

    def row_norms(self) -> FloatArray:
        """Return the norms of the matrix rows."""
        squares, sizes = np.zeros(self.codomain), np.abs(self.matrix.data.astype(np.result_type(self.dtype, float)))
        with np.errstate(over="ignore", under="ignore"):
            np.add.at(squares, self.matrix.indices, sizes**2)
        norms = np.sqrt(squares)
        lost = _is_out_of_range(squares, squares.dtype)[self.matrix.indices]
        if lost.any():
            largest, squares, rows = np.zeros_like(squares), np.zeros_like(squares), self.matrix.indices[lost]
            np.maximum.at(largest, rows, sizes[lost])
            with np.errstate(invalid="ignore"):  # stored zeros
                np.add.at(squares, rows, np.nan_to_num(sizes[lost] / largest[rows]) ** 2)
            norms[rows] = (largest * np.sqrt(squares))[rows]
        return norms


def _by_columns(matrix: Any) -> Any:
    """Return the matrix in CSC form, which stores a pointer for every column, empty or not."""
    try:
        return scipy.sparse.csc_array(matrix)
    except MemoryError as error:
        raise MemoryForecastError(
            f"a sparse matrix with {matrix.shape[1]} columns does not fit in memory by columns: {error}; "
            "leave out empty columns, or give A as an operator with matvec and rmatvec"
        ) from error


def _nonempty(shape: Any) -> tuple[int, int]:
    if len(shape) != 2 or min(shape) < 1:
        raise InvalidInput("matrix", "a matrix with at least one row and column", f"shape {tuple(shape)}")
    return int(shape[0]), int(shape[1])


class OperatorMap(Map):
    """A x through ``matvec`` and A^* lam through ``rmatvec``; x of a given shape is read in C order.

    Parameters
    ----------
    operator
        Anything with ``matvec``, ``rmatvec``, ``shape`` and ``dtype``, such as SciPy's ``LinearOperator``.
    domain
        Shape of x; by default that of a vector.

    Raises
    ------
    InvalidInput
        If the operator has not two sizes, does not fit the domain, or its ``rmatvec`` fails or returns a vector of the
        wrong size or without finite numbers at zero.

    See Also
    --------
    DenseMatrix, as_map, Map

    Examples
    --------
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> OperatorMap(aslinearoperator(np.eye(2))).adjoint(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    runs_user_code = True

    def __init__(self, operator: Any, domain: Shape | None = None) -> None:
        if len(getattr(operator, "shape", ())) != 2:
            raise InvalidInput("A", "an operator with two sizes, rows and columns", validate.describe_type(operator))
        self.operator = operator
        rows, columns = (int(size) for size in operator.shape)
        dtype = validate.floating_dtype("A", getattr(operator, "dtype", None))
        super().__init__(matrix_domain(domain, columns), (rows,), dtype)
        self._require_adjoint()

    def _require_adjoint(self) -> None:
        """Raise unless the operator has a working adjoint: SciPy accepts one without."""
        size = math.prod(self.domain)
        try:
            product = np.asarray(self.operator.rmatvec(np.zeros(self.codomain, self.dtype)))
            is_finite = bool(np.isfinite(product).all())
        except Exception as error:
            expected = "an operator with rmatvec, the product with its adjoint"
            raise InvalidInput("A", expected, f"{type(error).__name__}: {error} (at the zero vector)") from error
        if product.size != size:
            raise InvalidInput("A", f"an operator whose rmatvec returns {size} numbers", f"shape {product.shape}")
        if not is_finite:
            raise InvalidInput("A", "an operator whose rmatvec returns finite numbers", "NaN or inf at the zero vector")

    def image(self, atom: Any) -> Array:
        """Return A x."""
        return np.asarray(self.operator.matvec(np.asarray(atoms.dense(atom)).reshape(-1))).reshape(self.codomain)

    def adjoint(self, dual: Array) -> Array:
        """Return A^* lam."""
        return np.asarray(self.operator.rmatvec(dual)).reshape(self.domain)


class Identity(Map):
    """A x = x.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    dtype
        Data type of images, such as ``numpy.float32``.

    Raises
    ------
    InvalidInput
        ``shape``: expected positive sizes.

    See Also
    --------
    DenseMatrix, Incidence

    Examples
    --------
    >>> Identity((2,)).image(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    def __init__(self, shape: int | Shape, dtype: Any = np.float64) -> None:
        sizes = (int(shape),) if isinstance(shape, (int, np.integer)) else shape
        listed = isinstance(sizes, (tuple, list))
        if not (listed and all(isinstance(size, (int, np.integer)) and size > 0 for size in sizes)):
            raise InvalidInput("shape", "positive sizes", repr(shape))
        super().__init__(tuple(sizes), tuple(sizes), validate.floating_dtype("dtype", dtype))

    def image(self, atom: Any) -> Array:
        """Return x as an array."""
        return np.asarray(atoms.dense(atom))

    def adjoint(self, dual: Array) -> Array:
        """Return lam."""
        return dual

    def columns(self, places: Any) -> Any:
        """Return unit vectors, compressed."""
        entries = (np.ones(places.size, self.dtype), places, np.arange(places.size + 1))
        return scipy.sparse.csc_array(entries, shape=(math.prod(self.codomain), places.size))


_ACCEPTED = "a NumPy array, a SciPy sparse matrix, an operator with matvec and rmatvec, a unipd map, or a list of those"


def as_map(value: Any, domain: Any = None) -> MapDefaults:
    """Return ``value`` as a linear map; matrices and operators act on x of shape ``domain`` in C order.

    Parameters
    ----------
    value
        An array, a sparse matrix, an operator or a map.
    domain
        Shape of x; by default that of a vector.

    Raises
    ------
    InvalidInput
        If the value is none of these, or does not fit the domain.

    See Also
    --------
    DenseMatrix, SparseMatrix, OperatorMap

    Examples
    --------
    >>> as_map([[1.0, 2.0]]).codomain
    (1,)
    """
    if hasattr(value, "image") and hasattr(value, "adjoint"):
        return require_map("A", value)
    if scipy.sparse.issparse(value):
        return _matrix_map(SparseMatrix, value, domain)
    if isinstance(value, np.ndarray):
        return _matrix_map(DenseMatrix, value, domain)
    if hasattr(value, "matvec") and hasattr(value, "rmatvec"):
        return OperatorMap(value, domain)
    if isinstance(value, (list, tuple)):
        if value and all(_is_row(part) for part in value):
            return _matrix_map(DenseMatrix, value, domain)
        domains = domain if domain is not None else [None] * len(value)
        if len(domains) != len(value):
            raise InvalidInput("A", f"{len(domains)} blocks, one per oracle", f"{len(value)} blocks")
        return BlockMap([as_map(part, shape) for part, shape in zip(value, domains, strict=True)])
    raise InvalidInput("A", _ACCEPTED, type(value).__name__)


def _matrix_map(kind: type[DenseMatrix | SparseMatrix], value: Any, domain: Any) -> MapDefaults:
    """Return the map of a matrix; errors name the argument A of the caller."""
    try:
        return kind(value, domain)
    except InvalidInput as error:
        name = "A" if error.argument == "matrix" else error.argument
        raise InvalidInput(name, error.expected, error.got) from error


def _is_row(part: Any) -> bool:
    """Whether a part of a list is the row of one matrix rather than the map of one block."""
    return isinstance(part, (list, tuple, float, int)) or (isinstance(part, np.ndarray) and part.ndim == 1)


class Incidence(Map):
    """(A x)_k = x[indices[k]]; the adjoint adds lam_k up at indices[k].

    Parameters
    ----------
    indices
        The entry of x behind each entry of the image.
    size
        Number of entries of x.
    dtype
        Data type of images, such as ``numpy.float32``.

    Raises
    ------
    InvalidInput
        ``size``: expected an integer of at least 1; ``indices``: expected a list of integers.

    See Also
    --------
    Identity, unipd.sharp.FlowPolytope

    Examples
    --------
    >>> users = Incidence(np.array([0, 2, 2]), 3)
    >>> users.image(np.array([1.0, 2.0, 3.0])), users.adjoint(np.array([1.0, 2.0, 4.0]))
    (array([1., 3., 3.]), array([1., 0., 6.]))
    """

    def __init__(self, indices: Any, size: int, dtype: Any = np.float64) -> None:
        places = np.asarray(indices)
        size = validate.integer("size", size, minimum=1)
        if places.ndim != 1 or places.size == 0 or places.dtype.kind not in "iu":
            raise InvalidInput("indices", "a list of integers", f"dtype {places.dtype}, shape {places.shape}")
        if int(places.min()) < 0 or int(places.max()) >= size:
            raise InvalidInput("indices", f"numbers from 0 to {size - 1}", f"{places.min()} to {places.max()}")
        super().__init__((size,), (places.size,), dtype)
        self.indices: IntArray = places

    @property
    def nbytes(self) -> int:
        """Bytes of the indices."""
        return self.indices.nbytes

    @property
    def checkpoint_identity(self) -> Any:
        """What a checkpoint compares: the same as for a map that is distributed over processes."""
        return self.identity()

    def identity(self, first: int = 0) -> tuple[Any, ...]:
        """Return what identifies this map for measurements from ``first`` on; checksums, the last part, add up."""
        return ("Incidence", self.domain, self.dtype.str, int(checksum(self.indices, first)[0]))

    def image(self, atom: Any) -> Array:
        """Return the measured entries."""
        return np.asarray(atom)[self.indices].astype(self.dtype, copy=False)

    def adjoint(self, dual: Array) -> Array:
        """Return the sum of the measurements of every entry."""
        sums = np.zeros(self.domain, np.result_type(self.dtype, np.float64))
        _add_at(self.indices, np.asarray(dual), sums)
        return sums.astype(self.dtype, copy=False)


def _add_at_plain(places: IntArray, numbers: Array, sums: Array) -> None:
    np.add.at(sums, places, numbers)


@compile_lazily(plain=_add_at_plain)
def _add_at(places: IntArray, numbers: Array, sums: Array) -> None:
    """Add every number at its place: 16 times as fast as ``numpy.bincount``, which copies both in other types."""
    for k in range(places.size):
        sums[places[k]] += numbers[k]
