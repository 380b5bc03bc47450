"""Operators of any size: where squares of products would leave the range of numbers, a power of two brings them back.

Krylov runs square lengths, and those of a Gram matrix square the squares. The first product of a run, with a vector
that has a random share, tells the size of the operator well enough; only operators far from one are run again scaled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from unipd._typing import Array
from unipd.errors import OracleError
from unipd.spectral.powers import LARGEST_EXPONENT, exponent_of, farthest, size_of, times_power
from unipd.spectral.products import Products
from unipd.spectral.results import EigenPairs, SingularTriples

Found = TypeVar("Found", EigenPairs, SingularTriples)


class OutOfRange(OracleError):
    """An operator is to be scaled before it is run; never leaves the engine."""

    def __init__(self, size: float, spent: int) -> None:
        self.exponent = exponent_of(size) if math.isfinite(size) else LARGEST_EXPONENT
        self.spent = spent
        super().__init__(f"products with the operator have a size of {size:.3g}")


class Watched(Products):
    """Products that raise :class:`OutOfRange` when the first one that is not zero is far from one."""

    _seen = False

    def sweep(self, *steps: Any, adjoint: bool = False) -> tuple[int, bool]:
        """Do Golub-Kahan steps; the length of the first product is the first entry of the small matrix."""
        done = super().sweep(*steps, adjoint=adjoint)
        if done[0] > 0:
            self._look(abs(float(steps[1][0, 0])))
        return done

    def _typed(self, result: Any, rows: int, block: Array) -> Array:
        array = super()._typed(result, rows, block)
        if not self._seen:
            self._look(size_of(array))
        return array

    def _look(self, size: float) -> None:
        far = farthest(self.dtype)
        if not self._seen and not 1.0 / far < size < far and size != 0.0 and not math.isnan(size):
            raise OutOfRange(size, self.count)
        self._seen = self._seen or size != 0.0


class Scaled:
    """2^-e M. Vectors are scaled before they are multiplied, so that no product on the way is out of range.

    >>> Scaled(np.array([[8.0]]), 3).matvec(np.ones(1))
    array([1.])
    """

    def __init__(self, operator: Any, exponent: int) -> None:
        self._products = Products(operator)
        self.shape, self.dtype = self._products.shape, self._products.dtype
        limit = LARGEST_EXPONENT if np.finfo(self.dtype).bits == 64 else 120
        self.exponent = max(-limit, min(limit, exponent))
        self._unit = np.finfo(self.dtype).dtype.type(2.0**-self.exponent)

    def matmat(self, block: Array) -> Array:
        """Return the product with a block of columns."""
        return self._products.forward(block * self._unit)

    def rmatmat(self, block: Array) -> Array:
        """Return the product of the adjoint with a block of columns."""
        return self._products.adjoint(block * self._unit)

    def matvec(self, x: Array) -> Array:
        """Return the product with a vector."""
        return self.matmat(x.reshape(-1, 1))[:, 0]

    def rmatvec(self, x: Array) -> Array:
        """Return the product of the adjoint with a vector."""
        return self.rmatmat(x.reshape(-1, 1))[:, 0]


def in_range(solve: Callable[[Products, float], Found], operator: Any, *, hermitian: bool) -> Found:
    """Return what ``solve(products, unit)`` finds for an operator, which is scaled by ``unit`` where it has to be."""
    try:
        return solve(Watched(operator, hermitian=hermitian), 1.0)
    except OutOfRange as far:
        return scaled_run(solve, operator, far, hermitian=hermitian)


def scaled_run(solve: Callable[[Products, float], Found], operator: Any, far: OutOfRange, *, hermitian: bool) -> Found:
    """Return what is found for the operator scaled, in the operator's own size."""
    scaled = Scaled(operator, far.exponent)
    found = solve(Products(scaled, hermitian=hermitian), 2.0**-scaled.exponent)
    return replace(
        found,
        upper=times_power(found.upper, scaled.exponent),
        values=np.ldexp(found.values, scaled.exponent),
        residuals=np.ldexp(found.residuals, scaled.exponent),
        matvecs=found.matvecs + far.spent,
    )
