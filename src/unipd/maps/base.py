"""Shared behaviour of the linear maps."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array, Shape
from unipd.described import Described
from unipd.errors import InvalidInput


class Map(Described, ABC):
    """Base of the linear maps A; a subclass gives :meth:`image` and :meth:`adjoint`.

    The adjoint is with respect to real inner products: Re <A x, lam> = Re <x, A^* lam>.
    """

    negates = False
    """Whether the class has a method ``opposite_adjoint``, which makes -A^* lam at no more cost than that of -lam."""

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
    try:
        kind = np.dtype(dtype)
    except TypeError as error:
        raise InvalidInput("dtype", "a dtype of numbers", repr(dtype)) from error
    if kind.kind in "biu":
        return np.dtype(np.float64)
    if kind.kind in "fc":
        return validate.native_floating(kind)
    raise InvalidInput("A", "a map of real or complex numbers", f"dtype {kind}")


def matrix_domain(domain: Any, columns: int) -> Shape:
    """Return the shape of x that a matrix with so many columns acts on, in C order.

    >>> matrix_domain((2, 3), 6)
    (2, 3)
    """
    if domain is None:
        return (columns,)
    if not isinstance(domain, (tuple, list)):
        raise InvalidInput("domain", "the shape of x", repr(domain))
    if not all(isinstance(size, (int, np.integer)) for size in domain):
        raise InvalidInput("A", f"a list of {len(domain)} maps, one a block of x", "a single matrix or operator")
    if math.prod(domain) != columns:
        raise InvalidInput("A", f"{math.prod(domain)} columns, one an entry of x", f"{columns} columns")
    return tuple(int(size) for size in domain)


def misfit(name: str, value: Any, shape: Shape, error: Exception) -> InvalidInput:
    """Return the error for a vector that a product with a matrix failed at: its shape, if that is what is wrong.

    >>> misfit("dual", np.ones(2), (3,), ValueError("mismatch"))
    InvalidInput('dual: expected shape (3,), got shape (2,)')
    """
    found = getattr(value, "shape", None)
    found = np.shape(value) if found is None else tuple(found)
    return InvalidInput(name, f"shape {shape}", str(error) if found == shape else f"shape {found}")


def require_map(name: str, value: Any) -> Any:
    """Return ``value`` when it is a linear map, or raise.

    >>> from unipd.maps import Identity
    >>> require_map("outer", Identity((2,))).codomain
    (2,)
    """
    validate.has_parts(name, value, "a linear map", ("image", "adjoint", "domain", "codomain", "dtype"))
    return value


def require_maps(name: str, values: Any) -> tuple[Any, ...]:
    """Return a nonempty list of linear maps as a tuple, or raise.

    >>> from unipd.maps import Identity
    >>> len(require_maps("maps", [Identity((2,))]))
    1
    """
    if not isinstance(values, (list, tuple)) or not values:
        raise InvalidInput(name, "a list of at least one map", validate.described(values))
    return tuple(require_map(f"{name}[{index}]", value) for index, value in enumerate(values))


def real_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the real dtype of the same precision.

    >>> real_dtype(np.complex64)
    dtype('float32')
    """
    return np.dtype(np.finfo(dtype).dtype)
