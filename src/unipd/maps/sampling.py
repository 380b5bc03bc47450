"""Sampled entries of a matrix: the map of matrix completion, its adjoint, and the sparsity pattern behind both.

The pattern is compressed once, and one index array serves both products. Along its lines the compressed form is a
gather, M x, and across them a scatter, M^* y, into one output for each chunk of lines; these are added in a fixed
order. Chunks depend on the pattern alone, so results do not depend on the number of threads. A second, transposed copy
of the structure would make M^* y a third faster, but its values have to be permuted for every new matrix, which takes
the time that five such products save, and it takes twice the memory. Where Numba may not compile
(``NUMBA_DISABLE_JIT=1``), SciPy makes the products.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array, IntArray
from unipd._util import arrays, validate
from unipd._util.lazy import can_compile
from unipd._util.threads import CACHE_ENTRIES, available_threads, share
from unipd.errors import InvalidInput
from unipd.maps.base import Map
from unipd.spectral.operators import OperatorDefaults


def _orientation(rows: IntArray, cols: IntArray, shape: tuple[int, int]) -> tuple[bool, bool]:
    """Return whether lines are columns, and whether the entries come sorted by line."""
    if _is_nondecreasing(rows):
        return False, True
    if _is_nondecreasing(cols):
        return True, True
    return shape[1] > shape[0], False


def _is_nondecreasing(array: IntArray) -> bool:
    return bool(np.all(array[1:] >= array[:-1]))


def _balanced_bounds(starts: IntArray, chunks: int) -> IntArray:
    """Cut the lines into chunks of about equal work (entries and lines)."""
    cost = starts.astype(np.float64) + np.arange(starts.size)
    bounds = np.searchsorted(cost, np.linspace(0.0, cost[-1], chunks + 1)).astype(np.uint64)
    bounds[0], bounds[-1] = 0, starts.size - 1
    return bounds


_LINE_CHUNKS = 32
"""Chunks of a gather."""
_SCATTER_CHUNKS = 8
"""Most chunks of a scatter: each has an output of its own."""
_ENTRIES_PER_OUTPUT = 16
"""Entries of a scatter chunk for each entry of its output, at least."""
_SERIAL_WORK = 1 << 19
"""Multiplications below which waking threads costs more than it saves."""


class Pattern:
    """The positions (rows[k], cols[k]) of a matrix, in compressed lines; lines are columns where ``transposed``.

    If rows or columns are sorted, the measurements keep their order. Otherwise lines run along the longer side, and
    ``order[k]`` is the measurement at position k of the pattern (empty when sorted).
    """

    def __init__(self, rows: IntArray, cols: IntArray, shape: tuple[int, int], threads: int | None) -> None:
        self.shape = shape
        self.size = int(rows.size)
        self.threads = threads
        self.transposed, is_sorted = _orientation(rows, cols, shape)
        lines, places = (cols, rows) if self.transposed else (rows, cols)
        self.lines, self.width = shape[::-1] if self.transposed else shape
        self.in_order: bool = is_sorted
        """Whether the pattern keeps the order of the measurements."""
        self.starts, self.order = _sort_lines(lines, self.lines, is_sorted)
        # indices of 16 bits where they fit leave more of the caches to the values
        self.places = self.to_pattern_order(places.astype(np.uint16) if self.width <= 1 << 16 else places)
        # a conversion sorts the positions, so that equal ones are neighbours
        self.duplicated: bool = not self.to_scipy(np.ones(self.size, np.bool_)).tocsc().has_canonical_format
        chunks = min(_SCATTER_CHUNKS, max(1, self.size // (_ENTRIES_PER_OUTPUT * self.width)))
        self.has_compiled_run: bool = can_compile() and self.size < _SERIAL_WORK
        """Whether products are too small for threads, so that a whole bidiagonalization is one compiled call."""
        self._line_bounds = _balanced_bounds(self.starts, _LINE_CHUNKS)
        self._scatter_bounds = _balanced_bounds(self.starts, 1 << (chunks.bit_length() - 1))
        self.structure = (self.starts, self.places, self._line_bounds, self._scatter_bounds)
        """The arrays that compiled runs take."""
        self._part_bounds = _balanced_bounds(self.starts, max(1, self.size // CACHE_ENTRIES))

    @property
    def nbytes(self) -> int:
        """Bytes of the structure."""
        return self.starts.nbytes + self.places.nbytes + self.order.nbytes

    def indices(self) -> tuple[IntArray, IntArray]:
        """Return (rows, cols) in the order of the measurements."""
        lines = np.repeat(np.arange(self.lines, dtype=np.uint32), np.diff(self.starts.astype(np.int64)))
        pair = [self.to_measurement_order(lines), self.to_measurement_order(self.places).astype(np.uint32, copy=False)]
        return (pair[1], pair[0]) if self.transposed else (pair[0], pair[1])

    def to_pattern_order(self, measurements: Array) -> Array:
        """Return measurements in the order of the pattern (the array itself when that is the same)."""
        return measurements if self.in_order else measurements[self.order]

    def to_measurement_order(self, values: Array) -> Array:
        """Return values in the order of the measurements: the inverse of :meth:`to_pattern_order`."""
        if self.in_order:
            return values
        out = np.empty_like(values)
        out[self.order] = values
        return out

    def to_scipy(self, values: Array) -> Any:
        """Return the lines with given values as a SciPy CSR array; equal positions are not added up."""
        kind = np.int32 if max(self.size, self.width) < 2**31 else np.int64
        parts = (values, self.places.astype(kind), self.starts.astype(kind))
        return scipy.sparse.csr_array(parts, shape=(self.lines, self.width))

    def product(self, values: Array, x: Array) -> Array:
        """Return M x for a vector or the columns of a block."""
        return self._scatter(values, x) if self.transposed else self._gather(values, x)

    def transposed_product(self, values: Array, x: Array) -> Array:
        """Return M^T x (no conjugation) for a vector or the columns of a block."""
        return self._gather(values, x) if self.transposed else self._scatter(values, x)

    def sample_product(self, left: Array, right: Array) -> Array:
        """Return the entries of ``left @ right^T`` in the order of the measurements; dtypes must agree."""
        if not can_compile():
            rows, cols = self.indices()
            return np.einsum("ij,ij->i", left[rows], right[cols])
        out = np.empty(self.size, left.dtype)
        _, _, line_factors, cross_factors, _ = self.image_lines(left, right)
        args = (line_factors, cross_factors, self.order, out)
        self._run_kernel(load_kernels().sample_factors, args, self._line_bounds, self.size * left.shape[1])
        return out

    def image_lines(self, left: Array, right: Array) -> tuple[IntArray, IntArray, Array, Array, IntArray]:
        """Return starts, places, the factors along lines and across, and the bounds of parts: whole lines each."""
        line_factors, cross_factors = (right, left) if self.transposed else (left, right)
        return self.starts, self.places, line_factors, cross_factors, self._part_bounds

    def squared_norm(self, values: Array) -> float:
        """Return the squared Frobenius norm of the matrix; measurements of one entry add up."""
        if self.duplicated:
            matrix = self.to_scipy(values.copy())
            matrix.sum_duplicates()
            values = matrix.data
        return float(arrays.dot(values, values).real)

    def _gather(self, values: Array, x: Array) -> Array:
        if not can_compile():
            return self.to_scipy(values) @ x
        kernels = load_kernels()
        dtype = np.result_type(values, x)
        x = np.ascontiguousarray(x, dtype)
        out = np.empty((self.lines, *x.shape[1:]), dtype)
        kernel = kernels.gather if x.ndim == 1 else kernels.gather_block
        self._run_kernel(kernel, (values, x, out), self._line_bounds, self.size * (x.size // self.width))
        return out

    def _scatter(self, values: Array, x: Array) -> Array:
        if not can_compile():
            return self.to_scipy(values).T @ x
        kernels = load_kernels()
        dtype = np.result_type(values, x)
        x = np.ascontiguousarray(x, dtype)
        parts = np.empty((self._scatter_bounds.size - 1, self.width, *x.shape[1:]), dtype)
        kernel = kernels.scatter if x.ndim == 1 else kernels.scatter_block
        self._run_kernel(kernel, (values, x, parts), self._scatter_bounds, self.size * (x.size // self.lines))
        return _sum_parts(parts)

    def _run_kernel(self, kernel: Any, args: tuple[Any, ...], bounds: IntArray, work: int) -> None:
        """Run a kernel on chunks of lines, on several threads when there is work for them."""
        threads = 1 if work < _SERIAL_WORK else min(available_threads(self.threads), bounds.size - 1)
        if threads == 1:
            kernel(self.starts, self.places, *args, bounds, np.zeros(1, np.int64))
            return
        share(threads, lambda counter: kernel(self.starts, self.places, *args, bounds, counter))


def _sort_lines(lines: IntArray, count: int, is_sorted: bool) -> tuple[IntArray, IntArray]:
    """Return where every line starts, and the stable order that sorts the entries by line (empty when they are).

    The transpose of a matrix of one row with an entry for every measurement is this counting sort.
    """
    if is_sorted:
        return np.searchsorted(lines, np.arange(count + 1)).astype(np.uint64), np.empty(0, np.uint32)
    order = np.arange(lines.size, dtype=np.uint32 if lines.size < 2**32 else np.uint64)
    kind = np.int32 if max(lines.size, count) < 2**31 else np.int64
    row = scipy.sparse.csr_array((order, lines.astype(kind), np.array([0, lines.size], kind)), shape=(1, count))
    by_line = row.tocsc()
    return by_line.indptr.astype(np.uint64), by_line.data


@cache
def load_kernels() -> Any:
    """Import the kernels on first use, since Numba is slow to import."""
    from unipd.maps import sampling_kernels

    return sampling_kernels


def _sum_parts(parts: Array) -> Array:
    """Return the sum of the parts in their order (for few parts faster than NumPy's sum along an axis)."""
    if len(parts) == 1:
        return parts[0]
    total = parts[0] + parts[1]
    for part in parts[2:]:
        total += part
    return total


# The 64-bit finalizer of MurmurHash3 and the stride of SplitMix64.
_FACTORS = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))
_SHIFT = np.uint64(33)
_STRIDE = np.uint64(0x9E3779B97F4A7C15)


def checksum(values: Any, first: int = 0) -> IntArray:
    """Return a checksum of integers and their positions, which start at ``first``.

    Checksums of consecutive parts add up (modulo 2^64) to that of the whole.

    >>> whole = checksum(np.arange(5))
    >>> bool((checksum(np.arange(2)) + checksum(np.arange(2, 5), first=2) == whole).all())
    True
    """
    mixed = np.asarray(values).astype(np.uint64)
    mixed += _STRIDE * np.arange(first + 1, first + 1 + mixed.size, dtype=np.uint64)
    for factor in _FACTORS:
        mixed ^= mixed >> _SHIFT
        mixed *= factor
    mixed ^= mixed >> _SHIFT
    return mixed.sum(dtype=np.uint64, keepdims=True)


class SampledMatrix(OperatorDefaults):
    """The sparse matrix A^* lam of a :class:`~unipd.maps.Sampling`: new values on its shared pattern.

    It has SciPy's operator methods (``matvec``, ``rmatvec``, ``matmat``, ``rmatmat``), so that top singular vectors are
    found without forming it. With ``opposite`` it is -A^* lam: products change sign, and ``numbers`` are not copied.

    Parameters
    ----------
    pattern
        The compiled positions of the entries, shared by all matrices of a map.
    numbers
        The entries lam, in the order of the map.
    opposite
        Whether the entries are -lam.

    See Also
    --------
    Sampling

    Examples
    --------
    >>> from unipd.maps import Sampling
    >>> matrix = Sampling([0, 1], [1, 0], (2, 2)).adjoint(np.array([3.0, 4.0]))
    >>> matrix.matvec(np.array([1.0, 2.0])), matrix.frobenius()
    (array([6., 4.]), 5.0)
    >>> matrix.negative().matvec(np.array([1.0, 2.0]))
    array([-6., -4.])
    """

    hermitian = False
    """Whether M = M^* for certain: symmetry of the samples is not examined."""

    def __init__(self, pattern: Pattern, numbers: Array, *, opposite: bool = False) -> None:
        self.pattern = pattern
        self._numbers, self._opposite = numbers, opposite
        self.shape: tuple[int, int] = pattern.shape
        self.dtype: np.dtype[Any] = numbers.dtype
        self.has_compiled_run: bool = pattern.has_compiled_run and numbers.dtype.kind == "f"
        """Whether :meth:`compiled_bidiagonalization` applies: real numbers, and too few for threads."""

    @property
    def values(self) -> Array:
        """Values on the pattern; with ``opposite`` a copy."""
        return -self._numbers if self._opposite else self._numbers

    @property
    def nbytes(self) -> int:
        """Bytes of the values (the pattern is shared)."""
        return self._numbers.nbytes

    def matvec(self, x: Array) -> Array:
        """Return M x."""
        return self.matmat(np.asarray(x).reshape(-1))

    def rmatvec(self, x: Array) -> Array:
        """Return M^* x."""
        return self.rmatmat(np.asarray(x).reshape(-1))

    def matmat(self, x: Array) -> Array:
        """Return M X for a vector or the columns of X."""
        return self._apply_sign(self.pattern.product(self._numbers, check_rows(x, self.shape[1])))

    def rmatmat(self, x: Array) -> Array:
        """Return M^* X for a vector or the columns of X."""
        block, is_complex = check_rows(x, self.shape[0]), self.dtype.kind == "c"
        product = self.pattern.transposed_product(self._numbers, block.conj() if is_complex else block)
        return self._apply_sign(product.conj() if is_complex else product)

    def compiled_bidiagonalization(self, *run: Any, adjoint: bool) -> tuple[int, int, float, float]:
        """Run a whole bidiagonalization from ``start`` in one compiled call.

        Parameters
        ----------
        *run
            Start, work arrays and tolerances, as the kernel takes them.
        adjoint
            Whether to run it on the conjugate transpose.
        """
        pattern, sign = self.pattern, -1.0 if self._opposite else 1.0
        return load_kernels().compiled_bidiagonalization(
            pattern.structure, self._numbers, pattern.transposed != adjoint, sign, *run
        )

    def frobenius(self) -> float:
        """Return the Frobenius norm, an upper bound on the spectral norm."""
        return float(np.sqrt(self.pattern.squared_norm(self._numbers)))

    def negative(self) -> SampledMatrix:
        """Return -M without a copy of the numbers."""
        return SampledMatrix(self.pattern, self._numbers, opposite=not self._opposite)

    def tocsr(self) -> Any:
        """Return the matrix as a SciPy CSR array; measurements of one entry add up."""
        matrix = self.pattern.to_scipy(np.array(self.values))  # a copy, because SciPy adds duplicates in place
        matrix.sum_duplicates()
        return (matrix.T if self.pattern.transposed else matrix).tocsr()

    def toarray(self) -> Array:
        """Return the matrix as an array: for small sizes and for tests."""
        return self.tocsr().toarray()

    def _apply_sign(self, fresh: Array) -> Array:
        return np.negative(fresh, out=fresh) if self._opposite else fresh


def check_rows(x: Array, size: int) -> Array:
    """Return a vector or block as an array, or raise unless it has ``size`` rows."""
    array = np.asarray(x)
    if array.ndim == 0 or array.shape[0] != size:
        raise InvalidInput("x", f"{size} rows", f"shape {array.shape}")
    return array


class Sampling(Map):
    """A(X)_k = X[rows[k], cols[k]], the measured entries of a matrix.

    Positions are compressed once, with indices of 16 bits where they fit and of 32 elsewhere; an entry may be measured
    more than once. When ``rows`` (or ``cols``) are sorted, no permutation is stored or applied. The image of a low-rank
    atom is a sampled product of its factors; the adjoint is a :class:`SampledMatrix`, never an array of the matrix's
    shape.

    Parameters
    ----------
    rows, cols
        Positions of the measurements, integers from 0.
    shape
        Shape of the matrix.
    dtype
        Dtype of the measurements; of complex atoms a real map takes the real part.
    threads
        Threads of the products; by default Numba's setting. Results do not depend on it.

    Raises
    ------
    InvalidInput
        ``shape``: expected two sizes, rows and columns; ``threads``: expected an integer of at least 1.

    See Also
    --------
    SampledMatrix, unipd.MatrixCompletion

    Examples
    --------
    >>> sampling = Sampling([0, 1, 1], [2, 0, 1], (2, 3))
    >>> sampling.image(np.arange(6.0).reshape(2, 3))
    array([2., 3., 4.])
    >>> sampling.adjoint(np.array([1.0, 2.0, 3.0])).toarray()
    array([[0., 0., 1.],
           [2., 3., 0.]])
    """

    has_adjoint_entries = True

    def __init__(
        self,
        rows: Any,
        cols: Any,
        shape: tuple[int, int],
        dtype: Any = np.float64,
        *,
        threads: int | None = None,
    ) -> None:
        if not isinstance(shape, (tuple, list)) or len(shape) != 2:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput("shape", "two sizes, rows and columns", repr(shape))
        height, width = (validate.integer(f"shape[{axis}]", shape[axis], minimum=1) for axis in (0, 1))
        sizes = (height, width)
        if max(sizes) >= 2**32:
            raise InvalidInput("shape", "sizes below 2^32", repr(sizes))
        row_indices = _indices("rows", rows, sizes[0])
        col_indices = _indices("cols", cols, sizes[1])
        if row_indices.size != col_indices.size:
            raise InvalidInput("cols", f"{row_indices.size} indices, one for each of rows", f"{col_indices.size}")
        count = None if threads is None else validate.integer("threads", threads, minimum=1)
        self.pattern = Pattern(row_indices, col_indices, sizes, count)
        super().__init__(sizes, (self.pattern.size,), validate.floating_dtype("dtype", dtype))

    @property
    def rows(self) -> IntArray:
        """Rows of the measurements."""
        return self.pattern.indices()[0]

    @property
    def cols(self) -> IntArray:
        """Columns of the measurements."""
        return self.pattern.indices()[1]

    @property
    def nbytes(self) -> int:
        """Bytes of the index arrays."""
        return self.pattern.nbytes

    @property
    def checkpoint_identity(self) -> Any:
        """What a checkpoint compares: the same as for a map that is distributed over processes."""
        return self.identity()

    def identity(self, first: int = 0) -> tuple[Any, ...]:
        """Return what identifies this map for measurements from ``first`` on; checksums, the last part, add up."""
        places = self.rows.astype(np.uint64) * np.uint64(self.domain[1]) + self.cols
        return ("Sampling", self.domain, self.dtype.str, int(checksum(places, first)[0]))

    def image(self, atom: Any) -> Array:
        """Return the sampled entries of X; of a low-rank X without forming it."""
        self._check_atom(atom)
        if isinstance(atom, atoms.LowRank):
            return self._cast(self.pattern.sample_product(*self._factors(atom)))
        if isinstance(atom, atoms.SparsePoint):
            places = np.divmod(atom.indices, self.domain[1])
            matrix: Any = scipy.sparse.csr_matrix((atom.values, places), shape=self.domain)
            return self._cast(np.asarray(matrix[self.pattern.indices()]).ravel())
        return self._cast(np.asarray(atom)[self.pattern.indices()])

    def adjoint(self, dual: Array) -> SampledMatrix:
        """Return the matrix with lam_k added at (rows[k], cols[k]); it refers to ``dual``, not to a copy."""
        return SampledMatrix(self.pattern, self._to_pattern_order(dual))

    @property
    def has_image_parts(self) -> bool:
        """Whether the measurements are sorted, as :meth:`image_lines` requires."""
        return self.pattern.in_order

    def image_lines(self, atom: atoms.LowRank) -> tuple[IntArray, IntArray, Array, Array, IntArray]:
        """Return the arrays from which compiled passes compute the sampled entries of a low-rank X line by line.

        (starts, places, line_factors, cross_factors, bounds): entry k of line i, ``starts[i] <= k < starts[i + 1]``, is
        <line_factors[i], cross_factors[places[k]]>, and lines from ``bounds[c]`` to ``bounds[c + 1]`` are the parts.
        """
        return self.pattern.image_lines(*self._factors(atom))

    def negated_adjoint(self, dual: Array) -> SampledMatrix:
        """Return A^*(-lam) without an array for -lam; it refers to ``dual``."""
        if type(self).adjoint is Sampling.adjoint:
            return SampledMatrix(self.pattern, self._to_pattern_order(dual), opposite=True)
        matrix: Any = self.adjoint(dual)  # that of a subclass
        return matrix.negative() if isinstance(matrix, SampledMatrix) else -matrix

    def _to_pattern_order(self, dual: Array) -> Array:
        """Return the entries of a dual vector in the order of the pattern, checked."""
        vector = np.ascontiguousarray(self._check_dual(dual))
        if vector.dtype is not self._dtype:
            vector = vector.astype(validate.floating_dtype("dual", vector.dtype), copy=False)
        return self.pattern.to_pattern_order(vector)

    def _factors(self, atom: atoms.LowRank) -> tuple[Array, Array]:
        dtype, left, right = self._dtype, atom.left, atom.right
        if left.dtype.kind == "c":
            dtype = np.result_type(dtype, np.complex64)
        if right.dtype.kind == "c":
            right = right.conj()
        return np.ascontiguousarray(left * atom.weights, dtype), np.ascontiguousarray(right, dtype)

    def _cast(self, values: Array) -> Array:
        if values.dtype is self._dtype:
            return values
        real = self._dtype.kind != "c" and values.dtype.kind == "c"
        return (np.real(values) if real else values).astype(self._dtype, copy=False)


def _indices(name: str, value: Any, size: int) -> IntArray:
    """Return checked indices as unsigned 32-bit integers, without a copy where they are 32-bit already."""
    array = np.asarray(value)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise InvalidInput(name, "a list of integers, at least one", f"dtype {array.dtype}, shape {array.shape}")
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= size:
        raise InvalidInput(name, f"indices from 0 to {size - 1}", str(low if low < 0 else high))
    if array.dtype in (np.int32, np.uint32):
        return np.ascontiguousarray(array).view(np.uint32)
    return array.astype(np.uint32)
