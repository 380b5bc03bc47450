"""What is reported of a point, computed afresh from the point itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.methods import Certificate
from unipd.methods.base import measured
from unipd.methods.streamed import is_streamed
from unipd.methods.streamed_measures import squared_distance
from unipd.problem import Problem
from unipd.records import changed
from unipd.run.history import relative_gap


def verified(problem: Problem, x: Any, certificate: Certificate) -> tuple[Array, Certificate]:
    """Return A x and the certificate with objective and feasibility computed afresh from x."""
    image = np.asarray(problem.map.image(x)).astype(problem.dtype, copy=False)
    cost = problem.sharp.objective(x)
    squared = squared_distance(image, problem.b) if is_streamed(problem) else None
    objective, infeasibility = measured(problem, None, image, cost, squared)
    return image, changed(certificate, objective=objective, infeasibility=infeasibility)


def tracker_error(primal: Any) -> float | None:
    """Return what a tracker that approximates says of its error; None of one that keeps the point itself."""
    error = getattr(primal, "error", None)
    return None if error is None else float(error)


def lies_in_set(problem: Problem, x: Any, error: float | None, accuracy: float) -> bool:
    """Whether a point that a tracker approximates lies in X, up to the accuracy (relative, as ``contains`` takes it).

    Averages of atoms lie in X by themselves, and are not asked about.
    """
    return x is None or not error or bool(problem.sharp.contains(x, accuracy))


def claims(problem: Problem, certificate: Certificate) -> dict[str, Any]:
    """Return what a result says of its point and bound, by the result's own names."""
    return {
        "dual": certificate.dual,
        "objective": certificate.objective,
        "infeasibility": certificate.infeasibility,
        "relative_infeasibility": certificate.infeasibility / max(1.0, problem.norm_b),
        "dual_bound": certificate.dual_bound,
        "gap": relative_gap(problem, certificate.objective, certificate.dual_bound),
        "bound_kind": certificate.kind,
    }
