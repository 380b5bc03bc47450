"""Descent over Kraus operators: every point is a channel, and the multipliers of tr_out J = I have a closed form.

A factor R of J = R R^*, read as a matrix of d_in rows, is an isometry W (W W^* = I) exactly where tr_out J = I, and its
columns are the Kraus operators. Any R of full rank stands for the channel of its polar factor W = (R R^*)^(-1/2) R, so
that quasi-Newton steps are free of constraints. With S the gradient of the loss in J, the multipliers Y at a stationary
point satisfy (S + Y (x) I) W = 0, hence Y = -Re tr_out(S J); the top eigenvalue of -(S + Y (x) I) then bounds the
optimum from below, at every point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util.arrays import precision
from unipd._util.context import notify
from unipd.apps.tomography.fixed_rank import REGULARISATION, FixedRank
from unipd.atoms import LowRank
from unipd.dual import oracle_errors
from unipd.maps import Stacked
from unipd.maps.channel import pack
from unipd.methods.factored.augmented_lagrangian import ROUNDING, AugmentedLagrangian, Evaluation, FactoredState
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.sharp.spectral.factors import SpectralFactors

SINGULAR = 1e-24
"""Eigenvalues of tr_out R R^* are at least this share of the largest: a singular trial step stays finite."""


@dataclass(frozen=True)
class KrausFactors(SpectralFactors):
    """Factors R of Choi matrices with tr_out J = I, by the polar factor of R.

    >>> factors = KrausFactors(4, 0, 2.0, ball=False, inputs=2)
    >>> choi = factors.point(np.arange(1.0, 9.0).reshape(4, 2)).dense()
    >>> np.trace(choi.reshape(2, 2, 2, 2), axis1=1, axis2=3).round(9)
    array([[1., 0.],
           [0., 1.]])
    """

    inputs: int = 1
    """d_in."""

    def _normalize(self, factor: Array) -> Array:
        """Return the polar factor W, in the shape of R."""
        values, vectors = self._spectrum(factor)
        root = (vectors / np.sqrt(values)) @ vectors.conj().T
        return (root @ factor.reshape(self.inputs, -1)).reshape(factor.shape)

    def _spectrum(self, factor: Array) -> tuple[Array, Array]:
        """Return the eigenvalues and eigenvectors of tr_out R R^*."""
        rows = factor.reshape(self.inputs, -1)
        values, vectors = np.linalg.eigh(rows @ rows.conj().T)
        return np.maximum(values, SINGULAR * values[-1]), vectors

    def pull_back(self, slope: Array, factor: Array) -> Array:
        """Return the gradient in R of a function whose gradient in W is ``slope``.

        With R = P W it is P^(-1) V (I - W^* W) + 2 B W, where V is the slope and P B + B P = (V W^* - W V^*) / 2.
        """
        values, vectors = self._spectrum(factor)
        lengths = np.sqrt(values)
        rows = vectors.conj().T @ factor.reshape(self.inputs, -1) / lengths[:, None]  # W in the eigenvectors of P
        turned = vectors.conj().T @ slope.reshape(self.inputs, -1)
        products = turned @ rows.conj().T
        skew = 0.5 * (products - products.conj().T) / (lengths[:, None] + lengths)
        gradient = (turned - products @ rows) / lengths[:, None] + 2.0 * skew @ rows
        return (vectors @ gradient).reshape(factor.shape)

    def multipliers(self, slope: Array, unit: Array) -> Array:
        """Return Y = -Re tr_out(S J), packed, from 2 S W and W."""
        products = 0.5 * slope.reshape(self.inputs, -1) @ unit.reshape(self.inputs, -1).conj().T
        return -pack(0.5 * (products + products.conj().T))


@dataclass(frozen=True)
class ChannelLoss(AugmentedLagrangian):
    """The loss over Kraus operators, for a problem whose first rows are tr_out J = I and whose others are measured."""

    @cached_property
    def _parts(self) -> tuple[Any, Any, Array, Array]:
        """The measurements, their loss, and b of the constraints and of the measurements."""
        stack, coupling = self.problem.map, self.problem.coupling
        assert isinstance(stack, Stacked)
        rows = math.prod(stack.maps[0].codomain)
        return stack.maps[1], coupling.parts[1], self.problem.b[:rows], self.problem.b[rows:]  # type: ignore[attr-defined]

    def rounding(self, value: float, factor: Array) -> float:
        """Return the size of a change of the loss that is rounding error."""
        return ROUNDING * precision(factor) * max(abs(value), self._parts[1].cancellation)

    def evaluate(self, factor: Array) -> Evaluation:
        """Return value and gradient at R, with the multipliers of tr_out J = I in the dual vector."""
        measure, loss, identity, data = self._parts
        factors: Any = self.factors
        point: LowRank = factors.point(factor)
        with oracle_errors:
            measured = measure.image(point)
            residual = measured - data
            dual = loss.gradient(residual)
            slope = 2.0 * measure.adjoint(dual) @ point.left
        matvecs = 2 * factors.rank(factor)
        notify("quasi-Newton steps", matvecs)
        complete = np.concatenate([factors.multipliers(slope, point.left), dual])
        gradient, image = factors.pull_back(slope, factor), np.concatenate([identity, measured])
        return Evaluation(loss.value(residual), gradient, point, image, 0.0, complete, matvecs)

    def best_gamma(self, here: Evaluation, image: Array, cost: float) -> float:
        """Return 0: the channel of a mixture is not on the segment, and trials find its weight."""
        return 0.0


@dataclass(frozen=True)
class KrausDescent(FixedRank):
    """Quasi-Newton steps over Kraus operators, certified by the bound of the convex problem.

    With as many Kraus operators as J has rows the descent solves the convex problem. With fewer (``rank``) it ends as
    ``local`` when it is stationary and the bound does not prove it optimal among all channels.

    Parameters
    ----------
    rank
        Largest number of Kraus operators; None for any.
    inner_steps, memory, seed
        As in :class:`unipd.Factored`.
    factors
        Factored form of the set; by default that of the problem.
    initial
        The factor R to start from.
    inputs
        Dimension d_in of the input.

    See Also
    --------
    unipd.Factored, unipd.ProcessTomography

    Examples
    --------
    >>> KrausDescent(rank=2, inputs=2).rank
    2
    """

    inner_steps: int = 30
    memory: int = 20
    inputs: int = field(default=1, kw_only=True)

    @property
    def name(self) -> str:
        """Name in results."""
        return "kraus-descent"

    def _find_factors(self, problem: Problem) -> KrausFactors:
        rows = problem.map.domain[0]
        return KrausFactors(rows, 0, float(self.inputs), False, REGULARISATION, inputs=self.inputs)

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FactoredState:
        """Start from the given factor."""
        assert self.initial is not None
        model = ChannelLoss(problem, self._find_factors(problem), dual, 0.0)
        return self.start_from(model, self.initial, accuracy)
