"""Generated problems for trying and comparing methods, by name and size."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from unipd.apps.sdp import SDP
    from unipd.problem import Problem


def least_squares(size: int, seed: int) -> Problem:
    """Return 1/2 ||A x - b||^2 over an l1 ball, with a sparse truth and a little noise."""
    import unipd

    random = np.random.default_rng(seed)
    rows = max(4, size // 4)
    A = random.standard_normal((rows, size)) / np.sqrt(rows)
    truth = np.zeros(size)
    truth[random.choice(size, max(1, rows // 10), replace=False)] = 1.0
    b = A @ truth + 0.05 * random.standard_normal(rows)
    return unipd.Problem(unipd.sharp.L1Ball(size, 0.9 * float(truth.sum())), A, b, unipd.couplings.LeastSquares())


def linear_program(size: int, seed: int) -> Problem:
    """Return min c^T x over the simplex subject to A x = b, with b from the middle of the simplex."""
    import unipd

    random = np.random.default_rng(seed)
    rows = max(2, size // 20)
    A = random.standard_normal((rows, size)) / np.sqrt(size)
    sharp = unipd.sharp.Linear(random.random(size), unipd.sharp.Simplex(size))
    return unipd.Problem(sharp, A, A @ np.full(size, 1.0 / size), "=")


def maximum_cut(size: int, seed: int) -> SDP:
    """Return the semidefinite relaxation of the maximum cut of a random graph with about four edges a node."""
    import scipy.sparse as sp

    from unipd.apps.sdp import SDP
    from unipd.io.sdpa import SdpaProblem

    random = np.random.default_rng(seed)
    ends = np.sort(random.integers(0, size, (2, 4 * size)), axis=0)
    ends = np.unique(ends[:, ends[0] < ends[1]], axis=1)
    weights = sp.csr_array((np.ones(ends.shape[1]), (ends[0], ends[1])), (size, size))
    degrees = np.asarray((weights + weights.T).sum(axis=1)).reshape(-1)
    nodes, edges = np.arange(size), ends.shape[1]
    return SDP.from_sdpa(
        SdpaProblem(
            b=np.ones(size),
            block_sizes=(size,),
            constraint=np.concatenate([np.zeros(edges + size, int), nodes + 1]),
            block=np.zeros(edges + 2 * size, int),
            row=np.concatenate([ends[0], nodes, nodes]),
            col=np.concatenate([ends[1], nodes, nodes]),
            value=np.concatenate([np.full(edges, -0.25), 0.25 * degrees, np.ones(size)]),
        )
    )


DEMOS: dict[str, tuple[Callable[[int, int], Any], int, str]] = {
    "least-squares": (least_squares, 800, "least squares over an l1 ball"),
    "linear-program": (linear_program, 400, "a linear program over the simplex"),
    "maxcut": (maximum_cut, 100, "the semidefinite relaxation of a maximum cut"),
}
"""Maker, usual size and description of each generated problem."""
