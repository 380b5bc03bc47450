"""A set moved by a vector, or scaled by a factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import inner
from unipd.couplings.base import ConvexSet, CouplingBase, RowScaling, as_coupling, require_like
from unipd.errors import InvalidInput
from unipd.protocols import Coupling


class _AffineImage(ConvexSet):
    """A set made from another one, ``part``."""

    def __init__(self, part: Coupling) -> None:
        self.part = _require_set(part)

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The set inside."""
        return (self.part,)

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise unless the set takes such data."""
        self.part.check(shape, dtype)

    @property
    def has_prox_jacobian(self) -> bool:
        """Whether the set has one."""
        return self.part.has_prox_jacobian


class Translated(_AffineImage):
    """K = shift + K_0, with h(lam) = <lam, shift> + h_0(lam).

    Parameters
    ----------
    part
        The set K_0.
    shift
        The shift, of the shape of b.

    Raises
    ------
    InvalidInput
        ``shift``: expected an array of finite numbers.

    See Also
    --------
    Scaled, Product

    Examples
    --------
    >>> from unipd.couplings import L2Ball
    >>> Translated(L2Ball(1.0), np.array([3.0, 0.0])).project(np.array([0.0, 0.0]))
    array([2., 0.])
    """

    def __init__(self, part: Coupling, shift: Any) -> None:
        super().__init__(part)
        self.shift = validate.finite_array("shift", shift, copy=True)

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise unless the shift has the shape of the data, is real where it is, and the set takes it."""
        require_like("shift", self.shift, shape, dtype)
        self.part.check(shape, dtype)

    def project(self, vector: Array) -> Array:
        """Return shift + P_0(v - shift)."""
        shift = self.shift.astype(vector.dtype, copy=False)
        return shift + self.part.prox(vector - shift, 1.0)

    def conjugate(self, dual: Array) -> float:
        """Return <lam, shift> + h_0(lam)."""
        return self.part.conjugate(dual) + inner(dual, self.shift)

    def distance(self, residual: Array) -> float:
        """Return the distance of r - shift to the set that was moved."""
        return self.part.distance(residual - self.shift.astype(residual.dtype, copy=False))

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return the prox of step h_0 at v - step shift."""
        moved = vector - (float(step) * self.shift).astype(vector.dtype, copy=False)
        return self.part.prox_conjugate(moved, step)

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Return that of step h_0 at v - step shift."""
        moved = (vector - step * self.shift).astype(vector.dtype, copy=False)
        return self.part.prox_jacobian(moved, step, directions)

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Rescale the set, and the shift with it."""
        part = self.part.rescale(norms)
        if part is None:
            return None
        return RowScaling(part.factors, Translated(part.coupling, self.shift * part.factors.reshape(self.shift.shape)))


class Scaled(_AffineImage):
    """K = factor * K_0 with factor > 0, with h(lam) = factor * h_0(lam).

    Parameters
    ----------
    part
        The set K_0.
    factor
        The factor, above 0.

    Raises
    ------
    InvalidInput
        ``factor``: expected a number above zero.

    See Also
    --------
    Translated, Product

    Examples
    --------
    >>> from unipd.couplings import LInfBall
    >>> Scaled(LInfBall(1.0), 3.0).project(np.array([5.0, -1.0]))
    array([ 3., -1.])
    """

    def __init__(self, part: Coupling, factor: float) -> None:
        super().__init__(part)
        self.factor = validate.positive("factor", factor)

    def project(self, vector: Array) -> Array:
        """Return factor * P_0(v / factor)."""
        return self.factor * self.part.prox(vector / self.factor, 1.0)

    def conjugate(self, dual: Array) -> float:
        """Return factor * h_0(lam)."""
        return self.factor * self.part.conjugate(dual)

    def distance(self, residual: Array) -> float:
        """Return factor times the distance of r / factor to the set that was stretched."""
        return self.factor * self.part.distance(residual / self.factor)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return the prox of (step factor) h_0 at v."""
        return self.part.prox_conjugate(vector, self.factor * float(step))

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Return that of (step factor) h_0 at v."""
        return self.part.prox_jacobian(vector, self.factor * step, directions)

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Rescale the set; the factor stays."""
        part = self.part.rescale(norms)
        return part and RowScaling(part.factors, Scaled(part.coupling, self.factor))


def _require_set(part: Coupling) -> CouplingBase:
    """Return ``part`` when it is a set, and raise for a loss or anything else."""
    if not isinstance(part, Coupling) or part.is_loss or as_coupling(part).constrained_rows is not None:
        raise InvalidInput("part", "a set K of unipd.couplings (not a loss)", type(part).__name__)
    return as_coupling(part)
