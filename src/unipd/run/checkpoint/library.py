"""The library's own states, trackers and points, registered for checkpoints."""

from __future__ import annotations

from typing import Any

from unipd import atoms
from unipd.dual import DualPoint
from unipd.methods import base, bundle, lbfgs
from unipd.methods.accunipdgrad import AccUniPDGradState
from unipd.methods.active_set import ActiveSetState
from unipd.methods.augmented import Augmented, Evaluation
from unipd.methods.corrective import CorrectiveState
from unipd.methods.factored import FactoredState
from unipd.methods.frank_wolfe import FrankWolfeState
from unipd.methods.rescaled import RescaledState
from unipd.methods.unipdgrad import UniPDGradState
from unipd.primal import AtomList, ByBlock, Dense, ImageOnly, LowRankTracker, SketchTracker
from unipd.primal.active_set import ActiveSet, Vertex
from unipd.primal.fixed import Fixed
from unipd.run.checkpoint.registry import Fields, attributes, register

STATES = (
    UniPDGradState,
    AccUniPDGradState,
    FrankWolfeState,
    ActiveSetState,
    CorrectiveState,
    FactoredState,
    RescaledState,
)
_PARTS = (
    base.Counts,
    base.Certificate,
    DualPoint,
    atoms.SparsePoint,
    atoms.Blocks,
    bundle.Bundle,
    Vertex,
    Augmented,
    Evaluation,
    LowRankTracker,
    ByBlock,
)


def _low_rank(content: Fields) -> atoms.LowRank:
    return atoms.LowRank(content["left"], content["right"], content["weights"])


def _taken_list(tracker: Any) -> Fields:
    """Return an atom list's own part of the lists that trackers of consecutive iterations share."""
    count, raw = vars(tracker)["_count"], vars(tracker)["_raw"]
    return {**vars(tracker), "_atoms": tracker.atoms, "_raw": raw[:count]}


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


def register_library() -> None:
    """Register every class that the library's own methods and trackers put in a state."""
    for kind in (*STATES, *_PARTS):
        register(kind)
    register(atoms.LowRank, make=_low_rank)
    register(lbfgs.Memory, spare=("pairs",))
    register(SketchTracker, take=_taken_sketch, make=_made_sketch)
    register(AtomList, take=_taken_list, make=attributes(AtomList)["make"])
    for kind in (Dense, ImageOnly, Fixed, ActiveSet):
        register(kind, **attributes(kind))
