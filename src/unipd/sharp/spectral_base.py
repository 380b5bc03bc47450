"""Shared behaviour of the matrix oracles: a direction known by its products, an answer with a certified error."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cache
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array, Shape
from unipd.atoms import LowRank
from unipd.described import Described
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer
from unipd.sharp.hermitian_part import HermitianPart
from unipd.sharp.membership import Membership
from unipd.spectral import PROBABILISTIC, RESIDUAL, RIGOROUS, Certification, Engine
from unipd.spectral.dense import always_dense
from unipd.spectral.entries import affords_rigorous
from unipd.spectral.products import is_explicit, working_dtype

CERTIFICATES = (RESIDUAL, PROBABILISTIC, RIGOROUS)
"""Kinds of certified error, from the weakest to the strongest."""

LOOSEST_RESIDUAL = 0.1
"""Relative residual norm that every answer has, however large the tolerance."""


class SpectralSharp(Membership, Described, ABC):
    """Base of the oracles over matrices, whose directions are arrays, sparse matrices or operators.

    The maximum is a function of the top of the spectrum of y, computed by Lanczos from products with y alone.
    ``tolerance`` bounds the error of the value. The Ritz value's own error is at most the residual norm rho and,
    with a gap to the rest of the spectrum, about rho^2 / gap: a run stops when the smaller of the two is within the
    tolerance and rho is at most a tenth of the spread of the spectrum. Tolerance 0 asks for all that the dtype has.

    ``error`` in the answer is certified as ``certify`` says:

    - "residual" (free): Ritz value plus rho. It bounds an eigenvalue, and the top one unless the run has missed it;
      a random share in every start makes that a matter of probability zero, but nothing is proven;
    - "probabilistic": one more run from an independent random vector; wrong with probability ``delta`` at most;
    - "rigorous": LAPACK or a factorisation for matrices that are small or at hand, else the norm bound of the
      operator. Rectangular matrices count as small by their shorter side: where entries are at hand only the Gram
      matrix of that side is formed. Operators known by their products alone are made dense for it; a final
      certificate (:meth:`certified`) does that only if the longer side is at most 16 times the limit as well.

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

    hermitian: bool = False
    """Whether the points are Hermitian matrices."""
    default_engine: Engine = Engine()
    """The engine of oracles that are given none."""

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
        if certify not in CERTIFICATES:
            raise InvalidInput("certify", f"one of {', '.join(CERTIFICATES)}", repr(certify))
        self._shape = (rows, columns)
        self.certify = certify
        self.engine = self.default_engine if engine is None else engine
        self.certification = Certification() if certification is None else certification

    @property
    def shape(self) -> Shape:
        """Shape of x."""
        return self._shape

    @property
    def exact(self) -> bool:
        """Whether every direction is small enough to be made dense; errors are then those of rounding."""
        small = always_dense(self._shape, self.engine.operator_limit)
        return self.engine.solver == "dense" or (self.engine.solver == "auto" and small)

    @property
    def degree(self) -> float | None:
        """Degree of homogeneity of the conjugate: 1 for a set with f = 0."""
        return 1.0

    @property
    def linear(self) -> bool:
        """Whether f is linear on X."""
        return True

    @abstractmethod
    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the answer at a checked direction with an error of the kind asked (or a stronger one)."""

    @abstractmethod
    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in X."""

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return a maximiser of <y, x> - f(x) as factors; ``start`` is a recent atom to begin from."""
        return self.answer(self._checked(direction), validate.nonnegative("tolerance", tolerance), start, self.certify)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the maximum; the maximiser comes with it for nothing."""
        return self(direction, tolerance=tolerance, start=start)

    def certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return an answer for a final certificate: rigorous where that is affordable, else probabilistic."""
        y = self._checked(direction)
        affordable = affords_rigorous(y, self.hermitian, self.certification.dense_limit)
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
        """Return an upper bound of f over X: zero for a bare set."""
        return 0.0

    def _checked(self, direction: Any) -> Any:
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
            return 0.5 * (y + y.conj().T)
        return y if getattr(y, "hermitian", True) else HermitianPart(y)


def stronger(certify: str, bound: str) -> bool:
    """Whether the kind asked for is stronger than the one at hand.

    >>> stronger("probabilistic", "residual"), stronger("residual", "rigorous")
    (True, False)
    """
    return certify != RESIDUAL and CERTIFICATES.index(certify) > CERTIFICATES.index(bound)


def warm_start(start: Any, shape: Shape) -> tuple[Array, Array] | None:
    """Return the factors of a recent atom, or None when it has none that fit."""
    if not isinstance(start, LowRank):
        return None
    left, right = start.left, start.right
    fits = (left.shape[0], right.shape[0]) == shape and left.shape[1] > 0
    return (left, right) if fits else None


def weights_of(values: Any, dtype: Any) -> Array:
    """Return weights of a low-rank atom in the real dtype of its factors."""
    return np.array(values, _real_dtype(dtype))


@cache
def _real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.finfo(dtype).dtype


def slack_of(tolerance: float, x: Any) -> float:
    """Return the relative slack of a membership test: the tolerance, or what rounding in the point's dtype explains."""
    return max(tolerance, 64.0 * float(np.finfo(working_dtype(getattr(x, "dtype", None))).eps))


def excess(upper: float, value: float) -> float:
    """Return upper - value, not below zero (and inf for an unknown upper bound)."""
    return max(upper - value, 0.0) if not math.isnan(upper) else math.inf
