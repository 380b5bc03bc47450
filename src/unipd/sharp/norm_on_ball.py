"""A norm as objective over one of its balls."""

from __future__ import annotations

from dataclasses import replace
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
