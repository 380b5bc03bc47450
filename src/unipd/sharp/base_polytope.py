"""The base polytope of a submodular function."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from unipd import validate
from unipd._typing import Array, IntArray
from unipd.errors import InvalidInput, OracleError
from unipd.sharp.base import Sharp
from unipd.sharp.nearest import nearest


@runtime_checkable
class ChainFunction(Protocol):
    """A set function that knows a quick way to its values along a growing chain of sets."""

    def along(self, order: IntArray) -> Array:
        """Return F({o_1}), F({o_1, o_2}), ... for a permutation o of the elements."""
        ...


class BasePolytope(Sharp):
    """The polytope {x(S) <= F(S) for all S, x(V) = F(V)} of a submodular F with F(empty) = 0, x(S) = sum over S of x_i.

    Edmonds' greedy algorithm is its oracle: sort y downwards and give each element what it adds,
    x_(o_k) = F({o_1, ..., o_k}) - F({o_1, ..., o_(k-1)}). The support function is the Lovász extension of F.

    Parameters
    ----------
    function
        F as a function of a Boolean mask of the elements (called once an element for each direction), or an object
        with ``along(order)``, its values on the growing sets of an order. That F is submodular is not checked.
    size
        Number of elements.

    Examples
    --------
    >>> coverage = BasePolytope(lambda mask: np.sqrt(np.count_nonzero(mask)), 4)
    >>> coverage(np.array([0.0, 3.0, 1.0, 2.0])).atom.round(3)
    array([0.268, 1.   , 0.318, 0.414])
    """

    real_only = True

    def __init__(self, function: Any, size: int) -> None:
        super().__init__(validate.integer("size", size, minimum=1))
        if not isinstance(function, ChainFunction) and not callable(function):
            raise InvalidInput("function", "a function of a mask, or an object with along(order)", repr(function))
        self.function = function

    def along(self, order: IntArray) -> Array:
        """Return F on the sets of the first 1, 2, ... elements of an order."""
        if isinstance(self.function, ChainFunction):
            values = self.function.along(order)
        else:
            values = [self.function(mask) for mask in _chain(order)]
        array = np.asarray(values, np.float64)
        if array.shape != order.shape or not np.isfinite(array).all():
            raise OracleError(f"function: expected {order.size} finite values along an order, got {array!r}")
        return array

    def maximiser(self, direction: Array) -> Any:
        """Return the greedy vertex (of equal y_i the first comes first)."""
        order = np.argsort(-direction, kind="stable")
        vertex = np.empty(self.size, direction.dtype)
        vertex[order] = np.diff(self.along(order), prepend=0.0)
        return vertex

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in the polytope, by its distance."""
        point = self._point(x)
        if point is None:
            return False
        size = 1.0 + float(np.abs(self.maximiser(point.astype(np.float64))).max())
        return bool(np.linalg.norm(nearest(self.maximiser, point, tolerance) - point) <= tolerance * size)


def _chain(order: IntArray) -> Any:
    """Yield the masks of the first 1, 2, ... elements; each is the caller's to keep."""
    mask = np.zeros(order.size, np.bool_)
    for element in order:
        mask[element] = True
        yield mask.copy()
