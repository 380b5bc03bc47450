"""Termination: whether a run is solved, infeasible, stalled or out of budget.

:meth:`Termination.decide` ends a run, after an iteration. :meth:`Termination.conclude` measures the point that is
returned and gives the final status: a result is ``SOLVED`` if and only if it says so. What follows a run can only lower
its status: :func:`recheck` compares figures that an application has computed anew with the accuracy, and
:func:`downgrade` gives another status.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from unipd._typing import Array
from unipd.errors import OracleError
from unipd.memory import is_over_limit, memory_limit
from unipd.methods import Certificate, State
from unipd.methods.base import FAR_FROM_FEASIBLE, fast_replace
from unipd.problem import Problem
from unipd.run.consistency import (
    SeenAtoms,
    certify_bound,
    proves_bounds,
    require_consistent,
    require_proof,
    require_recorded_bound,
    require_recorded_point,
    require_stated_bound,
)
from unipd.run.history import IterationInfo
from unipd.run.infeasibility import PROJECTIONS, is_separating, nearest_ray
from unipd.run.result import Result, lies_in_set, remeasure, tracker_error
from unipd.run.stopping import Accuracy, MaxIterations, Stall, StoppingRule
from unipd.spectral import RESIDUAL, RIGOROUS, STATED, Certification
from unipd.status import Status

Callback = Callable[[IterationInfo], "bool | Status | None"]
DEFAULT_ITERATIONS = 10_000
"""Iteration limit of runs without a stopping rule."""
STALL = Stall(window=1000, factor=0.9999)
"""Ends every run whose gap and infeasibility have both stopped improving, as where they reach the precision."""
CERTIFICATE_PRODUCTS = 6000
"""A run of this many products can afford a probabilistic certificate at its end, whose cost is then minor."""
GAP_SHARE = 0.1
"""Share of the remaining gap by which a final certificate may err."""
RAY_CHECK_EVERY = 8
"""Iterations between two checks for a separating ray."""
LATEST_RETRY, EARLIEST_RETRY = 0.5, 0.95
"""Shares of a claimed gap or error that a stronger check refuted, between which the claim is checked again."""
FIRST_ORACLE_CALL = 16
"""First iteration at which the oracle is called for a method that defers it."""


@dataclass(frozen=True)
class Conclusion:
    """The final status of a run and what was measured at its point."""

    status: Status
    state: State
    """The state with the final certificate, all work counted."""
    x: Any
    """The primal point; None where the tracker keeps its image only."""
    image: Array
    """A x."""
    certificate: Certificate
    """Objective and violation of x itself, and the final bound."""
    tracker_error: float | None
    """Error of x as an approximation of the average, None where it is the average."""


class Termination:
    """Decides when a run ends, and how it ended.

    An iterative oracle usually certifies its error by a residual, which costs nothing and proves nothing. Before a run
    may end as solved or infeasible, the oracle computes its strongest affordable certificate (rigorous or
    probabilistic) at the best dual vector, and the decision rests on the bound that this gives.

    Parameters
    ----------
    problem
        The problem.
    accuracy
        The requested relative accuracy of infeasibility and gap.
    stop
        The caller's limits; default: 10,000 iterations.
    callback
        Called after every iteration; returning True stops, as does a stopping rule's status.
    atol
        The absolute tolerance, in the user's units; see :class:`~unipd.run.stopping.Accuracy`.
    """

    def __init__(
        self,
        problem: Problem,
        accuracy: float,
        stop: StoppingRule | None = None,
        callback: Callback | None = None,
        atol: float = 0.0,
    ) -> None:
        self.problem, self.accuracy, self.atol = problem, accuracy, atol
        self.stop, self.callback = stop or MaxIterations(DEFAULT_ITERATIONS), callback
        self._goal = Accuracy(accuracy, atol)
        self._proves_bounds = proves_bounds(problem)
        self._next_gap = math.inf
        """Gap below which a claimed accuracy is certified again: the one at which that failed less what was missing."""
        self._next_error = math.inf
        """Error below which x in single precision is measured again: a little below the one at which that failed."""
        self._next_bound = -math.inf
        """Bound above which infeasibility is certified again: twice the one at which that failed."""
        self.seen_atoms = SeenAtoms.of(problem)
        """Answers of a user-supplied oracle, which its final bound must not contradict."""
        self._work = (0, 0)
        """Oracle calls and products that the checks of this run have taken."""
        self._is_resumed = False
        """Whether the state came from a file."""

    def decide(self, info: IterationInfo) -> tuple[Status | None, Certificate]:
        """Return the status to end the run with, None to continue, and the certificate that supports it.

        The callback is called in any case. Infeasible and solved come first, the caller's limits next, stalling last.
        """
        wants_stop = self.callback is not None and self.callback(info)
        problem, state, certificate = info.problem, info.state, info.state.certificate
        if certificate.objective < certificate.dual_bound:
            require_consistent(problem, state, self.accuracy)
        proof = None if problem.loss is not None else self._prove_infeasible(info)
        if proof is not None and self._is_confirmed(proof, state):
            return Status.INFEASIBLE, proof
        verified = self._verify_accuracy(state)
        if verified is not None:
            return Status.SOLVED, verified
        status = self.stop(info) or state.failure or (Status.MEMORY_LIMIT if is_over_limit() else None)
        if status is None and wants_stop:
            status = wants_stop if isinstance(wants_stop, Status) else Status.STOPPED
        if status is None and state.iteration % STALL.window == 0:  # it compares whole windows
            status = STALL(info)
        if status is not None and (status is Status.SOLVED or status is True):
            status = Status.STOPPED  # a user's stopping rule fired, which is not the requested accuracy
        return status, certificate

    def conclude(self, state: State, ended: Status, *, verify: bool = True) -> Conclusion:
        """Measure the point that is returned and decide the status of its run, which ``ended`` for some reason.

        The status is ``SOLVED`` if and only if

        - infeasibility and |gap|, measured at x itself, are at most the accuracy, or what they are in absolute terms
          is at most ``atol``;
        - the bound is the oracle's strongest certificate: rigorous or probabilistic for the library's own parts, stated
          where one is user-supplied, or for an oracle whatever its ``call_certified`` returns;
        - x lies in X: by construction, or tested for a tracker that approximates, for user-supplied oracles and where a
          run resumed from a file, which is refused otherwise;
        - no point contradicts the bound, a user-supplied map passes the adjoint test and a user-supplied coupling that
          of its conjugate. What a user-supplied oracle states is compared with its own answers, those of the run and of
          a few further calls: one that misses the maximum in the same way everywhere is the right oracle of a smaller
          set, and is taken at its word.

        A run ended by a limit may turn out solved once its bound is certified here. A run that ended as solved has
        stalled if x falls short of that: by rounding, or because its tracker approximates. User-supplied parts that
        contradict the bound raise an ``OracleError``, however the run ended.

        Without ``verify`` the oracle is not called and the status is the given one: the run had to end at once, or its
        oracle has failed.
        """
        problem, x = self.problem, state.primal.point()
        image, certificate = (state.image, state.certificate) if x is None else remeasure(problem, x, state.certificate)
        error, status, is_solved = tracker_error(state.primal), ended, False
        if verify:
            try:
                if self._is_resumed:  # parts of the state may bring bounds of their own
                    require_recorded_bound(problem, state.certificate, self.accuracy)
                with suppress(OracleError):  # what is known then stands, as certain as its kind says
                    certificate, is_certified = self._certify_final(state, certificate)
                    measured = fast_replace(state, certificate=certificate)
                    is_accurate = (
                        ended is not Status.INFEASIBLE
                        and (is_certified or ended is Status.SOLVED)
                        and self._goal.is_met(problem, certificate)
                        and lies_in_set(problem, state.primal, x, self.accuracy)
                    )
                    if is_accurate and self._is_resumed:
                        require_recorded_point(problem, state.primal, x, self.accuracy)
                    if is_accurate and ended is not Status.SOLVED:
                        require_consistent(problem, measured, self.accuracy)
                    is_solved = is_accurate  # unless a check has raised
                if ended is not Status.INFEASIBLE:  # whose proof has been checked
                    measured = fast_replace(state, certificate=certificate)
                    self._count(require_stated_bound(problem, measured, self.accuracy, self.seen_atoms))
                if is_solved or ended is Status.SOLVED:
                    status = Status.SOLVED if is_solved else Status.STALLED
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
        final = self.count_work(fast_replace(state, certificate=certificate))
        return Conclusion(status, final, x, image, certificate, error)

    def next_check(self, iteration: int) -> float:
        """Return the iteration before which only the accuracy or a failure can end the run; the next one if unsure.

        A loss problem whose gap is positive and larger than requested needs no other check.
        """
        if self.callback is not None or self.problem.loss is None or self.atol > 0.0 or memory_limit() is not None:
            return iteration + 1
        return min(self.stop.earliest(), (iteration // STALL.window + 1) * STALL.window)

    def count_work(self, state: State) -> State:
        """Return the state with the work of the checks added to its counts."""
        calls, products = self._work
        return state if calls == products == 0 else fast_replace(state, counts=state.counts.plus(calls, 0, products))

    def memory(self) -> dict[str, Any]:
        """Return what the decisions remember between iterations, for checkpoints."""
        check = {
            "next_gap": self._next_gap,
            "next_error": self._next_error,
            "next_bound": self._next_bound,
            "work": self._work,
        }
        return {"check": check, "stop": self.stop.memory(), "seen_atoms": list(self.seen_atoms)}

    def recall(self, memory: dict[str, Any]) -> None:
        """Restore what :meth:`memory` returned."""
        check = memory["check"]
        self._next_gap, self._next_bound = check["next_gap"], check["next_bound"]
        self._next_error = check["next_error"]
        calls, products = check["work"]
        self._work = (int(calls), int(products))
        for atom in memory["seen_atoms"]:
            self.seen_atoms.append(atom)
        self.stop.recall(memory["stop"])
        self._is_resumed = True

    def _verify_accuracy(self, state: State) -> Certificate | None:
        """Return a certificate that verifies the accuracy, None while it is not reached or cannot be verified."""
        certificate = state.certificate
        if not self._goal.is_met(self.problem, certificate):
            return None
        if (self.problem.is_single or self._is_tracker_doubtful(state)) and not self._holds_at_point(state):
            return None
        if not self._is_uncertified(certificate):
            return certificate
        if abs(certificate.absolute_gap) > self._next_gap:
            return None
        certified = self._certify(certificate)
        if self._goal.is_met(self.problem, certified):
            return certified
        claimed, missing = abs(certificate.absolute_gap), abs(certified.absolute_gap) - self._largest_gap(certified)
        self._next_gap = min(max(claimed - missing, LATEST_RETRY * claimed), EARLIEST_RETRY * claimed)
        return None

    def _largest_gap(self, certificate: Certificate) -> float:
        """Return the largest absolute gap that meets the goal."""
        return max(self.accuracy * self.problem.scale(certificate.objective), self.atol)

    def _is_tracker_doubtful(self, state: State) -> bool:
        """Whether a tracker approximates, and a few more iterations may bring its point within the accuracy as well.

        Where the average has half of the error allowed and its approximation does not follow, the run ends.
        """
        error = state.certificate.relative_error(self.problem)
        return bool(tracker_error(state.primal)) and error > LATEST_RETRY * self.accuracy

    def _holds_at_point(self, state: State) -> bool:
        """Whether x itself, and the bound in double precision, reach the accuracy that the averages claim.

        In single precision averages of images drift from the image of the average, and a tracker's approximation is
        not the average; the run continues until both are within the accuracy.
        """
        problem, certificate = self.problem, state.certificate
        error = certificate.relative_error(problem)
        if error > self._next_error:
            return False
        is_known = not tracker_error(state.primal) or self._is_tracker_doubtful(state)
        x = state.primal.point() if is_known else None
        if x is not None:
            self._count((0, 1))
            certificate = remeasure(problem, x, certificate)[1]
        if problem.map.has_mixed_products and certificate.bound_kind != RESIDUAL:
            certificate = self._certify(certificate)
        if self._goal.is_met(problem, certificate):
            return True
        self._next_error = EARLIEST_RETRY * error
        return False

    def _is_confirmed(self, proof: Certificate, state: State) -> bool:
        """Whether points of X agree with a proof of infeasibility; user-supplied parts that contradict it raise.

        Where all parts are the library's own, rounding at huge multipliers or points is why they do not agree.
        """
        try:
            self._count(require_proof(self.problem, state, proof))
        except OracleError:
            if self.problem.user_supplied:
                raise
            return False
        return True

    def _prove_infeasible(self, info: IterationInfo) -> Certificate | None:
        """Return a certificate that proves the problem infeasible, or None."""
        problem, certificate = info.problem, info.state.certificate
        if (ray := problem.zero_row_ray) is not None:
            kind = STATED if problem.user_supplied else RIGOROUS
            return replace(certificate, ray=ray, ray_scale=1.0, dual_bound=math.inf, bound_kind=kind)
        if _is_ray_check_due(info) and certificate.bound_kind != RESIDUAL:
            self._count((0, 2))
            if is_separating(problem, certificate.ray):
                return certificate
            if _is_projection_due(info.state):
                ray = nearest_ray(problem, certificate.ray)
                self._count((0, 2 * PROJECTIONS))
                if is_separating(problem, ray):
                    return replace(certificate, ray=ray, ray_scale=1.0, dual_bound=math.inf)
        if _is_oracle_call_due(problem, info.state):
            certificate = self._certify(replace(certificate, ray=info.state.dual, ray_scale=1.0))
        if not certificate.proves_infeasible(problem):
            return None
        if not self._is_uncertified(certificate):
            return certificate
        if certificate.dual_bound <= self._next_bound:
            return None
        certified = self._certify(certificate)
        if certified.proves_infeasible(problem):
            return certified
        self._next_bound = 2.0 * abs(certificate.dual_bound)
        return None

    def _certify_final(self, state: State, certificate: Certificate) -> tuple[Certificate, bool]:
        """Return the certificate and whether its bound is certified, recertified where that is needed or affordable."""
        if not math.isfinite(certificate.dual_bound):
            return certificate, not self._is_uncertified(certificate)
        if not self._is_uncertified(certificate):
            is_mixed = self.problem.is_single and self.problem.map.has_mixed_products
            return (self._certify(certificate) if is_mixed else certificate), True
        is_claimed = self._goal.is_met(self.problem, certificate)
        if not (is_claimed or state.counts.matvecs >= CERTIFICATE_PRODUCTS or _is_small(self.problem)):
            return certificate, False
        certified = self._certify(certificate, GAP_SHARE * abs(certificate.absolute_gap))
        return (certificate, False) if self._is_uncertified(certified) and not is_claimed else (certified, True)

    def _is_uncertified(self, certificate: Certificate) -> bool:
        """Whether the oracle can, or must, give a stronger certificate before its bound counts."""
        kind = certificate.bound_kind
        return kind == RESIDUAL or (kind == STATED and self._proves_bounds)

    def _certify(self, certificate: Certificate, tolerance: float = 0.0) -> Certificate:
        certified, work = certify_bound(self.problem, certificate, self.accuracy, tolerance)
        self._count(work)
        return certified

    def _count(self, work: tuple[int, int]) -> None:
        self._work = (self._work[0] + work[0], self._work[1] + work[1])


def recheck(result: Result, otherwise: Status, note: str = "") -> Result:
    """Return a result whose figures were computed anew, solved only if it was and still is: else ``otherwise``.

    Parameters
    ----------
    result
        The result with its new figures.
    otherwise, note
        Status and note where the accuracy is lost.

    See Also
    --------
    downgrade

    Examples
    --------
    >>> moved = Result(Status.SOLVED, gap=2e-3, infeasibility=0.0, accuracy=1e-3)
    >>> recheck(moved, Status.STALLED).status.value, recheck(replace(moved, gap=1e-4), Status.STALLED).status.value
    ('stalled', 'solved')
    """
    figures = result.gap, result.absolute_gap, result.infeasibility, result.violation
    if not result.status.success or Accuracy(result.accuracy, result.atol).is_met_by(*figures):
        return result
    return downgrade(result, otherwise, note)


def downgrade(result: Result, status: Status, note: str = "") -> Result:
    """Return the result with another status, for what came after its run; no result becomes solved here.

    Parameters
    ----------
    result
        The result of a run.
    status
        Why the result falls short of the request.
    note
        A sentence for the user.

    Raises
    ------
    ValueError
        If the status is a success.

    See Also
    --------
    recheck

    Examples
    --------
    >>> downgrade(Result(Status.SOLVED), Status.TIME_LIMIT).status.value
    'time_limit'
    """
    if status.success:
        raise ValueError("a result is solved only by the decision of its run")
    return replace(result, status=status, note=note)


def _is_small(problem: Problem) -> bool:
    """Whether matrices are so small that a rigorous certificate takes no time."""
    shape, limit = problem.sharp.shape, (problem.sharp.certification or Certification()).dense_limit
    return all(isinstance(size, int) for size in shape) and min(shape) <= limit


def _is_ray_check_due(info: IterationInfo) -> bool:
    """Whether to look for a separating ray: every few iterations, far from feasible, where f has no maximum on X."""
    problem, state = info.problem, info.state
    if problem.has_penalty or state.iteration % RAY_CHECK_EVERY or problem.sharp.maximum() < math.inf:
        return False
    return state.certificate.infeasibility > FAR_FROM_FEASIBLE


def _is_projection_due(state: State) -> bool:
    """Whether to look for the nearest ray as well: at iterations 32, 64, 128, ..."""
    return state.iteration > FIRST_ORACLE_CALL and _is_power_of_two(state.iteration)


def _is_oracle_call_due(problem: Problem, state: State) -> bool:
    """Whether to call the oracle at the current dual vector: the active method does not while far from feasible.

    That is at iterations 16, 32, 64, ...: for an infeasible problem the multipliers grow along a separating ray.
    """
    if not state.unwrap().defers_oracle or problem.loss is not None or state.iteration < FIRST_ORACLE_CALL:
        return False
    is_far = state.certificate.infeasibility > FAR_FROM_FEASIBLE
    return is_far and _is_power_of_two(state.iteration)


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0
