"""The ball of the spectral norm, and squared Schatten norms: oracles of a whole singular value decomposition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Shape
from unipd._util import validate
from unipd._util.printing import short_repr
from unipd.atoms import LowRank, dense
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer
from unipd.sharp.norm_ball import LInfBall, LpBall
from unipd.sharp.norms import NormSquared
from unipd.sharp.spectral.base import SpectralSharp, singular_values, weights_of
from unipd.spectral import RIGOROUS
from unipd.spectral.engine import decompose_dense
from unipd.spectral.operators import Products, Triples, rounding_allowance


class WholeSpectrum(SpectralSharp):
    """Base of the oracles that decompose the whole direction, by LAPACK."""

    def __init__(self, shape: Shape, dense_limit: int) -> None:
        super().__init__(shape)
        if min(self.shape) > validate.integer("dense_limit", dense_limit, minimum=1):
            raise InvalidInput("shape", f"a shorter side of at most dense_limit = {dense_limit}", f"{self.shape}")

    @property
    def exact(self) -> bool:
        """Exact up to rounding: LAPACK answers."""
        return True

    def decompose(self, direction: Any) -> Triples:
        """Return the singular value decomposition; its residuals bound the rounding error of the values."""
        return decompose_dense(Products(direction), min(self.shape))


class SpectralBall(WholeSpectrum):
    """The ball {||X|| <= r} of the spectral norm; [Y]^# = r U V^* (the polar factor), support r ||Y||_*.

    The whole singular value decomposition of the direction is needed, so X must be small enough to be made dense.

    Parameters
    ----------
    shape
        Rows and columns of X.
    radius
        The radius r > 0.
    dense_limit
        Largest shorter side accepted.

    Raises
    ------
    InvalidInput
        ``radius``: expected a number above zero; ``dense_limit``: expected an integer of at least 1.

    See Also
    --------
    NuclearBall, Fantope, SchattenSquared, unipd.couplings.SpectralBall

    Examples
    --------
    >>> SpectralBall((2, 2), radius=2.0)(np.diag([3.0, -1.0])).atom.dense().round(9)
    array([[ 2.,  0.],
           [ 0., -2.]])
    """

    def __init__(self, shape: Shape, radius: float = 1.0, *, dense_limit: int = 2000) -> None:
        super().__init__(shape, dense_limit)
        self.radius = validate.positive("radius", radius)

    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the polar factor; singular vectors of singular values that are only rounding get weight 0."""
        found = self.decompose(direction)
        weights = np.where(found.values > found.residual, self.radius, 0.0)
        atom = LowRank(found.left, found.right, weights_of(weights, found.left.dtype))
        error = self.radius * float(found.residuals.sum())
        return SharpAnswer(atom, float(np.sum(weights * found.values)), 0.0, error, found.matvecs, RIGOROUS)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return r times the nuclear norm, without the vectors."""
        products = Products(self._validate_direction(direction))
        matrix = products.dense()
        values = np.linalg.svd(matrix, compute_uv=False)
        error = self.radius * rounding_allowance(matrix, float(values[0])) * values.size
        return SharpAnswer(None, self.radius * float(values.sum()), 0.0, error, products.count, RIGOROUS)

    def norm(self, x: Any) -> float | None:
        """Return ||X|| of a point, or None when it does not fit."""
        values = singular_values(x, self.shape)
        return None if values is None else float(values[0])

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether ||X|| <= r."""
        size = self.norm(x)
        return size is not None and size <= self.radius * (1.0 + tolerance)


class SchattenSquared(WholeSpectrum):
    """f(X) = w ||X||_p^2 with the Schatten norm (sum sigma_i^p)^(1/p), 1 < p <= inf; the conjugate is ||Y||_q^2 / (4w).

    [Y]^# = U diag(s^#) V^* for Y = U diag(s) V^*, with the sharp point s^# of the squared lp norm of vectors. For p = 2
    that is :class:`~unipd.sharp.L2NormSquared` of a matrix, without a decomposition, and for p = 1
    :class:`NuclearNormSquared`, from one singular triple.

    Parameters
    ----------
    shape
        Rows and columns of X.
    exponent
        The exponent p; inf for the spectral norm.
    weight
        The weight w > 0.
    dense_limit
        Largest shorter side accepted.

    Raises
    ------
    InvalidInput
        ``exponent``: expected a number above 1; ``weight``: expected a number above zero; ``dense_limit``: expected an
        integer of at least 1.

    See Also
    --------
    NuclearNormSquared, SpectralBall, NormSquared

    Examples
    --------
    >>> round(SchattenSquared((2, 2), exponent=2.0, weight=0.5)(np.diag([3.0, -4.0])).value, 9)
    12.5
    """

    def __init__(self, shape: Shape, exponent: float, weight: float = 1.0, *, dense_limit: int = 2000) -> None:
        super().__init__(shape, dense_limit)
        count = min(self.shape)
        self.values = NormSquared(LInfBall(count) if exponent == math.inf else LpBall(count, exponent), weight)
        self.exponent, self.scale = float(exponent), self.values.weight
        self.is_strictly_convex = math.isfinite(self.exponent)

    def __repr__(self) -> str:
        return f"SchattenSquared(shape={self.shape}, exponent={self.exponent:g}, weight={short_repr(self.scale)})"

    degree = 2.0
    linear = False

    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the sharp point of the singular values with the singular vectors of the direction."""
        found = self.decompose(direction)
        best = self.values(found.values)
        atom = LowRank(found.left, found.right, weights_of(dense(best.atom), found.left.dtype))
        error = self.values.value(found.values + found.residuals).value - best.value
        return SharpAnswer(atom, best.value, best.objective, error, found.matvecs, RIGOROUS)

    def objective(self, x: Any) -> float:
        """Return w ||X||_p^2."""
        values = singular_values(x, self.shape)
        if values is None:
            raise InvalidInput("x", f"a finite matrix of shape {self.shape}")
        return self.scale * self.values.ball.norm(values) ** 2

    def support(self, direction: Any) -> float:
        """Return the support function of the whole space: 0 at 0 and inf elsewhere."""
        return math.inf if self(direction).value > 0.0 else 0.0

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x is a finite matrix of the right shape."""
        return singular_values(x, self.shape) is not None

    def maximum(self) -> float:
        """Return inf: f is unbounded."""
        return math.inf
