"""Phase retrieval: a signal from the moduli of linear measurements, lifted to a matrix (Candès, Strohmer, Voroninski).

Measurements y_i = |<a_i, x>|^2 are linear in X = x x^*, so X solves min ||A(X) - y||^2 / 2 over psd X of known or
bounded trace |x|^2; its top eigenvector is the signal, up to a phase. :class:`CodedDiffraction` is the map of
masked Fourier moduli, by FFTs; any map of Hermitian matrices does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.atoms import LowRank
from unipd.couplings import LeastSquares
from unipd.errors import InvalidInput
from unipd.maps.base import Map
from unipd.problem import Problem
from unipd.run import Result, solve
from unipd.sharp import Spectrahedron, TraceBall


class CodedDiffraction(Map):
    """A(X) = (|F D_l x|^2) for X = x x^*: unitary Fourier transforms F behind the masks D_l = diag(codes[l]).

    Parameters
    ----------
    codes
        Complex masks of shape (L, n).

    Examples
    --------
    >>> patterns = CodedDiffraction(np.ones((1, 4)))
    >>> patterns.image(LowRank(np.eye(4)[:, :1], np.eye(4)[:, :1], np.ones(1)))
    array([0.25, 0.25, 0.25, 0.25])
    """

    def __init__(self, codes: Any) -> None:
        masks = validate.finite_array("codes", codes, ndim=2)
        self.codes: Array = masks.astype(np.complex128)
        count, size = masks.shape
        super().__init__((size, size), (count * size,), np.float64)

    @classmethod
    def random(cls, size: int, masks: int, seed: int = 0) -> CodedDiffraction:
        """Return masks of random phases 1, -1, i, -i.

        >>> CodedDiffraction.random(8, 4).codomain
        (32,)
        """
        shape = validate.integer("masks", masks, minimum=1), validate.integer("size", size, minimum=1)
        return cls(1j ** np.random.default_rng(seed).integers(0, 4, shape))

    def image(self, atom: Any) -> Array:
        """Return sum_k w_k |F D_l u_k|^2 for each mask."""
        factors = atom if isinstance(atom, LowRank) else _factors(np.asarray(atom))
        waves = np.fft.fft(self.codes[:, :, None] * factors.left, axis=1, norm="ortho")
        other = waves if factors.hermitian else np.fft.fft(self.codes[:, :, None] * factors.right, axis=1, norm="ortho")
        return np.einsum("lnk,lnk,k->ln", waves, other.conj(), factors.weights).real.reshape(-1)

    def adjoint(self, dual: Array) -> _Diffracted:
        """Return sum_l D_l^* F^* diag(lam_l) F D_l as an operator."""
        return _Diffracted(self.codes, np.asarray(dual).reshape(self.codes.shape))


class _Diffracted:
    """The adjoint of coded diffraction: two FFTs a mask and column."""

    def __init__(self, codes: Array, weights: Array) -> None:
        self._codes, self._weights = codes, weights
        self.shape = (codes.shape[1], codes.shape[1])
        self.dtype = np.dtype(np.complex128)

    def matmat(self, block: Array) -> Array:
        waves = np.fft.fft(self._codes[:, :, None] * block, axis=1, norm="ortho")
        back = np.fft.ifft(self._weights[:, :, None] * waves, axis=1, norm="ortho")
        return np.sum(self._codes.conj()[:, :, None] * back, axis=0)

    def matvec(self, x: Array) -> Array:
        return self.matmat(x.reshape(-1, 1))[:, 0]

    rmatmat, rmatvec = matmat, matvec


def _factors(matrix: Array) -> LowRank:
    """Return a Hermitian matrix as factors."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.conj().T))
    return LowRank(vectors, vectors, values)


@dataclass(frozen=True)
class PhaseRetrievalResult:
    """A signal, known up to a phase."""

    signal: Array
    relative_residual: float
    """||A(x x^*) - y|| / ||y||."""
    result: Result = field(repr=False)


def retrieve(
    patterns: Any, y: Any, *, energy: float | None = None, fixed: bool = False, accuracy: float = 1e-10, **options: Any
) -> PhaseRetrievalResult:
    """Return the signal x with |<a_i, x>|^2 = y_i as nearly as possible.

    Parameters
    ----------
    patterns
        The map X -> (<a_i a_i^*, X>), for instance :class:`CodedDiffraction` or ``unipd.maps.RankOneMeasurements``.
    y
        The moduli squared.
    energy
        |x|^2, or a bound of it; for coded diffraction with masks of modulus one it is sum(y) / L, the default.
    fixed
        Whether ``energy`` is exact.
    accuracy, options
        As in :func:`unipd.solve`.

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
        raise InvalidInput("y", "moduli squared: not below zero, and not all zero", "others")
    if energy is None:
        codes = getattr(patterns, "codes", None)
        if codes is None:
            raise InvalidInput("energy", "a bound of |x|^2 for these measurements", "None")
        fixed = bool(np.allclose(np.abs(codes), 1.0))
        energy = float(data.sum()) / codes.shape[0] * (1.0 if fixed else 2.0)
    kind = Spectrahedron if fixed else TraceBall
    problem = Problem(kind(patterns.domain[0], validate.positive("energy", energy)), patterns, data, LeastSquares())
    result = solve(problem, accuracy=accuracy, **options)
    left, values, _ = np.linalg.svd(result.x.left * np.sqrt(result.x.weights), full_matrices=False)
    signal = left[:, 0] * values[0]
    point = LowRank(signal[:, None], signal[:, None], np.ones(1))
    residual = np.linalg.norm(patterns.image(point) - data) / math.sqrt(float(data @ data))
    return PhaseRetrievalResult(signal, float(residual), result)
