"""Probabilities of the outcomes of measurements in local bases: Walsh-Hadamard transforms of Pauli expectations."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.context import current_communicator
from unipd.maps.base import Map
from unipd.maps.pauli.dense import walsh_columns
from unipd.maps.pauli.map import PauliMap
from unipd.maps.pauli.strings import parse


def walsh_hadamard(values: FloatArray) -> FloatArray:
    """Return sum_j (-1)^|i & j| values[..., j] for every i.

    >>> walsh_hadamard(np.array([1.0, 0.0, 0.0, 1.0]))
    array([2., 0., 0., 2.])
    """
    columns = np.array(values.reshape(-1, values.shape[-1]).T, np.float64, order="C")
    return walsh_columns(columns, np.empty_like(columns)).T.reshape(values.shape)


Confusion = tuple[FloatArray, ...] | FloatArray
"""Readout errors: a 2 x 2 matrix for each qubit, qubit 0 first, or one 2^q x 2^q matrix; entry (i, j) is the
probability to read i in the state j, so that columns sum to one."""


def confuse(values: FloatArray, confusion: Confusion, *, transpose: bool = False) -> FloatArray:
    """Return M v (or M^T v) for every row v of outcomes, with M the confusion matrix.

    >>> flips = np.array([[0.9, 0.2], [0.1, 0.8]])
    >>> confuse(np.array([[0.0, 0.0, 1.0, 0.0]]), (np.eye(2), flips))
    array([[0.2, 0. , 0.8, 0. ]])
    """
    if isinstance(confusion, np.ndarray):
        return values @ (confusion if transpose else confusion.T)
    tensor = values.reshape(-1, *(2,) * len(confusion))
    for qubit, matrix in enumerate(confusion):
        axis = len(confusion) - qubit
        rows = np.tensordot(matrix.T if transpose else matrix, tensor, axes=(1, axis))
        tensor = np.moveaxis(rows, 0, axis)
    return tensor.reshape(values.shape)


class OutcomeMap(Map):
    """Probabilities of all outcomes in some local bases, A(X)_(B, s) = tr(Pi_(B, s) X), through the Pauli map.

    With readout errors A(X) = M tr(Pi X): the probabilities of what is read.

    Parameters
    ----------
    bases
        Labels of the bases.
    precision, threads
        As in :class:`~unipd.maps.pauli.PauliMap`.
    confusion
        Readout errors, the same in all bases.

    Examples
    --------
    >>> from unipd.atoms import LowRank
    >>> plus = np.array([[1.0], [1.0]]) / np.sqrt(2)
    >>> OutcomeMap(["Z", "X"], "double").image(LowRank(plus, plus, np.ones(1))).round(9)
    array([0.5, 0.5, 1. , 0. ])
    """

    def __init__(
        self,
        bases: list[str],
        precision: str = "single",
        threads: int | None = None,
        confusion: Confusion | None = None,
    ) -> None:
        qubits, x, z = parse(bases)
        sets = np.arange(1 << qubits)
        keys = ((sets & x[:, np.newaxis]) << qubits) | (sets & z[:, np.newaxis])
        distinct, places = np.unique(keys, return_inverse=True)
        self.places: IntArray = places.reshape(keys.shape).astype(np.int32)
        """The Pauli string of every basis and set of its qubits."""
        pauli_map = PauliMap(qubits, distinct >> qubits, distinct & ((1 << qubits) - 1), precision, threads)
        self.pauli_map: PauliMap = current_communicator().distribute(pauli_map)
        self.confusion = confusion
        super().__init__(self.pauli_map.domain, (keys.size,), np.float64)

    @property
    def precision(self) -> str:
        """Precision of the Pauli map."""
        return self.pauli_map.precision

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.places.nbytes + self.pauli_map.nbytes

    def image(self, atom: Any) -> FloatArray:
        """Return the probabilities, basis after basis, outcomes by index."""
        values = np.asarray(self.pauli_map.image(atom), np.float64)
        chances = walsh_hadamard(values[self.places]) / self.places.shape[1]
        return (chances if self.confusion is None else confuse(chances, self.confusion)).reshape(-1)

    def adjoint(self, dual: Array) -> Any:
        """Return sum over outcomes of lam Pi as an operator: a sum of Pauli strings."""
        weights = np.asarray(dual, np.float64).reshape(self.places.shape)
        if self.confusion is not None:
            weights = confuse(weights, self.confusion, transpose=True)
        sums = walsh_hadamard(weights) / self.places.shape[1]
        return self.pauli_map.adjoint(np.bincount(self.places.reshape(-1), sums.reshape(-1), self.pauli_map.x.size))
