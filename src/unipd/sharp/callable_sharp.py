"""A user-supplied function as a sharp oracle, with checks of what it returns and of what is claimed about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Shape
from unipd._util import validate
from unipd._util.arrays import real_dtype, rounding_of
from unipd.errors import InvalidInput, OracleError, UnboundedOracle
from unipd.protocols import SharpAnswer
from unipd.sharp.base import Sharp, wrong_form

_AGREEMENT = 1e-6
"""Relative difference up to which an answer may differ from what it says of itself."""


def check_traits(traits: dict[str, Any]) -> None:
    """Raise unless the properties given with the function have the right types; None means unknown.

    >>> check_traits({"degree": 1.0, "contains": None, "exact": True})
    """
    for name, value in traits.items():
        if name in ("exact", "real_only", "strictly_convex") or (name == "linear" and value is not None):
            validate.flag(name, value)
        elif name in ("objective", "contains", "support"):
            if value is not None and not callable(value):
                raise InvalidInput(name, "something to call", repr(value))
        elif value is not None and not (name == "maximum" and value == math.inf):
            known = validate.number(name, value)
            if name == "degree" and known < 1.0:
                raise InvalidInput(name, "at least 1, as the degree of a convex function is", repr(value))


def floating_atom(atom: Any, dtype: np.dtype[Any]) -> Any:
    """Return lists and arrays as floating arrays of the direction's precision, everything else as it is.

    >>> floating_atom([1, 0], np.dtype(np.float32)).dtype
    dtype('float32')
    """
    if not isinstance(atom, (list, tuple, np.ndarray)):
        return atom
    try:
        array = np.asarray(atom)
        kind = np.result_type(dtype, np.complex64) if array.dtype.kind == "c" else real_dtype(dtype)
        return array.astype(kind, copy=False)
    except (TypeError, ValueError) as error:
        raise OracleError(f"the sharp oracle must return an array of numbers: {error}") from error


def check_claims(y: Any, answer: SharpAnswer, cost: float) -> None:
    """Raise unless what a whole answer says is true of its point, where f is ``cost``; operators y are not applied.

    >>> check_claims(np.array([2.0, 1.0]), SharpAnswer(np.array([1.0, 0.0]), 2.0, 0.0), 0.0)
    """
    if abs(answer.objective - cost) > _AGREEMENT * max(1.0, abs(cost)):
        raise OracleError(f"the sharp oracle says f(x) = {answer.objective}, its objective says {cost}")
    if answer.value == math.inf:
        raise UnboundedOracle("the sharp oracle says that <y, x> - f(x) is unbounded above over X")
    if not answer.error >= 0.0:
        raise OracleError(f"the sharp oracle says that its error is {answer.error}, expected a number >= 0")
    if not isinstance(y, np.ndarray):
        return
    value, size = atoms.inner_product(y, answer.atom) - cost, atoms.inner_product(np.abs(y), _magnitudes(answer.atom))
    slack = max(_AGREEMENT, rounding_of(y)) * max(1.0, size, abs(cost))
    if abs(value - answer.value) > slack:
        raise OracleError(
            f"the sharp oracle says that <y, x> - f(x) is {answer.value} at its point, where it is {value}"
        )


def _magnitudes(atom: Any) -> Any:
    """Return the point with the absolute values of its entries."""
    if isinstance(atom, atoms.SparsePoint):
        return replace(atom, values=np.abs(atom.values))
    return np.abs(atoms.dense(atom))


class CallableSharp(Sharp):
    """The oracle that :func:`from_callable` makes."""

    takes_operators = True
    runs_user_code = True

    def __init__(
        self,
        function: Callable[[Any], Any],
        shape: int | Shape,
        objective: Callable[[Any], float] | None,
        traits: dict[str, Any],
    ) -> None:
        super().__init__(shape)
        if not callable(function):
            raise InvalidInput("function", "something to call", repr(function))
        check_traits({"objective": objective, **traits})
        self._function = function
        self._objective = objective
        self._traits = traits
        self.real_only = bool(traits["real_only"])
        self.is_strictly_convex = bool(traits["strictly_convex"])
        self.has_membership_test = traits["contains"] is not None

    @property
    def exact(self) -> bool:
        """As the user said."""
        return bool(self._traits["exact"])

    @property
    def degree(self) -> float | None:
        """As the user said; by default 1 for a bare set and None otherwise."""
        given = self._traits["degree"]
        return 1.0 if given is None and self._objective is None else given

    @property
    def linear(self) -> bool:
        """As the user said; by default whether there is no objective."""
        given = self._traits["linear"]
        return self._objective is None if given is None else bool(given)

    def maximiser(self, direction: Any) -> Any:
        """Return the user's atom."""
        return self(direction).atom

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Call the function; what it returns must have the shape of x."""
        y = self._validate_direction(direction)
        found = self._function(y.copy() if isinstance(y, np.ndarray) else y)  # the function may work in its argument
        atom = floating_atom(found.atom if isinstance(found, SharpAnswer) else found, np.dtype(y.dtype))
        if getattr(atom, "shape", None) != self.shape:
            raise wrong_form(atom, self.shape)
        if not isinstance(atom, (np.ndarray, atoms.SparsePoint, atoms.LowRank)):
            kind = type(atom).__name__
            raise OracleError(f"the sharp oracle must return an array or an atom of unipd.atoms, not a {kind}")
        if np.dtype(atom.dtype).kind == "c" and np.dtype(y.dtype).kind != "c":
            raise OracleError("the sharp oracle must return real points for a real direction, not complex ones")
        if isinstance(atom, np.ndarray) and np.isinf(atom).any():
            message = "the sharp oracle returned a point at infinity: <y, x> - f(x) is unbounded over X"
            raise UnboundedOracle(message, atom)
        atom = atom.copy() if isinstance(atom, np.ndarray) else atom  # the function may use its buffer again
        answer = replace(found, atom=atom) if isinstance(found, SharpAnswer) else self._answer(y, atom)
        if isinstance(found, SharpAnswer):
            check_claims(y, answer, self.objective(atom))
        if not math.isfinite(answer.value):
            at_zero = " at y = 0, where runs begin" if isinstance(y, np.ndarray) and not y.any() else ""
            raise OracleError(f"the sharp oracle returned a point with value {answer.value}{at_zero}")
        return answer

    def objective(self, x: Any) -> float:
        """Return the user's f(x), zero by default."""
        return 0.0 if self._objective is None else float(self._objective(x))

    def support(self, direction: Any) -> float:
        """Return the user's support function; by default the oracle's value without an objective, else inf."""
        given = self._traits["support"]
        if given is not None:
            return float(given(self._validate_direction(direction)))
        if self._objective is not None:
            return math.inf
        try:
            return self(direction).value
        except UnboundedOracle:
            return math.inf

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Apply the user's membership test; by default whether x is finite and has the right shape."""
        given = self._traits["contains"]
        return self._point(x) is not None if given is None else bool(given(x))

    def maximum(self) -> float:
        """Return the user's number; by default 0 without an objective, else inf."""
        given = self._traits["maximum"]
        if given is None:
            return 0.0 if self._objective is None else math.inf
        return float(given)

    def _answer(self, y: Any, atom: Any) -> SharpAnswer:
        cost = self.objective(atom)
        return SharpAnswer(atom, atoms.inner_product(y, atom) - cost, cost)

    def _validate_direction(self, direction: Any) -> Any:
        """Let operators of the right shape through: they are never formed."""
        if hasattr(direction, "matvec") and tuple(direction.shape) == self.shape:
            return direction
        return super()._validate_direction(direction)


def from_callable(
    function: Callable[[Any], Any],
    shape: int | Shape,
    objective: Callable[[Any], float] | None = None,
    *,
    degree: float | None = None,
    linear: bool | None = None,
    exact: bool = True,
    real_only: bool = False,
    strictly_convex: bool = False,
    contains: Callable[[Any], bool] | None = None,
    support: Callable[[Any], float] | None = None,
    maximum: float | None = None,
) -> CallableSharp:
    """Return the sharp oracle of a function that maximises <y, x> - f(x) over X.

    Parameters
    ----------
    function
        Takes the direction y, an array (for matrices an operator when the map A gives one), and returns a maximiser:
        an array or an atom of :mod:`unipd.atoms`, or a whole :class:`~unipd.protocols.SharpAnswer`, which may
        carry a certified error. It must be deterministic, and answer at y = 0 too, where runs begin: there every
        point of X maximises when f = 0.
    shape
        Shape of x, or the length of a vector.
    objective
        The function f of a point; zero by default.
    degree, linear, exact, contains, support, maximum
        What else is known, see :class:`~unipd.protocols.SharpOracle`; the defaults suit a bounded set with f = 0,
        and promise nothing when an objective is given. ``maximum`` is a number.
    real_only
        Whether complex directions are refused.
    strictly_convex
        Whether f or X is strictly convex, so that maximisers are unique and depend continuously on y: "auto" then takes
        quasi-Newton steps on the dual, see :class:`~unipd.QuasiNewton`.

    Raises
    ------
    InvalidInput
        If ``function``, ``objective``, ``contains`` or ``support`` cannot be called, ``shape`` is not a shape,
        ``degree`` is below 1, or another property has the wrong type.

    See Also
    --------
    Sharp, SharpFunction, unipd.doctor.check_sharp

    Examples
    --------
    >>> import numpy as np
    >>> disc = from_callable(lambda y: y / np.linalg.norm(y) if y.any() else np.zeros(2), shape=2)
    >>> disc(np.array([3.0, 4.0])).value, disc(np.zeros(2)).value
    (5.0, 0.0)
    """
    traits = {
        "degree": degree,
        "linear": linear,
        "exact": exact,
        "real_only": real_only,
        "strictly_convex": strictly_convex,
        "contains": contains,
        "support": support,
        "maximum": maximum,
    }
    return CallableSharp(function, shape, objective, traits)
