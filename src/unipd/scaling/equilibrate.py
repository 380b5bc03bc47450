"""Equilibrate the rows of a problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.problem import Problem
from unipd.scaling.couplings import rescaled
from unipd.scaling.row_norms import row_norms
from unipd.scaling.scaled_map import RowScaled
from unipd.scaling.units import size_of_solution, with_cost

SPREAD = 10.0
"""Ratio of the largest to the smallest row norm from which equilibration pays."""


@dataclass(frozen=True)
class Scaling:
    """A problem with its rows in other units, and the way back."""

    problem: Problem
    """min f(x) / c over x in X, D A x - D b in D K."""
    factors: Array
    """The diagonal of D, in the shape of b; powers of two, so that nothing is rounded."""
    cost: float = 1.0
    """c, other than 1 where f is a power of a norm and x is large."""

    def dual_back(self, dual: Array) -> Array:
        """Return the dual vector in the original units, c D mu."""
        return self.factors * dual if self.cost == 1.0 else self.cost * (self.factors * dual)

    def dual_there(self, dual: Array) -> Array:
        """Return the dual vector in the scaled units, lam / (c D)."""
        return dual / self.factors if self.cost == 1.0 else dual / self.cost / self.factors

    def image_back(self, image: Array) -> Array:
        """Return the image in the original units."""
        return image / self.factors


def equilibrated(problem: Problem, spread: float = SPREAD) -> Scaling | None:
    """Return the problem with rows of about unit norm, or None where that is not possible or would gain little.

    The set X, the objective and the optimal value stay as they are; only the metric of the dual space changes, and
    with it the steps of every method. Columns need no scaling: methods see x only through A x and f(x), which do
    not depend on the units of x, and a common factor of A, b or f changes none of their steps either. The exception is
    a power of a norm on the whole space where b asks for a large x: then b is brought to about 1, and f to f / c.

    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.diag([1.0, 1e-5]), [0.5, 0.5e-5], "=")
    >>> equilibrated(problem).problem.b
    array([0.5    , 0.65536])
    """
    if problem.loss is not None:
        return None
    known = row_norms(problem.map)
    norms = np.ones(problem.b.size) if known is None else known
    present, size = norms[norms > 0], size_of_solution(problem, norms)
    if size == 1.0 and (present.size < 2 or present.max() <= spread * present.min()):
        return None
    new = rescaled(problem.coupling, size * norms)
    if new is None or (size == 1.0 and new.factors.max() == new.factors.min()):
        return None
    sharp, cost = with_cost(problem.sharp, size)
    factors = new.factors.reshape(problem.dual_shape).astype(np.finfo(problem.dtype).dtype)
    try:
        scaled = Problem(sharp, RowScaled(problem.map, factors), factors * problem.b, new.coupling)
    except InvalidInput:  # a set of real numbers alone, such as a box, in the place of one that takes complex ones
        return None
    return Scaling(scaled, factors, cost)
