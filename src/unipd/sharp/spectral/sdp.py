"""The sharp oracle of a semidefinite program: <C, X> over psd matrices of fixed or bounded trace.

Every answer comes with the strongest affordable certificate: a dense eigenvalue problem for small orders, else a
compiled Lanczos run, and for final bounds a Cholesky factorisation (rigorous) or an independent run (probabilistic).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd.atoms import LowRank
from unipd.protocols import SharpAnswer
from unipd.sharp.linear import Linear
from unipd.sharp.spectral.base import warm_start
from unipd.sharp.spectral.spectrahedron import Spectrahedron, TraceBall
from unipd.spectral import (
    PROBABILISTIC,
    RESIDUAL,
    RIGOROUS,
    Certification,
    certified_upper,
    cholesky_bound,
    has_compiled_lanczos,
    smallest_eigenpair,
    top_eigenvalue,
)
from unipd.spectral.certify import CERTIFICATE_STREAM, as_dense

SMALL_ORDER = 150
"""Largest order at which every call solves a dense eigenvalue problem."""
DENSE_ORDER = 2000
"""Largest order at which a dense eigenvalue problem is solved when n Lanczos steps are not conclusive."""
CHOLESKY_ORDER = 3000
"""Largest order at which a final bound is proved by dense Cholesky factorisations."""
ATTEMPTS = 8
"""Shifts tried, each four times the last, before settling for a probabilistic bound."""
WIDTH_FACTOR = 5.0
"""A probabilistic bound may be this much wider than the tolerance: its cost grows as one over the root of the width."""
ATOM_FAILURE_PROBABILITY = 0.1
"""Probability with which the error of an intermediate answer may be wrong."""
ATOM_STREAM = 0xA70
"""Second word of the seeds of atoms: their random vectors are independent of those of certificates."""
CERTIFICATION = Certification(steps=60_000)
"""The bottom of S is a cluster at zero, which takes many (cheap) Lanczos steps to bound from below."""


class FixedTrace(Spectrahedron):
    """{X psd, tr X = a}, with the strongest affordable certificate in every answer.

    >>> import numpy as np
    >>> FixedTrace(2, 3.0)(np.diag([-2.0, -1.0])).value
    -3.0
    """

    def __init__(self, size: int, trace: float = 1.0) -> None:
        super().__init__(size, trace, certification=CERTIFICATION)

    def final_kind(self, affordable: bool) -> str:
        """Return "rigorous" up to the order at which Cholesky factorisations are affordable."""
        return super().final_kind(self.shape[0] <= CHOLESKY_ORDER)

    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the atom of the top eigenpair of -S."""
        order, is_compiled = self.shape[0], has_compiled_lanczos(direction)
        if order <= (SMALL_ORDER if is_compiled else DENSE_ORDER):
            return self._dense_answer(direction)
        if is_compiled and certify == PROBABILISTIC:
            found = self._reuse_atom(direction, tolerance, start)
        elif is_compiled:
            is_small = order <= DENSE_ORDER
            steps = order if is_small else self.certification.steps
            found, is_narrow = self._by_recurrence(direction, tolerance, steps)
            if is_small and not is_narrow:
                return self._dense_answer(direction)
        else:
            found = super().answer(direction, tolerance, start, RESIDUAL)
        if certify == PROBABILISTIC:
            return self._certify_probabilistic(direction, found, WIDTH_FACTOR * tolerance)
        return self._certify_rigorous(direction, found, tolerance) if certify == RIGOROUS else found

    def _dense_answer(self, direction: Any) -> SharpAnswer:
        found = smallest_eigenpair(-as_dense(direction))
        vectors = found.vector[:, None]
        return self._make_answer(vectors, vectors, -found.value, -found.lower, direction.shape[0], RIGOROUS)

    def _by_recurrence(self, direction: Any, tolerance: float, steps: int) -> tuple[SharpAnswer, bool]:
        """Return the atom of a Lanczos run, and whether its (likely) error is within the tolerance."""
        plan = self.certification
        width = self.top_value_tolerance(0.0, WIDTH_FACTOR * tolerance)
        run = top_eigenvalue(direction, width, ATOM_FAILURE_PROBABILITY, steps, [plan.seed, ATOM_STREAM], vector=True)
        assert run.vector is not None
        left = run.vector[:, None]
        top = float(run.vector @ direction.matvec(run.vector))
        found = self._make_answer(left, left, top, max(run.upper, top), run.matvecs, RESIDUAL)
        return found, run.upper - run.lower <= width

    def _reuse_atom(self, direction: Any, tolerance: float, start: Any) -> SharpAnswer:
        """Return the answer with a recent atom, or a new one without any: a bound needs no better atom."""
        if warm_start(start, self.shape) is None:
            return self._by_recurrence(direction, tolerance, self.certification.steps)[0]
        left = start.left[:, :1] / np.linalg.norm(start.left[:, 0])
        top = float(left[:, 0] @ direction.matvec(left[:, 0]))
        return self._make_answer(left, left, top, math.inf, 1, RESIDUAL)

    def _certify_probabilistic(self, direction: Any, found: SharpAnswer, tolerance: float) -> SharpAnswer:
        """Return the answer with the bound of one long Lanczos run from an independent random vector."""
        plan, top = self.certification, _rayleigh(direction, found.atom)
        width = self.top_value_tolerance(top, tolerance)
        seed = [plan.seed, CERTIFICATE_STREAM]
        proven: Any = (
            top_eigenvalue(direction, width, plan.delta, plan.steps, seed)
            if has_compiled_lanczos(direction)
            else certified_upper(direction, plan.steps, plan.delta, plan.seed, tolerance=width)
        )
        matvecs, upper = found.matvecs + proven.matvecs, max(proven.upper, top)
        return self._make_answer(found.atom.left, found.atom.left, top, upper, matvecs, PROBABILISTIC)

    def _certify_rigorous(self, direction: Any, found: SharpAnswer, tolerance: float) -> SharpAnswer:
        """Return the answer with an upper bound proved by a Cholesky factorisation, or unchanged if none succeeds."""
        top = _rayleigh(direction, found.atom)
        width = max(self.top_value_tolerance(top, tolerance), 1e-14 * max(1.0, abs(top)))
        negated = -as_dense(direction)
        for _ in range(ATTEMPTS):
            lower = cholesky_bound(negated, top + width)
            if lower is not None:
                return self._make_answer(found.atom.left, found.atom.left, top, -lower, found.matvecs, RIGOROUS)
            width *= 4.0
        return found


def _rayleigh(direction: Any, atom: LowRank) -> float:
    vector = atom.left[:, 0]
    return float(vector @ direction.matvec(vector)) / float(vector @ vector)


class BoundedTrace(FixedTrace, TraceBall):
    """{X psd, tr X <= a}, with the same certificates.

    >>> import numpy as np
    >>> BoundedTrace(2, 3.0)(np.diag([-2.0, -1.0])).value
    0.0
    """


class SdpCost(Linear):
    """f(X) = <C, X> over such a set, for directions on the common pattern of C and the constraints.

    Parameters
    ----------
    cost_map
        The map of cost and constraints (:class:`unipd.maps.sdp.CostAndConstraintsMap`).
    oracle
        The set.
    maximise, constant
        How progress is displayed: with the sign of a maximisation, and with the constant added.
    """

    def __init__(self, cost_map: Any, oracle: FixedTrace, maximise: bool = False, constant: float = 0.0) -> None:
        super().__init__(cost_map.cost, oracle)
        self.cost_map, self.maximise, self.constant = cost_map, maximise, constant

    def display_value(self, value: float) -> float:
        """Return an objective or a bound in the sense of the program."""
        return (-value if self.maximise else value) + self.constant

    def _shift_direction(self, direction: Any) -> Any:
        return direction - self.cost

    def objective(self, x: Any) -> float:
        """Return <C, X>."""
        return self.cost_map.cost_and_image(x)[0]

    def maximum(self) -> float:
        """Return an upper bound on <C, X>: for large sparse C that of Gershgorin, valid but not tight."""
        if self.shape[0] <= SMALL_ORDER or not has_compiled_lanczos(self.cost):
            return super().maximum()
        trace: float = self.oracle.trace  # type: ignore[attr-defined]
        return trace * float(abs(self.cost.tocsr()).sum(axis=1).max())
