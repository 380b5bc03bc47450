"""From the template's result to the program's: original units, the way back from a face, error measures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.sdp.data import SdpData
from unipd.apps.sdp.formulate import Formulation
from unipd.apps.sdp.result import SdpResult, dimacs_errors
from unipd.apps.sdp.trace import price_of
from unipd.run import Result
from unipd.status import Status

FACE_LOSS = 0.05
"""Share of the accuracy that a finite multiplier of a face may cost."""


def finish(form: Formulation, result: Result, accuracy: float, maximise: bool, constant: float = 0.0) -> SdpResult:
    """Return the result of the program, everything measured anew in the units of the data."""
    data, sign = form.analysis.data, -1.0 if maximise else 1.0
    x = None if result.x is None else form.point(result.x)
    both = data.extended.image(x) if x is not None else np.full(data.size + 1, math.nan)
    objective, image = float(both[0]), both[1:]
    violation = data.violation(image)
    infeasibility = float(np.linalg.norm(violation)) / (1.0 + float(np.linalg.norm(data.b)))
    dual, bound, bottom = _full_dual(form, result, accuracy)
    slack = data.extended.adjoint(np.concatenate([np.ones(1), dual]))
    scale = max(1.0, abs(objective))
    gap = (objective - bound) / scale
    status, message = result.status, result.message
    if status is Status.SOLVED and not (infeasibility <= accuracy and abs(gap) <= accuracy):
        status, message = Status.STALLED, Status.STALLED.message
    return SdpResult(
        status=status,
        message=message + form.trace.statement,
        objective=sign * objective + constant,
        dual_bound=sign * bound + constant,
        gap=gap,
        infeasibility=infeasibility,
        bound_kind=result.bound_kind,
        x=x,
        dual=dual,
        slack=slack,
        dimacs_errors=errors_of(data, violation, dual, slack, x, bottom, objective),
        trace_bound=form.trace,
        blocks=data.blocks,
        accuracy=accuracy,
        method=result.method,
        iterations=result.iterations,
        counts=result.counts,
        seconds=result.seconds,
        peak_memory_bytes=result.peak_memory_bytes,
        history=result.history,
        problem=result.problem,
        image=image,
        eps=getattr(result.state, "eps", None),
        dual_norm=float(np.linalg.norm(result.dual)),
    )


def _bottom(form: Formulation, result: Result) -> float:
    """Return the lower bound of the smallest eigenvalue of (Q^T) S (Q) that the dual bound rests on."""
    coupled = form.problem.coupling.conjugate(result.dual)
    value = result.dual_bound + float(result.dual @ form.problem.b) + coupled
    return value / form.trace.value


def _full_dual(form: Formulation, result: Result, accuracy: float) -> tuple[Array, float, float]:
    """Return the multipliers of all constraints, the bound that they give, and the bottom of their slack matrix.

    Where multipliers y with A^*(y) >= I prove the trace bound, -lambda y joins them for the smallest eigenvalue
    lambda: the slack becomes psd and the bound stays. With a level, S - lambda (A^*(y) + level C) is psd too, and the
    bound is that of the multipliers divided by the factor of C, for X of any trace.
    """
    face, dual, bound = form.analysis.face, form.unscaled(result.dual), result.dual_bound
    if not math.isfinite(bound):
        return (dual if face is None else np.insert(dual, face.constraint, 0.0)), bound, -math.inf
    bottom = _bottom(form, result)
    if face is not None:
        loss = FACE_LOSS * accuracy * max(1.0, abs(bound))
        slack = form.joint.joint.slack(result.dual)
        multiplier = face.multiplier(slack, bottom, loss / form.trace.value)
        dual, bound, bottom = (
            np.insert(dual, face.constraint, multiplier),
            bound - loss,
            bottom - loss / form.trace.value,
        )
    y = form.trace.multipliers
    if y is not None and (form.trace.fixed or bottom < 0.0):
        dual, bottom = (dual - bottom * y) / (1.0 - bottom * form.trace.level), 0.0
    if form.trace.level > 0.0:
        bound = -price_of(form.analysis.data, dual)
    return dual, bound, bottom


def errors_of(
    data: SdpData, violation: Array, dual: Array, slack: Any, x: Any, bottom: float, objective: float
) -> tuple[float, ...]:
    """Return the error measures of the DIMACS challenge; ``bottom`` bounds the smallest eigenvalue of the slack."""
    largest = float(np.abs(data.cost.value).max()) if data.cost.value.size else 0.0
    product = math.nan if x is None else float(x.inner(slack))
    return dimacs_errors(data.b, largest, violation, bottom, (objective, -price_of(data, dual), product))
