"""The linear map of a problem, and matrices known through their products."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from unipd._typing import Array


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
