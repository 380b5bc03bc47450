"""The bundle: atoms of X with their images and costs, and the model of g that they define.

A product of sets whose map is given block by block has atoms and a simplex of weights for every block, which takes far
fewer oracle calls than one model of the whole; any other problem is a product with one block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array, FloatArray, IntArray
from unipd._util.arrays import submatrix
from unipd.dual import DualPoint, image_of, oracle_errors
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.trackers import ByBlock, Combination
from unipd.trackers.atoms import vertex_key

FEW_BLOCKS = 20
"""Blocks up to which images are dense, and any loss has one model per block."""
FEW_ATOMS = 500
"""Atoms that are always kept; of several blocks, those up to which the master is solved exactly, by a Gram matrix."""
_MOST_ROWS = 4000
"""Rows up to which the dual master's Newton systems are affordable."""
DECREASE_ROUNDING = 1e-13
"""Predicted decreases below this share of a master's value are rounding: some 450 units in double precision."""
_ROUNDING = 1e-12
"""Relative rounding error of a sum."""


@dataclass(frozen=True)
class Columns:
    """Vectors of equal length as columns, dense or compressed; plain arrays, so that a state is easily stored."""

    rows: int
    is_sparse: bool
    entries: FloatArray = field(default_factory=lambda: np.zeros(0))
    """All columns one after the other; their nonzeros alone where they are sparse."""
    places: IntArray = field(default_factory=lambda: np.zeros(0, np.intp))
    """Row of each nonzero, where columns are sparse."""
    ends: IntArray = field(default_factory=lambda: np.zeros(1, np.intp))
    """Where each column ends among the nonzeros, after a leading zero."""

    def with_more(self, vectors: Sequence[FloatArray]) -> Columns:
        """Return the columns with these appended."""
        if not self.is_sparse:
            return replace(self, entries=np.concatenate([self.entries, *vectors]))
        places = [np.flatnonzero(vector) for vector in vectors]
        return Columns(
            self.rows,
            True,
            np.concatenate([self.entries, *(v[p] for v, p in zip(vectors, places, strict=True))]),
            np.concatenate([self.places, *places]),
            np.concatenate([self.ends, self.ends[-1] + np.cumsum([p.size for p in places], dtype=np.intp)]),
        )

    def select(self, order: IntArray) -> Columns:
        """Return the columns at these places."""
        if not self.is_sparse:
            return replace(self, entries=self.entries.reshape(-1, self.rows)[order].reshape(-1))
        part: Any = self._compressed()[:, order]
        return Columns(self.rows, True, part.data, part.indices.astype(np.intp), part.indptr.astype(np.intp))

    @cached_property
    def matrix(self) -> Any:
        """The columns as a matrix: dense, unless they are sparse, many, and mostly zero."""
        if not self.is_sparse:
            return self.entries.reshape(-1, self.rows).T
        size = self.rows * (self.ends.size - 1)
        is_full = self.entries.size > 0.1 * size or size <= 1 << 16  # dense products are faster then
        return self._compressed().T.toarray().T if is_full else self._compressed()

    def dense(self, is_complex: bool) -> Array:
        """Return the columns as a dense matrix, pairs of numbers as complex numbers if ``is_complex``."""
        transposed = self.matrix.T
        rows = transposed if isinstance(transposed, np.ndarray) else transposed.toarray()
        return (rows.view(np.complex128) if is_complex else rows).T

    def _compressed(self) -> Any:
        return scipy.sparse.csc_array((self.entries, self.places, self.ends), shape=(self.rows, self.ends.size - 1))


class KnownAtom(NamedTuple):
    """An atom of X with what the bundle needs of it; a dual point has the same three."""

    atom: Any
    image: Array
    """A x."""
    objective: float
    """f(x)."""


class _Entry(NamedTuple):
    """An atom that enters the bundle."""

    block: int
    atom: Any
    column: FloatArray
    """Its image in real form, less b where the columns are shifted."""
    cost: float
    weight: float = 0.0


@dataclass(frozen=True)
class Bundle:
    """Atoms x_ij of every block i with images, costs, and the weights of x_i = sum_j w_ij x_ij.

    The hull model has every w_i in a simplex and bounds f by sum_ij w_ij f_i(x_ij), exact for linear f. Where f is the
    square of a gauge (its conjugate has degree 2), there is one block, atoms are scaled to f = 1, and the model is
    conic: w >= 0 and f bounded by (sum_j w_j)^2. Where f is linear but for a term <x, D x>/2 with a diagonal D, there
    is one block, and c(w) = f(x) is a quadratic function that both models know exactly.
    """

    blocks: IntArray
    """The block of every atom, ascending."""
    atoms: tuple[Any, ...]
    keys: tuple[bytes, ...]
    """See :func:`~unipd.trackers.atoms.vertex_key`."""
    costs: FloatArray
    """f_i(x_ij)."""
    columns: Columns
    """A_i x_ij, complex numbers as pairs; less b in the first block where columns are shifted."""
    weights: FloatArray
    by_block: bool
    """Whether x is a product of blocks, each with atoms of its own."""
    conic: bool
    gram: FloatArray | None
    """Real inner products of the columns; None where the master is solved in the dual."""
    diagonal: FloatArray | None = None
    """D, where f is quadratic."""
    quadratic_gram: FloatArray | None = None
    """<x_i, D x_j>, where f is quadratic."""
    prox_step: float = 0.0
    """tau of the dual master's proximal term in the weights; 0 until prices suggest one."""
    is_solved: bool = True
    """Whether the last master was solved to its tolerance."""

    @staticmethod
    def of(problem: Problem, point: DualPoint | KnownAtom, *, by_block: bool | None = None) -> Bundle:
        """Return the bundle of one atom; of one per block, where the problem has blocks and ``by_block`` allows it."""
        by_block = has_blocks(problem) if by_block is None else by_block
        count = len(point.atom.parts) if by_block else 1
        diagonal = None if by_block else problem.sharp.quadratic_diagonal()
        empty = Bundle(
            blocks=np.zeros(0, np.intp),
            atoms=(),
            keys=(),
            costs=np.zeros(0),
            columns=Columns(as_real(problem.b).size, count > FEW_BLOCKS),
            weights=np.zeros(0),
            by_block=by_block,
            conic=not by_block and problem.sharp.degree == 2.0,
            gram=None if by_block and problem.loss is None else np.zeros((0, 0)),
            diagonal=diagonal,
            quadratic_gram=None if diagonal is None else np.zeros((0, 0)),
        )
        return empty.with_atoms(problem, point).with_weights(np.ones(count))

    @property
    def count(self) -> int:
        """Number of blocks."""
        return int(self.blocks[-1]) + 1

    @property
    def starts(self) -> IntArray:
        """Where the blocks begin, and their end."""
        return np.searchsorted(self.blocks, np.arange(self.count + 1))

    @property
    def sums(self) -> FloatArray | None:
        """S with S w = 1, one row per block; None in a conic model."""
        return None if self.conic else (self.blocks == np.arange(self.count)[:, None]).astype(np.float64)

    @property
    def is_shifted(self) -> bool:
        """Whether b is subtracted from the images of the first block, so that nothing cancels in A x - b.

        Sparse columns would become dense, and the weights of a conic model do not sum to one.
        """
        return not (self.conic or self.columns.is_sparse)

    def with_weights(self, weights: FloatArray) -> Bundle:
        """Return the bundle with other weights."""
        return replace(self, weights=weights)

    # Atoms that enter and leave

    def with_atoms(
        self, problem: Problem, *points: DualPoint | KnownAtom, weights: Sequence[float] | None = None
    ) -> Bundle:
        """Return the bundle with more atoms, of weight zero or, in one block, of these weights.

        An atom already there is not repeated: its weight grows.
        """
        places = {pair: place for place, pair in enumerate(zip(self.blocks.tolist(), self.keys, strict=True))}
        entries: list[_Entry] = []
        totals = self.weights.tolist()
        for number, point in enumerate(points):
            for block, atom in enumerate(point.atom.parts if self.by_block else (point.atom,)):
                place = places.setdefault((block, vertex_key(atom)), len(totals))
                if place == len(totals):
                    entries.append(self._entry(problem, point, block, atom))
                    totals.append(0.0)
                if weights:
                    totals[place] += weights[number] * (math.sqrt(max(point.objective, 0.0)) if self.conic else 1.0)
        larger = self._append(entries) if entries else self
        return larger.with_weights(np.array(totals)) if weights else larger

    def at_point_of(self, problem: Problem, other: Bundle) -> Bundle:
        """Return the bundle with the atoms of another one by block, at its point."""
        places = {pair: place for place, pair in enumerate(zip(self.blocks.tolist(), self.keys, strict=True))}
        weights, entries = np.zeros(self.blocks.size), list[_Entry]()
        for block, key, atom, weight in zip(other.blocks, other.keys, other.atoms, other.weights, strict=True):
            place = places.get((int(block), key))
            if place is None:
                entries.append(self._block_entry(problem, int(block), atom)._replace(weight=float(weight)))
            else:
                weights[place] = weight
        return replace(self, weights=weights, prox_step=other.prox_step)._append(entries)

    def _entry(self, problem: Problem, point: DualPoint | KnownAtom, block: int, atom: Any) -> _Entry:
        if self.by_block:
            return self._block_entry(problem, block, atom)
        return self._normalize(self._shift(problem, _Entry(0, atom, as_real(point.image), point.objective)))

    def _block_entry(self, problem: Problem, block: int, atom: Any) -> _Entry:
        image, cost = evaluate_block(problem, block, atom)
        return self._shift(problem, _Entry(block, atom, as_real(image), cost))

    def _shift(self, problem: Problem, entry: _Entry) -> _Entry:
        is_shifted = self.is_shifted and entry.block == 0
        return entry._replace(column=entry.column - as_real(problem.b)) if is_shifted else entry

    def _normalize(self, entry: _Entry) -> _Entry:
        """Scale an atom of a squared gauge to f = 1 (the zero atom stays)."""
        if not self.conic:
            return entry
        size = math.sqrt(max(entry.cost, 0.0))
        factor = 1.0 / size if size > 0.0 else 0.0
        return _Entry(0, atoms.scale_atom(entry.atom, factor), factor * entry.column, 1.0, size * entry.weight)

    def _append(self, entries: Sequence[_Entry]) -> Bundle:
        fresh = tuple(entry.atom for entry in entries)
        columns = self.columns.with_more([entry.column for entry in entries])
        size = self.blocks.size + len(entries)
        gram = self.gram if size <= FEW_ATOMS or not self.by_block else None
        if gram is not None:
            gram = _border(gram, columns.matrix[:, self.blocks.size :].T @ columns.matrix)
        bundle = replace(
            self,
            blocks=np.append(self.blocks, np.array([entry.block for entry in entries], np.intp)),
            atoms=(*self.atoms, *fresh),
            keys=(*self.keys, *map(vertex_key, fresh)),
            costs=np.append(self.costs, [entry.cost for entry in entries]),
            columns=columns,
            weights=np.append(self.weights, [entry.weight for entry in entries]),
            gram=gram,
            quadratic_gram=self._border_quadratic(fresh),
            is_solved=True,
        )
        return bundle.select(np.argsort(bundle.blocks, kind="stable")) if self.by_block else bundle

    def _border_quadratic(self, fresh: tuple[Any, ...]) -> FloatArray | None:
        """Return <x_i, D x_j> with more atoms."""
        if self.diagonal is None or self.quadratic_gram is None:
            return None
        products = [self.diagonal * atom for atom in fresh]
        others = self.atoms + fresh
        return _border(self.quadratic_gram, np.array([[np.vdot(x, y).real for x in others] for y in products]))

    def select(self, places: IntArray) -> Bundle:
        """Return the bundle of the atoms at these places."""
        return replace(
            self,
            blocks=self.blocks[places],
            atoms=tuple(self.atoms[place] for place in places),
            keys=tuple(self.keys[place] for place in places),
            costs=self.costs[places],
            columns=self.columns.select(places),
            weights=self.weights[places],
            gram=None if self.gram is None else submatrix(self.gram, places, places),
            quadratic_gram=None if self.quadratic_gram is None else submatrix(self.quadratic_gram, places, places),
        )

    def prune(self, limit: int, dual: Array) -> Bundle:
        """Return the bundle with at most ``limit`` atoms in every block and the same point.

        Of the atoms without weight the most expensive at lam leave first; then the lightest are merged into their
        weighted mean, which keeps the point and the value of the model there (aggregation).
        """
        if int(np.diff(self.starts).max()) <= limit:
            return self
        prices, stay = self.prices(dual), np.ones(self.blocks.size, bool)
        for first, last in pairwise(self.starts):
            if last - first > limit:
                idle = first + np.flatnonzero(self.weights[first:last] <= 0.0)
                expensive = idle[np.argsort(-prices[idle], kind="stable")]
                stay[expensive[: last - first - limit]] = False
        pruned = self.select(np.flatnonzero(stay))
        for block in np.flatnonzero(np.diff(pruned.starts) > limit):
            pruned = pruned._merge_lightest(int(block), limit)
        return pruned

    def _merge_lightest(self, block: int, limit: int) -> Bundle:
        """Replace the lightest atoms of a block by their weighted mean."""
        first, last = int(self.starts[block]), int(self.starts[block + 1])
        light = first + np.argsort(self.weights[first:last], kind="stable")[: last - first - limit + 1]
        total = float(self.weights[light].sum())
        shares = np.zeros(self.blocks.size)
        shares[light] = self.weights[light] / total
        atom = atoms.combination([float(shares[place]) for place in light], [self.atoms[place] for place in light])
        mean = _Entry(block, atom, self.columns.matrix @ shares, self.cost_at(shares), total)
        rest = np.delete(np.arange(self.blocks.size), light)
        return self.select(rest)._append([self._normalize(mean)])

    # The point, its cost, and the model of g

    def residual_at(self, problem: Problem, weights: FloatArray) -> Array:
        """Return A x - b at the point with these weights, in double precision."""
        residual = as_complex(self.columns.matrix @ weights, problem)
        return residual if self.is_shifted else residual - problem.b

    def image(self, problem: Problem) -> Array:
        """Return A x."""
        image = as_complex(self.columns.matrix @ self.weights, problem)
        return (image + problem.b if self.is_shifted else image).astype(problem.dtype, copy=False)

    def objective(self) -> float:
        """Return the model's bound of f(x)."""
        return self.cost_at(self.weights)

    def cost_at(self, weights: FloatArray) -> float:
        """Return the model's bound c(w) of f at the point with these weights."""
        if self.quadratic_gram is not None:
            return float((self._linear_costs + 0.5 * (self.quadratic_gram @ weights)) @ weights)
        return float(weights.sum()) ** 2 if self.conic else float(self.costs @ weights)

    def cost_gradient(self, weights: FloatArray) -> FloatArray:
        """Return the gradient of c."""
        if self.quadratic_gram is not None:
            return self._linear_costs + self.quadratic_gram @ weights
        return np.full(weights.size, 2.0 * weights.sum()) if self.conic else self.costs

    def cost_hessian(self) -> FloatArray | float:
        """Return the second derivative of c."""
        if self.quadratic_gram is not None:
            return self.quadratic_gram
        return 2.0 if self.conic else 0.0

    @property
    def _linear_costs(self) -> FloatArray:
        """The linear part of f at the atoms, where f is quadratic."""
        assert self.quadratic_gram is not None
        return self.costs - 0.5 * np.diagonal(self.quadratic_gram)

    def tracker(self) -> Tracker:
        """Return x as a primal tracker."""
        parts: list[Tracker] = []
        for first, last in pairwise(self.starts):
            weights = self.weights[first:last]
            used = np.flatnonzero(weights > 0) if weights.any() else np.zeros(1, np.intp)
            parts.append(Combination(tuple(self.atoms[first + place] for place in used), weights[used]))
        return ByBlock(tuple(parts)) if self.by_block else parts[0]

    def prices(self, dual: Array) -> FloatArray:
        """Return f_i(x_ij) + <lam, A_i x_ij>, less <lam, b> where columns are shifted."""
        return self.costs + self.columns.matrix.T @ as_real(dual)

    def lower_model(self, problem: Problem, dual: Array) -> float:
        """Return the model of g at lam, a lower bound: the best value that the atoms, and the point, attain."""
        real = as_real(dual)
        slopes = -(self.columns.matrix.T @ real)
        if self.conic:
            best = 0.25 * float(slopes.max(initial=0.0)) ** 2
        else:
            best = float(np.maximum.reduceat(slopes - self.costs, self.starts[:-1]).sum())
        if self.quadratic_gram is not None:
            cost, size = self.objective(), float(np.abs(slopes) @ self.weights)
            best = max(best, float(slopes @ self.weights) - cost - _ROUNDING * (size + abs(cost)))
        return best if self.is_shifted else best + float(real @ as_real(problem.b))

    def extent(self) -> float:
        """Return the length of all columns and costs together: no less than what cancels in the model."""
        return float(np.linalg.norm(self.columns.entries) + np.linalg.norm(self.costs))


def _border(matrix: FloatArray, last: FloatArray) -> FloatArray:
    """Return a symmetric matrix with more rows, and columns like them."""
    size, more = matrix.shape[0], last.shape[0]
    larger = np.empty((size + more, size + more))
    larger[:size, :size] = matrix
    larger[size:, :size], larger[:size, size:] = last[:, :size], last[:, :size].T
    larger[size:, size:] = 0.5 * (last[:, size:] + last[:, size:].T)
    return larger


# Dual vectors in real form


def as_real(vector: Array) -> FloatArray:
    """Return an array as a vector of doubles, complex numbers as pairs, which preserves real inner products.

    >>> as_real(np.array([1 + 2j, 3]))
    array([1., 2., 3., 0.])
    """
    flat = np.ascontiguousarray(vector).reshape(-1)
    if flat.dtype.kind == "c":
        return flat.astype(np.complex128, copy=False).view(np.float64)
    return flat.astype(np.float64, copy=False)


def as_complex(vector: FloatArray, problem: Problem) -> Array:
    """Return the array of the problem's dual shape of which ``vector`` is the real form, in double precision."""
    numbers = vector.view(np.complex128) if problem.dtype.kind == "c" else vector
    return numbers.reshape(problem.dual_shape)


# The structure of a problem


def has_blocks(problem: Problem) -> bool:
    """Whether one model per block applies: a product of sets, A given block by block, and a coupling a master supports.

    Constraints K = {0} and orthants, and least squares, may have any number of blocks; other losses a few.
    """
    oracles, maps = problem.sharp.block_oracles, problem.map.block_maps
    if len(oracles) < 2 or not maps or problem.b.size > _MOST_ROWS:
        return False
    supported = problem.coupling.dual_sign is not None or (problem.loss is not None and len(oracles) <= FEW_BLOCKS)
    return supported and all(part.degree != 2.0 for part in oracles)


def known_atoms(problem: Problem, found: Sequence[Any]) -> list[KnownAtom]:
    """Return atoms of X with their images and costs; sparse ones are mapped together where A gives its columns."""
    images: list[Array] | None = None
    if all(isinstance(atom, atoms.SparsePoint) and atom.indices.size > 0 for atom in found) and found:
        with oracle_errors:
            columns = problem.map.columns(np.concatenate([atom.indices for atom in found]))
            if isinstance(columns, np.ndarray):
                starts = np.cumsum([0, *(atom.indices.size for atom in found[:-1])])
                parts = columns * np.concatenate([atom.values for atom in found])
                sums = np.add.reduceat(parts, starts, axis=1).T.astype(problem.dtype, order="C", copy=False)
                images = [image.reshape(problem.dual_shape) for image in sums]
    if images is None:
        images = [image_of(problem, atom) for atom in found]
    with oracle_errors:
        costs = [problem.sharp.objective(atom) for atom in found]
    return [KnownAtom(*parts) for parts in zip(found, images, costs, strict=True)]


def evaluate_block(problem: Problem, block: int, atom: Any) -> tuple[Array, float]:
    """Return A_i x_i and f_i(x_i)."""
    image = np.asarray(problem.map.block_maps[block].image(atom), problem.dtype)
    return image, problem.sharp.block_oracles[block].objective(atom)
