"""A linear map with its rows in other units."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.maps.base import Map
from unipd.protocols import LinearMap


class RowScaled(Map):
    """D A for a positive diagonal D: images are multiplied by it, dual vectors before the adjoint; A is not copied.

    >>> from unipd.maps import DenseMatrix
    >>> RowScaled(DenseMatrix(np.ones((2, 1))), np.array([1.0, 4.0])).image(np.array([3.0]))
    array([ 3., 12.])
    """

    def __init__(self, inner: LinearMap, factors: Array) -> None:
        self.inner = inner
        self.factors = factors.astype(np.finfo(inner.dtype).dtype).reshape(inner.codomain)
        super().__init__(inner.domain, inner.codomain, inner.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of the map inside and of the factors."""
        return int(getattr(self.inner, "nbytes", 0)) + self.factors.nbytes

    @property
    def domain_dtype(self) -> Any:
        """Dtype of x, where the map inside knows it."""
        return getattr(self.inner, "domain_dtype", self.dtype)

    def image(self, atom: Any) -> Array:
        """Return D (A x)."""
        return self.factors * self.inner.image(atom)

    def adjoint(self, dual: Array) -> Any:
        """Return A^* (D lam)."""
        return self.inner.adjoint(self.factors * dual)
