"""The Fantope: the convex hull of projections of rank k."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._util import validate
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer
from unipd.sharp.spectral.base import SpectralSharp, eigenvalues, excess, weights_of


class Fantope(SpectralSharp):
    """{0 <= X <= I, tr X = k}; [Y]^# = V V^* with V the k top eigenvectors, support their eigenvalues' sum.

    Parameters
    ----------
    size
        Rows (and columns) of X.
    rank
        The trace k, at most ``size``.
    options
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral.base.SpectralSharp`.

    Raises
    ------
    InvalidInput
        ``size``, ``rank``: expected an integer of at least 1.

    See Also
    --------
    Spectrahedron, SpectralBall

    Examples
    --------
    >>> answer = Fantope(3, 2)(np.diag([1.0, 5.0, 3.0]))
    >>> round(answer.value, 9), np.diag(answer.atom.dense()).round(9)
    (8.0, array([0., 1., 1.]))
    """

    hermitian = True

    def __init__(self, size: int, rank: int, **options: Any) -> None:
        rows = validate.integer("size", size, minimum=1)
        super().__init__((rows, rows), **options)
        self.rank = validate.integer("rank", rank, minimum=1)
        if self.rank > size:
            raise InvalidInput("rank", f"at most the size {size}", f"{rank}")

    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the projection on the top eigenvectors."""
        found, upper, matvecs, bound_kind = self._find_top(direction, self.rank, tolerance, start, certify)
        value = float(found.values.sum())
        atom = LowRank(found.right, found.right, weights_of(np.ones(self.rank), found.right.dtype))
        return SharpAnswer(atom, value, 0.0, excess(upper, value), matvecs, bound_kind)

    def final_kind(self, affordable: bool) -> str:
        """Return the kind of a final certificate: factorising a large matrix bounds its top eigenvalue only."""
        return super().final_kind(affordable and self.shape[0] <= self.certification.dense_limit)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether X is Hermitian, 0 <= X <= I and tr X = k."""
        values = eigenvalues(x, self.shape[0], tolerance)
        if values is None or values[0] < -tolerance or values[-1] > 1.0 + tolerance:
            return False
        return bool(abs(float(values.sum()) - self.rank) <= tolerance * self.rank)
