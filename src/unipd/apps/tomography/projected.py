"""Accelerated projected gradient method over the spectrahedron, for fits of noise.

Where noise is fitted, the optimal X has tens of small eigenvalues, and as many eigenvalues of -A^*(lam) nearly coincide
at the optimum. Steps over factors get the objective right long before that cluster, and with it the bound. A projection
moves all eigenvalues of X at once and is exact where they vanish, so both converge fast.

A step is the projection of M = Y - A^*(lam) / L, with Y the extrapolated point and lam the gradient of the loss there
(Beck and Teboulle, 2009; momentum restarts of O'Donoghue and Candes, 2015). Only the eigenvectors above the
projection's threshold matter. They are Ritz vectors in a basis Q of the previous Ritz vectors and their residuals:
one product with A^*(lam) per column of Q serves all trial values of L.

A search for the top eigenvector is slow to separate the cluster, and the bound does not need it: it needs an upper
bound on lambda_max(-A^*(lam)). A Lanczos run from one random vector gives that; the cluster as a whole weighs more in
this vector than a single eigenvector would, so the run converges fast. Its lower bound shows early whether the accuracy
is out of reach, and whether the Ritz vectors miss an eigenvector.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import hermitian_part, inner, norm
from unipd._util.context import notify
from unipd.atoms import LowRank, apply
from unipd.dual import DualValue, evaluate, oracle_errors
from unipd.errors import InvalidInput
from unipd.methods.base import ORACLE_SHARE, Counts, empty_certificate, measure_point
from unipd.methods.corrective import project_simplex
from unipd.methods.factored.augmented_lagrangian import CertifyingState, requested_gap
from unipd.methods.factored.factored import START_TOLERANCE, certify_at, with_bound
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.sharp import Spectrahedron
from unipd.sharp.base import unwrap_counter
from unipd.sharp.spectral.base import weights_of
from unipd.sharp.spectral.factors import random_block
from unipd.spectral import PROBABILISTIC, RIGOROUS, Certification
from unipd.spectral.certify import bracket
from unipd.spectral.operators import Products, is_hermitian
from unipd.status import Status
from unipd.trackers import Fixed

GUARD = 12
"""Ritz vectors kept beyond the rank of a projection: at least these, and two thirds of the rank. Fewer make projections
cheaper but less accurate, and the products saved are spent on more of them."""
LARGER, SMALLER = 1.2, 0.95
"""The curvature L grows at least by the first factor when it is too small, and shrinks by the other every step."""
MOMENTUM, MOMENTUM_STEPS = 3.0, 20.0
"""t of the extrapolation is at most the first, plus one every MOMENTUM_STEPS steps: still a 1/k^2 method. Near the
optimum, where the Ritz vectors hardly change, the loss is strongly convex, and a larger t only oscillates."""
ROUNDING = 64.0
"""Steps shorter than this many rounding units of X are no progress."""
FLATTEST = 1e-6
"""Initial L, as a share of the loss's own curvature, where A vanishes on the first atom."""
CERTIFIABLE_SHARE = 0.7
"""The oracle is called when the gap predicted by the Ritz values is below this share of the accuracy."""
FALL, LITTLE_FALL = 0.02, 0.75
"""It is also called when that gap has fallen to the first share since the last call; never before the second."""
LANCZOS_STEPS = 2000
"""Largest number of products of a Lanczos run for the bound."""


@dataclass(frozen=True)
class Projection:
    """Projections of Y + H / L on {X psd, tr X = a} for any L, from one product H Q with an orthonormal basis Q.

    >>> nothing = LowRank(np.zeros((3, 0)), np.zeros((3, 0)), np.zeros(0))
    >>> model = Projection(np.eye(3), np.diag([2.0, 1.5, -1.0]), nothing, 1.0)
    >>> roots, _ = model.project(1.0)
    >>> (roots @ roots.T).round(9)
    array([[0.75, 0.  , 0.  ],
           [0.  , 0.25, 0.  ],
           [0.  , 0.  , 0.  ]])
    """

    basis: Array
    """Q."""
    products: Array
    """H Q."""
    origin: LowRank
    """Y."""
    trace: float
    """a."""

    @cached_property
    def _origin_products(self) -> Array:
        """Y Q."""
        factor = self.origin.left
        return (factor * self.origin.weights) @ (factor.conj().T @ self.basis)

    @cached_property
    def _small_matrices(self) -> tuple[Array, Array]:
        """Q^* Y Q and Q^* H Q."""
        adjoint = self.basis.conj().T
        return hermitian_part(adjoint @ self._origin_products), hermitian_part(adjoint @ self.products)

    @property
    def top(self) -> float:
        """The largest Ritz value of H."""
        return float(np.linalg.eigvalsh(self._small_matrices[1])[-1])

    def refine(self, curvature: float, push: Callable[[Array], Array]) -> Projection:
        """Return the projection with the residuals M Q - Q (Q^* M Q) added to the basis, up to its full size."""
        rows, columns = self.basis.shape
        image = self._origin_products + self.products / curvature
        residual = image - self.basis @ (self.basis.conj().T @ image)
        more = orthonormalize_against(self.basis, residual[:, : rows - columns])
        products = np.concatenate([self.products, push(more)], axis=1)
        return replace(self, basis=np.concatenate([self.basis, more], axis=1), products=products)

    def project(self, curvature: float) -> tuple[Array, Array]:
        """Return a factor of the projection for this L, and its Ritz vectors with :data:`GUARD` more."""
        values, vectors = np.linalg.eigh(self._small_matrices[0] + self._small_matrices[1] / curvature)
        projected = project_simplex(values, self.trace)
        kept = projected > 0.0
        rank = int(np.count_nonzero(kept))
        factor = self.basis @ (vectors[:, kept] * np.sqrt(projected[kept]))
        leading = self.basis @ vectors[:, -(rank + max(GUARD, 2 * rank // 3)) :]
        return factor, np.linalg.qr(leading)[0]


def orthonormalize_against(basis: Array, block: Array) -> Array:
    """Return orthonormal columns, orthogonal to an orthonormal basis, that span a block of any scale together with it.

    >>> orthonormalize_against(np.array([[1.0], [0.0]]), np.array([[3.0], [1e-9]])).round(6)
    array([[0.],
           [1.]])
    """
    for _ in range(2):
        block = block - basis @ (basis.conj().T @ block)
        lengths = np.linalg.norm(block, axis=0)
        block = np.linalg.qr(block / np.where(lengths > 0.0, lengths, 1.0))[0]
    return block


def compress_points(*points: LowRank) -> list[Array]:
    """Return Hermitian matrices given by factors in one orthonormal basis of their joint range.

    Differences of nearby matrices keep their digits there, which inner products of the factors would lose.

    >>> axis = np.array([[1.0], [0.0], [0.0]])
    >>> one, other = compress_points(LowRank(axis, axis, np.array([2.0])), LowRank(axis, axis, np.array([0.5])))
    >>> one.shape, float(np.trace(one - other).round(9))
    ((2, 2), 1.5)
    """
    triangle: Any = np.linalg.qr(np.concatenate([point.left for point in points], axis=1), mode="r")
    parts = np.split(triangle, np.cumsum([point.rank for point in points])[:-1], axis=1)
    return [(part * point.weights) @ part.conj().T for part, point in zip(parts, points, strict=True)]


@dataclass(frozen=True)
class ProjectedState(CertifyingState):
    """State of :class:`Projected`."""

    factor: Array
    """R with X = R R^*."""
    before: Array
    """The factor of the previous iteration."""
    image_before: Array
    """A X of the previous iteration."""
    basis: Array
    """The latest Ritz vectors: orthonormal columns whose span nearly contains the next eigenvectors."""
    momentum: float
    """t of the extrapolation: Y = X + ((t - 1) / t_next) (X - X_before)."""
    predicted_gap: float = 1.0
    """The gap that the Ritz values predicted at the last oracle call."""


@dataclass(frozen=True)
class Projected:
    """Accelerated projected gradient method for a smooth loss over {X psd, tr X = a}, X of moderate rank.

    With exact projections the objective converges at the rate 1/k^2. Projections onto Ritz vectors are inexact, and the
    method does not control their error; the bound does not depend on it, since it comes from the oracle.

    Parameters
    ----------
    rank
        Number of eigenvectors sought in the first step; later steps adapt it.
    seed
        Seed of the random vectors that this search starts from.

    Examples
    --------
    >>> import unipd
    >>> identity = unipd.maps.DenseMatrix(np.eye(4), domain=(2, 2))
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Spectrahedron(2), identity, [1.0, 0.0, 0.0, 0.4], loss)
    >>> unipd.solve(problem, Projected(), accuracy=1e-8).x.dense().round(6)
    array([[0.8, 0. ],
           [0. , 0.2]])
    """

    rank: int = 16
    seed: int = 0

    def __post_init__(self) -> None:
        validate.integer("rank", self.rank, minimum=1)

    @property
    def name(self) -> str:
        """Name in results."""
        return "projected"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> ProjectedState:
        """Start from the atom at the given dual vector, by default the gradient of the loss at X = 0."""
        if problem.loss is None or not problem.has_smooth_loss:
            raise InvalidInput("problem", "a smooth loss for the method projected", repr(problem))
        if type(unwrap_counter(problem.sharp)) is not Spectrahedron:
            raise InvalidInput("problem", "a spectrahedron for the method projected", repr(problem))
        if not np.any(dual):
            dual = problem.loss.gradient(-problem.b)
        point = evaluate(problem, dual, tolerance=START_TOLERANCE * problem.scale(0.0))
        factor = point.atom.left * math.sqrt(float(point.atom.weights[0]))
        primal = Fixed(_gram_point(factor))
        certificate = empty_certificate(dual).update_bound(problem, point)
        first = factor / norm(factor)
        fresh = random_block(factor, min(self.rank, factor.shape[0] - 1), self.seed)
        change = problem.loss.gradient(point.image - problem.b) - problem.loss.gradient(-problem.b)
        return ProjectedState(
            dual=dual,
            primal=primal,
            image=point.image,
            mean_objective=0.0,
            certificate=certificate.update_point(measure_point(problem, primal, point.image, 0.0)),
            counts=Counts().plus(1, 0, point.matvecs),
            smoothness=max(inner(change, point.image) / norm(factor) ** 4, FLATTEST * problem.loss.curvature()),
            factor=factor,
            before=factor,
            image_before=point.image,
            basis=np.concatenate([first, orthonormalize_against(first, fresh)], axis=1),
            momentum=1.0,
            accuracy=accuracy,
            warm_start=point.atom,
        )

    def step(self, problem: Problem, state: ProjectedState) -> ProjectedState:
        """Do one projected step; call the oracle for a bound when the Ritz values predict a gap that is worth it."""
        moved, gap, top = take_projected_step(problem, state)
        eps, reference = requested_gap(problem, moved), state.predicted_gap
        is_small = gap <= CERTIFIABLE_SHARE * eps and gap <= LITTLE_FALL * reference
        if not (is_small or gap <= FALL * reference or moved.failure is not None):
            return moved
        slope = problem.map.adjoint(-moved.dual)
        if is_large_operator(problem, slope):
            certified, excess = bound_by_lanczos(problem, moved, slope, top, gap)
            if excess <= max(gap, eps):
                return replace(certified, predicted_gap=gap)
            point = evaluate(problem, moved.dual, tolerance=ORACLE_SHARE * excess, start=moved.warm_start)
            certified = with_bound(problem, certified, point)
        else:
            certified, point = certify_at(problem, moved, moved.dual, ORACLE_SHARE * max(eps, gap))
        basis = certified.basis  # the oracle's eigenvector joins the Ritz vectors, which may have missed it
        if basis.shape[1] < basis.shape[0]:
            basis = np.concatenate([basis, orthonormalize_against(basis, point.atom.left)], axis=1)
        return replace(certified, predicted_gap=gap, basis=basis)


def take_projected_step(problem: Problem, state: ProjectedState) -> tuple[ProjectedState, float, float]:
    """Return the state after a projected step, the gap that the largest Ritz value predicts, and that value."""
    assert problem.loss is not None
    following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * state.momentum**2))
    following = min(following, MOMENTUM + state.iteration / MOMENTUM_STEPS)
    push = (state.momentum - 1.0) / following
    image = state.image + push * (state.image - state.image_before)
    dual = problem.loss.gradient(image - problem.b)
    factors = np.concatenate([state.factor, state.before], axis=1)
    weights = np.repeat([1.0 + push, -push], [state.factor.shape[1], state.before.shape[1]])
    origin = LowRank(factors, factors, weights_of(weights, factors.dtype))
    with oracle_errors:
        slope = problem.map.adjoint(-dual)
        model = Projection(state.basis, apply(slope, state.basis), origin, unwrap_counter(problem.sharp).trace)
        model = model.refine(state.smoothness, lambda block: apply(slope, block))
    moved = _backtrack(problem, state, model, image, dual)
    point = _gram_point(moved.factor)
    old, new, extrapolated = compress_points(_gram_point(state.factor), point, origin)
    bound = -model.trace * model.top - inner(dual, problem.b) - problem.coupling.conjugate(dual)
    primal = Fixed(point)
    moved = replace(
        moved,
        iteration=state.iteration + 1,
        dual=dual,
        primal=primal,
        certificate=state.certificate.update_point(measure_point(problem, primal, moved.image, 0.0)),
        dual_step=norm(dual - state.dual),
        before=state.factor,
        image_before=state.image,
        momentum=1.0 if inner(extrapolated - new, new - old) > 0.0 else following,
    )
    return moved, moved.certificate.objective - bound, model.top


def _backtrack(problem: Problem, state: ProjectedState, model: Projection, image: Array, dual: Array) -> ProjectedState:
    """Return the state at the projection with the first L at least as large as the curvature of the loss on the way.

    The method has stalled where this step is lost in rounding.
    """
    assert problem.loss is not None
    floor = (ROUNDING * float(np.finfo(model.basis.dtype).eps) * model.trace) ** 2
    curvature, counts = state.smoothness, state.counts.plus(0, 0, model.basis.shape[1])
    while True:
        factor, basis = model.project(curvature)
        with oracle_errors:
            reached = np.asarray(problem.map.image(_gram_point(factor))).astype(problem.dtype, copy=False)
        counts = counts.plus(0, 1, factor.shape[1])
        notify("projected steps", model.basis.shape[1] + factor.shape[1])
        bend = inner(problem.loss.gradient(reached - problem.b) - dual, reached - image)
        here, there = compress_points(model.origin, _gram_point(factor))
        length = norm(there - here) ** 2
        if bend <= curvature * length or length <= floor:
            return replace(
                state,
                factor=factor,
                image=reached,
                basis=basis,
                counts=counts,
                smoothness=SMALLER * curvature,
                failure=Status.STALLED if length <= floor else None,
            )
        curvature = max(LARGER * curvature, min(bend / length, 2.0 * curvature))


def _gram_point(factor: Array) -> LowRank:
    """Return R R^*."""
    return LowRank(factor, factor, weights_of(np.ones(factor.shape[1]), factor.dtype))


def is_large_operator(problem: Problem, slope: Any) -> bool:
    """Whether H is a Hermitian operator too large for a rigorous bound, which small ones get from the oracle."""
    oracle = unwrap_counter(problem.sharp)
    if not is_hermitian(slope):
        return False
    return oracle.certify != RIGOROUS and min(oracle.shape) > oracle.certification.dense_limit


def bound_by_lanczos(
    problem: Problem, state: ProjectedState, slope: Any, top: float, predicted: float
) -> tuple[ProjectedState, float]:
    """Return the state with the bound at its dual vector, and a lower bound on its gap minus the predicted one.

    The run ends when the bound certifies the accuracy or is tight enough, or when a gap predicted to be within the
    accuracy proves not to be. The seed is the iteration number: no operator depends on its own random vector.

    Parameters
    ----------
    problem, state
        The problem, and the state whose dual vector is certified.
    slope
        H = -A^*(lam).
    top
        The largest known Ritz value of H.
    predicted
        The gap if that were its largest eigenvalue.
    """
    oracle, eps = unwrap_counter(problem.sharp), requested_gap(problem, state)

    def gap(level: float) -> float:
        return predicted + oracle.trace * (level - top)

    def is_decided(low: float, up: float) -> bool:
        is_tight = gap(up) - gap(low) <= ORACLE_SHARE * max(gap(low), eps)
        return is_tight or gap(up) <= eps or predicted <= eps < gap(low)

    plan = Certification(oracle.certification.delta, LANCZOS_STEPS, state.iteration)
    with oracle_errors:
        bounds = bracket(Products(slope, hermitian=True), plan, is_decided)
    dual, conjugate, linear = state.dual, oracle.trace * bounds.upper, inner(state.dual, problem.b)
    value, norm_sq = conjugate + linear, inner(dual, dual)
    answer = DualValue(
        dual, value, 0.0, conjugate, value, linear, norm_sq, None, None, 0.0, bounds.matvecs, PROBABILISTIC
    )
    certificate = state.certificate.update_bound(problem, answer)
    state = replace(state, certificate=certificate, counts=state.counts.plus(1, 0, bounds.matvecs))
    return state, gap(bounds.lower) - predicted
