"""Certificates for points of any solver: what multipliers prove, and how far X is from feasible and optimal."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd.apps.sdp.cones import EPS, Prover, choose_size, measure_gap_scale, measure_margin, move_into_cone
from unipd.apps.sdp.data import FREE, SdpData
from unipd.apps.sdp.program import SDP
from unipd.apps.sdp.solver import describe_point, measure_point
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.io import SdpaProblem, SedumiProblem, read_solution
from unipd.memory import peak_memory
from unipd.problem import ratio
from unipd.run import Result, recheck
from unipd.run.result import ProblemFacts
from unipd.spectral import RIGOROUS
from unipd.status import Status


def certify(problem: Any, dual: Any, x: Any = None, *, accuracy: float = 1e-6, rigorous: bool = False) -> Result:
    """Return what a solution of a semidefinite program proves, whichever solver it comes from.

    In the result, ``dual_bound`` is a proved bound on the optimal value, ``gap`` and ``infeasibility`` are those of X,
    and the status is solved if both are within the accuracy. Any multipliers prove a bound: those with a slack that is
    not psd are shifted along a positive definite combination of the matrices first, and where there is none the bound
    holds for X of bounded size only, as the message says. X is projected onto the cones before it is measured; how far
    it was outside is the second of the ``dimacs_errors``.

    Parameters
    ----------
    problem
        An :class:`SDP`, an :class:`~unipd.io.SdpaProblem` or :class:`~unipd.io.SedumiProblem`, or a file.
    dual
        One multiplier per constraint (of either sign convention: the better bound counts), a result, or a file that
        :func:`unipd.io.read_solution` reads.
    x
        X as factors, as an array, or as a list of blocks; by default that of the result or the file.
    accuracy
        Relative accuracy of gap and feasibility.
    rigorous
        Whether to count the rounding of C + sum y_i A_i and of b^T y too; positive definiteness is proved by a
        factorisation that counts its rounding in any case, up to order 3,000.

    Raises
    ------
    InvalidInput
        ``accuracy``: expected a number above zero.

    See Also
    --------
    SDP, unipd.io.read_solution

    Examples
    --------
    >>> program = SDP.from_matrices(np.diag([3.0, 1.0]), [np.eye(2)], [1.0])
    >>> result = certify(program, [-1.0], np.diag([0.0, 1.0]), rigorous=True)
    >>> result.status.value, round(result.dual_bound, 6), result.bound_kind
    ('solved', 1.0, 'rigorous')
    """
    started, program = time.perf_counter(), as_program(problem)
    data, accuracy = program.data, validate.positive("accuracy", accuracy)
    multipliers, given = _read_dual(data, dual)
    projected, outside = _project(data, given if x is None else x)
    point = measure_point(data, projected)
    scale = math.nan if projected is None else measure_gap_scale(data, point.objective)
    prover = Prover(data, rigorous, math.nan if projected is None else choose_size(data, projected))
    slack = accuracy * scale if projected is not None else 0.0
    proof = prover.prove(multipliers, slack)
    if not point.objective - proof.value <= slack:
        proof = max(proof, prover.prove(-multipliers, slack), key=lambda found: found.value)
    sign, violation = -1.0 if program.maximise else 1.0, data.relative_norm(point.violation)
    rounding = EPS * (abs(proof.value) + abs(program.constant)) if rigorous and program.constant else 0.0
    proved = "All rounding is counted." if rigorous else "Rounding is counted in the factorisation of the slack."
    kind, condition = proof.trace.condition(proof.kind)
    note = f" {proved}{condition}" if proof.kind == RIGOROUS else condition
    extras = describe_point(data, point, proof.dual, proof.margin, proof.trace, outside)
    result = Result(
        status=Status.SOLVED,
        note="Certified to the requested accuracy: feasibility and duality gap were computed anew." + note,
        x=projected,
        image=point.image,
        dual=proof.dual,
        objective=sign * point.objective + program.constant,
        dual_bound=sign * (proof.value - rounding) + program.constant,
        gap=math.nan if projected is None else ratio(point.objective - proof.value, scale),
        infeasibility=violation / data.feasibility_scale(point.image),
        violation=violation,
        bound_kind=kind,
        accuracy=accuracy,
        method="certify",
        seconds=time.perf_counter() - started,
        peak_memory_bytes=peak_memory(),
        extras=extras | {"rounding_counted": rigorous},
        facts=ProblemFacts(
            problem=repr(program),
            maximise=program.maximise,
            scale=scale,
            feasibility_scale=data.feasibility_scale(point.image),
        ),
    )
    missing = f"Not certified to the requested accuracy of {accuracy:g}."
    if projected is None:
        missing = "The bound is proved, but without X there is no gap to certify."
    return recheck(result, Status.STALLED, missing + note)


def as_program(problem: Any) -> SDP:
    """Return the program of a problem in any of its forms."""
    if isinstance(problem, SDP):
        return problem
    if isinstance(problem, SdpaProblem):
        return SDP.from_sdpa(problem)
    if isinstance(problem, SedumiProblem):
        return SDP.from_sedumi(problem)
    if isinstance(problem, (str, os.PathLike)):
        return SDP.from_file(problem)  # pyright: ignore[reportUnknownArgumentType]
    raise InvalidInput("problem", "an SDP, or a file that holds one", validate.describe_type(problem))


def _read_dual(data: SdpData, dual: Any) -> tuple[Array, Any]:
    """Return the multipliers, and X where it comes with them."""
    if isinstance(dual, (str, os.PathLike)):
        sizes = [-block.size if block.is_vector else block.size for block in data.blocks]
        return read_solution(dual, data.size, sizes)  # pyright: ignore[reportUnknownArgumentType]
    x = dual.x if isinstance(dual, Result) else None
    values = dual.dual if isinstance(dual, Result) else dual
    return validate.real_array("dual", values, shape=(data.size,)).astype(np.float64), x


def _split_point(data: SdpData, x: Any) -> list[Array]:
    """Return the blocks of X: matrices, and vectors."""
    blocks = data.blocks
    if isinstance(x, LowRank):
        if x.shape != (data.order, data.order) or not x.hermitian:
            raise InvalidInput("x", f"factors R of X = R R^T with {data.order} rows", f"shape {x.shape}")
        return [data.block(x, index) for index in range(len(blocks))]
    if isinstance(x, (list, tuple)) and len(x) == len(blocks) and np.ndim(x[0]) > 0:  # pyright: ignore[reportUnknownArgumentType]
        given: Sequence[Any] = x  # pyright: ignore[reportUnknownVariableType]
        parts: list[Array] = []
        for index, (block, part) in enumerate(zip(blocks, given, strict=True)):
            shape = (block.size,) if block.is_vector else (block.size, block.size)
            is_flat = block.is_vector and np.shape(part) == (block.size, block.size)
            parts.append(validate.real_array(f"x[{index}]", np.diag(part) if is_flat else part, shape=shape))
        return parts
    whole = validate.real_array("x", x, shape=(data.order, data.order)).astype(np.float64)
    return [whole.diagonal()[block.rows] if block.is_vector else whole[block.rows, block.rows] for block in blocks]


def _project(data: SdpData, x: Any) -> tuple[LowRank | None, float]:
    """Return X projected onto the cones (raised into second-order ones), and how far outside it was, at most.

    X = R R^T is psd as it is, and stays in factors.
    """
    if x is None:
        return None, math.nan
    is_psd = isinstance(x, LowRank) and x.hermitian and data.is_psd and bool((x.weights >= 0.0).all())
    if is_psd and x.shape == (data.order, data.order):
        return x, 0.0
    parts = list(zip(data.blocks, _split_point(data, x), strict=True))
    margins = [measure_margin(block, 0.5 * (part + part.T)) for block, part in parts if block.kind != FREE]
    return data.point([move_into_cone(block, part) for block, part in parts]), max(0.0, -min(margins, default=0.0))
