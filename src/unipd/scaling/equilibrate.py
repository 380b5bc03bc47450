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

SPREAD = 10.0
"""Ratio of the largest to the smallest row norm from which equilibration pays."""


@dataclass(frozen=True)
class Scaling:
    """A problem with its rows in other units, and the way back."""

    problem: Problem
    """min f(x) over x in X, D A x - D b in D K."""
    factors: Array
    """The diagonal of D, in the shape of b; powers of two, so that nothing is rounded."""

    def dual_back(self, dual: Array) -> Array:
        """Return the dual vector in the original units, D mu."""
        return self.factors * dual

    def dual_there(self, dual: Array) -> Array:
        """Return the dual vector in the scaled units, lam / D."""
        return dual / self.factors

    def image_back(self, image: Array) -> Array:
        """Return the image in the original units."""
        return image / self.factors


def equilibrated(problem: Problem, spread: float = SPREAD) -> Scaling | None:
    """Return the problem with rows of about unit norm, or None where that is not possible or would gain little.

    The set X, the objective and the optimal value stay as they are; only the metric of the dual space changes, and
    with it the steps of every method. Columns need no scaling: methods see x only through A x and f(x), which do
    not depend on the units of x, and a common factor of A, b or f changes none of their steps either.

    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.diag([1.0, 1e-5]), [0.5, 0.5e-5], "=")
    >>> equilibrated(problem).problem.b
    array([0.5    , 0.65536])
    """
    if problem.loss is not None:
        return None
    norms = row_norms(problem.map)
    if norms is None:
        return None
    present = norms[norms > 0]
    if present.size < 2 or present.max() <= spread * present.min():
        return None
    new = rescaled(problem.coupling, norms)
    if new is None or new.factors.max() == new.factors.min():
        return None
    factors = new.factors.reshape(problem.dual_shape).astype(np.finfo(problem.dtype).dtype)
    try:
        scaled = Problem(problem.sharp, RowScaled(problem.map, factors), factors * problem.b, new.coupling)
    except InvalidInput:  # a set of real numbers alone, such as a box, in the place of one that takes complex ones
        return None
    return Scaling(scaled, factors)
