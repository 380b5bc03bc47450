"""Positive semidefinite matrices with a given, bounded or squared trace (paper, tomography), and the Fantope."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._util import validate
from unipd._util.arrays import rounding_of
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer
from unipd.sharp.spectral.base import RankOneSharp, SpectralSharp, SquaredSharp, eigenvalues, excess, weights_of
from unipd.sharp.spectral.factors import SpectralFactors
from unipd.spectral import Engine


class HermitianSharp(RankOneSharp):
    """Base of the oracles of a top eigenpair, over Hermitian matrices.

    The default engine trusts a warm start: in tomography the top eigenvector moves continuously, and a guard against
    missing another one would double the products. Where atoms alternate, as in Frank-Wolfe methods, give ``Engine()``.
    """

    hermitian = True
    default_engine = Engine(missed_eigenvalue_guard=None, mix=0.03)


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
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral.base.SpectralSharp`.

    Raises
    ------
    InvalidInput
        ``size``: expected an integer of at least 1; ``trace``: expected a number above zero.

    See Also
    --------
    TraceBall, Fantope, unipd.Factored

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

    def top_value_tolerance(self, top: float, tolerance: float) -> float:
        """Return tolerance / a."""
        return tolerance / self.trace

    def factors(self) -> SpectralFactors:
        """Return X = a R R^* / ||R||^2."""
        return SpectralFactors(self.shape[0], 0, self.trace, ball=False)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether X is Hermitian, X >= 0 and tr X = a."""
        values, slack = eigenvalues(x, self.shape[0], tolerance), tolerance * self.trace
        return values is not None and bool(values[0] >= -slack and abs(float(values.sum()) - self.trace) <= slack)


class TraceBall(Spectrahedron):
    """{X psd, tr X <= a}; [Y]^# = a v v^* if lambda_max(Y) > 0 and 0 otherwise, support a max(lambda_max(Y), 0).

    Parameters
    ----------
    size
        Number of rows and columns.
    trace
        The bound a > 0 on the trace.
    options
        Options of the eigensolver, as in :class:`Spectrahedron`.

    See Also
    --------
    Spectrahedron, NuclearBall

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

    def factors(self) -> SpectralFactors:
        """Return X = a R R^* / ||R||^2 with a slack row in R."""
        return SpectralFactors(self.shape[0], 0, self.trace, ball=True)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether X is Hermitian, X >= 0 and tr X <= a."""
        values, slack = eigenvalues(x, self.shape[0], tolerance), tolerance * self.trace
        return values is not None and bool(values[0] >= -slack and float(values.sum()) <= self.trace + slack)


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
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral.base.SpectralSharp`.

    See Also
    --------
    unipd.sharp.NuclearNormSquared, unipd.sharp.Spectrahedron

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
        values = eigenvalues(x, self.shape[0], max(1e-9, rounding_of(x)))
        if values is None:
            raise InvalidInput("x", f"a Hermitian matrix of shape {self.shape}")
        return self.scale * float(values.sum()) ** 2

    def support(self, direction: Any) -> float:
        """Return the support function of the cone: 0 where lambda_max <= 0, else inf."""
        return math.inf if self.value(direction).value > 0.0 else 0.0

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether X is Hermitian and X >= 0."""
        values = eigenvalues(x, self.shape[0], tolerance)
        return values is not None and bool(values[0] >= -tolerance * max(1.0, abs(float(values[-1]))))


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
