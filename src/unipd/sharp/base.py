"""What sharp oracles share: a set has a maximiser (LMO) and membership, an objective also f; oracles around others."""

from __future__ import annotations

import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, IntArray, Shape
from unipd._util import validate
from unipd._util.arrays import dot, rounding_of
from unipd._util.printing import ReprMixin
from unipd.errors import InvalidInput, OracleError
from unipd.protocols import Adapted, OracleDefaults, SharpAnswer, SharpOracle, unwrap


def _at_least_rounding(contains: Callable[..., bool]) -> Callable[..., bool]:
    """Return a membership test whose tolerance is at least the rounding of the point."""

    @wraps(contains)
    def tolerant(self: Any, x: Any, tolerance: float = 1e-9) -> bool:
        return contains(self, x, max(tolerance, rounding_of(x)))

    return tolerant


class Membership:
    """Base whose subclasses' ``contains`` allows at least 64 eps of the point's dtype."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = vars(cls).get("contains")
        if own is not None:
            type.__setattr__(cls, "contains", _at_least_rounding(own))


_REQUIRED = ("shape", "exact", "degree", "linear", "value", "objective", "support", "contains", "maximum")
"""Members that every sharp oracle has besides ``__call__``."""


def as_shape(shape: int | Shape, name: str = "shape") -> Shape:
    """Return a length or a shape as a tuple of positive ints, or raise with the name of the caller's argument.

    >>> as_shape(3), as_shape((2, 5))
    ((3,), (2, 5))
    """
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else shape
    if not isinstance(sizes, (tuple, list)) or not sizes:
        raise InvalidInput(name, "an integer or a tuple of integers", repr(shape))
    checked = tuple(validate.integer(name, size, minimum=1) for size in sizes)
    if math.prod(checked) >= 2**62:
        raise InvalidInput(name, "a size that an array can have", repr(shape))
    return checked


def require_oracle(name: str, value: Any) -> Any:
    """Return ``value`` when it has every required member of :class:`~unipd.protocols.SharpOracle`, or raise.

    >>> from unipd.sharp import Simplex
    >>> require_oracle("sharp", Simplex(2)).shape
    (2,)
    """
    if not callable(value):
        raise InvalidInput(name, "a sharp oracle", validate.describe_type(value))
    validate.has_parts(name, value, "a sharp oracle", _REQUIRED)
    return value


def wrong_form(atom: Any, shape: Shape) -> OracleError:
    """Return the error for a maximiser that is not of the shape of x.

    >>> wrong_form([1.0, 2.0], (2,))
    OracleError('the sharp oracle must return points of shape (2,), not list')
    """
    form = getattr(atom, "shape", type(atom).__name__)
    return OracleError(f"the sharp oracle must return points of shape {shape}, not {form}")


class Sharp(Membership, ReprMixin, OracleDefaults, ABC):
    """Base of the sharp oracles over arrays: [y]^# = argmax over x in X of <y, x> - f(x).

    With f = 0 this is the linear minimization oracle (LMO) of X at -y. The defaults describe an exact oracle of a
    bounded set with f = 0, so that a set needs two methods, :meth:`maximiser` and :meth:`contains`.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.

    See Also
    --------
    SharpFunction, SharpSet, from_callable, unipd.protocols.SharpOracle

    Examples
    --------
    >>> import numpy as np
    >>> class Interval(Sharp):
    ...     def maximiser(self, direction): return np.where(direction > 0, 1.0, 0.0)
    ...     def contains(self, x, tolerance=1e-9): return bool(np.all((x >= -tolerance) & (x <= 1.0 + tolerance)))
    >>> Interval(3)(np.array([2.0, -1.0, 3.0])).value
    5.0
    """

    takes_operators: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Withdraw inherited descriptions of X from a class with its own maximiser: X may be another set."""
        super().__init_subclass__(**options)
        if vars(cls).keys() & {"maximiser", "__call__"}:
            for name in {"best_vertices", "coordinates", "equations"} - vars(cls).keys():
                setattr(cls, name, getattr(OracleDefaults, name))

    def __init__(self, shape: int | Shape) -> None:
        self._shape: Shape = as_shape(shape)

    @property
    def shape(self) -> Shape:
        """Shape of x."""
        return self._shape

    @property
    def size(self) -> int:
        """Number of entries of x."""
        return math.prod(self._shape)

    @property
    def exact(self) -> bool:
        """Exact up to rounding."""
        return True

    @property
    def degree(self) -> float | None:
        """Degree of homogeneity of the conjugate: 1 for a set with f = 0."""
        return 1.0

    @property
    def linear(self) -> bool:
        """Whether f is linear on X."""
        return True

    @abstractmethod
    def maximiser(self, direction: Array) -> Any:
        """Return an atom x maximising <y, x> - f(x) over X."""

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return a maximiser of <y, x> - f(x) with its value and f."""
        y = self._validate_direction(direction)
        atom = self.maximiser(y)
        if getattr(atom, "shape", None) != self._shape:
            raise wrong_form(atom, self._shape)
        cost = self.objective(atom)
        return SharpAnswer(atom, atoms.inner_product(y, atom) - cost, cost)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the maximum (with the maximiser, unless a subclass knows something cheaper)."""
        return self(direction, tolerance=tolerance, start=start)

    def objective(self, x: Any) -> float:
        """Return f(x): zero for a bare set."""
        form = getattr(x, "shape", None)
        if form != self._shape and np.shape(x) != self._shape:
            raise InvalidInput(
                "x", f"shape {self._shape}", validate.describe_type(x) if form is None else f"shape {form}"
            )
        return 0.0

    def support(self, direction: Any) -> float:
        """Return sup over X of <y, x>; for f = 0 this is the oracle's own value."""
        return self.value(direction).value

    @abstractmethod
    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in X, up to the tolerance or 64 eps of the dtype of x, whichever is larger."""

    def maximum(self) -> float:
        """Return an upper bound on f over X: zero for a bare set."""
        return 0.0

    def _validate_direction(self, direction: Any) -> Array:
        """Return the direction as a finite floating array of the right shape, or raise."""
        is_plain = (
            type(direction) is np.ndarray and direction.shape == self._shape and direction.dtype in validate.PRECISIONS
        )
        is_valid = is_plain and math.isfinite(dot(direction, direction).real)  # else validated, and named, below
        y = direction if is_valid else validate.finite_array("direction", direction, shape=self._shape)
        if self.real_only and y.dtype.kind == "c":
            raise InvalidInput("direction", f"real numbers ({type(self).__name__} is a set of real points)", "complex")
        return y

    def _point(self, x: Any) -> Array | None:
        """Return x as an array, or None when its shape, its dtype or a NaN rules membership out."""
        point = atoms.as_array(x)
        if point.shape != self._shape or point.dtype.kind not in "biufc" or not np.isfinite(point).all():
            return None
        return None if self.real_only and point.dtype.kind == "c" else point


class SharpSet(Sharp):
    """Base of the bounded sets (f = 0) whose support function is cheaper than a maximiser.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.

    See Also
    --------
    Sharp, NormBall

    Examples
    --------
    >>> import numpy as np
    >>> class Segment(SharpSet):
    ...     def maximiser(self, direction): return np.full(2, 1.0 if direction.sum() > 0 else -1.0)
    ...     def peak(self, direction): return abs(float(direction.sum()))
    ...     def contains(self, x, tolerance=1e-9): return abs(x[0] - x[1]) <= tolerance and abs(x[0]) <= 1.0 + tolerance
    >>> Segment(2).support(np.array([1.0, -3.0]))
    2.0
    """

    @abstractmethod
    def peak(self, direction: Array) -> float:
        """Return max over X of <y, x> for a checked direction, without a maximiser."""

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the maximum alone."""
        return SharpAnswer(None, self.peak(self._validate_direction(direction)), 0.0)

    def support(self, direction: Any) -> float:
        """Return max over X of <y, x>."""
        return self.peak(self._validate_direction(direction))


class SharpFunction(Sharp):
    """Base of oracles whose f is neither zero nor linear on X; X defaults to the whole space.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.

    See Also
    --------
    Sharp, SharpSet, PowerNorm

    Examples
    --------
    f(x) = ||x||^2 / 2, whose sharp operator is the identity:

    >>> import numpy as np
    >>> class Half(SharpFunction):
    ...     degree = 2.0
    ...     def objective(self, x): return 0.5 * float(x @ x)
    ...     def maximiser(self, direction): return direction
    >>> Half(2)(np.array([3.0, 4.0])).value
    12.5
    """

    @property
    def degree(self) -> float | None:
        """Not homogeneous unless a subclass knows better."""
        return None

    @property
    def linear(self) -> bool:
        """F is not linear."""
        return False

    @abstractmethod
    def objective(self, x: Any) -> float:
        """Return f(x)."""

    def support(self, direction: Any) -> float:
        """Return the support function of the whole space: 0 at 0 and inf elsewhere."""
        return math.inf if np.any(self._validate_direction(direction)) else 0.0

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x has the right shape and is finite: X is the whole space."""
        return self._point(x) is not None

    def maximum(self) -> float:
        """Return inf: f is unbounded on the whole space."""
        return math.inf


def largest_above(scores: Array, count: int, least: float) -> IntArray:
    """Return the places of the largest entries above ``least`` in descending order, the first among equals first.

    >>> largest_above(np.array([1.0, 3.0, 1.0, 2.0]), 2, 0.0)
    array([1, 3])
    """
    places = np.flatnonzero(scores > least)
    if count < places.size:
        chosen = np.argpartition(-scores[places], count - 1)[:count]
        places = np.sort(places[chosen])
    return places[np.argsort(-scores[places], kind="stable")]


class AdaptedOracle(Adapted):
    """A user-supplied oracle that derives from no class of this library, with the defaults of what it lacks."""

    defaults = OracleDefaults

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Call the oracle."""
        return self.part(direction, tolerance=tolerance, start=start)


def as_oracle(name: str, value: Any) -> Any:
    """Return a sharp oracle with all its optional members (:class:`~unipd.protocols.OracleDefaults`), or raise.

    >>> from unipd.sharp import Simplex
    >>> as_oracle("sharp", Simplex(2)).factors() is None
    True
    """
    oracle = require_oracle(name, value)
    return oracle if isinstance(oracle, (OracleDefaults, AdaptedOracle, Wrapper)) else AdaptedOracle(oracle)


_Forwarded = SharpOracle if TYPE_CHECKING else object


class Wrapper(_Forwarded):
    """An oracle that forwards every member to the one it holds.

    Examples
    --------
    An oracle that counts its calls:

    >>> import numpy as np
    >>> from unipd.sharp import Simplex
    >>> class Counting(Wrapper):
    ...     calls = 0
    ...     def __call__(self, direction, **options):
    ...         self.calls += 1
    ...         return super().__call__(direction, **options)
    >>> counting = Counting(Simplex(3))
    >>> counting(np.ones(3)).value, counting.calls
    (1.0, 1)
    """

    def __init__(self, oracle: SharpOracle) -> None:
        self.oracle: OracleDefaults = as_oracle("oracle", oracle)

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The oracle inside."""
        return (self.oracle,)

    @property
    def checkpoint_identity(self) -> Any:
        """None: the wrapper itself."""
        return None

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Call the oracle."""
        return self.oracle(direction, tolerance=tolerance, start=start)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the oracle's maximum."""
        return self.oracle.value(direction, tolerance=tolerance, start=start)

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return an answer with the oracle's strongest certificate."""
        return self.oracle.call_certified(direction, tolerance=tolerance, start=start)

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return None: a wrapper may change the answers, and with them the vertices."""
        return None

    def equations(self, places: Any) -> Any:
        """Return None: a wrapper may change the set."""
        return None

    def factors(self) -> Any:
        """Return None: a wrapper may change the set."""
        return None

    def __getattr__(self, name: str) -> Any:
        if name == "oracle":  # not set yet, as when unpickling
            raise AttributeError(name)
        return getattr(self.oracle, name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.oracle!r})"


class Counted(Wrapper):
    """An oracle with counters of its calls and of the seconds spent in them; its answers do not change.

    Parameters
    ----------
    oracle
        A sharp oracle, see :mod:`unipd.sharp`.

    See Also
    --------
    unipd.methods.Counts, from_callable

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.sharp import Simplex
    >>> counted = Counted(Simplex(3))
    >>> counted(np.zeros(3)).value, counted.value(np.ones(3)).value
    (0.0, 1.0)
    >>> counted.calls, counted.value_calls
    (1, 1)
    """

    def __init__(self, oracle: SharpOracle) -> None:
        super().__init__(oracle)
        self.reset()
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Set the counters to zero."""
        self.calls = 0
        self.value_calls = 0
        self.seconds = 0.0

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Call the oracle and count the call."""
        with self._counting(calls=1):
            return super().__call__(direction, tolerance=tolerance, start=start)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the oracle's maximum and count the call."""
        with self._counting(value_calls=1):
            return super().value(direction, tolerance=tolerance, start=start)

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return an answer with the oracle's strongest certificate and count the call; see :meth:`value`."""
        with self._counting(calls=1):
            return super().call_certified(direction, tolerance=tolerance, start=start)

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return the oracle's best vertices; see :meth:`unipd.protocols.OracleDefaults.best_vertices`."""
        return self.oracle.best_vertices(direction, count, above)

    def equations(self, places: Any) -> Any:
        """Return the oracle's equations."""
        return self.oracle.equations(places)

    def factors(self) -> Any:
        """Return the oracle's factored form."""
        return self.oracle.factors()

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    @contextmanager
    def _counting(self, calls: int = 0, value_calls: int = 0) -> Generator[None, None, None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            with self._lock:
                self.calls += calls
                self.value_calls += value_calls
                self.seconds += time.perf_counter() - began


def unwrap_counter(oracle: Any) -> Any:
    """Return an oracle without the counter or the adapter around it.

    >>> from unipd.sharp import Simplex
    >>> unwrap_counter(Counted(Simplex(3)))
    Simplex(size=3, scale=1)
    """
    return unwrap_counter(oracle.oracle) if type(oracle) is Counted else unwrap(oracle)
