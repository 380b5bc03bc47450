"""The certificate of a result in plain sentences: what is proven, on what the proof rests, and what to do next."""

from __future__ import annotations

import math

from unipd.run import Result
from unipd.run.result import problem_facts
from unipd.status import Status

BOUND_KINDS = {
    "rigorous": "The bound is proven: every error in it is bounded from the safe side, up to floating-point rounding.",
    "probabilistic": "The bound holds with probability 1 - 1e-9 (unless the run set another): the extreme eigenvalue "
    "or singular value behind it was bounded with a random vector.",
    "conditional": "The bound holds for points up to a size that the constraints do not imply: the message says which "
    "size, and where it comes from.",
    "stated": "The bound is as stated by user-supplied parts: it holds if an oracle among them returns maximisers and "
    "true values, a map has the right adjoint, a coupling the right conjugate. Their answers were checked against each "
    "other; they prove nothing. An oracle that proves its errors defines call_certified.",
    "residual": "The bound is likely, not proven: it rests on the residual of an iterative eigenvalue solver, which "
    "shows that an eigenvalue is near, but not that it is the largest one.",
}
"""What each kind of bound promises."""

_PREMISES = {
    "rigorous": "",
    "probabilistic": "With the probability named below, ",
    "conditional": "For points up to the size named below, ",
    "stated": "If the user-supplied parts are right, ",
    "residual": "Probably ",
}
"""How a sentence that rests on the bound begins, by its kind."""

_LESS = "The point is valid but less accurate than requested."
MEANINGS = {
    Status.SOLVED: "The solution can be used as it is; the accuracy was verified at the returned point.",
    Status.LOCAL: "No neighbour of the prescribed rank is better; the gap bounds what points of any rank could gain.",
    Status.STOPPED: f"{_LESS} See its gap and infeasibility.",
    Status.ITERATION_LIMIT: f"{_LESS} Allow more iterations, request a lower accuracy, or try another method.",
    Status.ORACLE_LIMIT: f"{_LESS} Allow more oracle calls, request a lower accuracy, or try another method.",
    Status.TIME_LIMIT: f"{_LESS} Allow more time, request a lower accuracy, or try another method.",
    Status.MEMORY_LIMIT: f"{_LESS} Allow more memory, or use a tracker or a method that needs less.",
    Status.STALLED: f"{_LESS} More iterations would not help; another method, better scaled data or a tracker that "
    "keeps more of the point may.",
    Status.INTERRUPTED: f"{_LESS} It is the best point of the completed iterations.",
    Status.LINE_SEARCH_FAILED: f"{_LESS} Request a lower accuracy, or use an oracle of higher precision.",
    Status.INFEASIBLE: "No point satisfies the constraints, as surely as the kind of bound says: the dual vector "
    "shows it. Relax a constraint, or enlarge the set.",
    Status.UNBOUNDED: "There is no best point: add constraints, or bound the set. The result holds the ray.",
    Status.RUNNING: "The point is that of the last completed iteration.",
}
"""What each status means for the use of a result, and what to do next."""


def describe_certificate(result: Result) -> list[str]:
    """Return sentences that state what is proven, or likely, about a result.

    Parameters
    ----------
    result
        The result of a run, fresh or loaded.

    See Also
    --------
    write_report, unipd.Result

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> describe_certificate(unipd.solve(problem, "corrective"))[-1]
    'The requested accuracy, 0.001, was reached in gap and infeasibility.'
    """
    if result.status is Status.INFEASIBLE:
        claim = _premise(result, "no point satisfies all constraints")
        proof = "The dual vector gives a bound above every value of the objective on the set"
        return [f"{claim}. {proof}.", f"The bound is {_number(result.dual_bound)}.", *_kind(result)]
    if result.status is Status.UNBOUNDED:
        rate, residual = (_number(result.extras.get(name, math.nan), 3) for name in ("ray_objective", "ray_residual"))
        return [
            "The objective is unbounded: x is not a point but a ray, along which feasible points stay feasible.",
            f"Per unit of the ray the objective changes by {rate}, and the constraints by {residual} (relative to the "
            "size of the map), which counts as zero.",
        ]
    return [_point(result), *_bound(result), *_kind(result), _verdict(result)]


def _premise(result: Result, claim: str) -> str:
    """Return a claim that rests on the bound, with what it supposes in front."""
    text = _PREMISES.get(str(result.bound_kind), "") + claim
    return text[0].upper() + text[1:]


def _point(result: Result) -> str:
    point = "current point" if result.status is Status.RUNNING else "returned point"
    value = f"The {point} has the objective value {_number(result.objective)}."
    if problem_facts(result).loss:
        return f"{value} The problem has no constraints other than its set."
    if result.infeasibility == 0.0:
        return f"{value} It satisfies the constraints to machine precision."
    return (
        f"{value} It violates the constraints by {_number(result.infeasibility, 3)}, relative to the nearest value "
        "that they allow."
    )


def _bound(result: Result) -> list[str]:
    if not math.isfinite(result.dual_bound):
        return ["No bound of the optimal value is known yet."]
    facts = problem_facts(result)
    side, sign, beyond = ("above", "at most", "larger") if facts.maximise else ("below", "at least", "smaller")
    points = "no point of the set" if facts.loss else "no feasible point"
    claim = f"the optimal value is {sign} {_outward(result)}: {points} has a value {side} that"
    bound = f"{_premise(result, claim)}."
    unit = facts.gap_unit
    scale = f"relative to {_number(facts.scale, 4)}" if facts.scale and unit == "relative" else unit
    if result.gap >= 0.0:
        then = "is then" if _PREMISES.get(str(result.bound_kind)) else "is"
        return [bound, f"So the objective value {then} within {_number(result.gap, 3)} ({scale}) of the optimal one."]
    excess = f"The objective value is {beyond} than the bound by {_number(-result.gap, 3)} ({scale})."
    is_rounding = facts.loss or result.infeasibility == 0.0
    reason = "the difference is rounding" if is_rounding else "the point violates the constraints slightly"
    return [bound, f"{excess} That is no contradiction: {reason}."]


def _outward(result: Result) -> str:
    """Return the bound with few digits where they round to the safe side, else with all."""
    bound = float(result.dual_bound)
    short = float(_number(bound))
    safe = short >= bound if problem_facts(result).maximise else short <= bound
    return _number(bound, 8 if safe else 17)


def _kind(result: Result) -> list[str]:
    kind = str(result.bound_kind)
    if kind not in BOUND_KINDS or not math.isfinite(result.dual_bound):
        return []
    size = result.extras.get("trace_bound") if kind == "conditional" else None
    limit = "" if size is None else f" It holds for X of trace at most {_number(size)}."
    return [f"Kind of bound: {kind}. {BOUND_KINDS[kind]}{limit}"]


def _verdict(result: Result) -> str:
    if not math.isfinite(result.accuracy):
        return "The requested accuracy is not on record."
    absolute = f" (or {_number(result.atol, 3)}, absolute)" if result.atol else ""
    accuracy = f"The requested accuracy, {_number(result.accuracy, 3)}{absolute},"
    if result.status is Status.RUNNING:
        return f"{accuracy} has not been certified yet."
    if result.status.success:
        return f"{accuracy} was reached in {'the gap' if problem_facts(result).loss else 'gap and infeasibility'}."
    return f"{accuracy} was not certified."


def _number(value: float, digits: int = 8) -> str:
    return f"{float(value) + 0.0:.{digits}g}"
