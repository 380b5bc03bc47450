"""The parameters of the estimator, checked when it is fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import FloatArray
from unipd.apps.completion.deadline import Deadline
from unipd.apps.completion.design import Settings
from unipd.apps.completion.solving import Plan
from unipd.errors import InvalidInput

AUTO = "auto"
PLAIN: dict[str, float] = {"item_ridge": 5.0, "weight_power": 0.5, "rank": 64}
"""Defaults of the plain model."""
SIDED: dict[str, float] = {"item_ridge": 12.0, "weight_power": 0.35, "rank": 48}
"""Defaults with side structure."""


@dataclass(frozen=True)
class Parameters:
    """Checked parameters of :class:`unipd.MatrixCompletion`."""

    settings: Settings
    plan: Plan
    radius: float | None
    """None: chosen by validation."""
    residual: float | None
    """Root mean squared residual of formulation (b); None for the ball."""
    clip: tuple[float, float] | bool
    """The range of predictions; True for that of the training ratings."""
    method: str
    validation_fraction: float
    seed: int
    deadline: Deadline
    """When everything has to end; it is set when the parameters are checked."""

    def in_time(self, share: float = 1.0) -> Parameters:
        """Return the parameters with a plan for what is left of this share of the time."""
        return replace(self, plan=replace(self.plan, seconds=self.deadline.left(share)))


def checked(estimator: Any) -> Parameters:
    """Return the parameters of an estimator, or raise with the name of the one that is wrong."""
    get = vars(estimator)
    residual, limit = get["residual"], get["max_seconds"]
    return Parameters(
        settings=_settings(get),
        plan=_plan(get),
        radius=_radius(get["radius"], without=residual is not None),
        residual=None if residual is None else validate.nonnegative("residual", residual),
        clip=_clip(get["clip"]),
        method=_method(get["method"]),
        validation_fraction=_fraction(get["validation_fraction"]),
        seed=_seed(get["random_state"]),
        deadline=Deadline.in_seconds(None if limit is None else validate.nonnegative("max_seconds", limit)),
    )


def clip_range(clip: tuple[float, float] | bool, values: FloatArray) -> tuple[float, float] | None:
    """Return the range of predictions for given training ratings.

    >>> clip_range(True, np.array([1.0, 5.0])), clip_range(False, np.array([1.0]))
    ((1.0, 5.0), None)
    """
    if isinstance(clip, tuple):
        return clip
    return (float(values.min()), float(values.max())) if clip else None


def _settings(get: dict[str, Any]) -> Settings:
    strengths = [validate.nonnegative(name, get[name]) for name in ("user_strength", "item_strength")]
    return Settings(
        user_ridge=validate.positive("user_ridge", get["user_ridge"]),
        item_ridge=validate.positive("item_ridge", _or_default(get, "item_ridge")),
        weight_power=validate.nonnegative("weight_power", _or_default(get, "weight_power")),
        user_strength=strengths[0] if get["side"] else 0.0,
        item_strength=strengths[1] if get["side"] else 0.0,
    )


def _or_default(get: dict[str, Any], name: str) -> Any:
    """Return a parameter, None standing for the default of the model with or without side structure."""
    return (SIDED if get["side"] else PLAIN)[name] if get[name] is None else get[name]


def _plan(get: dict[str, Any]) -> Plan:
    return Plan(
        accuracy=validate.positive("accuracy", get["accuracy"]),
        rank=validate.integer("rank", _or_default(get, "rank"), minimum=1),
        callback=get["callback"],
        verbose=bool(get["verbose"]),
    )


def _radius(radius: Any, *, without: bool) -> float | None:
    """Return the radius, None where it is chosen or, with ``without``, not needed."""
    if radius is None or isinstance(radius, str):
        if radius == AUTO or (radius is None and without):
            return None
        raise InvalidInput("radius", 'a number above zero or "auto" (None only beside a residual)', repr(radius))
    return validate.positive("radius", radius)


def _clip(clip: Any) -> tuple[float, float] | bool:
    if isinstance(clip, (bool, np.bool_)):
        return bool(clip)
    if not isinstance(clip, (tuple, list)) or len(clip) != 2:
        raise InvalidInput("clip", "True, False or (least, largest)", repr(clip))
    low, high = (validate.number("clip", end) for end in clip)
    if low > high:
        raise InvalidInput("clip", "(least, largest) in this order", repr(clip))
    return low, high


def _method(method: Any) -> str:
    from unipd.methods import choose

    method = "factored" if method == "auto" else method
    known = ("factored", *(name for name in choose.METHODS if name != "factored"))
    if method not in known:
        raise InvalidInput("method", f"one of auto, {', '.join(known)}", repr(method))
    return str(method)


def _fraction(value: Any) -> float:
    fraction = validate.positive("validation_fraction", value)
    if fraction >= 1.0:
        raise InvalidInput("validation_fraction", "a number between 0 and 1", repr(value))
    return fraction


def _seed(state: Any) -> int:
    """Return a seed from a number, from a generator of NumPy (which moves on) or, without one, 0."""
    if isinstance(state, (np.random.RandomState, np.random.Generator)):
        draw = state.integers if isinstance(state, np.random.Generator) else state.randint
        return int(draw(2**31 - 1))
    return validate.integer("random_state", 0 if state is None else state, minimum=0)
