"""Classes of the library's own that checkpoints take apart in a way of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unipd.atoms import Blocks, SparsePoint
from unipd.dual import DualPoint
from unipd.methods import lbfgs
from unipd.methods.frank_wolfe import FrankWolfeState
from unipd.methods.unipdgrad import UniPDGradState
from unipd.primal import AtomList, Dense, ImageOnly, SketchTracker
from unipd.primal.active_set import ActiveSet, Vertex
from unipd.primal.fixed import Fixed
from unipd.protocols import SharpAnswer
from unipd.run.checkpoint.registry import Fields, attributes, register


def _taken_list(tracker: Any) -> Fields:
    """Return an atom list's own part of the lists that trackers of consecutive iterations share."""
    count, raw = vars(tracker)["_count"], vars(tracker)["_raw"]
    return {**vars(tracker), "_atoms": tracker.atoms, "_raw": raw[:count]}


def _made_list(content: Fields) -> AtomList:
    _require_atoms(content["_atoms"])
    return attributes(AtomList)["make"](content)


def _taken_dense(tracker: Dense) -> Fields:
    """Return an array and the tracker's own part of the list that trackers of consecutive iterations share."""
    return {**vars(tracker), "_apart": tracker.apart}


def _made_dense(content: Fields) -> Dense:
    """Return a tracker; what an earlier version did not write is as in a new one, or follows from the rest."""
    if isinstance(content["_value"], tuple) and all(isinstance(part, np.ndarray) for part in content["_value"]):
        return Dense().mixed(1.0, Blocks(content["_value"]))
    apart = list(content.get("_apart", ()))
    if not all(isinstance(point, SparsePoint) for _, point in apart):
        raise ValueError("something else than sparse atoms set apart")
    return Dense(content["_value"], content.get("_scale", 1.0), apart, len(apart))


_SKETCH = ("_range", "_check", "_corange", "trace", "_empty")
"""What a sketch collects; its Gaussian matrices come from the seed again."""


def _taken_sketch(tracker: SketchTracker) -> Fields:
    made_from = {
        "shape": tracker.shape,
        "rank": tracker.rank,
        "seed": tracker.seed,
        "hermitian": tracker.hermitian,
        "dtype": tracker.dtype,
        "trace_correction": tracker.trace_correction,
    }
    return {**made_from, "collected": {name: vars(tracker)[name] for name in _SKETCH}}


def _made_sketch(content: Fields) -> SketchTracker:
    collected = content.pop("collected")
    tracker = SketchTracker(content.pop("shape"), content.pop("rank"), **content)
    vars(tracker).update(collected)
    return tracker


def _taken_set(active: ActiveSet) -> Fields:
    """Return vertices and weights, from which the rest follows."""
    return {"vertices": active.vertices, "weights": active.weights}


def _made_vertex(content: Fields) -> Vertex:
    _require_atoms([content["atom"]])
    return Vertex(**content)


def _made_frank_wolfe(content: Fields) -> FrankWolfeState:
    """Return a state; earlier versions wrote the first oracle answer as a point of the dual function."""
    if "point" in content:
        point = content.pop("point")
        content["answer"] = None
        if point is not None:
            value = point.conjugate - point.error
            content["answer"] = SharpAnswer(point.atom, value, point.objective, point.error, 0, point.bound)
    return FrankWolfeState(**content)


def _made_unipdgrad(content: Fields) -> UniPDGradState:
    """Return a state; earlier versions wrote the averaged dual vector with the last one in it."""
    if "average_dual" in content:
        content.update(folded_dual=content.pop("average_dual"), last_weight=0.0)
    return UniPDGradState(**content)


def _made_point(content: Fields) -> DualPoint:
    """Return a point of the dual function; earlier versions wrote <lam, b> alone of its pairings."""
    content.pop("linear", None)
    _require_atoms([content["atom"]])
    return DualPoint(**content)


def _require_atoms(things: Any) -> None:
    """Raise unless these are atoms: an iteration may carry them along without a look at them."""
    if not all(hasattr(thing, "nbytes") for thing in things):
        raise ValueError("something else in the place of an atom")


def register_library() -> None:
    """Register the classes of states that are no dataclasses, or not to be taken apart field by field."""
    register(lbfgs.Memory, spare=("pairs",))
    register(SharpAnswer)
    own: list[tuple[type[Any], Callable[[Fields], Any]]] = [
        (FrankWolfeState, _made_frank_wolfe),
        (UniPDGradState, _made_unipdgrad),
        (DualPoint, _made_point),
        (Vertex, _made_vertex),
    ]
    for kind, make in own:
        register(kind, f"{kind.__module__}.{kind.__name__}", make=make)
    register(SketchTracker, take=_taken_sketch, make=_made_sketch)
    register(AtomList, take=_taken_list, make=_made_list)
    register(Dense, take=_taken_dense, make=_made_dense)
    register(ActiveSet, take=_taken_set, make=lambda content: ActiveSet(content["vertices"], content["weights"]))
    for kind in (ImageOnly, Fixed):
        register(kind, **attributes(kind))
