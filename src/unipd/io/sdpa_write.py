"""Writer of the SDPA sparse format."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import IO, Any

from unipd.io.sdpa_problem import SdpaProblem
from unipd.replacing import replacing

_LINES = 1 << 16
"""Entries formatted at a time."""


def write_sdpa(problem: SdpaProblem, path: str | os.PathLike[str], *, comment: str = "") -> None:
    """Write a semidefinite program in SDPA sparse format, compressed when the path ends in ``.gz``.

    Numbers are written with the digits that give the same doubles back, so
    ``read_sdpa(path) == problem`` exactly; the same problem always gives the same bytes.

    Examples
    --------
    >>> import tempfile
    >>> from unipd.io import read_sdpa
    >>> problem = SdpaProblem([0.1], (2, -3), [0, 1], [0, 1], [0, 2], [1, 2], [1 / 3, -1.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sdpa(problem, f"{folder}/p.dat-s.gz")
    ...     read_sdpa(f"{folder}/p.dat-s.gz") == problem
    True
    """
    name = os.fspath(path)
    with replacing(Path(name)) as file:
        if not name.endswith(".gz"):
            _write(problem, file, comment)
            return
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
            _write(problem, packed, comment)


def _write(problem: SdpaProblem, file: IO[bytes] | Any, comment: str) -> None:
    for line in comment.splitlines():
        file.write(f'"{line}\n'.encode())
    sizes = " ".join(map(str, problem.block_sizes))
    file.write(f"{problem.m}\n{len(problem.block_sizes)}\n{sizes}\n".encode())
    file.write((" ".join(map(repr, problem.b.tolist())) + "\n").encode())
    places = (problem.constraint, problem.block + 1, problem.row + 1, problem.col + 1, problem.value)
    for start in range(0, problem.value.size, _LINES):
        columns = [part[start : start + _LINES].tolist() for part in places]
        file.write("".join(map("{} {} {} {} {!r}\n".format, *columns)).encode())
