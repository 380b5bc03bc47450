"""What a command writes: paths are checked before the computing starts, JSON is plain and pure."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Collection, Mapping
from enum import Enum
from importlib import util
from pathlib import Path
from typing import Any

from unipd.errors import InvalidInput, MissingExtra
from unipd.replacing import write_text

STANDARD_OUTPUT = "-"
PICTURES = (".png", ".svg", ".pdf")
PROGRAMS = (".dat-s", ".dat", ".sdpa")


def check_file(option: str, path: Path | None, extensions: tuple[str, ...] = ()) -> None:
    """Raise unless a file of this name can be written: known extension, existing folder, permission."""
    if path is None:
        return
    if extensions and path.suffix.lower() not in extensions:
        raise InvalidInput(option, f"a file name ending in {' or '.join(extensions)}", repr(str(path)))
    if path.is_dir():
        raise InvalidInput(option, "a file", f"the folder {str(path)!r}")
    folder = path.parent
    if not folder.is_dir():
        raise InvalidInput(option, "a file in an existing folder (create it first)", repr(str(path)))
    if not os.access(folder, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InvalidInput(option, "a file in a folder that can be written to", repr(str(path)))


def check_choice(option: str, value: str, known: Collection[str]) -> None:
    """Raise unless the value is one of those known.

    >>> check_choice("--theme", "dark", ("light", "dark"))
    """
    if value not in known:
        raise InvalidInput(option, f"one of {', '.join(known)}", repr(value))


def check_program_name(path: str) -> None:
    """Raise for an existing file whose name does not say that it holds a semidefinite program.

    >>> check_program_name("truss1.dat-s.gz")
    """
    name = Path(path).name.lower().removesuffix(".gz")
    if Path(path).is_file() and Path(name).suffix not in PROGRAMS:
        expected = f"a file in SDPA sparse format ({' or '.join(PROGRAMS)}, perhaps .gz), or FILE.py:NAME"
        raise InvalidInput("PROBLEM", expected, repr(path))


def check_distinct(outputs: Mapping[str, Any]) -> None:
    """Raise when two options name the same file to write.

    >>> check_distinct({"--out": Path("run.npz"), "--json": "-", "--plot": None})
    """
    known: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None or str(path) == STANDARD_OUTPUT:
            continue
        other = known.setdefault(os.path.realpath(path), option)
        if other != option:
            raise InvalidInput(option, f"another file than that of {other}", repr(str(path)))


def check_apart(written: Mapping[str, Any], read: Mapping[str, Any]) -> None:
    """Raise when a file would be written twice, or written over one that is read: a path, several, or FILE.py:NAME.

    >>> check_apart({"--out": Path("state.npz")}, {"DATA": Path("data.npz")})
    """
    check_distinct(written)
    targets = {os.path.realpath(path): option for option, path in written.items() if path is not None}
    for word, value in read.items():
        for part in value if isinstance(value, (list, tuple)) else [value]:
            names = (str(part), str(part).rpartition(":")[0]) if isinstance(part, (str, Path)) else ()
            for name in filter(os.path.isfile, names):
                option = targets.get(os.path.realpath(name))
                if option is not None:
                    raise InvalidInput(option, f"another file than {word}", repr(name))


def check_outputs(out: Path | None, plot: Path | None, json_to: str | None, log_file: Path | None) -> None:
    """Raise when one of a command's outputs cannot be written."""
    check_file("--out", out, (".npz",))
    check_file("--plot", plot, PICTURES)
    check_file("--json", None if json_to in (None, STANDARD_OUTPUT) else Path(str(json_to)))
    check_file("--log-file", log_file)
    if plot is not None and util.find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plot", "--plot")


def plain(value: Any) -> Any:
    """Return ``value`` as JSON can hold it: NaN and infinity become null, arrays lists, enums their values.

    >>> plain({"gap": float("inf"), "path": Path("a.npz")})
    {'gap': None, 'path': 'a.npz'}
    """
    if isinstance(value, Enum):
        value = value.value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None  # a negative zero says nothing
    if isinstance(value, complex):
        return {"re": plain(value.real), "im": plain(value.imag)}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(part) for part in value]
    return str(value)


def write_json(content: Mapping[str, Any], to: str | None) -> None:
    """Write one JSON object to a file, or with "-" to standard output; nothing when ``to`` is None."""
    if to is None:
        return
    text = json.dumps(plain(content), allow_nan=False, indent=2, ensure_ascii=False)
    if to == STANDARD_OUTPUT:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    else:
        write_text(Path(to), text + "\n")
