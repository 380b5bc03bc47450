"""Oracles whose maximiser is one top singular or eigenvector pair, weighted by a function of the top value."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from unipd._typing import Array
from unipd.atoms import LowRank
from unipd.protocols import SharpAnswer
from unipd.records import made
from unipd.sharp.spectral_base import LOOSEST_RESIDUAL, SpectralSharp, excess, stronger, warm_start, weights_of
from unipd.spectral import Engine, certify_eigenvalues, certify_singular_value


class RankOneSharp(SpectralSharp):
    """Base: the conjugate is an increasing function of the top value s, and x = weight(s) u v^*."""

    @abstractmethod
    def weight(self, top: float) -> float:
        """Return the weight of the rank-one atom for a top value s."""

    @abstractmethod
    def conjugate(self, top: float) -> float:
        """Return the maximum for a top value s; nondecreasing in s."""

    @abstractmethod
    def allowed(self, top: float, tolerance: float) -> float:
        """Return by how much s may fall short so that the conjugate falls short by the tolerance.

        The same for all s where the conjugate is of degree 1.
        """

    def _joined(self, left: Array, right: Array, top: float, upper: float, matvecs: int, bound: str) -> SharpAnswer:
        weight, value = self.weight(top), self.conjugate(top)
        return made(
            SharpAnswer,
            atom=made(LowRank, left=left, right=right, weights=weights_of([weight], left.dtype)),
            value=value,
            objective=top * weight - value,
            error=excess(self.conjugate(upper), value),
            matvecs=matvecs,
            bound=bound,
        )


class SingularSharp(RankOneSharp):
    """Base of the oracles of a top singular triple."""

    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the atom of the top singular triple."""
        fixed = self.degree == 1.0
        found = self.engine.singular_triples(
            direction,
            start=warm_start(start, self._shape),
            tolerance=LOOSEST_RESIDUAL,
            value_tolerance=self.allowed(0.0, tolerance) if fixed else lambda top: self.allowed(top, tolerance),
        )
        top, upper, matvecs, bound = float(found.values[0]), found.upper, found.matvecs, found.bound
        if stronger(certify, bound):
            width = self.allowed(top, tolerance)
            proven = certify_singular_value(direction, found.left, found.right, certify, self.certification, width)
            upper, matvecs, bound = max(proven.upper, top), matvecs + proven.matvecs, proven.bound
        return self._joined(found.left, found.right, top, upper, matvecs, bound)


class HermitianSharp(RankOneSharp):
    """Base of the oracles of a top eigenpair, over Hermitian matrices.

    The default engine trusts a warm start: in tomography the top eigenvector moves continuously, and a lookout for
    another one would double the products. Where atoms alternate, as in Frank-Wolfe methods, give ``Engine()``.
    """

    hermitian = True
    default_engine = Engine(lookout=None, mix=0.03)

    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the atom of the top eigenpair."""
        factors = warm_start(start, self.shape)
        found = self.engine.eigenpairs(
            direction,
            start=None if factors is None else factors[0],
            tolerance=LOOSEST_RESIDUAL,
            value_tolerance=lambda top: self.allowed(top, tolerance),
        )
        upper, matvecs, bound = found.upper, found.matvecs, found.bound
        if stronger(certify, bound):
            width = self.allowed(found.value, tolerance)
            proven = certify_eigenvalues(direction, found.vectors, certify, self.certification, width)
            upper, matvecs, bound = max(proven.upper, found.value), matvecs + proven.matvecs, proven.bound
        return self._joined(found.vectors, found.vectors, found.value, upper, matvecs, bound)
