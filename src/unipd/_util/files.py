"""Atomic file writes: a file is replaced whole or not at all; broken links."""

from __future__ import annotations

import contextlib
import csv
import errno
import gzip
import io
import os
import secrets
import shutil
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, BinaryIO


@contextlib.contextmanager
def atomic_write(target: Path) -> Generator[BinaryIO, None, None]:
    """Write a temporary file next to the target and rename it: readers see the old file or the new one.

    Links are followed, permissions kept, and devices written to directly. An error names the target.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder, "a.txt")) as stream:
    ...         _ = stream.write(b"whole")
    ...     [path.name for path in Path(folder).iterdir()]
    ['a.txt']
    """
    place = Path(os.path.realpath(target))
    try:
        with _temporary_near(place) if place.is_file() or not place.exists() else open(place, "wb") as stream:
            yield stream
    except OSError as error:
        if error.errno is None or (error.filename is not None and Path(error.filename).parent != place.parent):
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error


@contextlib.contextmanager
def open_to_read(path: str | os.PathLike[str]) -> Generator[BinaryIO, None, None]:
    """Open a file to read its bytes; every error names the file, those of reading too."""
    try:
        with open(path, "rb") as stream:
            yield stream
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


@contextlib.contextmanager
def _temporary_near(target: Path) -> Generator[BinaryIO, None, None]:
    part = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, part)
        os.replace(part, target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def write_text(target: Path, text: str) -> None:
    """Write text in UTF-8, with plain line ends: the whole file or none of it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder, "a.txt"), "whole")
    ...     Path(folder, "a.txt").read_text()
    'whole'
    """
    with atomic_write(target) as stream:
        stream.write(text.encode("utf-8"))


@contextlib.contextmanager
def write_packed(path: str | os.PathLike[str]) -> Generator[Any, None, None]:
    """Write a file like :func:`atomic_write`, compressed when its name ends in ``.gz``; equal content, equal bytes."""
    with atomic_write(Path(path)) as stream:
        if os.fspath(path).endswith(".gz"):
            with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as packed:
                yield packed
        else:
            yield stream


def format_csv(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    r"""Return a table as the text of a CSV file.

    >>> format_csv(("user", "item"), [(1, "a, b")])
    'user,item\n1,"a, b"\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def is_link_loop(path: Path) -> bool:
    """Whether a path is a symbolic link that leads back to itself.

    >>> is_link_loop(Path("."))
    False
    """
    try:
        os.stat(path)
    except OSError as error:
        return error.errno == errno.ELOOP
    return False
