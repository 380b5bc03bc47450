"""Oracles whose maximiser is one top singular or eigenvector pair, weighted by a function of the top value."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

from unipd._typing import Array
from unipd.atoms import LowRank
from unipd.protocols import SharpAnswer
from unipd.sharp.spectral.base import LOOSEST_RESIDUAL, SpectralSharp, excess, is_stronger, warm_start, weights_of
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
    def top_value_tolerance(self, top: float, tolerance: float) -> float:
        """Return by how much s may fall short so that the conjugate falls short by the tolerance.

        The same for all s where the conjugate is of degree 1.
        """

    def _make_answer(
        self, left: Array, right: Array, top: float, upper: float, matvecs: int, bound_kind: str
    ) -> SharpAnswer:
        weight, value = self.weight(top), self.conjugate(top)
        return SharpAnswer(
            atom=LowRank(left, right, weights_of([weight], left.dtype)),
            value=value,
            objective=top * weight - value,
            error=excess(self.conjugate(upper), value),
            matvecs=matvecs,
            bound_kind=bound_kind,
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
            value_tolerance=self.top_value_tolerance(0.0, tolerance)
            if fixed
            else lambda top: self.top_value_tolerance(top, tolerance),
        )
        top, upper, matvecs, bound_kind = float(found.values[0]), found.upper, found.matvecs, found.bound_kind
        if is_stronger(certify, bound_kind):
            width = self.top_value_tolerance(top, tolerance)
            proven = certify_singular_value(direction, found.left, found.right, certify, self.certification, width)
            upper, matvecs, bound_kind = max(proven.upper, top), matvecs + proven.matvecs, proven.bound_kind
        return self._make_answer(found.left, found.right, top, upper, matvecs, bound_kind)


class HermitianSharp(RankOneSharp):
    """Base of the oracles of a top eigenpair, over Hermitian matrices.

    The default engine trusts a warm start: in tomography the top eigenvector moves continuously, and a guard against
    missing another one would double the products. Where atoms alternate, as in Frank-Wolfe methods, give ``Engine()``.
    """

    hermitian = True
    default_engine = Engine(missed_eigenvalue_guard=None, mix=0.03)

    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the atom of the top eigenpair."""
        factors = warm_start(start, self.shape)
        found = self.engine.eigenpairs(
            direction,
            start=None if factors is None else factors[0],
            tolerance=LOOSEST_RESIDUAL,
            value_tolerance=lambda top: self.top_value_tolerance(top, tolerance),
        )
        upper, matvecs, bound_kind = found.upper, found.matvecs, found.bound_kind
        if is_stronger(certify, bound_kind):
            width = self.top_value_tolerance(found.value, tolerance)
            proven = certify_eigenvalues(direction, found.vectors, certify, self.certification, width)
            upper, matvecs, bound_kind = max(proven.upper, found.value), matvecs + proven.matvecs, proven.bound_kind
        return self._make_answer(found.vectors, found.vectors, found.value, upper, matvecs, bound_kind)


class SquaredSharp(RankOneSharp):
    """Base: f = w ||X||^2 with conjugate s^2 / (4w) in s = max(top value, 0), attained by the weight s / (2w)."""

    scale: float
    """The factor w > 0."""

    @property
    def degree(self) -> float | None:
        """The conjugate is quadratic."""
        return 2.0

    @property
    def linear(self) -> bool:
        """The objective is not linear."""
        return False

    def weight(self, top: float) -> float:
        """Return s / (2w)."""
        return max(top, 0.0) / (2.0 * self.scale)

    def conjugate(self, top: float) -> float:
        """Return s^2 / (4w)."""
        length = max(top, 0.0)
        return length * length / (4.0 * self.scale)

    def top_value_tolerance(self, top: float, tolerance: float) -> float:
        """Return d with ((s + d)^2 - s^2) / (4w) = tolerance, in a form that does not cancel."""
        margin, length = 4.0 * self.scale * tolerance, max(top, 0.0)
        return margin / (length + math.sqrt(length * length + margin)) if margin > 0.0 else 0.0

    def maximum(self) -> float:
        """Return inf: f is unbounded."""
        return math.inf
