"""Certificates by rays: dual ones that separate b from A X - K, and primal ones along which the objective improves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from unipd._typing import Array
from unipd._util.arrays import inner, norm
from unipd.errors import UnboundedOracle
from unipd.maps.base import adjoint_norm
from unipd.memory import peak_memory
from unipd.problem import Problem
from unipd.run.result import ProblemFacts, Result
from unipd.scales import ratio
from unipd.status import Status

NEGLIGIBLE = 0.75
"""A^* lam counts as zero below eps^0.75 ||A|| ||lam||: 2e-12 in double precision, 6e-6 in single."""
SEPARATION = 1e3
"""Multiple of that threshold by which lam must separate b, relative to ||lam|| ||b||."""
RAY_LENGTH = 2.0**20
"""How far along a ray its points are checked, relative to the finite part of the point at infinity."""
PROJECTIONS = 40
"""Conjugate gradient steps towards the nearest ray that may separate."""


class ImprovingRay(NamedTuple):
    """A checked direction of recession along which the objective improves."""

    ray: Array
    """d, of unit length."""
    objective: float
    """Change of the objective per unit of length: negative."""
    residual: float
    """Distance of A d from the directions of recession of K, relative to the size of A, both in equilibrated rows."""
    infeasibility: float
    """Relative infeasibility of the finite part of the point at infinity, from which the ray starts; 0 for a loss."""


def is_separating(problem: Problem, dual: Array) -> bool:
    """Whether lam proves that A x - b in K has no solution x in X, whatever f is.

    With x = (x_1, ..., x_m) it does when A_i^* lam = 0 for every unbounded block i, and

        -<lam, b> - h(lam) - sum over the bounded blocks of sigma_{X_i}(-A_i^* lam) > 0.

    Where f has no maximum on X, no finite bound exceeds it, and such a ray is the proof. Both numbers are compared with
    their rounding errors, ||D A_i|| ||lam / D|| and ||D b|| ||lam / D||, where D equilibrates the rows, so that nothing
    depends on the units of A, its rows and blocks, b, f or lam: the proof is exact for some A whose every block is
    within eps^0.75 ||D A_i|| of the one given, in equilibrated rows. ||D A_i|| is estimated from below, by the norm of
    A_i^* D g / ||g|| for a random g.
    """
    factors = _row_factors(problem)
    length = norm(dual / factors)
    if not (0.0 < length < math.inf):
        return False
    ray = dual / length
    bounded, free = _adjoint_by_block(problem, -ray)
    supports = [oracle.support(direction) for oracle, direction in bounded]
    margin = -inner(ray, problem.b) - problem.coupling.conjugate(ray) - sum(supports)
    negligible = problem.epsilon**NEGLIGIBLE
    if not margin > SEPARATION * negligible * (norm(factors * problem.b) + sum(map(abs, supports))):
        return False
    generator = np.random.default_rng(0)
    probes = _adjoint_by_block(problem, factors * _random_unit(problem, generator))[1]
    sizes = [adjoint_norm(probe, generator) for probe in probes]
    return all(adjoint_norm(part, generator) <= negligible * size for part, size in zip(free, sizes, strict=True))


def improving_ray(problem: Problem, atom: Any) -> ImprovingRay | None:
    """Return the ray of a point at infinity that an oracle gave, if the objective improves along it without end.

    The point represents x + t d for large t. The ray d proves that the problem is unbounded, if it is feasible at all,
    when x + t d lies in X, A d is a direction of recession of K up to rounding (eps^0.75 ||D A|| ||d||, where D
    equilibrates the rows), and f(x + t d) + phi(A x + t A d - b) decreases at a rate that does not vanish: checked at
    t, 2 t and 4 t.
    """
    is_array = isinstance(atom, np.ndarray) and atom.shape == problem.sharp.shape and atom.dtype.kind == "f"
    if not is_array or np.isnan(atom).any():
        return None
    infinite = np.isinf(atom)
    x, ray = np.where(infinite, 0.0, atom), np.where(infinite, np.sign(atom), 0.0)
    unit, length = ray / norm(ray), RAY_LENGTH * (norm(x) or 1.0)
    points = [x + factor * length * unit for factor in (1.0, 2.0, 4.0)]
    if problem.sharp.has_membership_test and not all(map(problem.sharp.contains, points)):
        return None
    generator, factors = np.random.default_rng(0), _row_factors(problem)
    size = adjoint_norm(problem.map.adjoint(factors * _random_unit(problem, generator)), generator)
    coupling = problem.coupling if problem.rows is None else problem.rows.coupling
    residual = coupling.distance(length * factors * problem.map.image(unit)) / length  # 0 for a loss
    near, middle, far = (_objective_at(problem, point) for point in points)
    early, late = (middle - near) / length, (far - middle) / (2.0 * length)
    is_steady = late < 0.0 and late <= 0.5 * early and near - far > SEPARATION * problem.epsilon * abs(near)
    if not (is_steady and residual <= problem.epsilon**NEGLIGIBLE * size):
        return None
    start = problem.infeasibility(problem.map.image(x) - problem.b) if problem.sharp.contains(x) else math.inf
    return ImprovingRay(unit, late, ratio(residual, size), start)


_FEASIBLE_POINT_TEXT = {
    True: "A feasible point is known.",
    False: "Whether any point is feasible was not decided: if none is, the problem is infeasible as well.",
}


def unbounded_result(problem: Problem, error: UnboundedOracle, accuracy: float, reached: float) -> Result:
    """Return the result of a problem whose oracle gave a ray of unbounded improvement; else raise its error again.

    ``reached`` is the relative infeasibility of the run's last point.
    """
    found = improving_ray(problem, error.atom)
    if found is None:
        raise error
    is_known = problem.loss is not None or min(reached, found.infeasibility) <= accuracy
    return Result(
        status=Status.UNBOUNDED,
        note=f"{Status.UNBOUNDED.message} {_FEASIBLE_POINT_TEXT[is_known]}",
        x=found.ray,
        image=problem.map.image(found.ray),
        dual_bound=-math.inf,
        accuracy=accuracy,
        peak_memory_bytes=peak_memory(),
        problem=problem,
        facts=ProblemFacts(problem=repr(problem), loss=problem.loss is not None),  # its scales may be infinite
        extras={
            "ray_objective": found.objective,
            "ray_residual": found.residual,
            "is_feasible_point_known": is_known,
        },
    )


def _row_factors(problem: Problem) -> Any:
    """Return the diagonal of D, which equilibrates the rows: 1 where their norms are equal or unknown."""
    return 1.0 if problem.rows is None else problem.rows.factors


def _random_unit(problem: Problem, generator: np.random.Generator) -> Array:
    """Return a random dual vector of norm 1."""
    probe = generator.standard_normal(problem.dual_shape).astype(problem.dtype)
    return probe / norm(probe)


def _objective_at(problem: Problem, x: Array) -> float:
    """Return f(x) + phi(A x - b), without the constraint of a set."""
    loss = problem.coupling.penalty(problem.map.image(x) - problem.b) if problem.has_penalty else 0.0
    return problem.sharp.objective(x) + loss


def nearest_ray(problem: Problem, dual: Array) -> Array:
    """Return the projection of lam / ||lam / D|| onto the vectors with A_i^* lam = 0 for every unbounded block.

    A method approaches such a ray without reaching it. D equilibrates the rows. The least-squares problem
    min ||D A_i z - lam / D|| over those blocks is solved by conjugate gradients, whose residual times D is the
    projection; A_i^* lam must be arrays.
    """
    factors, in_blocks = _row_factors(problem), isinstance(problem.sharp.shape[0], tuple)
    residual = dual / factors
    size = norm(residual)
    if not (0.0 < size < math.inf):
        return dual
    residual = residual / size
    gradient = _free_arrays(problem, factors * residual)
    if gradient is None:
        return dual
    direction, gradient_sq = gradient, _norm_sq(gradient)
    for _ in range(min(PROJECTIONS, 2 * residual.size)):
        image = factors * problem.map.image(direction if in_blocks else next(iter(direction)))
        image_sq = inner(image, image)
        if not (gradient_sq > 0.0 and image_sq > 0.0):
            break
        residual = residual - (gradient_sq / image_sq) * image
        gradient, previous_sq = _free_arrays(problem, factors * residual) or gradient, gradient_sq
        gradient_sq = _norm_sq(gradient)
        beta = gradient_sq / previous_sq
        direction = tuple(new + beta * old for new, old in zip(gradient, direction, strict=True))
    return factors * residual


def _adjoint_by_block(problem: Problem, dual: Array) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
    """Return the bounded blocks, as pairs of oracle and A_i^* lam, and A_i^* lam of the others.

    A bounded block whose oracle is inexact counts among the others: its support function is known from below only.
    """
    oracles, directions = _blocks(problem, problem.map.adjoint(dual))
    pairs = list(zip(oracles, directions, strict=True))
    bounded = [pair for pair in pairs if _is_bounded(pair[0])]
    return bounded, tuple(direction for oracle, direction in pairs if not _is_bounded(oracle))


def _free_arrays(problem: Problem, dual: Array) -> tuple[Array, ...] | None:
    """Return A_i^* lam of the unbounded blocks and zeros for the others; None unless all are arrays."""
    oracles, directions = _blocks(problem, problem.map.adjoint(dual))
    if not all(isinstance(direction, np.ndarray) for direction in directions):
        return None
    pairs = zip(oracles, directions, strict=True)
    return tuple(0.0 * direction if _is_bounded(oracle) else direction for oracle, direction in pairs)


def _blocks(problem: Problem, direction: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    oracle: Any = problem.sharp
    return (oracle.block_oracles, direction) if isinstance(direction, tuple) else ((oracle,), (direction,))


def _is_bounded(oracle: Any) -> bool:
    return bool(oracle.exact) and oracle.maximum() < math.inf


def _norm_sq(arrays: tuple[Array, ...]) -> float:
    return sum(inner(array, array) for array in arrays)
