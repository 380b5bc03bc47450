"""Powers of norms on the whole space, squares among them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, Shape
from unipd._util import validate
from unipd._util.arrays import phase
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer
from unipd.sharp.base import SharpFunction
from unipd.sharp.lp_ball import L1Ball, L2Ball, LInfBall
from unipd.sharp.norm_ball import NormBall


class PowerNorm(SharpFunction):
    """f(x) = (w / q) ||x||^q, q >= 2, for the norm of a given ball, on the whole space.

    With q' = q / (q - 1) the conjugate is (w / q') (||y||_* / w)^q', homogeneous of degree q', and
    [y]^# = (||y||_* / w)^(1 / (q - 1)) u with u the ball's maximiser at radius 1.

    Parameters
    ----------
    ball
        The norm, given as one of its balls; its radius is ignored.
    power
        The power q >= 2.
    weight
        The weight w > 0.

    Raises
    ------
    InvalidInput
        ``ball``: expected a norm ball of unipd.sharp; ``weight``: expected a number above zero.

    See Also
    --------
    EuclideanPower, NormSquared, unipd.theory.uniform_convexity_constant

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
        self.power = _validate_power(power)
        self.weight = validate.positive("weight", weight)
        self.real_only = ball.real_only
        self.is_strictly_convex = ball.is_strictly_convex

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The ball of the norm."""
        return (self.ball,)

    @property
    def coefficient(self) -> float:
        """The factor of ||x||^q / q in f: the weight w."""
        return self.weight

    @property
    def atom_entries(self) -> int | None:
        """As many as an atom of the ball."""
        return self.ball.atom_entries

    @property
    def degree(self) -> float | None:
        """Return q' = q / (q - 1)."""
        return self.power / (self.power - 1.0)

    def maximiser(self, direction: Array) -> Any:
        """Return the ball's maximiser, stretched to the length that balances <y, x> and f."""
        length = self._length(self.ball.dual_norm(direction))
        return atoms.scale_atom(self.ball.maximiser(direction), length / self.ball.radius)

    def coordinates(self) -> Any:
        """Return the ball's coordinates without a budget, with the cost v N(x)^2; for q = 2 only."""
        ball = self.ball.coordinates() if self.power == 2.0 else None
        return None if ball is None else replace(ball, budget=math.inf, quadratic=0.5 * self.coefficient)

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return the vertices of the unit ball whose multiples attain more than ``above``; for q = 2 only."""
        if self.power != 2.0:
            return None
        least = np.sqrt(max(0.0, 2.0 * self.coefficient * above))
        vertices = self.ball.best_vertices(direction, count, self.ball.radius * least)
        return None if vertices is None else [atoms.scale_atom(x, 1.0 / self.ball.radius) for x in vertices]

    def quadratic_diagonal(self) -> Any:
        """Return w for the squared Euclidean norm."""
        known = self.power == 2.0 and isinstance(self.ball, L2Ball)
        return np.full(self.shape, self.coefficient) if known else None

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return (w / q') (||y||_* / w)^q', without a maximiser."""
        dual_norm = self.ball.dual_norm(self._validate_direction(direction))
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

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    power
        The exponent q >= 2.
    weight
        The weight w > 0.

    See Also
    --------
    PowerNorm, SeparablePower, unipd.theory.uniform_convexity_constant

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

    Raises
    ------
    InvalidInput
        ``weight``: expected a number above zero.

    See Also
    --------
    EuclideanPower, QuadraticBox

    Examples
    --------
    >>> SeparablePower(2, power=3.0)(np.array([1.0, -4.0])).atom
    array([ 1., -2.])
    """

    is_strictly_convex = True

    def __init__(self, shape: int | Shape, power: float, weight: float = 1.0) -> None:
        super().__init__(shape)
        self.power = _validate_power(power)
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

    def quadratic_diagonal(self) -> Any:
        """Return w for q = 2."""
        return np.full(self.shape, self.coefficient) if self.power == 2.0 else None

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return (w / q') sum (|y_i| / w)^q', without a maximiser."""
        moduli = np.abs(self._validate_direction(direction)) / self.weight
        total = self.weight * float((moduli ** (self.power / (self.power - 1.0))).sum())
        return SharpAnswer(None, total * (1.0 - 1.0 / self.power), total / self.power)

    def objective(self, x: Any) -> float:
        """Return (w / q) sum |x_i|^q."""
        return self.weight / self.power * float((np.abs(atoms.dense(x)) ** self.power).sum())


def _validate_power(power: float) -> float:
    value = validate.number("power", power)
    if value < 2:
        raise InvalidInput("power", "a number not below 2", repr(power))
    return value


class NormSquared(PowerNorm):
    """f(x) = w ||x||^2 for the norm of a given ball, on the whole space; the conjugate is ||y||_*^2 / (4 w).

    [y]^# = (||y||_* / (2 w)) u with u the ball's maximiser at radius 1.

    Parameters
    ----------
    ball
        The norm, given as one of its balls; its radius is ignored.
    weight
        The weight w > 0.

    See Also
    --------
    PowerNorm, NormOnBall, NormBall

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.sharp import GroupBall
    >>> NormSquared(GroupBall([0, 0, 1]))(np.array([3.0, 4.0, 1.0])).value
    6.25
    """

    def __init__(self, ball: NormBall, weight: float = 1.0) -> None:
        super().__init__(ball, 2.0, weight)

    @property
    def coefficient(self) -> float:
        """Return 2 w: f = (2 w / 2) ||x||^2."""
        return 2.0 * self.weight


class L1NormSquared(NormSquared):
    """f(x) = w (sum |x_i|)^2; [y]^# = (y_i / (2 w)) e_i with i = argmax |y_i|.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    weight
        The weight w > 0.

    See Also
    --------
    L1Ball, unipd.apps.learning.basis_pursuit

    Examples
    --------
    >>> import numpy as np
    >>> L1NormSquared(3)(np.array([1.0, -4.0, 2.0])).atom.dense()
    array([ 0., -2.,  0.])
    """

    def __init__(self, shape: int | Shape, weight: float = 1.0) -> None:
        super().__init__(L1Ball(shape), weight)


class L2NormSquared(NormSquared):
    """f(x) = w ||x||_2^2; [y]^# = y / (2 w).

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    weight
        The weight w > 0.

    See Also
    --------
    L2Ball, EuclideanPower

    Examples
    --------
    >>> import numpy as np
    >>> L2NormSquared(2, weight=0.5)(np.array([3.0, -4.0])).atom
    array([ 3., -4.])
    """

    def __init__(self, shape: int | Shape, weight: float = 1.0) -> None:
        super().__init__(L2Ball(shape), weight)

    def factors(self) -> Any:
        """Return x itself: f is minimised over the whole space."""
        from unipd.sharp.spectral.factors import QuadraticFactors  # imports this package

        return QuadraticFactors(self.shape, self.weight)


class LInfNormSquared(NormSquared):
    """f(x) = w max |x_i|^2; [y]^# = (||y||_1 / (2 w)) sign(y).

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    weight
        The weight w > 0.

    See Also
    --------
    LInfBall, NormSquared

    Examples
    --------
    >>> import numpy as np
    >>> LInfNormSquared(2)(np.array([3.0, -1.0])).atom
    array([ 2., -2.])
    """

    def __init__(self, shape: int | Shape, weight: float = 1.0) -> None:
        super().__init__(LInfBall(shape), weight)
