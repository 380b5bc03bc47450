"""How much memory a run will take, before it starts."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from unipd import validate
from unipd.errors import InvalidInput, MemoryForecastError
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


def available_memory() -> int:
    """Return the bytes that a new allocation can count on: the machine's, the container's or the limit's, if less."""
    return min(_machine_memory(), _container_memory(), _left_of_limit())


_limits: list[int] = []


@contextlib.contextmanager
def limited_memory(limit: int | None) -> Generator[None]:
    """Let forecasts count on no more than ``limit`` bytes for the whole process.

    >>> with limited_memory(1):
    ...     available_memory()
    0
    """
    if limit is None:
        yield
        return
    _limits.append(validate.integer("limit", limit, minimum=1))
    try:
        yield
    finally:
        _limits.pop()


def require_room_for_run(problem: Problem, tracker: Any = "image") -> None:
    """Raise when a memory limit is set and the forecast of a run exceeds what is left of it."""
    if not _limits:
        return
    known = isinstance(tracker, str) and tracker != "auto"
    part = forecast(problem, tracker if known else "lowrank" if _is_matrix(problem) else "image")
    needed, held = part.dual + part.primal, resident_memory()
    if held + needed > min(_limits):
        raise MemoryForecastError(
            f"the run needs about {size_text(needed)} beyond the {size_text(held)} that the program holds already: "
            f"more than the memory limit of {size_text(min(_limits))}"
        )


def over_limit() -> bool:
    """Whether a memory limit is set and the process holds more than that."""
    return bool(_limits) and resident_memory() > min(_limits)


def _left_of_limit() -> int:
    return max(0, min(_limits) - resident_memory()) if _limits else sys.maxsize


def resident_memory() -> int:
    """Return the bytes of memory that this process holds now (where the system does not tell, its peak)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as numbers:
            return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak_memory()


def _container_memory() -> int:
    """Return what a control group leaves, or a very large number without one."""
    folder = "/sys/fs/cgroup"
    try:
        with open(f"{folder}/memory.max", encoding="ascii") as limit, open(f"{folder}/memory.current") as used:
            return max(0, int(limit.read()) - int(used.read()))
    except (OSError, ValueError):
        return sys.maxsize


def _machine_memory() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def peak_memory() -> int:
    """Return the largest resident size of this process so far, in bytes."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


def _entries(shape: Any) -> int:
    if shape and isinstance(shape[0], tuple):
        return sum(_entries(part) for part in shape)
    return math.prod(shape)


def size_text(count: float) -> str:
    """Return a number of bytes with its unit.

    >>> size_text(2_500_000)
    '2.5 MB'
    """
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000.0:
            return f"{value:.3g} {unit}"
        value /= 1000.0
    return f"{value:.3g} TB"
