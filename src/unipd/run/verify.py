"""What is reported of a point, computed afresh from the point itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.methods import Certificate
from unipd.methods.base import measured
from unipd.methods.streamed import is_streamed
from unipd.methods.streamed_measures import squared_distance
from unipd.problem import Problem
from unipd.run.history import relative_gap


def verified(problem: Problem, x: Any, certificate: Certificate) -> tuple[Array, Certificate]:
    """Return A x and the certificate with objective and feasibility computed afresh from x."""
    image = np.asarray(problem.map.image(x)).astype(problem.dtype, copy=False)
    cost = problem.sharp.objective(x)
    squared = squared_distance(image, problem.b) if is_streamed(problem) else None
    objective, infeasibility = measured(problem, None, image, cost, squared)
    return image, replace(certificate, objective=objective, infeasibility=infeasibility)


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
