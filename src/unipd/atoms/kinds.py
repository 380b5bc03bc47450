"""The forms in which sharp oracles return points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from unipd import serial
from unipd._typing import Array, IntArray, Shape
from unipd.atoms.products import apply


@dataclass(frozen=True)
class SparsePoint:
    """The vector (or array) of the given shape with ``values`` at flat ``indices`` and zeros elsewhere.

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

    def inner(self, direction: Any) -> float:
        """Return Re <direction, x>."""
        return float(np.vdot(np.asarray(direction).reshape(-1)[self.indices], self.values).real)


@dataclass(frozen=True)
class LowRank:
    """The matrix ``left @ diag(weights) @ right^*``; Hermitian when ``right is left``.

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
        return np.asarray(self.dense(), dtype)

    def inner(self, direction: Any) -> float:
        """Return Re <direction, X> = Re sum_i w_i u_i^* (direction) v_i; direction needs ``@`` or ``matmat``."""
        product = apply(direction, self.right)
        return float(np.sum(self.weights * np.einsum("ij,ij->j", self.left.conj(), product).real))


@dataclass(frozen=True)
class Blocks:
    """One atom a block: x = (x_1, ..., x_m)."""

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

    def inner(self, direction: Any) -> float:
        """Return the sum of the blocks' inner products."""
        return sum(inner(y, x) for y, x in zip(direction, self.parts, strict=True))


Atom: TypeAlias = Array | SparsePoint | LowRank | Blocks


def one_hot(shape: Shape, index: int, value: complex, dtype: Any = np.float64) -> SparsePoint:
    """Return the point with a single nonzero ``value`` at flat ``index``.

    >>> one_hot((3,), 1, -2.0).dense()
    array([ 0., -2.,  0.])
    """
    return SparsePoint(shape, np.array([index]), np.array([value], dtype))


def dense(atom: Any) -> Any:
    """Return an atom as a NumPy array (blocks: as a tuple of arrays)."""
    return atom if isinstance(atom, np.ndarray) else atom.dense()


def inner(direction: Any, atom: Any) -> float:
    """Return the real inner product Re <direction, atom>."""
    if isinstance(atom, np.ndarray):
        return float(serial.dot(np.asarray(direction), atom).real)
    return float(atom.inner(direction))
