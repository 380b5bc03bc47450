"""Result files: one ``.npz`` archive with a JSON header, written atomically and read without pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd._util.files import atomic_write
from unipd.errors import FileFormatError, InvalidInput
from unipd.io.reading import DamagedArchive, read_arrays
from unipd.methods import Certificate, Counts, State
from unipd.run import Result
from unipd.run.checkpoint.codec import Packer, check_types, unpack
from unipd.run.checkpoint.file import is_checkpoint, package_versions
from unipd.run.history import COLUMNS, LARGEST, History, reorder_columns
from unipd.run.result import ProblemFacts, problem_facts
from unipd.trackers.atoms import Combination, HasAtoms
from unipd.trackers.dense import Fixed

FORMAT = 4
"""Number of the file format; files of other formats are refused."""
_KIND = "unipd result"
_APART = ("problem", "state", "history", "versions", "saved")
"""Fields of a result that its header does not hold, or holds elsewhere."""


def save(
    result: Result,
    path: str | os.PathLike[str],
    *,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    extras: Mapping[str, Any] | None = None,
    message: str | None = None,
) -> Path:
    """Write a result to ``path`` (``.npz``) atomically: an existing file is replaced only by a complete one.

    Parameters
    ----------
    result
        A :class:`unipd.Result`; its problem is not saved, and of its state the point, with the atoms if they take less
        than 64 MB, and the certificate: a loaded result can be polished, and start another run.
    path
        The file.
    seed, settings
        Seed and options of the run, for the record; settings are added to those of the result.
    extras
        Added to the extras of the result: numbers, strings, arrays, atoms, and lists and dictionaries of them.
    message
        Replaces the message of the result.

    Returns
    -------
    Path
        The path, with ``.npz`` appended if it was missing.

    Raises
    ------
    InvalidInput
        Unless ``result`` is a Result and ``path`` ends in .npz.

    See Also
    --------
    load, Result, Checkpoint

    Examples
    --------
    >>> import tempfile, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> result = unipd.solve(problem, accuracy=1e-2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(result, f"{folder}/run.npz", extras={"note": "first try"})
    ...     saved = load(path)
    >>> saved.status.value, saved.extras
    ('solved', {'note': 'first try'})
    """
    if not isinstance(result, Result):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("result", "a Result", validate.describe_type(result))
    for name, value in {"settings": settings, "extras": extras}.items():
        if not isinstance(value, Mapping | None):
            raise InvalidInput(name, "a dictionary", repr(value))
    target = Path(validate.path("path", path))
    if target.suffix != ".npz":
        raise InvalidInput("path", "a file name ending in .npz", repr(str(path)))
    final = replace(
        result,
        seed=result.seed if seed is None else seed,
        settings={**result.settings, **(settings or {})},
        extras={**result.extras, **(extras or {})},
        note=result.message if message is None else message,
        facts=problem_facts(result),
    )
    packer = Packer()
    text = json.dumps(_header(final, packer), allow_nan=False)
    arrays: Any = {**packer.arrays, "header": np.frombuffer(text.encode(), np.uint8)}
    with atomic_write(target) as stream:
        np.savez(stream, **arrays)
    return target


def load(path: str | os.PathLike[str]) -> Result:
    """Read a result file; a damaged file or one of another kind raises :class:`~unipd.errors.FileFormatError`.

    The result can be plotted, polished (``unipd.polish(problem, result)``) and continued from
    (``unipd.solve(problem, start=result)``) like a fresh one, with the problem built again.

    Parameters
    ----------
    path
        Path of the file.

    Returns
    -------
    Result

    Raises
    ------
    FileFormatError
        If the file is damaged, of another kind or of another format.

    See Also
    --------
    unipd.save, unipd.load

    Examples
    --------
    >>> import tempfile
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = unipd.save(unipd.solve(problem), f"{folder}/result.npz")
    ...     load(path).status.success
    True
    """
    arrays = _read_arrays(Path(validate.path("path", path)))
    try:
        header = json.loads(arrays["header"].tobytes())
        kind, number = header["kind"], header["format"]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise FileFormatError(str(path), "not a result file of unipd (no readable header)") from error
    if kind != _KIND:
        raise FileFormatError(str(path), "not a result file of unipd")
    if number != FORMAT:
        raise FileFormatError(str(path), f"result of format {number}; this version of unipd reads format {FORMAT}")
    try:
        content = unpack(header["content"], arrays)
        content["counts"] = Counts(**content["counts"])
        content["facts"] = ProblemFacts(**content["facts"])
        history = History(reorder_columns(unpack(header["history"], arrays), header["columns"]))
        result = Result(**content, history=history, versions=header["versions"], saved=header["saved"])
        for part in (result, result.counts, content["facts"]):
            check_types(type(part), vars(part))
        return replace(result, state=_read_state(result, unpack(header.get("state"), arrays)))
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise FileFormatError(str(path), f"the header does not match the arrays ({error})") from error


def _header(result: Result, packer: Packer) -> dict[str, Any]:
    content = {field.name: getattr(result, field.name) for field in fields(Result) if field.name not in _APART}
    content |= {"counts": asdict(result.counts), "facts": asdict(problem_facts(result))}
    return {
        "kind": _KIND,
        "format": FORMAT,
        "versions": package_versions(),
        "saved": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "columns": list(COLUMNS),
        "history": packer.pack(result.history.table, "history"),
        "content": {name: packer.pack(value, name) for name, value in content.items()},
        "state": packer.pack(_state_content(result), "state"),
    }


def _state_content(result: Result) -> dict[str, Any] | None:
    """Return what a result's state holds beyond the result itself; None where an application has changed the point."""
    state = result.state
    if not isinstance(state, State) or result.x is None or result.dual is None:
        return None
    certificate = state.certificate
    figures = (result.objective, result.infeasibility, result.dual_bound)
    is_same = figures == (certificate.objective, certificate.infeasibility, certificate.dual_bound)
    if not (is_same and np.array_equal(result.dual, certificate.dual)):
        return None
    primal, kept = state.primal, {}
    if isinstance(primal, HasAtoms) and primal.nbytes <= LARGEST:
        kept = {"atoms": list(primal.atoms), "weights": np.asarray(primal.weights)}
    numbers = {"violation": certificate.violation, "mean_objective": state.mean_objective}
    return {**numbers, "smoothness": state.smoothness, **kept}


def _read_state(result: Result, content: Any) -> State | None:
    """Return the state of a saved result: its point and its certificate, from which other runs can start."""
    if content is None:
        return None
    primal = Combination(tuple(content["atoms"]), content["weights"]) if "atoms" in content else Fixed(result.x)
    certificate = Certificate(
        objective=result.objective,
        violation=float(content["violation"]),
        infeasibility=result.infeasibility,
        dual_bound=result.dual_bound,
        ray=result.dual,
        bound_kind=result.bound_kind,
    )
    return State(
        iteration=result.iterations,
        dual=result.dual,
        primal=primal,
        image=result.image,
        mean_objective=float(content["mean_objective"]),
        certificate=certificate,
        counts=result.counts,
        smoothness=float(content["smoothness"]),
    )


def _read_arrays(path: Path) -> dict[str, Array]:
    try:
        return read_arrays(path)
    except DamagedArchive as error:
        reason = "not a result file of unipd, or damaged"
        if is_checkpoint(path):
            reason = "a checkpoint, not a result: show it with unipd report, or resume its command with --resume"
        raise FileFormatError(str(path), reason) from error
