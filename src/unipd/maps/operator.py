"""Maps given by their products: SciPy's LinearOperator, PyLops operators and anything that looks like them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd import atoms, validate
from unipd._typing import Array, Shape
from unipd.errors import InvalidInput
from unipd.maps.base import Map, floating, matrix_domain


class OperatorMap(Map):
    """A x through ``matvec`` and A^* lam through ``rmatvec``; x of a given shape is read in C order.

    >>> from scipy.sparse.linalg import aslinearoperator
    >>> OperatorMap(aslinearoperator(np.eye(2))).adjoint(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    def __init__(self, operator: Any, domain: Shape | None = None) -> None:
        if len(getattr(operator, "shape", ())) != 2:
            raise InvalidInput("A", "an operator with two sizes, rows and columns", validate.described(operator))
        self.operator = operator
        rows, columns = (int(size) for size in operator.shape)
        dtype = getattr(operator, "dtype", None)
        super().__init__(matrix_domain(domain, columns), (rows,), floating(np.float64 if dtype is None else dtype))
        self._require_adjoint()

    def _require_adjoint(self) -> None:
        """Raise unless the operator can be applied backwards: SciPy accepts one that cannot."""
        size = math.prod(self.domain)
        try:
            answer = np.asarray(self.operator.rmatvec(np.zeros(self.codomain, self.dtype)))
            finite = bool(np.isfinite(answer).all())
        except Exception as error:
            expected = "an operator with rmatvec, the product with its adjoint"
            raise InvalidInput("A", expected, f"{type(error).__name__}: {error} (at the zero vector)") from error
        if answer.size != size:
            raise InvalidInput("A", f"an operator whose rmatvec returns {size} numbers", f"shape {answer.shape}")
        if not finite:
            raise InvalidInput("A", "an operator whose rmatvec returns finite numbers", "NaN or inf at the zero vector")

    def image(self, atom: Any) -> Array:
        """Return A x."""
        return np.asarray(self.operator.matvec(np.asarray(atoms.dense(atom)).reshape(-1))).reshape(self.codomain)

    def adjoint(self, dual: Array) -> Array:
        """Return A^* lam."""
        return np.asarray(self.operator.rmatvec(dual)).reshape(self.domain)
