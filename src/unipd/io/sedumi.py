"""SeDuMi's format for conic programs, a MATLAB file (``.mat``), in which the DIMACS library is published."""

from __future__ import annotations

import io
import os
import struct
import warnings
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd._util.files import write_packed
from unipd.errors import FileFormatError, InvalidInput
from unipd.io.reading import Limits, Source, check_compression, equal_records, open_bounded
from unipd.memory import require_room

VARIABLES = ("A", "At", "b", "c", "K")
"""Variables of the format; others in the file are ignored."""
_CONES = ("f", "l", "q", "s")
_HEADER, _TAG, _COMPRESSED, _MATRIX, _SPARSE, _COMPLEX = 128, 8, 15, 14, 5, 0x0800
"""MATLAB 5: bytes of the header and of a tag; types of a compressed variable and of a matrix, class of sparse matrices,
flag of complex ones."""
_TYPES, _INTEGERS, _DEPTH = (1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 14, 16, 17, 18), (5, 6), 8
"""Types of data, which SciPy does not check; of 32-bit integers; how deep structures are looked into."""
_PIECE = 1 << 20
_GROWTH = 4.0
"""Bytes in memory per byte of the file, with copies."""


@dataclass(frozen=True, eq=False)
class SedumiProblem:
    """A conic program in SeDuMi's convention.

        primal   min  c^T x     subject to  A x = b,  x in K,
        dual     max  b^T y     subject to  c - A^T y in the dual cone of K,

    where K is a product, in this order, of free variables, nonnegative ones, second-order cones
    x_1 >= ||(x_2, ..., x_k)|| and psd matrices, all n^2 entries of each. Only the symmetric part of the data of a psd
    matrix counts, and that is what is kept. Two problems are equal exactly when their arrays are.

    Parameters
    ----------
    A
        m x N matrix, an array or SciPy sparse.
    b, c
        m right-hand sides and N costs.
    free, nonnegative
        Numbers of free and of nonnegative variables (K.f, K.l).
    second_order, psd
        Lengths of the second-order cones (K.q) and orders of the psd matrices (K.s).

    Raises
    ------
    InvalidInput
        ``A``: expected an array of finite real numbers.

    See Also
    --------
    read_sedumi, SdpaProblem

    Examples
    --------
    min x_1 + x_2 subject to [[x_1, 1], [1, x_2]] psd, and x_3 >= x_1:

    >>> A = [[0.0, 0.0, 1.0, 1.0, 0.0], [-1.0, 1.0, 0.0, 0.0, 0.0]]
    >>> SedumiProblem(A, [2.0, 0.0], [0.0, 1.0, 0.0, 0.0, 1.0], nonnegative=1, psd=(2,))
    SedumiProblem(m=2, free=0, nonnegative=1, second_order=(), psd=(2,))
    """

    A: Any
    b: Array
    c: Array
    free: int
    nonnegative: int
    second_order: tuple[int, ...]
    psd: tuple[int, ...]

    def __init__(
        self, A: Any, b: Any, c: Any, free: int = 0, nonnegative: int = 0, second_order: Any = (), psd: Any = ()
    ) -> None:
        right, cost = (
            validate.real_array(name, part, ndim=1).astype(np.float64) for name, part in (("b", b), ("c", c))
        )
        cones: dict[str, Any] = {"free": int(free), "nonnegative": int(nonnegative)}
        cones |= {"second_order": tuple(map(int, second_order)), "psd": tuple(map(int, psd))}
        sizes = [cones["free"], cones["nonnegative"], *cones["second_order"], *cones["psd"]]
        if min(sizes) < 0 or min(sizes[2:], default=1) < 1 or right.size == 0:
            raise InvalidInput("K", "cones of positive size, and at least one constraint", repr(cones))
        for name, value in cones.items():
            object.__setattr__(self, name, value)
        matrix: Any = sp.csr_array(A).astype(np.float64)
        validate.real_array("A", matrix.data)
        if matrix.shape != (right.size, self.size) or cost.size != self.size:
            expected = f"A of shape {(right.size, self.size)} and {self.size} costs, for these cones"
            raise InvalidInput("A, c", expected, f"shape {matrix.shape} and {cost.size} costs")
        object.__setattr__(self, "A", self._symmetrise(matrix))
        object.__setattr__(self, "b", right)
        object.__setattr__(self, "c", self._symmetrise(sp.csr_array(cost[None])).toarray()[0])

    @property
    def m(self) -> int:
        """Number of constraints."""
        return int(self.b.size)

    @property
    def size(self) -> int:
        """Number N of variables, with both triangles of psd matrices."""
        return self.vector_size + sum(order * order for order in self.psd)

    @property
    def vector_size(self) -> int:
        """Number of variables before the psd matrices."""
        return self.free + self.nonnegative + sum(self.second_order)

    def places(self, index: IntArray) -> tuple[IntArray, IntArray]:
        """Return row and column of variables in the block diagonal matrix of all cones."""
        block, row, col = self._split(index)
        starts = self.vector_size + np.cumsum([0, *self.psd])
        is_vector = block < 0
        start = np.where(is_vector, 0, starts[block])
        return start + row, start + np.where(is_vector, row, col)

    def _split(self, index: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return the psd matrix of each variable (-1: none), its row (of others, the index) and its column."""
        starts = self.vector_size + np.cumsum([0, *(order * order for order in self.psd)])
        block = np.searchsorted(starts, index, side="right") - 1
        place = index.astype(np.int64) - np.where(block < 0, 0, starts[block])
        order = np.where(block < 0, 1, np.array([*self.psd, 1])[block])
        col, row = np.divmod(place, order)
        return block, np.where(block < 0, place, row), np.where(block < 0, 0, col)

    def _symmetrise(self, matrix: Any) -> Any:
        """Return the rows with the mean of each entry of a psd matrix and its mirror image in both places."""
        block, row, col = self._split(matrix.indices)
        starts = self.vector_size + np.cumsum([0, *(order * order for order in self.psd)])
        mirrored = starts[block] + row * np.array([*self.psd, 1])[block] + col
        indices = np.where(block < 0, matrix.indices, mirrored)
        transposed = sp.csr_array((matrix.data, indices, matrix.indptr), matrix.shape)
        mean: Any = sp.csr_array(0.5 * (matrix + transposed))
        mean.sum_duplicates()
        mean.eliminate_zeros()
        mean.sort_indices()
        return mean

    __eq__ = equal_records
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        q, s = (part if len(part) <= 8 else f"<{len(part)}>" for part in (self.second_order, self.psd))
        return f"SedumiProblem(m={self.m}, free={self.free}, nonnegative={self.nonnegative}, second_order={q}, psd={s})"


def read_sedumi(source: Source, *, limits: Limits | None = None) -> SedumiProblem:
    """Read a conic program in SeDuMi's format: a MATLAB file up to version 7, compressed with gzip or not.

    The file has the variables A (or At, its transpose), b, c and the structure K with the fields f, l, q and s, each
    optional. Rotated cones (K.r) and complex variables are refused by name.

    Parameters
    ----------
    source
        A path, or a binary stream.
    limits
        Limits beyond which the file is refused (:class:`~unipd.io.Limits`).

    Returns
    -------
    SedumiProblem

    Raises
    ------
    FileFormatError
        With the path and what is wrong.

    See Also
    --------
    write_sedumi, read_sdpa, unipd.SDP

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sedumi(SedumiProblem([[1.0, 2.0]], [3.0], [1.0, 1.0], nonnegative=2), f"{folder}/p.mat")
    ...     read_sedumi(f"{folder}/p.mat").nonnegative
    2
    """
    bounds = limits or Limits()
    with open_bounded(source, bounds, is_checked=True, is_text=False) as (stream, name):
        content = stream.read()
    length = _measure_content(content, name, bounds)
    require_room(name, _GROWTH * length)
    found = load_matlab(content, name, VARIABLES)
    cones = _read_cones(found, name, bounds)
    right, cost = _vector(found, "b", name), _vector(found, "c", name)
    if right.size > bounds.constraints:
        raise FileFormatError(name, f"{right.size} constraints, more than the limit of {bounds.constraints}")
    matrix = _read_matrix(found, name, (right.size, cost.size))
    try:
        return SedumiProblem(matrix, right, cost, **cones)
    except InvalidInput as error:
        raise FileFormatError(name, str(error)) from error


def load_matlab(content: bytes, name: str, variables: tuple[str, ...]) -> dict[str, Any]:
    """Return variables of a MATLAB file; whatever is wrong with it is a :class:`FileFormatError`."""
    from scipy.io import loadmat

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of variables that are given twice, or have no name
            found: Any = loadmat(io.BytesIO(content), variable_names=list(variables))
        for value in found.values():
            if sp.issparse(value):  # SciPy trusts the indices of the file, and would write outside its arrays
                value.check_format(full_check=True)
    except NotImplementedError as error:
        problem = "a MATLAB 7.3 file, which cannot be read (save it with the option -v7)"
        raise FileFormatError(name, problem) from error
    except Exception as error:  # SciPy has many kinds
        raise FileFormatError(name, f"not a readable MATLAB file ({error or type(error).__name__})") from error
    return {variable: found[variable] for variable in variables if variable in found}


def _measure_content(content: bytes, name: str, limits: Limits) -> int:
    """Return the length of a MATLAB file with its compressed variables unpacked; raise beyond the limits."""
    if content[126:128] not in (b"IM", b"MI"):  # version 4 has neither header nor compression
        return len(content)
    order = "<" if content[126:128] == b"IM" else ">"
    place, total = _HEADER, len(content)
    while place + _TAG <= len(content):
        kind, length = struct.unpack(f"{order}II", content[place : place + _TAG])
        place += _TAG
        inside = content[place : place + length]
        if kind == _COMPRESSED:
            total += _unpacked_length(inside, name, total, limits)
            inside = zlib.decompressobj().decompress(inside)[_TAG:]
        if kind in (_COMPRESSED, _MATRIX):
            _check_variable(inside, order, name)
        place += length
    return total


def _check_variable(content: bytes, order: str, name: str, depth: int = 0) -> None:
    """Raise for sparse matrices whose indices do not fit: SciPy trusts them, and reads outside its arrays."""
    parts: list[tuple[int, bytes]] = []
    place = 0
    while place + _TAG <= len(content):
        kind, length = struct.unpack(f"{order}II", content[place : place + _TAG])
        if kind >> 16:  # a short element: its data are in the tag
            parts.append((kind & 0xFFFF, content[place + 4 : place + 4 + (kind >> 16)]))
            length = 0
        else:
            parts.append((kind, content[place + _TAG : place + _TAG + length]))
        place += _TAG + length + -length % 8
    for kind, part in parts:
        if kind not in _TYPES:
            raise FileFormatError(name, f"not a readable MATLAB file (data of the unknown type {kind})")
        if kind == _MATRIX and depth < _DEPTH:
            _check_variable(part, order, name, depth + 1)
    flags = struct.unpack(f"{order}I", parts[0][1][:4])[0] if parts and len(parts[0][1]) >= 4 else 0
    if flags & _COMPLEX and (depth or (len(parts) > 2 and parts[2][1].decode("latin-1") in VARIABLES)):
        raise FileFormatError(name, "expected the real matrix A or At and real b, c and K, got complex numbers")
    if flags & 0xFF != _SPARSE:
        return
    integers = [np.frombuffer(part[: len(part) // 4 * 4], f"{order}i4") for _, part in parts[1:5]]
    is_whole = len(parts) >= 6 and all(parts[index][0] in _INTEGERS for index in (1, 3, 4)) and integers[0].size == 2
    if is_whole:
        (rows, columns), index, starts = integers[0], integers[2], integers[3]
        is_whole = starts.size == columns + 1 and starts[0] == 0 and bool((np.diff(starts) >= 0).all())
        is_whole = is_whole and starts[-1] <= min(index.size, len(parts[5][1]))
        is_whole = is_whole and bool(((index >= 0) & (index < max(rows, 1))).all())
    if not is_whole:
        raise FileFormatError(name, "not a readable MATLAB file (the indices of a sparse matrix do not fit)")


def _unpacked_length(packed: bytes, name: str, before: int, limits: Limits) -> int:
    unpack, given = zlib.decompressobj(), 0
    while packed and not unpack.eof:
        try:
            given += len(unpack.decompress(packed, _PIECE))
        except zlib.error as error:
            raise FileFormatError(name, f"a compressed variable is damaged ({error})") from error
        packed = unpack.unconsumed_tail
        check_compression(name, given + before, before, limits)
        if limits.text_bytes is not None and given + before > limits.text_bytes:
            raise FileFormatError(name, f"the content is longer than {limits.text_bytes} bytes")
    return given


def _read_cones(found: dict[str, Any], name: str, limits: Limits) -> dict[str, Any]:
    """Return the arguments of :class:`SedumiProblem` that K holds."""
    cones: Any = found.get("K")
    if cones is None or cones.dtype.names is None or cones.size != 1:
        raise FileFormatError(name, "expected the structure K with the cones")
    sizes = {field: _sizes(cones[field].item(), f"K.{field}", name) for field in cones.dtype.names}
    for field in sizes:
        if field not in _CONES and any(sizes[field]):
            what = "rotated second-order cones" if field == "r" else "something other than f, l, q and s"
            raise FileFormatError(name, f"K.{field}, {what}, is not supported")
    free, nonnegative, second_order, psd = (tuple(part for part in sizes.get(field, ()) if part) for field in _CONES)
    if sum(free) + sum(nonnegative) + sum(second_order) + sum(psd) > limits.order:
        raise FileFormatError(name, f"the sizes of the cones sum to more than the limit of {limits.order}")
    return {"free": sum(free), "nonnegative": sum(nonnegative), "second_order": second_order, "psd": psd}


def _sizes(value: Any, field: str, name: str) -> list[int]:
    numbers: Any = np.asarray(value)  # a sparse matrix is no array of numbers
    if numbers.dtype.kind not in "uif" or not all(float(size).is_integer() and size >= 0 for size in numbers.flat):
        raise FileFormatError(name, f"{field} must hold whole numbers that are not negative")
    return [int(size) for size in numbers.flat]


def _vector(found: dict[str, Any], variable: str, name: str) -> Array:
    value = found.get(variable)
    if value is None or value.ndim != 2 or min(value.shape) != 1 or value.dtype.kind not in "uif":
        raise FileFormatError(name, f"expected the vector {variable}")
    require_room(name, 8.0 * max(value.shape))
    return np.asarray(value.toarray() if sp.issparse(value) else value, np.float64).ravel()


def _read_matrix(found: dict[str, Any], name: str, shape: tuple[int, int]) -> Any:
    """Return the matrix with a row per constraint; SeDuMi accepts A and At in either orientation."""
    matrix = found.get("A", found.get("At"))
    if matrix is None or matrix.ndim != 2 or matrix.dtype.kind not in "uif":
        raise FileFormatError(name, "expected the real matrix A or At")
    is_turned = matrix.shape == shape[::-1] and ("A" not in found or matrix.shape != shape)
    if not is_turned and matrix.shape != shape:
        raise FileFormatError(name, f"b and c require A of shape {shape}, got {matrix.shape}")
    return sp.csr_array(matrix.T if is_turned else matrix)


def write_sedumi(problem: Any, path: str | os.PathLike[str]) -> None:
    """Write a conic program in SeDuMi's format, compressed when the path ends in ``.gz``; numbers are kept exactly.

    ``problem`` is a :class:`SedumiProblem`, or has a method ``to_sedumi`` that returns one, as an SDP has.

    Parameters
    ----------
    problem
        The program.
    path
        Path of the file.

    See Also
    --------
    read_sedumi, write_sdpa

    Examples
    --------
    >>> import tempfile
    >>> problem = SedumiProblem([[1.0, 2.0]], [0.1], [1.0, 1 / 3], free=1, nonnegative=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sedumi(problem, f"{folder}/p.mat.gz")
    ...     read_sedumi(f"{folder}/p.mat.gz") == problem
    True
    """
    from scipy.io import savemat

    given: SedumiProblem = problem if isinstance(problem, SedumiProblem) else problem.to_sedumi()
    cones: dict[str, Any] = {"f": float(given.free), "l": float(given.nonnegative)}
    cones |= {"q": np.array([given.second_order], np.float64), "s": np.array([given.psd], np.float64)}
    columns = {name: sp.csc_array(part[:, None]) for name, part in (("b", given.b), ("c", given.c))}
    content, is_packed = io.BytesIO(), os.fspath(path).endswith(".gz")
    savemat(content, {"A": sp.csc_array(given.A), **columns, "K": cones}, do_compression=not is_packed)
    with write_packed(path) as file:
        file.write(content.getvalue())
