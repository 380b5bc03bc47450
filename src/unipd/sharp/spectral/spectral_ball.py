"""The ball of the spectral norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Shape
from unipd._util import validate
from unipd.atoms import LowRank
from unipd.errors import InvalidInput, OracleError
from unipd.protocols import SharpAnswer
from unipd.sharp.spectral.base import SpectralSharp, singular_values, weights_of
from unipd.spectral import RIGOROUS
from unipd.spectral.dense import rounding_allowance
from unipd.spectral.operators import Products


class SpectralBall(SpectralSharp):
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
    NuclearBall, Fantope, unipd.couplings.SpectralBall

    Examples
    --------
    >>> SpectralBall((2, 2), radius=2.0)(np.diag([3.0, -1.0])).atom.dense().round(9)
    array([[ 2.,  0.],
           [ 0., -2.]])
    """

    def __init__(self, shape: Shape, radius: float = 1.0, *, dense_limit: int = 2000) -> None:
        super().__init__(shape)
        self.radius = validate.positive("radius", radius)
        if min(self.shape) > validate.integer("dense_limit", dense_limit, minimum=1):
            raise InvalidInput("shape", f"a shorter side of at most dense_limit = {dense_limit}", f"{self.shape}")

    @property
    def exact(self) -> bool:
        """Exact up to rounding: LAPACK answers."""
        return True

    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the polar factor; singular vectors of singular values that are only rounding get weight 0."""
        products = Products(direction)
        matrix = products.dense()
        if not np.isfinite(matrix).all():
            raise OracleError("a product with the direction has entries that are NaN or infinite")
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        allowance = rounding_allowance(matrix, float(values[0]))
        weights = np.where(values > allowance, self.radius, 0.0)
        atom = LowRank(left, right.conj().T, weights_of(weights, left.dtype))
        value = float(np.sum(weights * values))
        error = self.radius * allowance * values.size
        return SharpAnswer(atom, value, 0.0, error, products.count, RIGOROUS)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return r times the nuclear norm, without the vectors."""
        products = Products(self._validate_direction(direction))
        matrix = products.dense()
        values = np.linalg.svd(matrix, compute_uv=False)
        error = self.radius * rounding_allowance(matrix, float(values[0])) * values.size
        return SharpAnswer(None, self.radius * float(values.sum()), 0.0, error, products.count, RIGOROUS)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether ||X|| <= r."""
        values = singular_values(x, self.shape)
        return values is not None and float(values[0]) <= self.radius * (1.0 + tolerance)
