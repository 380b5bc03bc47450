"""Maps composed of maps: several primal blocks (paper, case (c)), a composition, a stack, X = L Z R^*, scaled rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array, FloatArray, Shape
from unipd._util import validate
from unipd._util.arrays import real_dtype
from unipd.atoms import Blocks, apply_adjoint
from unipd.errors import InvalidInput
from unipd.maps.base import Map, OperatorSum, frobenius_bound, require_map, row_norms
from unipd.protocols import LinearMap, MapDefaults
from unipd.spectral.operators import LazyMatrix, is_hermitian


class _SeveralMaps(Map):
    """A map made of maps."""

    def __init__(self, maps: tuple[MapDefaults, ...], domain: Any, codomain: Shape, dtype: Any = None) -> None:
        self.maps = maps
        super().__init__(domain, codomain, dtype or np.result_type(*(part.dtype for part in maps)))

    @property
    def nbytes(self) -> int:
        """Bytes of all maps."""
        return sum(part.nbytes for part in self.maps)

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The maps inside."""
        return self.maps

    def _row_norms_of_maps(self) -> list[FloatArray] | None:
        known = [norms for part in self.maps if (norms := row_norms(part)) is not None]
        return known if len(known) == len(self.maps) else None


class BlockMap(_SeveralMaps):
    """A x = sum_i A_i x_i for x = (x_1, ..., x_m); the adjoint is the tuple of the blocks' adjoints.

    Parameters
    ----------
    maps
        One map per block, all with the same codomain; :func:`as_map` makes one of a matrix. (A list of matrices given
        to :class:`unipd.Problem` becomes a BlockMap by itself.)

    Raises
    ------
    InvalidInput
        If the maps have images of different shapes.

    See Also
    --------
    Stacked, unipd.sharp.Product

    Notes
    -----
    In the paper: supplement, case (c).

    Examples
    --------
    >>> from unipd.maps import DenseMatrix
    >>> both = BlockMap([DenseMatrix(np.eye(2)), DenseMatrix(np.ones((2, 1)))])
    >>> both.image((np.array([1.0, 2.0]), np.array([3.0])))
    array([4., 5.])
    """

    def __init__(self, maps: Sequence[LinearMap]) -> None:
        parts = _require_maps("A", maps)
        self.has_mixed_products = all(part.has_mixed_products for part in parts)
        self.has_adjoint_entries = all(part.has_adjoint_entries for part in parts)
        codomain = parts[0].codomain
        for index, part in enumerate(parts):
            if part.codomain != codomain:
                raise InvalidInput(f"A[{index}]", f"images of shape {codomain}", f"{part.codomain}")
        super().__init__(parts, tuple(part.domain for part in parts), codomain)

    @property
    def block_maps(self) -> tuple[MapDefaults, ...]:
        """The maps of the blocks."""
        return self.maps

    def image(self, atom: Any) -> Array:
        """Return sum_i A_i x_i."""
        return self._sum_images(atom, range(len(self.maps)))

    def _sum_images(self, atom: Any, blocks: Iterable[int]) -> Array:
        """Return the sum of A_i x_i over some blocks, those of a process of a cluster run."""
        parts = atom.parts if isinstance(atom, Blocks) else atom
        if len(parts) != len(self.maps):
            raise InvalidInput("x", f"{len(self.maps)} blocks", f"{len(parts)}")
        total = np.zeros(self.codomain, self.dtype)
        for index in blocks:
            total += self.maps[index].image(parts[index])
        return total

    def adjoint(self, dual: Array) -> tuple[Any, ...]:
        """Return (A_1^* lam, ..., A_m^* lam); a block with real images takes the real part of lam."""
        return tuple(part.adjoint(dual_part(part, dual)) for part in self.maps)

    def columns(self, places: Any) -> Any:
        """Return the columns of the blocks, whose entries are counted one block after the other."""
        sizes = [math.prod(part.domain) for part in self.maps]
        block = np.searchsorted(np.cumsum(sizes), places, side="right")
        first = np.cumsum([0, *sizes])
        parts = [part.columns(places[block == i] - first[i]) for i, part in enumerate(self.maps)]
        if any(part is None for part in parts):
            return None
        order = np.argsort(np.argsort(block, kind="stable"), kind="stable")
        if any(scipy.sparse.issparse(part) for part in parts):
            return scipy.sparse.hstack(parts, format="csc")[:, order]
        return np.concatenate(parts, axis=1)[:, order]

    def row_norms(self) -> FloatArray | None:
        """Return the root of the sum of the blocks' squares, or None unless all are known."""
        known = self._row_norms_of_maps()
        return None if known is None else np.linalg.norm(known, axis=0)


class Composed(_SeveralMaps):
    """A = outer . inner, where the images of ``inner`` are arrays: A x = outer(inner(x)), A^* = inner^* outer^*.

    Parameters
    ----------
    outer
        The map applied last.
    inner
        The map applied first.

    Raises
    ------
    InvalidInput
        If one of them is not a map, or ``outer`` does not take the images of ``inner``.

    See Also
    --------
    Stacked, BlockMap, TwoSidedMap

    Examples
    --------
    >>> from unipd.maps import DenseMatrix
    >>> Composed(DenseMatrix(np.array([[1.0, 1.0]])), DenseMatrix(2 * np.eye(2))).image(np.array([1.0, 2.0]))
    array([6.])
    """

    def __init__(self, outer: LinearMap, inner: LinearMap) -> None:
        self.outer, self.inner = require_map("outer", outer), require_map("inner", inner)
        if tuple(outer.domain) != tuple(inner.codomain):
            raise InvalidInput("outer", f"a map of points of shape {inner.codomain}", f"of shape {outer.domain}")
        probe = outer.image(np.zeros(inner.codomain, inner.dtype))
        super().__init__((self.outer, self.inner), inner.domain, outer.codomain, np.asarray(probe).dtype)

    def image(self, atom: Any) -> Array:
        """Return outer(inner(x))."""
        return self.outer.image(self.inner.image(atom))

    def adjoint(self, dual: Array) -> Any:
        """Return inner^* outer^* lam."""
        between = self.outer.adjoint(dual)
        array = between if isinstance(between, np.ndarray) else np.asarray(between.toarray())
        return self.inner.adjoint(dual_part(self.inner, array))


class Stacked(_SeveralMaps):
    """A x = (A_1 x, ..., A_m x), flattened and concatenated; the adjoint is the sum of the parts' adjoints.

    Parameters
    ----------
    maps
        Maps with one domain.

    Raises
    ------
    InvalidInput
        If the maps have different domains.

    See Also
    --------
    BlockMap, Composed, unipd.couplings.Product

    Examples
    --------
    >>> from unipd.maps import Identity
    >>> both = Stacked([Identity((2,)), Identity((2,))])
    >>> both.adjoint(np.array([1.0, 2.0, 3.0, 4.0]))
    array([4., 6.])
    """

    def __init__(self, maps: Sequence[LinearMap]) -> None:
        parts = _require_maps("maps", maps)
        domain = parts[0].domain
        for index, part in enumerate(parts):
            if part.domain != domain:
                raise InvalidInput(f"maps[{index}]", f"a map of points of shape {domain}", f"of shape {part.domain}")
        self.has_adjoint_entries = all(part.has_adjoint_entries for part in parts)
        sizes = [math.prod(part.codomain) for part in parts]
        self._ends = np.cumsum(sizes)
        super().__init__(parts, domain, (sum(sizes),))

    def image(self, atom: Any) -> Array:
        """Return the images, concatenated."""
        return np.concatenate([part.image(atom).reshape(-1) for part in self.maps]).astype(self.dtype, copy=False)

    def adjoint(self, dual: Array) -> Any:
        """Return sum_i A_i^* lam_i: an array when all are, else an operator (a tuple for several blocks)."""
        pieces = np.split(self._check_dual(dual), self._ends[:-1])
        pairs = zip(self.maps, pieces, strict=True)
        return _sum_adjoints([part.adjoint(dual_part(part, piece).reshape(part.codomain)) for part, piece in pairs])

    def row_norms(self) -> FloatArray | None:
        """Return the parts' norms one after the other, or None unless all are known."""
        known = self._row_norms_of_maps()
        return None if known is None else np.concatenate(known)


class TwoSidedMap(Map):
    """A'(Z) = A(L Z R^*) for a map A of matrices; the adjoint is the operator L^* A^*(lam) R.

    Parameters
    ----------
    map
        The map A of matrices of shape (p, l).
    left, right
        L with p rows and R with l rows: an array, a SciPy sparse matrix, an operator with matvec and rmatvec, a vector
        for its diagonal matrix, or None for the identity. The same object on both sides keeps factors Hermitian.

    Raises
    ------
    InvalidInput
        ``map``: expected a map of matrices.

    See Also
    --------
    Composed, OperatorMap

    Examples
    --------
    >>> from unipd.maps import Sampling
    >>> scaled = TwoSidedMap(Sampling([0, 1], [1, 0], (2, 2)), np.array([2.0, 3.0]), None)
    >>> scaled.image(np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([2., 3.])
    """

    def __init__(self, map: LinearMap, left: Any = None, right: Any = None) -> None:
        self.map: MapDefaults = require_map("map", map)
        if len(map.domain) != 2 or not all(isinstance(size, (int, np.integer)) for size in map.domain):
            raise InvalidInput("map", "a map of matrices", f"a map of points of shape {map.domain}")
        self.left = SideFactor("left", left, map.domain[0])
        self.right = self.left if right is left and right is not None else SideFactor("right", right, map.domain[1])
        self.runs_user_code = self.left.runs_user_code or self.right.runs_user_code
        super().__init__((self.left.columns, self.right.columns), map.codomain, map.dtype)

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The map A."""
        return (self.map,)

    @property
    def nbytes(self) -> int:
        """Bytes of the map (the factors belong to the caller)."""
        return self.map.nbytes

    def image(self, atom: Any) -> Array:
        """Return A(L Z R^*); factors stay factors."""
        self._check_atom(atom)
        if isinstance(atom, atoms.SparsePoint):
            atom = _as_factors(atom)
        if isinstance(atom, atoms.LowRank):
            left = self.left.times(atom.left)
            shared = atom.hermitian and self.right is self.left
            return self.map.image(atoms.LowRank(left, left if shared else self.right.times(atom.right), atom.weights))
        half = self.left.times(np.asarray(atom))
        return self.map.image(self.right.times(half.conj().T).conj().T)

    def adjoint(self, dual: Array) -> TwoSidedOperator:
        """Return L^* A^*(lam) R as an operator."""
        return TwoSidedOperator(self.map.adjoint(dual), self.left, self.right)


class TwoSidedOperator(LazyMatrix):
    """The matrix L^* M R, multiplied from one side to the other and never formed."""

    def __init__(self, middle: Any, left: SideFactor, right: SideFactor) -> None:
        dtype = np.result_type(middle.dtype, left.dtype, right.dtype)
        super().__init__((left.columns, right.columns), dtype)
        self.middle = middle
        self.left = left
        self.right = right

    @property
    def hermitian(self) -> bool:
        """Whether M is and both sides are the same."""
        return self.left is self.right and is_hermitian(self.middle)

    def matmat(self, x: Array) -> Array:
        """Return L^* (M (R X))."""
        return self.left.adjoint_times(atoms.apply(self.middle, self.right.times(x)))

    def rmatmat(self, x: Array) -> Array:
        """Return R^* (M^* (L X))."""
        return self.right.adjoint_times(apply_adjoint(self.middle, self.left.times(x)))

    def __sub__(self, other: TwoSidedOperator) -> TwoSidedOperator:
        """Return the difference of two operators between the same sides."""
        return TwoSidedOperator(self.middle - other.middle, self.left, self.right)

    def toarray(self) -> Array:
        """Return the matrix as an array; the middle is formed, for small sizes."""
        middle = self.middle if isinstance(self.middle, np.ndarray) else self.middle.toarray()
        return self.right.adjoint_times(self.left.adjoint_times(middle).conj().T).conj().T

    def frobenius(self) -> float:
        """Return the upper bound ||L|| ||M||_F ||R|| with bounds of the spectral norms."""
        return self.left.bound * frobenius_bound(self.middle) * self.right.bound


class SideFactor:
    """L or R of a two-sided map: products with a matrix, a diagonal, an operator or the identity.

    >>> SideFactor("left", np.array([1.0, 2.0]), 2).times(np.ones((2, 1)))
    array([[1.],
           [2.]])
    """

    def __init__(self, name: str, value: Any, rows: int) -> None:
        self._value: Any = _check_factor(name, value)
        shape: tuple[int, ...] = (rows,) if self._value is None else tuple(self._value.shape)
        self._diagonal = self._value is not None and len(shape) == 1
        self.runs_user_code = hasattr(value, "matvec") and not validate.is_own(value)
        self.columns = int(shape[-1])
        if shape[0] != rows or self.columns < 1:
            raise InvalidInput(name, f"a matrix of {rows} rows", f"shape {shape}")
        self.dtype: np.dtype[Any] = validate.floating_dtype(
            name, np.float32 if self._value is None else self._value.dtype
        )
        self.bound = _spectral_bound(self._value)

    def times(self, block: Array) -> Array:
        """Return L X."""
        if self._value is None:
            return block
        return self._value[:, None] * block if self._diagonal else np.asarray(atoms.apply(self._value, block))

    def adjoint_times(self, block: Array) -> Array:
        """Return L^* X."""
        if self._value is None:
            return block
        return self._value.conj()[:, None] * block if self._diagonal else apply_adjoint(self._value, block)


def _check_factor(name: str, value: Any) -> Any:
    if value is None or hasattr(value, "matvec"):
        return value
    if scipy.sparse.issparse(value):
        data = validate.finite_array(name, value.data)
        return value.astype(data.dtype, copy=False)
    array = validate.finite_array(name, value)
    if array.ndim not in (1, 2):
        raise InvalidInput(name, "a matrix or the vector of a diagonal", f"shape {array.shape}")
    return array


def _spectral_bound(value: Any) -> float:
    """Return an upper bound on the spectral norm, sqrt(||L||_1 ||L||_inf), inf for an operator."""
    if value is None:
        return 1.0
    if hasattr(value, "matvec"):
        return math.inf
    modulus: Any = abs(value)
    if len(value.shape) == 1:
        return float(modulus.max())
    return math.sqrt(float(modulus.sum(axis=0).max()) * float(modulus.sum(axis=1).max()))


def _as_factors(atom: atoms.SparsePoint) -> atoms.LowRank:
    """Return a sparse matrix as factors, one column for each nonzero."""
    rows, cols = (np.asarray(part) for part in np.unravel_index(atom.indices, atom.shape))
    places = np.arange(rows.size)
    left, right = (np.zeros((size, rows.size), atom.dtype) for size in atom.shape)
    left[rows, places] = atom.values
    right[cols, places] = 1
    return atoms.LowRank(left, right, np.ones(rows.size, real_dtype(atom.dtype)))


class RowScaled(Map):
    """D A for a positive diagonal D: images are multiplied by it, dual vectors before the adjoint; A is not copied.

    >>> from unipd.maps import DenseMatrix
    >>> RowScaled(DenseMatrix(np.ones((2, 1))), np.array([1.0, 4.0])).image(np.array([3.0]))
    array([ 3., 12.])
    """

    def __init__(self, inner: LinearMap, factors: Array) -> None:
        self.inner: MapDefaults = require_map("inner", inner)
        self.has_cheap_images = self.inner.has_cheap_images
        self.has_mixed_products = self.inner.has_mixed_products
        self.factors = factors.astype(real_dtype(inner.dtype)).reshape(inner.codomain)
        self._blocks = tuple(RowScaled(part, self.factors) for part in self.inner.block_maps)
        super().__init__(inner.domain, inner.codomain, inner.dtype)

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """A."""
        return (self.inner,)

    @property
    def nbytes(self) -> int:
        """Bytes of A and of the factors."""
        return self.inner.nbytes + self.factors.nbytes

    @property
    def block_maps(self) -> tuple[RowScaled, ...]:
        """D A_i for every block of A."""
        return self._blocks

    def image(self, atom: Any) -> Array:
        """Return D (A x)."""
        return self.factors * self.inner.image(atom)

    def adjoint(self, dual: Array) -> Any:
        """Return A^* (D lam)."""
        return self.inner.adjoint(self.factors * dual)

    def columns(self, places: Any) -> Any:
        """Return the columns of A times the factors."""
        part = self.inner.columns(places)
        scaled = None if part is None else part * self.factors.reshape(-1, 1)
        return scipy.sparse.csc_array(scaled) if scipy.sparse.issparse(scaled) else scaled

    def row_norms(self) -> FloatArray | None:
        """Return the factors times the norms of A's rows."""
        norms = row_norms(self.inner)
        return None if norms is None else self.factors.reshape(-1) * norms


def dual_part(part: LinearMap, dual: Array) -> Array:
    """Return the dual vector for a part of a map: its real part where images are real."""
    return np.real(dual) if part.dtype.kind != "c" else dual


def _sum_adjoints(adjoints: Sequence[Any]) -> Any:
    if isinstance(adjoints[0], tuple):
        return tuple(_sum_adjoints(column) for column in zip(*adjoints, strict=True))
    if len(adjoints) == 1:
        return adjoints[0]
    if all(isinstance(part, np.ndarray) for part in adjoints):
        return sum(adjoints[1:], adjoints[0])
    return OperatorSum(adjoints)


def _require_maps(name: str, values: Any) -> tuple[MapDefaults, ...]:
    """Return a nonempty list of linear maps as a tuple, or raise."""
    if not isinstance(values, (list, tuple)) or not values:
        raise InvalidInput(name, "a list of at least one map", validate.describe_type(values))
    return tuple(require_map(f"{name}[{index}]", value) for index, value in enumerate(values))
