"""Consistency checks of oracle, map and coupling: no point of X may contradict a certified bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import inner, norm, real_dtype
from unipd._util.context import current_context
from unipd.atoms import Blocks, LowRank, dense, inner_product
from unipd.dual import evaluate, lower_bound, oracle_errors
from unipd.errors import OracleError, UnboundedOracle
from unipd.methods import Certificate, State
from unipd.methods.base import ORACLE_SHARE, fast_replace
from unipd.problem import Problem
from unipd.protocols import OracleDefaults, SharpAnswer, declares, is_user_supplied, unwrap
from unipd.run.history import dense_bytes
from unipd.run.infeasibility import is_separating
from unipd.run.result import remeasure, tracker_error
from unipd.spectral import CLAIMED, CONDITIONAL, RESIDUAL, RIGOROUS, STATED
from unipd.spectral.operators import pairing
from unipd.trackers.atoms import HasAtoms, vertex_key

S = TypeVar("S", bound=State)
_REVISION_ROUNDING = 1e4
"""Units of rounding by which a point may lie below a bound."""
ADVICE = "run unipd.doctor.check (unipd doctor FILE.py:NAME) for details"
"""How every message about a wrong part ends."""
_NOT_MAXIMAL = f"the sharp oracle does not maximise: a point of X that it returned beats its answer; {ADVICE}"
_OUTSIDE = f"the sharp oracle returned a point outside X: its contains() says no; {ADVICE}"
_WRONG_ADJOINT = f"the map's adjoint does not match its image: Re <A x, lam> and Re <x, A^* lam> differ; {ADVICE}"
_WRONG_CONJUGATE = f"the coupling's conjugate is too small: a point r has <lam, r> - phi(r) > phi^*(lam); {ADVICE}"
_LONG_DIRECTION = 1e6
"""Length of directions in which an oracle that ignores its objective returns ever larger points."""
_RANDOM_QUERIES = 8
"""Random directions in which a user-supplied oracle is queried before a proof of infeasibility is accepted."""
_FINAL_QUERIES = 4
"""Those near the dual vector of the final bound."""
_QUERY_SLACK = 1e-3
"""Relative amount by which another point may beat an answer."""
_MOST_POINTS = 64
"""Atoms of the run, stored or seen, that a stated bound is compared with."""
_MOST_BYTES = 1 << 24
"""Bytes of the answers that are kept for it."""
_TILTS = (2.0, 1e3)
"""Lengths, relative to y, of the tilts of y towards its own answer: that one stays the best, and one that was passed
over becomes the second best."""
_ROUNDING = {True: 1e-3, False: 1e-6}
"""Relative size of what rounding may explain: in single precision, and in double."""
_ACCURACY_MULTIPLES = 100.0
"""Multiples of the accuracy that are tolerated in addition."""


def known_points(problem: Problem, primal: Any) -> list[Any]:
    """Return the known points of X: xbar, and the atoms of a user-supplied oracle.

    The point of a tracker that approximates may lie outside X and is left out.
    """
    points = [] if tracker_error(primal) else [primal.point()]
    if is_user_supplied(problem.sharp):
        points += primal.atoms if isinstance(primal, HasAtoms) else []
    return [point for point in points if point is not None]


def query_oracle(problem: Problem, negated_direction: Any) -> tuple[list[Any], int]:
    """Return points that the oracle gives around y, of which -y is given, and the number of queries.

    The oracle is queried at -y. A user-supplied one is also queried at y; at long multiples of y and -y, where one with
    a forgotten objective (``from_callable(lambda y: y, n)``) returns points that grow; at y tilted towards its answer,
    where one that prefers the second best returns the best; and at random directions around y. No point that it
    returns may beat its answer in another direction.
    """
    parts: tuple[Any, ...] = negated_direction if isinstance(negated_direction, tuple) else (negated_direction,)
    is_array = all(isinstance(part, np.ndarray) for part in parts)
    length = (_norm_of(parts) or 1.0) if is_array else math.inf
    directions, answers = list[list[Array]](), list[SharpAnswer]()
    queries = 0

    def query(direction: list[Any]) -> None:
        nonlocal queries
        queries += 1
        with suppress(UnboundedOracle):  # there is no best point in this direction
            answer = problem.sharp(tuple(direction) if isinstance(negated_direction, tuple) else direction[0])
            directions.append(direction)
            answers.append(answer)

    query(list(parts))
    if is_user_supplied(problem.sharp) and length < math.inf:
        generator = np.random.default_rng(0)
        for factor in (_LONG_DIRECTION / length, -_LONG_DIRECTION / length, -1.0):
            query([factor * part for part in parts])
        if answers:
            query(_tilt(parts, _arrays(answers[-1].atom), 2.0 * length))
        for _ in range(_RANDOM_QUERIES):
            query(_tilt(parts, _random_goal(generator, parts), length))
        _require_maximal(directions, answers)
    return [answer.atom for answer in answers], queries


def _tilt(negated_direction: tuple[Array, ...], goal: list[Array], length: float) -> list[Array]:
    """Return y + length * goal / ||goal||, given -y; y where the goal is zero or the length beyond the range."""
    size = _norm_of(goal)
    share = length / size if size > 0.0 else 0.0
    if not math.isfinite(share):  # the multipliers of an infeasible problem grow without end
        share = 0.0
    return [(share * piece).astype(part.dtype) - part for part, piece in zip(negated_direction, goal, strict=True)]


def _random_goal(generator: np.random.Generator, parts: tuple[Array, ...]) -> list[Array]:
    """Return random entries between -0.5 and 0.5, several times cheaper than normal ones."""
    return [generator.random(part.shape) - 0.5 for part in parts]


def _require_maximal(directions: list[list[Array]], answers: list[SharpAnswer]) -> None:
    """Raise where a point that the oracle returned in one direction beats its answer in another."""
    sizes = [atoms.norm(answer.atom) for answer in answers]
    for direction, answer, size in zip(directions, answers, sizes, strict=True):
        length = _norm_of(direction)
        for other, other_size in zip(answers, sizes, strict=True) if answer.bound_kind == RIGOROUS else ():
            excess = _inner_with_atom(direction, other.atom) - other.objective - answer.value - answer.error
            rounding = length * (other_size + size) + abs(other.objective) + abs(answer.objective)
            if excess > _QUERY_SLACK * rounding:
                raise OracleError(_NOT_MAXIMAL)


def _inner_with_atom(direction: list[Array], atom: Any) -> float:
    """Return Re <y, x>."""
    parts = atom.parts if isinstance(atom, Blocks) else (atom,)
    return sum(inner_product(*pair) for pair in zip(direction, parts, strict=True))


def _norm_of(parts: Sequence[Array]) -> float:
    return math.hypot(*(norm(part) for part in parts))


def _arrays(atom: Any) -> list[Array]:
    """Return the blocks of an atom as arrays."""
    parts = atom.parts if isinstance(atom, Blocks) else (atom,)
    return [np.asarray(dense(part)) for part in parts]


def require_consistent(problem: Problem, state: State, accuracy: float) -> None:
    """Raise when a point of X contradicts a rigorous or a stated bound.

    Every x in X has f(x) + phi(A x - b) >= bound - ||lam|| dist(A x - b, K), where lam is the dual vector of the
    bound: the last term accounts for the violation of x. Points that violate the constraints by more than the accuracy
    are not checked.
    """
    certificate = state.certificate
    if certificate.bound_kind not in CLAIMED:
        return
    if certificate.infeasibility > accuracy:
        return
    tolerance = _rounding_share(problem) + _ACCURACY_MULTIPLES * accuracy
    if bound_violation(problem, certificate, tolerance) <= 0.0:
        return
    x = state.primal.point()
    if x is not None:
        certificate = remeasure(problem, x, certificate)[1]
    if bound_violation(problem, certificate, tolerance) > 0.0:
        raise OracleError(
            f"a point with objective {certificate.objective:.8g} lies below the certified lower bound "
            f"{certificate.dual_bound:.8g}: the sharp oracle, the map or the coupling is inconsistent; {ADVICE}"
        )


def require_proof(problem: Problem, state: State, proof: Certificate) -> tuple[int, int]:
    """Raise when a point of X contradicts a proof of infeasibility; return the oracle calls and products made.

    The proof claims f(x) + <lam, A x - b> - h(lam) >= bound for every x in X, and was computed from A^* lam. The points
    that the run has kept, and those that further oracle calls return, must satisfy that and
    Re <A x, lam> = Re <x, A^* lam>: an oracle that does not maximise, or a wrong adjoint, can prove anything. So can a
    ``maximum`` of f that a point of X exceeds.
    """
    if proof.bound_kind not in CLAIMED or problem.loss is not None:
        return 0, 0
    direction = problem.map.adjoint(proof.dual)
    given, queries = query_oracle(problem, direction)
    points = [*known_points(problem, state.primal), *given]
    for point in points:
        _require_maximum(problem, point)
    _require_parts(problem, proof.dual, direction, state.image)
    _require_bounded(problem, proof, direction, points)
    return queries, 1 + len(points)


class SeenAtoms:
    """The latest different answers of a user-supplied oracle, bounded in number and in memory.

    >>> seen = SeenAtoms(most=2)
    >>> for entry in (1.0, 2.0, 1.0, 3.0):
    ...     seen.append(np.array([entry]))
    >>> list(seen)
    [array([1.]), array([3.])]
    """

    def __init__(self, most: int) -> None:
        self._most, self._atoms = most, dict[bytes, Any]()

    @classmethod
    def of(cls, problem: Problem) -> SeenAtoms:
        """Return an empty list for the answers of a run."""
        return cls(max(1, min(_MOST_POINTS, _MOST_BYTES // max(1, dense_bytes(problem)))))

    def append(self, atom: Any) -> None:
        """Add an answer as the latest one."""
        key = vertex_key(atom)
        self._atoms.pop(key, None)
        self._atoms[key] = atom
        if len(self._atoms) > self._most:
            del self._atoms[next(iter(self._atoms))]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._atoms.values())


def require_stated_bound(problem: Problem, state: State, accuracy: float, seen: Iterable[Any] = ()) -> tuple[int, int]:
    """Raise when user-supplied parts contradict the bound, or atoms lie outside X; return the work done.

    The map's adjoint is tested at the bound's dual vector with a random point, the coupling's conjugate there with
    points of K. xbar, stored atoms, those ``seen`` during the run, and the answers of a user-supplied oracle at the
    dual vector and near it must satisfy f(x) + <lam, A x - b> - h(lam) >= bound up to the accuracy: an oracle that
    maximises only now and then, returns the second best or misstates its values is found by them. Atoms must lie in X
    where the oracle can tell.
    """
    certificate = state.certificate
    if not (problem.user_supplied and math.isfinite(certificate.dual_bound)):
        return 0, 0
    direction: Any = problem.map.adjoint(certificate.dual)
    _require_parts(problem, certificate.dual, direction, state.image)
    answers = _query_around(problem, certificate.dual, direction) if problem.has_user_oracle else []
    stored = state.primal.atoms if isinstance(state.primal, HasAtoms) else ()
    known = stored[-_MOST_POINTS:] if problem.has_user_oracle else ()
    distinct = {vertex_key(atom): atom for atom in (*seen, *known, *(answer.atom for answer in answers))}
    products = 1 + int("map" in problem.user_supplied) + sum(answer.matvecs or 1 for answer in answers)
    if (
        problem.has_user_oracle
        and problem.sharp.has_membership_test
        and not all(map(problem.sharp.contains, distinct.values()))
    ):
        raise OracleError(_OUTSIDE)
    if certificate.bound_kind not in CLAIMED:
        return len(answers), products
    x = None if tracker_error(state.primal) else state.primal.point()
    points = [*distinct.values()] if x is None else [x, *distinct.values()]
    allowed = accuracy * problem.scale(certificate.objective)
    _require_bounded(problem, certificate, direction, points, allowed)
    return len(answers), products + len(points)


def _query_around(problem: Problem, dual: Array, negated_direction: Any) -> list[SharpAnswer]:
    """Return the oracle's answers at y = -A^* lam; where y is an array also at y tilted to the first and at random.

    An answer that another one beats in its own direction raises an error.
    """
    parts: tuple[Any, ...] = negated_direction if isinstance(negated_direction, tuple) else (negated_direction,)
    with oracle_errors:
        found = [problem.sharp(problem.map.negated_adjoint(dual))]
    if not all(isinstance(part, np.ndarray) for part in parts):
        return found
    generator = np.random.default_rng(0)
    random = [_random_goal(generator, parts) for _ in range(_FINAL_QUERIES)]
    first = _arrays(found[0].atom)
    goals = [*((_TILTS[0], goal) for goal in random), *((factor, first) for factor in _TILTS)]
    directions, size = [[-part for part in parts]], _norm_of(parts)
    with suppress(UnboundedOracle), oracle_errors:  # there may be no best point in another direction
        for factor, goal in goals:
            length = max(size, problem.typical_objective / (_norm_of(goal) or 1.0))
            tilted = _tilt(parts, goal, factor * length)
            found.append(problem.sharp(tuple(tilted) if isinstance(negated_direction, tuple) else tilted[0]))
            directions.append(tilted)
    _require_maximal(directions, found)
    return found


def _require_maximum(problem: Problem, x: Any) -> None:
    """Raise when f(x) exceeds the ``maximum`` of f on X that a user-supplied oracle states."""
    if not is_user_supplied(problem.sharp):
        return
    largest, value = problem.sharp.maximum(), problem.sharp.objective(x)
    if value > largest + _rounding_share(problem) * max(1.0, abs(largest)):
        raise OracleError(
            f"the sharp oracle's maximum of f on X is {largest:.8g}, but a point of X has f(x) = {value:.8g}; {ADVICE}"
        )


def _require_parts(problem: Problem, dual: Array, direction: Any, image: Array) -> None:
    """Raise when a user-supplied map has a wrong adjoint, or a user-supplied coupling a wrong conjugate, at lam."""
    if "map" in problem.user_supplied:
        generator, oracles = np.random.default_rng(0), problem.sharp.block_oracles
        if oracles:
            parts = zip(direction, oracles, strict=True)
            point: Any = Blocks(tuple(_random_point(generator, part, oracle) for part, oracle in parts))
        else:
            point = _random_point(generator, direction, problem.sharp)
        list(_verify_adjoint(problem, dual, direction, [point]))
    if "coupling" in problem.user_supplied:
        _require_conjugate(problem, dual, image - problem.b)


def _random_point(generator: np.random.Generator, direction: Any, oracle: Any) -> Any:
    """Return a point with no zero entry, of rank one where A^* lam is an operator; Hermitian where those of X are."""
    shape, is_hermitian = direction.shape, _is_hermitian(oracle)

    def draw(*sizes: int) -> Array:
        real, imaginary = generator.random((2, *sizes)) - 0.5
        return (real + 1j * imaginary if direction.dtype.kind == "c" else real).astype(direction.dtype)

    if isinstance(direction, np.ndarray):
        array = draw(*shape)
        return array + array.conj().T if is_hermitian else array
    left = draw(shape[0], 1)
    return LowRank(left, left if is_hermitian else draw(shape[1], 1), np.ones(1, real_dtype(left.dtype)))


def _is_hermitian(oracle: Any) -> bool:
    return bool(oracle.hermitian) or any(map(_is_hermitian, oracle.inner_parts))


def _require_conjugate(problem: Problem, dual: Array, residual: Array) -> None:
    """Raise unless phi(r) + phi^*(lam) >= <lam, r> where r = prox_{t phi}(A x - b + t lam), for a short and a long t.

    For long t equality is near. For a set phi is its indicator, phi^* the support function h and r a projection. In the
    slack split r is A x - b and the maximiser of the slack.
    """
    coupling, length, stated = problem.coupling, norm(dual), problem.coupling.conjugate(dual)
    if problem.split and problem.loss is not None:
        maximiser, value = problem.loss.slack(dual)
        stated = value if problem.slack_radius is None else stated
        points = [residual, maximiser]
    else:
        size = max(norm(residual), problem.norm_b) or problem.least_scale or 1.0
        steps = [factor * size / (length or 1.0) for factor in (1.0, _LONG_DIRECTION)]
        points = [coupling.prox(residual + step * dual, step) for step in steps]
    for r in points:
        along, penalty = inner(dual, r), coupling.penalty(r)
        rounding = _rounding_share(problem) * (length * norm(r) + abs(penalty) + abs(stated))
        if along - penalty > stated + rounding:
            raise OracleError(_WRONG_CONJUGATE)


def _require_bounded(
    problem: Problem, proof: Certificate, direction: Any, points: Sequence[Any], allowed: float = 0.0
) -> None:
    """Raise unless the adjoint is right and the Lagrangian at every point reaches the bound, but for ``allowed``."""
    dual, share = proof.dual, _rounding_share(problem)
    constant = problem.coupling.conjugate(dual) + inner(dual, problem.b)
    for x, along_image, tolerance in _verify_adjoint(problem, dual, direction, points):
        missing = constant - along_image  # a ray whose bound is infinite separates b from A X
        if math.isfinite(proof.dual_bound):
            missing += proof.dual_bound - problem.sharp.objective(x)
            tolerance = max(tolerance, share * max(1.0, abs(proof.dual_bound)))
        if not missing <= tolerance + allowed:  # nor NaN
            raise OracleError(_NOT_MAXIMAL)


def _verify_adjoint(
    problem: Problem, dual: Array, direction: Any, points: Sequence[Any]
) -> Iterator[tuple[Any, float, float]]:
    """Yield points x, Re <A x, lam> and the size of rounding errors; raise where Re <A x, lam> is not Re <x, A^* lam>.

    ||A^* lam|| ||x|| may exceed ||lam|| ||A x||, and counts where A^* lam is an array.
    """
    parts = direction if isinstance(direction, tuple) else (direction,)
    length = _norm_of([part for part in parts if isinstance(part, np.ndarray)])
    dual_length, share = norm(dual), _rounding_share(problem)
    for x in points:
        image = problem.map.image(x)
        size = length * atoms.norm(x) if length > 0.0 else 0.0
        tolerance = share * max(dual_length * max(norm(image), problem.norm_b), size)
        along_image = inner(dual, image)
        if abs(along_image - _adjoint_inner(direction, x)) > tolerance:
            raise OracleError(_WRONG_ADJOINT)
        yield x, along_image, tolerance


def _rounding_share(problem: Problem) -> float:
    return _ROUNDING[problem.is_single]


def _adjoint_inner(direction: Any, x: Any) -> float:
    """Return Re <A^* lam, x>, block by block where there are blocks."""
    if isinstance(x, Blocks):
        return sum(_adjoint_inner(*pair) for pair in zip(direction, x.parts, strict=True))
    return pairing(direction, x)


def bound_violation(problem: Problem, certificate: Certificate, tolerance: float) -> float:
    """Return by how much the objective lies below the bound beyond what the violation of x explains.

    Every x in X has f(x) + phi(A x - b) >= bound - ||lam|| dist(A x - b, K); ``tolerance`` is relative.
    """
    if not (math.isfinite(certificate.objective) and math.isfinite(certificate.dual_bound)):
        return -math.inf
    length = norm(certificate.dual)
    violation_allowance, objective = length * certificate.violation, certificate.objective
    scale = max(problem.scale(objective), abs(objective), length * problem.norm_b, violation_allowance)
    return certificate.dual_bound - objective - violation_allowance - tolerance * scale


def proves_bounds(problem: Problem) -> bool:
    """Whether ``call_certified`` proves bounds: map and coupling are the library's own, and the oracle proves errors.

    The library's oracles do, user-supplied ones where they define it.

    >>> from unipd.sharp import Simplex, from_callable
    >>> [proves_bounds(Problem(oracle, np.eye(2), [1, 0])) for oracle in (Simplex(2), from_callable(lambda y: y, 2))]
    [True, False]
    """
    return not set(problem.user_supplied) - {"oracle"} and _proves_errors(problem.sharp)


def _proves_errors(oracle: Any) -> bool:
    part, default = unwrap(oracle), OracleDefaults.call_certified
    is_defined = declares(part, "call_certified") and getattr(type(part), "call_certified", None) is not default
    proves = not oracle.runs_user_code if validate.is_own(part) else is_defined
    return proves and all(map(_proves_errors, oracle.inner_parts))


def certify_bound(
    problem: Problem, certificate: Certificate, accuracy: float, tolerance: float = 0.0
) -> tuple[Certificate, tuple[int, int]]:
    """Return the certificate with the oracle's strongest bound at its dual vector, and the oracle calls and products.

    The oracle may err by a tenth of the accuracy, or by ``tolerance`` if that is more. Where the map offers products in
    double precision, data in single precision are used in double.
    """
    if (workspace := current_context().workspace) is not None:
        workspace.release()  # the strongest certificate needs memory of its own
    absolute = max(tolerance, ORACLE_SHARE * accuracy * problem.scale(certificate.objective))
    dual = certificate.dual
    point = evaluate(problem, dual, tolerance=absolute, certified=True)
    certified = replace(certificate, dual_bound=-math.inf).update_bound(problem, point)
    if certified.bound_kind == STATED and proves_bounds(problem):
        certified = replace(certified, bound_kind=RIGOROUS if certified.ray_scale == 0.0 else point.bound_kind)
    return certified, (1, point.matvecs)


def require_recorded_bound(problem: Problem, certificate: Certificate, accuracy: float) -> None:
    """Raise unless the dual vector of a certificate that came from a file proves its bound; one oracle call.

    A file may have been edited, and a bound that this process has not computed must not be called rigorous.
    """
    stored = certificate.dual_bound
    if certificate.bound_kind == RESIDUAL or stored == -math.inf:
        return
    if stored == math.inf and is_separating(problem, certificate.ray):
        return
    if certificate.bound_kind == CONDITIONAL:
        problem = problem.truncate(certificate.size_limit)
    dual, scale = certificate.dual, problem.scale(certificate.objective)
    tolerance = ORACLE_SHARE * accuracy * scale
    point = evaluate(problem, dual, tolerance=tolerance, certified=True)
    rounding = _rounding_of_bound(problem, certificate)
    bound = lower_bound(problem, point)[0] + point.error + rounding
    if not stored <= bound:
        raise ValueError(f"its lower bound {stored:.8g} is not what its dual vector proves, {bound:.8g}")
    kind = RIGOROUS if certificate.ray_scale == 0.0 else point.bound_kind  # lam = 0 needs no eigenvalue
    kind = STATED if problem.user_supplied and not proves_bounds(problem) else kind
    if certificate.bound_kind == RIGOROUS and kind != RIGOROUS:
        raise ValueError(f"its lower bound is called rigorous, but is only {kind}")


def require_recorded_point(problem: Problem, primal: Any, x: Any, accuracy: float) -> None:
    """Raise unless a point that came from a file lies in X, up to accuracy and rounding; those of sketches need not."""
    tolerance = max(accuracy, _REVISION_ROUNDING * problem.epsilon)
    if x is None or primal.error or not problem.sharp.has_membership_test:
        return
    if not problem.sharp.contains(x, tolerance):
        raise ValueError("its point lies outside X")


def verify_recorded_bounds(problem: Problem, state: S, accuracy: float) -> S:
    """Return a state from a file whose bound has been verified, with no bound inside above that."""
    certificate = state.certificate
    require_recorded_bound(problem, certificate, accuracy)
    rounding = _rounding_of_bound(problem, certificate) if math.isfinite(certificate.dual_bound) else 0.0
    return state.cap_bound(certificate.dual_bound + rounding, certificate.bound_kind)


def _rounding_of_bound(problem: Problem, certificate: Certificate) -> float:
    """Return by how much a dual bound may differ when it is computed again."""
    size = max(abs(certificate.dual_bound), norm(certificate.dual) * problem.norm_b)
    return _REVISION_ROUNDING * problem.epsilon * max(problem.scale(certificate.objective), size)


def revise_bound(problem: Problem, state: S, accuracy: float) -> S:
    """Return the state, its bound revised where its own point disproves it.

    A bound that is not rigorous rests on an eigenvalue that the solver may have missed once, and would then remain the
    best one forever. As soon as a point lies below it, or it claims that no feasible point exists, it is
    recertified; a bound that is disproved even then is dropped. Rigorous and stated bounds are not revised: a point
    below one of those is an error of the oracle, the map or the coupling.
    """
    certificate = state.certificate
    if certificate.bound_kind in CLAIMED or certificate.absolute_gap >= 0.0:
        return state
    claims_infeasible = certificate.dual_bound == math.inf and certificate.bound_kind == RESIDUAL
    if not (claims_infeasible or _is_disproved(problem, certificate)):
        return state
    certified, (calls, products) = certify_bound(problem, certificate, accuracy)
    if certified.bound_kind not in CLAIMED and _is_disproved(problem, certified):
        certified = fast_replace(certified, dual_bound=-math.inf)
    capped = state.cap_bound(certified.dual_bound, certified.bound_kind)
    return fast_replace(capped, certificate=certified, counts=state.counts.plus(calls, 0, products))


def _is_disproved(problem: Problem, certificate: Certificate) -> bool:
    return bound_violation(problem, certificate, _REVISION_ROUNDING * problem.epsilon) > 0.0
