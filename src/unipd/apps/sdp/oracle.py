"""The sharp oracle of a semidefinite program: <C, X> over psd matrices of given trace, with its certificates.

How sure a bound is depends on the order n of the matrix S = C + A^*(lam):

- n <= 2000: a dense eigensolver at every call, with a proof by a Cholesky factorisation;
- n <= 3000: Lanczos during the run; the final bound is proved by Cholesky factorisations of S + shift I;
- above: Lanczos; the final bound is that of Kuczynski and Wozniakowski, wrong with a stated small probability.
"""

from __future__ import annotations

from typing import Any

from unipd.atoms import LowRank
from unipd.maps.sdp import cholesky_bound
from unipd.maps.sdp.certificate import smallest_eigenpair
from unipd.protocols import SharpAnswer
from unipd.sharp import Linear
from unipd.sharp.spectral_trace import Spectrahedron, TraceBall
from unipd.spectral import PROBABILISTIC, RIGOROUS, Certification, certified_upper

DENSE_ORDER = 2000
"""Largest order at which every call solves a dense eigenvalue problem."""
CHOLESKY_ORDER = 3000
"""Largest order at which a final bound is proved by dense Cholesky factorisations."""
ATTEMPTS = 8
"""Shifts tried, each four times the last, before a probabilistic bound is taken."""


WIDER = 5.0
"""A probabilistic bound may be so many times wider than asked: its cost is as one over the root of the width."""
CERTIFICATION = Certification(steps=30_000)
"""The bottom of S is a cluster at zero, which takes many (cheap) Lanczos steps to tell from below."""


class _Ladder:
    """Answers over a spectrahedron or trace ball with the strongest affordable certificate."""

    def answer(self: Any, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the atom of the top eigenpair of -S."""
        if self.shape[0] <= DENSE_ORDER and hasattr(direction, "toarray"):
            return self._dense_answer(direction)
        if certify == PROBABILISTIC:
            found = super().answer(direction, tolerance, start, "residual")  # type: ignore[misc]
            return self._likely(direction, found, WIDER * tolerance)
        if certify != RIGOROUS or not hasattr(direction, "toarray"):
            return super().answer(direction, tolerance, start, certify)  # type: ignore[misc]
        return self._proved(direction, super().answer(direction, tolerance, start, "residual"), tolerance)  # type: ignore[misc]

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
        proven = certified_upper(direction, plan.steps, plan.delta, plan.seed, tolerance=width)
        matvecs, upper = found.matvecs + proven.matvecs, max(proven.upper, top)
        return self._joined(found.atom.left, found.atom.left, top, upper, matvecs, proven.bound)

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


class SdpCost(Linear):
    """f(X) = <C, X> over such a set, for directions on the pattern that C shares with the constraints.

    Parameters
    ----------
    joint
        The program's map with its cost: ``cost``, ``slack``, ``cost_and_image`` and ``minus``.
    oracle
        The set.
    """

    def __init__(self, joint: Any, oracle: Spectrahedron) -> None:
        super().__init__(joint.cost, oracle)
        self.joint = joint

    def _shifted(self, direction: Any) -> Any:
        return self.joint.minus(direction, self.cost)

    def objective(self, x: Any) -> float:
        """Return <C, X>."""
        return self.joint.cost_and_image(x)[0]
