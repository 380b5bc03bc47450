"""From a tracker's name to the tracker."""

from __future__ import annotations

from typing import Any

from unipd import validate
from unipd.errors import InvalidInput
from unipd.memory import LOWRANK_LIMIT, SKETCH_RANK, forecast, require_room_for_dense, room_for
from unipd.primal import AtomList, ByBlock, Dense, ImageOnly, LowRankTracker, SketchTracker
from unipd.problem import Problem
from unipd.protocols import SharpOracle, Tracker
from unipd.sharp import Linear, Product, Spectrahedron, TraceBall
from unipd.sharp.counted import bare
from unipd.sharp.spectral_base import SpectralSharp

TRACKERS = ("auto", "image", "dense", "atoms", "lowrank", "sketch")
_SHARE_OF_MEMORY = 0.1


def as_tracker(tracker: Tracker | str, problem: Problem) -> Tracker:
    """Return the tracker of this name; "auto" is an array while it is small beside the memory, else the atoms."""
    if not isinstance(tracker, str):
        if isinstance(tracker, type) or not (hasattr(tracker, "mixed") and hasattr(tracker, "point")):
            raise InvalidInput("tracker", "a name or a tracker with mixed and point", validate.described(tracker))
        return tracker
    if tracker == "auto":
        needed = int(forecast(problem, "dense").primal / _SHARE_OF_MEMORY)
        small = needed <= room_for(needed)
        tracker = "dense" if small and not is_spectral(problem) else "atoms"
    if tracker == "image":
        return ImageOnly()
    if tracker == "atoms":
        return AtomList()
    if tracker == "dense":
        require_room_for_dense(problem)
        return Dense()
    if tracker in ("lowrank", "sketch"):
        return _matrix_tracker(tracker, problem)
    raise InvalidInput("tracker", f"one of {', '.join(TRACKERS)} or a tracker", repr(tracker))


def _matrix_tracker(tracker: str, problem: Problem) -> Tracker:
    """Return the tracker of a matrix; of several blocks, that of every matrix beside arrays."""
    oracle, dtype = _set_of(problem), getattr(problem.map, "domain_dtype", problem.dtype)
    if isinstance(oracle, SpectralSharp):
        return _tracker_of(tracker, oracle, dtype)
    blocks = [_without_objective(block) for block in oracle.oracles] if isinstance(oracle, Product) else []
    if not any(isinstance(block, SpectralSharp) for block in blocks):
        raise InvalidInput("tracker", f"a spectral set X for {tracker!r}", type(problem.sharp).__name__)
    spectral = (_tracker_of(tracker, block, dtype) if isinstance(block, SpectralSharp) else Dense() for block in blocks)
    return ByBlock(tuple(spectral))


def _tracker_of(tracker: str, oracle: SpectralSharp, dtype: Any) -> Tracker:
    """Return the tracker of a matrix; its points have the trace of xbar where X fixes the trace."""
    rows, columns = oracle.shape
    fixed = isinstance(oracle, Spectrahedron) and not isinstance(oracle, TraceBall)
    if tracker == "lowrank":
        return LowRankTracker(min(LOWRANK_LIMIT, rows, columns), trace_correction=fixed)
    return SketchTracker(
        (rows, columns),
        SKETCH_RANK,
        hermitian=oracle.hermitian,
        dtype=dtype,
        trace_correction=fixed,
    )


def is_spectral(problem: Problem) -> bool:
    """Whether the oracle answers with factors of a matrix."""
    return isinstance(_set_of(problem), SpectralSharp)


def _set_of(problem: Problem) -> SharpOracle:
    """Return the oracle of the set itself, under a linear objective."""
    return _without_objective(problem.sharp)


def _without_objective(sharp: SharpOracle) -> SharpOracle:
    inside = bare(sharp)
    return bare(inside.oracle) if isinstance(inside, Linear) else inside
