"""Checks of a problem: its parts, by the identities that the methods rely on, scaling and memory.

Map: linearity, and the adjoint identity Re <A x, lam> = Re <x, A^* lam>. Coupling: Moreau's decomposition and the
Fenchel-Young inequality. Oracle: values that add up, points that lie in X, and Fenchel-Young against other points.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import draw_normal, inner, norm
from unipd._util.validate import has_parts
from unipd.couplings.base import as_coupling
from unipd.doctor.report import (
    FAIL,
    NOTE,
    PASS,
    PROBES,
    SKIP,
    Check,
    CheckFailed,
    Report,
    all_equal,
    failure,
    first_line,
    is_finite,
    precision_of,
    random_like,
    rearrange,
    require,
    run_check,
    size_of,
    tolerance,
)
from unipd.errors import InvalidInput
from unipd.maps.base import row_norms_of
from unipd.memory import available_memory, forecast, size_text
from unipd.problem import Problem
from unipd.protocols import Coupling, LinearMap, Loss, SharpAnswer, SharpOracle

TINY = 1e-300
"""Added to sizes that errors are divided by."""
_DENSE_LIMIT = 10**6
"""Points with more entries are not made dense."""


def check_map(A: LinearMap, points: Sequence[Any] = (), *, seed: int = 0) -> tuple[Check, ...]:
    """Check a map at points with the structure of its oracle's answers (dense random ones by default).

    Parameters
    ----------
    A
        The linear map: an array, a sparse matrix, a ``LinearOperator`` or a map of :mod:`unipd.maps`.
    points
        Where to apply the map; dense random points by default.
    seed
        Seed of the random numbers; equal seeds give equal results.

    Returns
    -------
    tuple of Check

    See Also
    --------
    check, check_sharp, unipd.maps.as_map

    Examples
    --------
    >>> from unipd.maps import DenseMatrix
    >>> [check.outcome for check in check_map(DenseMatrix(np.eye(2)))]
    ['pass', 'pass']
    """
    has_parts("A", A, "a linear map", ("domain", "codomain", "dtype"))
    generator = np.random.default_rng(seed)
    probes = _map_probes(generator, A, points)
    duals = [draw_normal(generator, A.codomain, A.dtype) for _ in range(PROBES)]
    image = run_check("image", _check_image, A, probes)
    return (image, run_check("adjoint", _check_adjoint, A, probes, duals)) if image.ok else (image,)


def _map_probes(generator: np.random.Generator, A: LinearMap, points: Sequence[Any]) -> list[Any]:
    if points:
        return [*points, *(random_like(generator, point) for point in points)]
    has_blocks = bool(A.domain) and isinstance(A.domain[0], tuple)
    shapes = A.domain if has_blocks else (A.domain,)
    drawn = [[draw_normal(generator, shape, A.dtype) for shape in shapes] for _ in range(PROBES)]
    return [atoms.Blocks(tuple(parts)) if has_blocks else parts[0] for parts in drawn]


def _check_image(A: LinearMap, probes: Sequence[Any]) -> str | Check:
    """Check shape, dtype and linearity of A x, and that structured points have the images of their arrays."""
    images = [np.asarray(A.image(point)) for point in probes]
    for image in images:
        require(image.shape == A.codomain, f"A x has shape {image.shape}, the map says {A.codomain}")
        require(image.dtype.kind != "c" or A.dtype.kind == "c", f"A x is complex, the map says {A.dtype}")
        require(bool(np.isfinite(image).all()), "A x has NaN or infinity for a finite x")
    if not any(image.any() for image in images):
        return Check("image", NOTE, "A x = 0 at every point tried")
    point, image, allowed = probes[0], images[0], tolerance(A.dtype)
    if not isinstance(point, (np.ndarray, atoms.Blocks)) and math.prod(point.shape) <= _DENSE_LIMIT:
        error = norm(np.asarray(A.image(atoms.dense(point))) - image) / max(norm(image), TINY)
        require(error <= allowed, f"A x differs by {error:.1e} (relative) when x is given as an array")
    together = atoms.combination([1.0, -2.0], [point, probes[-1]])
    size = norm(image) + 2.0 * norm(images[-1])
    error = norm(np.asarray(A.image(together)) - (image - 2.0 * images[-1])) / max(size, TINY)
    require(error <= allowed, f"not linear: A(x - 2 y) differs from A x - 2 A y by {error:.1e}")
    return f"shape {A.codomain}, {A.dtype}, linear at {len(probes)} points"


def _check_adjoint(A: LinearMap, probes: Sequence[Any], duals: Sequence[Array]) -> str:
    worst = 0.0
    images = [np.asarray(A.image(point)) for point in probes]
    for dual in duals:
        direction = A.adjoint(dual)
        _require_shape(direction, A.domain)
        for point, image in zip(probes, images, strict=True):
            pairing = _pairing(direction, point)
            error = abs(inner(image, dual) - pairing) / max(norm(image) * norm(dual) + abs(pairing), TINY)
            worst = max(worst, error if np.isfinite(error) else np.inf)
    hint = "is a conjugate missing?" if A.dtype.kind == "c" else "is a factor or a transpose missing?"
    require(worst <= tolerance(A.dtype), f"Re <A x, lam> and Re <x, A* lam> differ by {worst:.1e} (relative); {hint}")
    return f"Re <A x, lam> = Re <x, A* lam> to {worst:.0e} at {len(probes) * len(duals)} pairs"


def _pairing(direction: Any, point: Any) -> float:
    """Return Re <A^* lam, x>, also for an operator and an array."""
    if isinstance(point, np.ndarray) and hasattr(direction, "matvec"):
        return inner(atoms.apply(direction, np.eye(direction.shape[1], dtype=point.dtype)), point)
    return atoms.inner_product(direction, point)


def _require_shape(direction: Any, domain: Any) -> None:
    """Fail unless A^* lam has the shape of x and finite entries."""
    if domain and isinstance(domain[0], tuple):
        require(len(direction) == len(domain), f"A* lam has {len(direction)} blocks, x has {len(domain)}")
        for part, shape in zip(direction, domain, strict=True):
            _require_shape(part, shape)
        return
    shape = tuple(direction.shape)
    require(shape == tuple(domain), f"A* lam has shape {shape}, x has {domain}")
    require(
        not isinstance(direction, np.ndarray) or is_finite(direction), "A* lam has NaN or infinity for a finite lam"
    )


STEPS = (0.3, 1.0, 4.0)
"""Steps t at which prox_{t h} is checked."""


def check_coupling(
    coupling: Coupling, shape: tuple[int, ...], dtype: Any = np.float64, *, seed: int = 0, scale: float = 1.0
) -> tuple[Check, ...]:
    """Check a set K or a loss phi at random vectors of a shape, dtype and scale.

    For every v and t: v = t prox_{phi/t}(v/t) + prox_{t h}(v) (Moreau); with r = prox_phi(v) and lam = v - r the
    Fenchel-Young inequality is an equality, phi(r) + h(lam) = <r, lam>; and at all other pairs it holds.

    Parameters
    ----------
    coupling
        The set K or the loss.
    shape
        Shape of the vectors r.
    dtype
        Data type of the vectors.
    seed
        Seed of the random numbers; equal seeds give equal results.
    scale
        Size of the random vectors.

    Returns
    -------
    tuple of Check

    See Also
    --------
    check, unipd.couplings.ConvexSet

    Examples
    --------
    >>> from unipd.couplings import AtMost
    >>> all(check.ok for check in check_coupling(AtMost(), (5,)))
    True
    """
    generator = np.random.default_rng(seed)
    sizes = np.geomspace(0.1, 10.0, PROBES) * scale
    vectors = [(size * draw_normal(generator, shape, dtype)).astype(dtype) for size in sizes]
    checks: dict[str, Any] = {
        "coupling shapes": _check_shapes,
        "Moreau": _check_moreau,
        "conjugate": _check_conjugate,
    }
    if coupling.is_loss and isinstance(coupling, Loss):
        checks["loss"] = _check_loss
    elif not coupling.is_loss and as_coupling(coupling).constrained_rows is None:
        checks["projection"] = _check_projection
    checks["conjugate degree"] = _check_conjugate_degree
    return tuple(run_check(name, check, coupling, vectors) for name, check in checks.items())


def _check_shapes(coupling: Coupling, vectors: Sequence[Array]) -> str:
    coupling.check(vectors[0].shape, vectors[0].dtype)
    for vector in vectors:
        given = vector.copy()
        for name, operator in (("prox", coupling.prox), ("prox_conjugate", coupling.prox_conjugate)):
            out: Any = operator(vector, 1.0)
            is_fitting = isinstance(out, np.ndarray) and out.shape == vector.shape
            require(is_fitting, f"{name} returns shape {np.shape(out)} for {vector.shape}")
            require(out.dtype == vector.dtype, f"{name} returns {out.dtype} for {vector.dtype}")
            require(bool(np.isfinite(out).all()), f"{name} returns NaN or infinity")
        require(np.array_equal(given, vector), "prox or prox_conjugate modifies its argument")
    return f"prox and prox_conjugate keep shape {vectors[0].shape} and {vectors[0].dtype}"


def _check_moreau(coupling: Coupling, vectors: Sequence[Array]) -> str:
    worst = 0.0
    for vector in vectors:
        for step in STEPS:
            parts = step * coupling.prox(vector / step, 1.0 / step) + coupling.prox_conjugate(vector, step)
            error = norm(vector - parts) / (norm(vector) or 1.0)
            worst = max(worst, error if math.isfinite(error) else math.inf)
    identity = "t prox(v/t, 1/t) + prox_conjugate(v, t)"
    require(worst <= tolerance(vectors[0].dtype), f"v differs from {identity} by {worst:.1e} (relative)")
    return f"v = {identity} to {worst:.0e}"


def _check_conjugate(coupling: Coupling, vectors: Sequence[Array]) -> str:
    """Check phi(r) + h(lam) >= <r, lam>, with equality for r = prox(v, 1) and lam = v - r."""
    points = [coupling.prox(vector, 1.0) for vector in vectors]
    duals = [coupling.prox_conjugate(vector, 1.0) for vector in vectors]
    for index, dual in enumerate(duals):
        value, conjugate = coupling.value(points[index]), coupling.conjugate(dual)
        outside = "conjugate(prox_conjugate(v))" if math.isfinite(value) else "value(prox(v))"
        require(math.isfinite(value + conjugate), f"{outside} is {value + conjugate}: the prox leaves the domain")
        for place, point in enumerate(points):
            total = coupling.value(point) + conjugate
            excess, allowed = total - inner(point, dual), _rounding_allowance(point, dual, total)
            if place == index:
                detail = f"value(r) + conjugate(lam) - <r, lam> = {excess:.2e} at r = prox(v), expected 0"
                require(abs(excess) <= allowed, detail)
            require(not excess < -allowed, "value(r) + conjugate(lam) is below <r, lam>: not a conjugate pair")
    return "value(r) + conjugate(lam) >= <r, lam>, equal at r = prox(v)"


def _check_projection(coupling: Coupling, vectors: Sequence[Array]) -> str:
    """Check that P is a projection: idempotent, at the right distance, and <v - P v, z - P v> <= 0 for z in K."""
    points = [coupling.prox(vector, 1.0) for vector in vectors]
    for vector, point in zip(vectors, points, strict=True):
        allowed = tolerance(vector.dtype) * (norm(vector) + norm(point) + TINY)
        require(norm(coupling.prox(point, 1.0) - point) <= allowed, "projecting twice differs from projecting once")
        is_distance = abs(coupling.distance(vector) - norm(vector - point)) <= allowed
        require(is_distance, "distance(v) is not ||v - prox(v)||")
        is_constant = all(norm(coupling.prox(vector, step) - point) <= allowed for step in STEPS)
        require(is_constant, "the projection depends on the step")
        gain = max(inner(vector - point, other - point) for other in points)
        size = max(norm(other) + norm(vector) for other in points)
        require(gain <= allowed * size, "another point of K is nearer: prox is not the projection")
    return "idempotent, nearest, at the distance that distance() gives"


def _check_loss(loss: Any, vectors: Sequence[Array]) -> str:
    """Check the subgradient inequality, the curvature, and the slack block where there is one."""
    curvature = loss.curvature()
    for first in vectors:
        slope, value = loss.gradient(first), loss.value(first)
        for second in vectors:
            other, linear = loss.value(second), inner(slope, second - first)
            allowed = tolerance(first.dtype) * (abs(value) + abs(other) + abs(linear))
            excess = other - value - linear
            below = "value(s) is below value(r) + <gradient(r), s - r>: wrong gradient or not convex"
            require(not excess < -allowed, below)
            is_smooth = not excess > 0.5 * curvature * norm(second - first) ** 2 + allowed
            require(is_smooth, f"the gradient changes faster than curvature() = {curvature:.3g} allows")
        if loss.splittable:
            point, best = loss.slack(first)
            total = inner(first, point) - loss.value(point)
            allowed = _rounding_allowance(point, first, abs(best) + abs(loss.value(point)))
            is_slack = not (abs(best - total) > allowed or best > loss.conjugate(first) + allowed)
            require(is_slack, f"slack(lam) gives {best:.6g}, but <lam, r> - value(r) = {total:.6g}")
    return "gradient, curvature and slack agree with the values"


def _check_conjugate_degree(coupling: Coupling, vectors: Sequence[Array]) -> str | Check:
    degree = coupling.conjugate_degree
    if degree is None:
        return Check("conjugate degree", SKIP, "no degree of homogeneity declared")
    for vector in vectors:
        dual = coupling.prox_conjugate(vector, 1.0)
        double, expected = coupling.conjugate(2.0 * dual), 2.0**degree * coupling.conjugate(dual)
        allowed = tolerance(vector.dtype) * (abs(double) + norm(dual) ** 2)
        detail = f"h(2 lam) = {double:.6g}, but 2^{degree:g} h(lam) = {expected:.6g}"
        require(abs(double - expected) <= allowed, detail)
    return f"h(2 lam) = 2^{degree:g} h(lam)"


def _rounding_allowance(point: Array, dual: Array, total: float) -> float:
    size = norm(point) * norm(dual) + norm(dual) ** 2 + (abs(total) if math.isfinite(total) else 0.0)
    return tolerance(dual.dtype) * size


_FRACTIONS = (0.5, 0.1, 0.01)
"""Steps from an answer towards other points of X."""
_BEATEN = 1e-8
"""An answer is beaten when another point does better by more than this, relatively (or by rounding, if more)."""


def check_sharp(
    oracle: SharpOracle, directions: Sequence[Any] | None = None, *, seed: int = 0, dtype: Any = np.float64
) -> tuple[Check, ...]:
    """Check an oracle at directions (random arrays of its shape by default).

    Its answers must be points of X whose value is <y, x> - f(x), and for every direction y and every other known point
    x' of X the Fenchel-Young inequality value + error >= <y, x'> - f(x') must hold. Known points are the answers at the
    other directions, steps towards them, and rearranged answers that ``contains`` accepts.

    Parameters
    ----------
    oracle
        A sharp oracle, see :mod:`unipd.sharp`.
    directions
        Where to call the oracle; random arrays of its shape by default.
    seed
        Seed of the random numbers; equal seeds give equal results.
    dtype
        Data type of the random directions.

    Returns
    -------
    tuple of Check

    See Also
    --------
    check, check_map, check_coupling

    Examples
    --------
    >>> from unipd.sharp import Simplex
    >>> all(check.ok for check in check_sharp(Simplex(4)))
    True
    """
    has_parts("oracle", oracle, "a sharp oracle", ("shape",))
    if directions is None:
        directions = random_directions(np.random.default_rng(seed), oracle.shape, dtype)
    answers: list[SharpAnswer] = []
    first = run_check("oracle answers", _check_answers, oracle, directions, answers)
    if not first.ok:
        return (first,)
    checks = {
        "oracle values": _check_values,
        "oracle in X": _check_membership,
        "oracle maximises": _check_maximality,
        "oracle is pure": _check_purity,
        "oracle degree": _check_oracle_degree,
    }
    return (first, *(run_check(name, check, oracle, directions, answers) for name, check in checks.items()))


def random_directions(generator: np.random.Generator, shape: Any, dtype: Any) -> list[Any]:
    """Return random arrays of a shape (tuples of them for blocks), the last one zero."""
    if shape and isinstance(shape[0], tuple):
        columns = [random_directions(generator, part, dtype) for part in shape]
        return list(zip(*columns, strict=True))
    return [*(draw_normal(generator, shape, dtype) for _ in range(PROBES)), np.zeros(shape, dtype)]


def _check_answers(oracle: SharpOracle, directions: Sequence[Any], answers: list[SharpAnswer]) -> str:
    for direction in directions:
        answer: Any = _call_oracle(oracle, direction)
        missing = [part for part in ("atom", "value", "objective", "error") if not hasattr(answer, part)]
        require(not missing, f"returned {type(answer).__name__}, not a SharpAnswer (no {', '.join(missing)})")
        atom, error = answer.atom, answer.error
        require(hasattr(atom, "shape"), f"the atom is {type(atom).__name__}, not an array or an atom")
        is_fitting = tuple(atom.shape) == tuple(oracle.shape)
        require(is_fitting, f"the atom has shape {atom.shape}, the oracle says {oracle.shape}")
        finite = is_finite(atom) and math.isfinite(answer.value) and math.isfinite(answer.objective)
        require(finite, "NaN or infinity in the atom, the value or the objective")
        require(error >= 0.0, f"the certified error is {error}, expected a number >= 0")
        is_exact = not oracle.exact or error <= _slack(direction, answer)
        require(is_exact, f"the oracle says it is exact but returns an error of {error:.3g}")
        answers.append(answer)
    return f"finite, of shape {oracle.shape}, at {len(answers)} directions (zero among them)"


def _call_oracle(oracle: SharpOracle, direction: Any) -> SharpAnswer:
    """Call the oracle, an inexact one with a tolerance of six digits."""
    tolerance = 0.0 if oracle.exact else 1e-6 * size_of(direction)
    before = direction.copy() if isinstance(direction, np.ndarray) else None
    try:
        answer = oracle(direction, tolerance=tolerance)
    except Exception as error:
        if before is not None and not before.any():
            text = f"{type(error).__name__} at y = 0, where every run starts: {first_line(error)}"
            raise CheckFailed(text) from error
        raise
    require(before is None or np.array_equal(before, direction), "the oracle modifies its direction")
    return answer


def _check_values(oracle: SharpOracle, directions: Sequence[Any], answers: Sequence[SharpAnswer]) -> str:
    for direction, answer in zip(directions, answers, strict=True):
        pairing, slack = atoms.inner_product(direction, answer.atom), _slack(direction, answer)
        value, objective = answer.value, answer.objective
        is_value = abs(pairing - objective - value) <= slack
        require(is_value, f"value {value:.6g}, but <y, x> - f(x) = {pairing - objective:.6g}")
        cost = oracle.objective(answer.atom)
        is_cost = abs(cost - objective) <= slack
        require(is_cost, f"the answer says f(x) = {objective:.6g}, objective(x) gives {cost:.6g}")
        alone = oracle.value(direction, tolerance=answer.error)
        is_same = abs(alone.value - value) <= slack + alone.error + answer.error
        require(is_same, f"value() gives {alone.value:.6g}, the answer itself {value:.6g}")
        require(not oracle.support(direction) < pairing - slack, "support(y) is below <y, x> at a point of X")
        most = oracle.maximum()
        require(not most < cost - slack, f"maximum() is {most:.6g}, below f(x) = {cost:.6g} at a point of X")
    return "value = <y, x> - f(x), and value(), objective(), support() and maximum() agree"


def _check_membership(oracle: SharpOracle, _: Sequence[Any], answers: Sequence[SharpAnswer]) -> str | Check:
    points = [answer.atom for answer in answers]
    if not _has_membership_test(oracle, points[0]):
        return Check("oracle in X", SKIP, "contains() accepts every point: X is the whole space or not described")
    outside = sum(not oracle.contains(point, 1e-6) for point in points)
    require(outside == 0, f"{outside} answers lie outside X")
    return "every answer lies in X"


def _check_maximality(oracle: SharpOracle, directions: Sequence[Any], answers: Sequence[SharpAnswer]) -> str | Check:
    points, generator = [answer.atom for answer in answers], np.random.default_rng(0)
    rearranged = list(chain.from_iterable(rearrange(generator, point) for point in points))
    can_test = _has_membership_test(oracle, points[0])
    rivals = [*points, *(point for point in rearranged if can_test and oracle.contains(point))]
    costs = [oracle.objective(rival) for rival in rivals]
    for direction, answer in zip(directions, answers, strict=True):
        scores = [atoms.inner_product(direction, rival) - cost for rival, cost in zip(rivals, costs, strict=True)]
        if not oracle.linear:
            scores += _values_on_segments(oracle, direction, answer.atom, points)
        excess = max(scores) - answer.value - answer.error
        allowed = max(1.0, _BEATEN / tolerance(precision_of(answer.atom))) * _slack(direction, answer)
        require(not excess > allowed, f"another point of X does better than the answer by {excess:.3g}")
    if all_equal(rivals):
        return Check("oracle maximises", NOTE, "the same answer in every direction: nothing to compare it with")
    return f"no answer is beaten by {len(rivals)} points of X"


def _has_membership_test(oracle: SharpOracle, atom: Any) -> bool:
    """Whether contains() rejects a point that is far away."""
    far = random_like(np.random.default_rng(0), atom)
    return not oracle.contains(atoms.scale_atom(far, 1e9))


def _values_on_segments(oracle: SharpOracle, direction: Any, atom: Any, points: Sequence[Any]) -> list[float]:
    """Return <y, x> - f(x) at points between the answer and the others: where a convex f may be better."""
    steps = [atoms.combination([1.0 - part, part], [atom, other]) for other in points for part in _FRACTIONS]
    return [atoms.inner_product(direction, step) - oracle.objective(step) for step in steps]


def _check_purity(oracle: SharpOracle, directions: Sequence[Any], answers: Sequence[SharpAnswer]) -> str:
    for direction, answer in zip(directions, answers, strict=True):
        again = _call_oracle(oracle, direction)
        is_same = again.value == answer.value and all_equal([again.atom, answer.atom])
        require(is_same, "two calls with the same direction give two answers (a resumed run will not repeat)")
    return "the same direction gives the same answer"


def _check_oracle_degree(oracle: SharpOracle, directions: Sequence[Any], answers: Sequence[SharpAnswer]) -> str | Check:
    degree = oracle.degree
    arrays = [(y, answer) for y, answer in zip(directions, answers, strict=True) if isinstance(y, np.ndarray)]
    if degree is None or not arrays:
        why = "no degree of homogeneity declared" if degree is None else "directions are not arrays"
        return Check("oracle degree", SKIP, why)
    for direction, answer in arrays:
        double = _call_oracle(oracle, 2.0 * direction)
        expected = 2.0**degree * answer.value
        slack = _slack(2.0 * direction, double) + double.error + 2.0**degree * answer.error
        detail = f"f*(2 y) = {double.value:.6g}, but 2^{degree:g} f*(y) = {expected:.6g}"
        require(not abs(double.value - expected) > slack, detail)
    return f"f*(2 y) = 2^{degree:g} f*(y)"


def _slack(direction: Any, answer: SharpAnswer) -> float:
    """Return the rounding to allow for in <y, x> - f(x)."""
    size = abs(answer.objective) + abs(answer.value) + size_of(direction) * size_of(answer.atom)
    return tolerance(precision_of(answer.atom)) * max(size, TINY)


ROWS = 32
"""Rows of A whose norms are compared."""
SPREAD = 1e3
"""Ratio of row norms from which on rescaling is advised."""


def check_scaling(problem: Problem, *, seed: int = 0) -> Check:
    """Compare the norms ||A^* e_i|| of rows of A (at most :data:`ROWS`, drawn at random) with each other and b.

    Where A^* lam is a large operator, its Frobenius norm is estimated from products with random vectors.

    Parameters
    ----------
    problem
        The :class:`unipd.Problem`.
    seed
        Seed of the random numbers; equal seeds give equal results.

    Returns
    -------
    Check

    See Also
    --------
    check, unipd.Rescaling

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.diag([1.0, 1e-5]), [0.5, 0.5], "=")
    >>> check_scaling(problem).outcome
    'note'
    """
    generator = np.random.default_rng(seed)
    count = math.prod(problem.dual_shape)
    chosen = generator.choice(count, size=min(ROWS, count), replace=False)
    norms = row_norms_of(problem.map, chosen, generator)
    for row, size in zip(chosen, norms, strict=True):
        if size == 0.0 and problem.loss is None and not _allows_zero_row(problem, int(row)):
            return Check("scaling", FAIL, f"row {row} of A is zero but its b = {problem.b.flat[row]:.3g}: infeasible")
    present = norms[norms > 0.0]
    if present.size == 0:
        return Check("scaling", NOTE, "every row of A that was inspected is zero")
    spread = float(present.max() / present.min())
    text = f"||row|| from {present.min():.2g} to {present.max():.2g} ({norms.size} rows), ||b|| = {problem.norm_b:.2g}"
    if spread > SPREAD:
        advice = "divide each row of A, and its b, by its norm" if problem.loss is None else "rescale the data"
        return Check("scaling", NOTE, f"{text}: {advice}")
    return Check("scaling", PASS, text)


def _allows_zero_row(problem: Problem, row: int) -> bool:
    """Whether K contains a residual with entry -b_i: a zero row does not make the problem infeasible."""
    residual = np.zeros(problem.dual_shape, problem.dtype)
    residual.reshape(-1)[row] = -problem.b.reshape(-1)[row]
    moved = residual - problem.coupling.prox(residual, 1.0)
    return abs(moved.reshape(-1)[row]) <= 1e-9 * (problem.norm_b or problem.least_scale)


TRACKERS = ("image", "atoms", "dense")
_TIGHT = 0.5
"""Fraction of the available memory from which on a forecast is called tight."""


def check_memory(problem: Problem, available: int | None = None) -> tuple[Check, ...]:
    """Compare the forecast for each tracker with the available memory.

    Parameters
    ----------
    problem
        The :class:`unipd.Problem`.
    available
        Bytes that are available; by default those of the machine, the container or the limit.

    Returns
    -------
    tuple of Check

    See Also
    --------
    check, unipd.memory.forecast

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> [check.outcome for check in check_memory(problem)]
    ['pass', 'pass', 'pass']
    """
    limit = available_memory() if available is None else available
    checks: list[Check] = []
    for tracker in TRACKERS:
        needed = forecast(problem, tracker).total
        text = f"{size_text(needed)} of {size_text(limit)}"
        outcome = PASS if needed <= _TIGHT * limit else NOTE
        if needed > limit:
            text += f': does not fit, so do not use tracker="{tracker}"'
        elif outcome == NOTE:
            text += ": tight"
        checks.append(Check(f"memory, {tracker}", outcome, text))
    return tuple(checks)


_POINTS = 3
"""Answers of the oracle at which the map is checked."""


def check(problem: Problem, *, seed: int = 0) -> Report:
    """Check the parts of a problem against each other: map, oracle, coupling, scaling and memory.

    Nothing is solved. The checks are random but seeded: the same seed gives the same report, except for the available
    memory.

    Parameters
    ----------
    problem
        The problem.
    seed
        Seed of the directions and points.

    Returns
    -------
    Report
        The checks, which print as a table; ``ok`` is True if none failed.

    Raises
    ------
    InvalidInput
        ``problem``: expected a unipd.Problem.

    See Also
    --------
    check_sharp, check_map, check_coupling, Report

    Examples
    --------
    >>> import unipd, unipd.doctor
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> report = unipd.doctor.check(problem)
    >>> report.ok, report["adjoint"].outcome
    (True, 'pass')
    """
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", "a unipd.Problem", validate.describe_type(problem))
    generator = np.random.default_rng(seed)
    duals = [draw_normal(generator, problem.dual_shape, problem.dtype) for _ in range(PROBES)]
    duals.append(np.zeros(problem.dual_shape, problem.dtype))
    scale = (problem.norm_b or problem.least_scale) / max(1.0, problem.b.size**0.5)
    return Report(
        (
            *_check_oracle_and_map(problem, duals, seed),
            *check_coupling(problem.coupling, problem.dual_shape, problem.dtype, seed=seed, scale=scale),
            run_check("scaling", partial(check_scaling, problem, seed=seed)),
            *check_memory(problem),
        )
    )


def _check_oracle_and_map(problem: Problem, duals: list[Any], seed: int) -> tuple[Check, ...]:
    """Check the oracle at the directions -A^* lam of a run, and the map at points such as the oracle returns."""
    try:
        directions = [problem.map.adjoint(-dual) for dual in duals]
    except Exception as error:
        return (failure("adjoint", error),)
    points: list[Any] = []
    with contextlib.suppress(Exception):  # check_sharp reports what the oracle raises
        points += [problem.sharp(direction).atom for direction in directions[:_POINTS]]
    return check_map(problem.map, points, seed=seed) + check_sharp(problem.sharp, directions, seed=seed)
