"""Keep a random sketch of xbar, from which a low-rank approximation is reconstructed."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array
from unipd._util import arrays, validate
from unipd._util.threads import CACHE_ENTRIES
from unipd.errors import InvalidInput
from unipd.trackers.lowrank import ONE_MATRIX


def average_product(old: Array, gamma: float, left: Array, right: Array | None) -> Array:
    """Return (1 - gamma) old + gamma left right (no right: the identity) without another array of that size."""
    mean = np.empty_like(old)
    share, rest = old.dtype.type(gamma), old.dtype.type(1.0 - gamma)
    step = max(1, CACHE_ENTRIES // old.shape[1])
    for first in range(0, len(old), step):
        rows = slice(first, first + step)
        piece = left[rows] if right is None else arrays.product(left[rows], right)
        np.multiply(old[rows], rest, out=mean[rows])
        mean[rows] += share * piece.astype(old.dtype, copy=False)
    return mean


def factor_product(atom: Any, block: Array) -> tuple[Array, Array | None]:
    """Return X B as a product of two (or as one array)."""
    if isinstance(atom, atoms.LowRank):
        return atom.left * atom.weights, arrays.product(atom.right.conj().T, block)
    return _explicit(atom) @ block, None


def factor_left_product(block: Array, atom: Any) -> tuple[Array, Array | None]:
    """Return B X as a product of two (or as one array)."""
    if isinstance(atom, atoms.LowRank):
        return arrays.product(block, atom.left) * atom.weights, atom.right.conj().T
    return (_explicit(atom).T @ block.T).T, None


def atom_trace(atom: Any) -> float:
    """Return the trace of a square atom."""
    if isinstance(atom, atoms.LowRank):
        return float(np.sum(atom.weights * np.einsum("ij,ij->j", atom.right.conj(), atom.left).real))
    return float(_explicit(atom).diagonal().sum().real)


def _explicit(atom: Any) -> Any:
    if isinstance(atom, atoms.SparsePoint):
        return scipy.sparse.coo_array((atom.values, np.unravel_index(atom.indices, atom.shape)), shape=atom.shape)
    return np.asarray(atom)


_CHECK_COLUMNS = 10


class SketchTracker:
    """Tracker of a matrix xbar by products with fixed Gaussian matrices: Theta(r (p + l)) numbers, whatever its rank.

    Rectangular matrices use the two-sided sketch of Tropp, Yurtsever, Udell and Cevher (2017): Y = xbar Omega and
    W = Psi xbar with k = 2r + 1 and 2k + 1 Gaussian vectors, reconstructed as Q (Psi Q)^+ W with Q an orthonormal
    basis of Y. Positive semidefinite matrices (``hermitian``) use the Nystrom sketch Y = xbar Omega,
    reconstructed as Y (Omega^* Y)^+ Y^* with a small shift for stability: positive semidefinite by construction.
    Both are cut to their best rank r. Averages of rank at most r are recovered up to rounding.

    A further sketch C = xbar Theta with 10 Gaussian columns, independent of the reconstruction X, estimates the
    error: ||C - X Theta||_F / sqrt(10) has ||xbar - X||_F^2 as its mean square. It is an estimate, not a bound; it is
    off by more than a factor 2 about once in a hundred times at worst (when the error has rank one).

    Parameters
    ----------
    shape, rank
        Shape of the matrix and rank r of the reconstruction.
    seed
        Seed of the Gaussian matrices.
    hermitian
        Whether atoms are Hermitian and positive semidefinite.
    dtype
        Dtype of the sketch.
    trace_correction
        Whether the reconstruction of a semidefinite matrix is given xbar's trace by raising its r eigenvalues alike.

    Raises
    ------
    InvalidInput
        ``trace_correction``: expected False for matrices that are not semidefinite; ``seed``: expected an integer of
        at least 0; ``rank``, ``shape``: expected an integer of at least 1.

    See Also
    --------
    LowRankTracker, ImageOnly

    Examples
    --------
    >>> e = np.eye(4)[:, :1]
    >>> tracker = SketchTracker((4, 4), rank=1, seed=0, hermitian=True).mix(1.0, atoms.LowRank(e, e, np.ones(1)))
    >>> tracker.point().dense().diagonal().round(8)
    array([1., 0., 0., 0.])
    """

    exact_objective = False
    has_shared_atoms = False

    def __init__(
        self,
        shape: tuple[int, int],
        rank: int,
        seed: int = 0,
        *,
        hermitian: bool = False,
        dtype: Any = np.float64,
        trace_correction: bool = False,
    ) -> None:
        self.shape = tuple(validate.integer("shape", size, minimum=1) for size in shape)
        if len(self.shape) != 2 or (hermitian and self.shape[0] != self.shape[1]):
            raise InvalidInput("shape", "a square shape" if hermitian else "two sizes", repr(shape))
        if trace_correction and not hermitian:
            raise InvalidInput("trace_correction", "False for matrices that are not semidefinite", "True")
        self.rank = min(validate.integer("rank", rank, minimum=1), *self.shape)
        self.seed = validate.integer("seed", seed, minimum=0)
        self.hermitian = hermitian
        self.trace_correction = trace_correction
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        columns = min(2 * self.rank + 1, *self.shape)
        rng = np.random.default_rng(self.seed)
        rows, cols = self.shape
        self._omega = _gaussian(rng, (cols, columns), self.dtype)
        self._theta = _gaussian(rng, (cols, _CHECK_COLUMNS), self.dtype)
        self._psi = None if hermitian else _gaussian(rng, (2 * columns + 1, rows), self.dtype)
        self._range = np.zeros((rows, columns), self.dtype)
        self._check = np.zeros((rows, _CHECK_COLUMNS), self.dtype)
        self._corange = None if self._psi is None else np.zeros((len(self._psi), cols), self.dtype)
        self.trace = 0.0
        self._empty = True

    @property
    def nbytes(self) -> int:
        """Bytes of the sketches and of the Gaussian matrices."""
        parts = (self._omega, self._theta, self._psi, self._range, self._check, self._corange)
        return sum(part.nbytes for part in parts if part is not None)

    @property
    def error(self) -> float:
        """Estimate of the Frobenius norm ||xbar - point()||."""
        return 0.0 if self._empty else self.estimate()[1]

    def mix(self, gamma: float, atom: Any) -> SketchTracker:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        if isinstance(atom, atoms.Blocks):
            raise InvalidInput("atom", ONE_MATRIX, f"{len(atom)} blocks")
        if tuple(atom.shape) != self.shape:
            raise InvalidInput("atom", f"shape {self.shape}", f"shape {atom.shape}")
        new = copy.copy(self)
        new._empty = False
        new._range = average_product(self._range, gamma, *factor_product(atom, self._omega))
        new._check = average_product(self._check, gamma, *factor_product(atom, self._theta))
        if self._psi is not None and self._corange is not None:
            new._corange = average_product(self._corange, gamma, *factor_left_product(self._psi, atom))
        if self.hermitian:
            new.trace = (1.0 - gamma) * self.trace + gamma * atom_trace(atom)
        return new

    def point(self) -> atoms.LowRank | None:
        """Return the reconstruction of xbar (None before the first atom)."""
        return None if self._empty else self.estimate()[0]

    def estimate(self) -> tuple[atoms.LowRank, float]:
        """Return the reconstruction and the estimate of its error in Frobenius norm."""
        if self._psi is None or self._corange is None:
            trace = self.trace if self.trace_correction else None
            point = _nystrom(self._range, self._omega, self.rank, trace)
        else:
            point = _two_sided(self._range, self._corange, self._psi, self.rank)
        difference = self._check - (point.left * point.weights) @ (point.right.conj().T @ self._theta)
        return point, float(np.linalg.norm(difference)) / math.sqrt(_CHECK_COLUMNS)


def _two_sided(range_sketch: Array, corange_sketch: Array, psi: Array, rank: int) -> atoms.LowRank:
    """Return the best rank-r part of Q (Psi Q)^+ W, with Q an orthonormal basis of the range sketch Y."""
    from scipy.linalg import solve_triangular

    basis = np.linalg.qr(range_sketch)[0]
    inner, triangle = np.linalg.qr(psi @ basis)
    core = solve_triangular(triangle, inner.conj().T @ corange_sketch)
    left, sizes, right = np.linalg.svd(core, full_matrices=False)
    return atoms.LowRank(basis @ left[:, :rank], np.ascontiguousarray(right[:rank].conj().T), sizes[:rank])


def _nystrom(range_sketch: Array, omega: Array, rank: int, trace: float | None = None) -> atoms.LowRank:
    """Return the best rank-r part of Y (Omega^* Y)^+ Y^*, through the shifted matrix xbar + s I (then less s)."""
    from scipy.linalg import solve_triangular

    scale = float(np.linalg.norm(range_sketch))
    shift = math.sqrt(len(omega)) * arrays.precision(omega) * scale
    vectors, weights = np.zeros((len(omega), rank), omega.dtype), np.zeros(rank, arrays.real_dtype(omega.dtype))
    while scale > 0:
        shifted = range_sketch + shift * omega
        core = omega.conj().T @ shifted
        try:
            triangle = np.linalg.cholesky(arrays.hermitian_part(core))
        except np.linalg.LinAlgError:
            shift *= 10.0
            continue
        half = solve_triangular(triangle, shifted.conj().T, lower=True).conj().T
        left, sizes, _ = np.linalg.svd(half, full_matrices=False)
        vectors, weights = left[:, :rank], np.maximum(sizes[:rank] ** 2 - shift, 0)
        break
    if trace is not None:
        weights = weights + max(0.0, trace - float(weights.sum())) / rank
    return atoms.LowRank(vectors, vectors, weights)


def _gaussian(rng: np.random.Generator, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    """Return Gaussian entries of unit variance."""
    entries = rng.standard_normal(shape)
    if dtype.kind == "c":
        entries = (entries + 1j * rng.standard_normal(shape)) / math.sqrt(2.0)
    return entries.astype(dtype)
