"""Shared behaviour of the linear maps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd.errors import InvalidInput


class Map(ABC):
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
