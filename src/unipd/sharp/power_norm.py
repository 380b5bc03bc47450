"""Powers of norms on the whole space."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms, validate
from unipd._typing import Array, Shape
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer
from unipd.sharp.base import SharpFunction
from unipd.sharp.l2_ball import L2Ball
from unipd.sharp.norm_ball import NormBall
from unipd.sharp.phases import phase


class PowerNorm(SharpFunction):
    """f(x) = (w / q) ||x||^q, q >= 2, for the norm of a given ball, on the whole space.

    With q' = q / (q - 1) the conjugate is (w / q') (||y||_* / w)^q', homogeneous of degree q', and
    [y]^# = (||y||_* / w)^(1 / (q - 1)) u with u the ball's maximiser at radius 1.

    Parameters
    ----------
    ball
        The norm, given as one of its balls; its radius plays no part.
    power
        The power q >= 2.
    weight
        The weight w > 0.

    Examples
    --------
    >>> from unipd.sharp import L1Ball
    >>> answer = PowerNorm(L1Ball(2), power=3.0)(np.array([1.0, -4.0]))
    >>> answer.atom.dense()
    array([ 0., -2.])
    """

    def __init__(self, ball: NormBall, power: float = 2.0, weight: float = 1.0) -> None:
        if not isinstance(ball, NormBall):
            raise InvalidInput("ball", "a norm ball of unipd.sharp", type(ball).__name__)
        super().__init__(ball.shape)
        self.ball = ball
        self.power = _checked_power(power)
        self.weight = validate.positive("weight", weight)
        self.real_only = ball.real_only

    @property
    def coefficient(self) -> float:
        """The factor of ||x||^q / q in f: the weight w."""
        return self.weight

    @property
    def atom_entries(self) -> int:
        """As many as an atom of the ball."""
        return self.ball.atom_entries

    @property
    def degree(self) -> float | None:
        """Return q' = q / (q - 1)."""
        return self.power / (self.power - 1.0)

    def maximiser(self, direction: Array) -> Any:
        """Return the ball's maximiser, stretched to the length that balances <y, x> and f."""
        length = self._length(self.ball.dual_norm(direction))
        return atoms.scaled(self.ball.maximiser(direction), length / self.ball.radius)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return (w / q') (||y||_* / w)^q', without a maximiser."""
        dual_norm = self.ball.dual_norm(self._checked(direction))
        length = self._length(dual_norm)
        cost = self.coefficient / self.power * length**self.power
        return SharpAnswer(None, dual_norm * length - cost, cost)

    def objective(self, x: Any) -> float:
        """Return (w / q) ||x||^q."""
        return self.coefficient / self.power * self.ball.norm(np.asarray(atoms.dense(x))) ** self.power

    def _length(self, dual_norm: float) -> float:
        return (dual_norm / self.coefficient) ** (1.0 / (self.power - 1.0))


class EuclideanPower(PowerNorm):
    """f(x) = (w / q) ||x||_2^q, q >= 2; [y]^# = (||y||_2 / w)^(1 / (q - 1)) y / ||y||_2.

    Examples
    --------
    >>> EuclideanPower(2, power=2.0)(np.array([3.0, -4.0])).value
    12.5
    """

    def __init__(self, shape: int | Shape, power: float, weight: float = 1.0) -> None:
        super().__init__(L2Ball(shape), power, weight)


class SeparablePower(SharpFunction):
    """f(x) = (w / q) sum |x_i|^q, q >= 2; [y]^# = sign(y_i) (|y_i| / w)^(1 / (q - 1)), entry by entry.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    power
        The power q >= 2.
    weight
        The weight w > 0.

    Examples
    --------
    >>> SeparablePower(2, power=3.0)(np.array([1.0, -4.0])).atom
    array([ 1., -2.])
    """

    def __init__(self, shape: int | Shape, power: float, weight: float = 1.0) -> None:
        super().__init__(shape)
        self.power = _checked_power(power)
        self.weight = validate.positive("weight", weight)

    @property
    def degree(self) -> float | None:
        """Return q' = q / (q - 1)."""
        return self.power / (self.power - 1.0)

    @property
    def coefficient(self) -> float:
        """The factor of sum |x_i|^q / q in f: the weight w."""
        return self.weight

    def maximiser(self, direction: Array) -> Any:
        """Return the stationary point, entry by entry."""
        return (np.abs(direction) / self.weight) ** (1.0 / (self.power - 1.0)) * phase(direction)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return (w / q') sum (|y_i| / w)^q', without a maximiser."""
        moduli = np.abs(self._checked(direction)) / self.weight
        total = self.weight * float((moduli ** (self.power / (self.power - 1.0))).sum())
        return SharpAnswer(None, total * (1.0 - 1.0 / self.power), total / self.power)

    def objective(self, x: Any) -> float:
        """Return (w / q) sum |x_i|^q."""
        return self.weight / self.power * float((np.abs(atoms.dense(x)) ** self.power).sum())


def _checked_power(power: float) -> float:
    value = validate.number("power", power)
    if value < 2:
        raise InvalidInput("power", "a number not below 2", repr(power))
    return value
