"""The dual space of long real vectors with K = {0} or least squares, in compiled loops.

:class:`FusedSpace` makes each pass and its sums in one loop; :class:`ChunkedSpace` does the same for millions of
measurements, with images computed part by part and never stored, in the memory of a :class:`Workspace`. The kernels
add in double precision and write into arrays of the caller: arrays allocated in compiled code are slow to return.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd._util.context import RunContext, change_context, current_context
from unipd._util.lazy import REORDER, njit
from unipd._util.threads import available_threads, run_on_threads
from unipd.dual.function import (
    DualPoint,
    DualSpace,
    DualValue,
    Step,
    dual_value,
    image_of,
    join_point,
    oracle_errors,
    require_finite,
    slack_value,
)
from unipd.problem import Problem
from unipd.protocols import SharpAnswer


class FusedSpace(DualSpace):
    """Passes in compiled loops, each with its sums, for K = {0} and least squares on long real vectors."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._curvature = problem.conjugate_curvature or 0.0
        self._scalar = problem.dtype.type

    def _empty_like(self, vector: Array) -> Array:
        return np.empty_like(vector)

    def lincomb(self, first: Array, gamma: float, second: Array) -> Array:
        """Return (1 - gamma) first + gamma second."""
        out = self._empty_like(first)
        _write_lincomb(first, self._scalar(1.0 - gamma), second, self._scalar(gamma), out)
        return out

    def distance(self, first: Array, second: Array) -> float:
        """Return ||first - second|| without a vector for the difference."""
        return math.sqrt(_squared_distance(first, second))

    def point(self, dual: Array, answer: SharpAnswer, image: Array) -> DualPoint:
        """Join an answer and its image: the gradient and all sums in one pass."""
        image, gradient = np.ascontiguousarray(image), np.empty_like(dual)
        sums = _write_gradient(dual, self.problem.b, image, self._scalar(self._curvature), gradient)
        return join_point(dual, answer, image, gradient, sums, slack_value(self.problem, dual, sums[3]))

    def step(self, base: DualValue, smoothness: float) -> Step:
        """Return the trial point at M: the point and all sums in one pass."""
        gradient, dual = self.materialize(base).gradient, self._empty_like(base.dual)
        sums = _write_step(base.dual, gradient, self._scalar(1.0 / smoothness), self.problem.b, dual)
        return _step(base, smoothness, dual, sums)

    def average_image(self, image: Array, gamma: float, point: DualValue) -> tuple[Array, float | None]:
        """Return A xbar and ||A xbar - b||^2 in one pass."""
        mean, shares = self._empty_like(image), (self._scalar(1.0 - gamma), self._scalar(gamma))
        other = self.materialize(point).image
        return mean, _write_average(image, shares[0], other, shares[1], self.problem.b, mean)


class ChunkedSpace(FusedSpace):
    """The compiled loops on parts of the vectors, with the image of an atom computed part by part in the cache.

    The map must provide ``image_lines``, see :class:`~unipd.protocols.MapDefaults`. Points keep neither gradient nor
    image: a step and an average each recompute the image, at the cost of a product, and an iteration stores
    lam_{k-1}, lam_k, lambda-hat_k, A xbar, and the new lam and A xbar at most.
    """

    keeps_images = False
    image_products = 1

    def _empty_like(self, vector: Array) -> Array:
        return workspace_like(vector)

    def complete(self, dual: Array, answer: SharpAnswer) -> DualValue:
        """Return the point of an oracle's answer, without an image."""
        return dual_value(self.problem, dual, answer, _linear_and_norm_sq(dual, self.problem.b))

    def step(self, base: DualValue, smoothness: float) -> Step:
        """Return the trial point at M, from an image computed in parts."""
        dual, b, out = base.dual, self.problem.b, self._empty_like(base.dual)
        curvature, length = self._scalar(self._curvature), self._scalar(1.0 / smoothness)

        def work(part: slice, image: Array) -> tuple[float, ...]:
            gradient = np.empty_like(image)
            _write_gradient(dual[part], b[part], image, curvature, gradient)
            return _write_step(dual[part], gradient, length, b[part], out[part])

        return _step(base, smoothness, out, self._sum_over_parts(base.atom, work, 4))

    def lower_model(self, base: DualValue, answer: SharpAnswer) -> DualValue:
        """Return the lower model that the atom of another answer gives at the base point."""
        dual, b = base.dual, self.problem.b
        pairing = self._sum_over_parts(
            answer.atom, lambda part, image: _difference_along(dual[part], b[part], image), 1
        )
        value = require_finite(pairing[0] - answer.objective + (base.slack_conjugate or 0.0))
        atom, objective = answer.atom, answer.objective
        return replace(
            base,
            value=value,
            error=math.inf,
            conjugate=math.inf,
            upper_value=math.inf,
            atom=atom,
            objective=objective,
            matvecs=1,
        )

    def materialize(self, point: DualValue) -> DualPoint:
        """Return a point with its gradient and image, at the cost of a product and two vectors."""
        answer = SharpAnswer(point.atom, 0.0, point.objective, point.error, 0, point.bound_kind)
        return self.point(point.dual, answer, image_of(self.problem, point.atom))

    def keep(self, point: DualPoint) -> DualValue:
        """Return a point without its gradient and image."""
        return DualValue(*(getattr(point, field.name) for field in fields(DualValue)))

    def average_image(self, image: Array, gamma: float, point: DualValue) -> tuple[Array, float | None]:
        """Return A xbar and ||A xbar - b||^2, from an image computed in parts."""
        b, mean, shares = self.problem.b, self._empty_like(image), (self._scalar(1.0 - gamma), self._scalar(gamma))

        def work(part: slice, other: Array) -> float:
            return _write_average(image[part], shares[0], other, shares[1], b[part], mean[part])

        return mean, require_finite(self._sum_over_parts(point.atom, work, 1)[0])

    def _sum_over_parts(self, atom: Any, work: Callable[[slice, Array], Any], count: int) -> list[float]:
        """Call ``work`` on every part of the image of an atom, on several threads; return its sums in their order."""
        with oracle_errors:
            starts, places, along, across, bounds = self.problem.map.image_lines(atom)
        edges = starts[bounds].tolist()
        sums, numbers = np.zeros((len(edges) - 1, count)), itertools.count()
        longest = max(high - low for low, high in itertools.pairwise(edges))

        def take_parts() -> None:
            buffer = np.empty(longest, self.problem.dtype)
            while (number := next(numbers)) < len(sums):
                part = slice(edges[number], edges[number + 1])
                image = buffer[: part.stop - part.start]
                _write_image(starts, places, along, across, bounds[number], bounds[number + 1], image)
                sums[number] = work(part, image)

        run_on_threads(take_parts, available_threads(None))
        return [math.fsum(column) for column in sums.T]


def _step(base: DualValue, smoothness: float, dual: Array, sums: Any) -> Step:
    slope, squared, linear, norm_sq = sums
    return Step(dual, base.value + slope + 0.5 * smoothness * squared, squared, (linear, norm_sq))


class Workspace:
    """Vectors whose memory is reused once they are unreferenced.

    The C library returns the memory of a long vector to the system as soon as it is freed, and every page of the next
    one is new, which takes longer than a pass over the vector. An iteration frees as many vectors as the next one
    makes, so a run hands their memory on.

    NumPy's views refer to the array that owns their memory, so the reference count of the owner shows whether any
    vector in it is left: callers may keep iterates as long as they like.

    >>> workspace = Workspace()
    >>> first, second = workspace.like(np.ones(3)), workspace.like(np.ones(3))
    >>> part, address = first[:1], first.ctypes.data
    >>> del first
    >>> workspace.like(np.ones(3)).ctypes.data == address, len(workspace)
    (False, 3)
    >>> del part
    >>> workspace.like(np.ones(3)).ctypes.data == address, len(workspace)
    (True, 3)
    """

    def __init__(self) -> None:
        self._owners: list[Array] = []
        self._unused = [np.empty(0)]
        """An unreferenced array, whose count is the interpreter's own."""

    def __len__(self) -> int:
        return len(self._owners)

    def like(self, vector: Array) -> Array:
        """Return an uninitialised vector of the same shape and dtype."""
        for number in range(len(self._owners)):
            if _is_alike(self._owners[number], vector) and self._is_free(number):
                return self._owners[number][:]
        self._owners.append(np.empty(vector.shape, vector.dtype))
        return self._owners[-1][:]

    def release(self) -> None:
        """Free the memory that is not in use."""
        for number in reversed(range(len(self._owners))):
            if self._is_free(number):
                del self._owners[number]

    def _is_free(self, number: int) -> bool:
        return _references(self._owners, number) == _references(self._unused, 0)


def _is_alike(owner: Array, vector: Array) -> bool:
    return owner.shape == vector.shape and owner.dtype == vector.dtype


def _references(owners: list[Array], number: int) -> int:
    return sys.getrefcount(owners[number])


def workspace_scope() -> AbstractContextManager[RunContext]:
    """Reuse the memory of long vectors until the end of this context.

    Returns
    -------
    context manager
        The memory is freed at its end.

    See Also
    --------
    dual_space

    Examples
    --------
    >>> with workspace_scope():
    ...     addresses = {workspace_like(np.ones(9)).ctypes.data for _ in range(3)}
    >>> len(addresses)
    1
    """
    return change_context(workspace=Workspace())


def workspace_like(vector: Array) -> Array:
    """Return an uninitialised vector of the same shape and dtype, in reused memory inside a run."""
    workspace: Workspace | None = current_context().workspace
    return np.empty_like(vector) if workspace is None else workspace.like(vector)


@njit(cache=True, nogil=True, fastmath=REORDER)
def _write_gradient(
    dual: Array, b: Array, image: Array, curvature: Any, out: Array
) -> tuple[float, float, float, float]:
    """Write grad g = b - A x + curvature * lam; return <lam, b - A x>, <lam, A x>, <lam, b> and ||lam||^2."""
    pairing = along_image = linear = norm_sq = 0.0
    for k in range(dual.size):
        residual = b[k] - image[k]
        out[k] = residual + curvature * dual[k]
        entry = np.float64(dual[k])
        pairing += entry * np.float64(residual)
        along_image += entry * np.float64(image[k])
        linear += entry * np.float64(b[k])
        norm_sq += entry * entry
    return pairing, along_image, linear, norm_sq


@njit(cache=True, nogil=True, fastmath=REORDER)
def _write_step(dual: Array, gradient: Array, length: Any, b: Array, out: Array) -> tuple[float, float, float, float]:
    """Write lam' = lam - length * gradient; return <gradient, d>, ||d||^2, <lam', b>, ||lam'||^2 for d = lam' - lam."""
    slope = squared = linear = norm_sq = 0.0
    for k in range(dual.size):
        out[k] = dual[k] - length * gradient[k]
        entry, difference = np.float64(out[k]), np.float64(out[k] - dual[k])
        slope += np.float64(gradient[k]) * difference
        squared += difference * difference
        linear += entry * np.float64(b[k])
        norm_sq += entry * entry
    return slope, squared, linear, norm_sq


@njit(cache=True, nogil=True, fastmath=REORDER)
def _write_average(image: Array, rest: Any, other: Array, gamma: Any, b: Array, out: Array) -> float:
    """Write rest * image + gamma * other; return its squared distance to b."""
    squared = 0.0
    for k in range(image.size):
        out[k] = rest * image[k] + gamma * other[k]
        residual = np.float64(out[k] - b[k])
        squared += residual * residual
    return squared


@njit(cache=True, nogil=True, fastmath=REORDER)
def _write_lincomb(first: Array, rest: Any, second: Array, gamma: Any, out: Array) -> None:
    """Write rest * first + gamma * second."""
    for k in range(first.size):
        out[k] = rest * first[k] + gamma * second[k]


@njit(cache=True, nogil=True, fastmath=REORDER)
def _linear_and_norm_sq(dual: Array, b: Array) -> tuple[float, float]:
    """Return <lam, b> and ||lam||^2."""
    linear = norm_sq = 0.0
    for k in range(dual.size):
        entry = np.float64(dual[k])
        linear += entry * np.float64(b[k])
        norm_sq += entry * entry
    return linear, norm_sq


@njit(cache=True, nogil=True, fastmath=REORDER)
def _squared_distance(first: Array, second: Array) -> float:
    """Return ||first - second||^2."""
    squared = 0.0
    for k in range(first.size):
        difference = np.float64(first[k] - second[k])
        squared += difference * difference
    return squared


@njit(cache=True, nogil=True, fastmath=REORDER)
def _difference_along(dual: Array, first: Array, second: Array) -> float:
    """Return <lam, first - second>."""
    total = 0.0
    for k in range(dual.size):
        total += np.float64(dual[k]) * np.float64(first[k] - second[k])
    return total


@njit(cache=True, nogil=True)
def _write_image(
    starts: IntArray, places: IntArray, along: Array, across: Array, first: Any, last: Any, out: Array
) -> None:
    """Write the entries sum_q along_iq across_jq of the lines from ``first`` up to ``last`` of a sampling pattern.

    The arrays are those of :meth:`unipd.protocols.MapDefaults.image_lines`.
    """
    begin, ends = starts[first], starts[1:]
    for line in range(first, last):
        low, high = starts[line], ends[line]
        if along.shape[1] == 1:
            factor = along[line, 0]
            for k in range(low, high):
                out[starts.dtype.type(k) - begin] = factor * across[places[k], 0]
        else:
            for k in range(low, high):
                total = out.dtype.type(0)
                for q in range(along.shape[1]):
                    total += along[line, q] * across[places[k], q]
                out[starts.dtype.type(k) - begin] = total
