"""Squared norms on the whole space."""

from __future__ import annotations

from unipd._typing import Shape
from unipd.sharp.l1_ball import L1Ball
from unipd.sharp.l2_ball import L2Ball
from unipd.sharp.linf_ball import LInfBall
from unipd.sharp.norm_ball import NormBall
from unipd.sharp.power_norm import PowerNorm


class NormSquared(PowerNorm):
    """f(x) = w ||x||^2 for the norm of a given ball, on the whole space; the conjugate is ||y||_*^2 / (4 w).

    [y]^# = (||y||_* / (2 w)) u with u the ball's maximiser at radius 1.

    Parameters
    ----------
    ball
        The norm, given as one of its balls; its radius plays no part.
    weight
        The weight w > 0.

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

    Examples
    --------
    >>> import numpy as np
    >>> L2NormSquared(2, weight=0.5)(np.array([3.0, -4.0])).atom
    array([ 3., -4.])
    """

    def __init__(self, shape: int | Shape, weight: float = 1.0) -> None:
        super().__init__(L2Ball(shape), weight)


class LInfNormSquared(NormSquared):
    """f(x) = w max |x_i|^2; [y]^# = (||y||_1 / (2 w)) sign(y).

    Examples
    --------
    >>> import numpy as np
    >>> LInfNormSquared(2)(np.array([3.0, -1.0])).atom
    array([ 2., -2.])
    """

    def __init__(self, shape: int | Shape, weight: float = 1.0) -> None:
        super().__init__(LInfBall(shape), weight)
