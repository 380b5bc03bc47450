"""One top singular triple in one compiled call, for operators that do Golub-Kahan steps by themselves.

Python between the steps, and around them, would take as long as the products of a small operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.pulse import beat
from unipd.spectral.stopping import ALLOWED


class Brief:
    """A run of single-vector steps from one starting vector, up to where a restart or a breakdown needs more care.

    Parameters
    ----------
    operator
        Matrix M with the method ``brief_run`` (:class:`~unipd.maps.sampled_matrix.SampledMatrix`).
    adjoint
        Whether steps are done with M^*; the matrix of the steps has at least as many rows as columns.
    subspace
        Steps that there is room for; what is not used of it is never touched.

    Examples
    --------
    >>> from unipd.maps import Sampling
    >>> matrix = Sampling([0, 0, 1, 1, 2], [0, 1, 0, 1, 1], (3, 2)).adjoint(np.array([3.0, 0.0, 0.0, 1.0, 0.0]))
    >>> run, goals = Brief(matrix, False, 40), np.array([0.0, 1.0, np.inf, -1.0, 1.0] + 5 * [0.0])
    >>> value, residual, left, right = run.triple((np.ones(2), np.ones(2), 0.0), 4000, goals, None)
    >>> round(value, 3), run.known, run.made
    (2.236, 1, 2)
    """

    def __init__(self, operator: Any, adjoint: bool, subspace: int) -> None:
        self.operator, self.adjoint = operator, adjoint
        rows, columns = operator.shape[::-1] if adjoint else operator.shape
        room, dtype = min(columns, subspace + 1), operator.dtype
        self.bases: tuple[Array, Array] = np.empty((room, rows), dtype), np.empty((room, columns), dtype)
        self.small: FloatArray = np.empty((4, room))  # the bands of B and the notes of the steps
        self.known = self.made = 0
        self.stuck = self.unfit = False

    def triple(
        self,
        start: tuple[Array, FloatArray, float],
        most: int,
        goals: FloatArray,
        value: Callable[[float], float] | None,
    ) -> tuple[float, float, Array, Array] | None:
        """Return the top Ritz value, its residual norm, left and right vector; None where the goals were not reached.

        The run can then be gone on with, unless the starting vector was ``unfit``: not finite.

        Parameters
        ----------
        start
            Starting right vector, the random unit vector that is mixed into it, and the share of that.
        most
            Largest number of products.
        goals
            Numbers of the stopping rule (:func:`unipd.spectral.ritz_kernels.may_stop`).
        value
            Error allowed in the top value where that depends on the value: the goals are drawn tighter until both fit.
        """
        # Arrays that compiled code returns take longer than those it is given.
        (_, rows), (room, columns), dtype = self.bases[0].shape, self.bases[1].shape, self.bases[0].dtype
        left, right = np.empty(rows, dtype), np.empty(columns, dtype)
        last = min(room - 1, most // 2 - 1)
        while True:
            done, made, top, residual = self.operator.brief_run(
                start, self.bases, self.small, self.known, last, goals, (left, right), adjoint=self.adjoint
            )
            self.known, self.made = self.known + done, self.made + made
            self.unfit, self.stuck = made < 0, made > 2 * done
            beat("singular vectors", made)
            if top == 0.0:
                return None
            allowed = goals[ALLOWED] if value is None else value(top)
            if allowed >= goals[ALLOWED]:
                return top, residual, left, right
            goals[ALLOWED] = allowed
