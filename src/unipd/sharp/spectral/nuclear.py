"""The nuclear norm: its ball and its square (paper, matrix completion)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Shape
from unipd._util import validate
from unipd._util.printing import short_repr
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.sharp.norm_on_ball import NormOnBall
from unipd.sharp.spectral.base import RankOneSharp, SquaredSharp, singular_values
from unipd.sharp.spectral.factors import NuclearNormFactors, SpectralFactors


class NuclearBall(RankOneSharp):
    """The ball {||X||_* <= r}; [Y]^# = r u v^* from the top singular triple, support r sigma_1(Y).

    At Y = 0 the answer is the zero matrix (an atom of weight 0).

    Parameters
    ----------
    shape
        Rows and columns of X.
    radius
        The radius r > 0.
    options
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral.base.SpectralSharp`.

    Raises
    ------
    InvalidInput
        ``radius``: expected a number above zero.

    See Also
    --------
    NuclearNormSquared, WeightedNuclearBall, unipd.MatrixCompletion, unipd.couplings.NuclearBall

    Examples
    --------
    >>> import numpy as np
    >>> answer = NuclearBall((2, 3), radius=2.0)(np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    >>> round(answer.value, 9), answer.atom.dense().round(9)
    (6.0, array([[2., 0., 0.], [0., 0., 0.]]))
    """

    def __init__(self, shape: Shape, radius: float = 1.0, **options: Any) -> None:
        super().__init__(shape, **options)
        self.radius = validate.positive("radius", radius)

    def weight(self, top: float) -> float:
        """Return r, or 0 at the zero direction."""
        return self.radius if top > 0.0 else 0.0

    def conjugate(self, top: float) -> float:
        """Return r sigma."""
        return self.radius * max(top, 0.0)

    def top_value_tolerance(self, top: float, tolerance: float) -> float:
        """Return tolerance / r."""
        return tolerance / self.radius

    def norm(self, x: Any) -> float | None:
        """Return ||X||_* of a point (from its factors where it has them), or None when it does not fit."""
        values = singular_values(x, self.shape)
        return None if values is None else float(values.sum())

    def factors(self) -> SpectralFactors | None:
        """Return X = U V^* with ||U||^2 + ||V||^2 <= 2 r; None for subclasses with other norms."""
        known = type(self).norm is NuclearBall.norm
        return SpectralFactors(self.shape[0], self.shape[1], self.radius, ball=True) if known else None

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether ||X||_* <= r."""
        size = self.norm(x)
        return size is not None and size <= self.radius * (1.0 + tolerance)


class NuclearNormOnBall(NormOnBall):
    """f(X) = w ||X||_* over {||X||_* <= r}; [Y]^# = r u v^* if sigma_1 > w, else 0, conjugate r max(0, sigma_1 - w).

    Parameters
    ----------
    shape
        Rows and columns of X.
    radius
        The radius r > 0 of a ball that holds the solution.
    weight
        The weight w > 0.
    options
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral.base.SpectralSharp`.

    Raises
    ------
    InvalidInput
        ``radius``, ``weight``: expected a number above zero.

    See Also
    --------
    NuclearBall, NuclearNormSquared, NormOnBall, unipd.methods.NormBarrier

    Examples
    --------
    >>> import numpy as np
    >>> answer = NuclearNormOnBall((2, 2), radius=2.0)(np.diag([3.0, 1.0]))
    >>> round(answer.value, 9), round(answer.objective, 9)
    (4.0, 2.0)
    """

    def __init__(self, shape: Shape, radius: float = 1.0, weight: float = 1.0, **options: Any) -> None:
        super().__init__(NuclearBall(shape, radius, **options), weight)


class NuclearNormSquared(SquaredSharp):
    """f(X) = w ||X||_*^2 on all matrices; [Y]^# = (sigma_1 / 2w) u v^*, conjugate sigma_1^2 / (4w).

    The paper's matrix completion has w = 1/n: X^* = (n sigma_1 / 2) u v^* and conjugate n sigma_1^2 / 4.

    Parameters
    ----------
    shape
        Rows and columns of X.
    weight
        The factor w > 0.
    options
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral.base.SpectralSharp`.

    Raises
    ------
    InvalidInput
        ``weight``: expected a number above zero.

    See Also
    --------
    NuclearBall, unipd.methods.NormBarrier

    Examples
    --------
    >>> import numpy as np
    >>> answer = NuclearNormSquared((2, 2), weight=0.5)(np.diag([3.0, 1.0]))
    >>> round(answer.value, 9), round(answer.objective, 9)
    (4.5, 4.5)
    """

    def __init__(self, shape: Shape, weight: float = 1.0, **options: Any) -> None:
        super().__init__(shape, **options)
        self.scale = validate.positive("weight", weight)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, weight={short_repr(self.scale)})"

    def objective(self, x: Any) -> float:
        """Return w ||X||_*^2."""
        values = singular_values(x, self.shape)
        if values is None:
            raise InvalidInput("x", f"a finite matrix of shape {self.shape}")
        return self.scale * float(values.sum()) ** 2

    def nuclear_slope(self, size: float) -> float | None:
        """Return 2 w ||X||_*; None for subclasses with other norms."""
        known = type(self).objective in (NuclearNormSquared.objective, BalancedNuclearNormSquared.objective)
        return 2.0 * self.scale * size if known else None

    def factors(self) -> NuclearNormFactors | None:
        """Return X = U V^* with the objective w ((||U||^2 + ||V||^2) / 2)^2; None for subclasses with other norms."""
        known = self.nuclear_slope(1.0) is not None
        return NuclearNormFactors(self.shape[0], self.shape[1], 1.0, False, weight=self.scale) if known else None

    def support(self, direction: Any) -> float:
        """Return the support function of the whole space: 0 at 0 and inf elsewhere."""
        top = self.engine.singular_triples(self._validate_direction(direction), tolerance=1.0).value
        return math.inf if top > 0.0 else 0.0

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x is a finite matrix of the right shape."""
        return singular_values(x, self.shape) is not None


class BalancedNuclearNormSquared(NuclearNormSquared):
    """f(X) = w ||X||_*^2, evaluated at factors by its smooth upper bound w ((||U||^2 + ||V||^2) / 2)^2.

    The bound is attained by balanced factors, which minimisers are.

    >>> one = np.ones((2, 1))
    >>> round(BalancedNuclearNormSquared((2, 2)).objective(LowRank(one, one, np.ones(1))), 9)
    4.0
    """

    def objective(self, x: Any) -> float:
        """Return w ((||U||^2 + ||V||^2) / 2)^2 of factors, w ||X||_*^2 of other points."""
        if not isinstance(x, LowRank):
            return super().objective(x)
        lengths = (np.abs(x.left) ** 2).sum(axis=0) + (np.abs(x.right) ** 2).sum(axis=0)
        return self.scale * (0.5 * float(lengths @ np.abs(x.weights))) ** 2
