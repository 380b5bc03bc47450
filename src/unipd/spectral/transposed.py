"""The adjoint and the Gram matrix of an operator, sharing its count of products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd.spectral.powers import exponent_of, farthest, largest_part
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

    Where squares would leave the range it is that of 2^-e M, with e from the first product that is not zero.

    >>> from unipd.spectral.products import Products
    >>> Gram(Products(np.array([[1.0, 2.0]]))).forward(np.ones((1, 1)))
    array([[5.]])
    """

    @property
    def shape(self) -> Shape:
        """Square, of the size of the shorter side."""
        return (min(self._source.shape),) * 2

    exponent = 0
    """The e above."""
    _seen = False
    _unit: Any = 1.0

    def forward(self, block: Array) -> Array:
        """Return the Gram matrix times X."""
        rows, columns = self._source.shape
        there, back = self._source.forward, self._source.adjoint
        if columns > rows:
            there, back = back, there
        if not self._seen:
            inner = there(block)
            self._look(inner)
            return back(inner) if self.exponent == 0 else back(inner * self._unit * self._unit)
        return back(there(block)) if self.exponent == 0 else back(there(block * self._unit) * self._unit)

    def adjoint(self, block: Array) -> Array:
        """Return the same: Gram matrices are Hermitian."""
        return self.forward(block)

    def root(self, value: float) -> float:
        """Return the singular value of M whose square, scaled, is an eigenvalue (0 for what rounding made negative)."""
        return math.sqrt(max(value, 0.0)) * 2.0**self.exponent

    def _look(self, image: Array) -> None:
        size, far = largest_part(image), farthest(self.dtype)
        self._seen = size != 0.0
        if self._seen and not 1.0 / far < size < far:
            self.exponent = exponent_of(size)
            self._unit = np.finfo(self.dtype).dtype.type(2.0**-self.exponent)
