"""Programs that have no solution: their results, and constraints that contradict themselves."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.sdp.data import SdpData
from unipd.apps.sdp.result import SdpResult
from unipd.atoms import LowRank
from unipd.memory import peak_memory
from unipd.methods.base import Counts
from unipd.run import History
from unipd.status import Status


def contradiction(program: Any, accuracy: float) -> SdpResult | None:
    """Return the result of a program with a constraint on nothing that asks for something, 0 = b with b != 0.

    >>> from unipd.apps.sdp import SDP
    >>> contradiction(SDP.from_matrices(np.eye(2), [np.eye(2), np.zeros((2, 2))], [1.0, 3.0]), 1e-6).message
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
