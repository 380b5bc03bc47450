"""What accuracy means: the scales of gap and infeasibility, which no unit of the data changes."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.arrays import inner, norm, real_dtype
from unipd.atoms import Blocks, LowRank, SparsePoint, dense
from unipd.couplings.base import ConvexLoss, CouplingBase, RowScaling, as_coupling
from unipd.errors import InvalidInput, OracleError
from unipd.maps.base import row_norms
from unipd.protocols import (
    MapDefaults,
    OracleDefaults,
    SharpAnswer,
)

ZERO_OBJECTIVE = 1e-4
"""Share of the size of f below which an optimal value counts as zero: gaps are then relative to this share."""
ROW_SPREAD = 10.0
"""Ratio of the largest to the smallest row norm above which methods work in equilibrated rows; accuracy always does."""
WIDE_SET = 100.0
"""A set is wide where A x is larger than what the constraints require by more than this: then f may be too large."""
_ROUNDED = 8.0
"""A row is violated where A x - b and its projection differ by more than this many eps."""
_SAME_NORM = 1e-6
"""Relative difference of row norms that is rounding: such rows are in the same unit."""
_SIGN_DRAWS = 4
"""Points with other signs at which the size of A x is measured."""
_RAY_DECADES, _RAY_PRECISION = 40.0, 0.1
"""Powers of ten, up and down, between which the length of a ray is sought, and how closely: ten oracle calls."""
_LARGEST_FACTORS = {True: 1e18, False: 1e150}
"""Factors of rows in single and in double precision, of which products of two stay within the range."""
_LARGEST_ENTRY = 1e77
"""Entry of a vector far outside any set, and a tolerance without effect: its fourth power is within the range."""


class Scales:
    """The scales of a problem: what its gaps and violations are relative to.

    A x agrees with its nearest admissible value relative to that value, in rows of equal norm; objective and bound
    agree relative to the objective, and where that is zero relative to 1e-4 of the size of f. No unit matters: of f, of
    (A, b), of a row of both, or of x; and no bound excuses others that is far from x.
    """

    sharp: OracleDefaults
    map: MapDefaults
    coupling: CouplingBase
    b: Array
    loss: ConvexLoss | None
    norm_b: float
    epsilon: float
    is_single: bool
    is_mixed: bool
    has_penalty: bool
    linear: bool
    loss_at_zero: float

    def scale(self, objective: float) -> float:
        """Return the scale of gaps: max(|objective|, phi(-b), 1e-4 of the size of f), or the loss's own unit.

        The last term counts where the optimal value is (nearly) zero, to which no gap can be relative; for the size see
        :attr:`_objective_size`. Where that is not known, :attr:`_ray_objective` takes its place. Of the largest |f| on
        a set far wider than the data the share counts that :attr:`_reached_share` gives.
        """
        if self.coupling.gap_scale is not None:
            return self.coupling.gap_scale
        size, least = max(abs(objective), self._loss_size), self._negligible
        return size if size >= least else max(size, least * self._reached_share)

    def relative_gap(self, objective: float, dual_bound: float) -> float:
        """Return (objective - dual_bound) / scale(objective); inf without an objective, 0 where both are 0.

        Parameters
        ----------
        objective
            f(x), or phi(A x - b) + f(x) for a loss.
        dual_bound
            A lower bound on the optimal value.
        """
        return ratio(objective - dual_bound, self.scale(objective)) if math.isfinite(objective) else math.inf

    @cached_property
    def _loss_size(self) -> float:
        """phi(-b); for b = 0 phi of a vector of the size of A x at the least point of f, and 0 for a constraint."""
        if not self.has_penalty or self.loss_at_zero > 0.0:
            return self.loss_at_zero
        if self.coupling.gap_scale is not None:
            return self.coupling.gap_scale
        entry = self._least_image_size / math.sqrt(self.b.size)
        return max(self.coupling.penalty(np.full_like(self.b, entry)), 0.0)

    @cached_property
    def _negligible(self) -> float:
        """1e-4 of :attr:`_objective_size`, or of :attr:`_ray_objective` where that is not known.

        f = 0 under constraints has no unit, and then it is 1e-4 itself. With a loss, f without a maximum is at most
        phi(-b) at a solution, which counts already.
        """
        if not self.has_penalty and self._objective_size == 0.0:
            return ZERO_OBJECTIVE
        if self._objective_size is None and self.loss_at_zero > 0.0:
            return 0.0
        size = self._ray_objective if self._objective_size is None else self._objective_size
        return ZERO_OBJECTIVE * size

    @cached_property
    def _objective_size(self) -> float | None:
        """The size of f: |min f| over X for a curved f, |max f| for a linear one; the other where that is 0 or unknown.

        None where f has no maximum and its minimum is 0. A curved f may be arbitrarily large far from its least point.
        """
        if self.sharp.degree == 1.0:  # f = 0
            return 0.0
        largest, least = abs(self.sharp.maximum()), 0.0
        if self.linear and 0.0 < largest < math.inf:
            return largest
        if self.sharp.degree is None and self._least_answer is not None:  # else f(0) = 0 is the least
            least = abs(self._least_answer.objective)
        return least if 0.0 < least < math.inf else largest if largest < math.inf else None

    @cached_property
    def _reached_share(self) -> float:
        """The share of X that the data reach where f is linear, up to a factor of 100: 1 for a set that is not wider.

        That is the size of b, or for constraints :attr:`least_scale`, relative to the size of D A x over X.
        """
        if not self.linear or self.sharp.degree == 1.0 or not self._image_size:
            return 1.0
        return min(1.0, WIDE_SET * self.least_scale / self._image_size)

    @cached_property
    def _least_answer(self) -> SharpAnswer | None:
        """The oracle's answer at lam = 0, a least point of f on X; None where it has none."""
        try:
            return self.sharp(self.map.adjoint(np.zeros_like(self.b)), tolerance=_LARGEST_ENTRY)
        except OracleError:  # which the run meets as well, and explains
            return None

    @cached_property
    def _ray_objective(self) -> float:
        """The size of f at the least points that reach A x = b, where f has no maximum; 0 where it is not known.

        It scales as f does. Every block is asked alone, along the ray A^* b: see :func:`_size_on_ray`. The least cost
        counts, since a block that is nearly orthogonal to b would need an arbitrarily large point.
        """
        if self.norm_b == 0.0:
            return 0.0
        ray = self.b / self.norm_b if self.rows is None else self.rows.factors * (self.rows.factors * self.b)
        oracles, goal = self.sharp.block_oracles, inner(ray, self.b)

        def direction(length: float, block: int) -> Any:
            adjoint = self.map.adjoint(length * ray)
            return adjoint[block] if oracles else adjoint

        try:
            sizes = [
                _size_on_ray(oracle, partial(direction, block=block), goal)
                for block, oracle in enumerate(oracles or (self.sharp,))
            ]
        except OracleError:  # which the run meets as well, and explains
            return 0.0
        return min((size for size in sizes if 0.0 < size < math.inf), default=0.0)

    @cached_property
    def typical_objective(self) -> float:
        """The size of the objective before any of its values is known; it sets the first steps and tolerances.

        That is phi(-b) or :attr:`_objective_size`, or :attr:`_ray_objective` where that is not known. Where all of
        these are 0, f has no size that is known, and 1 is as good as any number.
        """
        size = max(self._loss_size, self._objective_size or 0.0) or self._ray_objective
        return size if 0.0 < size < math.inf else 1.0

    def measure_residual(self, residual: Array) -> tuple[float, float]:
        """Return dist(r, K) for r = A x - b, and the infeasibility of x; zeros for a loss.

        The latter is dist(D r, D K) relative to :meth:`equilibrated_scale`, where D equilibrates :attr:`rows`. A row of
        zeros counts for itself: 1 where it is violated, as no x can help it.

        Parameters
        ----------
        residual
            r = A x - b.
        """
        if self.loss is not None:
            return 0.0, 0.0
        scaled, nearest = self._project(residual)
        distance = norm(self._drop_losses(scaled - nearest))
        violation = distance if self.rows is None else self.coupling.distance(residual)
        if self.zero_row_ray is not None:
            return violation, 1.0
        if distance == 0.0 < self.norm_b:
            return violation, 0.0
        return violation, ratio(distance, self._scale_at(scaled, nearest))

    def infeasibility(self, residual: Array, violation: float | None = None) -> float:
        """Return the infeasibility that :meth:`measure_residual` defines.

        Parameters
        ----------
        residual
            r = A x - b.
        violation
            dist(r, K), if already computed.
        """
        if self.coupling.is_equality and self.rows is None and violation is not None and self.zero_row_ray is None:
            return ratio(violation, self._equality_scale)
        return self.measure_residual(residual)[1]

    def equilibrated_scale(self, residual: Array) -> float:
        """Return ||s||: what the rows of A x have to agree with, in rows of unit norm; 0 for a loss.

        With t = b + P_K(A x - b), the admissible value nearest to A x, s_i = |D t|_i where row i is violated. Where it
        holds, s_i = min(|D t|_i, u_i) for the end u_i of its admissible values that is nearest to 0 and not 0: a bound
        of 1e9 counts for no more than what A x makes of it. So A x = b has the scale ||D b||. Where K couples rows,
        u = |D b|, or for b = 0 the radius, and s_i = u_i where row i is violated. The scale is at least
        :attr:`least_scale`.

        Parameters
        ----------
        residual
            r = A x - b.
        """
        return 0.0 if self.loss is not None else self._scale_at(*self._project(residual))

    def _project(self, residual: Array) -> tuple[Array, Array]:
        """Return D r and its projection on D K."""
        scaled = residual if self.rows is None else self.rows.factors * residual
        return scaled, self._nearest(scaled)

    def _nearest(self, scaled: Array) -> Array:
        """Return the point of D K nearest to a vector; in the rows of losses beside constraints the vector."""
        coupling: Any = self._scaled_coupling
        return coupling.project(scaled) if self.is_mixed else coupling.prox(scaled, 1.0)

    def _scale_at(self, scaled: Array, nearest: Array) -> float:
        """Return :meth:`equilibrated_scale` from D r and its projection on D K."""
        if self.coupling.is_equality:
            return self._equality_scale
        is_violated = np.abs(scaled - nearest) > _ROUNDED * self.epsilon * np.abs(scaled)
        target = np.abs(self._scaled_b + nearest)
        violated = target if self._is_row_by_row else self._row_ends
        size = norm(np.where(is_violated, violated, np.minimum(target, self._row_ends)) * self._measured_rows)
        return size if size >= self._least_end > 0.0 else max(size, self.least_scale)

    @cached_property
    def _equality_scale(self) -> float:
        return norm(self._scaled_b) or self.least_scale

    @cached_property
    def _scaled_b(self) -> Array:
        """D b, with zeros in rows that are not measured."""
        b = np.where(self._measured_rows, self.b, np.zeros_like(self.b))
        return b if self.rows is None else self.rows.factors * b

    @property
    def _scaled_coupling(self) -> CouplingBase:
        """D K."""
        return self.coupling if self.rows is None else self.rows.coupling

    @cached_property
    def least_scale(self) -> float:
        """The least scale of infeasibility, at any x: the violation of x = 0 where it violates constraints.

        Else the end of a row's admissible values nearest to 0, but no more than the size of D A x at the least point of
        f (:attr:`_least_image_size`); that alone where all ends are 0, as of equalities with b = 0. For a loss: ||b||.
        """
        if self.loss is not None:
            return self.norm_b or self._least_image_size
        ends = [size for size in (self._least_end, self._least_image_size) if size > 0.0]
        return self._scaled_coupling.distance(-self._scaled_b) or min(ends, default=0.0)

    @cached_property
    def _measured_rows(self) -> Any:
        """Which rows are constraints that some x can change; True for all."""
        rows = True if self.coupling.constrained_rows is None else self.coupling.constrained_rows.reshape(self.b.shape)
        return rows if self._zero_rows is None else rows & ~self._zero_rows

    @cached_property
    def _row_ends(self) -> FloatArray:
        """The u_i of :meth:`equilibrated_scale`, 0 where a row has none.

        The ends of K are found by projecting vectors with large equal entries: for a ball they are on its sphere.
        """
        b = self._scaled_b
        if not self._is_row_by_row and b.any():
            return np.abs(b)
        far = min(math.sqrt(float(np.finfo(self.b.dtype).max)), _LARGEST_ENTRY)
        largest = far * (1.0 - _SAME_NORM) if self._is_row_by_row else math.sqrt(far)
        projected = np.stack([self._nearest(np.full_like(b, sign * far)) for sign in (1.0, -1.0)])
        return nearest_end(np.where(np.abs(projected) < largest, b + projected, np.inf)) * self._measured_rows

    @cached_property
    def _least_end(self) -> float:
        """The least u_i that is not 0; 0 where there is none."""
        return float(nearest_end(self._row_ends.reshape(-1)))

    @cached_property
    def _is_row_by_row(self) -> bool:
        """Whether each entry of A x - b has its own constraint."""
        return _is_entrywise(self.coupling)

    @cached_property
    def _zero_rows(self) -> Array | None:
        """Which constrained rows of A are zero, where each entry of r has its own constraint; None where none is."""
        norms, rows = self.row_norms, self.coupling.constrained_rows
        if norms is None or norms.all() or not self._is_row_by_row:
            return None
        is_zero = norms == 0.0
        return (is_zero if rows is None else is_zero & rows).reshape(self.b.shape)

    @cached_property
    def zero_row_ray(self) -> Array | None:
        """A lam with A^* lam = 0 that proves infeasibility: by how much rows of zeros are violated; None if none is."""
        if self._zero_rows is None:
            return None
        ray = np.where(self._zero_rows, -self.b - self.coupling.prox(-self.b, 1.0), np.zeros_like(self.b))
        return ray if ray.any() else None

    @cached_property
    def rows(self) -> RowScaling | None:
        """Factors that bring the rows of A to unit norm, and K in those units: how accuracy is measured.

        None where row norms are equal or unknown, and where the coupling does not allow it.
        """
        norms = self.row_norms
        return None if norms is None or _spread(norms) <= 1.0 + _SAME_NORM else self.equilibrate(norms)

    @cached_property
    def row_norms(self) -> FloatArray | None:
        """Norms of the rows of A, flat; None where they are unknown, and for a loss."""
        return None if self.loss is not None else row_norms(self.map)

    @property
    def has_uneven_rows(self) -> bool:
        """Whether row norms differ by more than a factor of ten, so that methods gain from equilibrated rows."""
        return self.rows is not None and self.row_norms is not None and _spread(self.row_norms) > ROW_SPREAD

    def equilibrate(self, norms: FloatArray) -> RowScaling | None:
        """Return factors that bring rows of these norms to 1, and K in those units, where the coupling allows it."""
        new = self.coupling.rescale(norms)
        if new is not None and not self._is_in_range(new.factors):  # then to one norm, but not to 1
            new = self.coupling.rescale(norms / np.median(norms[norms > 0]))
        if new is None or new.factors.max() == new.factors.min():
            return None
        if not self._is_in_range(new.factors):
            least, largest = norms[norms > 0].min(), norms.max()
            expected = f"rows whose norms differ less in {self.b.dtype} (rescale rows of A and b)"
            raise InvalidInput("A", expected, f"norms from {least:.1e} to {largest:.1e}")
        factors = new.factors.reshape(self.b.shape).astype(real_dtype(self.b.dtype))
        try:
            new.coupling.check(self.b.shape, self.b.dtype)
        except InvalidInput:  # the rescaled coupling, such as a box, may take real numbers only
            return None
        return RowScaling(factors, as_coupling(new.coupling))

    def _is_in_range(self, factors: FloatArray) -> bool:
        limit = _LARGEST_FACTORS[self.is_single]
        return bool(1.0 / limit < factors.min() and factors.max() < limit)

    def _drop_losses(self, vector: Array) -> Array:
        """Return a vector with zeros in the rows of losses where others are constrained."""
        rows = self.coupling.constrained_rows
        return vector if rows is None else np.where(rows.reshape(vector.shape), vector, np.zeros_like(vector))

    @cached_property
    def _least_image_size(self) -> float:
        """The size of D A x in constrained rows at the least point of f on X; where it is 0, :attr:`_image_size`.

        It is the largest ||D A x|| of the point and of a few with other signs, since its own terms may cancel.
        """
        if self._least_answer is None:
            return self._image_size
        generator, factors = np.random.default_rng(0), 1.0 if self.rows is None else self.rows.factors
        atom = self._least_answer.atom
        points = [atom, *(_draw_signs(generator, atom) for _ in range(_SIGN_DRAWS))]
        size = max(norm(self._drop_losses(factors * self.map.image(point))) for point in points)
        return _require_range(size) if 0.0 < size < math.inf else self._image_size

    @cached_property
    def _image_size(self) -> float:
        """The largest |<v, D A x>| over x in X for a random vector v, a measure of ||D A x||; 0 for an unbounded X.

        Rows of losses do not count where there are constraints.
        """
        vector = self._drop_losses(np.random.default_rng(0).standard_normal(self.b.shape).astype(self.b.dtype))
        vector = vector if self.rows is None else self.rows.factors * vector
        size = max(self.sharp.support(self.map.adjoint(sign * vector)) for sign in (1.0, -1.0))
        return _require_range(size) if math.isfinite(size) else 0.0


def _is_entrywise(coupling: CouplingBase) -> bool:
    """Whether each entry of r has a constraint or a loss of its own."""
    inside = coupling.inner_parts
    return coupling.is_separable or (bool(inside) and all(map(_is_entrywise, inside)))


def _require_range(size: float) -> float:
    """Return the size of A x, whose square must not vanish: for b = 0 nothing would be left of any violation."""
    if size > 0.0 and size**2 < sys.float_info.min:
        raise InvalidInput("A", "an ||A x||^2 within the floating-point range (rescale A)", "an underflow")
    return size


def _draw_signs(generator: np.random.Generator, atom: Any) -> Any:
    """Return a point with the entries of an atom up to their signs; those of a low-rank one change with its rows."""

    def change(array: Array) -> Array:
        signs = generator.choice([-1, 1], len(array)).astype(array.dtype)
        return array * signs.reshape(-1, *(1,) * (array.ndim - 1))

    if isinstance(atom, Blocks):
        return Blocks(tuple(_draw_signs(generator, part) for part in atom.parts))
    if isinstance(atom, SparsePoint):
        return SparsePoint(atom.shape, atom.indices, change(atom.values))
    if isinstance(atom, LowRank):
        left = change(atom.left)
        return LowRank(left, left if atom.hermitian else change(atom.right), atom.weights)
    return change(np.asarray(dense(atom)).reshape(-1)).reshape(atom.shape)


def nearest_end(ends: Any) -> Any:
    """Return the size of the end of each interval that is nearest to 0 and not 0; 0 where none is finite.

    >>> nearest_end([np.array([-np.inf, 0.0, -5.0]), np.array([2.0, np.inf, 3.0])])
    array([2., 0., 3.])
    """
    sizes = np.abs(ends)
    least = np.where(sizes > 0.0, sizes, np.inf).min(axis=0)
    return np.where(np.isfinite(least), least, 0.0)


def ratio(number: float, scale: float) -> float:
    """Return number / scale, and 0 for 0 / 0.

    >>> ratio(1.0, 2.0), ratio(0.0, 0.0), ratio(-1.0, 0.0)
    (0.5, 0.0, -inf)
    """
    return number / scale if scale > 0.0 else math.copysign(math.inf, number) if number != 0.0 else 0.0


def _size_on_ray(oracle: OracleDefaults, direction: Callable[[float], Any], goal: float) -> float:
    """Return the size of f at the least x with <y, x> = goal > 0, where ``direction(t)`` is t y; 0 if it is not known.

    For a power of a norm it is max over t of t goal - f^*(t y), in closed form. For an f of which nothing is known it
    is |min f|, or where that is 0 the value at the first maximiser of t <y, x> - f(x), as t grows, that reaches the
    goal.
    """
    degree, loose = oracle.degree, _LARGEST_ENTRY
    if degree is None:
        return abs(oracle(direction(0.0), tolerance=loose).objective) or _first_value(oracle, direction, goal)
    conjugate = oracle.value(direction(1.0), tolerance=loose).value if degree > 1.0 else 0.0
    if not 0.0 < conjugate < math.inf:
        return 0.0
    return goal * (goal / (degree * conjugate)) ** (1.0 / (degree - 1.0)) * (1.0 - 1.0 / degree)


def _first_value(oracle: OracleDefaults, direction: Callable[[float], Any], goal: float) -> float:
    """Return f(x_t) at the least t, up to a quarter, at which <y, x_t> reaches the goal; 0 if none does."""
    low, high, size = -_RAY_DECADES, _RAY_DECADES, 0.0
    while high - low > _RAY_PRECISION:
        middle = 0.5 * (low + high)
        length = 10.0**middle / goal
        answer = oracle(direction(length), tolerance=_LARGEST_ENTRY)
        if answer.value + answer.objective < length * goal:  # the value is length <y, x> - f(x)
            low = middle
        else:
            high, size = middle, abs(answer.objective)
    return size


def _spread(norms: FloatArray) -> float:
    """Return the ratio of the largest to the smallest positive norm."""
    present = norms[norms > 0]
    return float(present.max() / present.min()) if present.size else 1.0
