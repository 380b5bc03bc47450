"""Positive semidefinite matrices of bounded trace: the spectrahedron and the trace ball (paper, tomography)."""

from __future__ import annotations

from typing import Any

from unipd import validate
from unipd.sharp.spectral_base import slack_of
from unipd.sharp.spectral_points import eigenvalues
from unipd.sharp.spectral_rank_one import HermitianSharp


class Spectrahedron(HermitianSharp):
    """{X psd, tr X = a}; [Y]^# = a v v^* with v a top eigenvector of Y, support a lambda_max(Y).

    The points are real symmetric when the direction is real and complex Hermitian when it is complex. At Y = 0 the
    answer is an atom of a fixed unit vector.

    Parameters
    ----------
    size
        Rows (and columns) of X.
    trace
        The trace a > 0.
    options
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral_base.SpectralSharp`.

    Examples
    --------
    >>> import numpy as np
    >>> answer = Spectrahedron(2)(np.diag([-2.0, -1.0]))
    >>> round(answer.value, 9), answer.atom.dense().round(9)
    (-1.0, array([[0., 0.], [0., 1.]]))
    """

    def __init__(self, size: int, trace: float = 1.0, **options: Any) -> None:
        rows = validate.integer("size", size, minimum=1)
        super().__init__((rows, rows), **options)
        self.trace = validate.positive("trace", trace)

    def weight(self, top: float) -> float:
        """Return a."""
        return self.trace

    def conjugate(self, top: float) -> float:
        """Return a lambda."""
        return self.trace * top

    def allowed(self, top: float, tolerance: float) -> float:
        """Return tolerance / a."""
        return tolerance / self.trace

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether X is Hermitian, X >= 0 and tr X = a."""
        values, slack = self._spectrum(x, tolerance)
        return values is not None and bool(values[0] >= -slack and abs(float(values.sum()) - self.trace) <= slack)

    def _spectrum(self, x: Any, tolerance: float) -> tuple[Any, float]:
        relative = slack_of(tolerance, x)
        return eigenvalues(x, self.shape[0], relative), relative * self.trace


class TraceBall(Spectrahedron):
    """{X psd, tr X <= a}; [Y]^# = a v v^* if lambda_max(Y) > 0 and 0 otherwise, support a max(lambda_max(Y), 0).

    Examples
    --------
    >>> import numpy as np
    >>> TraceBall(2)(np.diag([-2.0, -1.0])).value
    0.0
    """

    def weight(self, top: float) -> float:
        """Return a when the top eigenvalue is positive, else 0."""
        return self.trace if top > 0.0 else 0.0

    def conjugate(self, top: float) -> float:
        """Return a max(lambda, 0)."""
        return self.trace * max(top, 0.0)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether X is Hermitian, X >= 0 and tr X <= a."""
        values, slack = self._spectrum(x, tolerance)
        return values is not None and bool(values[0] >= -slack and float(values.sum()) <= self.trace + slack)
