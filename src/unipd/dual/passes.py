"""Passes over dual vectors: every sum that an iteration asks for comes from as few of them as can be.

Vectors that no longer fit a near cache are gone through once, in compiled code. Shorter ones are left to NumPy, and
what takes time there is code, not numbers: a product with a large matrix empties the caches, and the first use of any
function after it waits for memory. So these passes make do with subtract, multiply and the inner product.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from unipd._typing import Array
from unipd.problem import Problem
from unipd.protocols import inner

_CANCELLED = 1e-7
"""Share of its terms below which a sum is not trusted: above it nine digits are left."""
COMPILED = 1 << 14
"""Entries of a dual vector from which its passes are compiled."""


Joined: TypeAlias = (
    "tuple[Array, float, float | None, float, float | None, tuple[float, float, float] | None, float | None]"
)


def joined(problem: Problem, dual: Array, image: Array, other: Array | None = None) -> Joined:
    """Return the gradient b - A x + r^*(lam) and the sums that come with it.

    These are <lam, b - A x>, phi^*(lam) (in the slack split), ||lam||^2, ||gradient||^2 (where the dual variable is
    free, so that it gives the length of a step), and for K = {0} and least squares the inner products <lam, b>,
    <gradient, b> and <lam, gradient>, which give the sums after a step; and ||gradient - other|| of long vectors.
    """
    inverse = problem.inverse
    if dual.size >= COMPILED and inverse is not None and is_plain(dual, image):
        beside = other if other is not None and is_plain(dual, other) else None
        gradient = np.empty(dual.shape, dual.dtype)
        pairing, energy, steepness, linear, tilt, change = compiled().joined(
            dual, problem.b, image, dual.dtype.type(inverse), dual if beside is None else beside, gradient
        )
        conjugate = 0.5 * inverse * energy if problem.split else None
        turn = None if beside is None else math.sqrt(change)
        return gradient, pairing, conjugate, energy, steepness, (linear, tilt, pairing + inverse * energy), turn
    rest, energy, conjugate = problem.b - image, inner(dual, dual), None
    gradient, pairing = rest, inner(dual, rest)
    if problem.split and problem.loss is not None:
        if inverse is not None:
            conjugate, gradient = 0.5 * inverse * energy, rest - (-inverse) * dual
        else:
            slack, conjugate = problem.loss.slack(dual)
            gradient = rest + slack
    steepness = inner(gradient, gradient) if problem.free_dual else None
    if inverse is None:
        return gradient, pairing, conjugate, energy, steepness, None, None
    pairings = inner(dual, problem.b), inner(gradient, problem.b), pairing + inverse * energy
    return gradient, pairing, conjugate, energy, steepness, pairings, None


def linear_and_energy(problem: Problem, dual: Array) -> tuple[float, float]:
    """Return <lam, b> and ||lam||^2 of a long vector."""
    if is_plain(dual, problem.b):
        return compiled().linear_and_energy(dual, problem.b)
    return inner(dual, problem.b), inner(dual, dual)


def between(first: Array, gamma: float, second: Array) -> Array:
    """Return (1 - gamma) first + gamma second.

    >>> import numpy as np
    >>> between(np.array([1.0, 2.0]), 0.25, np.array([5.0, 2.0]))
    array([2., 2.])
    """
    if first.size >= COMPILED and is_plain(first, second):
        return _combined(first, 1.0 - gamma, second, gamma)
    return (1.0 - gamma) * first - (-gamma) * second


def folded_in(average: Array, first: float, one: Array, second: float, other: Array) -> Array:
    """Return the average after two more vectors of these weights: :func:`between` twice, of long ones in one pass.

    >>> import numpy as np
    >>> folded_in(np.array([1.0, 2.0]), 0.25, np.array([5.0, 2.0]), 0.5, np.array([4.0, 0.0]))
    array([3., 1.])
    """
    if average.size >= COMPILED and is_plain(average, one) and is_plain(average, other):
        kind, out, rest = average.dtype.type, np.empty(average.shape, average.dtype), 1.0 - second
        shares = kind(rest * (1.0 - first)), kind(rest * first), kind(second)
        compiled().folded_in(average, shares[0], one, shares[1], other, shares[2], out)
        return out
    return between(between(average, first, one), second, other)


def stepped(dual: Array, step: float, gradient: Array) -> Array:
    """Return lam - step * gradient.

    >>> import numpy as np
    >>> stepped(np.array([1.0, 2.0]), 0.5, np.array([2.0, 2.0]))
    array([0., 1.])
    """
    if dual.size >= COMPILED and is_plain(dual, gradient):
        return _combined(dual, 1.0, gradient, -step)
    return dual - step * gradient


def stepped_twice(dual: Array, step: float, gradient: Array) -> list[Array]:
    """Return lam - (step / 2) * gradient and lam - step * gradient: of long vectors from one pass.

    >>> import numpy as np
    >>> stepped_twice(np.array([1.0, 2.0]), 0.5, np.array([2.0, 2.0]))
    [array([0.5, 1.5]), array([0., 1.])]
    """
    if dual.size >= COMPILED and is_plain(dual, gradient):
        kind, near, far = dual.dtype.type, np.empty(dual.shape, dual.dtype), np.empty(dual.shape, dual.dtype)
        compiled().two_steps(dual, gradient, kind(0.5 * step), kind(step), near, far)
        return [near, far]
    return [dual - 0.5 * step * gradient, dual - step * gradient]


def mixed(problem: Problem, image: Array, gamma: float, other: Array) -> tuple[Array, float | None]:
    """Return A xbar = (1 - gamma) image + gamma other, and ||A xbar - b||^2 for K = {0} and least squares."""
    if problem.inverse is None:
        return between(image, gamma, other), None
    if image.size >= COMPILED and is_plain(image, other):
        kind, mean = image.dtype.type, np.empty(image.shape, image.dtype)
        return mean, compiled().mixed(image, kind(1.0 - gamma), other, kind(gamma), problem.b, mean)
    mean = (1.0 - gamma) * image - (-gamma) * other
    residual = mean - problem.b
    return mean, inner(residual, residual)


def distance(first: Array, second: Array, energy: float | None, other: float | None) -> float:
    """Return ||first - second||; of short vectors from the two squared norms and one product unless they nearly cancel.

    >>> import numpy as np
    >>> distance(np.array([1.0, 2.0]), np.array([4.0, 6.0]), 5.0, 52.0)
    5.0
    """
    if first.size >= COMPILED and is_plain(first, second):
        return math.sqrt(compiled().squared_distance(first, second))
    if energy is not None and other is not None:
        squared = energy + other - 2.0 * inner(first, second)
        if squared > _CANCELLED * (energy + other):
            return math.sqrt(squared)
    way = first - second
    return math.sqrt(inner(way, way))


def difference_along(dual: Array, first: Array, second: Array) -> float:
    """Return <lam, first - second>, of long vectors in one pass.

    >>> import numpy as np
    >>> difference_along(np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([1.0, 1.0]))
    8.0
    """
    if dual.size >= COMPILED and is_plain(dual, first) and is_plain(dual, second):
        return compiled().difference_along(dual, first, second)
    return inner(dual, first - second)


def is_plain(first: Array, second: Array) -> bool:
    """Whether the kernels take these two: vectors of one real dtype without gaps."""
    kind = first.dtype
    alike = kind is second.dtype or kind == second.dtype
    return alike and kind.kind == "f" and first.ndim == 1 and first.flags.c_contiguous and second.flags.c_contiguous


def _combined(first: Array, rest: float, second: Array, gamma: float) -> Array:
    """Return rest * first + gamma * second of vectors that the kernels take."""
    kind, out = first.dtype.type, np.empty(first.shape, first.dtype)
    compiled().between(first, kind(rest), second, kind(gamma), out)
    return out


@cache
def compiled() -> Any:
    """Import the compiled kernels on first use: Numba is slow to import."""
    from unipd.dual import pass_kernels

    return pass_kernels
