"""The template: minimise f(x) over x in X subject to A x - b in K, or plus a loss phi(A x - b)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.couplings import AtLeast, AtMost, Equality, LeastSquares
from unipd.errors import InvalidInput
from unipd.maps import BlockMap, as_map
from unipd.protocols import Coupling, LinearMap, Loss, SharpOracle, norm
from unipd.sharp import Product
from unipd.sharp.base import require_oracle

_RELATIONS = {"=": Equality, "==": Equality, "<=": AtMost, ">=": AtLeast}


class Problem:
    """min { f(x) : x in X, A x - b in K }, the paper's template (1), or min f(x) + phi(A x - b).

    Parameters
    ----------
    sharp
        The sharp oracle of (f, X), or a list of oracles for several blocks.
    A
        The linear map: a NumPy array, a SciPy sparse matrix, a ``LinearOperator`` or PyLops operator,
        one of ``unipd.maps``, or a list with one a block. Never made dense. It is referred to, not copied (it may
        be most of the memory): do not change it while the problem is in use.
    b
        The right-hand side; copied.
    coupling
        The set K or the loss phi: an object of ``unipd.couplings``, or "=", "<=", ">=" for A x = b, ...
    split
        How a loss enters: True for the paper's slack split (phi^* joins g), False for the prox form
        (phi^* stays in h). Default: the split where the loss allows it.

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
        self.sharp: SharpOracle = oracle
        self.map: LinearMap = as_map(A, oracle.shape)
        _check_domain(self.map.domain, oracle.shape)
        _check_reality(oracle, self.map)
        self.coupling = _as_coupling(coupling)
        self.b = self._right_hand_side(b)
        self.coupling.check(self.b.shape, self.b.dtype)
        self.loss: Loss | None = _as_loss(self.coupling)
        self.split = self._choose_split(split)
        self.norm_b = norm(self.b)
        if not math.isfinite(self.norm_b):
            raise InvalidInput("b", "numbers with finite squares (divide A and b by a common factor)", "larger ones")
        self.epsilon = float(np.finfo(self.b.dtype).eps)
        self.loss_at_zero = max(self.loss.value(-self.b), 0.0) if self.loss else 0.0
        """phi(-b), the scale of gaps; 0 for a constraint."""
        self.rounding = self.epsilon * math.sqrt(self.b.size)
        """What rounding makes of an inner product, as a share of the two norms."""
        self.degrees = (self.sharp.degree, self.coupling.conjugate_degree)
        self.on_rays = all(degree in (1.0, 2.0) for degree in self.degrees)
        """Whether both degrees are such that the bound along a ray has its maximum in closed form."""
        self.slack_radius: float | None = getattr(self.loss, "slack_radius", None) if self.split else None
        self.exact = self.sharp.exact
        """Whether the oracle's answers are exact up to rounding."""
        self.linear = self.sharp.linear
        """Whether f is linear (or zero) on X."""
        self.free_dual = self.split or isinstance(self.coupling, Equality)
        """Whether h = 0, so that the dual variable moves freely: K = {0} or the slack split."""
        self.inverse = self._inverse()
        """1/c of the loss (c/2) ||r||^2 in the slack split, 0 for K = {0}, so that grad g = b - A x^* + inverse * lam;
        None elsewhere."""

    def _right_hand_side(self, b: Any) -> Array:
        vector = validate.finite_array("b", b, shape=self.map.codomain)
        if vector.dtype.kind == "c" and self.map.dtype.kind != "c":
            raise InvalidInput("b", "real numbers (the map A is real)", "complex numbers")
        with np.errstate(over="ignore"):
            cast = np.array(vector, dtype=np.result_type(self.map.dtype, np.float32))
        if not np.isfinite(cast).all():
            raise InvalidInput("b", f"numbers within the range of {cast.dtype}, the precision of A", "larger ones")
        return cast

    def _choose_split(self, split: bool | None) -> bool:
        possible = self.loss is not None and self.loss.splittable
        if split is not None:
            validate.flag("split", split)
        if split and not possible:
            expected = "a loss with a bounded slack block (give it slack_radius)"
            raise InvalidInput("split", expected, type(self.coupling).__name__)
        return possible if split is None else split

    @property
    def dual_shape(self) -> tuple[int, ...]:
        """Shape of the dual vector, that of b."""
        return self.b.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the dual vector."""
        return self.b.dtype

    def _inverse(self) -> float | None:
        if type(self.coupling) is LeastSquares and self.split:
            return 1.0 / self.coupling.scale
        return 0.0 if type(self.coupling) is Equality else None

    def scale(self, objective: float) -> float:
        """Return what gaps are divided by: phi(-b) for a loss, max(1, |objective|) for a constraint."""
        return self.loss_at_zero if self.loss_at_zero > 0 else max(1.0, abs(objective))

    def __repr__(self) -> str:
        names = [type(part).__name__ for part in (self.sharp, self.map, self.coupling)]
        form = ", split" if self.split else ""
        return f"Problem({names[0]}, {names[1]}, n={self.b.size}, {names[2]}{form})"


def _as_oracle(sharp: Any) -> Any:
    """Return one oracle, of a product for a list; what is wrong with the list is said of ``sharp``."""
    if not isinstance(sharp, (list, tuple)):
        return require_oracle("sharp", sharp)
    try:
        return require_oracle("sharp", Product(sharp))
    except InvalidInput as error:
        raise InvalidInput("sharp", error.expected, error.got) from error


def _check_domain(domain: Any, shape: Any) -> None:
    if domain != shape:
        raise InvalidInput("A", f"a map of points of shape {shape}", f"a map of shape {domain}")


def _check_reality(oracle: SharpOracle, linear_map: LinearMap) -> None:
    """Raise when a set of real points meets a complex map, block by block."""
    if isinstance(oracle, Product) and isinstance(linear_map, BlockMap):
        for block, part in zip(oracle.oracles, linear_map.maps, strict=True):
            _check_reality(block, part)
    elif linear_map.dtype.kind == "c" and getattr(oracle, "real_only", False):
        stack = "stack the real and the imaginary part of A, and of b, as rows"
        raise InvalidInput("A", f"a real map, since {type(oracle).__name__} has real points ({stack})", "a complex one")


def _as_loss(coupling: Coupling) -> Loss | None:
    return coupling if coupling.is_loss and isinstance(coupling, Loss) else None


def _as_coupling(coupling: Coupling | str) -> Coupling:
    if isinstance(coupling, str):
        if coupling not in _RELATIONS:
            raise InvalidInput("coupling", 'one of "=", "<=", ">=" or a coupling', repr(coupling))
        return _RELATIONS[coupling]()
    if isinstance(coupling, type) or not isinstance(coupling, Coupling):
        raise InvalidInput("coupling", "a set or loss of unipd.couplings", validate.described(coupling))
    return coupling
