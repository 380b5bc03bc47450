"""Memory: what a run will need, what is available, limits, and the tracker that fits."""

from __future__ import annotations

import math
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from unipd._util import validate
from unipd._util.context import change_context, current_context
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.problem import Problem
from unipd.protocols import Adapted, OracleDefaults, Tracker, TrackerDefaults, declares, unwrap
from unipd.spectral import RIGOROUS, Certification
from unipd.spectral.certify import BLOCK_ENTRIES
from unipd.spectral.operators import is_small
from unipd.trackers import AtomList, ByBlock, Dense, Fixed, ImageOnly, LowRankTracker, SketchTracker
from unipd.trackers.atoms import HasAtoms

__all__ = [
    "Forecast",
    "available_memory",
    "container_memory",
    "forecast",
    "limited_memory",
    "machine_memory",
    "memory_limit",
    "peak_memory",
    "resident_memory",
]


def container_memory() -> int:
    """Return what the control group's limit leaves, or a very large number without a limit.

    See Also
    --------
    available_memory, machine_memory

    Examples
    --------
    >>> container_memory() > 0
    True
    """
    folder = "/sys/fs/cgroup"
    try:
        with open(f"{folder}/memory.max", encoding="ascii") as limit, open(f"{folder}/memory.current") as used:
            return max(0, int(limit.read()) - int(used.read()))
    except (OSError, ValueError):
        return sys.maxsize


def machine_memory() -> int:
    """Return the machine's available memory, or its total memory where that is not reported.

    See Also
    --------
    available_memory, container_memory

    Examples
    --------
    >>> machine_memory() > 0
    True
    """
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def resident_memory() -> int:
    """Return the resident size of this process in bytes (its peak where the current size is not reported).

    See Also
    --------
    peak_memory, available_memory

    Examples
    --------
    >>> resident_memory() > 0
    True
    """
    try:
        with open("/proc/self/statm", encoding="ascii") as numbers:
            return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak_memory()


def peak_memory() -> int:
    """Return the largest resident size of this process so far, in bytes.

    See Also
    --------
    resident_memory, unipd.Result

    Examples
    --------
    >>> peak_memory() > 0
    True
    """
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


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


def limited_memory(limit: int | None) -> AbstractContextManager[Any]:
    """Limit the memory of the process for the runs of this ``with`` block: they end before they exceed ``limit`` bytes.

    Nested limits: the lowest holds. Runs of other threads are not affected.

    Parameters
    ----------
    limit
        Bytes.

    Returns
    -------
    context manager

    Raises
    ------
    InvalidInput
        ``limit``: expected an integer of at least 1.

    See Also
    --------
    memory_limit, available_memory, forecast

    Examples
    --------
    >>> with limited_memory(1):
    ...     available_memory()
    0
    """
    if limit is None:
        return nullcontext()
    inner, outer = validate.integer("limit", limit, minimum=1), memory_limit()
    return change_context(memory_limit=inner if outer is None else min(inner, outer))


def memory_limit() -> int | None:
    """Return the memory limit of this thread's runs in bytes, None without one.

    See Also
    --------
    limited_memory, available_memory

    Examples
    --------
    >>> with limited_memory(2**34):
    ...     memory_limit() == 2**34
    True
    """
    return current_context().memory_limit


def is_over_limit() -> bool:
    """Whether a memory limit is set and the process holds more than that."""
    limit = memory_limit()
    return limit is not None and resident_memory() > limit


def available_memory() -> int:
    """Return the bytes available to a new allocation: the least of the machine's, the container's and the limit's.

    See Also
    --------
    machine_memory, container_memory, memory_limit

    Examples
    --------
    >>> 0 < available_memory() <= machine_memory()
    True
    """
    limit = memory_limit()
    left = sys.maxsize if limit is None else max(0, limit - resident_memory())
    return min(machine_memory(), container_memory(), left)


def require_room(name: str, needed: float, purpose: str = "reading it") -> None:
    """Raise unless ``needed`` bytes of memory are available for a file.

    >>> require_room("ratings.csv", 1000)
    """
    room, limit = available_memory(), memory_limit()
    if needed > room:
        rest = "" if limit is None else f" of the memory limit of {size_text(limit)}, which can be raised"
        problem = f"{purpose} needs about {size_text(needed)} of memory, {size_text(room)} are left{rest}"
        raise MemoryForecastError(f"{name}: {problem}")


_SQUARES = 3
"""Dense matrices of the order of the shorter side: the Gram matrix, a summand of it, and what LAPACK makes of it."""
_WHOLE = 2
"""Arrays of the shape of x that a certificate forms from an operator known by its products."""


def certificate_bytes(problem: Problem, oracle: Any) -> int:
    """Return the bytes of the rigorous certificate of one block, 0 where it has none.

    Only the Gram matrix of the shorter side is formed, and blocks of columns; of operators that are known by their
    products alone the whole matrix, where it is small or a rigorous bound was requested.
    """
    plan: Certification | None = oracle.certification
    if plan is None or min(oracle.shape) > plan.dense_limit:
        return 0
    item, entries = np.result_type(problem.dtype, np.float64).itemsize, math.prod(oracle.shape)
    gram = _SQUARES * min(oracle.shape) ** 2 + 2 * min(BLOCK_ENTRIES, entries)
    if problem.map.has_adjoint_entries and not _has_cost(problem.sharp):
        return gram * item
    is_whole = is_small(oracle.shape, plan.dense_limit) or oracle.certify == RIGOROUS
    return (gram + _WHOLE * entries) * item if is_whole else 0


def _has_cost(oracle: Any) -> bool:
    """Whether a linear cost is subtracted from A^* lam: the difference is known only through its products."""
    return oracle.linear_cost is not None or any(map(_has_cost, oracle.inner_parts))


_DUAL_VECTORS = 12
"""Vectors of the length of b that an iteration stores."""
_COPIES = 3
"""Copies of x that a tracker holds while it computes the next point."""
_DIRECTIONS = 2
"""Arrays of the shape of x in an oracle call: A^* lam, and a temporary of the oracle."""
_PLACE = 8
_ATOMS = 1000
LOWRANK_LIMIT = 64
"""Rank at which the tracker "lowrank" recompresses."""
SKETCH_RANK = 16
"""Rank of the reconstruction of the tracker "sketch"."""
_SHARE_OF_MEMORY = 0.1
"""Share of the available memory that the tracker "auto" may take for an array."""
TRACKERS = ("image", "dense", "atoms", "lowrank", "sketch")
"""Names of the trackers that can be forecast."""


@dataclass(frozen=True)
class Forecast:
    """Bytes that a run needs, by part.

    Parameters
    ----------
    map
        The data of the linear map, as far as known.
    dual
        Dual vectors, images and gradients.
    primal
        What the tracker stores (a list of atoms: for 1,000 iterations, with one pair of factors per matrix atom).
    direction
        A^* lam in an oracle call, an array of the shape of x; 0 for spectral sets, where it is an operator.
    certificate
        Temporary matrices of the final certificate of a spectral set.

    See Also
    --------
    forecast, available_memory

    Examples
    --------
    >>> Forecast(map=10, dual=20, primal=30).total
    60
    """

    map: int
    dual: int
    primal: int
    direction: int = 0
    certificate: int = 0

    @property
    def total(self) -> int:
        """Sum of the parts."""
        return self.map + self.dual + self.primal + self.direction + self.certificate


def forecast(problem: Problem, tracker: str = "dense") -> Forecast:
    """Return the memory that a run needs with this tracker ("image", "dense", "atoms", "lowrank" or "sketch").

    Parameters
    ----------
    problem
        The :class:`unipd.Problem`.
    tracker
        Name of the tracker.

    Raises
    ------
    InvalidInput
        ``problem``: expected a unipd.Problem.

    See Also
    --------
    Forecast, limited_memory, unipd.doctor.check_memory

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.NuclearBall((300, 200)), unipd.maps.Sampling([0], [0], (300, 200)), [1.0])
    >>> forecast(problem, "sketch").primal < forecast(problem, "dense").primal
    True
    """
    if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("problem", "a unipd.Problem", validate.describe_type(problem))
    validate.choice("tracker", tracker, TRACKERS)
    sets, item = _sets(problem.sharp), problem.dtype.itemsize
    return Forecast(
        map=problem.map.nbytes,
        dual=_DUAL_VECTORS * problem.b.nbytes,
        primal=sum(_tracker_bytes(part, tracker, item) for part in sets),
        direction=sum(_DIRECTIONS * math.prod(part.shape) * item for part in sets if not _is_matrix(part)),
        certificate=max(certificate_bytes(problem, part) for part in sets),
    )


def _sets(oracle: Any) -> list[Any]:
    """Return the oracles of the sets of all blocks, without objectives and wrappers around them."""
    return [part for inside in oracle.inner_parts for part in _sets(inside)] or [oracle]


def _is_matrix(oracle: Any) -> bool:
    """Whether atoms are matrices given by factors."""
    return oracle.hermitian is not None


def _is_matrix_set(oracle: Any) -> bool:
    """Whether X is one set of such matrices, not a product."""
    return not isinstance(oracle.shape[0], tuple) and _is_matrix(_sets(oracle)[0])


def _tracker_bytes(oracle: Any, tracker: str, item: int) -> int:
    """Return the bytes that a tracker keeps of one block; in a product with low-rank matrices, vectors are arrays."""
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
    return min(entries * item, (oracle.atom_entries or entries) * (item + _PLACE))


def _require_room_for_dense(problem: Problem) -> None:
    """Raise when xbar as an array would not fit in the memory that is left."""
    needed, available = forecast(problem, "dense").primal, available_memory()
    if needed > available:
        sets, item = _sets(problem.sharp), problem.dtype.itemsize
        is_sparse = any(_atom_bytes(part, item) < math.prod(part.shape) * item for part in sets)
        smaller = {
            'tracker="atoms" (the atoms with their weights)': is_sparse,
            'tracker="lowrank" or "sketch" (factors)': any(map(_is_matrix, sets)),
            'tracker="image" (A x only)': True,
        }
        raise MemoryForecastError(
            f"x of shape {problem.sharp.shape} as an array needs {size_text(needed)} (three copies), "
            f"{size_text(available)} are available: use {', or '.join(name for name in smaller if smaller[name])}"
        )


def require_room_for_run(problem: Problem, tracker: Any = "image", workspace: int | None = None) -> None:
    """Raise when the forecast of a run exceeds what is left of a memory limit.

    A method that knows its ``workspace`` (bytes, instead of a tracker's) is held to the machine's memory as well.
    """
    limit = memory_limit()
    if limit is None and workspace is None:
        return
    if not isinstance(tracker, str) or tracker == "auto":
        has_matrices = any(map(_is_matrix, _sets(problem.sharp)))
        tracker = "lowrank" if has_matrices and workspace is None else "image"
    part = forecast(problem, tracker)
    needed = part.total - part.map if workspace is None else workspace + part.dual + part.certificate
    held, available = resident_memory(), available_memory()
    if limit is not None and held + needed > limit:
        raise MemoryForecastError(
            f"the run needs about {size_text(needed)} in addition to the {size_text(held)} that the program holds: "
            f"more than the memory limit of {size_text(limit)}"
        )
    if workspace is not None and needed > available:
        raise MemoryForecastError(
            f"the run needs about {size_text(needed)} of memory, {size_text(available)} are available: "
            "ask for a lower accuracy or a lower rank"
        )


_STATE_VECTORS = 90
"""Complex vectors of length 2^q in use at once: a Krylov basis, quasi-Newton pairs, copies."""
_BYTES_PER_STRING = 180
"""Bytes for every Pauli string: masks, their sorted form, and dual vectors."""
_MOST_FORECAST_QUBITS = 200
"""No forecast is made for more qubits than these."""


def estimate_state_bytes(qubits: int, count: int, *, double: bool = False) -> int:
    """Return the bytes that fitting a quantum state to ``count`` Pauli strings takes, from the sizes alone.

    >>> 2e7 < estimate_state_bytes(14, 138_099) < 2e8
    True
    """
    entry = 16 if double else 8
    return _STATE_VECTORS * entry * (1 << qubits) + _BYTES_PER_STRING * count


def require_room_for_state(qubits: int, count: int, *, double: bool = False) -> int:
    """Return the number of qubits; raise if it is not positive or the fit would exceed the available memory.

    >>> require_room_for_state(4, 256)
    4
    """
    from unipd.maps.pauli.strings import MOST_QUBITS  # its package loads Numba

    checked = validate.integer("qubits", qubits, minimum=1)
    if checked <= _MOST_FORECAST_QUBITS:
        needed, available = estimate_state_bytes(checked, count, double=double), available_memory()
        if needed > available:
            limit = memory_limit()
            rest = "" if limit is None else f" of the limit of {size_text(limit)} (the program itself takes the rest)"
            raise MemoryForecastError(
                f"a state of {checked} qubits needs about {size_text(needed)} of memory, "
                f"{size_text(available)} are available{rest}"
            )
    if checked > MOST_QUBITS:
        raise InvalidInput("qubits", f"at most {MOST_QUBITS}", repr(qubits))
    return checked


_TRACKER_MEMBERS = ("nbytes", "exact_objective", "error", "has_shared_atoms")


class AdaptedTracker(Adapted):
    """A user-supplied tracker with the defaults of what it lacks."""

    defaults = TrackerDefaults

    def mix(self, gamma: float, atom: Any) -> AdaptedTracker:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        return AdaptedTracker(self.part.mix(gamma, atom))


def as_tracker(tracker: Tracker | str, problem: Problem) -> Tracker:
    """Return the tracker of this name, or the given one.

    "auto" keeps the atoms of a matrix, and an array for other points where that takes less than a tenth of the memory.
    """
    if not isinstance(tracker, str):
        validate.has_parts("tracker", tracker, "a name or a tracker", ("mix", "point"))
        complete = all(declares(tracker, name) for name in _TRACKER_MEMBERS)
        return tracker if complete else cast("Tracker", AdaptedTracker(tracker))
    if tracker == "auto":
        small = forecast(problem, "dense").primal <= _SHARE_OF_MEMORY * available_memory()
        return Dense() if small and not _is_matrix_set(problem.sharp) else AtomList()
    if tracker in ("lowrank", "sketch"):
        return _matrix_tracker(tracker, problem)
    plain = {"image": ImageOnly, "atoms": AtomList, "dense": Dense}
    if tracker not in plain:
        raise InvalidInput("tracker", f"one of auto, {', '.join(TRACKERS)} or a tracker", repr(tracker))
    if tracker == "dense":
        _require_room_for_dense(problem)
    return plain[tracker]()


def tracker_name(tracker: Tracker) -> str:
    """Return how a tracker stores x, in the words of ``tracker=``; the class of a user-supplied one.

    >>> tracker_name(AtomList()), tracker_name(Dense())
    ('atoms', 'dense')
    """
    if isinstance(tracker, HasAtoms):
        return "atoms"
    if isinstance(tracker, ByBlock):
        return ", ".join(map(tracker_name, tracker.trackers))
    names: Any = {
        Dense: "dense",
        ImageOnly: "image",
        Fixed: "factors",
        LowRankTracker: "lowrank",
        SketchTracker: "sketch",
    }
    return names.get(type(tracker), type(unwrap(tracker)).__name__)


def _matrix_tracker(tracker: str, problem: Problem) -> Tracker:
    """Return the tracker of a matrix; for a product, one tracker per matrix block and arrays for the other blocks."""
    sets = _sets(problem.sharp)
    if not any(map(_is_matrix, sets)):
        raise InvalidInput("tracker", f"a spectral set X for {tracker!r}", type(unwrap(problem.sharp)).__name__)
    parts = [_tracker_of(tracker, part, problem.dtype) if _is_matrix(part) else Dense() for part in sets]
    return parts[0] if _is_matrix_set(problem.sharp) else ByBlock(tuple(parts))


def _tracker_of(tracker: str, oracle: OracleDefaults, dtype: Any) -> Tracker:
    """Return the tracker of a matrix; its points have the trace of xbar where X fixes the trace."""
    factors = oracle.factors() if oracle.hermitian else None
    fixed = factors is not None and factors.fixed_trace is not None
    if tracker == "lowrank":
        return LowRankTracker(min(LOWRANK_LIMIT, *oracle.shape), trace_correction=fixed)
    is_hermitian = bool(oracle.hermitian)
    return SketchTracker(oracle.shape, SKETCH_RANK, hermitian=is_hermitian, dtype=dtype, trace_correction=fixed)
