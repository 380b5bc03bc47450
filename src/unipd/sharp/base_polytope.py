"""The base polytope of a submodular function; membership by the nearest point (Wolfe)."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from unipd import atoms
from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd.errors import InvalidInput, OracleError
from unipd.sharp.base import Sharp

ROUNDS = 1000


def nearest_point(maximiser: Any, point: Array, tolerance: float) -> Array:
    """Return a point of a bounded set X within ``tolerance`` of the one nearest to ``point``.

    Wolfe's idea: project onto the hull of the vertices met so far, call the oracle for the vertex farthest along the
    residual r = point - x, and stop when <r, vertex - x> <= tolerance^2 or rounding ends the descent. The projection
    is one of nonnegative least squares: with columns v_i - point, the minimiser over u >= 0 of
    ||sum_i u_i (v_i - point)||^2 + (1 - sum_i u_i)^2 is a multiple of the weights.

    Parameters
    ----------
    maximiser
        Given a direction, returns a point of X with the largest inner product.
    point
        A real array.
    tolerance
        Accuracy of the distance.

    Examples
    --------
    >>> from unipd.sharp import Simplex
    >>> nearest_point(Simplex(2).maximiser, np.array([2.0, 1.0]), 1e-9)
    array([1., 0.])
    """
    from scipy.optimize import nnls

    target = np.asarray(point, np.float64).reshape(-1)
    found = [_vector(maximiser, np.asarray(point, np.float64))]
    heavy = 1.0 + max(float(np.abs(target).max(initial=0.0)), float(np.abs(found[0]).max(initial=0.0)))
    heaviest = np.append(np.zeros(target.size), heavy)
    current, distance = found[0], np.inf
    for _ in range(ROUNDS):
        residual = target - current
        vertex = _vector(maximiser, residual.reshape(np.shape(point)))
        nearer, distance = distance, float(np.linalg.norm(residual))
        if float(residual @ (vertex - current)) <= tolerance**2 or distance >= nearer:
            break
        found.append(vertex)
        columns = np.column_stack([np.append(column - target, heavy) for column in found])
        weights, _ = nnls(columns, heaviest, maxiter=50 * columns.shape[1])
        weights /= weights.sum()
        found = [column for column, weight in zip(found, weights, strict=True) if weight > 0]
        current = np.column_stack(found) @ weights[weights > 0]
    return current.reshape(np.shape(point))


def _vector(maximiser: Any, direction: Array) -> Array:
    return np.asarray(atoms.dense(maximiser(direction)), np.float64).reshape(-1)


@runtime_checkable
class ChainFunction(Protocol):
    """A set function with a fast evaluation along a growing chain of sets."""

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
        F as a function of a Boolean mask of the elements (called once per element for each direction), or an object
        with ``along(order)``, its values on the growing sets of an order. That F is submodular is not checked.
    size
        Number of elements.

    Raises
    ------
    InvalidInput
        ``function``: expected a function of a mask, or an object with along(order); ``size``: expected an integer of
        at least 1.

    See Also
    --------
    unipd.apps.learning.submodular.minimise, unipd.apps.learning.CutFunction

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
        self.runs_user_code = not validate.is_own(function)

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
        return bool(np.linalg.norm(nearest_point(self.maximiser, point, tolerance) - point) <= tolerance * size)


def _chain(order: IntArray) -> Any:
    """Yield the masks of the first 1, 2, ... elements; each is the caller's to keep."""
    mask = np.zeros(order.size, np.bool_)
    for element in order:
        mask[element] = True
        yield mask.copy()
