"""Nearest points of two reduced hulls, by steps on pairs of samples or by interior points.

min 1/2 ||w||^2 over w = sum_i s_i x_i phi_i with 0 <= x_i <= c_i and weights that sum to one in each class. With a
kernel, every step moves weight from one sample to another of the same class, the pair that violates optimality most by
a second-order measure (Platt, 1998; Fan, Chen and Lin, 2005). Rows of the kernel matrix are computed in blocks when a
step needs them, and kept in single precision where that suffices. Samples that stay at a bound are left out until the
end (shrinking). The gradient and the duality gap are then recomputed in double precision.

Interior points are for few features of very different units. There the squared distance of the hulls is far below the
rounding errors of squared norms of samples, so no method that works with Gram matrices finds it; here every linear
system is a least-squares problem in the features themselves, solved by a QR factorisation.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.lazy import njit
from unipd.run import Result, recheck
from unipd.run.result import ProblemFacts
from unipd.spectral import RIGOROUS
from unipd.status import Status

CACHE_BYTES = 400_000_000
"""Memory for rows of the kernel matrix: all of them for 10,000 samples."""
FETCH = 128
"""Rows computed together when one is missing: a block costs little more than a row."""
LANDMARKS = 200
"""Samples that the first point is estimated from."""
CHUNK = 1000
"""Steps between two rounds of shrinking."""
REFRESH = 20
"""Steps per sample after which the gradient is recomputed."""
BLOCK_ENTRIES = 500_000
"""Entries of a block of the kernel matrix in double precision."""
LOOSEST = 4.0
"""First bound on the violation of optimality, in units of the requested gap: the gap is usually far below it."""
TIGHTER = 0.25
"""Factor of the bound when the gap was not small enough."""
FLATTEST = 1e-12
"""Least curvature along a pair: equal samples have none."""
AT_BOUND = 1e-6
"""Weights within this share of c_i from 0 or c_i are there."""
PATIENCE = 3
"""Interior points end after this many iterations without a smaller gap or objective: only rounding errors are left."""
STEP_SHARE = 0.995
"""Interior points go this far towards the nearest bound."""
DONE, MISSING, PAUSED = 0, 1, 2
"""How a chunk of steps ends: optimal within the tolerance, a row is missing, or the number of steps is up."""


class RadialKernel:
    """k(u, v) = exp(-gamma ||u - v||^2) between samples, in single or double precision.

    >>> RadialKernel(np.array([[0.0], [2.0]]), 0.25).block([0], [0, 1]).round(4)
    array([[1.    , 0.3679]])
    """

    def __init__(self, samples: Any, gamma: float) -> None:
        self.count, self._gamma = samples.shape[0], gamma
        centred = samples if sp.issparse(samples) else samples - samples.mean(axis=0)
        self._points = {kind: centred.astype(kind) for kind in (np.float64, np.float32)}
        squares = (
            np.asarray(centred.multiply(centred).sum(axis=1)) if sp.issparse(samples) else (centred**2).sum(axis=1)
        )
        self._squares = {kind: squares.ravel().astype(kind) for kind in (np.float64, np.float32)}

    def block(self, rows: Any, columns: Any, kind: type = np.float64) -> FloatArray:
        """Return the kernel between the samples of rows and columns."""
        points, squares = self._points[kind], self._squares[kind]
        product: Any = points[rows] @ points[columns].T
        out = product.toarray() if sp.issparse(product) else product
        out *= 2.0
        out -= squares[rows][:, None]
        out -= squares[columns]
        np.minimum(out, 0.0, out=out)
        out *= self._gamma
        return np.exp(out, out=out)

    def product(self, weights: FloatArray) -> FloatArray:
        """Return the kernel matrix times a vector, in double precision."""
        used, out = np.flatnonzero(weights), np.empty(self.count)
        step = max(1, BLOCK_ENTRIES // max(used.size, 1))
        for first in range(0, self.count, step):
            part = slice(first, first + step)
            out[part] = self.block(part, used) @ weights[used]
        return out


class LinearKernel:
    """k(u, v) = <u, v> between samples, for weights that sum to the same in both classes: the origin is their mean."""

    def __init__(self, samples: Any) -> None:
        dense: FloatArray = samples.toarray() if sp.issparse(samples) else samples
        self.count, self.points = samples.shape[0], dense - dense.mean(axis=0)

    def product(self, weights: FloatArray) -> FloatArray:
        """Return the kernel matrix times a vector."""
        return self.points @ (weights @ self.points)


@dataclass(frozen=True, eq=False)
class Hulls:
    """Samples of two classes in the feature space of a kernel, with the bounds of their weights."""

    kernel: Any
    """Inner products of the samples: a RadialKernel or a LinearKernel."""
    sign: FloatArray
    """+1 or -1: the class of each sample."""
    caps: FloatArray
    """c_i."""

    @property
    def count(self) -> int:
        """Number of samples."""
        return self.kernel.count

    def gradient(self, x: FloatArray) -> FloatArray:
        """Return s_i <w, phi_i> for every sample, in double precision."""
        return self.sign * self.kernel.product(self.sign * x)

    def least_sum(self, gradient: FloatArray) -> float:
        """Return min <gradient, x> over both hulls."""
        return sum(
            float(gradient[chosen] @ fill_hull(gradient[chosen], self.caps[chosen]))
            for chosen in (np.flatnonzero(self.sign > 0), np.flatnonzero(self.sign < 0))
        )

    def first_point(self) -> FloatArray:
        """Return weights on the samples that lie deepest in the other class, as far as a few landmarks tell."""
        scores, x = np.zeros(self.count), np.empty(self.count)
        for side in (-1.0, 1.0):
            group = np.flatnonzero(self.sign == side)
            marks = group[:: max(1, group.size // LANDMARKS)]
            scores += side * self.kernel.block(slice(None), marks, np.float32).mean(axis=1)
        for side in (-1.0, 1.0):
            group = np.flatnonzero(self.sign == side)
            x[group] = fill_hull(side * scores[group], self.caps[group])
        return x


def fill_hull(costs: FloatArray, caps: FloatArray) -> FloatArray:
    """Return argmin <costs, x> over 0 <= x <= caps with sum 1: the cheapest samples are filled first.

    >>> fill_hull(np.array([2.0, 1.0, 3.0]), np.full(3, 0.6))
    array([0.4, 0.6, 0. ])
    """
    order, x = np.argsort(costs, kind="stable"), np.empty(costs.size)
    before = np.cumsum(caps[order]) - caps[order]
    x[order] = np.clip(1.0 - before, 0.0, caps[order])
    return x


class KernelRows:
    """Rows of the kernel matrix, the most recently used ones."""

    def __init__(self, hulls: Hulls, kind: type = np.float32) -> None:
        self._hulls, self.kind = hulls, kind
        capacity = min(hulls.count, max(2 * FETCH, CACHE_BYTES // (np.dtype(kind).itemsize * hulls.count)))
        self.rows = np.empty((capacity, hulls.count), kind)
        self.slot = np.full(hulls.count, -1)
        """Where the row of a sample is; -1 if it is not kept."""
        self.last_use = np.zeros(capacity, np.int64)
        self._owner, self._size = np.full(capacity, -1), 0

    def fetch(self, wanted: IntArray) -> None:
        """Compute rows in place of those that were not used for longest."""
        new = wanted[self.slot[wanted] < 0][: self.rows.shape[0]]
        free = np.arange(self._size, min(self._size + new.size, self.rows.shape[0]))
        self._size += free.size
        if free.size < new.size:
            oldest = np.argsort(self.last_use[: self._size], kind="stable")
            free = np.concatenate([free, oldest[: new.size - free.size]])
        evicted = self._owner[free]
        self.slot[evicted[evicted >= 0]] = -1
        step = max(1, BLOCK_ENTRIES // self._hulls.count)
        for first in range(0, new.size, step):
            part = slice(first, first + step)
            self.rows[free[part]] = self._hulls.kernel.block(new[part], slice(None), self.kind)
        self.slot[new], self._owner[free] = free, new
        self.last_use[free] = self.last_use.max() + 1


def nearest_points(hulls: Hulls, accuracy: float, max_rounds: int) -> tuple[FloatArray, FloatArray, Result]:
    """Return the weights x, the gradient s_i <w, phi_i>, and a result whose gap is relative to the objective.

    An iteration of the result is as many steps as there are samples.
    """
    begin, count = time.perf_counter(), hulls.count
    x = hulls.first_point()
    cache = KernelRows(hulls)
    gradient, value, bound = _certify(hulls, x)
    factor, steps, most = LOOSEST, 0, max_rounds * count
    while not value - bound <= accuracy * value and steps < most and factor * accuracy > np.finfo(float).eps:
        before, limit = value - bound, min(most - steps, REFRESH * count)
        taken = _descend(hulls, cache, x, gradient, factor * accuracy, limit)
        steps += taken
        gradient, value, bound = _certify(hulls, x)
        if value - bound > 0.5 * before and cache.kind is np.float32:
            cache = KernelRows(hulls, np.float64)
        elif taken < limit:
            factor *= TIGHTER
    end = Status.ITERATION_LIMIT if steps >= most else Status.STALLED
    return x, gradient, _conclude(x, value, bound, accuracy, "pairwise", math.ceil(steps / count), begin, end)


def _conclude(
    x: FloatArray,
    value: float,
    bound: float,
    accuracy: float,
    method: str,
    iterations: int,
    begin: float,
    otherwise: Status,
) -> Result:
    """Return the result at x, solved if the gap is small enough relative to the objective."""
    result = Result(
        Status.SOLVED,
        x=x,
        objective=value,
        infeasibility=0.0,
        dual_bound=bound,
        gap=(value - bound) / value if value > 0.0 else 0.0,
        bound_kind=RIGOROUS,
        accuracy=accuracy,
        method=method,
        iterations=iterations,
        seconds=time.perf_counter() - begin,
        facts=ProblemFacts(f"nearest points of two reduced hulls, {x.size} samples", loss=True, scale=value),
    )
    return recheck(result, otherwise)


def _certify(hulls: Hulls, x: FloatArray) -> tuple[FloatArray, float, float]:
    """Return the gradient, the objective and a lower bound on it over the hulls."""
    gradient = hulls.gradient(x)
    square = max(float(x @ gradient), 0.0)
    return gradient, 0.5 * square, _lower_bound(hulls, gradient, square)


def _lower_bound(hulls: Hulls, gradient: FloatArray, square: float) -> float:
    """Return a lower bound on the objective from s_i <w, phi_i> and ||w||^2 for any w.

    1/2 ||w'||^2 >= t <w, w'> - 1/2 t^2 ||w||^2 for every w' and t, and <w, w'> is at least m, its least value over the
    hulls; the best t is m / ||w||^2.
    """
    least = max(hulls.least_sum(gradient), 0.0)
    return 0.5 * least**2 / square if square > 0.0 else 0.0


def _descend(
    hulls: Hulls,
    cache: KernelRows,
    x: FloatArray,
    gradient: FloatArray,
    tolerance: float,
    most: int,
) -> int:
    """Step until no pair violates optimality by more than the tolerance times the objective; return the steps."""
    active, steps = np.arange(hulls.count), 0
    figures = np.array([0.5 * float(x @ gradient), float(cache.last_use.max())])
    while steps < most:
        end, taken, missing = step_pairs(
            cache.rows,
            cache.slot,
            cache.last_use,
            x,
            gradient,
            hulls.sign,
            hulls.caps,
            active,
            tolerance,
            min(CHUNK, most - steps),
            figures,
        )
        steps += taken
        if end == DONE:
            break
        if end == MISSING:
            cache.fetch(_candidates(hulls, x, gradient, active[cache.slot[active] < 0], missing))
        else:
            active = _shrink(hulls, x, gradient, active)
    return steps


def _candidates(hulls: Hulls, x: FloatArray, gradient: FloatArray, active: IntArray, missing: int) -> IntArray:
    """Return the missing sample and others that may be needed soon: those nearest to the margin of their class."""
    sign, share = hulls.sign[active], x[active] / hulls.caps[active]
    distance = np.empty(active.size)
    for side in (-1.0, 1.0):
        chosen = sign == side
        values = gradient[active[chosen]]
        is_free = (share[chosen] > 0.0) & (share[chosen] < 1.0)
        if values.size:
            distance[chosen] = np.abs(values - (values[is_free].mean() if is_free.any() else np.median(values)))
    near = active[np.argsort(distance, kind="stable")[:FETCH]]
    return np.concatenate([[missing], near[near != missing]])


def _shrink(hulls: Hulls, x: FloatArray, gradient: FloatArray, active: IntArray) -> IntArray:
    """Return the samples without those that no pair of the others would move from their bound."""
    values, kept = gradient[active], np.ones(active.size, bool)
    rises, falls = x[active] < hulls.caps[active], x[active] > 0.0
    for side in (-1.0, 1.0):
        own = hulls.sign[active] == side
        least, largest = values[own & rises].min(initial=np.inf), values[own & falls].max(initial=-np.inf)
        kept[own & ~falls & (values > largest)] = False
        kept[own & ~rises & (values < least)] = False
    return active[kept]


@njit(cache=True)
def step_pairs(
    rows: Array,
    slot: IntArray,
    last_use: IntArray,
    x: FloatArray,
    gradient: FloatArray,
    sign: FloatArray,
    caps: FloatArray,
    active: IntArray,
    tolerance: float,
    most: int,
    figures: FloatArray,
) -> tuple[int, int, int]:
    """Take up to ``most`` steps, in place; return how they ended, their number, and the sample of a missing row.

    ``figures`` are the objective and a count of uses of the cache.
    """
    for step in range(most):
        first, largest, side = -1, 0.0, 0.0
        for own in (-1.0, 1.0):
            least, most_falling, place = np.inf, -np.inf, -1
            for k in active:
                if sign[k] == own:
                    if x[k] < caps[k] and gradient[k] < least:
                        least, place = gradient[k], k
                    if x[k] > 0.0 and gradient[k] > most_falling:
                        most_falling = gradient[k]
            if most_falling - least > largest:
                first, largest, side = place, most_falling - least, own
        if first < 0 or largest <= tolerance * figures[0]:
            return DONE, step, -1
        if slot[first] < 0:
            return MISSING, step, first
        row, second, best = rows[slot[first]], -1, 0.0
        for k in active:
            if sign[k] == side and x[k] > 0.0:
                drop = gradient[k] - gradient[first]
                if drop > 0.0:
                    curvature = max(2.0 - 2.0 * row[k], FLATTEST)
                    if drop * drop > best * curvature:
                        second, best = k, drop * drop / curvature
        if slot[second] < 0:
            return MISSING, step, second
        other, drop = rows[slot[second]], gradient[second] - gradient[first]
        curvature = max(2.0 - 2.0 * row[second], FLATTEST)
        length = min(drop / curvature, caps[first] - x[first], x[second])
        if length == x[second]:
            x[first], x[second] = min(x[first] + length, caps[first]), 0.0
        elif length == caps[first] - x[first]:
            x[second], x[first] = x[second] - length, caps[first]
        else:
            x[first] += length
            x[second] -= length
        figures[0] -= length * (drop - 0.5 * length * curvature)
        figures[1] += 1.0
        last_use[slot[first]] = last_use[slot[second]] = int(figures[1])
        scale = side * length
        for k in active:
            gradient[k] += scale * sign[k] * (row[k] - other[k])
    return PAUSED, most, -1


def solve_by_interior_points(hulls: Hulls, accuracy: float, max_iterations: int, least_value: float) -> Result:
    """Return a result with weights x and dual vector w, for a linear kernel with few features.

    Mehrotra's predictor and corrector in (x, w, y, z): w = sum_i s_i x_i phi_i, multipliers y of the two sums and z of
    the bounds. The iteration ends at the gap, at an objective of ``least_value``, or where no digits are left.
    """
    begin = time.perf_counter()
    points = hulls.sign[:, None] * hulls.kernel.points
    unit = float(np.abs(points).max()) or 1.0
    point = InteriorPoint.of(points / unit, hulls.sign, hulls.caps)
    x, w, value, bound = point.x, point.w, np.inf, 0.0
    iteration = improved_at = 0
    while np.isfinite(point.x).all() and np.isfinite(point.w).all():
        before = value - bound
        rounded = _round_to_bounds(hulls, point.x)
        new_value = 0.5 * float(np.sum((rounded @ points) ** 2))
        if new_value < value:
            x, value = rounded, new_value
        new = unit * point.w  # not x @ points, whose rounding errors would spoil the bound
        new_bound = _lower_bound(hulls, points @ new, float(new @ new))
        if new_bound >= bound:
            w, bound = new, new_bound
        if value - bound < before:
            improved_at = iteration
        is_done = value - bound <= accuracy * value or value <= least_value
        if is_done or iteration == max_iterations or iteration > improved_at + PATIENCE:
            break
        point.step()
        iteration += 1
    end = Status.ITERATION_LIMIT if iteration == max_iterations else Status.STALLED
    return replace(_conclude(x, value, bound, accuracy, "interior-point", iteration, begin, end), dual=w)


def _round_to_bounds(hulls: Hulls, x: FloatArray) -> FloatArray:
    """Return the weights, those near a bound put there and the others scaled so that both sums remain."""
    share = x / hulls.caps
    rounded = np.where(share < AT_BOUND, 0.0, np.where(share > 1.0 - AT_BOUND, hulls.caps, x))
    is_free = (rounded > 0.0) & (rounded < hulls.caps)
    for own in (hulls.sign > 0, hulls.sign < 0):
        free, full = float(rounded[own & is_free].sum()), float(rounded[own & ~is_free].sum())
        if free > 0.0:
            rounded[own & is_free] *= (1.0 - full) / free
    return rounded


@dataclass
class InteriorPoint:
    """A point with 0 < x < c and positive multipliers; steps change it in place."""

    points: FloatArray
    """s_i phi_i, a row per sample."""
    sums: FloatArray
    """Indicators of the classes, a column each."""
    x: FloatArray
    room: FloatArray
    """c - x, kept apart: as a difference it would lose its digits."""
    w: FloatArray
    y: FloatArray
    low: FloatArray
    """Multipliers of x >= 0."""
    high: FloatArray
    """Multipliers of x <= c."""

    @staticmethod
    def of(points: FloatArray, sign: FloatArray, caps: FloatArray) -> InteriorPoint:
        """Return the point with equal shares of the caps, and multipliers of the size of the gradient."""
        sums = np.column_stack([sign > 0, sign < 0]).astype(np.float64)
        x = caps / (sums @ (caps @ sums))
        w, room = x @ points, caps - x
        scores = points @ w
        y = -(scores @ sums) / sums.sum(axis=0)
        size = float(np.abs(scores + sums @ y) @ np.minimum(x, room)) / x.size
        return InteriorPoint(points, sums, x, room, w, y, size / x, size / room)

    def step(self) -> None:
        """Take a step: a predictor without centring determines how much centring the corrector needs."""
        x, room, low, high, features = self.x, self.room, self.low, self.high, self.w.size
        scale = 1.0 / np.sqrt(low / x + high / room)
        rows = scale[:, None] * np.column_stack([self.points, self.sums])
        Q, R = np.linalg.qr(np.vstack([rows, np.eye(features, features + 2)]))
        dual = self.points @ self.w + self.sums @ self.y - low + high

        def move(to_low: Any, to_high: Any) -> tuple[Array, ...]:
            """Return the step at whose end, to first order, x low and room high are these."""
            residual = dual + low - to_low / x - high + to_high / room
            right = np.append(-scale * residual, x @ self.points - self.w)
            part = Q.T @ right
            rest = right - Q @ part
            rest -= Q @ (Q.T @ rest)  # once more, for the digits that the first product lost
            dx, shift = scale * rest[: x.size], solve_triangular(R, part)
            d_low, d_high = (to_low - low * dx) / x - low, (to_high + high * dx) / room - high
            return dx, -dx, shift[:features], shift[features:], d_low, d_high

        def longest(step: tuple[Array, ...]) -> float:
            pairs = zip((x, room, low, high), (step[0], step[1], *step[4:]), strict=True)
            return min(float(np.min(-v[dv < 0.0] / dv[dv < 0.0], initial=1.0 / STEP_SHARE)) for v, dv in pairs)

        products = float(x @ low + room @ high)
        first = move(0.0, 0.0)
        length = min(1.0, longest(first))
        after = (x + length * first[0]) @ (low + length * first[4]) + (room + length * first[1]) @ (
            high + length * first[5]
        )
        centring = (float(after) / products) ** 3 * products / (2.0 * x.size)
        last = move(centring - first[0] * first[4], centring - first[1] * first[5])
        length = STEP_SHARE * longest(last)
        values = (x, room, self.w, self.y, low, high)
        moved = (value + length * change for value, change in zip(values, last, strict=True))
        self.x, self.room, self.w, self.y, self.low, self.high = moved
