"""Where a matrix is sampled, compressed once; products with values at those places.

One index array serves both products. Along its lines the compressed form is a gather, M x, and across them
a scatter, M^* y, into an output per chunk of lines that are added up in a fixed order. Chunks depend on the
pattern alone, so results do not depend on the number of threads. A second, transposed copy of the structure
would be no faster (its values have to be permuted for every new matrix) and takes twice the memory.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray

_GATHER_CHUNKS = 32
_SCATTER_CHUNKS = 8
_ENTRIES_PER_OUTPUT = 16
"""A scatter chunk must hold this many entries for each place of the output it adds."""
_SERIAL_WORK = 1 << 19
"""Multiplications below which threads are not started: on a busy machine waiting for them costs more than it saves."""
_KERNEL_LOCK = threading.Lock()
"""Numba's fallback threading layer allows one parallel kernel at a time."""


class Pattern:
    """The places (rows[k], cols[k]) of a matrix, in compressed lines.

    ``transposed`` tells that lines are columns. Rows or columns that come sorted are kept in their order;
    otherwise ``order[k]`` is the measurement that stands at place k (empty when sorted), and lines run along
    the longer side.
    """

    def __init__(self, rows: IntArray, cols: IntArray, shape: tuple[int, int], threads: int | None) -> None:
        self.shape = shape
        self.size = int(rows.size)
        self.threads = threads
        self.transposed, is_sorted = _orientation(rows, cols, shape)
        lines, places = (cols, rows) if self.transposed else (rows, cols)
        self.lines, self.width = shape[::-1] if self.transposed else shape
        self.starts = _line_starts(lines, self.lines)
        self.order = np.empty(0, np.uint32) if is_sorted else _sorting_order(lines, self.starts)
        self.places = self.arranged(places)
        self.duplicated: bool = _kernels().has_duplicates(self.starts, self.places, self.width)
        chunks = min(_SCATTER_CHUNKS, max(1, self.size // (_ENTRIES_PER_OUTPUT * self.width)))
        self._gather_bounds = _balanced(self.starts, _GATHER_CHUNKS)
        self._scatter_bounds = _balanced(self.starts, 1 << (chunks.bit_length() - 1))

    @property
    def nbytes(self) -> int:
        """Bytes of the structure."""
        return self.starts.nbytes + self.places.nbytes + self.order.nbytes

    def indices(self) -> tuple[IntArray, IntArray]:
        """Return (rows, cols) in the order of the measurements."""
        lines = np.repeat(np.arange(self.lines, dtype=self.places.dtype), np.diff(self.starts.astype(np.int64)))
        pair = [self.measured(lines), self.measured(self.places)]
        return (pair[1], pair[0]) if self.transposed else (pair[0], pair[1])

    def arranged(self, measurements: Array) -> Array:
        """Return measurements in the order of the pattern (the array itself when that is the same)."""
        return measurements if self.order.size == 0 else measurements[self.order]

    def measured(self, values: Array) -> Array:
        """Return values in the order of the measurements: the inverse of :meth:`arranged`."""
        if self.order.size == 0:
            return values
        out = np.empty_like(values)
        out[self.order] = values
        return out

    def find(self, row: int, col: int) -> IntArray:
        """Return the measurements of one place."""
        line, place = (col, row) if self.transposed else (row, col)
        low, high = int(self.starts[line]), int(self.starts[line + 1])
        found = low + np.flatnonzero(self.places[low:high] == place)
        return found if self.order.size == 0 else self.order[found]

    def product(self, values: Array, x: Array) -> Array:
        """Return M x for a vector or the columns of a block."""
        return self._scattered(values, x) if self.transposed else self._gathered(values, x)

    def transposed_product(self, values: Array, x: Array) -> Array:
        """Return M^T x (no conjugation) for a vector or the columns of a block."""
        return self._gathered(values, x) if self.transposed else self._scattered(values, x)

    def sampled(self, left: Array, right: Array) -> Array:
        """Return the entries of ``left @ right^T`` in the order of the measurements; dtypes must agree."""
        kernels = _kernels()
        along, across = (right, left) if self.transposed else (left, right)
        out = np.empty(self.size, left.dtype)
        if left.shape[1] != 1:
            threads = self._threads(self.size * left.shape[1])
            args = (self.starts, self.places, self.order, along, across, out, self._gather_bounds)
            _run_parallel(kernels.sample_factors, args, threads)
            return out
        args = (self.starts, self.places, self.order, along[:, 0], across[:, 0], out)
        self._run(kernels.sample_outer, kernels.sample_outer_parallel, args, self.size)
        return out

    def squared_norm(self, values: Array) -> float:
        """Return the squared Frobenius norm of the matrix; measurements of one place add up."""
        if self.duplicated:
            return float(_kernels().squared_norm(self.starts, self.places, values, self.width))
        return float(np.vdot(values, values).real)

    def _gathered(self, values: Array, x: Array) -> Array:
        kernels = _kernels()
        dtype = np.result_type(values, x)
        x = np.ascontiguousarray(x, dtype)
        args = (self.starts, self.places, values, x)
        if x.ndim == 1:
            out = np.empty(self.lines, dtype)
            self._run(kernels.gather, kernels.gather_parallel, (*args, out), self.size)
            return out
        out = np.zeros((self.lines, x.shape[1]), dtype)
        self._run(kernels.gather_block, kernels.gather_block_parallel, (*args, out), self.size * x.shape[1])
        return out

    def _scattered(self, values: Array, x: Array) -> Array:
        kernels = _kernels()
        dtype = np.result_type(values, x)
        x = np.ascontiguousarray(x, dtype)
        serial, parallel = kernels.scatter, kernels.scatter_parallel
        if x.ndim == 2:
            serial, parallel = kernels.scatter_block, kernels.scatter_block_parallel
        bounds = self._scatter_bounds
        out = np.zeros((bounds.size - 1, self.width, *x.shape[1:]), dtype)
        args = (self.starts, self.places, values, x)
        threads = self._threads(self.size * (x.size // self.lines))
        if threads > 1:
            _run_parallel(parallel, (*args, out, bounds), threads)
        else:
            for part, low, high in zip(out, bounds[:-1], bounds[1:], strict=True):
                serial(*args, part, low, high)
        return out[0] if len(out) == 1 else np.sum(out, axis=0)

    def _run(self, serial: Any, parallel: Any, args: tuple[Any, ...], work: int) -> None:
        threads = self._threads(work)
        if threads > 1:
            _run_parallel(parallel, (*args, self._gather_bounds), threads)
        else:
            serial(*args, self._gather_bounds[0], self._gather_bounds[-1])

    def _threads(self, work: int) -> int:
        if work < _SERIAL_WORK or self.threads == 1:
            return 1
        import numba

        available: Any = getattr(numba, "config").NUMBA_NUM_THREADS  # noqa: B009  (not declared to type checkers)
        return int(numba.get_num_threads() if self.threads is None else min(self.threads, available))


def _kernels() -> Any:
    """Import the compiled kernels on first use: Numba is slow to import."""
    from unipd.maps import sampling_kernels

    return sampling_kernels


def _run_parallel(kernel: Any, args: tuple[Any, ...], threads: int) -> None:
    import numba

    with _KERNEL_LOCK:
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        try:
            kernel(*args)
        finally:
            numba.set_num_threads(before)


def _orientation(rows: IntArray, cols: IntArray, shape: tuple[int, int]) -> tuple[bool, bool]:
    """Return whether lines are columns, and whether the entries come sorted by line."""
    if _nondecreasing(rows):
        return False, True
    if _nondecreasing(cols):
        return True, True
    return shape[1] > shape[0], False


def _nondecreasing(array: IntArray) -> bool:
    return bool(np.all(array[1:] >= array[:-1]))


def _line_starts(lines: IntArray, count: int) -> IntArray:
    starts = np.zeros(count + 1, np.uint64)
    _kernels().count(lines, starts)
    return np.cumsum(starts, dtype=np.uint64)


def _sorting_order(lines: IntArray, starts: IntArray) -> IntArray:
    order = np.empty(lines.size, np.uint32 if lines.size < 2**32 else np.uint64)
    _kernels().counting_sort(lines, starts, order)
    return order


def _balanced(starts: IntArray, chunks: int) -> IntArray:
    """Cut the lines into chunks of about as many entries and lines each."""
    cost = starts.astype(np.float64) + np.arange(starts.size)
    bounds = np.searchsorted(cost, np.linspace(0.0, cost[-1], chunks + 1)).astype(np.uint64)
    bounds[0], bounds[-1] = 0, starts.size - 1
    return bounds
