"""Programs without a solution: proofs of infeasibility and improving rays, checked in the units of the data."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unipd._typing import Array
from unipd.apps.sdp.cones import measure_margins, measure_size, split_blocks
from unipd.apps.sdp.data import PSD, SdpData
from unipd.atoms import LowRank
from unipd.memory import peak_memory
from unipd.run import Result
from unipd.run.result import ProblemFacts
from unipd.spectral import RIGOROUS, smallest_eigenpair
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.apps.sdp.program import SDP

EXCLUDED_MULTIPLE = 1e6
"""Multipliers prove infeasibility if they exclude X of this multiple of the trace that b requires, or of any trace."""
RAY_RESIDUAL = 1e-8
"""Change of the constraints along a ray, as a share of that of the objective (matrices of unit norm)."""
NEGLIGIBLE_VIOLATION = 1e-3
"""A point that violates the constraints by at most this, relative to b, counts as nearly feasible."""


class Separation(NamedTuple):
    """Multipliers y with b^T y < 0 whose matrix sum_i y_i A_i is psd, or nearly."""

    dual: Array
    excluded: float
    """No X up to this trace is feasible: inf where the matrix is proved psd."""


class Ray(NamedTuple):
    """A direction D of size 1 in the cone that keeps feasible X feasible."""

    direction: LowRank
    objective: float
    """<C, D>, negative where the objective improves."""
    residual: float
    """How far D is from preserving the constraints, with matrices of unit norm."""


def find_separation(data: SdpData, dual: Array) -> Separation | None:
    """Return what multipliers (in the units of the data) prove, None where b^T y >= 0.

    For every feasible X, margin * size(X) <= <A^*(y), X> <= b^T y < 0: a margin >= 0 excludes every X.

    >>> from unipd.maps.sdp import Entries
    >>> one = Entries.from_matrices([np.eye(2)])
    >>> find_separation(SdpData(2, one, one, np.array([-1.0]), np.array([-1.0])), np.ones(1)).excluded
    inf
    """
    value = data.support_of_bounds(dual)
    if not value < 0.0:
        return None
    unit = dual / -value
    adjoint = data.cost_and_constraints.adjoint(np.concatenate([np.zeros(1), unit]))
    margin = float(measure_margins(data.blocks, adjoint).min())
    return Separation(unit, math.inf if margin >= 0.0 else -1.0 / margin)


def find_ray(data: SdpData, point: LowRank) -> Ray | None:
    """Return the direction of a point as a ray along which the objective improves, measured anew; or None."""
    size = measure_size(data, point)
    if not 0.0 < size < math.inf:
        return None
    direction = LowRank(point.left, point.left, point.weights / size)
    both = data.cost_and_constraints.image(direction)
    image = both[1:]
    growth = np.maximum(np.where(np.isfinite(data.upper), image, 0.0), np.where(np.isfinite(data.lower), -image, 0.0))
    ray = Ray(direction, float(both[0]), data.relative_norm(np.maximum(growth, 0.0)))
    rate = -ray.objective / (float(np.linalg.norm(data.cost.value)) or 1.0)
    return ray if rate > 0.0 and ray.residual <= RAY_RESIDUAL * rate else None


def find_unused_ray(data: SdpData) -> Ray | None:
    """Return a ray in a psd block that no constraint has entries in, where C has a negative eigenvalue; or None.

    >>> from unipd.apps.sdp.data import Block
    >>> from unipd.maps.sdp import Entries
    >>> cost, rows = Entries([0], [1], [1], [-2.0]), Entries([0], [0], [0], [1.0])
    >>> find_unused_ray(SdpData(2, cost, rows, np.ones(1), np.ones(1), (Block(0, 1), Block(1, 1)))).objective
    -2.0
    """
    if data.is_used.all():
        return None
    parts = split_blocks(data.blocks, data.slack(np.zeros(data.size)))
    for block, part, is_used in zip(data.blocks, parts, data.is_used, strict=True):
        if block.kind == PSD and not is_used and part.any():
            left = np.zeros((data.order, 1))
            left[block.rows, 0] = smallest_eigenpair(part).vector
            ray = find_ray(data, LowRank(left, left, np.ones(1)))
            if ray is not None:
                return ray
    return None


def infeasible_result(program: SDP, message: str, accuracy: float, started: float, dual: Array) -> Result:
    """Return the result of a program without feasible X, which ``dual`` proves."""
    if program.sdpa:
        message += " In SDPA's terms the dual problem, max <F0, Y>, is infeasible."
    return Result(
        status=Status.INFEASIBLE,
        note=message,
        image=np.full(program.data.size, math.nan),
        dual=dual,
        dual_bound=-math.inf if program.maximise else math.inf,
        bound_kind=RIGOROUS,
        extras=_extras(),
        **_common_fields(program, accuracy, started),
    )


def separated_result(program: SDP, proof: Separation, accuracy: float, started: float) -> Result:
    """Return the result of a program that multipliers prove infeasible."""
    message = (
        "No X is feasible: the dual vector returned makes sum y_i A_i psd (proved by Cholesky factorisations) and "
        "b^T y negative."
        if math.isinf(proof.excluded)
        else f"No X of trace at most {proof.excluded:.1e} is feasible: the dual vector returned makes b^T y = -1, and "
        f"no eigenvalue of sum y_i A_i is below {-1.0 / proof.excluded:.0e} (proved by Cholesky factorisations)."
    )
    return infeasible_result(program, message, accuracy, started, proof.dual)


def unbounded_result(program: SDP, ray: Ray, feasible: str, accuracy: float, started: float) -> Result:
    """Return the result of a program whose objective improves forever along a ray; ``feasible``: from where."""
    sign = -1.0 if program.maximise else 1.0
    message = (
        "The objective is unbounded and the dual problem is infeasible: along the psd direction X returned, of trace "
        f"1, the constraints change by {ray.residual:.0e} (matrices of unit norm) and the objective by "
        f"{sign * ray.objective:.3g}. {feasible}"
    )
    if program.sdpa:
        message += " In SDPA's terms the primal problem, min c'x, is infeasible and its dual, max <F0, Y>, unbounded."
    figures = {"ray_objective": sign * ray.objective, "ray_residual": ray.residual}
    return Result(
        status=Status.UNBOUNDED,
        note=message,
        x=ray.direction,
        image=program.data.cost_and_constraints.image(ray.direction)[1:],
        dual=np.zeros(program.data.size),
        dual_bound=-sign * math.inf,
        extras={**_extras(), **figures},
        **_common_fields(program, accuracy, started),
    )


def describe_feasible(data: SdpData, infeasibility: float) -> str:
    """Return what is known of feasible points, from which a ray starts."""
    if not data.violation(np.zeros(data.size)).any():
        return "X = 0 is feasible."
    if infeasibility <= NEGLIGIBLE_VIOLATION:
        return f"An X that meets the constraints up to {infeasibility:.0e} is known."
    return "Whether any X is feasible was not decided: if none is, the program is infeasible as well."


def _extras() -> dict[str, Any]:
    return {"rank": 0, "dimacs_errors": (math.nan,) * 6, "trace_bound": None, "trace_bound_reason": None}


def _common_fields(program: SDP, accuracy: float, started: float) -> dict[str, Any]:
    """Return the fields of a result whose point is none."""
    return {
        "accuracy": accuracy,
        "method": "alternative",
        "seconds": time.perf_counter() - started,
        "peak_memory_bytes": peak_memory(),
        "facts": ProblemFacts(problem=repr(program), maximise=program.maximise),
    }
