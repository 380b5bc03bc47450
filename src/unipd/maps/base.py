"""Shared behaviour of the linear maps."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd.described import Described
from unipd.errors import InvalidInput


class Map(Described, ABC):
    """Base of the linear maps A; a subclass gives :meth:`image` and :meth:`adjoint`.

    The adjoint is with respect to real inner products: Re <A x, lam> = Re <x, A^* lam>.
    """

    def __init__(self, domain: Any, codomain: Shape, dtype: Any) -> None:
        self._domain = domain
        self._codomain = codomain
        self._dtype = np.dtype(dtype)

    @property
    def domain(self) -> Any:
        """Shape of x."""
        return self._domain

    @property
    def codomain(self) -> Shape:
        """Shape of A x."""
        return self._codomain

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of A x, hence of the dual vector."""
        return self._dtype

    @property
    def nbytes(self) -> int:
        """Bytes held by the map's data, as far as they are known."""
        return 0

    @abstractmethod
    def image(self, atom: Any) -> Array:
        """Return A x."""

    @abstractmethod
    def adjoint(self, dual: Array) -> Any:
        """Return A^* lam."""


def floating(dtype: Any) -> np.dtype[Any]:
    """Return the single- or double-precision floating dtype that holds ``dtype``."""
    kind = np.dtype(dtype)
    if kind.kind in "biu":
        return np.dtype(np.float64)
    if kind in (np.float32, np.float64, np.complex64, np.complex128):
        return kind
    if kind.kind in "fc":
        return np.dtype(np.complex128 if kind.kind == "c" else np.float64)
    raise InvalidInput("A", "a map of real or complex numbers", f"dtype {kind}")


def matrix_domain(domain: Any, columns: int) -> Shape:
    """Return the shape of x that a matrix with so many columns acts on, in C order.

    >>> matrix_domain((2, 3), 6)
    (2, 3)
    """
    if domain is None:
        return (columns,)
    if not all(isinstance(size, (int, np.integer)) for size in domain):
        raise InvalidInput("A", f"a list of {len(domain)} maps, one a block of x", "a single matrix or operator")
    if math.prod(domain) != columns:
        raise InvalidInput("A", f"{math.prod(domain)} columns, one an entry of x", f"{columns} columns")
    return tuple(int(size) for size in domain)


def real_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the real dtype of the same precision.

    >>> real_dtype(np.complex64)
    dtype('float32')
    """
    return np.dtype(np.finfo(dtype).dtype)
