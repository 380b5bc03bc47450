"""The nouns of the paper as small protocols: what a sharp oracle, a map, a coupling and a tracker must answer.

Everything else in the library is written against these, so a user's own class needs to match a
protocol's methods and nothing more. Inner products are real throughout: Re <., .>.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from unipd._typing import Array


@dataclass(frozen=True)
class SharpAnswer:
    """Answer of a sharp oracle at a direction y: a (near-)maximiser of <y, x> - f(x) over X."""

    atom: Any
    """The point x, as an array or a structured atom (see :mod:`unipd.atoms`)."""
    value: float
    """<y, x> - f(x) at the point returned: a lower bound of the maximum."""
    objective: float
    """f(x)."""
    error: float = 0.0
    """Certified: the maximum is at most ``value + error``."""
    matvecs: int = 0
    """Products with the direction that were spent (0 for oracles that read y as an array)."""
    bound: str = "rigorous"
    """Kind of the certified error, strongest first: "rigorous"; "probabilistic" (wrong with a stated small
    probability); "residual" (spectral oracles: Ritz value plus residual norm, which bounds an eigenvalue, and the top
    one unless the run has missed it)."""


class SharpOracle(Protocol):
    """A set X and an objective f, known through [y]^# = argmax over x in X of <y, x> - f(x)."""

    @property
    def shape(self) -> Any:
        """Shape of x: a tuple of ints, or a tuple of shapes for several blocks."""
        ...

    @property
    def exact(self) -> bool:
        """Whether answers are exact up to rounding (then ``error`` is 0 and ``tolerance`` is ignored)."""
        ...

    @property
    def degree(self) -> float | None:
        """d when the conjugate is positively homogeneous, f^*(t y) = t^d f^*(y) for t > 0; else None."""
        ...

    @property
    def linear(self) -> bool:
        """Whether f is linear (or zero) on X, so that averaging atoms averages f exactly."""
        ...

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return a maximiser; ``tolerance`` bounds the absolute error asked, ``start`` is a recent atom."""
        ...

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the maximum alone: an answer whose ``atom`` may be None when that is cheaper."""
        ...

    def objective(self, x: Any) -> float:
        """Return f(x) for x in X."""
        ...

    def support(self, direction: Any) -> float:
        """Return the support function of X, sup over x in X of <y, x> (inf when X is unbounded)."""
        ...

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in X, up to ``tolerance`` relative to the size of X."""
        ...

    def maximum(self) -> float:
        """Return an upper bound of f over X (inf when none is known): beyond it a bound proves infeasibility."""
        ...


class LinearMap(Protocol):
    """The map A from the space of x to the space of b, with real adjoint: Re <A x, lam> = Re <x, A^* lam>."""

    @property
    def domain(self) -> Any:
        """Shape of x (a tuple of shapes for several blocks)."""
        ...

    @property
    def codomain(self) -> tuple[int, ...]:
        """Shape of A x."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of A x, hence of the dual vector."""
        ...

    def image(self, atom: Any) -> Array:
        """Return A x for an array or a structured atom."""
        ...

    def adjoint(self, dual: Array) -> Any:
        """Return A^* lam: an array, or for spectral sets an operator with matvec and rmatvec, never formed."""
        ...


@runtime_checkable
class Coupling(Protocol):
    """The set K of the inclusion A x - b in K, or a loss phi(A x - b); sets are losses that are 0 or infinite."""

    @property
    def is_loss(self) -> bool:
        """Whether this is a finite loss (then every x in X is feasible)."""
        ...

    @property
    def conjugate_degree(self) -> float | None:
        """d when h(t lam) = t^d h(lam) for t > 0; else None. Sets have 1."""
        ...

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise :class:`~unipd.errors.InvalidInput` when vectors of this shape and dtype do not fit."""
        ...

    def value(self, residual: Array) -> float:
        """Return phi(r); for a set 0 when r is in it (up to rounding) and inf otherwise."""
        ...

    def distance(self, residual: Array) -> float:
        """Return dist(r, K); 0 for a loss."""
        ...

    def prox(self, vector: Array, step: float) -> Array:
        """Return argmin_r phi(r) + ||r - v||^2 / (2 step); for a set the projection, whatever the step."""
        ...

    def conjugate(self, dual: Array) -> float:
        """Return h(lam) = sup_r <lam, r> - phi(r): the support function for a set; inf outside its domain."""
        ...

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return prox of ``step * h`` at v; by Moreau v - step * prox(v / step, 1 / step)."""
        ...


@runtime_checkable
class Loss(Coupling, Protocol):
    """A finite convex loss phi; what the slack split and Frank-Wolfe ask on top of :class:`Coupling`."""

    @property
    def splittable(self) -> bool:
        """Whether :meth:`slack` has a finite answer everywhere (a slack radius is known where needed)."""
        ...

    def gradient(self, residual: Array) -> Array:
        """Return a (sub)gradient of phi at r."""
        ...

    def curvature(self) -> float:
        """Return a Lipschitz constant of the gradient of phi (inf when nonsmooth)."""
        ...

    def slack(self, dual: Array) -> tuple[Array, float]:
        """Return (r, value): the maximiser of <lam, r> - phi(r) over the slack block and the maximum."""
        ...


class Tracker(Protocol):
    """What is kept of the primal average xbar; immutable, ``mixed`` returns a new one."""

    def mixed(self, gamma: float, atom: Any) -> Tracker:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        ...

    def point(self) -> Any:
        """Return xbar in the form kept, or None when only the image is kept."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        ...


class Operator(Protocol):
    """A matrix known through its products (SciPy's ``LinearOperator`` and PyLops operators match)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    @property
    def dtype(self) -> Any:
        """Dtype of the products."""
        ...

    def matvec(self, x: Array) -> Array:
        """Return M x."""
        ...

    def rmatvec(self, x: Array) -> Array:
        """Return M^* x."""
        ...


_DOUBLE = np.dtype(np.float64)
_PART = 1 << 13
"""Entries of single precision that are turned to double precision at a time: in cache, and BLAS wakes no threads."""


def inner(left: Array, right: Array) -> float:
    """Return the real inner product Re <left, right>, summed in double precision."""
    if left.dtype is _DOUBLE is right.dtype:
        return float(left.dot(right) if left.ndim == 1 else np.vdot(left, right))
    if left.size <= _PART or left.dtype.char not in "fF":
        return float(np.vdot(_in_double(left), right).real)
    one, other = left.reshape(-1), right.reshape(-1)
    parts = (slice(first, first + _PART) for first in range(0, one.size, _PART))
    return float(sum(np.vdot(_in_double(one[part]), _in_double(other[part])).real for part in parts))


def norm(vector: Array) -> float:
    """Return the Euclidean norm of an array of any shape, summed in double precision."""
    return math.sqrt(inner(vector, vector))


def _in_double(array: Array) -> Array:
    kind = array.dtype.char
    if kind == "f":
        return array.astype(np.float64)
    return array.astype(np.complex128) if kind == "F" else array


__all__: Sequence[str] = [
    "Coupling",
    "LinearMap",
    "Loss",
    "Operator",
    "SharpAnswer",
    "SharpOracle",
    "Tracker",
    "inner",
    "norm",
]
