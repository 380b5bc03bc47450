"""Where a matrix is sampled, compressed once; products with values at those places.

One index array serves both products. Along its lines the compressed form is a gather, M x, and across them
a scatter, M^* y, into an output per chunk of lines that are added up in a fixed order. Chunks depend on the
pattern alone, so results do not depend on the number of threads. A second, transposed copy of the structure
would make M^* y a third faster, but its values have to be permuted for every new matrix, which takes what five
such products save, and it takes twice the memory.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from unipd import serial
from unipd._typing import Array, IntArray
from unipd.maps.chunks import available_threads, share
from unipd.maps.compressing import balanced, line_starts, orientation, short, sorting_order

_LINE_CHUNKS = 32
_SCATTER_CHUNKS = 8
_ENTRIES_PER_OUTPUT = 16
"""A scatter chunk must hold this many entries for each place of the output it adds."""
_PART_ENTRIES = 1 << 14
"""Entries of a part: its vectors stay in the processor's cache."""
_SERIAL_WORK = 1 << 19
"""Multiplications below which waking threads costs more than it saves."""


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
        self.transposed, is_sorted = orientation(rows, cols, shape)
        lines, places = (cols, rows) if self.transposed else (rows, cols)
        self.lines, self.width = shape[::-1] if self.transposed else shape
        self.starts = line_starts(lines, self.lines)
        self.in_order: bool = is_sorted
        """Whether the measurements stand as they came."""
        self.order = np.empty(0, np.uint32) if is_sorted else sorting_order(lines, self.starts)
        self.places = self.arranged(short(places, self.width))
        self.duplicated: bool = _passes().has_duplicates(self.starts, self.places, self.width)
        chunks = min(_SCATTER_CHUNKS, max(1, self.size // (_ENTRIES_PER_OUTPUT * self.width)))
        self.sweeps: bool = self.size < _SERIAL_WORK
        """Whether products are so small that :meth:`sweep` serves; the number of threads has no part in it."""
        self._line_bounds = balanced(self.starts, _LINE_CHUNKS)
        self._scatter_bounds = balanced(self.starts, 1 << (chunks.bit_length() - 1))
        self.structure = (self.starts, self.places, self._line_bounds, self._scatter_bounds)
        """What the compiled sweeps ask for."""
        self._part_bounds = balanced(self.starts, max(1, self.size // _PART_ENTRIES))

    @property
    def nbytes(self) -> int:
        """Bytes of the structure."""
        return self.starts.nbytes + self.places.nbytes + self.order.nbytes

    def indices(self) -> tuple[IntArray, IntArray]:
        """Return (rows, cols) in the order of the measurements."""
        lines = np.repeat(np.arange(self.lines, dtype=np.uint32), np.diff(self.starts.astype(np.int64)))
        pair = [self.measured(lines), self.measured(self.places).astype(np.uint32, copy=False)]
        return (pair[1], pair[0]) if self.transposed else (pair[0], pair[1])

    def arranged(self, measurements: Array) -> Array:
        """Return measurements in the order of the pattern (the array itself when that is the same)."""
        return measurements if self.in_order else measurements[self.order]

    def measured(self, values: Array) -> Array:
        """Return values in the order of the measurements: the inverse of :meth:`arranged`."""
        if self.in_order:
            return values
        out = np.empty_like(values)
        out[self.order] = values
        return out

    def find(self, row: int, col: int) -> IntArray:
        """Return the measurements of one place."""
        line, place = (col, row) if self.transposed else (row, col)
        low, high = int(self.starts[line]), int(self.starts[line + 1])
        found = low + np.flatnonzero(self.places[low:high] == place)
        return found if self.in_order else self.order[found]

    def product(self, values: Array, x: Array) -> Array:
        """Return M x for a vector or the columns of a block."""
        return self._scattered(values, x) if self.transposed else self._gathered(values, x)

    def transposed_product(self, values: Array, x: Array) -> Array:
        """Return M^T x (no conjugation) for a vector or the columns of a block."""
        return self._gathered(values, x) if self.transposed else self._scattered(values, x)

    def sampled(self, left: Array, right: Array) -> Array:
        """Return the entries of ``left @ right^T`` in the order of the measurements; dtypes must agree."""
        out = np.empty(self.size, left.dtype)
        kernel, factors = self._sampler(left, right)
        self._shared(kernel, (*factors, self.order, out), self._line_bounds, self.size * left.shape[1])
        return out

    def image_lines(self, left: Array, right: Array) -> tuple[IntArray, IntArray, Array, Array, IntArray]:
        """Return starts, places, the factors along lines and across, and the bounds of parts: whole lines each."""
        along, across = (right, left) if self.transposed else (left, right)
        return self.starts, self.places, along, across, self._part_bounds

    def sweep(self, values: Array, *steps: Any, adjoint: bool) -> tuple[int, int]:
        """Do Golub-Kahan steps with M or M^T: :func:`unipd.maps.sampling_sweep.sweep`."""
        return sampling_sweeps().sweep(self.structure, values, self.transposed != adjoint, *steps)

    def squared_norm(self, values: Array) -> float:
        """Return the squared Frobenius norm of the matrix; measurements of one place add up."""
        if self.duplicated:
            return float(_passes().squared_norm(self.starts, self.places, values, self.width))
        return float(serial.dot(values, values).real)

    def _gathered(self, values: Array, x: Array) -> Array:
        kernels = _kernels()
        dtype = np.result_type(values, x)
        x = np.ascontiguousarray(x, dtype)
        out = np.empty((self.lines, *x.shape[1:]), dtype)
        kernel = kernels.gather if x.ndim == 1 else kernels.gather_block
        self._shared(kernel, (values, x, out), self._line_bounds, self.size * (x.size // self.width))
        return out

    def _scattered(self, values: Array, x: Array) -> Array:
        kernels = _kernels()
        dtype = np.result_type(values, x)
        x = np.ascontiguousarray(x, dtype)
        parts = np.empty((self._scatter_bounds.size - 1, self.width, *x.shape[1:]), dtype)
        kernel = kernels.scatter if x.ndim == 1 else kernels.scatter_block
        self._shared(kernel, (values, x, parts), self._scatter_bounds, self.size * (x.size // self.lines))
        return _added(parts)

    def _sampler(self, left: Array, right: Array) -> tuple[Any, tuple[Array, Array]]:
        """Return the kernel for the entries of ``left @ right^T``, and the factors along lines and across."""
        along, across = (right, left) if self.transposed else (left, right)
        if left.shape[1] == 1:
            return _kernels().sample_outer, (along[:, 0], across[:, 0])
        return _kernels().sample_factors, (along, across)

    def _shared(self, kernel: Any, args: tuple[Any, ...], bounds: IntArray, work: int) -> None:
        """Run a kernel on chunks of lines, on several threads when there is work for them."""
        threads = 1 if work < _SERIAL_WORK else min(available_threads(self.threads), bounds.size - 1)
        if threads == 1:
            kernel(self.starts, self.places, *args, bounds, np.zeros(1, np.int64))
            return
        share(threads, lambda counter: kernel(self.starts, self.places, *args, bounds, counter))


@cache
def _kernels() -> Any:
    """Import the compiled kernels on first use: Numba is slow to import."""
    from unipd.maps import sampling_kernels

    return sampling_kernels


@cache
def sampling_sweeps() -> Any:
    """Import the compiled Golub-Kahan steps on first use."""
    from unipd.maps import sampling_sweep

    return sampling_sweep


@cache
def _passes() -> Any:
    """Import the compiled passes over places on first use."""
    from unipd.maps import pattern_kernels

    return pattern_kernels


def _added(parts: Array) -> Array:
    """Return the sum of the parts in their order (for few parts faster than NumPy's sum along an axis)."""
    if len(parts) == 1:
        return parts[0]
    total = parts[0] + parts[1]
    for part in parts[2:]:
        total += part
    return total
