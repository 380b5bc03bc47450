"""Oracles over psd matrices of given trace, with their certificates.

How sure a bound is depends on the order n of the matrix S = C + A^*(lam):

- n <= 2000: Lanczos during the run, a dense eigensolver where that does not tell enough (or n <= 150); the final
  bound is proved by Cholesky factorisations of S + shift I;
- n <= 3000: Lanczos during the run; the final bound is proved by Cholesky factorisations of S + shift I;
- above: Lanczos; the final bound is that of Kuczynski and Wozniakowski, wrong with a stated small probability.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd.atoms import LowRank
from unipd.maps.sdp import cholesky_bound
from unipd.maps.sdp.certificate import smallest_eigenpair
from unipd.maps.sdp.recurrence import serves, top_eigenvalue
from unipd.protocols import SharpAnswer
from unipd.sharp.spectral_base import warm_start
from unipd.sharp.spectral_trace import Spectrahedron, TraceBall
from unipd.spectral import PROBABILISTIC, RESIDUAL, RIGOROUS, Certification, certified_upper
from unipd.spectral.certify import CERTIFICATE_STREAM

SMALL_ORDER = 150
"""Largest order at which every call solves a dense eigenvalue problem."""
DENSE_ORDER = 2000
"""Largest order at which a dense eigenvalue problem is solved where n Lanczos steps do not tell enough."""
CHOLESKY_ORDER = 3000
"""Largest order at which a final bound is proved by dense Cholesky factorisations."""
ATTEMPTS = 8
"""Shifts tried, each four times the last, before a probabilistic bound is taken."""


WIDER = 5.0
"""A probabilistic bound may be so many times wider than asked: its cost is as one over the root of the width."""
LIKELY = 0.1
"""Probability with which the error of an answer on the way may be wrong."""
ATOM_STREAM = 0xA70
"""Second word of the seeds of atoms, whose random vectors are not those of certificates."""
CERTIFICATION = Certification(steps=60_000)
"""The bottom of S is a cluster at zero, which takes many (cheap) Lanczos steps to tell from below."""


class _Ladder:
    """Answers over a spectrahedron or trace ball with the strongest affordable certificate."""

    def answer(self: Any, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the atom of the top eigenpair of -S."""
        order = self.shape[0]
        small = order <= DENSE_ORDER and hasattr(direction, "toarray")
        if small and (order <= SMALL_ORDER or not serves(direction)):
            return self._dense_answer(direction)
        if not serves(direction):
            return self._by_products(direction, tolerance, start, certify)
        if certify == PROBABILISTIC:
            return self._likely(direction, self._known(direction, tolerance, start), WIDER * tolerance)
        found, narrow = self._by_recurrence(direction, tolerance, order if small else self.certification.steps)
        if small and not narrow:
            return self._dense_answer(direction)
        return found if certify != RIGOROUS else self._proved(direction, found, tolerance)

    def _by_products(self: Any, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Answer for an operator that is known by its products only."""
        if certify == PROBABILISTIC:
            found = super().answer(direction, tolerance, start, RESIDUAL)  # type: ignore[misc]
            return self._likely(direction, found, WIDER * tolerance)
        if certify != RIGOROUS or not hasattr(direction, "toarray"):
            return super().answer(direction, tolerance, start, certify)  # type: ignore[misc]
        return self._proved(direction, super().answer(direction, tolerance, start, RESIDUAL), tolerance)  # type: ignore[misc]

    def _by_recurrence(self: Any, direction: Any, tolerance: float, steps: int) -> tuple[SharpAnswer, bool]:
        """Return the atom of a Lanczos run, and whether its error is small enough; it is likely, nothing more."""
        plan = self.certification
        width = self.allowed(0.0, WIDER * tolerance)
        run = top_eigenvalue(direction, width, LIKELY, steps, [plan.seed, ATOM_STREAM], vector=True)
        assert run.vector is not None
        left = run.vector[:, None]
        top = float(run.vector @ direction.matvec(run.vector))
        found = self._joined(left, left, top, max(run.upper, top), run.matvecs, RESIDUAL)
        return found, run.upper - run.lower <= width

    def _known(self: Any, direction: Any, tolerance: float, start: Any) -> SharpAnswer:
        """Return the answer with a recent atom, or with a new one where there is none: a bound needs no better."""
        if warm_start(start, self.shape) is None:
            return self._by_recurrence(direction, tolerance, self.certification.steps)[0]
        left = start.left[:, :1] / np.linalg.norm(start.left[:, 0])
        top = float(left[:, 0] @ direction.matvec(left[:, 0]))
        return self._joined(left, left, top, math.inf, 1, RESIDUAL)

    def __init__(self, size: int, trace: float = 1.0, **options: Any) -> None:
        options.setdefault("certification", CERTIFICATION)
        super().__init__(size, trace, **options)  # type: ignore[call-arg]

    def final_kind(self: Any, affordable: bool) -> str:
        """Return "rigorous" up to the order at which Cholesky factorisations are affordable."""
        return super().final_kind(self.shape[0] <= CHOLESKY_ORDER)  # type: ignore[misc]

    def _dense_answer(self: Any, direction: Any) -> SharpAnswer:
        found = smallest_eigenpair(_Negated(direction))
        vectors = found.vector[:, None]
        return self._joined(vectors, vectors, -found.value, -found.lower, direction.shape[0], RIGOROUS)

    def _likely(self: Any, direction: Any, found: SharpAnswer, tolerance: float) -> SharpAnswer:
        """Return the answer with the bound of one long Lanczos run from an independent random vector."""
        plan, top = self.certification, _rayleigh(direction, found.atom)
        width = self.allowed(top, tolerance)
        seed = [plan.seed, CERTIFICATE_STREAM]
        proven: Any = (
            top_eigenvalue(direction, width, plan.delta, plan.steps, seed)
            if serves(direction)
            else certified_upper(direction, plan.steps, plan.delta, plan.seed, tolerance=width)
        )
        matvecs, upper = found.matvecs + proven.matvecs, max(proven.upper, top)
        return self._joined(found.atom.left, found.atom.left, top, upper, matvecs, PROBABILISTIC)

    def _proved(self: Any, direction: Any, found: SharpAnswer, tolerance: float) -> SharpAnswer:
        """Return an answer whose upper bound a Cholesky factorisation proves, or the one found when none does."""
        top = _rayleigh(direction, found.atom)
        width = max(self.allowed(top, tolerance), 1e-14 * max(1.0, abs(top)))
        negated = _Negated(direction)
        for _ in range(ATTEMPTS):
            lower = cholesky_bound(negated, top + width)
            if lower is not None:
                return self._joined(found.atom.left, found.atom.left, top, -lower, found.matvecs, RIGOROUS)
            width *= 4.0
        return found


def _rayleigh(direction: Any, atom: LowRank) -> float:
    vector = atom.left[:, 0]
    return float(vector @ direction.matvec(vector)) / float(vector @ vector)


class _Negated:
    """-Y, made dense."""

    def __init__(self, direction: Any) -> None:
        self._direction = direction

    def toarray(self) -> Any:
        return -self._direction.toarray()


class FixedTrace(_Ladder, Spectrahedron):
    """{X psd, tr X = a} with the certificates of this module.

    >>> import numpy as np
    >>> FixedTrace(2, 3.0)(np.diag([-2.0, -1.0])).value
    -3.0
    """


class BoundedTrace(_Ladder, TraceBall):
    """{X psd, tr X <= a} with the certificates of this module.

    >>> import numpy as np
    >>> BoundedTrace(2, 3.0)(np.diag([-2.0, -1.0])).value
    0.0
    """
