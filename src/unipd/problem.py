"""The template: minimise f(x) over x in X subject to A x - b in K, or plus a loss phi(A x - b)."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import EPS, inner, norm, precision, real_dtype
from unipd.atoms import Blocks, LowRank, SparsePoint, dense
from unipd.couplings import AtLeast, AtMost, Equality
from unipd.couplings.base import ConvexLoss, CouplingBase, RowScaling, as_coupling
from unipd.errors import InvalidInput, OracleError
from unipd.maps import as_map
from unipd.maps.base import row_norms
from unipd.protocols import (
    Coupling,
    Loss,
    MapDefaults,
    OracleDefaults,
    SharpAnswer,
    SharpOracle,
    is_user_supplied,
    unwrap,
)
from unipd.sharp import Product
from unipd.sharp.base import as_oracle

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
_RELATIONS = {"=": Equality, "==": Equality, "<=": AtMost, ">=": AtLeast}


class Problem:
    """min { f(x) : x in X, A x - b in K }, the paper's template (1), or min f(x) + phi(A x - b).

    Parameters
    ----------
    sharp
        The sharp oracle of (f, X), or a list of oracles for several blocks.
    A
        The linear map: a NumPy array, a SciPy sparse matrix, a ``LinearOperator`` or PyLops operator, one of
        ``unipd.maps``, or a list with one map per block. It is never made dense and not copied (it may take most of
        the memory): do not change it while the problem is in use.
    b
        The right-hand side; copied.
    coupling
        The set K or the loss phi: an object of ``unipd.couplings``, or "=", "<=", ">=" for A x = b and so on.
    split
        How a loss enters: True for the paper's slack split (phi^* joins g), False for the prox form
        (phi^* stays in h). Default: the split where the loss allows it.

    Raises
    ------
    InvalidInput
        If an argument is none of these; if ``A`` does not map points of the oracle's shape, or is complex where points
        are real; if ``b`` is not a finite vector of the shape of A x, or ||b||^2 is beyond the floating-point range
        (rescale A and b); if the coupling does not fit b, or the loss cannot be split.

    See Also
    --------
    solve, unipd.doctor.check, unipd.sharp.Sharp, unipd.couplings.ConvexSet

    Examples
    --------
    Project a point on the probability simplex:

    >>> import unipd
    >>> point = np.array([0.2, 1.4, -0.3])
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), point, unipd.couplings.LeastSquares())
    >>> problem
    Problem(Simplex, DenseMatrix, n=3, LeastSquares, split)
    """

    def __init__(
        self,
        sharp: SharpOracle | Sequence[SharpOracle],
        A: Any,
        b: Any,
        coupling: Coupling | str = "=",
        *,
        split: bool | None = None,
    ) -> None:
        oracle = _as_oracle(sharp)
        self.sharp: OracleDefaults = oracle
        self.map: MapDefaults = as_map(A, oracle.shape)
        _check_domain(self.map.domain, oracle.shape)
        _check_reality(oracle, self.map)
        self.coupling = _as_coupling(coupling)
        self.b = self._right_hand_side(b)
        self.coupling.check(self.b.shape, self.b.dtype)
        self.loss: ConvexLoss | None = _as_loss(self.coupling)
        self.split = self._choose_split(split)
        self.norm_b = norm(self.b)
        if not math.isfinite(self.norm_b):
            raise InvalidInput("b", "a finite ||b||^2 (rescale A and b)", "an overflow")
        if self.norm_b**2 < sys.float_info.min and self.b.any():  # else nothing would be left of any violation
            raise InvalidInput(
                "b", "zero, or a ||b||^2 within the floating-point range (rescale A and b)", "an underflow"
            )
        self.epsilon = precision(self.b)
        self.is_single = self.epsilon > EPS
        """Whether A and b are in single precision."""
        self.is_mixed = self.coupling.constrained_rows is not None
        """Whether some rows are constraints and others losses; then :attr:`loss` is None."""
        self.has_penalty = self.loss is not None or self.is_mixed
        """Whether the objective is f(x) plus losses of A x - b."""
        self.loss_at_zero = self._loss_at_zero()
        """phi(-b) of the losses; 0 for a constraint, and where phi(-b) is infinite."""
        self.rounding = self.epsilon * math.sqrt(self.b.size)
        """Relative rounding error of an inner product."""
        self.degrees = (self.sharp.degree, self.coupling.conjugate_degree)
        self.on_rays = all(degree in (1.0, 2.0) for degree in self.degrees)
        """Whether the maximum of the bound along a ray has a closed form (both degrees are 1 or 2)."""
        self.slack_radius = self.coupling.slack_radius if self.split else None
        self.exact = self.sharp.exact
        """Whether the oracle's answers are exact up to rounding."""
        parts = {"oracle": self.sharp, "map": self.map, "coupling": self.coupling}
        self.user_supplied = tuple(name for name, part in parts.items() if is_user_supplied(part))
        """Which of oracle, map and coupling are user-supplied: bounds rest on their word."""
        self.has_user_oracle = "oracle" in self.user_supplied
        """Whether the oracle, or one inside it, is user-supplied."""
        self.linear = self.sharp.linear
        """Whether f is linear (or zero) on X."""
        self.free_dual = self.split or self.coupling.is_equality
        """Whether h = 0, so that the dual variable moves freely: K = {0} or the slack split."""
        self.conjugate_curvature = self._conjugate_curvature()
        """kappa with grad g = b - A x^* + kappa lam: 1/c for the loss (c/2) ||r||^2 in the slack split, 0 for K = {0};
        None for other couplings."""

    def _right_hand_side(self, b: Any) -> Array:
        vector = validate.finite_array("b", b, shape=self.map.codomain)
        if vector.dtype.kind == "c" and self.map.dtype.kind != "c":
            raise InvalidInput("b", "real numbers (the map A is real)", "complex numbers")
        with np.errstate(over="ignore"):
            dtype = np.result_type(self.map.dtype, np.float32)
            cast = vector.astype(dtype, copy=vector.flags.writeable)
        if not np.isfinite(cast).all():
            raise InvalidInput("b", f"values within the range of {cast.dtype}, the precision of A", "an overflow")
        return cast

    def _loss_at_zero(self) -> float:
        value = max(self.coupling.penalty(-self.b), 0.0) if self.has_penalty else 0.0
        return value if math.isfinite(value) else 0.0

    def _choose_split(self, split: bool | None) -> bool:
        possible = self.loss is not None and self.loss.splittable
        if split is not None:
            validate.flag("split", split)
        if split and not possible:
            expected = "a loss with a bounded slack block (set slack_radius)"
            raise InvalidInput("split", expected, type(unwrap(self.coupling)).__name__)
        return possible if split is None else split

    @property
    def dual_shape(self) -> tuple[int, ...]:
        """Shape of the dual vector, that of b."""
        return self.b.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the dual vector."""
        return self.b.dtype

    def _conjugate_curvature(self) -> float | None:
        weights = self.coupling.quadratic_weights
        if self.split and isinstance(weights, float):
            return 1.0 / weights
        return 0.0 if self.coupling.is_equality else None

    def in_dual_domain(self, dual: Array) -> bool:
        """Whether h(lam) is finite; in the slack split h = 0."""
        return self.split or math.isfinite(self.coupling.conjugate(dual))

    @property
    def has_smooth_loss(self) -> bool:
        """Whether the coupling is a loss with Lipschitz gradient."""
        return self.loss is not None and math.isfinite(self.loss.curvature())

    @property
    def has_differentiable_loss(self) -> bool:
        """Whether the coupling is a loss with a gradient wherever it is finite: then descent needs no multipliers."""
        return self.loss is not None and self.loss.is_differentiable

    # What accuracy means: A x agrees with its nearest admissible value relative to that value, in rows of equal norm;
    # objective and bound agree relative to the objective, and where that is zero relative to 1e-4 of the size of f. No
    # unit matters: of f, of (A, b), of a row of both, or of x; and no bound excuses others that is far from x.

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

    def truncate(self, size: float) -> Problem:
        """Return the problem over the points of X up to a size, for bounds that hold for those only."""
        raise ValueError(f"a bound for points of size {size:g} at most, which this set does not define")

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
        return (is_zero if rows is None else is_zero & rows).reshape(self.dual_shape)

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
            expected = f"rows whose norms differ less in {self.dtype} (rescale rows of A and b)"
            raise InvalidInput("A", expected, f"norms from {least:.1e} to {largest:.1e}")
        factors = new.factors.reshape(self.dual_shape).astype(real_dtype(self.dtype))
        try:
            new.coupling.check(self.dual_shape, self.dtype)
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
        vector = self._drop_losses(np.random.default_rng(0).standard_normal(self.dual_shape).astype(self.dtype))
        vector = vector if self.rows is None else self.rows.factors * vector
        size = max(self.sharp.support(self.map.adjoint(sign * vector)) for sign in (1.0, -1.0))
        return _require_range(size) if math.isfinite(size) else 0.0

    def __repr__(self) -> str:
        names = [type(unwrap(part)).__name__ for part in (self.sharp, self.map, self.coupling)]
        form = ", split" if self.split else ""
        return f"Problem({names[0]}, {names[1]}, n={self.b.size}, {names[2]}{form})"


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


def _as_oracle(sharp: Any) -> Any:
    """Return the oracle, of a product for a list; errors name the argument ``sharp``."""
    if not isinstance(sharp, (list, tuple)):
        return as_oracle("sharp", sharp)
    try:
        return Product(sharp)
    except InvalidInput as error:
        raise InvalidInput("sharp", error.expected, error.got) from error


def _check_domain(domain: Any, shape: Any) -> None:
    if domain != shape:
        raise InvalidInput("A", f"a map of points of shape {shape}", f"a map of shape {domain}")


def _check_reality(oracle: OracleDefaults, linear_map: MapDefaults) -> None:
    """Raise when a block with real points has a complex map."""
    if oracle.block_oracles and linear_map.block_maps:
        for block, part in zip(oracle.block_oracles, linear_map.block_maps, strict=True):
            _check_reality(block, part)
    elif linear_map.dtype.kind == "c" and oracle.real_only:
        stack = "stack the real and the imaginary part of A, and of b, as rows"
        raise InvalidInput(
            "A", f"a real map, since {type(unwrap(oracle)).__name__} has real points ({stack})", "a complex one"
        )


def _as_loss(coupling: Any) -> ConvexLoss | None:
    if not coupling.is_loss:
        return None
    if not isinstance(unwrap(coupling), Loss):
        expected = "a loss with gradient, curvature, slack and splittable (derive from unipd.couplings.ConvexLoss)"
        raise InvalidInput("coupling", expected, type(unwrap(coupling)).__name__)
    return coupling


def _as_coupling(coupling: Any) -> CouplingBase:
    if isinstance(coupling, str):
        if coupling not in _RELATIONS:
            raise InvalidInput("coupling", 'one of "=", "<=", ">=" or a coupling', repr(coupling))
        return _RELATIONS[coupling]()
    if isinstance(coupling, type) or not isinstance(coupling, Coupling):
        raise InvalidInput("coupling", "a set or loss of unipd.couplings", validate.describe_type(coupling))
    return as_coupling(coupling)
