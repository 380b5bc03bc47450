"""Keep xbar as low-rank factors, recompressed on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unipd import atoms, validate
from unipd.errors import InvalidInput
from unipd.primal.factors import as_factors, compress


@dataclass(frozen=True, eq=False)
class LowRankTracker:
    """Tracker of a matrix xbar = sum_i w_i u_i v_i^* by at most ``buffer`` columns of factors.

    Atoms are appended until the columns exceed the buffer; then both factors are orthogonalised (QR), the small core
    is decomposed (SVD, or eigenvalues when left and right are the same array) and the ``rank_limit`` largest terms
    are kept. What is dropped is added up through the averaging: after ``mixed`` with gamma the errors e become
    (1 - gamma) e + dropped, so ||xbar - point()|| <= e in either norm, up to rounding. While the rank of xbar
    stays within the limit only rounding is dropped. Hermitian atoms (``right is left``) give a Hermitian point
    whose weights have the signs of the spectrum, nonnegative for positive semidefinite atoms.

    Dropping terms of a semidefinite matrix takes from its trace, and leads out of sets that fix the trace. With
    ``trace_correction`` the kept eigenvalues are raised alike by what was dropped: of all changes of them that
    restore the trace the smallest. The errors cover that as well.

    Parameters
    ----------
    rank_limit
        Terms kept by a recompression.
    buffer
        Columns above which factors are recompressed; by default twice the limit.
    trace_correction
        Whether recompressed Hermitian matrices keep xbar's trace.

    Examples
    --------
    >>> def ones(n, i):
    ...     return atoms.LowRank(np.eye(n)[:, i : i + 1], np.eye(n)[:, i : i + 1], np.ones(1))
    >>> tracker = LowRankTracker(2).mixed(1.0, ones(3, 0)).mixed(0.25, ones(3, 1))
    >>> tracker.point().dense().diagonal(), tracker.error
    (array([0.75, 0.25, 0.  ]), 0.0)
    """

    rank_limit: int
    buffer: int = 0
    parts: tuple[atoms.LowRank, ...] = field(default=(), repr=False)
    """Factors whose sum is kept: the last recompression, then the atoms that came since."""
    error: float = 0.0
    """Upper bound of the Frobenius norm of what was dropped from xbar."""
    nuclear_error: float = 0.0
    """Upper bound of the nuclear norm of what was dropped from xbar."""
    trace_correction: bool = field(default=False, kw_only=True)

    exact_objective = False

    def __post_init__(self) -> None:
        limit = validate.integer("rank_limit", self.rank_limit, minimum=1)
        buffer = validate.integer("buffer", self.buffer, minimum=0) or 2 * limit
        if buffer < limit:
            raise InvalidInput("buffer", f"at least rank_limit = {limit} columns", repr(self.buffer))
        validate.flag("trace_correction", self.trace_correction)
        object.__setattr__(self, "buffer", buffer)

    @property
    def columns(self) -> int:
        """Columns held."""
        return sum(part.rank for part in self.parts)

    @property
    def nbytes(self) -> int:
        """Bytes of the factors."""
        return sum(part.nbytes for part in self.parts)

    def mixed(self, gamma: float, atom: Any) -> LowRankTracker:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        if gamma == 0.0 and self.parts:
            return self
        stay = 1.0 - gamma
        kept = tuple(atoms.scaled(part, stay) for part in self.parts) if stay != 0.0 else ()
        new = atoms.scaled(as_factors(atom), gamma)
        if kept and new.shape != kept[0].shape:
            raise InvalidInput("atom", f"shape {kept[0].shape}", f"shape {new.shape}")
        parts = kept if kept and not new.weights.any() else (*kept, new)
        mixed = self._with(parts, abs(stay) * self.error, abs(stay) * self.nuclear_error)
        return mixed.recompressed() if mixed.columns > self.buffer else mixed

    def point(self) -> atoms.LowRank | None:
        """Return xbar as factors (None before the first atom)."""
        if not self.parts:
            return None
        return self.parts[0] if len(self.parts) == 1 else atoms.combination([1.0] * len(self.parts), self.parts)

    def recompressed(self) -> LowRankTracker:
        """Return the tracker with orthonormal factors of at most ``rank_limit`` columns."""
        point = self.point()
        if point is None or point.rank == 0:
            return self
        factors, dropped = compress(point, self.rank_limit)
        frobenius, nuclear = float(np.linalg.norm(dropped)), float(np.abs(dropped).sum())
        if self.trace_correction and factors.hermitian:
            raised = dropped.sum() / factors.rank
            factors = atoms.LowRank(factors.left, factors.left, factors.weights + raised)
            frobenius = math.hypot(frobenius, math.sqrt(factors.rank) * raised)
            nuclear += factors.rank * abs(float(raised))
        return self._with((factors,), self.error + frobenius, self.nuclear_error + nuclear)

    def _with(self, parts: tuple[atoms.LowRank, ...], error: float, nuclear_error: float) -> LowRankTracker:
        corrected = self.trace_correction
        return LowRankTracker(self.rank_limit, self.buffer, parts, error, nuclear_error, trace_correction=corrected)
