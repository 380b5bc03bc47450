"""What every method shares: immutable states, counts of work, the certificate, the incumbent, warm starts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd.dual import DualValue, lower_bound
from unipd.errors import InvalidInput
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.scales import ratio
from unipd.spectral import RESIDUAL, RIGOROUS, STATED
from unipd.status import Status

R = TypeVar("R")


def fast_replace(record: R, /, **changes: Any) -> R:
    """Return a copy of a frozen dataclass with some fields changed: ``dataclasses.replace`` at a fraction of its cost.

    Neither names nor values are checked. For classes without ``__post_init__`` and ``__slots__``.

    Parameters
    ----------
    record
        The dataclass instance.
    changes
        Fields and their new values.

    See Also
    --------
    common_fields

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: float
    ...     y: float
    >>> fast_replace(Point(1.0, 2.0), y=5.0)
    Point(x=1.0, y=5.0)
    """
    new = object.__new__(type(record))
    new.__dict__.update(record.__dict__, **changes)
    return new


@dataclass(frozen=True)
class Counts:
    """Work done since the start of a run.

    Parameters
    ----------
    oracle_calls
        Calls of the sharp operator, for a point or for its value alone.
    trials
        Trial points of the line search.
    matvecs
        Products with A, A^* or the operator A^* lam.

    See Also
    --------
    Certificate, unipd.Result

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> unipd.solve(problem, "frank-wolfe").counts.oracle_calls > 0
    True
    """

    oracle_calls: int = 0
    trials: int = 0
    matvecs: int = 0

    def plus(self, oracle_calls: int = 0, trials: int = 0, matvecs: int = 0) -> Counts:
        """Return the counts after more work.

        Parameters
        ----------
        oracle_calls, trials, matvecs
            What to add to each.
        """
        return Counts(self.oracle_calls + oracle_calls, self.trials + trials, self.matvecs + matvecs)

    def __add__(self, other: Counts) -> Counts:
        return self.plus(other.oracle_calls, other.trials, other.matvecs)


class Measures(NamedTuple):
    """Objective and feasibility of a point, from :func:`measure_point`; see :class:`Certificate`."""

    objective: float
    violation: float
    infeasibility: float


@dataclass(frozen=True)
class Certificate:
    """What is proven about the current point: f(xbar), its feasibility, and the best dual bound so far.

    Parameters
    ----------
    objective
        f(xbar) + phi(A xbar - b), or an upper bound on it when f is not linear and xbar is not kept.
    violation
        dist(A xbar - b, K), in the units of b.
    infeasibility
        :meth:`Problem.infeasibility` of A xbar - b, relative: what is compared with the accuracy.
    dual_bound
        Best -G(lam) seen: a lower bound on the optimal value.
    ray
        The dual vector on whose ray the best bound is attained.
    bound_kind
        Kind of the certified oracle error on which the bound rests: rigorous, probabilistic, stated or residual;
        conditional where the bound holds for points up to ``size_limit`` only.
    ray_scale
        The bound is attained at ``ray_scale * ray``, so that a method's own dual vector need not be copied.
    size_limit
        Size up to which the bound holds for points of X (the trace of a matrix); inf for all of them.

    See Also
    --------
    Counts, State, merit

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> state = next(unipd.iterate(problem, "frank-wolfe"))
    >>> state.certificate.dual_bound <= state.certificate.objective
    True
    """

    objective: float
    violation: float
    infeasibility: float
    dual_bound: float
    ray: Array
    bound_kind: str = RIGOROUS
    ray_scale: float = 1.0
    size_limit: float = math.inf

    @property
    def dual(self) -> Array:
        """The dual vector that attains the best bound."""
        return self.ray if self.ray_scale == 1.0 else self.ray_scale * self.ray

    @property
    def measures(self) -> Measures:
        """Objective and feasibility of the point."""
        return Measures(self.objective, self.violation, self.infeasibility)

    @property
    def absolute_gap(self) -> float:
        """Objective minus dual bound, absolute; it can be negative while xbar is infeasible."""
        return self.objective - self.dual_bound

    def gap(self, problem: Problem) -> float:
        """Return the absolute gap divided by the scale of the objective; inf without an objective."""
        return problem.relative_gap(self.objective, self.dual_bound)

    def relative_error(self, problem: Problem) -> float:
        """Return the larger of infeasibility and |gap|: a point is solved to an accuracy that this does not exceed.

        >>> import numpy as np, unipd
        >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
        >>> Certificate(4.0, violation=0.1, infeasibility=0.1, dual_bound=3.0, ray=np.zeros(2)).relative_error(problem)
        0.25
        """
        return max(abs(self.gap(problem)), self.infeasibility)

    def update_bound(self, problem: Problem, point: DualValue) -> Certificate:
        """Return the certificate with the bound that another dual vector gives, if that is better.

        Parameters
        ----------
        problem
            The problem.
        point
            The oracle's answer at the dual vector.
        """
        return self.update_point_and_bound(problem, self.measures, point)

    def update_point_and_bound(self, problem: Problem, measures: Measures, point: DualValue) -> Certificate:
        """Return the certificate of another xbar, from its :func:`measure_point`.

        The bound is the better of the previous one and that of the dual point.

        Parameters
        ----------
        problem
            The problem.
        measures
            Objective, violation and infeasibility of xbar.
        point
            The oracle's answer at a dual vector.
        """
        bound, scale = lower_bound(problem, point)
        if not bound > self.dual_bound:
            return self.update_point(measures)
        return Certificate(
            *measures,
            dual_bound=bound,
            ray=point.dual,
            bound_kind=_kind_of_bound(problem, RIGOROUS if scale == 0.0 else point.bound_kind),
            ray_scale=scale if scale < math.inf else 1.0,
        )

    def update_point(self, measures: Measures) -> Certificate:
        """Return the certificate of another xbar, with the same bound."""
        objective, violation, infeasibility = measures
        return fast_replace(self, objective=objective, violation=violation, infeasibility=infeasibility)

    def proves_infeasible(self, problem: Problem) -> bool:
        """Whether the bound exceeds every value that the objective takes on X."""
        if problem.loss is not None:
            return False
        largest = math.inf if problem.is_mixed else problem.sharp.maximum()
        if not math.isfinite(largest) or self.dual_bound == math.inf:
            return self.dual_bound == math.inf
        size = max(abs(largest), problem.typical_objective)  # the maximum may be 0, and the bound rounds as f does
        return self.dual_bound > largest + _INFEASIBILITY_MARGIN * size


def _kind_of_bound(problem: Problem, kind: str) -> str:
    """Return the kind of a bound whose oracle claims ``kind``: user-supplied parts state it, and do not prove it."""
    return STATED if problem.user_supplied and kind != RESIDUAL else kind


ORACLE_SHARE = 0.1
"""Error allowed to an inexact oracle, as a fraction of the accuracy: small enough not to delay the certificate."""
FAR_FROM_FEASIBLE = 1e-2
"""Relative infeasibility above which a bound is not worth an oracle call: the multipliers are still far off."""
_INFEASIBILITY_MARGIN = 1e-6
"""Share of the size of f by which a bound must exceed the maximum of f: more than it rounds to, even in single
precision, and little beside what it reaches along a separating ray, where it grows without limit."""


S = TypeVar("S", bound="State")


@dataclass(frozen=True, kw_only=True)
class State:
    """A method's state after an iteration; the loop, the observers and the stopping rules see only this.

    The methods below are how the rest of the library looks inside a state: a wrapper (restarts, fallback, rescaling)
    overrides them, and nothing else knows how states nest.

    Parameters
    ----------
    iteration
        Iterations done.
    dual
        The current dual vector, in the domain of h.
    primal
        What is kept of xbar.
    image
        A xbar.
    mean_objective
        The weighted mean of f over the atoms: f(xbar) when f is linear, else an upper bound on it.
    certificate
        Objective, feasibility and bound.
    counts
        Work done.
    smoothness
        Local smoothness M_k accepted by the line search (the curvature of the step elsewhere).
    dual_step
        ||lam - lam'|| of the last line search, for estimating nu.
    gradient_change
        ||grad g(lam) - grad g(lam')|| of the last line search (NaN if unavailable).
    failure
        Set when the method cannot continue.

    See Also
    --------
    Certificate, Counts, unipd.iterate

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> states = unipd.iterate(problem, "frank-wolfe")
    >>> next(states).iteration, next(states).iteration
    (1, 2)
    """

    defers_oracle: ClassVar[bool] = False
    """Whether the method calls the oracle only once its point is nearly feasible."""

    iteration: int = 0
    dual: Array
    primal: Tracker
    image: Array
    mean_objective: float
    certificate: Certificate
    counts: Counts
    smoothness: float = math.nan
    dual_step: float = math.nan
    gradient_change: float = math.nan
    failure: Status | None = None

    @property
    def absolute_accuracy(self) -> float | None:
        """The absolute accuracy with which the method works, None where it has none."""
        return None

    @property
    def resolved_options(self) -> dict[str, Any]:
        """Options of the method that were left to it, with the values that it has chosen for this run."""
        return {}

    def unwrap(self) -> State:
        """Return the state of the active method, which for a wrapper is that of an inner method."""
        return self

    @property
    def idle_atoms(self) -> tuple[Any, ...]:
        """Atoms of X that the method knows and the point does not use, for warm starts."""
        return ()

    def cap_bound(self: S, bound: float, bound_kind: str) -> S:
        """Return the state with no dual bound above ``bound``, here and in the inner states.

        Parameters
        ----------
        bound
            The largest dual bound allowed.
        bound_kind
            How that bound is justified.
        """
        if self.certificate.dual_bound <= bound:
            return self
        return fast_replace(self, certificate=fast_replace(self.certificate, dual_bound=bound, bound_kind=bound_kind))

    def clear_history(self: S, dual: Array) -> S:
        """Return the state at a dual vector without averages or momentum, as before a first iteration.

        By default the state itself: a method without averages and momentum has no history to clear.
        """
        del dual
        return self

    def improve(self, problem: Problem, update: Callable[[Problem, State], State]) -> State:
        """Return the state with the point and bound that ``update`` finds, in the units in which the method works.

        Parameters
        ----------
        problem
            The problem in the units of the caller.
        update
            A function of problem and state that returns a better state, or the same.
        """
        return update(problem, self)

    def shared_objects(self, problem: Problem) -> dict[str, Any]:
        """Return, by name, the objects in the state that problem and method determine.

        A checkpoint stores their names only, and finds them again in :meth:`Rebuilds.rebuild`.
        """
        return {"problem": problem}


class Method(Protocol):
    """A method: an initial state and a step.

    Optional members: ``start_at`` (a warm start from a point, :class:`StartsFromPoint`), ``workspace_bytes`` (memory
    forecasts, :class:`ForecastsMemory`), ``options`` (for the record, :class:`HasOptions`), ``rebuild`` (objects that
    states share and checkpoints leave out, :class:`Rebuilds`), ``label`` (a name in comparisons, :class:`HasLabel`).

    See Also
    --------
    State, as_method, unipd.methods.universal.UniversalMethod

    Examples
    --------
    >>> import unipd
    >>> method: Method = unipd.FrankWolfe()
    >>> method.name
    'frank-wolfe'
    """

    @property
    def name(self) -> str:
        """Name on the command line and in results."""
        ...

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> State:
        """Return the state before the first iteration.

        Parameters
        ----------
        problem
            The problem.
        tracker
            The tracker that will hold xbar, at the start empty.
        dual
            lam_0, in the domain of h.
        accuracy
            The relative accuracy at which the run will stop.
        """
        ...

    def step(self, problem: Problem, state: Any) -> State:
        """Return the state after one more iteration.

        Parameters
        ----------
        problem
            The problem of :meth:`start`.
        state
            The state that :meth:`start` or the last step returned; it is not changed.
        """
        ...


@runtime_checkable
class Rebuilds(Protocol):
    """A method whose states share objects with it, or with one another, that need not be stored in a checkpoint."""

    def rebuild(self, problem: Problem) -> dict[str, Any]:
        """Return the objects of :meth:`State.shared_objects` under the same names, for a run of this method."""
        ...


@runtime_checkable
class HasOptions(Protocol):
    """A method whose options are not simply its fields."""

    @property
    def options(self) -> dict[str, Any]:
        """Options for the record, by name."""
        ...


@runtime_checkable
class HasLabel(Protocol):
    """A method with a name of its own in comparisons."""

    @property
    def label(self) -> str:
        """Name in comparisons."""
        ...


def rebuild_shared(method: Method, problem: Problem) -> dict[str, Any]:
    """Return the objects that a method's states share, rebuilt; the problem is always among them."""
    return method.rebuild(problem) if isinstance(method, Rebuilds) else {"problem": problem}


def method_options(method: Method) -> dict[str, Any]:
    """Return a method's options by name.

    Parameters
    ----------
    method
        The method.

    See Also
    --------
    as_method

    Examples
    --------
    >>> from unipd.methods import FrankWolfe
    >>> method_options(FrankWolfe())
    {'step_size': 'line-search'}
    """
    return method.options if isinstance(method, HasOptions) else dict(getattr(method, "__dict__", {}))


def common_fields(state: State) -> dict[str, Any]:
    """Return the fields that every state has: what a wrapper exposes of its inner state.

    Parameters
    ----------
    state
        A method's state.

    See Also
    --------
    State, fast_replace

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> list(common_fields(next(unipd.iterate(problem, "frank-wolfe"))))[:3]
    ['iteration', 'dual', 'primal']
    """
    return {name: getattr(state, name) for name in _COMMON_FIELDS}


_COMMON_FIELDS = tuple(field.name for field in fields(State))


def target_eps(problem: Problem, eps: float | None, accuracy: float, objective: float) -> float:
    """Return the method's absolute accuracy: given, or the relative one times the size of the objective."""
    if eps is not None:
        return validate.positive("eps", eps)
    return accuracy * max(abs(objective), problem.typical_objective)


def relative_eps(problem: Problem, eps: float, objective: float) -> float:
    """Convert an absolute accuracy to a relative one; the inverse of :func:`target_eps`."""
    return eps / max(abs(objective), problem.typical_objective)


def require_domain(problem: Problem, dual: Array) -> None:
    """Raise unless lam_0 lies in the domain of h."""
    if not problem.in_dual_domain(dual):
        raise InvalidInput("start", "a dual vector in the domain of h", "one outside it")


def require_applicable(problem: Problem, method: str, needs: str, *, is_met: bool) -> None:
    """Raise unless a method applies to a problem; the message says what it needs.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> try:
    ...     require_applicable(problem, "pairwise", "a smooth loss", is_met=False)
    ... except InvalidInput as error:
    ...     print(str(error).split(", got ")[0])
    method: expected one that applies here (pairwise needs a smooth loss)
    """
    if not is_met:
        raise InvalidInput("method", f"one that applies here ({method} needs {needs})", f"{method} for {problem!r}")


def measure_point(
    problem: Problem, primal: Tracker | None, image: Array, mean_objective: float, squared: float | None = None
) -> Measures:
    """Return objective and feasibility of xbar; f is the mean where it is linear or xbar is not kept.

    ``squared`` is ||A xbar - b||^2 where that is all that the coupling needs (K = {0} and least squares).
    """
    cost = known_objective(problem, primal, mean_objective)
    if squared is None:
        residual = image - problem.b
        if problem.loss is not None:
            return Measures(cost + problem.loss.value(residual), 0.0, 0.0)
        if problem.is_mixed:
            cost += problem.coupling.penalty(residual)
        return Measures(cost, *problem.measure_residual(residual))
    if problem.loss is None:
        violation = math.sqrt(squared)
        residual = image if problem.rows is None else image - problem.b  # only equilibrated rows are measured again
        return Measures(cost, violation, problem.infeasibility(residual, violation))
    assert problem.conjugate_curvature is not None
    return Measures(cost + 0.5 * squared / problem.conjugate_curvature, 0.0, 0.0)


def known_objective(problem: Problem, primal: Tracker | None, mean_objective: float) -> float:
    """Return f(xbar) where xbar is kept, else the mean: f(xbar) where f is linear, an upper bound elsewhere."""
    if problem.linear or primal is None or not primal.exact_objective:
        return mean_objective
    return problem.sharp.objective(primal.point())


def empty_certificate(dual: Array) -> Certificate:
    """Return a certificate with infinite objective and violation and no bound."""
    return Certificate(math.inf, math.inf, math.inf, -math.inf, dual)


def zero_image(problem: Problem) -> Array:
    """Return A 0."""
    return np.zeros(problem.dual_shape, problem.dtype)


def keep_best_bound(certificate: Certificate, other: Certificate) -> Certificate:
    """Return the first certificate's point with the higher of the two bounds."""
    if not other.dual_bound > certificate.dual_bound:
        return certificate
    names = ("dual_bound", "ray", "ray_scale", "bound_kind", "size_limit")
    return fast_replace(certificate, **{name: getattr(other, name) for name in names})


def merit(problem: Problem, certificate: Certificate, bound: float) -> float:
    """Return relative infeasibility plus relative gap to ``bound``: the incumbent is the point of least merit.

    Points are compared by the sum, not by the larger of the two: while the bound is far away, the gap is large for
    every point, and infeasible points, whose objectives are low, would win. For the same reason the gap is divided by
    the scale of the bound, which all points share. Without a bound only infeasibility counts, for a loss its value.

    Parameters
    ----------
    problem
        The :class:`unipd.Problem`.
    certificate
        Objective, infeasibility and bound of a point.
    bound
        The lower bound from which the gap is measured: the best one known, not only the certificate's own.

    See Also
    --------
    keep_incumbent, Certificate

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> certificate = Certificate(3.0, violation=0.25, infeasibility=0.25, dual_bound=2.0, ray=np.zeros(2))
    >>> merit(problem, certificate, 2.0)
    0.75
    """
    infeasibility = certificate.infeasibility
    if not math.isfinite(bound):
        return infeasibility if problem.loss is None else certificate.objective
    return infeasibility + ratio(abs(certificate.objective - bound), problem.scale(bound))


def keep_incumbent(problem: Problem, state: S, other: State) -> S:
    """Return the state with the better point (smaller :func:`merit`), both measured against the higher bound.

    Parameters
    ----------
    problem
        The :class:`unipd.Problem`.
    state
        The state whose class and counters are kept.
    other
        The state whose point may be better.

    See Also
    --------
    merit, State

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> states = unipd.iterate(problem, "frank-wolfe")
    >>> first, second = next(states), next(states)
    >>> best = keep_incumbent(problem, second, first)
    >>> best.certificate.objective == min(first.certificate.objective, second.certificate.objective)
    True
    """
    mine = keep_best_bound(state.certificate, other.certificate)
    bound, best = mine.dual_bound, fast_replace(state, certificate=mine)
    is_better = merit(problem, other.certificate, bound) < merit(problem, mine, bound)
    return with_point_of(best, other) if is_better else best


def with_point_of(state: S, other: State) -> S:
    """Return the state at the point of another one; its bound, dual vector and counts stay."""
    return fast_replace(
        state,
        primal=other.primal,
        image=other.image,
        mean_objective=other.mean_objective,
        certificate=state.certificate.update_point(other.certificate.measures),
    )


@dataclass(frozen=True)
class WarmPoint:
    """What a run can start from: the dual vector and, as far as they lie in X, point and atoms of another one."""

    point: Any
    """A point of X; None where the other run's point does not lie in X."""
    weights: tuple[float, ...] = ()
    """The weights of the atoms in the point."""
    atoms: tuple[Any, ...] = ()
    """Atoms of X."""
    idle_atoms: tuple[Any, ...] = ()
    """Further atoms of X, which the other run knew."""
    dual: Any = None
    """The dual vector, in the domain of h."""
    state: Any = None
    """The last state of the method of the other run; None where it is unknown."""


@runtime_checkable
class ForecastsMemory(Protocol):
    """A method that knows what its states and steps will hold, so that a run that does not fit can be refused."""

    def workspace_bytes(self, problem: Problem, accuracy: float) -> int | None:
        """Return the bytes that a run holds at once besides its data and dual vectors; None where that is unknown.

        Parameters
        ----------
        problem
            The problem.
        accuracy
            The relative accuracy of the run.
        """
        ...


@runtime_checkable
class StartsFromPoint(Protocol):
    """A method that can start from more than a dual vector."""

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> State | None:
        """Return the state at the point, None when the method cannot use it.

        Parameters
        ----------
        problem, tracker, accuracy
            As in :meth:`Method.start`.
        warm
            Point, atoms and dual vector of another run.
        """
        ...


def start_from(method: Method, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> State | None:
    """Return a method's first state from another run, None where the method starts from dual vectors only."""
    return method.start_at(problem, tracker, warm, accuracy) if isinstance(method, StartsFromPoint) else None
