"""Polish a result: the best point over the atoms that its run kept."""

from __future__ import annotations

import time
from dataclasses import replace

from unipd import validate
from unipd.errors import InvalidInput
from unipd.methods.polishing import polished
from unipd.problem import Problem
from unipd.run.certify import FinalCheck
from unipd.run.history import History
from unipd.run.moment import Moment
from unipd.run.result import Result
from unipd.run.stopping import Accuracy
from unipd.run.verify import claims, lies_in_set, tracker_error, verified
from unipd.status import Status


def polish(problem: Problem, result: Result, *, accuracy: float | None = None) -> Result:
    """Re-optimise a result over the atoms that its run kept, and return the better point.

    Any method's result will do: the atoms of ``tracker="atoms"``, the active set of the corrective and the
    away-step methods, low-rank factors; of a dense tracker the point itself is the only atom, which leaves little
    to gain. Vector atoms go through the master of the corrective method and one call of the oracle, spectral points
    through steps of the factored method.

    What is kept: x stays in X; the bound is the better of both and as certified as before; the larger of relative
    infeasibility and relative gap does not grow. What is lost: x is no longer the average that the theorems of the
    universal methods speak of.

    Parameters
    ----------
    problem
        The problem that was solved.
    result
        What :func:`unipd.solve` returned.
    accuracy
        The accuracy that decides the new status; default: the one that was asked of the run.

    Examples
    --------
    >>> import numpy as np, unipd
    >>> A = np.random.default_rng(0).standard_normal((5, 20))
    >>> problem = unipd.Problem(unipd.sharp.L1Ball(20), A, A[:, 0], unipd.couplings.LeastSquares())
    >>> rough = unipd.solve(problem, "unipdgrad", accuracy=1e-2, tracker="atoms")
    >>> unipd.polish(problem, rough).gap < 0.1 * rough.gap
    True
    """
    begun = time.perf_counter()
    if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("problem", "a unipd.Problem", validate.described(problem))
    state = getattr(result, "state", None)
    if state is None:
        raise InvalidInput("result", "a result of unipd.solve with its state", type(result).__name__)
    goal = validate.positive("accuracy", result.accuracy if accuracy is None else accuracy)
    better = polished(problem, state, goal)
    if better.primal is state.primal and better.certificate.dual_bound <= result.dual_bound:
        return replace(result, counts=better.counts, seconds=result.seconds + time.perf_counter() - begun)
    x = better.primal.point()
    image, certificate = verified(problem, x, better.certificate)
    better = replace(better, iteration=state.iteration + 1, certificate=certificate)
    seconds = result.seconds + time.perf_counter() - begun
    history = History(result.history.table)
    history.record(problem, better, seconds)
    moment = Moment(problem, better, seconds, history)
    check = FinalCheck(goal)
    error = tracker_error(better.primal)
    reached = Accuracy(goal)(moment) is not None and lies_in_set(problem, x, error, goal)
    sure = check(moment) if reached else None
    status = Status.STOPPED if result.status is Status.SOLVED else result.status
    if sure is not None:
        certificate, status = sure, Status.SOLVED
    calls, matvecs = check.spent
    return replace(
        result,
        status=status,
        x=x,
        image=image,
        **claims(problem, certificate),
        tracker_error=error,
        accuracy=goal,
        counts=better.counts.plus(calls, 0, matvecs),
        seconds=seconds,
        history=history,
        state=better,
    )
