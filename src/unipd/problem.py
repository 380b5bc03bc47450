"""The template: minimise f(x) over x in X subject to A x - b in K, or plus a loss phi(A x - b).

What its gaps and violations are relative to is in :mod:`unipd.scales`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import EPS, norm, precision
from unipd.couplings import AtLeast, AtMost, Equality
from unipd.couplings.base import ConvexLoss, CouplingBase, as_coupling
from unipd.errors import InvalidInput
from unipd.maps import as_map
from unipd.protocols import (
    Coupling,
    Loss,
    MapDefaults,
    OracleDefaults,
    SharpOracle,
    is_user_supplied,
    unwrap,
)
from unipd.scales import Scales
from unipd.sharp import Product
from unipd.sharp.base import as_oracle

_RELATIONS = {"=": Equality, "==": Equality, "<=": AtMost, ">=": AtLeast}


class Problem(Scales):
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
        self.norm_b = self._norm_of_right_hand_side()
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

    def _norm_of_right_hand_side(self) -> float:
        size = norm(self.b)
        if not math.isfinite(size):
            raise InvalidInput("b", "a finite ||b||^2 (rescale A and b)", "an overflow")
        if size**2 < sys.float_info.min and self.b.any():  # else nothing would be left of any violation
            expected = "zero, or a ||b||^2 within the floating-point range (rescale A and b)"
            raise InvalidInput("b", expected, "an underflow")
        return size

    def _loss_at_zero(self) -> float:
        value = max(self.coupling.penalty(-self.b), 0.0) if self.has_penalty else 0.0
        return value if math.isfinite(value) else 0.0

    def _choose_split(self, split: bool | None) -> bool:
        possible = self.loss is not None and self.loss.splittable
        if split is not None:
            validate.flag("split", split)
        if split and not possible:
            expected = "False, or a loss with a slack block (set slack_radius, or define slack)"
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

    def truncate(self, size: float) -> Problem:
        """Return the problem over the points of X up to a size, for bounds that hold for those only."""
        raise ValueError(f"a bound for points of size {size:g} at most, which this set does not define")

    def __repr__(self) -> str:
        names = [type(unwrap(part)).__name__ for part in (self.sharp, self.map, self.coupling)]
        form = ", split" if self.split else ""
        return f"Problem({names[0]}, {names[1]}, n={self.b.size}, {names[2]}{form})"


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
