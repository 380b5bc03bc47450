"""Solve a problem on several ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unipd.cluster.agreement import require_same
from unipd.cluster.together import session
from unipd.problem import Problem
from unipd.run import Moment, Result, solve


def run(
    problem: Problem,
    method: Any = "auto",
    *,
    comm: Any = None,
    threads: int | None = None,
    verbose: bool = False,
    callback: Callable[[Moment], bool | None] | None = None,
    **options: Any,
) -> Result:
    """Solve a problem as :func:`unipd.solve` does, its products divided among the ranks; every rank has the result.

    All ranks call this with the same problem and the same options, which is checked. Only rank 0 shows progress and
    writes checkpoints. A callback may stop the run on any rank: then all stop.

    Parameters
    ----------
    problem, method, callback
        As in :func:`unipd.solve`.
    comm
        An mpi4py communicator; default: all processes.
    threads
        Threads of each rank; default: the cores of a machine by the ranks on it.
    verbose
        Whether rank 0 shows progress.
    options
        More for :func:`unipd.solve`: ``accuracy``, ``stop``, ``tracker``, ``start``, options of the method.
    """
    with session(comm, threads=threads) as team:
        ranks = team.ranks
        require_same(ranks, "the options", {"method": _named(method), **{k: _named(v) for k, v in options.items()}})

        def agreed(moment: Moment) -> bool:
            own = bool(callback is not None and callback(moment))
            return bool(ranks.summed(np.array([int(own)]))[0])

        heard = None if callback is None and not _any(ranks, callback) else agreed
        return solve(team.divided(problem), method, verbose=verbose and team.leads, callback=heard, **options)


def _any(ranks: Any, callback: Any) -> bool:
    return bool(ranks.summed(np.array([int(callback is not None)]))[0])


def _named(value: Any) -> Any:
    """Return what tells values apart: arrays and plain values themselves, of objects the kind and what they print."""
    dual = getattr(value, "dual", None)
    if isinstance(dual, np.ndarray):
        return dual
    if isinstance(value, (np.ndarray, str, int, float, bool, type(None))):
        return value
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text
