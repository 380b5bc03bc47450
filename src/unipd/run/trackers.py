"""From a tracker's name to the tracker."""

from __future__ import annotations

from unipd.errors import InvalidInput
from unipd.memory import LOWRANK_LIMIT, SKETCH_RANK, available_memory, forecast, require_room_for_dense
from unipd.primal import AtomList, Dense, ImageOnly, LowRankTracker, SketchTracker
from unipd.problem import Problem
from unipd.protocols import SharpOracle, Tracker
from unipd.sharp import Linear
from unipd.sharp.spectral_base import SpectralSharp

TRACKERS = ("auto", "image", "dense", "atoms", "lowrank", "sketch")
_SHARE_OF_MEMORY = 0.1


def as_tracker(tracker: Tracker | str, problem: Problem) -> Tracker:
    """Return the tracker of this name; "auto" is an array while it is small beside the memory, else the atoms."""
    if not isinstance(tracker, str):
        if not (hasattr(tracker, "mixed") and hasattr(tracker, "point")):
            raise InvalidInput("tracker", "a name or a tracker with mixed and point", type(tracker).__name__)
        return tracker
    if tracker == "auto":
        small = forecast(problem, "dense").primal <= _SHARE_OF_MEMORY * available_memory()
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
    oracle = _set_of(problem)
    if not isinstance(oracle, SpectralSharp):
        raise InvalidInput("tracker", f"a spectral set X for {tracker!r}", type(problem.sharp).__name__)
    if tracker == "lowrank":
        return LowRankTracker(min(LOWRANK_LIMIT, *oracle.shape))
    dtype = getattr(problem.map, "domain_dtype", problem.dtype)
    rows, columns = oracle.shape
    return SketchTracker((rows, columns), SKETCH_RANK, hermitian=oracle.hermitian, dtype=dtype)


def is_spectral(problem: Problem) -> bool:
    """Whether the oracle answers with factors of a matrix."""
    return isinstance(_set_of(problem), SpectralSharp)


def _set_of(problem: Problem) -> SharpOracle:
    """Return the oracle of the set itself, under a linear objective."""
    return problem.sharp.oracle if isinstance(problem.sharp, Linear) else problem.sharp
