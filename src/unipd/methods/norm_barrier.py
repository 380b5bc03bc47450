"""A barrier method for the least nuclear norm of a small matrix: Newton steps on the dual, along the central path.

min F(||X||_*) subject to A X = b, F(s) = w s^2 or w s, has the solutions of min ||X||_*, whose dual is max <mu, b> over
||A^* mu|| <= 1 in the operator norm; lam = -F'(||X||_*) mu. With Z = A^* mu the central path minimises

    -t <mu, b> - log det(I - Z Z^T),      gradient -t b + A(2 P Z),   P = (I - Z Z^T)^{-1}, S = (I - Z^T Z)^{-1},

as t grows; the Hessian along D = A^* d is D -> 2 (P D S + Q D^T Q) with Q = P Z. The Newton step d at a point gives
X = 2 (P Z + P D S + Q D^T Q) / t, which meets A X = b exactly, wherever on the path. The work is that of dense systems
with a row for each constraint; where all A^* e_i = u_i v_i^T have rank one, as for sampled entries, their entries are
2 <u_i, P u_j> <v_i, S v_j> + 2 <u_i, Q v_j> <u_j, Q v_i>, which cost no products with the matrices A^* e_i. It settles
small problems whose solutions have tiny singular values, where descent on factors crawls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.arrays import RIDGE, TINY, factor_definite, norm
from unipd.atoms import LowRank, apply, scale_atom
from unipd.dual import evaluate, oracle_errors
from unipd.methods.base import Counts, State, empty_certificate, measure_point, require_applicable
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.status import Status
from unipd.trackers import Fixed

GROWTH = 8.0
"""Growth of t from one iteration to the next."""
NEWTON_STEPS, DECREMENT = 30, 0.3
"""Most Newton steps of an iteration, and the Newton decrement at which they end, well within the region of quadratic
convergence; the limit is for steps that rounding keeps from it."""
START_NORM = 0.5
"""||A^* mu|| after the first Newton step."""
ROUNDING = 1e-15
"""Relative rounding error of a product u_i v_i^T with A^* e_i: some four units."""
NEGLIGIBLE = 1e-14
"""Singular values of X below this share of the largest are dropped."""


@dataclass(frozen=True)
class NormBarrierState(State):
    """State of the barrier method."""

    multiplier: FloatArray
    """mu, with ||A^* mu|| < 1."""
    path: float
    """t; 0 before the first iteration."""
    rows: FloatArray
    """The matrices A^* e_i."""


@dataclass(frozen=True)
class NormBarrier:
    """Barrier method for min w ||X||_*^2 or w ||X||_* subject to A X = b with a small real matrix X.

    Newton steps follow the dual central path; every iteration ends with a point that meets the constraints (scaled back
    to the ball of a norm on a ball, where it lies outside), and one oracle call that certifies its gap.

    See Also
    --------
    unipd.Factored, unipd.sharp.NuclearNormSquared, unipd.sharp.NuclearNormOnBall

    Examples
    --------
    >>> import numpy as np, unipd
    >>> entries = unipd.maps.Sampling([0, 0, 1], [0, 1, 0], (2, 2))
    >>> problem = unipd.Problem(unipd.sharp.NuclearNormSquared((2, 2)), entries, [1.0, 2.0, 2.0], "=")
    >>> round(unipd.solve(problem, "barrier", accuracy=1e-8).objective, 6)
    16.0
    """

    name = "barrier"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> NormBarrierState:
        """Start at mu = 0 and X = 0; the tracker is always the method's."""
        needs = "a nuclear norm or its square subject to A X = b, with real data in double precision"
        require_applicable(problem, self.name, needs, is_met=has_norm_barrier(problem))
        shape = problem.sharp.shape
        with oracle_errors:
            rows = np.stack([apply(problem.map.adjoint(unit), np.eye(shape[1])) for unit in _unit_vectors(problem)])
        tracker, image = Fixed(_as_low_rank(np.zeros(shape))), np.zeros_like(problem.b)
        certificate = empty_certificate(dual).update_bound(problem, evaluate(problem, dual))
        return NormBarrierState(
            dual=dual,
            primal=tracker,
            image=image,
            mean_objective=0.0,
            certificate=certificate.update_point(measure_point(problem, tracker, image, 0.0)),
            counts=Counts(1, 0, rows.shape[0]),
            multiplier=np.zeros(problem.b.size),
            path=0.0,
            rows=rows,
        )

    def step(self, problem: Problem, state: NormBarrierState) -> NormBarrierState:
        """Move along the central path; recover X and certify it."""
        target = problem.b.reshape(-1).astype(np.float64)
        path = GROWTH * state.path
        if path == 0.0:
            model = Centring(state.rows, target, 1.0)
            first = model.newton_step(state.multiplier)
            path = START_NORM / max(float(np.linalg.norm(model.adjoint(first.step), 2)), TINY)
        model = Centring(state.rows, target, path)
        multiplier, last = model.centre(state.multiplier)
        if last is None:
            return replace(state, iteration=state.iteration + 1, failure=Status.STALLED)
        point = _as_low_rank(last.point)
        excess = problem.sharp.objective(point) / problem.sharp.maximum()
        point = point if excess <= 1.0 else scale_atom(point, 1.0 / excess)
        with oracle_errors:
            image = np.asarray(problem.map.image(point))
        slope = problem.sharp.nuclear_slope(float(target @ multiplier))
        assert slope is not None
        dual = (-slope * multiplier).reshape(problem.dual_shape).astype(problem.dtype)
        answer = evaluate(problem, dual)
        tracker, cost = Fixed(point), problem.sharp.objective(point)
        measures = measure_point(problem, tracker, image, cost)
        certificate = state.certificate.update_point_and_bound(problem, measures, answer)
        return replace(
            state,
            iteration=state.iteration + 1,
            dual=dual,
            primal=tracker,
            image=image,
            mean_objective=cost,
            certificate=certificate,
            counts=state.counts.plus(1, 0, answer.matvecs),
            dual_step=norm(dual - state.dual),
            multiplier=multiplier,
            path=path,
        )


def has_norm_barrier(problem: Problem) -> bool:
    """Whether the barrier method applies: a nuclear norm or its square, equalities, real data in double precision.

    Parameters
    ----------
    problem
        The problem.

    See Also
    --------
    NormBarrier

    Examples
    --------
    >>> import unipd
    >>> sampling = unipd.maps.Sampling([0], [1], (2, 2))
    >>> has_norm_barrier(unipd.Problem(unipd.sharp.NuclearNormSquared((2, 2)), sampling, [1.0], "="))
    True
    """
    is_norm = problem.sharp.nuclear_slope(1.0) is not None
    return is_norm and problem.coupling.is_equality and problem.dtype == np.float64


def _unit_vectors(problem: Problem) -> Any:
    """Yield the unit vectors e_i of the image space."""
    for place in range(problem.b.size):
        unit = np.zeros(problem.b.size)
        unit[place] = 1.0
        yield unit.reshape(problem.dual_shape)


def _as_low_rank(matrix: FloatArray) -> LowRank:
    """Return a matrix by its singular vectors, without negligible ones."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    count = max(1, int((values > NEGLIGIBLE * values[0]).sum()))
    return LowRank(left[:, :count].copy(), right[:count].T.copy(), values[:count])


class NewtonStep(NamedTuple):
    """A Newton step at a point of the path."""

    step: FloatArray
    decrement: float
    """sqrt(<d, H d>)."""
    point: FloatArray
    """X with A X = b."""


@dataclass(frozen=True)
class Centring:
    """The barrier problem at one t."""

    rows: FloatArray
    target: FloatArray
    path: float

    @cached_property
    def pairs(self) -> tuple[FloatArray, FloatArray] | None:
        """The u_i and v_i, as rows, where every A^* e_i = u_i v_i^T up to rounding; else None."""
        count, _, columns = self.rows.shape
        everyone = np.arange(count)
        places = np.abs(self.rows).reshape(count, -1).argmax(axis=1)
        tops, sides = np.divmod(places, columns)
        pivots = self.rows[everyone, tops, sides]
        left, right = self.rows[everyone, :, sides], self.rows[everyone, tops] / np.where(pivots, pivots, 1.0)[:, None]
        errors = np.abs(self.rows - left[:, :, None] * right[:, None]).reshape(count, -1).max(axis=1)
        return (left, right) if np.all(errors <= ROUNDING * np.abs(pivots)) else None

    def adjoint(self, multiplier: FloatArray) -> FloatArray:
        """Return A^* mu."""
        if self.pairs is None:
            return np.tensordot(multiplier, self.rows, 1)
        left, right = self.pairs
        return left.T @ (multiplier[:, None] * right)

    def value(self, multiplier: FloatArray) -> float:
        """Return -t <mu, b> - log det(I - Z Z^T); inf outside the ball."""
        values = np.linalg.svd(self.adjoint(multiplier), compute_uv=False)
        if values[0] >= 1.0:
            return math.inf
        return -self.path * float(self.target @ multiplier) - float(np.log1p(-(values**2)).sum())

    def newton_step(self, multiplier: FloatArray) -> NewtonStep:
        """Return the Newton step, its decrement, and the point that it gives."""
        left, values, right = np.linalg.svd(self.adjoint(multiplier), full_matrices=True)
        count = values.size
        gaps = (1.0 - values) * (1.0 + values)
        outer = np.ones(left.shape[0])
        inner = np.ones(right.shape[0])
        outer[:count], inner[:count] = 1.0 / gaps, 1.0 / gaps
        across = np.zeros((outer.size, inner.size))
        np.fill_diagonal(across, values / gaps)
        slopes, hessian = self._derivatives(left, right, outer, inner, across)
        gradient = slopes - self.path * self.target
        hessian[np.diag_indices_from(hessian)] += RIDGE * float(np.diagonal(hessian).max())
        step = -factor_definite(hessian)(gradient)
        moved = left.T @ self.adjoint(step) @ right.T
        point = (2.0 * across + self._multiply(moved[None], outer, inner, across)[0]) / self.path
        decrement = math.sqrt(max(0.0, -float(gradient @ step)))
        return NewtonStep(step, decrement, left @ point @ right)

    def _derivatives(
        self, left: FloatArray, right: FloatArray, outer: FloatArray, inner: FloatArray, across: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return A(2 P Z) and the Hessian; in the singular bases P, S and Q are diagonal."""
        if self.pairs is not None:
            tops, sides = self.pairs[0] @ left, self.pairs[1] @ right.T
            crossed = tops @ across @ sides.T
            hessian = ((tops * outer) @ tops.T) * ((sides * inner) @ sides.T) + crossed * crossed.T
            return 2.0 * np.diagonal(crossed), 2.0 * hessian
        rows = left.T @ self.rows @ right.T
        flat = rows.reshape(rows.shape[0], -1)
        products = self._multiply(rows, outer, inner, across).reshape(flat.shape)
        return flat @ (2.0 * across).reshape(-1), flat @ products.T

    @staticmethod
    def _multiply(matrices: FloatArray, outer: FloatArray, inner: FloatArray, across: FloatArray) -> FloatArray:
        """Return 2 (P D S + Q D^T Q) for matrices D in the singular bases."""
        count = min(outer.size, inner.size)
        diagonal = np.diagonal(across)
        out = outer[:, None] * matrices * inner
        square = matrices[:, :count, :count]
        out[:, :count, :count] += diagonal[:, None] * square.transpose(0, 2, 1) * diagonal
        return 2.0 * out

    def centre(self, multiplier: FloatArray) -> tuple[FloatArray, NewtonStep | None]:
        """Return a point near the path and the last Newton step, which is not taken; None when a step fails."""
        value, newton = self.value(multiplier), self.newton_step(multiplier)
        for _ in range(NEWTON_STEPS):
            if newton.decrement <= DECREMENT:
                return multiplier, newton
            if not math.isfinite(newton.decrement):
                return multiplier, None
            length = 1.0
            new = self.value(multiplier + newton.step)
            while not new <= value - 1e-2 * length * newton.decrement**2 and length > 1e-10:
                length *= 0.5
                new = self.value(multiplier + length * newton.step)
            if not new < value:
                return multiplier, newton
            multiplier, value = multiplier + length * newton.step, new
            newton = self.newton_step(multiplier)
        return multiplier, newton
