"""Atoms: the points that sharp oracles return, in structured form.

An atom is a NumPy array, or one of three structured points that are never made dense implicitly:

- :class:`SparsePoint`: a few nonzeros of a long vector (a vertex of the simplex has one);
- :class:`LowRank`: a matrix U diag(w) V^* given by its factors (a top singular pair has one column);
- :class:`Blocks`: one atom for each block of x = (x_1, ..., x_m).

The functions below accept all four.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from unipd._typing import Array, IntArray, Shape
from unipd._util import arrays
from unipd._util.printing import ReprMixin


def apply(operator: Any, block: Array) -> Array:
    """Return ``operator @ block`` for arrays, sparse matrices and anything with matmat or matvec.

    Parameters
    ----------
    operator
        An array, a sparse matrix, or an object with ``matmat`` or ``matvec``.
    block
        The matrix whose columns are multiplied.

    See Also
    --------
    apply_adjoint

    Examples
    --------
    >>> apply(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    if hasattr(operator, "matmat"):
        return operator.matmat(block)
    if hasattr(operator, "matvec") and not hasattr(operator, "__matmul__"):
        return np.stack([operator.matvec(column) for column in block.T], axis=1)
    return operator @ block


def apply_adjoint(operator: Any, block: Array) -> Array:
    """Return ``operator^* @ block`` for arrays, sparse matrices and anything with rmatmat or rmatvec.

    Parameters
    ----------
    operator
        An array, a sparse matrix, or an object with ``rmatmat`` or ``rmatvec``.
    block
        The matrix whose columns are multiplied.

    See Also
    --------
    apply

    Examples
    --------
    >>> apply_adjoint(np.array([[1.0, 2.0]]), np.array([[3.0]]))
    array([[3.],
           [6.]])
    """
    if hasattr(operator, "rmatmat"):
        return np.asarray(operator.rmatmat(block))
    if hasattr(operator, "rmatvec"):
        return np.stack([np.asarray(operator.rmatvec(column)) for column in block.T], axis=1)
    if operator.dtype.kind == "c":
        return (operator.T @ block.conj()).conj()
    return operator.T @ block


def _made_array(array: Array, dtype: Any, copy: bool | None) -> Array:
    """Return the new array that ``__array__`` answers with; NumPy asks for none to be made by ``copy=False``."""
    if copy is False:
        raise ValueError("a structured atom cannot become an array without a copy")
    return np.asarray(array, dtype)


@dataclass(frozen=True, repr=False)
class SparsePoint(ReprMixin):
    """The vector (or array) of the given shape with ``values`` at flat ``indices`` and zeros elsewhere.

    Parameters
    ----------
    shape
        Shape of the array.
    indices
        Flat positions of the nonzeros, in C order.
    values
        The entries at these positions.

    See Also
    --------
    one_hot, LowRank, dense

    Examples
    --------
    >>> SparsePoint((4,), np.array([2]), np.array([1.5])).dense()
    array([0. , 0. , 1.5, 0. ])
    """

    shape: Shape
    indices: IntArray
    values: Array

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the values."""
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.indices.nbytes + self.values.nbytes

    def dense(self) -> Array:
        """Return the point as an array."""
        out = np.zeros(self.shape, self.dtype)
        np.add.at(out.reshape(-1), self.indices, self.values)
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return _made_array(self.dense(), dtype, copy)

    def inner(self, direction: Any) -> float:
        """Return Re <direction, x>."""
        return float(np.vdot(np.asarray(direction).reshape(-1)[self.indices], self.values).real)


@dataclass(frozen=True, repr=False)
class LowRank(ReprMixin):
    """The matrix ``left @ diag(weights) @ right^*``; Hermitian when ``right is left``.

    Parameters
    ----------
    left
        The left factor, one column per term.
    right
        The right factor, one column per term.
    weights
        The diagonal, one weight per term.

    See Also
    --------
    SparsePoint, unipd.trackers.LowRankTracker

    Examples
    --------
    >>> e = np.array([[1.0], [0.0]])
    >>> LowRank(e, e, np.array([2.0])).dense()
    array([[2., 0.],
           [0., 0.]])
    """

    left: Array
    right: Array
    weights: Array

    @property
    def shape(self) -> Shape:
        """Shape of the matrix."""
        return (self.left.shape[0], self.right.shape[0])

    @property
    def rank(self) -> int:
        """Number of columns kept."""
        return int(self.weights.size)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the factors."""
        return self.left.dtype

    @property
    def hermitian(self) -> bool:
        """Whether both factors are the same array."""
        return self.right is self.left

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        shared = 0 if self.hermitian else self.right.nbytes
        return self.left.nbytes + shared + self.weights.nbytes

    def dense(self) -> Array:
        """Return the matrix as an array."""
        return (self.left * self.weights) @ self.right.conj().T

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return _made_array(self.dense(), dtype, copy)

    def inner(self, direction: Any) -> float:
        """Return Re <direction, X> = Re sum_i w_i u_i^* (direction) v_i; direction needs ``@`` or ``matmat``."""
        product = apply(direction, self.right)
        return float(np.sum(self.weights * np.einsum("ij,ij->j", self.left.conj(), product).real))


@dataclass(frozen=True, repr=False)
class Blocks(ReprMixin):
    """One atom per block: x = (x_1, ..., x_m).

    Parameters
    ----------
    parts
        The atoms, in the order of the blocks.

    See Also
    --------
    unipd.sharp.Product, unipd.maps.BlockMap

    Examples
    --------
    >>> pair = Blocks((one_hot((2,), 1, 3.0), np.ones(2)))
    >>> len(pair), pair.shape
    (2, ((2,), (2,)))
    """

    parts: tuple[Atom, ...]

    @property
    def shape(self) -> tuple[Shape, ...]:
        """Shapes of the blocks."""
        return tuple(cast("Shape", part.shape) for part in self.parts)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Common dtype of the blocks."""
        return np.result_type(*(part.dtype for part in self.parts))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(part.nbytes for part in self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, block: int) -> Atom:
        return self.parts[block]

    def __iter__(self) -> Iterator[Atom]:
        return iter(self.parts)

    def dense(self) -> tuple[Any, ...]:
        """Return the blocks as a tuple of arrays."""
        return tuple(dense(part) for part in self.parts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        blocks = [as_array(part) for part in self.parts]
        if len({block.shape for block in blocks}) != 1:
            raise ValueError(f"blocks of shapes {self.shape} do not form one array: use dense() for a tuple of arrays")
        return _made_array(np.stack(blocks), dtype, copy)

    def inner(self, direction: Any) -> float:
        """Return the sum of the blocks' inner products."""
        return sum(inner_product(y, x) for y, x in zip(direction, self.parts, strict=True))


Atom: TypeAlias = Array | SparsePoint | LowRank | Blocks


def one_hot(shape: Shape, index: int, value: complex, dtype: Any = np.float64) -> SparsePoint:
    """Return the point with a single nonzero ``value`` at flat ``index``.

    Parameters
    ----------
    shape
        Shape of the point.
    index
        Flat position of the nonzero.
    value
        The entry there.
    dtype
        Data type of the entry.

    See Also
    --------
    SparsePoint, unipd.sharp.Simplex

    Examples
    --------
    >>> one_hot((3,), 1, -2.0).dense()
    array([ 0., -2.,  0.])
    """
    return SparsePoint(shape, np.array([index]), np.array([value], dtype))


def dense(atom: Any) -> Any:
    """Return an atom as a NumPy array (blocks: as a tuple of arrays).

    Parameters
    ----------
    atom
        An array or a structured point.

    See Also
    --------
    as_array, zero_like

    Examples
    --------
    >>> dense(one_hot((3,), 1, 2.0))
    array([0., 2., 0.])
    """
    return atom if isinstance(atom, np.ndarray) else atom.dense()


def as_array(point: Any) -> Array:
    """Return a point of one block, structured or anything that NumPy reads, as an array.

    Parameters
    ----------
    point
        An array, a structured point, or anything that NumPy reads.

    See Also
    --------
    dense

    Examples
    --------
    >>> as_array(one_hot((2,), 1, 3.0)), as_array([1, 2])
    (array([0., 3.]), array([1, 2]))
    """
    return point.dense() if isinstance(point, (SparsePoint, LowRank)) else np.asarray(point)


def inner_product(direction: Any, atom: Any) -> float:
    """Return the real inner product Re <direction, atom>.

    Parameters
    ----------
    direction
        An array, or an operator where the atom is a low-rank matrix.
    atom
        An array or a structured point.

    See Also
    --------
    combination, apply

    Examples
    --------
    >>> inner_product(np.array([1.0, 5.0]), one_hot((2,), 1, 2.0))
    10.0
    """
    if isinstance(atom, np.ndarray):
        return float(arrays.dot(np.asarray(direction), atom).real)
    return float(atom.inner(direction))


def norm(atom: Any) -> float:
    """Return the Euclidean (Frobenius) norm of an atom; no matrix is formed, and sparse points have distinct indices.

    Parameters
    ----------
    atom
        A point, as an array or a structured atom.

    See Also
    --------
    inner_product, scale_atom

    Examples
    --------
    >>> norm(one_hot((3,), 1, -2.0)), norm(LowRank(np.eye(3, 2), np.eye(3, 2), np.array([3.0, 4.0])))
    (2.0, 5.0)
    """
    if isinstance(atom, Blocks):
        return math.hypot(*map(norm, atom.parts))
    if isinstance(atom, LowRank):
        left = atom.left * atom.weights
        right = left if atom.hermitian else atom.right * atom.weights
        gram = (atom.left.conj().T @ left) * (atom.right.conj().T @ right).conj()
        return math.sqrt(max(float(gram.sum().real), 0.0))
    return arrays.norm(atom.values if isinstance(atom, SparsePoint) else np.asarray(atom))


_SMALL = 10_000
"""Number of entries up to which dense and sparse atoms are stacked for their sum: one product, no loop."""


def scale_atom(atom: Any, factor: float) -> Any:
    """Return ``factor * atom`` in the same form.

    Parameters
    ----------
    atom
        An array or a structured point.
    factor
        The factor.

    See Also
    --------
    combination, zero_like

    Examples
    --------
    >>> scale_atom(one_hot((2,), 1, 2.0), 0.5).values
    array([1.])
    """
    if isinstance(atom, np.ndarray):
        return cast("Array", factor * atom).astype(atom.dtype, copy=False)
    if isinstance(atom, SparsePoint):
        values = (factor * atom.values).astype(atom.dtype, copy=False)
        return SparsePoint(atom.shape, atom.indices, values)
    if isinstance(atom, LowRank):
        return LowRank(atom.left, atom.right, factor * atom.weights)
    return Blocks(tuple(scale_atom(part, factor) for part in atom.parts))


def zero_like(atom: Any) -> Any:
    """Return the zero of the atom's space in the atom's form.

    Parameters
    ----------
    atom
        An array or a structured point.

    See Also
    --------
    scale_atom, dense

    Examples
    --------
    >>> from unipd.atoms import one_hot
    >>> zero_like(one_hot((2,), 1, 1.0)).dense()
    array([0., 0.])
    """
    if isinstance(atom, np.ndarray):
        return np.zeros_like(atom)
    if isinstance(atom, SparsePoint):
        return SparsePoint(atom.shape, atom.indices[:0], atom.values[:0])
    if isinstance(atom, LowRank):
        left = atom.left[:, :0]
        return LowRank(left, left if atom.hermitian else atom.right[:, :0], atom.weights[:0])
    return Blocks(tuple(zero_like(part) for part in atom.parts))


def combination(weights: Sequence[float], atoms: Sequence[Any]) -> Any:
    """Return sum_i weights[i] * atoms[i] as an array, or as a :class:`LowRank` when all atoms are.

    Parameters
    ----------
    weights
        One factor per atom.
    atoms
        Points of one shape.

    See Also
    --------
    scale_atom, add_to

    Examples
    --------
    >>> from unipd.atoms import one_hot
    >>> combination([0.5, 0.5], [one_hot((2,), 0, 1.0), one_hot((2,), 1, 1.0)])
    array([0.5, 0.5])
    """
    first = atoms[0]
    if isinstance(first, Blocks):
        columns = zip(*(atom.parts for atom in atoms), strict=True)
        return Blocks(tuple(combination(weights, column) for column in columns))
    if all(isinstance(atom, LowRank) for atom in atoms):
        return _stack_low_rank(weights, atoms)
    if all(type(atom) is np.ndarray for atom in atoms) and first.size <= _SMALL:
        stacked = np.stack(atoms)
        return np.tensordot(np.asarray(weights, np.real(stacked).dtype), stacked, axes=1)
    if all(type(atom) is SparsePoint and atom.indices.size <= _SMALL for atom in atoms):
        return dense(_stack_sparse(weights, atoms))
    out = np.zeros(first.shape, np.result_type(*(atom.dtype for atom in atoms)))
    for weight, atom in zip(weights, atoms, strict=True):
        add_to(out, weight, atom)
    return out


def add_to(out: Array, weight: float, atom: Any) -> None:
    """Add ``weight * atom`` to the array ``out`` in place.

    Parameters
    ----------
    out
        The array that is changed.
    weight
        The factor of the atom.
    atom
        An array or a structured point.

    See Also
    --------
    combination

    Examples
    --------
    >>> out = np.ones(3)
    >>> add_to(out, 2.0, one_hot((3,), 0, 1.0))
    >>> out
    array([3., 1., 1.])
    """
    if isinstance(atom, SparsePoint):
        np.add.at(out.reshape(-1), atom.indices, weight * atom.values)
    else:
        out += weight * dense(atom)


def _stack_sparse(weights: Sequence[float], atoms: Sequence[SparsePoint]) -> SparsePoint:
    values = np.concatenate([atom.values for atom in atoms])
    kind = np.result_type(np.real(values), np.float16)  # whole numbers have no fractions
    scale = np.repeat(np.asarray(weights, kind), [atom.indices.size for atom in atoms])
    return SparsePoint(atoms[0].shape, np.concatenate([atom.indices for atom in atoms]), scale * values)


def _stack_low_rank(weights: Sequence[float], atoms: Sequence[LowRank]) -> LowRank:
    left = np.concatenate([atom.left for atom in atoms], axis=1)
    same = all(atom.hermitian for atom in atoms)
    right = left if same else np.concatenate([atom.right for atom in atoms], axis=1)
    scale = np.concatenate([w * atom.weights for w, atom in zip(weights, atoms, strict=True)])
    return LowRank(left, right, scale)
