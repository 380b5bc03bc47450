"""Norms as objectives: powers on the whole space, squares among them, and a norm over one of its balls."""

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
from unipd.sharp.coordinates import Coordinates
from unipd.sharp.norm_ball import L1Ball, L2Ball, LInfBall, NormBall


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


class NormOnBall(SharpFunction):
    """f(x) = w ||x|| over {||x|| <= r}; the conjugate is r max(0, ||y||_* - w).

    On the whole space a norm has no sharp point once ||y||_* > w; a ball known to hold the solution mends that.
    [y]^# is the ball's maximiser if ||y||_* > w, else 0.

    Parameters
    ----------
    ball
        The ball, of vectors or of matrices, which gives both the norm and X.
    weight
        The weight w > 0.

    Raises
    ------
    InvalidInput
        ``ball``: expected a norm ball of unipd.sharp; ``weight``: expected a number above zero.

    See Also
    --------
    L1NormOnBall, NuclearNormOnBall, NormSquared

    Examples
    --------
    >>> from unipd.sharp import L2Ball
    >>> NormOnBall(L2Ball(2, radius=2.0))(np.array([3.0, -4.0])).value
    8.0
    """

    def __init__(self, ball: Any, weight: float = 1.0) -> None:
        validate.has_parts("ball", ball, "a norm ball of unipd.sharp", ("norm", "radius"))
        super().__init__(ball.shape)
        self.ball = ball
        self.weight = validate.positive("weight", weight)
        self.real_only, self.takes_operators = ball.real_only, ball.takes_operators
        self.hermitian, self.certification = ball.hermitian, ball.certification

    @property
    def radius(self) -> float:
        """The radius r of the ball."""
        return self.ball.radius

    @property
    def exact(self) -> bool:
        """Exact when the ball's oracle is."""
        return self.ball.exact

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The ball."""
        return (self.ball,)

    @property
    def atom_entries(self) -> int | None:
        """As many as an atom of the ball."""
        return self.ball.atom_entries

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the ball's maximiser, or the origin when y is short."""
        return self._subtract_norm(self.ball(direction, tolerance=tolerance, start=start))

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return r max(0, ||y||_* - w), without a maximiser where the ball needs none."""
        return self._subtract_norm(self.ball.value(direction, tolerance=tolerance, start=start))

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the answer with the strongest certificate that the ball's oracle offers."""
        return self._subtract_norm(self.ball.call_certified(direction, tolerance=tolerance, start=start))

    def _subtract_norm(self, answer: SharpAnswer) -> SharpAnswer:
        """Return the answer for f from that of the ball, whose value is r ||y||_* up to its error."""
        excess = answer.value - self.maximum()
        if excess > 0.0:
            return replace(answer, value=excess, objective=self.maximum())
        origin = None if answer.atom is None else atoms.scale_atom(answer.atom, 0.0)
        return replace(answer, atom=origin, value=0.0, error=max(0.0, excess + answer.error))

    def maximiser(self, direction: Array) -> Any:
        """Return the ball's maximiser, or the origin when y is short."""
        return self(direction).atom

    def coordinates(self) -> Coordinates | None:
        """Return the ball's coordinates with the cost w N(x)."""
        ball = self.ball.coordinates()
        return None if ball is None else replace(ball, linear=self.weight)

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return the ball's best vertices, where f = w r."""
        return self.ball.best_vertices(direction, count, above + self.maximum())

    def factors(self) -> Any:
        """Return the ball's factors with the objective w (||U||^2 + ||V||^2) / 2, where the norm is nuclear."""
        ball = self.ball.factors()
        return None if ball is None else replace(ball, weight=self.weight)

    def nuclear_slope(self, size: float) -> float | None:
        """Return w for the nuclear norm."""
        return None if self.factors() is None else self.weight

    def objective(self, x: Any) -> float:
        """Return w ||x||."""
        size = self.ball.norm(x if self.takes_operators else np.asarray(atoms.dense(x)))
        if size is None:
            raise InvalidInput("x", f"a finite matrix of shape {self.shape}")
        return self.weight * size

    def support(self, direction: Any) -> float:
        """Return r ||y||_*."""
        return self.ball.support(direction)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether ||x|| <= r."""
        return self.ball.contains(x, tolerance)

    def maximum(self) -> float:
        """Return w r."""
        return self.weight * self.ball.radius


class L1NormOnBall(NormOnBall):
    """f(x) = w ||x||_1 over the l1 ball of radius r; [y]^# = r sign(y_i) e_i if max |y_i| > w, else 0.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    radius
        The radius r > 0.
    weight
        The weight w > 0.

    See Also
    --------
    NormOnBall, L1Ball

    Examples
    --------
    >>> L1NormOnBall(2, radius=5.0)(np.array([0.5, -3.0])).atom.dense()
    array([ 0., -5.])
    """

    def __init__(self, shape: int | Shape, radius: float = 1.0, weight: float = 1.0) -> None:
        super().__init__(L1Ball(shape, radius), weight)
