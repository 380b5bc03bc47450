"""From a tracker's name to the tracker."""

from __future__ import annotations

from unipd.errors import InvalidInput
from unipd.memory import available_memory, forecast, require_room_for_dense
from unipd.primal import AtomList, Dense, ImageOnly
from unipd.problem import Problem
from unipd.protocols import Tracker

TRACKERS = ("auto", "image", "dense", "atoms")
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
    raise InvalidInput("tracker", f"one of {', '.join(TRACKERS)} or a tracker", repr(tracker))


def is_spectral(problem: Problem) -> bool:
    """Whether the oracle answers with factors of a matrix."""
    return bool(getattr(problem.sharp, "spectral", False))
