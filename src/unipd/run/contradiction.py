"""A point below its own lower bound: the sign of an oracle, a map or a coupling that is wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.atoms import Blocks, LowRank, dense
from unipd.errors import OracleError
from unipd.maps import OperatorMap
from unipd.methods import Certificate
from unipd.methods.suspicion import is_foreign
from unipd.problem import Problem
from unipd.protocols import inner, norm
from unipd.run.moment import Moment
from unipd.run.probes import NO_MAXIMISER, answers, kept_points
from unipd.run.verify import verified
from unipd.sharp.lazy_difference import pairing
from unipd.spectral import RIGOROUS

_ROUNDING = {4: 1e-3, 8: 1e-6}
"""Relative size of what rounding may explain, by the bytes of a real number."""
_WRONG_ADJOINT = "the map's adjoint is not the adjoint of its image: Re <A x, lam> and Re <x, A* lam> differ"
_ADVICE = "unipd.doctor.check (unipd doctor FILE.py:NAME) tells more"
_SLACKS = 100.0
"""Multiples of the accuracy that are forgiven besides."""


def require_consistent(moment: Moment, accuracy: float) -> None:
    """Raise when a point of X contradicts a rigorous bound.

    Every x in X has f(x) + phi(A x - b) >= bound - ||lam|| dist(A x - b, K), where lam is the dual vector of the
    bound: the last term pays for the infeasibility of x. Nothing is said while the point is further from feasible than
    the accuracy asked for.
    """
    problem, certificate = moment.problem, moment.state.certificate
    if certificate.kind != RIGOROUS:
        return
    if certificate.infeasibility > accuracy * max(1.0, problem.norm_b):
        return
    forgiven = _rounding(problem) + _SLACKS * accuracy
    if shortfall(problem, certificate, forgiven) <= 0.0:
        return
    x = moment.state.primal.point()
    if x is not None:
        certificate = verified(problem, x, certificate)[1]
    if shortfall(problem, certificate, forgiven) > 0.0:
        raise OracleError(
            f"a point with objective {certificate.objective:.8g} lies below the certified lower bound "
            f"{certificate.dual_bound:.8g}: the sharp oracle, the map or the coupling contradicts itself; "
            "unipd.doctor.check (unipd doctor FILE.py:NAME) finds out which"
        )


def require_proof(moment: Moment, proof: Certificate) -> tuple[int, int]:
    """Raise when a point of X contradicts a proof of infeasibility; return the oracle calls and products made.

    The proof says that f(x) + <lam, A x - b> - h(lam) >= bound for every x in X, and was computed from A^* lam. The
    points that the run has kept, and those that the oracle gives when it is asked again, must satisfy that, and
    Re <A x, lam> = Re <x, A^* lam>: an oracle that does not maximise, or an adjoint that is none, can prove anything.
    So can a ``maximum`` of f that a point of X exceeds.
    """
    problem = moment.problem
    if proof.kind != RIGOROUS or problem.loss is not None:
        return 0, 0
    direction = problem.map.adjoint(proof.dual)
    given, questions = answers(problem, direction)
    points = [*kept_points(problem, moment.state.primal), *given]
    for point in points:
        _require_maximum(problem, point)
        _require_bounded(problem, proof, direction, point)
    return questions, 1 + len(points)


def _require_maximum(problem: Problem, x: Any) -> None:
    """Raise when f(x) exceeds what an oracle of the caller's own says is the largest value of f on X."""
    if not is_foreign(problem.sharp):
        return
    largest, value = problem.sharp.maximum(), problem.sharp.objective(x)
    if value > largest + _rounding(problem) * max(1.0, abs(largest)):
        raise OracleError(
            f"the sharp oracle's maximum says that f is at most {largest:.8g} on X, but a point of X has "
            f"f(x) = {value:.8g}; {_ADVICE}"
        )


def require_adjoint(moment: Moment) -> tuple[int, int]:
    """Raise when the adjoint of a caller's own operator is none; return the oracle calls and products made."""
    problem = moment.problem
    x = moment.state.primal.point() if _is_foreign(problem.map) else None
    if x is None:
        return 0, 0
    dual = moment.state.certificate.dual
    _require_paired(problem, dual, problem.map.image(x), problem.map.adjoint(dual), x)
    return 0, 2


def _require_bounded(problem: Problem, proof: Certificate, direction: Any, x: Any) -> None:
    """Raise unless Re <A x, lam> = Re <x, A^* lam> and the Lagrangian at x is not below the bound."""
    dual, image = proof.dual, problem.map.image(x)
    forgiven = _require_paired(problem, dual, image, direction, x)
    separation = inner(dual, image - problem.b) - problem.coupling.conjugate(dual)
    missing = -separation  # a ray whose bound is infinite separates b from A X
    if math.isfinite(proof.dual_bound):
        missing += proof.dual_bound - problem.sharp.objective(x)
        forgiven = max(forgiven, _rounding(problem) * max(1.0, abs(proof.dual_bound)))
    if missing > forgiven:
        raise OracleError(NO_MAXIMISER)


def _require_paired(problem: Problem, dual: Array, image: Array, direction: Any, x: Any) -> float:
    """Return the size of what rounding explains; raise unless Re <A x, lam> = Re <x, A^* lam> up to that."""
    forgiven = _rounding(problem) * max(norm(dual) * max(norm(image), problem.norm_b), _sizes(direction, x))
    if abs(inner(dual, image) - _paired(direction, x)) > forgiven:
        raise OracleError(f"{_WRONG_ADJOINT}; {_ADVICE}")
    return forgiven


def _rounding(problem: Problem) -> float:
    return _ROUNDING.get(np.finfo(problem.dtype).dtype.itemsize, 1e-6)


def _is_foreign(linear_map: Any) -> bool:
    """Whether a map, or a block of it, is the caller's own code."""
    blocks = getattr(linear_map, "maps", ())
    own = isinstance(linear_map, OperatorMap) or not type(linear_map).__module__.startswith("unipd.")
    return own or any(_is_foreign(block) for block in blocks)


def _paired(direction: Any, x: Any) -> float:
    """Return Re <A^* lam, x>, block by block where there are blocks."""
    if isinstance(x, Blocks):
        return sum(_paired(*pair) for pair in zip(direction, x.parts, strict=True))
    return pairing(direction, x)


def _sizes(direction: Any, x: Any) -> float:
    """Return ||A^* lam|| ||x||, which A x may be small beside; nothing where it is not at hand."""
    if isinstance(x, Blocks):
        return sum(_sizes(*pair) for pair in zip(direction, x.parts, strict=True))
    point = dense(x) if isinstance(direction, np.ndarray) and not isinstance(x, LowRank) else None
    return 0.0 if point is None else norm(direction) * norm(np.asarray(point))


def shortfall(problem: Problem, certificate: Certificate, forgiven: float) -> float:
    """Return by how much the objective is below the bound beyond what infeasibility explains.

    Every x in X has f(x) + phi(A x - b) >= bound - ||lam|| dist(A x - b, K); ``forgiven`` is relative.
    """
    if not (math.isfinite(certificate.objective) and math.isfinite(certificate.dual_bound)):
        return -math.inf
    length = norm(certificate.dual)
    explained, objective = length * certificate.infeasibility, certificate.objective
    scale = max(problem.scale(objective), abs(objective), length * problem.norm_b, explained)
    return certificate.dual_bound - objective - explained - forgiven * scale
