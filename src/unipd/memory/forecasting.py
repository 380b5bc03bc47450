"""How much memory a run will take, before it starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from unipd import validate
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.memory.limits import available_memory, memory_limit
from unipd.memory.system import resident_memory, size_text
from unipd.problem import Problem

_DUAL_VECTORS = 12
"""Vectors of the length of b that a method keeps or makes in an iteration."""
_ITEM = 16
_ATOMS = 1000
LOWRANK_LIMIT = 64
"""Rank at which the tracker "lowrank" recompresses."""
SKETCH_RANK = 16
"""Rank of the reconstruction of the tracker "sketch"."""


@dataclass(frozen=True)
class Forecast:
    """Bytes that a run needs, by part.

    >>> Forecast(map=10, dual=20, primal=30).total
    60
    """

    map: int
    """The data of the linear map, as far as known."""
    dual: int
    """Dual vectors, images and gradients."""
    primal: int
    """What the tracker keeps (for a list of atoms: of 1,000 iterations, one nonzero or one pair of factors an atom)."""

    @property
    def total(self) -> int:
        """Sum of the parts."""
        return self.map + self.dual + self.primal


def forecast(problem: Problem, tracker: str = "dense", *, images: int = 0) -> Forecast:
    """Return the memory that a run needs with this tracker ("image", "dense", "atoms", "lowrank" or "sketch").

    ``images`` counts the images A x that a method keeps beside the tracker: the corrective one has as many as atoms
    in its ``memory``, each of the size of b.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.NuclearBall((300, 200)), unipd.maps.Sampling([0], [0], (300, 200)), [1.0])
    >>> forecast(problem, "sketch").primal < forecast(problem, "dense").primal
    True
    """
    if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("problem", "a unipd.Problem", validate.described(problem))
    validate.integer("images", images, minimum=0)
    factor = _entries(problem.sharp.shape) if not _is_matrix(problem) else sum(problem.sharp.shape)
    item = problem.dtype.itemsize
    primal = {
        "image": 0,
        "dense": 3 * _entries(problem.sharp.shape) * item,
        "atoms": _ATOMS * _atom_bytes(problem),
        "lowrank": 3 * LOWRANK_LIMIT * factor * item,
        "sketch": 3 * (2 * SKETCH_RANK + 1) * factor * item,
    }
    validate.choice("tracker", tracker, primal)
    return Forecast(
        map=int(getattr(problem.map, "nbytes", 0)),
        dual=(_DUAL_VECTORS + images) * problem.b.nbytes,
        primal=primal[tracker],
    )


def _is_matrix(problem: Problem) -> bool:
    """Whether points are matrices that come as factors."""
    return getattr(getattr(problem.sharp, "oracle", problem.sharp), "hermitian", None) is not None


def _atom_bytes(problem: Problem) -> int:
    """Return the bytes of one atom: a pair of factors of a matrix, or one number and its place."""
    shape = problem.sharp.shape
    if _is_matrix(problem):
        return sum(shape) * 2 * problem.dtype.itemsize
    return _ITEM


def require_room_for_dense(problem: Problem, limit: int | None = None) -> None:
    """Raise when xbar as an array would not fit in the memory that is left."""
    room = available_memory() if limit is None else limit
    needed = forecast(problem, "dense").primal
    if needed > room:
        raise MemoryForecastError(
            f"x of shape {problem.sharp.shape} as an array needs {size_text(needed)} (three copies), "
            f"{size_text(room)} are available: use "
            'tracker="atoms" (the atoms with their weights), for matrices "lowrank" or "sketch", '
            'or tracker="image" (A x only)'
        )


def require_room_for_run(problem: Problem, tracker: Any = "image") -> None:
    """Raise when a memory limit is set and the forecast of a run exceeds what is left of it."""
    limit = memory_limit()
    if limit is None:
        return
    known = isinstance(tracker, str) and tracker != "auto"
    part = forecast(problem, tracker if known else "lowrank" if _is_matrix(problem) else "image")
    needed, held = part.dual + part.primal, resident_memory()
    if held + needed > limit:
        raise MemoryForecastError(
            f"the run needs about {size_text(needed)} beyond the {size_text(held)} that the program holds already: "
            f"more than the memory limit of {size_text(limit)}"
        )


def _entries(shape: Any) -> int:
    if shape and isinstance(shape[0], tuple):
        return sum(_entries(part) for part in shape)
    return math.prod(shape)
