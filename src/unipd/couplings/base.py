"""Shared behaviour of couplings: a set needs its projection and support, a loss its prox and conjugate.

Arrays that a coupling returns have the dtype of the array it was given, and may share its memory: treat
both as read-only. Sums over entries (values, conjugates) are plain Python floats. Vectors are not searched for NaN,
which would cost a pass in every iteration: NaN goes in and NaN comes out.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import hermitian_part, inner, norm, precision, rounding_of
from unipd._util.printing import ReprMixin
from unipd.errors import InvalidInput
from unipd.protocols import Adapted, Coupling

FEASIBILITY_ROUNDING = 1e-9
"""Relative distance to a set below which a vector counts as inside (or its rounding where that is more)."""

ENTRY_ROUNDING = 8.0
"""An entry of a dual vector may leave its interval by this many relative eps and still count as inside."""


def domain_rounding(dual: Array) -> float:
    """Return the distance by which rounding alone may put a dual vector outside dom h.

    The distance is 8 eps (8 + sqrt(n)) ||lam||, with eps that of the dtype. Where h is the indicator of a cone
    with a curved or thin boundary, a projected vector is on it up to rounding only, so h counts a vector this
    near as inside. The bound -G(lam) then errs by at most this distance times ||A x^* - b||, which is the size
    of the rounding in <lam, b> itself.

    >>> domain_rounding(np.ones(4)) < 1e-13
    True
    """
    spread = math.sqrt(dual.size)
    return ENTRY_ROUNDING * precision(dual) * (8.0 + spread) * norm(dual) + spread * float(np.finfo(dual.dtype).tiny)


if TYPE_CHECKING:  # the required members are abstract methods below
    _Coupling = Coupling
else:
    _Coupling = object


@dataclass(frozen=True)
class RowScaling:
    """Positive factors D for the rows, and D K: A x - b in K is the same as D A x - D b in D K.

    Parameters
    ----------
    factors
        The diagonal of D: flat, as :meth:`CouplingBase.rescale` returns it, or in the shape of b.
    coupling
        D K.

    See Also
    --------
    unipd.Rescaling, Scaled

    Examples
    --------
    A row of norm 1/8 is multiplied by 8, and its interval with it:

    >>> import unipd
    >>> box = unipd.couplings.Box(-1.0, 1.0)
    >>> box.rescale(np.array([0.125])).coupling.project(np.array([20.0]))
    array([8.])
    """

    factors: FloatArray
    coupling: CouplingBase


class CouplingBase(ReprMixin, ABC, _Coupling):
    """Defaults that sets and losses share: vectors of any shape, derivatives by differences, rows in fixed units.

    See Also
    --------
    ConvexSet, ConvexLoss

    Examples
    --------
    >>> import unipd
    >>> isinstance(unipd.couplings.Equality(), CouplingBase)
    True
    """

    runs_user_code: bool = False
    """Whether the coupling wraps user-supplied code."""
    dual_sign: float | None = None
    """0 when the dual vector is free, 1 or -1 when it is nonnegative or nonpositive entry by entry; None otherwise."""
    is_separable: bool = False
    """Whether phi (for a set its indicator) is a sum over the entries of r, so that derivatives are diagonal."""
    slack_radius: float | None = None
    """R of the slack block {|r_i| <= R} of the slack split, None for an unbounded block."""
    gap_scale: float | None = None
    """What gaps are divided by, for a loss whose values are absolute (1 nat for a likelihood); None: relative gaps."""

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The couplings inside: the parts of a product, the set that was moved or scaled."""
        return ()

    @property
    def is_equality(self) -> bool:
        """Whether K = {0}: then h = 0 and the dual vector is free."""
        return False

    @property
    def dual_signs(self) -> Any:
        """:attr:`dual_sign` entry by entry where h is 0 on the vectors of these signs; None for other h."""
        return None if self.is_loss else self.dual_sign

    @property
    def constrained_rows(self) -> Array | None:
        """Which rows are constraints where others are losses; None where all rows are of one kind."""
        return None

    def penalty(self, residual: Array) -> float:
        """Return the finite part of phi(r), which adds to the objective: that of the losses; 0 for a set."""
        return self.value(residual) if self.is_loss else 0.0

    @property
    def quadratic_weights(self) -> Any:
        """The w with phi(r) = 1/2 sum_i w_i |r_i|^2: a float, or an array of the shape of b; None for other phi."""
        return None

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise when vectors of this shape and dtype do not fit; the default accepts all."""
        return

    @abstractmethod
    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return prox of ``step * h`` at v."""

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Return J C for an element J of the generalised Jacobian of v -> prox_{step h}(v) and columns C.

        By default from one-sided differences: one prox per column, accurate to about seven digits.

        Parameters
        ----------
        vector, step
            As in :meth:`prox_conjugate`.
        directions
            C, a column per direction.
        """
        return finite_differences(lambda v: self.prox_conjugate(v, step), vector, directions)

    @property
    def has_prox_jacobian(self) -> bool:
        """Whether :meth:`prox_jacobian` knows the derivative; without it the corrective method needs the prox alone."""
        return self.prox_jacobian != MethodType(CouplingBase.prox_jacobian, self)

    def prox_curvature(self, vector: Array, step: float, columns: Array, gram: FloatArray) -> FloatArray:
        """Return Re C^* J C for the J of :meth:`prox_jacobian`.

        Parameters
        ----------
        vector, step
            As in :meth:`prox_conjugate`.
        columns
            C.
        gram
            Re C^* C, for those that profit from it.
        """
        return hermitian_part((columns.conj().T @ self.prox_jacobian(vector, step, columns)).real)

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Return factors that bring rows of these norms to 1 as far as the coupling allows.

        For norms that are powers of two so are the factors. The default, None, leaves the rows alone; so do losses
        without weights, whose values have units.
        """
        return None


class ConvexSet(CouplingBase):
    """A closed convex set K: the template's inclusion A x - b in K.

    ``project`` and ``conjugate`` (the support function) define it. The rest has defaults: the prox of the support
    function follows by Moreau, prox of ``t h`` at v = v - t P_K(v / t). Three optional methods make solves faster:
    ``prox_jacobian`` and ``prox_curvature`` (Newton steps of the corrective method), ``rescale`` (row equilibration).

    See Also
    --------
    ConvexLoss, unipd.protocols.Coupling, unipd.doctor.check_coupling

    Examples
    --------
    A user-supplied set, the line {r : r_1 = r_2 = ...}:

    >>> from unipd.couplings.base import domain_rounding
    >>> class Diagonal(ConvexSet):
    ...     def project(self, vector):
    ...         return np.full_like(vector, vector.mean())
    ...     def conjugate(self, dual):
    ...         return 0.0 if abs(dual.sum()) <= domain_rounding(dual) else np.inf
    >>> Diagonal().prox_conjugate(np.array([1.0, 3.0]), 0.5)
    array([-1.,  1.])
    """

    @property
    def is_loss(self) -> bool:
        """A set constrains; it is not a finite loss."""
        return False

    @property
    def conjugate_degree(self) -> float | None:
        """Support functions are positively homogeneous of degree 1."""
        return 1.0

    @abstractmethod
    def project(self, vector: Array) -> Array:
        """Return the nearest point of K."""

    @abstractmethod
    def conjugate(self, dual: Array) -> float:
        """Return h(lam) = sup over r in K of <lam, r>."""

    def distance(self, residual: Array) -> float:
        """Return dist(r, K)."""
        return norm(residual - self.project(residual))

    def value(self, residual: Array) -> float:
        """Return 0 inside K (up to rounding), inf outside."""
        relative = max(FEASIBILITY_ROUNDING, rounding_of(residual))
        return 0.0 if self.distance(residual) <= relative * max(1.0, norm(residual)) else math.inf

    def prox(self, vector: Array, step: float) -> Array:
        """Return the projection, whatever the step."""
        return self.project(vector)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return prox of ``step * h`` at v by Moreau's identity."""
        scale = float(step)
        return vector - scale * self.project(vector / scale)


class ConvexLoss(CouplingBase):
    """A finite convex loss phi, used through its prox form or the paper's slack split.

    See Also
    --------
    ConvexSet, BoundedSlackLoss, unipd.protocols.Loss

    Examples
    --------
    A user-supplied loss, phi(r) = ||r||^2 / 2 + <r, 1>; the prox of the conjugate follows by Moreau:

    >>> class Tilted(ConvexLoss):
    ...     def value(self, residual):
    ...         return float(np.sum(residual**2 / 2 + residual))
    ...     def gradient(self, residual):
    ...         return residual + 1
    ...     def curvature(self):
    ...         return 1.0
    ...     def conjugate(self, dual):
    ...         return float(np.sum((dual - 1) ** 2) / 2)
    ...     def slack(self, dual):
    ...         return dual - 1, self.conjugate(dual)
    ...     def prox(self, vector, step):
    ...         return (vector - step) / (1 + step)
    >>> Tilted().prox_conjugate(np.array([3.0]), 1.0)
    array([2.])
    """

    @property
    def is_loss(self) -> bool:
        """Every x in X is feasible."""
        return True

    @property
    def conjugate_degree(self) -> float | None:
        """Not homogeneous unless a subclass knows better."""
        return None

    cancellation: float = 0.0
    """Size of the terms that cancel in a value: its rounding error is relative to this where that is more."""

    @property
    def splittable(self) -> bool:
        """Whether the slack split is possible: by default if the class defines :meth:`slack`."""
        return type(self).slack is not ConvexLoss.slack

    @property
    def is_differentiable(self) -> bool:
        """Whether phi has a gradient wherever it is finite: by default where that is Lipschitz continuous."""
        return math.isfinite(self.curvature())

    @property
    def has_prox_jacobian(self) -> bool:
        """Whether the derivative of the prox is known; differences will do for a differentiable loss."""
        return self.is_differentiable or self.prox_jacobian != MethodType(CouplingBase.prox_jacobian, self)

    @abstractmethod
    def value(self, residual: Array) -> float:
        """Return phi(r)."""

    @abstractmethod
    def gradient(self, residual: Array) -> Array:
        """Return a (sub)gradient of phi at r."""

    def gradient_jacobian(self, residual: Array, directions: Array) -> Array:
        """Return H C for an element H of the generalised Jacobian of the gradient at r; by default from differences.

        Parameters
        ----------
        residual
            The point r.
        directions
            C, a column per direction.
        """
        return finite_differences(self.gradient, residual, directions)

    @abstractmethod
    def curvature(self) -> float:
        """Return a Lipschitz constant of the gradient (inf when nonsmooth)."""

    @abstractmethod
    def conjugate(self, dual: Array) -> float:
        """Return phi^*(lam)."""

    def slack(self, dual: Array) -> tuple[Array, float]:
        """Return the maximiser r of <lam, r> - phi(r) over the slack block and the maximum.

        Optional: without it the loss enters through its prox (see ``split`` of :class:`~unipd.Problem`).
        """
        raise NotImplementedError(f"{type(self).__name__} defines no slack block")

    @abstractmethod
    def prox(self, vector: Array, step: float) -> Array:
        """Return argmin_r phi(r) + ||r - v||^2 / (2 step)."""

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return prox of ``step * phi^*`` by Moreau's identity."""
        scale = float(step)
        return vector - scale * self.prox(vector / scale, 1.0 / scale)

    def distance(self, residual: Array) -> float:
        """Return 0: a loss excludes nothing."""
        return 0.0


DIFFERENCE = 1e-7
"""Length of a finite difference relative to the vector: about the square root of eps, where both errors balance."""


def finite_differences(function: Callable[[Array], Array], vector: Array, directions: Array) -> Array:
    """Return the directional derivatives of a map at a vector by one-sided differences, one column per direction.

    >>> finite_differences(lambda v: v**2, np.array([1.0, 3.0]), np.eye(2)).round(5)
    array([[2., 0.],
           [0., 6.]])
    """
    base = function(vector).reshape(-1)
    out = np.empty_like(directions)
    size = DIFFERENCE * max(1.0, norm(vector))
    for place in range(directions.shape[1]):
        column = directions[:, place]
        length = norm(column)
        step = size / length if length > 0 else 1.0
        moved = function(vector + step * column.reshape(vector.shape))
        out[:, place] = (moved.reshape(-1) - base) / step
    return out


_LARGEST_FACTOR = 2.0**500
"""Rows are scaled by no more than this, so that products of two factors stay within the floating-point range."""


def power_of_two(values: Array) -> FloatArray:
    """Return the nearest powers of two, by which numbers are multiplied without rounding; 1 for 0.

    >>> power_of_two(np.array([3.0, 0.0, 0.4]))
    array([4. , 1. , 0.5])
    """
    return np.exp2(np.round(np.log2(1.0 / row_factors(values))))


def row_factors(norms: FloatArray) -> FloatArray:
    """Return a factor for each row that brings its norm to 1; 1 for a row of zeros.

    >>> row_factors(np.array([10.0, 0.5, 0.0]))
    array([0.1, 2. , 1. ])
    """
    positive = np.where(norms > 0, norms, 1.0).astype(np.float64)
    return 1.0 / np.clip(positive, 1.0 / _LARGEST_FACTOR, _LARGEST_FACTOR)


def common_factor(norms: FloatArray) -> FloatArray:
    """Return one factor for all rows, from the median of the norms that are not zero.

    >>> common_factor(np.array([8.0, 0.5, 0.0, 2.0]))
    array([0.5, 0.5, 0.5, 0.5])
    """
    present = np.sort(norms[norms > 0])
    middle = present[(present.size - 1) // 2 :][:1]  # one of the norms: a power of two if they are
    return np.full(norms.shape, row_factors(middle)[0] if present.size else 1.0)


class AdaptedCoupling(Adapted):
    """A user-supplied coupling that derives from neither base class, with the defaults of what it lacks."""

    def __init__(self, part: Coupling) -> None:
        super().__init__(part)
        self.defaults = ConvexLoss if part.is_loss else ConvexSet


def as_coupling(coupling: Coupling) -> Any:
    """Return a coupling with all its optional members.

    >>> from unipd.couplings import Equality
    >>> as_coupling(Equality()).is_equality
    True
    """
    return coupling if isinstance(coupling, (CouplingBase, AdaptedCoupling)) else AdaptedCoupling(coupling)


def require_real(name: str, dtype: np.dtype[Any]) -> None:
    """Raise when a coupling that orders numbers is given complex ones.

    >>> require_real("a box", np.dtype(float))
    """
    if dtype.kind == "c":
        raise InvalidInput("b", f"real data with {name}", f"dtype {dtype}")


def require_like(name: str, array: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise unless an array that a coupling holds can be added to vectors of this shape and dtype.

    >>> require_like("shift", np.ones(2), (2,), np.dtype(float))
    """
    if array.shape != shape:
        raise InvalidInput(name, f"shape {shape}", f"shape {array.shape}")
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise InvalidInput(name, "real numbers (the data is real)", "complex numbers")


def require_shape(name: str, vector: Array, shape: tuple[int, ...]) -> None:
    """Raise unless a vector has the shape that a coupling holds numbers for; a comparison of tuples, no pass.

    >>> require_shape("vector", np.ones(2), (2,))
    """
    if vector.shape != shape:
        raise InvalidInput(name, f"shape {shape}", f"shape {vector.shape}")


class BoundedSlackLoss(ConvexLoss):
    """A separable loss phi(r) = sum_i phi_i(r_i) with a slack block {|r_i| <= slack_radius}.

    phi^* is infinite outside a bounded set, so it cannot join g as it stands. Over the bounded block

        max over |r_i| <= R of <lam, r> - phi(r)

    is finite for every lam, attained (phi being separable and convex) at the unrestricted maximiser cut down to
    R entry by entry, and equal to phi^*(lam) exactly where that maximiser fits. Weak duality then bounds the
    problem with |A x - b| <= R, which is the original one as soon as an optimal residual fits: choose R no less
    than the largest |A x - b| that matters, for instance its maximum over X.

    Parameters
    ----------
    slack_radius
        R > 0, or None when the loss will be used in its prox form only.

    Raises
    ------
    InvalidInput
        ``slack_radius``: expected a number above zero.

    See Also
    --------
    ConvexLoss, Huber, Absolute

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.couplings import Absolute
    >>> Absolute(slack_radius=2.0).slack(np.array([0.5, 3.0]))
    (array([0., 2.]), 4.0)
    """

    def __init__(self, slack_radius: float | None = None) -> None:
        self.slack_radius = None if slack_radius is None else validate.positive("slack_radius", slack_radius)

    @property
    def splittable(self) -> bool:
        """Whether a slack radius was given."""
        return self.slack_radius is not None

    def slack(self, dual: Array) -> tuple[Array, float]:
        """Return the maximiser r of <lam, r> - phi(r) over |r_i| <= R and the maximum."""
        if self.slack_radius is None:
            raise InvalidInput("slack_radius", "a number above zero for the slack split", "None")
        maximiser = self._maximiser(dual, self.slack_radius)
        return maximiser, inner(dual, maximiser) - self.value(maximiser)

    @abstractmethod
    def _maximiser(self, dual: Array, radius: float) -> Array:
        """Return the maximiser of <lam, r> - phi(r) over |r_i| <= radius."""
