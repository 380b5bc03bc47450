"""A user's own function as a sharp oracle."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Shape
from unipd.errors import InvalidInput, OracleError, UnboundedOracle
from unipd.protocols import SharpAnswer
from unipd.sharp.base import Sharp, wrong_form
from unipd.sharp.callable_checks import check_claims, check_traits, floating_atom


class CallableSharp(Sharp):
    """The oracle that :func:`from_callable` makes."""

    takes_operators = True

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
        y = self._checked(direction)
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
            raise UnboundedOracle("the sharp oracle returned a point at infinity: <y, x> - f(x) is unbounded over X")
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
            return float(given(self._checked(direction)))
        return self(direction).value if self._objective is None else math.inf

    @property
    def membership_known(self) -> bool:
        """Whether the user gave a membership test; the default one knows nothing of the set."""
        return self._traits["contains"] is not None

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Ask the user's test, given x alone; by default whether x is finite and has the right shape."""
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
        return SharpAnswer(atom, atoms.inner(y, atom) - cost, cost)

    def _checked(self, direction: Any) -> Any:
        """Let operators of the right shape through: they are never formed."""
        if hasattr(direction, "matvec") and tuple(direction.shape) == self.shape:
            return direction
        return super()._checked(direction)


def from_callable(
    function: Callable[[Any], Any],
    shape: int | Shape,
    objective: Callable[[Any], float] | None = None,
    *,
    degree: float | None = None,
    linear: bool | None = None,
    exact: bool = True,
    real_only: bool = False,
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
    real_only
        Whether complex directions are refused.
    degree, linear, exact, contains, support, maximum
        What else is known, see :class:`~unipd.protocols.SharpOracle`; the defaults suit a bounded set with f = 0,
        and promise nothing when an objective is given. ``maximum`` is a number.

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
        "contains": contains,
        "support": support,
        "maximum": maximum,
    }
    return CallableSharp(function, shape, objective, traits)
