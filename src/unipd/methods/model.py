"""The model of a corrective method: how it begins, and how the oracle's answers join it."""

from __future__ import annotations

from typing import Any

from unipd._typing import Array
from unipd.dual import DualPoint, evaluate, oracle_errors
from unipd.methods.block_bundle import BlockBundle
from unipd.methods.block_limits import limited as limited_blocks
from unipd.methods.block_structure import SIGNS, has_blocks
from unipd.methods.bundle import Bundle
from unipd.methods.bundle_limits import limited
from unipd.methods.candidates import candidates, has_candidates
from unipd.problem import Problem

CANDIDATES = 30
"""Vertices that one oracle call may add where they cost little."""


def first_model(problem: Problem, point: DualPoint) -> Bundle | BlockBundle:
    """Return the first model: one a block where X is a product, A comes in blocks and the coupling is simple."""
    if has_blocks(problem):
        return BlockBundle.of(problem, point)
    return Bundle.of(problem, point)


def asked(
    problem: Problem, bundle: Bundle | BlockBundle, dual: Array, tolerance: float, start: Any
) -> tuple[DualPoint, list[DualPoint]]:
    """Call the oracle; where the next best vertices cost little, add those that the model does not know."""
    if isinstance(bundle, BlockBundle) or not has_candidates(problem):
        return evaluate(problem, dual, tolerance=tolerance, start=start), []
    with oracle_errors:
        direction = problem.map.adjoint(-dual)
    point = evaluate(problem, dual, direction=direction, tolerance=tolerance, start=start)
    known = bundle.lower_model(problem, dual)
    return point, candidates(problem, dual, direction, CANDIDATES, above=known)[1:]


def grown(
    problem: Problem, bundle: Bundle | BlockBundle, points: tuple[DualPoint, ...], memory: int
) -> Bundle | BlockBundle:
    """Make room for the oracle's atoms, then let them join, the best one first."""
    if isinstance(bundle, BlockBundle):
        each = memory if type(problem.coupling) in SIGNS else max(2, memory // bundle.count)
        return limited_blocks(bundle, each - 1, points[0].dual).joined(problem, points[0])
    fitting = points[: max(1, memory // 4)]
    return limited(bundle, memory - len(fitting), points[0].dual).joined(*fitting)
