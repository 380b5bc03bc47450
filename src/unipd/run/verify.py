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
    if is_streamed(problem):
        return image, measured(problem, squared_distance(image, problem.b), cost, certificate)
    residual = image - problem.b
    if problem.loss is not None:
        return image, replace(certificate, objective=cost + problem.loss.value(residual), infeasibility=0.0)
    distance = problem.coupling.distance(residual)
    return image, replace(certificate, objective=cost, infeasibility=distance)


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
