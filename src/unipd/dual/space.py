"""The space of dual vectors: every pass over a dual vector or an image that an iteration makes.

A method is written once, on the operations of :class:`DualSpace`. Three implementations differ in how they store and
traverse vectors, and :func:`dual_space` chooses by the problem:

- :class:`DualSpace`: NumPy, any coupling;
- :class:`FusedSpace`: long real vectors with K = {0} or least squares, each pass and its sums in one compiled loop;
- :class:`ChunkedSpace`: the same for millions of measurements, with images computed part by part and never stored.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from unipd._typing import Array
from unipd._util.blas import inner
from unipd._util.context import RunContext, change_context, current_context
from unipd._util.lazy import can_compile
from unipd._util.thread_pool import available_threads, run_on_threads
from unipd.dual.evaluate import (
    DualPoint,
    DualValue,
    call_oracle,
    dual_value,
    image_of,
    oracle_errors,
    proximal_step,
    require_finite,
    slack_value,
)
from unipd.problem import Problem
from unipd.protocols import SharpAnswer

FUSED = 1 << 14
"""Entries of a dual vector from which compiled loops beat NumPy's passes."""
CHUNKED = 1 << 21
"""Entries from which images are computed in parts: a stored image would take as much memory as the data."""


class Step(NamedTuple):
    """A trial point of a line search and the value of the model there."""

    dual: Array
    """lam' = prox_{h/M}(lam - grad g(lam) / M)."""
    model: float
    """Q_M(lam'; lam) = g(lam) + <grad g(lam), lam' - lam> + M/2 ||lam' - lam||^2."""
    length_sq: float
    """||lam' - lam||^2."""
    sums: tuple[float, float]
    """<lam', b> and ||lam'||^2."""


class DualSpace:
    """Passes over dual vectors and images in NumPy."""

    keeps_images = True
    """Whether points keep their gradient and image."""
    image_products = 0
    """Images that a step or an average must recompute."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def lincomb(self, first: Array, gamma: float, second: Array) -> Array:
        """Return (1 - gamma) first + gamma second."""
        return (1.0 - gamma) * first - (-gamma) * second

    def extrapolate(self, dual: Array, previous: Array, extrapolation: float) -> Array:
        """Return lam + extrapolation (lam - lam')."""
        return dual if extrapolation == 0.0 else self.lincomb(dual, -extrapolation, previous)

    def distance(self, first: Array, second: Array) -> float:
        """Return ||first - second||."""
        difference = first - second
        return math.sqrt(inner(difference, difference))

    def evaluate(self, dual: Array, *, tolerance: float, start: Any) -> DualValue:
        """Call the sharp oracle at lam."""
        return self.complete(dual, call_oracle(self.problem, dual, tolerance=tolerance, start=start))

    def complete(self, dual: Array, answer: SharpAnswer) -> DualValue:
        """Return the point of an oracle's answer, from which a step can start."""
        return self.point(dual, answer, image_of(self.problem, answer.atom))

    def point(self, dual: Array, answer: SharpAnswer, image: Array) -> DualPoint:
        """Join an oracle's answer and the image of its atom: g(lam) as attained, and its gradient."""
        residual = self.problem.b - image
        gradient, slack, norm_sq = residual, None, inner(dual, dual)
        if self.problem.split and self.problem.loss is not None:
            maximizer, slack = self.problem.loss.slack(dual)
            gradient = residual + maximizer
        sums = inner(dual, residual), inner(dual, image), inner(dual, self.problem.b), norm_sq
        return _join(dual, answer, image, gradient, sums, slack)

    def step(self, base: DualValue, smoothness: float) -> Step:
        """Return the trial point at M and the model there."""
        gradient = self.materialize(base).gradient
        dual = proximal_step(self.problem, base.dual, gradient, smoothness)
        direction: Array = dual - base.dual
        squared = inner(direction, direction)
        model = base.value + inner(gradient, direction) + 0.5 * smoothness * squared
        return Step(dual, model, squared, (inner(dual, self.problem.b), inner(dual, dual)))

    def lower_model(self, base: DualValue, answer: SharpAnswer) -> DualValue:
        """Return the lower model that the atom of another answer gives at the base point.

        Every x in X gives g(lam) >= <lam, b - A x> - f(x); the certified error is unknown (inf).
        """
        return replace(self.complete(base.dual, replace(answer, error=math.inf)), matvecs=1)

    def materialize(self, point: DualValue) -> DualPoint:
        """Return a point with its gradient and image."""
        assert isinstance(point, DualPoint)
        return point

    def keep(self, point: DualPoint) -> DualValue:
        """Return a point as a state keeps it."""
        return point

    def gradient_change(self, first: DualValue, second: DualValue) -> float:
        """Return ||grad g(lam) - grad g(lam')||, for estimates of nu; nan where gradients are not kept."""
        if not self.keeps_images:
            return math.nan
        return self.distance(self.materialize(second).gradient, self.materialize(first).gradient)

    def average_image(self, image: Array, gamma: float, point: DualValue) -> tuple[Array, float | None]:
        """Return A xbar = (1 - gamma) image + gamma A x^*, and ||A xbar - b||^2 for K = {0} and least squares."""
        mean = self.lincomb(image, gamma, self.materialize(point).image)
        if self.problem.conjugate_curvature is None:
            return mean, None
        residual = mean - self.problem.b
        return mean, inner(residual, residual)


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
        _kernels().lincomb(first, self._scalar(1.0 - gamma), second, self._scalar(gamma), out)
        return out

    def distance(self, first: Array, second: Array) -> float:
        """Return ||first - second|| without a vector for the difference."""
        return math.sqrt(_kernels().squared_distance(first, second))

    def point(self, dual: Array, answer: SharpAnswer, image: Array) -> DualPoint:
        """Join an answer and its image: the gradient and all sums in one pass."""
        image, gradient = np.ascontiguousarray(image), np.empty_like(dual)
        sums = _kernels().gradient(dual, self.problem.b, image, self._scalar(self._curvature), gradient)
        return _join(dual, answer, image, gradient, sums, slack_value(self.problem, dual, sums[3]))

    def step(self, base: DualValue, smoothness: float) -> Step:
        """Return the trial point at M: the point and all sums in one pass."""
        gradient, dual = self.materialize(base).gradient, self._empty_like(base.dual)
        sums = _kernels().step(base.dual, gradient, self._scalar(1.0 / smoothness), self.problem.b, dual)
        return _step(base, smoothness, dual, sums)

    def average_image(self, image: Array, gamma: float, point: DualValue) -> tuple[Array, float | None]:
        """Return A xbar and ||A xbar - b||^2 in one pass."""
        mean, shares = self._empty_like(image), (self._scalar(1.0 - gamma), self._scalar(gamma))
        other = self.materialize(point).image
        return mean, _kernels().average(image, shares[0], other, shares[1], self.problem.b, mean)


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
        return dual_value(self.problem, dual, answer, _kernels().linear_and_norm_sq(dual, self.problem.b))

    def step(self, base: DualValue, smoothness: float) -> Step:
        """Return the trial point at M, from an image computed in parts."""
        dual, b, out = base.dual, self.problem.b, self._empty_like(base.dual)
        curvature, length = self._scalar(self._curvature), self._scalar(1.0 / smoothness)

        def work(part: slice, image: Array) -> tuple[float, ...]:
            gradient = np.empty_like(image)
            _kernels().gradient(dual[part], b[part], image, curvature, gradient)
            return _kernels().step(dual[part], gradient, length, b[part], out[part])

        return _step(base, smoothness, out, self._sum_over_parts(base.atom, work, 4))

    def lower_model(self, base: DualValue, answer: SharpAnswer) -> DualValue:
        """Return the lower model that the atom of another answer gives at the base point."""
        dual, b = base.dual, self.problem.b
        pairing = self._sum_over_parts(
            answer.atom, lambda part, image: _kernels().difference_along(dual[part], b[part], image), 1
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
            return _kernels().average(image[part], shares[0], other, shares[1], b[part], mean[part])

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
                _kernels().image_part(starts, places, along, across, bounds[number], bounds[number + 1], image)
                sums[number] = work(part, image)

        run_on_threads(take_parts, available_threads(None))
        return [math.fsum(column) for column in sums.T]


def dual_space(problem: Problem) -> DualSpace:
    """Return the implementation that fits the problem's dual vectors."""
    if not _is_fused(problem):
        return DualSpace(problem)
    return ChunkedSpace(problem) if is_chunked(problem) else FusedSpace(problem)


def is_chunked(problem: Problem) -> bool:
    """Whether the images of atoms are computed in parts: millions of entries, and a map that can do it.

    Inexact oracles return the low-rank atoms that it takes.
    """
    return problem.b.size >= CHUNKED and not problem.exact and _is_fused(problem) and problem.map.has_image_parts


def evaluate(
    problem: Problem,
    dual: Array,
    *,
    direction: Any = None,
    tolerance: float = 0.0,
    start: Any = None,
    certified: bool = False,
) -> DualPoint:
    """Call the sharp oracle at -A^* lam and return g, its gradient and the atom (paper, (7)).

    Parameters are those of :func:`call_oracle`.
    """
    answer = call_oracle(problem, dual, direction=direction, tolerance=tolerance, start=start, certified=certified)
    return dual_point(problem, dual, answer, image_of(problem, answer.atom))


def dual_point(problem: Problem, dual: Array, answer: SharpAnswer, image: Array) -> DualPoint:
    """Join an oracle's answer and the image of its atom into the point at lam."""
    return (FusedSpace if _is_fused(problem) else DualSpace)(problem).point(dual, answer, image)


def _is_fused(problem: Problem) -> bool:
    b = problem.b
    is_long = b.size >= FUSED and b.dtype.kind == "f" and b.ndim == 1
    return is_long and problem.conjugate_curvature is not None and can_compile()


def _join(
    dual: Array,
    answer: SharpAnswer,
    image: Array,
    gradient: Array,
    sums: tuple[float, float, float, float],
    slack: float | None,
) -> DualPoint:
    """Return the point; ``sums`` are <lam, b - A x>, <lam, A x>, <lam, b> and ||lam||^2."""
    pairing, along_image, linear, norm_sq = sums
    attained = pairing - answer.objective
    return DualPoint(
        dual,
        require_finite(attained + (slack or 0.0)),
        answer.error,
        answer.error - along_image - answer.objective,
        attained + answer.error,
        linear,
        norm_sq,
        slack,
        answer.atom,
        answer.objective,
        1 + (answer.matvecs or 1),
        answer.bound_kind,
        gradient=gradient,
        image=image,
    )


def _step(base: DualValue, smoothness: float, dual: Array, sums: Any) -> Step:
    slope, squared, linear, norm_sq = sums
    return Step(dual, base.value + slope + 0.5 * smoothness * squared, squared, (linear, norm_sq))


@cache
def _kernels() -> Any:
    """Import the compiled kernels on first use: Numba is slow to import."""
    from unipd.dual import kernels

    return kernels


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


def release_workspace() -> None:
    """Free the memory that is not in use, before work that needs its own."""
    workspace: Workspace | None = current_context().workspace
    if workspace is not None:
        workspace.release()
