"""A certificate in plain sentences: what is proven about a result, and what the proof rests on."""

from __future__ import annotations

import math
from typing import Any

from unipd.io.results import facts
from unipd.report.curves import maximises
from unipd.status import Status

RESTS_ON = {
    "rigorous": (
        "rigorous",
        "The bound is proven: every error that it rests on was bounded from the safe side, up to the rounding of "
        "floating-point numbers.",
    ),
    "probabilistic": (
        "probabilistic",
        "The bound holds with overwhelming probability: the largest eigenvalue or singular value behind it was "
        "bounded with the help of a random vector, and that fails with probability 1e-9 at most unless the run was "
        "set otherwise.",
    ),
    "residual": (
        "residual",
        "The bound is likely, not proven: it rests on the residual of an iterative eigenvalue solver, which shows "
        "that an eigenvalue is near, but not that it is the largest one.",
    ),
}
"""For each kind of bound, its name and a sentence."""

MEANINGS = {
    Status.SOLVED: "The answer can be used as it is. The accuracy was checked once more at the returned point itself.",
    Status.STOPPED: "The point is valid but less accurate than asked; see its gap and infeasibility.",
    Status.ITERATION_LIMIT: "The point is valid but less accurate than asked. Allow more iterations, ask for less, or "
    "try another method.",
    Status.ORACLE_LIMIT: "The point is valid but less accurate than asked. Allow more oracle calls, ask for less, or "
    "try another method.",
    Status.TIME_LIMIT: "The point is valid but less accurate than asked. Allow more time, ask for less, or try another "
    "method.",
    Status.MEMORY_LIMIT: "The point is valid but less accurate than asked. Allow more memory, or use a tracker or a "
    "method that keeps less.",
    Status.STALLED: "The point is less accurate than asked, and going on in the same way would not help. "
    "Another method, data of better scaling, or a tracker that keeps more of the point may.",
    Status.INTERRUPTED: "Somebody stopped the run. The point is the best of its whole iterations.",
    Status.LINE_SEARCH_FAILED: "The point is valid but less accurate than asked. Ask for less, or use an oracle of "
    "higher precision.",
    Status.INFEASIBLE: "No point satisfies the constraints, and the dual vector of the result is the proof.",
}
"""What each status means for whoever uses the result."""


def certificate_in_words(result: Any) -> list[str]:
    """Return sentences that say what is known about a result or a saved result.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> certificate_in_words(unipd.solve(problem, "corrective"))[-1]
    'The accuracy asked for, 0.001, was reached in gap and constraints.'
    """
    if status_of(result) is Status.INFEASIBLE:
        return [*_infeasible(result), *_kind(result)]
    return [_point(result), *_bound(result), *_kind(result), _verdict(result)]


def status_of(result: Any) -> Status | None:
    """Return how a run ended; None while it goes on."""
    return None if result.status is None else Status(result.status)


def _infeasible(result: Any) -> list[str]:
    proof = "The dual vector gives a bound that no value of the objective on the set can meet"
    return [f"No point satisfies all constraints. {proof}.", f"The bound reached is {_number(result.dual_bound)}."]


def _point(result: Any) -> str:
    point = "point so far" if status_of(result) is None else "returned point"
    value = f"The {point} has the objective value {_number(result.objective)}."
    if facts(result).get("loss"):
        return f"{value} The problem has no constraints besides its set."
    distance = float(result.summary().get("infeasibility") or 0.0)
    if distance == 0.0:
        return f"{value} It satisfies the constraints exactly, as far as floating-point numbers can tell."
    return f"{value} It misses the constraints by {_number(distance, 3)}, relative to the size of the right-hand side."


def _bound(result: Any) -> list[str]:
    if not math.isfinite(result.dual_bound):
        return ["No bound of the optimal value is known yet."]
    side, sign = ("above", "at most") if maximises(result) else ("below", "at least")
    loss = bool(facts(result).get("loss"))
    points = "no point of the set" if loss else "no point that satisfies the constraints"
    measure = "relative to the loss without any fit" if loss else "relative"
    sentences = [f"The optimal value is {sign} {_outward(result)}: {points} has a value {side} that."]
    if result.gap >= 0.0:
        sentences.append(f"So the objective value is within {_number(result.gap, 3)} ({measure}) of the optimal one.")
    else:
        beyond = "larger" if maximises(result) else "smaller"
        sentences.append(
            f"The objective value is {beyond} than the bound by {_number(-result.gap, 3)} (relative). That is no "
            "contradiction: the point does not satisfy the constraints exactly, and what it misses pays for it."
        )
    return sentences


def _outward(result: Any) -> str:
    """Return the bound with few digits where they err on the safe side, else with all."""
    bound = float(result.dual_bound)
    short = float(_number(bound))
    safe = short >= bound if maximises(result) else short <= bound
    return _number(bound, 8 if safe else 17)


def _kind(result: Any) -> list[str]:
    kind = str(result.bound_kind)
    if kind not in RESTS_ON or not math.isfinite(result.dual_bound):
        return []
    return [f"Kind of bound: {RESTS_ON[kind][0]}. {RESTS_ON[kind][1]}"]


def _verdict(result: Any) -> str:
    if not math.isfinite(result.accuracy):
        return "The accuracy that was asked for is not on record."
    asked = f"The accuracy asked for, {_number(result.accuracy, 3)},"
    if status_of(result) is None:
        return f"{asked} is not reached yet, or not certified yet: the run goes on."
    if status_of(result) is Status.SOLVED:
        return f"{asked} was reached" + (" in the gap." if facts(result).get("loss") else " in gap and constraints.")
    return f"{asked} was not reached, or not certified."


def _number(value: float, digits: int = 8) -> str:
    return f"{float(value) + 0.0:.{digits}g}"
