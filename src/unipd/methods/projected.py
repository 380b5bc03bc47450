"""Accelerated projected gradient steps over the spectrahedron, with the few eigenvectors that a projection keeps.

Where noise is fitted, the best X has tens of small eigenvalues, and as many eigenvalues of -A^*(lam) are nearly equal
at the optimum. Steps over factors make the objective right long before that cluster, and with it the bound. A
projection moves all of X's eigenvalues at once and is exact where they vanish, so both converge fast.

A step goes to the projection of M = Y - A^*(lam) / L, Y the extrapolated point and lam the gradient of the loss there
(Beck and Teboulle, 2009; momentum restarts by O'Donoghue and Candes, 2015). Only the eigenvectors above the
projection's level count; they are Ritz vectors from a basis Q of the last step's vectors and their residuals, so that
one product with A^*(lam) for every column of Q serves a step, whatever L it ends with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.dual import evaluate
from unipd.errors import InvalidInput
from unipd.methods.base import Counts, empty_certificate, primal_certificate
from unipd.methods.corrective import has_smooth_loss
from unipd.methods.factored_state import target
from unipd.methods.factors import random_block
from unipd.methods.judging import ORACLE_SHARE, START_TOLERANCE, asked
from unipd.methods.lanczos_bound import bounded, long_run_serves, missed
from unipd.methods.projected_step import ProjectedState, point_of, stepped, trace_of
from unipd.methods.ritz import joined
from unipd.primal.fixed import Fixed
from unipd.problem import Problem
from unipd.protocols import Tracker, inner, norm

FLATTEST = 1e-6
"""L to begin with, as a share of the loss's own curvature, where A does not see the first atom."""
ASKED = 0.7
"""The oracle is asked when the gap that the Ritz values promise is this share of the accuracy asked for."""
FALL, LITTLE_FALL = 0.02, 0.75
"""It is also asked when that gap has fallen to the first share since, and not again before it has to the second."""


@dataclass(frozen=True)
class Projected:
    """Accelerated projected gradient method for a smooth loss over {X psd, tr X = a}, X of moderate rank.

    What is guaranteed: with exact projections the objective falls as 1/k^2. Projections are those of Ritz values, whose
    quality the method does not control; the bound does not depend on it, since the oracle is asked for that.

    Parameters
    ----------
    rank
        Rank of X that is expected: eigenvectors to look for in the first steps.
    seed
        Seed of the random vectors that the search for them begins with.

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

    rank: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        validate.integer("rank", self.rank, minimum=1)

    @property
    def name(self) -> str:
        """Name in results."""
        return "projected"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> ProjectedState:
        """Start from the atom at the dual vector given, by default the gradient of the loss at X = 0."""
        if not has_smooth_loss(problem):
            raise InvalidInput("problem", "a smooth loss for the method projected", repr(problem))
        trace_of(problem)
        assert problem.loss is not None
        if not np.any(dual):
            dual = problem.loss.gradient(-problem.b)
        point = evaluate(problem, dual, tolerance=START_TOLERANCE * problem.scale(0.0))
        factor = point.atom.left * math.sqrt(float(point.atom.weights[0]))
        primal = Fixed(point_of(factor))
        certificate = empty_certificate(dual).improved(problem, point)
        first = factor / norm(factor)
        fresh = random_block(factor, min(self.rank, factor.shape[0] - 1), self.seed)
        change = problem.loss.gradient(point.image - problem.b) - problem.loss.gradient(-problem.b)
        return ProjectedState(
            iteration=0,
            dual=dual,
            primal=primal,
            image=point.image,
            mean_objective=0.0,
            certificate=primal_certificate(problem, primal, point.image, 0.0, certificate),
            counts=Counts().plus(1, 0, point.matvecs),
            smoothness=max(inner(change, point.image) / norm(factor) ** 4, FLATTEST * problem.loss.curvature()),
            dual_step=math.nan,
            gradient_change=math.nan,
            failure=None,
            factor=factor,
            before=factor,
            image_before=point.image,
            basis=np.concatenate([first, joined(first, fresh)], axis=1),
            momentum=1.0,
            accuracy=accuracy,
            recent_atom=point.atom,
        )

    def step(self, problem: Problem, state: ProjectedState) -> ProjectedState:
        """Do one projected step; ask for the bound when the Ritz values promise a gap that is worth it."""
        moved, promise, top = stepped(problem, state)
        eps = target(problem, moved)
        ended = moved.failure is not None
        worth = promise <= FALL * state.promised or (promise <= ASKED * eps and promise <= LITTLE_FALL * state.promised)
        if not (worth or ended):
            return moved
        slope = problem.map.adjoint(-moved.dual)
        if long_run_serves(problem, slope):
            answered, excess = bounded(problem, moved, slope, top, promise)
            if excess <= max(promise, eps):
                return replace(answered, promised=promise)
            answered, vector = missed(problem, answered, excess)
        else:
            answered, point = asked(problem, moved, moved.dual, ORACLE_SHARE * max(eps, promise))
            vector = point.atom.left
        basis = answered.basis  # an eigenvector that the Ritz vectors miss joins them
        if basis.shape[1] < basis.shape[0]:
            basis = np.concatenate([basis, joined(basis, vector)], axis=1)
        return replace(answered, promised=promise, basis=basis)
