"""A linear objective over any set, or on top of any objective."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from unipd import validate
from unipd.described import Described
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer, SharpOracle
from unipd.sharp.base import require_oracle
from unipd.sharp.lazy_difference import difference, pairing


class Linear(Described):
    """f(x) = <c, x> over a set X; [y]^# is the set's own maximiser at y - c.

    When the given oracle has an objective of its own, the linear one is added to it.

    Parameters
    ----------
    cost
        The vector or matrix c: an array or a SciPy sparse matrix of the shape of x (which stays sparse over spectral
        sets alone), or over spectral sets an operator with matvec and rmatvec. Arrays and sparse matrices are copied,
        so that changing them later changes nothing here; an operator is kept as it is.
    oracle
        The sharp oracle of X.

    Examples
    --------
    >>> from unipd.sharp import Simplex
    >>> linear = Linear(np.array([3.0, 1.0, 2.0]), Simplex(3))
    >>> answer = linear(np.zeros(3))
    >>> answer.atom.dense(), answer.value, answer.objective
    (array([0., 1., 0.]), -1.0, 1.0)
    """

    def __init__(self, cost: Any, oracle: SharpOracle) -> None:
        self.oracle: SharpOracle = require_oracle("oracle", oracle)
        self.cost = _checked_cost(cost, oracle)
        if getattr(oracle, "real_only", False) and np.dtype(self.cost.dtype).kind == "c":
            raise InvalidInput("cost", f"real numbers, since {type(oracle).__name__} has real points", "complex ones")
        self._zero = isinstance(self.cost, np.ndarray) and not self.cost.any()

    @property
    def shape(self) -> Any:
        """Shape of x."""
        return self.oracle.shape

    @property
    def exact(self) -> bool:
        """Exact when the set's oracle is."""
        return self.oracle.exact

    @property
    def real_only(self) -> bool:
        """Whether the set has real points only."""
        return bool(getattr(self.oracle, "real_only", False))

    @property
    def degree(self) -> float | None:
        """The set's degree when c = 0, else None."""
        return self.oracle.degree if self._zero else None

    @property
    def linear(self) -> bool:
        """Linear over a bare set."""
        return self.oracle.linear

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the set's maximiser at y - c."""
        answer = self.oracle(self._shifted(direction), tolerance=tolerance, start=start)
        return replace(answer, objective=answer.objective + pairing(self.cost, answer.atom))

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the set's maximum at y - c; ``objective`` is NaN when the set gives no maximiser."""
        answer = self.oracle.value(self._shifted(direction), tolerance=tolerance, start=start)
        extra = np.nan if answer.atom is None else pairing(self.cost, answer.atom)
        return replace(answer, objective=answer.objective + extra)

    def certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the answer with the strongest certificate that the set's oracle offers."""
        oracle = getattr(self.oracle, "certified", self.oracle)
        answer = oracle(self._shifted(direction), tolerance=tolerance, start=start)
        return replace(answer, objective=answer.objective + pairing(self.cost, answer.atom))

    def objective(self, x: Any) -> float:
        """Return <c, x> (plus the oracle's own objective)."""
        return pairing(self.cost, x) + self.oracle.objective(x)

    def support(self, direction: Any) -> float:
        """Return the support function of the set."""
        return self.oracle.support(direction)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in the set."""
        return self.oracle.contains(x, tolerance)

    def maximum(self) -> float:
        """Return the support function of the set at c (plus the maximum of the oracle's own objective)."""
        return self._maximum

    @cached_property
    def _maximum(self) -> float:
        own = self.oracle.maximum()
        if self.oracle.exact or own != 0.0:
            return self.oracle.support(self.cost) + own
        answer = getattr(self.oracle, "certified", self.oracle)(self.cost)
        return answer.value + answer.error

    def _shifted(self, direction: Any) -> Any:
        operator = scipy.sparse.issparse(direction) or hasattr(direction, "matvec")
        y = direction if operator else validate.finite_array("direction", direction)
        if tuple(y.shape) != self.shape:
            raise InvalidInput("direction", f"shape {self.shape}", f"shape {tuple(y.shape)}")
        return difference(y, self.cost)


def _checked_cost(cost: Any, oracle: SharpOracle) -> Any:
    """Return c as a finite array or CSR array of its own, or the operator; over Hermitian points its Hermitian part."""
    if oracle.shape and isinstance(oracle.shape[0], tuple):
        expected = "one block (give each block its own: [Linear(c_1, oracle_1), ...])"
        raise InvalidInput("oracle", expected, f"{type(oracle).__name__} of {len(oracle.shape)} blocks")
    if hasattr(cost, "matvec"):
        if tuple(cost.shape) != oracle.shape:
            raise InvalidInput("cost", f"shape {oracle.shape}", f"shape {tuple(cost.shape)}")
        if not _takes_operators(oracle):
            raise InvalidInput("cost", f"an array, since {type(oracle).__name__} reads its directions", "an operator")
        return cost
    if scipy.sparse.issparse(cost) and not _takes_operators(oracle):
        cost = cost.toarray()  # directions are arrays of the same size
    matrix: Any = scipy.sparse.csr_array(cost) if scipy.sparse.issparse(cost) else validate.finite_array("cost", cost)
    if matrix.shape != oracle.shape:
        raise InvalidInput("cost", f"shape {oracle.shape}", f"shape {matrix.shape}")
    if scipy.sparse.issparse(matrix):
        matrix = matrix.astype(validate.finite_array("cost", matrix.data).dtype)
    return 0.5 * (matrix + matrix.conj().T) if getattr(oracle, "hermitian", False) else matrix.copy()


def _takes_operators(oracle: Any) -> bool:
    """Whether directions may be operators: so they may unless an oracle says that it reads arrays."""
    inside = getattr(oracle, "oracle", None)
    return bool(getattr(oracle, "takes_operators", True)) if inside is None else _takes_operators(inside)
