"""How much memory a run will take, before it starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from unipd import validate
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.memory.certificate import certificate_bytes
from unipd.memory.limits import memory_limit, room_for
from unipd.memory.system import resident_memory, size_text
from unipd.problem import Problem

_DUAL_VECTORS = 12
"""Vectors of the length of b that a method keeps or makes in an iteration."""
_COPIES = 3
"""Points like x that a tracker holds while it makes the next one."""
_DIRECTIONS = 2
"""Arrays like x that an oracle call takes: A^* lam, and what the oracle makes of it."""
_PLACE = 8
_ATOMS = 1000
LOWRANK_LIMIT = 64
"""Rank at which the tracker "lowrank" recompresses."""
SKETCH_RANK = 16
"""Rank of the reconstruction of the tracker "sketch"."""
TRACKERS = ("image", "dense", "atoms", "lowrank", "sketch")
"""Names of the trackers that can be forecast."""


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
    """What the tracker keeps (for a list of atoms: of 1,000 iterations, one pair of factors an atom of matrices)."""
    direction: int = 0
    """A^* lam in an oracle call, an array like x; none for matrices that come as factors, where it is an operator."""
    certificate: int = 0
    """What the oracle's final certificate makes of A^* lam, for matrices that come as factors."""

    @property
    def total(self) -> int:
        """Sum of the parts."""
        return self.map + self.dual + self.primal + self.direction + self.certificate


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
    validate.choice("tracker", tracker, TRACKERS)
    sets, item = _sets(problem.sharp), problem.dtype.itemsize
    return Forecast(
        map=int(getattr(problem.map, "nbytes", 0)),
        dual=(_DUAL_VECTORS + images) * problem.b.nbytes,
        primal=sum(_kept(part, tracker, item) for part in sets),
        direction=sum(_DIRECTIONS * math.prod(part.shape) * item for part in sets if not _is_matrix(part)),
        certificate=max(certificate_bytes(problem, part) for part in sets),
    )


def _sets(oracle: Any) -> list[Any]:
    """Return the oracles of the blocks, each without what stands around it."""
    inside = getattr(oracle, "oracle", None)
    if inside is not None:
        return _sets(inside)
    return [part for block in getattr(oracle, "oracles", ()) for part in _sets(block)] or [oracle]


def _is_matrix(oracle: Any) -> bool:
    """Whether points are matrices that come as factors."""
    return getattr(oracle, "hermitian", None) is not None


def _kept(oracle: Any, tracker: str, item: int) -> int:
    """Return the bytes that a tracker keeps of one block; vectors beside low-rank matrices are arrays."""
    if tracker == "image":
        return 0
    if tracker == "atoms":
        return _ATOMS * _atom_bytes(oracle, item)
    if tracker == "dense" or not _is_matrix(oracle):
        return _COPIES * math.prod(oracle.shape) * item
    columns = LOWRANK_LIMIT if tracker == "lowrank" else 2 * SKETCH_RANK + 1
    return _COPIES * columns * sum(oracle.shape) * item


def _atom_bytes(oracle: Any, item: int) -> int:
    """Return the bytes of one atom: a pair of factors, the numbers of a sparse point with their places, or an array."""
    if _is_matrix(oracle):
        return 2 * sum(oracle.shape) * item
    entries = math.prod(oracle.shape)
    return min(entries * item, getattr(oracle, "atom_entries", entries) * (item + _PLACE))


def require_room_for_dense(problem: Problem, limit: int | None = None) -> None:
    """Raise when xbar as an array would not fit in the memory that is left."""
    needed = forecast(problem, "dense").primal
    room = room_for(needed) if limit is None else limit
    if needed > room:
        sets, item = _sets(problem.sharp), problem.dtype.itemsize
        sparse = any(_atom_bytes(part, item) < math.prod(part.shape) * item for part in sets)
        raise MemoryForecastError(
            f"x of shape {problem.sharp.shape} as an array needs {size_text(needed)} (three copies), "
            f"{size_text(room)} are available: use "
            + ('tracker="atoms" (the atoms with their weights), ' if sparse else "")
            + ('tracker="lowrank" or "sketch" (factors), ' if any(map(_is_matrix, sets)) else "")
            + ('or tracker="image" (A x only)' if sparse else 'tracker="image" (A x only)')
        )


def require_room_for_run(problem: Problem, tracker: Any = "image") -> None:
    """Raise when a memory limit is set and the forecast of a run exceeds what is left of it."""
    limit = memory_limit()
    if limit is None:
        return
    known = isinstance(tracker, str) and tracker != "auto"
    matrices = any(map(_is_matrix, _sets(problem.sharp)))
    part = forecast(problem, tracker if known else "lowrank" if matrices else "image")
    needed, held = part.total - part.map, resident_memory()
    if held + needed > limit:
        raise MemoryForecastError(
            f"the run needs about {size_text(needed)} beyond the {size_text(held)} that the program holds already: "
            f"more than the memory limit of {size_text(limit)}"
        )
