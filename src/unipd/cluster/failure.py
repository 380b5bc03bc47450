"""How a failure on one rank ends all of them, and reaches the user once."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from unipd.cluster.agreement import digest

PATIENCE = 2.0
"""Seconds that a failed rank waits for the others to fail alike."""
NAP = 1e-3


class Failure:
    """The way out for a rank that has failed.

    Parameters
    ----------
    comm
        An mpi4py communicator; it is duplicated, so that these messages never meet those of the solver.
    """

    def __init__(self, comm: Any) -> None:
        self._comm = comm.Dup()
        self._rank, self._size = int(comm.Get_rank()), int(comm.Get_size())

    def ends(self, line: str, code: int, patience: float = PATIENCE) -> None:
        """Return when every rank has failed with the same words; otherwise say which rank failed and end all."""
        if self._size == 1 or self._all_alike(line, patience):
            return
        print(f"unipd: rank {self._rank} of {self._size}: {line}", file=sys.__stderr__, flush=True)
        time.sleep(0.1)  # the launcher passes the line on before it is told to stop
        self._comm.Abort(code)

    def _all_alike(self, line: str, patience: float) -> bool:
        mine, everyone = np.array([digest(line)], np.int64), np.empty(self._size, np.int64)
        request = self._comm.Iallgather(mine, everyone)
        until = time.perf_counter() + patience
        while not request.Test():
            if time.perf_counter() > until:
                return False
            time.sleep(NAP)
        return bool((everyone == mine[0]).all())
