"""Coded diffraction: moduli of Fourier transforms behind masks, the measurements of phase retrieval, by FFTs."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd.atoms import LowRank
from unipd.maps.base import Map, MatrixOperator


class CodedDiffraction(Map):
    """A(X) = (|F D_l x|^2) for X = x x^*: unitary Fourier transforms F behind the masks D_l = diag(codes[l]).

    Parameters
    ----------
    codes
        Complex masks of shape (L, n).

    Raises
    ------
    InvalidInput
        ``codes``: expected an array of finite numbers.

    See Also
    --------
    RankOneMeasurements, unipd.apps.phase_retrieval.retrieve

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


class _Diffracted(MatrixOperator):
    """The adjoint of coded diffraction: two FFTs per mask and column."""

    hermitian = True

    def __init__(self, codes: Array, weights: Array) -> None:
        super().__init__((codes.shape[1], codes.shape[1]), np.complex128)
        self._codes, self._weights = codes, weights

    def matmat(self, block: Array) -> Array:
        waves = np.fft.fft(self._codes[:, :, None] * block, axis=1, norm="ortho")
        back = np.fft.ifft(self._weights[:, :, None] * waves, axis=1, norm="ortho")
        return np.sum(self._codes.conj()[:, :, None] * back, axis=0)

    rmatmat = matmat


def _factors(matrix: Array) -> LowRank:
    """Return a Hermitian matrix as factors."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.conj().T))
    return LowRank(vectors, vectors, values)
