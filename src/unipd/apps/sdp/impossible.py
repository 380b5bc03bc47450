"""Programs that have no solution: their results, and constraints that contradict themselves."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from unipd._typing import Array
from unipd.apps.sdp.data import SdpData
from unipd.apps.sdp.result import SdpResult
from unipd.atoms import LowRank
from unipd.memory import peak_memory
from unipd.methods.base import Counts
from unipd.run import History
from unipd.status import Status

STEPS = 100
"""Most steps of the least-squares problem that looks for equations at odds, ..."""
LARGEST_DATA = 2_000_000
"""... and most entries with which it is looked at."""
VANISHES = 1e-11
"""Frobenius norm of a combination of matrices of unit norm, weights of unit length, that counts as zero."""


def contradiction(program: Any, accuracy: float) -> SdpResult | None:
    """Return the result of a program whose constraints, apart from X psd, contradict themselves; else None."""
    return _on_nothing(program, accuracy) or _at_odds(program, accuracy)


def _on_nothing(program: Any, accuracy: float) -> SdpResult | None:
    """Return the result of a program with a constraint on nothing that asks for something, 0 = b with b != 0.

    >>> from unipd.apps.sdp import SDP
    >>> _on_nothing(SDP.from_matrices(np.eye(2), [np.eye(2), np.zeros((2, 2))], [1.0, 3.0]), 1e-6).message
    'No X is feasible: A_2 is zero, and constraint 2 asks that <A_2, X> = 3.'
    """
    begun, data = time.perf_counter(), program.data
    wrong = (data.extended.frobenius_norms()[1:] == 0.0) & ((data.lower > 0.0) | (data.upper < 0.0))
    if not wrong.any():
        return None
    row = int(np.flatnonzero(wrong)[0])
    above = bool(data.lower[row] > 0.0)
    sense = "=" if data.equal[row] else ">=" if above else "<="
    asked = f"{data.lower[row] if above else data.upper[row]:.6g}"
    message = (
        f"No X is feasible: A_{row + 1} is zero, and constraint {row + 1} asks that <A_{row + 1}, X> {sense} {asked}."
    )
    return without_bound(
        program, message, accuracy, begun, None, (-1.0 if above else 1.0) * np.eye(1, data.size, row)[0]
    )


def _at_odds(program: Any, accuracy: float) -> SdpResult | None:
    """Return the result of a program with equations that no symmetric X meets to the accuracy.

    The residual of min ||A(X) - b|| over symmetric X gives y with A^*(y) = 0 and b^T y < 0. Every X then has
    ||A(X) - b|| >= |b^T y| / ||y||.

    >>> from unipd.apps.sdp import SDP
    >>> _at_odds(SDP.from_matrices(np.eye(2), [np.eye(2), 2.0 * np.eye(2)], [1.0, 3.0]), 1e-6).message[:55]
    'No X is feasible: the equations contradict each other, '
    """
    begun, data = time.perf_counter(), program.data
    if data.constraints.value.size > LARGEST_DATA:
        return None
    y = _contradicting(data)
    if y is None or -float(y @ data.b) <= accuracy * (1.0 + float(np.linalg.norm(data.b))) * float(np.linalg.norm(y)):
        return None
    message = (
        "No X is feasible: the equations contradict each other, since the dual vector returned makes sum y_i A_i zero "
        "(up to rounding) and b^T y negative."
    )
    if program.sdpa:
        message += " In SDPA's terms the dual problem, max <F0, Y>, is infeasible."
    return without_bound(program, message, accuracy, begun, None, y)


def _contradicting(data: SdpData) -> Array | None:
    """Return y with sum_i y_i A_i = 0 (up to rounding) and b^T y < 0, zero for inequalities; None if none is found."""
    rows = _equations(data)
    b = np.where(data.equal, data.b / data.norms, 0.0)
    rest = b - rows @ lsqr(rows, b, atol=1e-15, btol=1e-15, conlim=0.0, iter_lim=STEPS)[0]
    size = float(np.linalg.norm(rest))
    if size == 0.0 or float(np.linalg.norm(rows.T @ rest)) > VANISHES * size:
        return None
    return -rest / data.norms


def _equations(data: SdpData) -> Any:
    """Return the sparse matrix with the upper triangles of the A_i, of unit norm, as rows; none for inequalities."""
    entries = data.constraints
    row, col = (side(entries.row, entries.col).astype(np.int64) for side in (np.minimum, np.maximum))
    values = np.where(row == col, 1.0, np.sqrt(2.0)) * entries.value / data.norms[entries.constraint]
    places, place = np.unique(row * data.order + col, return_inverse=True)
    used = np.where(data.equal[entries.constraint], values, 0.0)
    return sp.csr_array((used, (entries.constraint, place)), shape=(data.size, places.size))


def without_bound(
    program: Any, message: str, accuracy: float, begun: float, x: LowRank | None, dual: Array
) -> SdpResult:
    """Return the result of a program that has no feasible X (``x`` None), or none with a finite bound.

    ``dual`` is the proof of the first, ``x`` of the second: a direction in which the objective improves for ever.
    """
    data: SdpData = program.data
    nan, sign = float("nan"), -1.0 if program.maximise else 1.0
    image = np.full(data.size, nan) if x is None else data.extended.image(x)[1:]
    return SdpResult(
        status=Status.INFEASIBLE,
        message=message,
        objective=nan,
        dual_bound=sign * (np.inf if x is None else -np.inf),
        gap=nan,
        infeasibility=nan,
        bound_kind="rigorous",
        x=x,
        dual=dual,
        slack=data.extended.adjoint(np.concatenate([np.zeros(1), dual])),
        dimacs_errors=(nan,) * 6,
        trace_bound=None,
        blocks=data.blocks,
        accuracy=accuracy,
        method="alternative",
        iterations=0,
        counts=Counts(),
        seconds=time.perf_counter() - begun,
        peak_memory_bytes=peak_memory(),
        history=History(),
        problem=None,
        image=image,
    )
