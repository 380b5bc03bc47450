"""How much memory a run will take, before it starts."""

from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass
from typing import Any

from unipd.errors import InvalidInput, MemoryForecastError
from unipd.problem import Problem

_DUAL_VECTORS = 12
"""Vectors of the length of b that a method keeps or makes in an iteration."""
_ITEM = 16
_ATOMS = 1000


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


def forecast(problem: Problem, tracker: str = "dense") -> Forecast:
    """Return the memory that a run with this tracker needs ("image", "dense" or "atoms")."""
    entries = _entries(problem.sharp.shape)
    item = problem.dtype.itemsize
    primal = {"image": 0, "dense": 3 * entries * item, "atoms": _ATOMS * _atom_bytes(problem)}
    if tracker not in primal:
        raise InvalidInput("tracker", f"one of {', '.join(primal)}", repr(tracker))
    return Forecast(
        map=int(getattr(problem.map, "nbytes", 0)),
        dual=_DUAL_VECTORS * problem.b.nbytes,
        primal=primal[tracker],
    )


def _atom_bytes(problem: Problem) -> int:
    """Return the bytes of one atom: a pair of factors of a matrix, or one number and its place."""
    shape = problem.sharp.shape
    if getattr(problem.sharp, "hermitian", None) is not None:
        return sum(shape) * 2 * problem.dtype.itemsize
    return _ITEM


def require_room_for_dense(problem: Problem, limit: int | None = None) -> None:
    """Raise when xbar as an array would not fit in the memory that is left."""
    room = available_memory() if limit is None else limit
    needed = forecast(problem, "dense").primal
    if needed > room:
        raise MemoryForecastError(
            f"x of shape {problem.sharp.shape} as an array needs {_size(needed)} (three copies), {_size(room)} are "
            'available: use tracker="atoms" (the atoms with their weights), for matrices "lowrank" or "sketch", '
            'or tracker="image" (A x only)'
        )


def available_memory() -> int:
    """Return the bytes of memory that a new allocation can count on: the machine's, or the container's if less."""
    return min(_machine_memory(), _container_memory())


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


def _size(count: int) -> str:
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000.0:
            return f"{value:.3g} {unit}"
        value /= 1000.0
    return f"{value:.3g} TB"
