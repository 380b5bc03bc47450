"""A norm as objective over one of its balls."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, Shape
from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer
from unipd.sharp.base import SharpFunction
from unipd.sharp.coordinates import Coordinates
from unipd.sharp.lp_ball import L1Ball
from unipd.sharp.norm_ball import NormBall


class NormOnBall(SharpFunction):
    """f(x) = w ||x|| over {||x|| <= r}; the conjugate is r max(0, ||y||_* - w).

    On the whole space a norm has no sharp point once ||y||_* > w; a ball known to hold the solution mends that.
    [y]^# is the ball's maximiser if ||y||_* > w, else 0.

    Parameters
    ----------
    ball
        The ball, which gives both the norm and X.
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

    def __init__(self, ball: NormBall, weight: float = 1.0) -> None:
        if not isinstance(ball, NormBall):
            expected = "a norm ball of vectors (NuclearNormOnBall is the nuclear norm on its ball)"
            raise InvalidInput("ball", expected, type(ball).__name__)
        super().__init__(ball.shape)
        self.ball = ball
        self.weight = validate.positive("weight", weight)
        self.real_only = ball.real_only

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The ball."""
        return (self.ball,)

    @property
    def atom_entries(self) -> int | None:
        """As many as an atom of the ball."""
        return self.ball.atom_entries

    def maximiser(self, direction: Array) -> Any:
        """Return the ball's maximiser, or the origin when y is short."""
        atom = self.ball.maximiser(direction)
        return atom if self.ball.dual_norm(direction) > self.weight else atoms.scale_atom(atom, 0.0)

    def coordinates(self) -> Coordinates | None:
        """Return the ball's coordinates with the cost w N(x)."""
        ball = self.ball.coordinates()
        return None if ball is None else ball.with_cost(linear=self.weight)

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return the ball's best vertices, where f = w r."""
        return self.ball.best_vertices(direction, count, above + self.maximum())

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return r max(0, ||y||_* - w), without a maximiser."""
        excess = self.ball.dual_norm(self._validate_direction(direction)) - self.weight
        return SharpAnswer(None, self.ball.radius * max(0.0, excess), self.maximum() if excess > 0 else 0.0)

    def objective(self, x: Any) -> float:
        """Return w ||x||."""
        return self.weight * self.ball.norm(np.asarray(atoms.dense(x)))

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

    @property
    def radius(self) -> float:
        """The radius r of the ball."""
        return self.ball.radius
