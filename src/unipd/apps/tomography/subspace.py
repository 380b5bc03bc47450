"""The factored method for values with noise: steps over a space that holds the top eigenvectors of the gradient.

Where noise is fitted, tens of eigenvalues of A^*(b - A X) are nearly equal at the optimum. Quasi-Newton steps make the
objective right long before the top eigenvalue, and with it the bound: at a distance of 1e-6 from the optimum the gap
is still 1e-3, since the range of X is turned a little. What turns it are the top eigenvectors. So X = V S V^* is fitted
over the span V of X and of as many top eigenvectors as X has columns and a few more: a small convex problem, and a well
conditioned one, whose projections are those of eigenvalues to a simplex (a step of the spectral bundle method).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.atoms import LowRank, apply
from unipd.methods.descent import descended
from unipd.methods.factored import Factored
from unipd.methods.factored_state import FactoredState, reported, target
from unipd.methods.judging import judged
from unipd.methods.lbfgs import Memory
from unipd.problem import Problem
from unipd.protocols import inner
from unipd.spectral import Engine

WARM = 4
"""Iterations of quasi-Newton steps alone."""
MORE = 8
"""Eigenvectors beyond the columns of X."""
LOOSE = 3e-2
"""Largest residual of the eigenvectors, as a share of the spread of the spectrum."""
STEPS = 3
"""Projected gradient steps over the span."""
NEGLIGIBLE = 1e-9
"""Share of the trace below which an eigenvalue is dropped."""


@dataclass(frozen=True)
class NoisyFactored(Factored):
    """Factored method whose later iterations also fit X over the span of its range and of top eigenvectors.

    Examples
    --------
    >>> NoisyFactored(rank=4).name
    'factored'
    """

    def step(self, problem: Problem, state: FactoredState) -> FactoredState:
        """Do some quasi-Newton steps; after the first iterations a fit over the span, and the oracle's word."""
        moved = reported(problem, replace(descended(state, self.inner_steps), iteration=state.iteration + 1))
        if moved.iteration < WARM or moved.certificate.gap <= target(problem, moved):
            return moved
        return judged(problem, refitted(problem, moved))


def refitted(problem: Problem, state: FactoredState) -> FactoredState:
    """Return the state with X fitted over its range and the top eigenvectors of -A^*(lam)."""
    factor: Array = state.here.point.left
    size, columns = factor.shape
    count = min(columns + MORE, size)
    engine = Engine(block=1, subspace=min(4 * count, size), lookout=None)
    found = engine.eigenpairs(problem.map.adjoint(-state.here.dual), count, tolerance=LOOSE)
    basis: Array = np.linalg.qr(np.concatenate([factor, found.vectors.astype(factor.dtype, copy=False)], axis=1))[0]
    best, products = fitted_over(problem, basis, factor, state.here.image)
    here = state.model.evaluate(best)
    counts = state.counts.plus(0, 0, found.matvecs + products + here.matvecs)
    if here.value >= state.here.value:
        return replace(state, counts=counts)
    fresh = Memory(limit=state.memory.limit)
    return reported(problem, replace(state, factor=best, here=here, memory=fresh, counts=counts))


def fitted_over(problem: Problem, basis: Array, factor: Array, image: Array) -> tuple[Array, int]:
    """Return a factor of X = V S V^* after some projected gradient steps from R R^*, and the products they took.

    The first step length comes from the curvature along X itself, the others are Barzilai and Borwein's; a step is
    cut where the loss along it is least. The last is a projection, whose rank is low.
    """
    loss, b = problem.loss, problem.b
    assert loss is not None
    inside = basis.conj().T @ factor
    small: Array = inside @ inside.conj().T
    trace = float(np.trace(small).real)
    slope, products = _slope(problem, basis, image), basis.shape[1]
    change = loss.gradient(image - b) - loss.gradient(-b)
    curvature = inner(change, image) / float(np.vdot(small, small).real)
    for _ in range(STEPS):
        there, roots = projected(small - slope / curvature, trace)
        point = basis @ roots
        reached = np.asarray(problem.map.image(LowRank(point, point, np.ones(point.shape[1]))))
        way, move = reached - image, there - small
        before = loss.gradient(image - b)
        bend = inner(loss.gradient(reached - b) - before, way)
        share = min(1.0, -inner(before, way) / bend) if bend > 0.0 else 1.0
        length = float(np.vdot(move, move).real)
        if share <= 0.0 or length == 0.0:
            break
        small, image = small + share * move, image + share * way
        products += basis.shape[1] + point.shape[1]
        slope, curvature = _slope(problem, basis, image), bend / length
    return basis @ projected(small - slope / curvature, trace)[1], products


def projected(matrix: Array, trace: float) -> tuple[Array, Array]:
    """Return the nearest positive semidefinite matrix of this trace, and a factor of it.

    >>> projected(np.diag([2.0, 1.5, -1.0]), 1.0)[0].round(9)
    array([[0.75, 0.  , 0.  ],
           [0.  , 0.25, 0.  ],
           [0.  , 0.  , 0.  ]])
    """
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.conj().T))
    falling = values[::-1]
    levels = (np.cumsum(falling) - trace) / np.arange(1, values.size + 1)
    raised = np.maximum(values - levels[np.flatnonzero(falling > levels)[-1]], 0.0)
    kept = raised > NEGLIGIBLE * trace
    roots: Any = vectors[:, kept] * np.sqrt(raised[kept])
    return roots @ roots.conj().T, roots


def _slope(problem: Problem, basis: Array, image: Array) -> Array:
    """Return V^* A^*(lam) V for the gradient lam of the loss at an image."""
    assert problem.loss is not None
    operator = problem.map.adjoint(problem.loss.gradient(image - problem.b))
    return basis.conj().T @ apply(operator, basis)
