"""Measurements of a quantum channel, linear in its Choi matrix, and the partial trace over the output.

The Choi matrix is J = sum_ij |i><j| (x) E(|i><j|), with the input as the first factor: E(rho) = tr_in (rho^T (x) I) J.
Hermitian matrices are stored as real vectors (:func:`pack`), so that probabilities are products of real matrices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.arrays import TINY, hermitian_part
from unipd.errors import InvalidInput
from unipd.maps.base import Map

_ROOT = math.sqrt(0.5)
_HERMITIAN = 1e-9
"""Relative asymmetry up to which a matrix counts as Hermitian."""


def pack(matrices: Array) -> FloatArray:
    """Return Hermitian matrices as real vectors, with equal inner products: diagonal, then sqrt(2) (Re, Im) above it.

    >>> pack(np.array([[1.0, 2.0 - 1.0j], [2.0 + 1.0j, 3.0]])).round(6)
    array([ 1.      ,  3.      ,  2.828427, -1.414214])
    """
    size = matrices.shape[-1]
    row, col = np.triu_indices(size, 1)
    diagonal: Any = matrices[..., np.arange(size), np.arange(size)]
    above: Any = matrices[..., row, col] / _ROOT
    return np.concatenate([diagonal.real, above.real, above.imag], axis=-1)


def unpack(vectors: FloatArray) -> Array:
    """Return the Hermitian matrices of real vectors, the inverse of :func:`pack`.

    >>> unpack(np.array([1.0, 3.0, 0.0, 2.0 * np.sqrt(2.0)])).round(6)
    array([[1.+0.j, 0.+2.j],
           [0.-2.j, 3.+0.j]])
    """
    size = math.isqrt(vectors.shape[-1])
    row, col = np.triu_indices(size, 1)
    diagonal, pairs = np.arange(size), size + row.size
    above = _ROOT * (vectors[..., size:pairs] + 1j * vectors[..., pairs:])
    matrices = np.zeros((*vectors.shape[:-1], size, size), np.complex128)
    matrices[..., diagonal, diagonal] = vectors[..., :size]
    matrices[..., row, col] = above
    matrices[..., col, row] = above.conj()
    return matrices


def pack_channel(choi: Array, inputs: int) -> FloatArray:
    """Return the real matrix of E between packed matrices: row a is E of the a-th Hermitian basis matrix, packed.

    >>> pack_channel(np.diag([1.0, 0.0, 0.0, 1.0]), 2).round(6)
    array([[1., 0., 0., 0.],
           [0., 1., 0., 0.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.]])
    """
    blocks = choi.reshape(inputs, choi.shape[0] // inputs, inputs, -1).transpose(0, 2, 1, 3)
    row, col = np.triu_indices(inputs, 1)
    diagonal, above = np.arange(inputs), _ROOT * blocks[row, col]
    below = above.conj().transpose(0, 2, 1)
    return pack(np.concatenate([blocks[diagonal, diagonal], above + below, 1j * (above - below)]))


def unpack_channel(table: FloatArray) -> Array:
    """Return J from the real matrix of E, the inverse and the adjoint of :func:`pack_channel`."""
    inputs, outputs = (math.isqrt(size) for size in table.shape)
    matrices = unpack(table)
    row, col = np.triu_indices(inputs, 1)
    diagonal, pairs = np.arange(inputs), inputs + row.size
    blocks = np.empty((inputs, inputs, outputs, outputs), np.complex128)
    blocks[diagonal, diagonal] = matrices[:inputs]
    blocks[row, col] = _ROOT * (matrices[inputs:pairs] - 1j * matrices[pairs:])
    blocks[col, row] = blocks[row, col].conj().transpose(0, 2, 1)
    return blocks.transpose(0, 2, 1, 3).reshape(inputs * outputs, -1)


class ChannelMeasurements(Map):
    """A(J)_k = tr(M_k E(rho_k)) for input states rho and measurement operators M: all pairs, or some.

    With an entangled ancilla the states are those that its outcomes leave on the input, not normalised.

    Parameters
    ----------
    states
        Hermitian matrices of shape (states, d_in, d_in).
    effects
        Hermitian matrices of shape (effects, d_out, d_out).
    pairs
        Indices (state, effect) of the measured pairs, two arrays; by default all pairs, those of a state together.

    See Also
    --------
    PartialTrace, PauliMap, unipd.ProcessTomography

    Examples
    --------
    >>> zero, one = np.diag([1.0, 0.0]), np.diag([0.0, 1.0])
    >>> flip = np.kron(zero, one) + np.kron(one, zero)
    >>> ChannelMeasurements([zero, one], [zero, one]).image(flip)
    array([0., 1., 1., 0.])
    """

    def __init__(self, states: Any, effects: Any, pairs: tuple[Any, Any] | None = None) -> None:
        self.states: FloatArray = pack(_hermitian_stack("states", states))
        self.effects: FloatArray = pack(_hermitian_stack("effects", effects))
        self.table_shape = (len(self.states), len(self.effects))
        self.places: IntArray | None = None
        """Places of the measured pairs in the table of all; None for all in order."""
        if pairs is not None:
            places = _flat_places(pairs, self.table_shape)
            is_all = np.array_equal(places, np.arange(math.prod(self.table_shape)))
            self.places = None if is_all else places
        self.inputs, self.outputs = math.isqrt(self.states.shape[1]), math.isqrt(self.effects.shape[1])
        size = self.inputs * self.outputs
        count = math.prod(self.table_shape) if self.places is None else self.places.size
        super().__init__((size, size), (count,), np.float64)

    @property
    def nbytes(self) -> int:
        """Bytes of states, effects and places."""
        return self.states.nbytes + self.effects.nbytes + (0 if self.places is None else self.places.nbytes)

    def image(self, atom: Any) -> FloatArray:
        """Return tr(M E(rho)) for every measured pair."""
        self._check_atom(atom)
        choi = np.asarray(atoms.dense(atom), np.complex128)
        if not (isinstance(atom, atoms.LowRank) and atom.hermitian):
            choi = hermitian_part(choi)
        table = pack_channel(choi, self.inputs)
        return self.select(self.states @ table @ self.effects.T)

    def adjoint(self, dual: Array) -> Array:
        """Return sum_k lam_k rho_k^T (x) M_k, a Hermitian matrix."""
        return unpack_channel(self.states.T @ self.spread(self._check_dual(dual)) @ self.effects)

    def select(self, table: FloatArray) -> FloatArray:
        """Return the entries of the measured pairs of a table (states x effects)."""
        return table.reshape(-1) if self.places is None else table.reshape(-1)[self.places]

    def spread(self, values: FloatArray) -> FloatArray:
        """Return the table (states x effects) of values of the measured pairs; values of the same pair add up."""
        if self.places is None:
            return values.reshape(self.table_shape)
        sums = np.bincount(self.places, values, math.prod(self.table_shape)).astype(np.float64, copy=False)
        return sums.reshape(self.table_shape)

    def row_norms(self) -> FloatArray:
        """Return ||rho|| ||M|| of every pair."""
        lengths = (np.linalg.norm(part, axis=1) for part in (self.states, self.effects))
        return self.select(np.multiply.outer(*lengths))


class PartialTrace(Map):
    """A(J) = tr_out J, a Hermitian matrix of size d_in in packed form (:func:`pack`); the adjoint is Y (x) I.

    Parameters
    ----------
    inputs, outputs
        The dimensions d_in and d_out; J has size d_in d_out.

    Raises
    ------
    InvalidInput
        ``inputs``, ``outputs``: expected an integer of at least 1.

    See Also
    --------
    ChannelMeasurements, unipd.ProcessTomography

    Examples
    --------
    >>> PartialTrace(2, 2).image(np.diag([1.0, 0.0, 0.5, 0.5]))
    array([1., 1., 0., 0.])
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        self.inputs = validate.integer("inputs", inputs, minimum=1)
        self.outputs = validate.integer("outputs", outputs, minimum=1)
        super().__init__((inputs * outputs,) * 2, (inputs * inputs,), np.float64)

    def image(self, atom: Any) -> FloatArray:
        """Return tr_out J, packed; of a low-rank J through its factors."""
        self._check_atom(atom)
        if isinstance(atom, atoms.LowRank):
            left, right = (side.reshape(self.inputs, -1) for side in (atom.left * atom.weights, atom.right))
            reduced = left @ right.conj().T
        else:
            blocks = np.asarray(atoms.dense(atom)).reshape(self.inputs, self.outputs, self.inputs, self.outputs)
            reduced = np.trace(blocks, axis1=1, axis2=3)
        return pack(hermitian_part(reduced.astype(np.complex128, copy=False)))

    def adjoint(self, dual: Array) -> Array:
        """Return Y (x) I."""
        return np.kron(unpack(self._check_dual(dual)), np.eye(self.outputs))

    def row_norms(self) -> FloatArray:
        """Return sqrt(d_out) for every row."""
        return np.full(self.codomain, math.sqrt(self.outputs))


def _hermitian_stack(name: str, value: Any) -> Array:
    """Return Hermitian matrices of one size as an array, or raise."""
    stack = validate.finite_array(name, value, ndim=3)
    if stack.size == 0 or stack.shape[1] != stack.shape[2]:
        raise InvalidInput(name, "square matrices of one size", f"shape {stack.shape}")
    asymmetry = float(np.abs(stack - stack.conj().transpose(0, 2, 1)).max())
    if asymmetry > _HERMITIAN * max(TINY, float(np.abs(stack).max())):
        raise InvalidInput(name, "Hermitian matrices", f"an asymmetry of {asymmetry:.2g}")
    return stack.astype(np.complex128)


def _flat_places(pairs: tuple[Any, Any], shape: tuple[int, int]) -> IntArray:
    """Return the places of pairs in the flat table, or raise where one is outside."""
    try:
        return np.ravel_multi_index(tuple(np.asarray(part) for part in pairs), shape)
    except (TypeError, ValueError) as error:
        raise InvalidInput("pairs", f"two lists of integers, below {shape[0]} and {shape[1]}", str(error)) from None
