"""The adjoint and the Gram matrix of an operator, sharing its count of products."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd.spectral.products import Multiplier


class Transposed:
    """M^* seen through the products of M.

    >>> from unipd.spectral.products import Products
    >>> Transposed(Products(np.array([[1.0, 2.0]]))).forward(np.ones((1, 1)))
    array([[1.],
           [2.]])
    """

    def __init__(self, source: Multiplier) -> None:
        self._source = source

    @property
    def shape(self) -> Shape:
        """Shape of M^*."""
        return self._source.shape[::-1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the products."""
        return self._source.dtype

    @property
    def count(self) -> int:
        """Products of M and M^* spent."""
        return self._source.count

    def forward(self, block: Array) -> Array:
        """Return M^* X."""
        return self._source.adjoint(block)

    def adjoint(self, block: Array) -> Array:
        """Return M Y."""
        return self._source.forward(block)

    def sweep(self, *steps: Any, adjoint: bool = False) -> tuple[int, bool]:
        """Do Golub-Kahan steps with M^*."""
        return self._source.sweep(*steps, adjoint=not adjoint)


class Gram(Transposed):
    """M^* M or M M^*, whichever is smaller; each product costs two of M's.

    >>> from unipd.spectral.products import Products
    >>> Gram(Products(np.array([[1.0, 2.0]]))).forward(np.ones((1, 1)))
    array([[5.]])
    """

    @property
    def shape(self) -> Shape:
        """Square, of the size of the shorter side."""
        return (min(self._source.shape),) * 2

    def forward(self, block: Array) -> Array:
        """Return the Gram matrix times X."""
        rows, columns = self._source.shape
        if columns <= rows:
            return self._source.adjoint(self._source.forward(block))
        return self._source.forward(self._source.adjoint(block))

    def adjoint(self, block: Array) -> Array:
        """Return the same: Gram matrices are Hermitian."""
        return self.forward(block)
