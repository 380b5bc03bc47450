"""Phase retrieval: a signal from the moduli of linear measurements, lifted to a matrix (Candès, Strohmer, Voroninski).

Measurements y_i = |<a_i, x>|^2 are linear in X = x x^*, so X solves min ||A(X) - y||^2 / 2 over psd X of known or
bounded trace |x|^2; its top eigenvector is the signal, up to a phase. :class:`unipd.maps.CodedDiffraction`
is the map of masked Fourier moduli, by FFTs; any map of Hermitian matrices does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.atoms import LowRank
from unipd.couplings import LeastSquares
from unipd.errors import InvalidInput
from unipd.maps import CodedDiffraction
from unipd.problem import Problem
from unipd.run import Result, solve
from unipd.sharp import Spectrahedron, TraceBall


@dataclass(frozen=True, repr=False)
class PhaseRetrievalResult(ReprMixin):
    """A signal, known up to a phase.

    Parameters
    ----------
    signal
        The signal x, up to a global phase.
    relative_residual
        ||A(x x^*) - y||^2 / ||y||^2.
    result
        Result of the lifted problem.

    See Also
    --------
    retrieve

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.maps import RankOneMeasurements
    >>> rows = np.random.default_rng(0).standard_normal((20, 3))
    >>> signal = np.array([1.0, -2.0, 0.5])
    >>> found = retrieve(RankOneMeasurements(rows, rows), (rows @ signal) ** 2, energy=10.0)
    >>> bool(np.allclose(np.abs(found.signal), np.abs(signal), atol=1e-2))
    True
    """

    signal: Array
    relative_residual: float
    result: Result = field(repr=False)


def retrieve(
    patterns: Any, y: Any, *, energy: float | None = None, fixed: bool = False, accuracy: float = 1e-10, **options: Any
) -> PhaseRetrievalResult:
    """Return the signal x with |<a_i, x>|^2 = y_i as nearly as possible.

    Parameters
    ----------
    patterns
        The map X -> (<a_i a_i^*, X>), for instance ``unipd.maps.CodedDiffraction`` or ``RankOneMeasurements``.
    y
        The squared moduli.
    energy
        |x|^2, or a bound on it; for coded diffraction with masks of modulus one it is sum(y) / L, the default.
    fixed
        Whether ``energy`` is exact.
    accuracy, options
        As in :func:`unipd.solve`.

    Raises
    ------
    InvalidInput
        ``y``: expected an array of finite real numbers; ``energy``: expected a bound on |x|^2 for these measurements.

    See Also
    --------
    PhaseRetrievalResult, unipd.maps.CodedDiffraction

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> x = generator.standard_normal(16) + 1j * generator.standard_normal(16)
    >>> patterns = CodedDiffraction.random(16, 6)
    >>> y = patterns.image(LowRank(x[:, None], x[:, None], np.ones(1)))
    >>> found = retrieve(patterns, y)
    >>> bool(abs(np.vdot(found.signal, x)) > 0.9999 * np.linalg.norm(x) ** 2)
    True
    """
    data = validate.real_array("y", y, shape=tuple(patterns.codomain))
    if np.any(data < 0.0) or not np.any(data):
        raise InvalidInput("y", "squared moduli, nonnegative and not all zero", "others")
    if energy is None:
        if not isinstance(patterns, CodedDiffraction):
            raise InvalidInput("energy", "a bound on |x|^2 for these measurements", "None")
        fixed = bool(np.allclose(np.abs(patterns.codes), 1.0))
        energy = float(data.sum()) / patterns.codes.shape[0] * (1.0 if fixed else 2.0)
    kind = Spectrahedron if fixed else TraceBall
    problem = Problem(kind(patterns.domain[0], validate.positive("energy", energy)), patterns, data, LeastSquares())
    result = solve(problem, accuracy=accuracy, **options)
    left, values, _ = np.linalg.svd(result.x.left * np.sqrt(result.x.weights), full_matrices=False)
    signal = left[:, 0] * values[0]
    point = LowRank(signal[:, None], signal[:, None], np.ones(1))
    residual = float(np.linalg.norm(patterns.image(point) - data) / np.linalg.norm(data)) ** 2
    return PhaseRetrievalResult(signal, residual, result.with_extras(relative_residual=residual))
