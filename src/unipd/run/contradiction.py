"""A point below its own lower bound: the sign of an oracle, a map or a coupling that is wrong."""

from __future__ import annotations

import math

import numpy as np

from unipd.errors import OracleError
from unipd.methods import Certificate
from unipd.problem import Problem
from unipd.protocols import norm
from unipd.run.stopping import Moment
from unipd.run.verify import verified
from unipd.spectral import RIGOROUS

_ROUNDING = {4: 1e-3, 8: 1e-6}
"""Relative size of what rounding may explain, by the bytes of a real number."""
_SLACKS = 100.0
"""Multiples of the accuracy that are forgiven besides."""


def require_consistent(moment: Moment, accuracy: float) -> None:
    """Raise when a point of X contradicts a rigorous bound.

    Every x in X has f(x) + phi(A x - b) >= bound - ||lam|| dist(A x - b, K), where lam is the dual vector of the
    bound: the last term pays for the infeasibility of x. Nothing is said while the point is further from feasible than
    the accuracy asked for.
    """
    problem, certificate = moment.problem, moment.state.certificate
    if certificate.kind != RIGOROUS or certificate.infeasibility > accuracy * max(1.0, problem.norm_b):
        return
    if _shortfall(problem, certificate, accuracy) <= 0.0:
        return
    x = moment.state.primal.point()
    if x is not None:
        certificate = verified(problem, x, certificate)[1]
    if _shortfall(problem, certificate, accuracy) > 0.0:
        raise OracleError(
            f"a point with objective {certificate.objective:.8g} lies below the certified lower bound "
            f"{certificate.dual_bound:.8g}: the sharp oracle, the map or the coupling contradicts itself; "
            "unipd.doctor.check (unipd doctor FILE.py:NAME) finds out which"
        )


def _shortfall(problem: Problem, certificate: Certificate, accuracy: float) -> float:
    """Return by how much the objective is below the bound beyond what infeasibility and rounding explain."""
    if not (math.isfinite(certificate.objective) and math.isfinite(certificate.dual_bound)):
        return -math.inf
    length = norm(certificate.dual)
    scale = max(problem.scale(certificate.objective), abs(certificate.objective), length * problem.norm_b)
    real = np.finfo(problem.dtype).dtype.itemsize
    allowed = length * certificate.infeasibility + (_ROUNDING.get(real, 1e-6) + _SLACKS * accuracy) * scale
    return certificate.dual_bound - certificate.objective - allowed
