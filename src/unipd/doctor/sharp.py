"""Checks of a sharp oracle by Fenchel-Young: no other point may do better than its answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from unipd import atoms
from unipd.doctor.probes import (
    all_equal,
    is_finite,
    precision_of,
    random_array,
    random_like,
    rearranged,
    size_of,
    tolerance,
)
from unipd.doctor.report import FAIL, NOTE, PASS, SKIP, Check, first_line, guarded, verdict
from unipd.errors import OracleError
from unipd.protocols import SharpAnswer, SharpOracle
from unipd.validate import has_parts

DIRECTIONS = 6
_SHARES = (0.5, 0.1, 0.01)
_BEATEN = 1e-8
"""An answer is beaten when another point does better by more than this, relatively (or by rounding, if more)."""


def check_sharp(
    oracle: SharpOracle, directions: Sequence[Any] | None = None, *, seed: int = 0, dtype: Any = np.float64
) -> tuple[Check, ...]:
    """Check an oracle at directions (random arrays of its shape when none are given).

    Its answers must be points of X whose value is <y, x> - f(x), and for every direction y and every other point
    x' of X that is at hand, value + error >= <y, x'> - f(x'): the Fenchel-Young inequality. Points at hand are
    the answers at the other directions, steps towards them, and rearranged answers that ``contains`` accepts.

    >>> from unipd.sharp import Simplex
    >>> all(check.ok for check in check_sharp(Simplex(4)))
    True
    """
    has_parts("oracle", oracle, "a sharp oracle", ("shape",))
    generator = np.random.default_rng(seed)
    if directions is None:
        directions = random_directions(generator, oracle.shape, dtype)
    answers: list[SharpAnswer] = []
    asked = guarded("oracle answers", lambda: _ask(oracle, directions, answers))
    if not asked[0].ok:
        return asked
    points = [answer.atom for answer in answers]
    return (
        *asked,
        *guarded("oracle values", lambda: _check_values(oracle, directions, answers)),
        *guarded("oracle in X", lambda: _check_membership(oracle, points)),
        *guarded("oracle maximises", lambda: _check_maximality(oracle, directions, answers, generator)),
        *guarded("oracle is pure", lambda: _check_purity(oracle, directions, answers)),
        *guarded("oracle degree", lambda: _check_degree(oracle, directions, answers)),
    )


def random_directions(generator: np.random.Generator, shape: Any, dtype: Any) -> list[Any]:
    """Return random arrays of a shape (tuples of them for blocks), the last one zero."""
    if shape and isinstance(shape[0], tuple):
        columns = [random_directions(generator, part, dtype) for part in shape]
        return [tuple(parts) for parts in zip(*columns, strict=True)]
    drawn = [random_array(generator, shape, dtype) for _ in range(DIRECTIONS)]
    return [*drawn, np.zeros(shape, dtype)]


def _ask(oracle: SharpOracle, directions: Sequence[Any], answers: list[SharpAnswer]) -> Check:
    name = "oracle answers"
    for direction in directions:
        answer = _answer(oracle, direction)
        missing = [part for part in ("atom", "value", "objective", "error") if not hasattr(answer, part)]
        if missing:
            return Check(name, FAIL, f"returned {type(answer).__name__}, not a SharpAnswer (no {missing[0]})")
        if not hasattr(answer.atom, "shape"):
            return Check(name, FAIL, f"the atom is {type(answer.atom).__name__}, not an array or an atom")
        if tuple(answer.atom.shape) != tuple(oracle.shape):
            return Check(name, FAIL, f"the atom has shape {answer.atom.shape}, the oracle says {oracle.shape}")
        if not (is_finite(answer.atom) and math.isfinite(answer.value) and math.isfinite(answer.objective)):
            return Check(name, FAIL, "NaN or infinity in the atom, the value or the objective")
        if not answer.error >= 0.0:
            return Check(name, FAIL, f"the certified error is {answer.error}, expected a number >= 0")
        if oracle.exact and answer.error > _slack(direction, answer):
            return Check(name, FAIL, f"the oracle says it is exact but returns an error of {answer.error:.3g}")
        answers.append(answer)
    return Check(name, PASS, f"finite, of shape {oracle.shape}, at {len(answers)} directions (zero among them)")


def _answer(oracle: SharpOracle, direction: Any) -> SharpAnswer:
    """Ask the oracle, an inexact one for six digits."""
    tolerance = 0.0 if oracle.exact else 1e-6 * size_of(direction)
    before = direction.copy() if isinstance(direction, np.ndarray) else None
    try:
        answer = oracle(direction, tolerance=tolerance)
    except Exception as error:
        if before is not None and not before.any():
            text = f"{type(error).__name__} at y = 0, where every run starts: {first_line(error)}"
            raise OracleError(text) from error
        raise
    if before is not None and not np.array_equal(before, direction):
        raise OracleError("the oracle changes the direction it is given")
    return answer


def _check_values(oracle: SharpOracle, directions: Sequence[Any], answers: Sequence[SharpAnswer]) -> Check:
    name = "oracle values"
    for direction, answer in zip(directions, answers, strict=True):
        pairing, slack = atoms.inner(direction, answer.atom), _slack(direction, answer)
        if abs(pairing - answer.objective - answer.value) > slack:
            return Check(name, FAIL, f"value {answer.value:.6g}, but <y, x> - f(x) = {pairing - answer.objective:.6g}")
        cost = oracle.objective(answer.atom)
        if not abs(cost - answer.objective) <= slack:
            return Check(name, FAIL, f"the answer says f(x) = {answer.objective:.6g}, objective(x) gives {cost:.6g}")
        alone = oracle.value(direction, tolerance=answer.error)
        if abs(alone.value - answer.value) > slack + alone.error + answer.error:
            return Check(name, FAIL, f"value() gives {alone.value:.6g}, the answer itself {answer.value:.6g}")
        if oracle.support(direction) < pairing - slack:
            return Check(name, FAIL, "support(y) is below <y, x> at a point of X")
        if oracle.maximum() < cost - slack:
            return Check(name, FAIL, f"maximum() is {oracle.maximum():.6g}, below f(x) = {cost:.6g} at a point of X")
    return Check(name, PASS, "value = <y, x> - f(x), and value(), objective(), support() and maximum() agree")


def _check_membership(oracle: SharpOracle, points: Sequence[Any]) -> Check:
    if not _knows_set(oracle, points[0]):
        return Check("oracle in X", SKIP, "contains() accepts every point: X is the whole space or not described")
    outside = sum(not oracle.contains(point, 1e-6) for point in points)
    return verdict("oracle in X", f"{outside} answers lie outside X" if outside else None, "every answer lies in X")


def _check_maximality(
    oracle: SharpOracle, directions: Sequence[Any], answers: Sequence[SharpAnswer], generator: np.random.Generator
) -> Check:
    name = "oracle maximises"
    points = [answer.atom for answer in answers]
    strangers = chain.from_iterable(rearranged(generator, point) for point in points)
    known = _knows_set(oracle, points[0])
    rivals = [*points, *(point for point in strangers if known and oracle.contains(point))]
    costs = [oracle.objective(rival) for rival in rivals]
    for direction, answer in zip(directions, answers, strict=True):
        scores = [atoms.inner(direction, rival) - cost for rival, cost in zip(rivals, costs, strict=True)]
        if not oracle.linear:
            scores += _between(oracle, direction, answer.atom, points)
        excess = max(scores) - answer.value - answer.error
        if excess > max(1.0, _BEATEN / tolerance(precision_of(answer.atom))) * _slack(direction, answer):
            return Check(name, FAIL, f"another point of X does better than the answer by {excess:.3g}")
    if all_equal(rivals):
        return Check(name, NOTE, "the same answer in every direction: nothing to compare it with")
    return Check(name, PASS, f"no answer is beaten by {len(rivals)} points of X")


def _knows_set(oracle: SharpOracle, atom: Any) -> bool:
    """Whether contains() tells points of X from others: it refuses one that is far away."""
    far = random_like(np.random.default_rng(0), atom)
    return not oracle.contains(atoms.scaled(far, 1e9))


def _between(oracle: SharpOracle, direction: Any, atom: Any, points: Sequence[Any]) -> list[float]:
    """Return <y, x> - f(x) at points between the answer and the others: where a convex f may be better."""
    steps = [atoms.combination([1.0 - share, share], [atom, other]) for other in points for share in _SHARES]
    return [atoms.inner(direction, step) - oracle.objective(step) for step in steps]


def _check_purity(oracle: SharpOracle, directions: Sequence[Any], answers: Sequence[SharpAnswer]) -> Check:
    name = "oracle is pure"
    for direction, answer in zip(directions, answers, strict=True):
        again = _answer(oracle, direction)
        if again.value != answer.value or not all_equal([again.atom, answer.atom]):
            return Check(name, FAIL, "the same direction asked twice gives two answers (resuming will not repeat runs)")
    return Check(name, PASS, "the same direction gives the same answer")


def _check_degree(oracle: SharpOracle, directions: Sequence[Any], answers: Sequence[SharpAnswer]) -> Check:
    name, degree = "oracle degree", oracle.degree
    arrays = [(y, answer) for y, answer in zip(directions, answers, strict=True) if isinstance(y, np.ndarray)]
    if degree is None or not arrays:
        return Check(name, SKIP, "no degree of homogeneity claimed" if degree is None else "directions are not arrays")
    for direction, answer in arrays:
        double = _answer(oracle, 2.0 * direction)
        expected = 2.0**degree * answer.value
        slack = _slack(2.0 * direction, double) + double.error + 2.0**degree * answer.error
        if abs(double.value - expected) > slack:
            return Check(name, FAIL, f"f*(2 y) = {double.value:.6g}, but 2^{degree:g} f*(y) = {expected:.6g}")
    return Check(name, PASS, f"f*(2 y) = 2^{degree:g} f*(y)")


def _slack(direction: Any, answer: SharpAnswer) -> float:
    """Return the rounding to allow for in <y, x> - f(x)."""
    size = abs(answer.objective) + abs(answer.value) + size_of(direction) * size_of(answer.atom)
    return tolerance(precision_of(answer.atom)) * max(size, 1e-300)
