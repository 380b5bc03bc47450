"""Descent over factors of a fixed width: likelihoods over all states, and fits over states of limited rank.

X = R R^* with trace one. As many columns as rows reach every state: the descent then solves the convex problem, and
quasi-Newton steps find the maximum of a likelihood to a small fraction of a nat. No step leaves its domain:
probabilities of R R^* are never negative, and the line search refuses zeros. With fewer columns the fit is over the
states of at most that rank. Both are certified by the bound of the convex problem: one top eigenvalue of -A^*(lam), for
a likelihood lambda_max(R(X)) - S with R(X) = sum_k (n_k / p_k) M_k and S = sum_k n_k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util.arrays import hermitian_part, inner, norm
from unipd.atoms import apply
from unipd.dual import DualPoint, evaluate, oracle_errors
from unipd.errors import InvalidInput
from unipd.methods.base import ORACLE_SHARE, Counts
from unipd.methods.descent import LBFGSMemory
from unipd.methods.factored.augmented_lagrangian import (
    AugmentedLagrangian,
    FactoredState,
    lbfgs_steps,
    refresh_certificate,
    requested_gap,
    stationarity,
)
from unipd.methods.factored.factored import SLOWEST_DECREASE, Factored, certify_at, rank_one_escape, with_bound
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.sharp import Spectrahedron
from unipd.sharp.base import unwrap_counter
from unipd.sharp.spectral.factors import Factors, SpectralFactors, random_block
from unipd.status import Status

PROMISING = 10.0
"""The gap is seldom smaller than a tenth of ||grad|| ||R||: the oracle waits until that is this multiple of eps."""
SETTLED = 0.3
"""A fit of limited rank has converged when ||grad|| ||R|| is this share of eps."""
REGULARISATION = 0.3
"""delta of the preconditioner. Small values balance the columns, but those that vanish should be left alone."""
VANISHED = 1e-8
"""Columns with a smaller share of the trace are dropped, in groups of at least a third of all."""
WIDTH = 64
"""Columns of a factor without a limit on its rank, where none is given to start from; escapes add others."""
DENSE_SIZE = 1 << 9
"""Size up to which all eigenvalues are computed where a search misses the largest."""
POWER_STEPS = 6
"""Products of the block power iteration that finds the first factor of a fit of limited rank."""


@dataclass(frozen=True)
class FixedRank(Factored):
    """Quasi-Newton steps over X = R R^* / ||R||^2 with a fixed number of columns.

    A run ends as solved when the convex bound certifies the accuracy. With fewer columns than rows it ends as
    ``local`` when X is stationary and the bound does not: the best state of any rank may fit better.

    Parameters
    ----------
    rank
        Largest rank of X; None for any rank.
    inner_steps, memory, seed, factors, initial
        As in :class:`unipd.Factored`.

    Examples
    --------
    >>> import unipd
    >>> identity = unipd.maps.DenseMatrix(np.eye(4), domain=(2, 2))
    >>> data, loss = [0.7, 0.0, 0.0, 0.3], unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Spectrahedron(2), identity, data, loss)
    >>> [unipd.solve(problem, FixedRank(rank=r), accuracy=1e-8).status.value for r in (1, 2)]
    ['local', 'solved']
    """

    @property
    def name(self) -> str:
        """Name in results."""
        return "fixed-rank"

    def _find_factors(self, problem: Problem) -> Factors:
        """Return the density matrices; the preconditioner of a given factor leaves vanishing columns alone."""
        if self.factors is not None or self.initial is None:
            return super()._find_factors(problem)
        return SpectralFactors(problem.map.domain[0], 0, 1.0, ball=False, regularisation=REGULARISATION)

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FactoredState:
        """Start from the given factor, or from the top eigenvectors of -A^*(lam), lam the gradient at X = 0."""
        if not problem.has_differentiable_loss:
            raise InvalidInput("problem", "a differentiable loss for the method fixed-rank", repr(problem))
        model = AugmentedLagrangian(problem, self._choose_factors(problem), dual, 0.0)
        if self.initial is not None:
            return self.start_from(model, self.initial, accuracy)
        columns = min(self.rank or WIDTH, problem.map.domain[0])
        factor = spectral_factor(problem, columns, self.seed)
        return self.start_from(model, factor, accuracy, (POWER_STEPS + 1) * columns)

    def start_from(
        self, model: AugmentedLagrangian, factor: Array, accuracy: float, products: int = 0
    ) -> FactoredState:
        """Return the first state of a descent from R, which took this many products to find.

        Parameters
        ----------
        model
            The problem in the factor.
        factor
            R, of the rank of the descent.
        accuracy
            The relative accuracy at which the run will stop.
        products
            Products with the map that finding R took.
        """
        here = model.evaluate(factor)
        counts, memory, rank = Counts(0, 0, products + here.matvecs), LBFGSMemory(limit=self.memory), factor.shape[1]
        return FactoredState.at(model, factor, here, counts, memory=memory, accuracy=accuracy, first_rank=rank)

    def step(self, problem: Problem, state: FactoredState) -> FactoredState:
        """Descend; call the oracle where the gap may be within the accuracy, or the descent ends within rounding.

        With many shots the loss stops falling before the bound is tight: steps continue while the gap shrinks.
        """
        eps, is_limited = requested_gap(problem, state), self.rank is not None and self.rank < problem.map.domain[0]
        moved = lbfgs_steps(state, self.inner_steps, enough=0.5 * eps)
        moved = refresh_certificate(problem, replace(moved, iteration=state.iteration + 1))
        level, decrease = stationarity(moved), state.here.value - moved.here.value
        is_flat = decrease <= state.model.rounding(moved.here.value, moved.factor)
        is_stuck = is_flat and level >= SLOWEST_DECREASE * stationarity(state)
        if level > (SETTLED if is_limited else PROMISING) * eps and not is_stuck:
            return drop_vanished_columns(moved)
        certified, point = certify_at(problem, moved, moved.here.dual, ORACLE_SHARE * eps)
        gap, before = certified.certificate.absolute_gap, state.certificate.absolute_gap
        if gap <= eps or not (is_stuck or level <= SETTLED * eps):
            return certified
        if is_limited:
            return replace(certified, failure=Status.LOCAL)
        predicted = inner(moved.here.dual, moved.image - point.image)
        if predicted < 0.25 * gap:  # a search confined to a cluster of eigenvalues
            point = call_dense_oracle(problem, moved.here.dual, point)
            certified = with_bound(problem, certified, point)
            predicted = inner(moved.here.dual, moved.image - point.image)
        escaped = certified
        if predicted > 0.25 * eps:
            gamma = certified.model.best_gamma(certified.here, point.image, point.objective)
            escaped = rank_one_escape(problem, certified, point.atom, gamma)
        has_ended = is_stuck and escaped.factor is certified.factor and gap > SLOWEST_DECREASE * before
        return replace(escaped, failure=Status.STALLED if has_ended else None)


def call_dense_oracle(problem: Problem, dual: Array, point: DualPoint, most: int = DENSE_SIZE) -> DualPoint:
    """Return the oracle's point for the whole matrix of -A^*(lam) where that is small, else the point that is known."""
    if problem.map.domain[0] > most or type(unwrap_counter(problem.sharp)) is not Spectrahedron:
        return point
    with oracle_errors:
        slope: Any = problem.map.adjoint(-dual)
        matrix = apply(slope, np.eye(problem.map.domain[0], dtype=slope.dtype))
    return evaluate(problem, dual, direction=hermitian_part(matrix), tolerance=0.0)


def drop_vanished_columns(state: FactoredState) -> FactoredState:
    """Return the state without columns that have vanished; R and the quasi-Newton pairs are rotated alike."""
    factor = state.factor
    weights, rotation = np.linalg.eigh(factor.conj().T @ factor)
    kept = weights > VANISHED * weights.sum()
    if 3 * int(np.count_nonzero(kept)) > 2 * weights.size:
        return state
    turn = rotation[:, kept].astype(factor.dtype, copy=False)
    pairs = tuple((step @ turn, change @ turn) for step, change in state.memory.pairs)
    here = state.model.evaluate(factor @ turn)
    return replace(
        state,
        factor=factor @ turn,
        here=here,
        memory=replace(state.memory, pairs=pairs),
        counts=state.counts.plus(0, 0, here.matvecs),
    )


def spectral_factor(problem: Problem, columns: int, seed: int) -> Array:
    """Return top eigenvectors of -A^*(lam), lam the gradient of the loss at X = 0, with lengths by their eigenvalues.

    The gradient of a likelihood at X = 0 is infinite, and proportional to the counts in the limit.
    """
    assert problem.loss is not None
    lam = problem.loss.gradient(-problem.b)
    with oracle_errors:
        slope: Any = problem.map.adjoint(-lam / (norm(lam) or 1.0))
        basis = random_block(np.ones((problem.map.domain[0], 1), slope.dtype), columns, seed)
        for _ in range(POWER_STEPS):
            basis = np.linalg.qr(apply(slope, basis))[0]
        values, vectors = np.linalg.eigh(basis.conj().T @ apply(slope, basis))
    weights = np.maximum(values, 0.1 * max(float(values[-1]), 1e-300))
    return (basis @ vectors) * np.sqrt(weights / weights.sum()).astype(np.finfo(basis.dtype).dtype)
