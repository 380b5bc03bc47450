"""Shared behaviour of the matrix oracles: directions known by products, certified errors, spectra of points.

Most maximisers are one top singular or eigenvector pair, weighted by a function of the top value.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array, Shape
from unipd._util import validate
from unipd._util.arrays import hermitian_part, real_dtype
from unipd._util.printing import ReprMixin
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.protocols import OracleDefaults, SharpAnswer
from unipd.sharp.base import Membership
from unipd.spectral import (
    BOUND_KINDS,
    PROBABILISTIC,
    RESIDUAL,
    RIGOROUS,
    Certification,
    Engine,
    certify_eigenvalues,
    certify_singular_value,
)
from unipd.spectral.certify import affords_rigorous
from unipd.spectral.krylov import ValueTolerance
from unipd.spectral.operators import HermitianPart, Triples, is_explicit, is_hermitian, is_small


def singular_values(x: Any, shape: Shape) -> Array | None:
    """Return the nonzero singular values of a point (and perhaps zeros), or None when it does not fit the shape.

    Factors U diag(w) V^* are reduced by QR: U = Q_u R_u, V = Q_v R_v leave R_u diag(w) R_v^*.

    >>> u = np.array([[3.0], [4.0]])
    >>> singular_values(atoms.LowRank(u, u, np.array([2.0])), (2, 2)).round(12)
    array([50.])
    """
    if tuple(getattr(x, "shape", np.shape(x))) != shape:
        return None
    if isinstance(x, atoms.LowRank) and x.rank == 0:
        return np.zeros(1, real_dtype(x.dtype))
    core = _core(x) if isinstance(x, atoms.LowRank) and x.rank < min(shape) else _array(x)
    return np.linalg.svd(core, compute_uv=False) if np.isfinite(core).all() else None


def eigenvalues(x: Any, size: int, tolerance: float) -> Array | None:
    """Return the eigenvalues of a Hermitian point, increasing, or None when it is not Hermitian or does not fit.

    Factors are reduced to the joint span of U and V; the zeros outside it are represented by one.

    >>> u = np.array([[0.0], [2.0]])
    >>> eigenvalues(atoms.LowRank(u, u, np.array([1.0])), 2, 1e-9)
    array([0., 4.])
    """
    if tuple(getattr(x, "shape", np.shape(x))) != (size, size):
        return None
    if isinstance(x, atoms.LowRank) and x.rank == 0:
        return np.zeros(1, real_dtype(x.dtype))
    factored = isinstance(x, atoms.LowRank) and 2 * x.rank < size
    core = _joint_core(x) if factored else _array(x)
    if not np.isfinite(core).all():
        return None
    if np.abs(core - core.conj().T).max() > tolerance * max(1.0, float(np.abs(core).max())):
        return None
    values = np.linalg.eigvalsh(hermitian_part(core))
    return np.sort(np.append(values, 0.0)).astype(values.dtype) if factored else values


def _array(x: Any) -> Array:
    return np.asarray(x.toarray()) if scipy.sparse.issparse(x) else atoms.as_array(x)


def _core(x: atoms.LowRank) -> Array:
    left = np.linalg.qr(x.left)[1]
    right = left if x.hermitian else np.linalg.qr(x.right)[1]
    return (left * x.weights) @ right.conj().T


def _joint_core(x: atoms.LowRank) -> Array:
    if x.hermitian:
        return _core(x)
    span = np.linalg.qr(np.concatenate([x.left, x.right], axis=1))[0]
    return (span.conj().T @ x.left * x.weights) @ (x.right.conj().T @ span)


LOOSEST_RESIDUAL = 0.1
"""Relative residual norm that every answer has, however large the tolerance."""


class SpectralSharp(Membership, ReprMixin, OracleDefaults, ABC):
    """Base of the oracles over matrices, whose directions are arrays, sparse matrices or operators.

    The maximum is a function of the top of the spectrum of y, computed by Lanczos from products with y alone.
    ``tolerance`` bounds the error of the value. The Ritz value's own error is at most the residual norm rho and,
    with a gap to the rest of the spectrum, about rho^2 / gap: a run stops when the smaller of the two is within the
    tolerance and rho is at most a tenth of the spread of the spectrum. Tolerance 0 means full precision.

    ``error`` in the answer is certified as ``certify`` says:

    - "residual" (free): Ritz value plus rho. It bounds an eigenvalue, and the top one unless the run has missed it;
      a random share in every start makes that a matter of probability zero, but nothing is proven;
    - "probabilistic": one more run from an independent random vector; wrong with probability ``delta`` at most;
    - "rigorous": LAPACK or a factorisation for matrices that are small or explicit, else the norm bound of the
      operator. Rectangular matrices count as small by their shorter side: where entries are known only the Gram
      matrix of that side is formed. Operators known by their products alone are made dense for it; a final
      certificate (:meth:`call_certified`) does that only if the longer side is at most 16 times the limit as well.

    Parameters
    ----------
    shape
        Shape of x.
    certify
        The kind of certified error of every answer; small matrices are always rigorous.
    engine
        How eigenpairs and singular triples are computed; the default depends on the oracle (``default_engine``).
    certification
        Failure probability, steps and seed of the certified errors.
    """

    hermitian: bool | None = False
    """Whether the points are Hermitian matrices."""
    default_engine: Engine = Engine()
    """The engine of oracles that are given none."""
    degree: float | None = 1.0  # type: ignore[override]
    """Degree of homogeneity of the conjugate: 1 for a set with f = 0."""
    linear: bool = True  # type: ignore[override]
    """Whether f is linear on X."""

    def __init__(
        self,
        shape: Shape,
        *,
        certify: str = RESIDUAL,
        engine: Engine | None = None,
        certification: Certification | None = None,
    ) -> None:
        if not isinstance(shape, (tuple, list)) or len(shape) != 2:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput("shape", "two sizes, rows and columns", repr(shape))
        rows, columns = (validate.integer("shape", size, minimum=1) for size in shape)
        validate.choice("certify", certify, (RESIDUAL, PROBABILISTIC, RIGOROUS))
        self._shape = (rows, columns)
        self.certify = certify
        self.engine = self.default_engine if engine is None else engine
        self.certification = Certification() if certification is None else certification
        self.runs_user_code = not all(map(validate.is_own, (self.engine, self.certification)))

    @property
    def shape(self) -> Shape:
        """Shape of x."""
        return self._shape

    @property
    def exact(self) -> bool:
        """Whether every direction is small enough to be made dense; errors are then those of rounding."""
        small = is_small(self._shape, self.engine.operator_limit)
        return self.engine.solver == "dense" or (self.engine.solver == "auto" and small)

    @abstractmethod
    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the answer at a checked direction with an error of the requested kind (or a stronger one).

        Parameters
        ----------
        direction, tolerance, start
            As in :meth:`unipd.protocols.SharpOracle.value`.
        certify
            The kind of bound on the error.
        """

    @abstractmethod
    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in X."""

    def _find_top(
        self, direction: Any, count: int, tolerance: ValueTolerance, start: Any, certify: str
    ) -> tuple[Triples, float, int, str]:
        """Return the top of the spectrum, an upper bound on the sum of its values, the products and the kind of bound.

        The values' sum falls short by at most ``tolerance``, a number or a function of the top value.
        """
        factors = warm_start(start, self._shape)
        options: dict[str, Any] = {"tolerance": LOOSEST_RESIDUAL, "value_tolerance": tolerance}
        if self.hermitian:
            first = None if factors is None else factors[0]
            found = self.engine.eigenpairs(direction, count, start=first, **options)
        else:
            found = self.engine.singular_triples(direction, count, start=factors, **options)
        value = float(found.values.sum())
        upper, matvecs, bound_kind = value + float(found.residuals.sum()), found.matvecs, found.bound_kind
        if certify != RESIDUAL and BOUND_KINDS.index(certify) < BOUND_KINDS.index(bound_kind):
            width, plan = tolerance(value) if callable(tolerance) else tolerance or 0.0, self.certification
            if self.hermitian:
                proven = certify_eigenvalues(direction, found.right, certify, plan, width)
            else:
                proven = certify_singular_value(direction, found.left, found.right, certify, plan, width)
            upper, matvecs, bound_kind = max(proven.upper, value), matvecs + proven.matvecs, proven.bound_kind
        return found, upper, matvecs, bound_kind

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return a maximiser of <y, x> - f(x) as factors; ``start`` is a recent atom to begin from."""
        return self.answer(
            self._validate_direction(direction), validate.nonnegative("tolerance", tolerance), start, self.certify
        )

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the maximum; the maximiser is computed on the way."""
        return self(direction, tolerance=tolerance, start=start)

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return an answer for a final certificate: rigorous where that is affordable, else probabilistic."""
        y = self._validate_direction(direction)
        affordable = affords_rigorous(y, bool(self.hermitian), self.certification.dense_limit)
        return self.answer(y, validate.nonnegative("tolerance", tolerance), start, self.final_kind(affordable))

    def final_kind(self, affordable: bool) -> str:
        """Return the kind of a final certificate, given whether a rigorous one is affordable."""
        return RIGOROUS if affordable or self.certify == RIGOROUS else PROBABILISTIC

    def objective(self, x: Any) -> float:
        """Return f(x): zero for a bare set."""
        return 0.0

    def support(self, direction: Any) -> float:
        """Return sup over X of <y, x>, as attained."""
        return self.value(direction).value

    def maximum(self) -> float:
        """Return an upper bound on f over X: zero for a bare set."""
        return 0.0

    def _validate_direction(self, direction: Any) -> Any:
        """Return the direction as a finite array, a sparse matrix or an operator of the right shape, or raise.

        Only the Hermitian part of a matrix meets Hermitian points. Operators are taken for Hermitian unless they have
        an attribute ``hermitian`` that is False.
        """
        known = hasattr(direction, "matvec") or is_explicit(direction)
        y = direction if known else validate.finite_array("direction", direction)
        if tuple(y.shape) != self._shape:
            raise InvalidInput("direction", f"shape {self._shape}", f"shape {tuple(y.shape)}")
        if not self.hermitian:
            return y
        if is_explicit(y):
            return hermitian_part(y)
        return y if is_hermitian(y) else HermitianPart(y)


def warm_start(start: Any, shape: Shape) -> tuple[Array, Array] | None:
    """Return the factors of a recent atom, or None when it has none that fit."""
    if not isinstance(start, LowRank):
        return None
    left, right = start.left, start.right
    fits = (left.shape[0], right.shape[0]) == shape and left.shape[1] > 0
    return (left, right) if fits else None


def weights_of(values: Any, dtype: Any) -> Array:
    """Return weights of a low-rank atom in the real dtype of its factors."""
    return np.array(values, real_dtype(dtype))


def excess(upper: float, value: float) -> float:
    """Return upper - value, not below zero (and inf for an unknown upper bound)."""
    return max(upper - value, 0.0) if not math.isnan(upper) else math.inf


class RankOneSharp(SpectralSharp):
    """Base: the conjugate is an increasing function of the top value s, and x = weight(s) u v^*.

    The top value is the largest singular value, or the largest eigenvalue over Hermitian matrices.
    """

    @abstractmethod
    def weight(self, top: float) -> float:
        """Return the weight of the rank-one atom for a top value s."""

    @abstractmethod
    def conjugate(self, top: float) -> float:
        """Return the maximum for a top value s; nondecreasing in s."""

    @abstractmethod
    def top_value_tolerance(self, top: float, tolerance: float) -> float:
        """Return by how much s may fall short so that the conjugate falls short by the tolerance.

        The same for all s where the conjugate is of degree 1.

        Parameters
        ----------
        top
            The top value s.
        tolerance
            By how much the conjugate may fall short.
        """

    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the atom of the top singular triple or eigenpair."""

        def allowed(top: float) -> float:
            return self.top_value_tolerance(top, tolerance)

        width = allowed(0.0) if self.degree == 1.0 else allowed
        found, upper, matvecs, bound_kind = self._find_top(direction, 1, width, start, certify)
        return self._make_answer(found.left, found.right, found.value, upper, matvecs, bound_kind)

    def _make_answer(
        self, left: Array, right: Array, top: float, upper: float, matvecs: int, bound_kind: str
    ) -> SharpAnswer:
        weight, value = self.weight(top), self.conjugate(top)
        return SharpAnswer(
            atom=LowRank(left, right, weights_of([weight], left.dtype)),
            value=value,
            objective=top * weight - value,
            error=excess(self.conjugate(upper), value),
            matvecs=matvecs,
            bound_kind=bound_kind,
        )


class SquaredSharp(RankOneSharp):
    """Base: f = w ||X||^2 with conjugate s^2 / (4w) in s = max(top value, 0), attained by the weight s / (2w)."""

    scale: float
    """The factor w > 0."""

    degree = 2.0
    linear = False

    def weight(self, top: float) -> float:
        """Return s / (2w)."""
        return max(top, 0.0) / (2.0 * self.scale)

    def conjugate(self, top: float) -> float:
        """Return s^2 / (4w)."""
        length = max(top, 0.0)
        return length * length / (4.0 * self.scale)

    def top_value_tolerance(self, top: float, tolerance: float) -> float:
        """Return d with ((s + d)^2 - s^2) / (4w) = tolerance, in a form that does not cancel."""
        margin, length = 4.0 * self.scale * tolerance, max(top, 0.0)
        return margin / (length + math.sqrt(length * length + margin)) if margin > 0.0 else 0.0

    def maximum(self) -> float:
        """Return inf: f is unbounded."""
        return math.inf
