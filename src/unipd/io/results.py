"""Result files: one ``.npz`` with a JSON header, written whole or not at all, read without pickle.

The arrays have plain names (``x``, ``dual``, ``history``, ...), so that NumPy alone can read them; the header
(a ``uint8`` array named ``header``) says what they are.
"""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Mapping
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd._version import __version__
from unipd.errors import FileFormatError, InvalidInput
from unipd.io.archive import DamagedArchive, read_arrays
from unipd.io.packing import pack, unpack
from unipd.io.saved_result import SavedResult, facts
from unipd.replacing import replacing
from unipd.run.checkpoint.file import MAGIC
from unipd.run.history import COLUMNS, History, arranged

FORMAT = 1
"""Number of the file format; a reader accepts this one and all before it."""
_KIND = "unipd result"
_PACKAGES = ("numpy", "scipy", "numba")


def save(
    result: Any,
    path: str | os.PathLike[str],
    *,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    extra: Mapping[str, Any] | None = None,
    message: str | None = None,
) -> Path:
    """Write a result to ``path`` (``.npz``): whole and flushed to disk, or not at all.

    Parameters
    ----------
    result
        A :class:`unipd.Result`, a :class:`SavedResult`, or an application's result with ``summary()`` and as
        many of ``x``, ``dual``, ``image``, ``history`` as it has.
    path
        The file; an existing one is replaced.
    seed, settings
        The seed and the options of the run, for the record.
    extra
        Anything else: numbers, strings, arrays, atoms, and lists and dictionaries of them.
    message
        How the run ended, in the place of the status's own sentence.

    Examples
    --------
    >>> import tempfile, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> result = unipd.solve(problem, accuracy=1e-2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(result, f"{folder}/run.npz", extra={"note": "first try"})
    ...     saved = load(path)
    >>> saved.status.value, saved.extra
    ('solved', {'note': 'first try'})
    """
    if not callable(getattr(result, "summary", None)):
        raise InvalidInput("result", "a result of a run", validate.described(result))
    for name, value in {"settings": settings, "extra": extra}.items():
        if not isinstance(value, (Mapping, type(None))):
            raise InvalidInput(name, "a dictionary", repr(value))
    target = Path(validate.path("path", path))
    if target.suffix != ".npz":
        raise InvalidInput("path", "a file name ending in .npz", repr(str(path)))
    arrays: dict[str, Array] = {}
    figures = {**result.summary(), **({} if message is None else {"message": message})}
    header = _header(result, figures, seed, {**(settings or {})}, {**(extra or {})}, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header, allow_nan=False).encode(), np.uint8)
    with replacing(target) as stream:
        np.savez(stream, allow_pickle=False, **cast("Any", arrays))
    return target


def load(path: str | os.PathLike[str]) -> SavedResult:
    """Read a result file; a damaged or foreign file raises :class:`~unipd.errors.FileFormatError`."""
    arrays = _read_arrays(Path(validate.path("path", path)))
    try:
        header = json.loads(arrays["header"].tobytes())
        kind, number = header["kind"], header["format"]
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(str(path), "not a result file of unipd (no readable header)") from error
    if kind != _KIND or not isinstance(number, int):
        raise FileFormatError(str(path), "not a result file of unipd")
    if number > FORMAT:
        raise FileFormatError(str(path), f"format {number} is newer than this version of unipd reads (up to {FORMAT})")
    try:
        content = unpack(header["content"], arrays)
        rows = arranged(arrays["history"], header["columns"])
        return SavedResult(history=History(rows), versions=header["versions"], saved=header["saved"], **content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(str(path), f"the header does not match the arrays ({error})") from error


def _header(
    result: Any,
    figures: dict[str, Any],
    seed: int | None,
    settings: dict[str, Any],
    extra: dict[str, Any],
    arrays: dict[str, Array],
) -> dict[str, Any]:
    history = getattr(result, "history", None)
    arrays["history"] = np.zeros((0, len(COLUMNS))) if history is None else history.table
    content = {
        "figures": figures,
        "x": getattr(result, "x", None),
        "dual": getattr(result, "dual", None),
        "image": getattr(result, "image", None),
        "facts": facts(result),
        "accuracy": float(getattr(result, "accuracy", math.nan)),
        "infeasibility": float(getattr(result, "infeasibility", math.nan)),
        "settings": {**getattr(result, "settings", {}), **settings},
        "seed": getattr(result, "seed", None) if seed is None else seed,
        "extra": {**getattr(result, "extra", {}), **extra},
    }
    return {
        "kind": _KIND,
        "format": FORMAT,
        "versions": _versions(),
        "saved": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "columns": list(COLUMNS),
        "content": {name: pack(name, value, arrays) for name, value in content.items()},
    }


def _versions() -> dict[str, str]:
    installed = {name: metadata.version(name) for name in _PACKAGES}
    return {"unipd": __version__, "python": platform.python_version(), **installed}


def _read_arrays(path: Path) -> dict[str, Array]:
    try:
        return read_arrays(path)
    except DamagedArchive as error:
        with open(path, "rb") as stream:
            begins = stream.read(len(MAGIC))
        if begins == MAGIC:
            problem = "a checkpoint, not a result: unipd report shows it, its command goes on with --resume"
            raise FileFormatError(str(path), problem) from error
        raise FileFormatError(str(path), "not a result file of unipd, or damaged") from error


__all__ = ["FORMAT", "SavedResult", "facts", "load", "save"]
