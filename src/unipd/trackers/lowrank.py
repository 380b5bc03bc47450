"""Keep xbar as low-rank factors, recompressed when they grow too wide."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import precision, real_dtype
from unipd.errors import InvalidInput

ONE_MATRIX = "one matrix (for several blocks: unipd.trackers.ByBlock, one tracker per block)"


def as_factors(atom: Any) -> atoms.LowRank:
    """Return an atom as factors: low-rank atoms as they are, arrays by their spectrum.

    >>> as_factors(np.diag([2.0, 0.0])).rank
    1
    """
    if isinstance(atom, atoms.LowRank):
        return atom
    if isinstance(atom, atoms.Blocks):
        raise InvalidInput("atom", ONE_MATRIX, f"{len(atom)} blocks")
    if len(atom.shape) != 2:
        raise InvalidInput("atom", "a matrix, best as factors (LowRank)", type(atom).__name__)
    array = np.asarray(atoms.dense(atom))
    one = np.ones(array.shape[1], real_dtype(array.dtype))
    if array.shape[0] == array.shape[1] and np.array_equal(array, array.conj().T):
        spectrum, vectors = np.linalg.eigh(array)
        return compress(atoms.LowRank(vectors, vectors, spectrum), one.size)[0]
    return compress(atoms.LowRank(array, np.eye(one.size, dtype=array.dtype), one), one.size)[0]


def compress(point: atoms.LowRank, limit: int) -> tuple[atoms.LowRank, Array]:
    """Return the best approximation of a factored matrix by ``limit`` terms, and the sizes of the terms left out.

    The factors returned are orthonormal. Terms of the size of rounding are left out too.

    Parameters
    ----------
    point
        The factored matrix.
    limit
        Largest number of terms.

    See Also
    --------
    LowRankTracker, unipd.atoms.LowRank

    Examples
    --------
    >>> twice = np.array([[1.0, 1.0], [0.0, 0.0]])
    >>> compress(atoms.LowRank(twice, twice, np.ones(2)), 2)[0].weights
    array([2.])
    """
    weights = point.weights.astype(real_dtype(point.dtype))
    left, core = np.linalg.qr(point.left)
    if point.hermitian:
        spectrum, inner = _eigenpairs((core * weights) @ core.conj().T, bool(np.all(weights >= 0)))
        first = second = left @ inner
    else:
        right, other = np.linalg.qr(point.right)
        inner, spectrum, outer = np.linalg.svd((core * weights) @ other.conj().T, full_matrices=False)
        first, second = left @ inner, right @ outer.conj().T
    rounding = point.rank * precision(spectrum) * abs(spectrum[0])
    rank = min(limit, max(1, int(np.count_nonzero(np.abs(spectrum) > rounding))))
    kept = np.ascontiguousarray(first[:, :rank])
    other_side = kept if second is first else np.ascontiguousarray(second[:, :rank])
    return atoms.LowRank(kept, other_side, spectrum[:rank]), spectrum[rank:]


def _eigenpairs(core: Array, semidefinite: bool) -> tuple[Array, Array]:
    """Return eigenvalues of largest modulus first, with rounding below zero removed where there can be none."""
    spectrum, vectors = np.linalg.eigh(core)
    if semidefinite:
        spectrum = np.maximum(spectrum, 0)
    order = np.argsort(-np.abs(spectrum), kind="stable")
    return spectrum[order], vectors[:, order]


@dataclass(frozen=True, eq=False)
class LowRankTracker:
    """Tracker of a matrix xbar = sum_i w_i u_i v_i^* by at most ``buffer`` columns of factors.

    Atoms are appended until the columns exceed the buffer; then both factors are orthogonalised (QR), the small core
    is decomposed (SVD, or eigenvalues when left and right are the same array) and the ``rank_limit`` largest terms
    are kept. What is dropped is added up through the averaging: after ``mix`` with gamma the errors e become
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
    parts
        Factors whose sum is kept: the last recompression, then the atoms that came since.
    error
        Upper bound on the Frobenius norm of what was dropped from xbar.
    nuclear_error
        Upper bound on the nuclear norm of what was dropped from xbar.
    trace_correction
        Whether recompressed Hermitian matrices keep xbar's trace.

    Raises
    ------
    InvalidInput
        ``rank_limit``: expected an integer of at least 1; ``trace_correction``: expected True or False; ``buffer``:
        expected an integer of at least 0.

    See Also
    --------
    SketchTracker, AtomList, compress

    Examples
    --------
    >>> def ones(n, i):
    ...     return atoms.LowRank(np.eye(n)[:, i : i + 1], np.eye(n)[:, i : i + 1], np.ones(1))
    >>> tracker = LowRankTracker(2).mix(1.0, ones(3, 0)).mix(0.25, ones(3, 1))
    >>> tracker.point().dense().diagonal(), tracker.error
    (array([0.75, 0.25, 0.  ]), 0.0)
    """

    rank_limit: int
    buffer: int = 0
    parts: tuple[atoms.LowRank, ...] = field(default=(), repr=False)
    error: float = 0.0
    nuclear_error: float = 0.0
    trace_correction: bool = field(default=False, kw_only=True)

    exact_objective = False
    has_shared_atoms = False

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

    def mix(self, gamma: float, atom: Any) -> LowRankTracker:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        if gamma == 0.0 and self.parts:
            return self
        stay = 1.0 - gamma
        kept = tuple(atoms.scale_atom(part, stay) for part in self.parts) if stay != 0.0 else ()
        new = atoms.scale_atom(as_factors(atom), gamma)
        if kept and new.shape != kept[0].shape:
            raise InvalidInput("atom", f"shape {kept[0].shape}", f"shape {new.shape}")
        parts = kept if kept and not new.weights.any() else (*kept, new)
        errors = {"error": abs(stay) * self.error, "nuclear_error": abs(stay) * self.nuclear_error}
        mixed = replace(self, parts=parts, **errors)
        return mixed.recompress() if mixed.columns > self.buffer else mixed

    def point(self) -> atoms.LowRank | None:
        """Return xbar as factors (None before the first atom)."""
        if not self.parts:
            return None
        return self.parts[0] if len(self.parts) == 1 else atoms.combination([1.0] * len(self.parts), self.parts)

    def recompress(self) -> LowRankTracker:
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
        errors = {"error": self.error + frobenius, "nuclear_error": self.nuclear_error + nuclear}
        return replace(self, parts=(factors,), **errors)
