"""A linear objective over any set, or on top of any objective."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import hermitian_part
from unipd._util.printing import ReprMixin
from unipd.atoms import SparsePoint, inner_product
from unipd.errors import InvalidInput
from unipd.protocols import OracleDefaults, SharpAnswer, SharpOracle
from unipd.sharp.base import as_oracle
from unipd.spectral.operators import difference, pairing


class Linear(ReprMixin, OracleDefaults):
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

    Raises
    ------
    InvalidInput
        If ``cost`` has not the oracle's shape, numbers that are not finite, or complex ones over real points; if it is
        an operator and the set is not spectral; or if the oracle has several blocks.

    See Also
    --------
    Product, Simplex

    Examples
    --------
    >>> from unipd.sharp import Simplex
    >>> linear = Linear(np.array([3.0, 1.0, 2.0]), Simplex(3))
    >>> answer = linear(np.zeros(3))
    >>> answer.atom.dense(), answer.value, answer.objective
    (array([0., 1., 0.]), -1.0, 1.0)
    """

    def __init__(self, cost: Any, oracle: SharpOracle) -> None:
        self.oracle: OracleDefaults = as_oracle("oracle", oracle)
        self.linear_cost = self.cost = _validate_cost(cost, self.oracle)
        self.runs_user_code = hasattr(cost, "matvec") and not validate.is_own(cost)
        self.real_only = self.oracle.real_only
        self.has_membership_test = self.oracle.has_membership_test
        self.is_strictly_convex = self.oracle.is_strictly_convex
        if self.real_only and np.dtype(self.cost.dtype).kind == "c":
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
    def inner_parts(self) -> tuple[Any, ...]:
        """The set's oracle."""
        return (self.oracle,)

    @property
    def atom_entries(self) -> int | None:
        """Those of the set's atoms."""
        return self.oracle.atom_entries

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
        answer = self.oracle(self._shift_direction(direction), tolerance=tolerance, start=start)
        return replace(answer, objective=answer.objective + self._cost_of(answer.atom))

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the set's maximum at y - c; ``objective`` is NaN when the set gives no maximiser."""
        answer = self.oracle.value(self._shift_direction(direction), tolerance=tolerance, start=start)
        extra = np.nan if answer.atom is None else self._cost_of(answer.atom)
        return replace(answer, objective=answer.objective + extra)

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the answer with the strongest certificate that the set's oracle offers."""
        answer = self.oracle.call_certified(self._shift_direction(direction), tolerance=tolerance, start=start)
        return replace(answer, objective=answer.objective + self._cost_of(answer.atom))

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return the set's best vertices at y - c."""
        return self.oracle.best_vertices(direction - self.cost, count, above)

    def equations(self, places: Any) -> Any:
        """Return the equations of the set."""
        return self.oracle.equations(places)

    def factors(self) -> Any:
        """Return the set's factored form; the cost enters through the gradient. None beside another objective."""
        factors = self.oracle.factors()
        return None if factors is None or factors.is_unbounded else factors

    def quadratic_diagonal(self) -> Any:
        """Return the curvature of the oracle's own objective."""
        return self.oracle.quadratic_diagonal()

    def objective(self, x: Any) -> float:
        """Return <c, x> (plus the oracle's own objective)."""
        return self._cost_of(x) + self.oracle.objective(x)

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
        answer = self.oracle.call_certified(self.cost)
        return answer.value + answer.error

    def _shift_direction(self, direction: Any) -> Any:
        y: Any = direction if hasattr(direction, "dtype") else np.asarray(direction)
        if tuple(y.shape) != self.shape:
            raise InvalidInput("direction", f"shape {self.shape}", f"shape {tuple(y.shape)}")
        is_plain = isinstance(self.cost, np.ndarray) and type(y) is np.ndarray and y.dtype == self.cost.dtype
        return y - self.cost if is_plain else difference(y, self.cost)

    def _cost_of(self, x: Any) -> float:
        is_plain = isinstance(self.cost, np.ndarray) and isinstance(x, (np.ndarray, SparsePoint))
        return inner_product(self.cost, x) if is_plain else pairing(self.cost, x)


def _validate_cost(cost: Any, oracle: OracleDefaults) -> Any:
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
    return hermitian_part(matrix) if oracle.hermitian else matrix.copy()


def _takes_operators(oracle: Any) -> bool:
    """Whether the oracle and those inside it take operators as directions."""
    return all(map(_takes_operators, oracle.inner_parts)) if oracle.inner_parts else oracle.takes_operators
