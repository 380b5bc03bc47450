"""The squared trace over positive semidefinite matrices: the squared nuclear norm of a state."""

from __future__ import annotations

import math
from typing import Any

from unipd import validate
from unipd.errors import InvalidInput
from unipd.sharp.spectral_base import slack_of
from unipd.sharp.spectral_points import eigenvalues
from unipd.sharp.spectral_rank_one import HermitianSharp
from unipd.sharp.spectral_squared import SquaredSharp


class TraceSquared(SquaredSharp, HermitianSharp):
    """f(X) = w (tr X)^2 over X psd; [Y]^# = (l / 2w) v v^* with l = max(lambda_max(Y), 0), conjugate l^2 / (4w).

    On positive semidefinite matrices the trace is the nuclear norm, so this is the objective of the paper's (18).

    Parameters
    ----------
    size
        Rows (and columns) of X.
    weight
        The factor w > 0.
    options
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral_base.SpectralSharp`.

    Examples
    --------
    >>> import numpy as np
    >>> answer = TraceSquared(2)(np.diag([4.0, -1.0]))
    >>> round(answer.value, 9), round(answer.objective, 9)
    (4.0, 4.0)
    """

    def __init__(self, size: int, weight: float = 1.0, **options: Any) -> None:
        super().__init__((size, size), **options)
        self.scale = validate.positive("weight", weight)

    def objective(self, x: Any) -> float:
        """Return w (tr X)^2."""
        values = eigenvalues(x, self.shape[0], slack_of(1e-9, x))
        if values is None:
            raise InvalidInput("x", f"a Hermitian matrix of shape {self.shape}")
        return self.scale * float(values.sum()) ** 2

    def support(self, direction: Any) -> float:
        """Return the support function of the cone: 0 where lambda_max <= 0, else inf."""
        return math.inf if self.value(direction).value > 0.0 else 0.0

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether X is Hermitian and X >= 0."""
        relative = slack_of(tolerance, x)
        values = eigenvalues(x, self.shape[0], relative)
        return values is not None and bool(values[0] >= -relative * max(1.0, abs(float(values[-1]))))
