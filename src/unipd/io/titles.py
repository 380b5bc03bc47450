"""Files of titles: an item and its title a line, as MovieLens' u.item, movies.dat and movies.csv have them."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path

from unipd.errors import FileFormatError
from unipd.io.ratings_columns import known_columns

_SEPARATORS = ("::", "|", "\t", ";", ",")


def read_titles(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Return the titles by the items' names as texts; what follows the second field is not looked at.

    Texts are UTF-8, or else Latin-1 as in u.item.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "u.item")
    ...     _ = file.write_bytes("1|Toy Story (1995)|01-Jan-1995\n2|Les Misérables (1995)|\n".encode("latin-1"))
    ...     read_titles(file)
    {'1': 'Toy Story (1995)', '2': 'Les Misérables (1995)'}
    """
    lines = re.split(r"\r\n|\r|\n", _text(Path(path)))  # Latin-1 has other ends of lines, which titles may contain
    first = next((line for line in lines if line.strip()), "")
    separator = min((mark for mark in _SEPARATORS if mark in first), key=first.index, default=None)
    if separator is None:
        raise FileFormatError(str(path), f"an item and its title expected, got {first[:60]!r}", 1)
    titles: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        fields = _fields(str(path), number, line, separator)
        if len(fields) < 2 and line.strip():
            raise FileFormatError(str(path), f"an item and its title expected, got {line[:60]!r}", number)
        if len(fields) >= 2 and not (line == first and _are_names(fields[0])):
            titles.setdefault(fields[0].strip(), fields[1].strip())
    return titles


def _fields(source: str, number: int, line: str, separator: str) -> list[str]:
    try:
        return line.split(separator) if separator == "::" else next(csv.reader([line], delimiter=separator), [])
    except csv.Error as error:
        raise FileFormatError(source, f"not a table ({error})", number) from error


def _are_names(field: str) -> bool:
    return known_columns(["user", field, "rating"]) is not None


def _text(path: Path) -> str:
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
