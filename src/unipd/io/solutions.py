"""Solutions of semidefinite programs by other solvers: files of CSDP and SDPA, and NumPy archives."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from unipd._typing import Array
from unipd._util.files import open_to_read
from unipd.errors import FileFormatError
from unipd.io.reading import (
    LOOSE,
    DamagedArchive,
    Limits,
    TableLayout,
    leading_numbers,
    parse_numbers,
    read_arrays,
    read_bounded,
    read_table,
)
from unipd.io.results import load
from unipd.io.sdpa import read_places
from unipd.memory import require_room

_TABLE = TableLayout(widths=(5,), comments=b"", blanks=LOOSE)
_ZIP = b"PK"
_PRIMAL = 2
"""First number of CSDP's lines for X; 1 is for Z."""


class Solution(NamedTuple):
    """Multipliers y with the slack C + sum y_i A_i (SDPA's vector x), and X: blocks, an array, factors, or None.

    Parameters
    ----------
    dual
        The multipliers y.
    x
        The matrix X; None if it is not known.

    See Also
    --------
    read_solution, unipd.certify

    Examples
    --------
    >>> Solution(np.array([0.5]), None).x is None
    True
    """

    dual: Array
    x: Any


def read_solution(
    path: str | os.PathLike[str], constraints: int, block_sizes: Sequence[int], *, limits: Limits | None = None
) -> Solution:
    """Read a solution: of CSDP (``csdp file.dat-s file.sol``), of SDPA (its output), or an ``.npz`` archive.

    An archive is a result of unipd, or has the multipliers as ``y`` or ``dual`` and, if at all, the matrix X or its
    factor R, X = R R^T, as ``X`` or ``R``.

    Parameters
    ----------
    path
        The file, compressed with gzip or not (archives are not).
    constraints, block_sizes
        Size of the program; a negative size -d is a diagonal block of length d.
    limits
        Limits beyond which the file is refused (:class:`~unipd.io.Limits`).

    Returns
    -------
    Solution

    Raises
    ------
    FileFormatError
        If the file is malformed, or has other sizes than the program.

    See Also
    --------
    Solution, unipd.certify

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/answer.npz", y=np.array([0.5]), X=np.eye(2))
    ...     read_solution(f"{folder}/answer.npz", 1, [2]).dual
    array([0.5])
    """
    name = os.fspath(path)
    with open_to_read(path) as stream:
        is_archive = stream.read(len(_ZIP)) == _ZIP
    if is_archive:
        found = _read_archive(name, limits)
    else:
        sizes = [int(size) for size in block_sizes]
        content = read_bounded(path, limits, growth=2.0)
        require_room(name, 8.0 * sum(float(size) ** 2 if size > 0 else -float(size) for size in sizes))
        found = (_read_sdpa if b"xVec" in content else _read_csdp)(content, name, sizes)
    if found.dual.shape != (constraints,) or not np.isfinite(found.dual).all():
        raise FileFormatError(name, f"expected {constraints} multipliers, got an array of shape {found.dual.shape}")
    return found


def _read_archive(name: str, limits: Limits | None) -> Solution:
    try:
        arrays = read_arrays(name, limits)
    except DamagedArchive as error:
        raise FileFormatError(name, f"not a readable archive ({error})") from error
    if "header" in arrays:
        result = load(name)
        return Solution(np.asarray(result.dual, np.float64), result.x)
    dual = next((arrays[key] for key in ("y", "dual") if key in arrays), None)
    if dual is None or dual.dtype.kind not in "uif":
        raise FileFormatError(name, "expected multipliers, an array y or dual")
    factor = arrays.get("R")
    return Solution(dual.astype(np.float64).ravel(), arrays.get("X") if factor is None else factor @ factor.T)


def _read_csdp(content: bytes, name: str, sizes: list[int]) -> Solution:
    """Read y on the first line, then lines "1 or 2, block, row, column, value" for the upper triangles of Z and X."""
    first, _, rest = content.partition(b"\n")
    dual, has_text = leading_numbers(first)
    if has_text or dual.size == 0:
        raise FileFormatError(name, "expected the multipliers y, as CSDP writes them, or the output of SDPA", 1)
    rows, lines = read_table(rest, _TABLE, name, 2)
    is_matrix = (rows[:, 0] == 1) | (rows[:, 0] == _PRIMAL), "the first number is neither 1 (Z) nor 2 (X)"
    which, block, row, col = read_places(rows, lines, np.array(sizes), name, *is_matrix)
    blocks: list[Array] = []
    for index, size in enumerate(sizes):
        chosen = (which == _PRIMAL) & (block == index)
        part, places = np.zeros(-size if size < 0 else (size, size)), (row[chosen], col[chosen])
        for place in (places[:1],) if size < 0 else (places, places[::-1]):
            part[place] = rows[chosen, 4]
        blocks.append(part)
    return Solution(dual, blocks)


def _read_sdpa(content: bytes, name: str, sizes: list[int]) -> Solution:
    """Read xVec = {...} and yMat = {{{...}, ...}, ...}: rows of the blocks of Y, diagonal blocks as one row."""
    dual = _braced_numbers(content, b"xVec", name)
    if b"yMat" not in content:
        return Solution(dual, None)
    numbers = _braced_numbers(content, b"yMat", name)
    lengths = [size * size if size > 0 else -size for size in sizes]
    if numbers.size != sum(lengths):
        raise FileFormatError(name, f"expected {sum(lengths)} numbers in yMat, got {numbers.size}")
    parts = np.split(numbers, np.cumsum(lengths)[:-1])
    return Solution(
        dual, [part if size < 0 else part.reshape(size, size) for part, size in zip(parts, sizes, strict=True)]
    )


def _braced_numbers(content: bytes, word: bytes, name: str) -> Array:
    """Return all numbers between the brace after a word and the one that closes it."""
    begin = content.find(b"{", content.index(word))
    if begin < 0:
        raise FileFormatError(name, f"expected {{...}} after {word.decode()}")
    letters = np.frombuffer(content, np.uint8, offset=begin)
    depth = np.cumsum((letters == ord("{")).astype(np.int8) - (letters == ord("}")).astype(np.int8), dtype=np.int64)
    ends = np.flatnonzero(depth == 0)
    if ends.size == 0:
        raise FileFormatError(name, f"a brace after {word.decode()} is never closed")
    numbers = parse_numbers(content[begin : begin + int(ends[0]) + 1].translate(LOOSE))
    if numbers is None:
        raise FileFormatError(name, f"something in {word.decode()} is not a number")
    return numbers
