"""A quantum channel by its Choi matrix: other representations, fidelities with a target, figures of its noise.

Conventions are Qiskit's: J = sum_ij |i><j| (x) E(|i><j|) has the input as its first factor and trace d_in,
super-operators act on matrices stacked by columns, and qubit 0 is the rightmost letter of a label.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.lazy import import_extra
from unipd._util.printing import ReprMixin
from unipd.errors import InvalidInput
from unipd.maps.pauli import PAULI_MATRICES

NEGLIGIBLE = 1e-9
"""Eigenvalues of J below this share of its trace are rounding, and give no Kraus operator."""
VALID = 1e-6
"""Deviation from positivity, trace preservation or unitarity up to which a matrix given by a user is accepted."""
REPRESENTATIONS = ("Choi", "SuperOp", "Kraus", "PTM")
"""Classes of ``qiskit.quantum_info`` that a channel is converted to."""

PAULIS: Mapping[str, Array] = dict(zip("IZXY", PAULI_MATRICES, strict=True))


def _controlled(gate: Array) -> Array:
    """Return the gate on qubit 1 controlled by qubit 0 (Qiskit's order)."""
    return np.kron(np.eye(2), np.diag([1, 0])) + np.kron(gate, np.diag([0, 1]))


_H = (PAULIS["X"] + PAULIS["Z"]) / math.sqrt(2.0)
GATES: Mapping[str, Array] = {
    "id": PAULIS["I"],
    "x": PAULIS["X"],
    "y": PAULIS["Y"],
    "z": PAULIS["Z"],
    "h": _H,
    "s": np.diag([1, 1j]),
    "t": np.diag([1, np.exp(0.25j * math.pi)]),
    "sx": 0.5 * np.array([[1 + 1j, 1 - 1j], [1 - 1j, 1 + 1j]]),
    "cx": _controlled(PAULIS["X"]),
    "cz": _controlled(PAULIS["Z"]),
    "swap": np.eye(4)[[0, 2, 1, 3]].astype(np.complex128),
    "iswap": np.array([[1, 0, 0, 0], [0, 0, 1j, 0], [0, 1j, 0, 0], [0, 0, 0, 1]]),
    "ccx": np.eye(8)[[0, 1, 2, 7, 4, 5, 6, 3]].astype(np.complex128),
}
"""Gates known by name, in Qiskit's order of qubits (the control of cx is qubit 0)."""


def kron_all(matrices: Sequence[Array]) -> Array:
    """Return the Kronecker product of matrices or vectors, the first leftmost.

    >>> kron_all([np.array([1, 2]), np.array([1, 0])])
    array([1, 0, 2, 0])
    """
    return reduce(np.kron, matrices)


def pauli_matrix(label: str) -> Array:
    """Return the matrix of a Pauli string; the rightmost letter is qubit 0.

    >>> pauli_matrix("ZX")[0].real
    array([0., 1., 0., 0.])
    """
    return kron_all([PAULIS[letter] for letter in label])


class QuantumChannel(ReprMixin):
    """A channel, or a trace-non-increasing map, by its Choi matrix.

    Parameters
    ----------
    choi
        J, positive semidefinite of size d_in d_out, with the input as the first factor.
    inputs
        d_in; by default the square root of the size of J.

    Raises
    ------
    InvalidInput
        ``choi``: expected a matrix of size d_in d_out with d_in >= 2; ``inputs``: expected an integer of at least 1.

    See Also
    --------
    as_channel, make_channel, diamond_distance

    Examples
    --------
    >>> noisy = QuantumChannel.from_kraus([np.sqrt(0.9) * np.eye(2), np.sqrt(0.1) * np.diag([1, -1])])
    >>> round(noisy.process_fidelity("id"), 9), round(noisy.average_gate_fidelity("id"), 9), noisy.rank
    (0.9, 0.933333333, 2)
    >>> np.diag(noisy.ptm).round(9)
    array([1. , 0.8, 0.8, 1. ])
    """

    def __init__(self, choi: Any, inputs: int | None = None) -> None:
        matrix = validate.finite_array("choi", choi, ndim=2).astype(np.complex128)
        size = matrix.shape[0]
        self.inputs = math.isqrt(size) if inputs is None else validate.integer("inputs", inputs, minimum=1)
        if matrix.shape[1] != size or size % self.inputs or self.inputs < 2:
            raise InvalidInput("choi", "a matrix of size d_in d_out with d_in >= 2", f"shape {matrix.shape}")
        self.outputs = size // self.inputs
        self.choi: Array = 0.5 * (matrix + matrix.conj().T)
        least = float(np.linalg.eigvalsh(self.choi)[0])
        most = float(np.linalg.eigvalsh(self.input_effect)[-1])
        if np.abs(matrix - self.choi).max() > VALID or least < -VALID * self.inputs:
            raise InvalidInput("choi", "a positive semidefinite matrix", f"an eigenvalue of {least:.3g}")
        if most > 1.0 + VALID:
            raise InvalidInput("choi", "a partial trace over the output of at most I", f"an eigenvalue of {most:.6g}")

    @classmethod
    def from_kraus(cls, operators: Any) -> QuantumChannel:
        """Return the channel rho -> sum_k K_k rho K_k^* of Kraus operators of shape (d_out, d_in)."""
        stack = validate.finite_array("operators", operators, ndim=3)
        columns = stack.transpose(2, 1, 0).reshape(-1, stack.shape[0])
        return cls(columns @ columns.conj().T, stack.shape[2])

    @classmethod
    def from_superop(cls, matrix: Any) -> QuantumChannel:
        """Return the channel of a super-operator: vec(E(rho)) = S vec(rho), columns stacked."""
        table = validate.finite_array("matrix", matrix, ndim=2)
        outputs, inputs = (math.isqrt(size) for size in table.shape)
        if (outputs**2, inputs**2) != table.shape:
            raise InvalidInput("matrix", "a matrix of shape (d_out^2, d_in^2)", f"shape {table.shape}")
        tensor = table.reshape(outputs, outputs, inputs, inputs)  # column, row of E(rho), then of rho
        return cls(tensor.transpose(3, 1, 2, 0).reshape(inputs * outputs, -1), inputs)

    @classmethod
    def from_ptm(cls, matrix: Any) -> QuantumChannel:
        """Return the channel of a Pauli transfer matrix, tr(P_a E(P_b)) / sqrt(d_in d_out) over I, X, Y, Z."""
        table = validate.real_array("matrix", matrix).astype(np.float64)
        if table.ndim != 2:
            raise InvalidInput("matrix", "a Pauli transfer matrix of shape (4^q, 4^q)", f"shape {table.shape}")
        outputs, inputs = (math.isqrt(size) for size in table.shape)
        out, into = (_pauli_basis(_qubits_of(size)) for size in (outputs, inputs))
        choi = np.einsum("ab,bji,aop->iojp", table, into, out, optimize=True) / math.sqrt(inputs * outputs)
        return cls(choi.reshape(inputs * outputs, -1), inputs)

    @property
    def qubits(self) -> int:
        """Number of qubits of the input."""
        return _qubits_of(self.inputs)

    @cached_property
    def input_effect(self) -> Array:
        """tr_out J: the identity for a channel; <psi|(tr_out J)^T|psi> is the probability that psi is not lost."""
        return np.trace(self._tensor, axis1=1, axis2=3)

    @property
    def is_trace_preserving(self) -> bool:
        """Whether tr_out J is the identity, up to 1e-6."""
        return bool(np.abs(self.input_effect - np.eye(self.inputs)).max() <= VALID)

    @property
    def _tensor(self) -> Array:
        return self.choi.reshape(self.inputs, self.outputs, self.inputs, self.outputs)

    @cached_property
    def _spectrum(self) -> tuple[FloatArray, Array]:
        values, vectors = np.linalg.eigh(self.choi)
        kept = values > NEGLIGIBLE * values.sum()
        return values[kept][::-1], vectors[:, kept][:, ::-1]

    @property
    def eigenvalues(self) -> FloatArray:
        """The nonzero eigenvalues of J / d_in, largest first: the weights of canonical Kraus operators."""
        return self._spectrum[0] / self.inputs

    @property
    def rank(self) -> int:
        """The number of Kraus operators, without those of eigenvalues below 1e-9."""
        return int(self._spectrum[0].size)

    @property
    def kraus(self) -> list[Array]:
        """The canonical Kraus operators, of shape (d_out, d_in) and orthogonal, largest first."""
        values, vectors = self._spectrum
        columns = vectors * np.sqrt(values)
        return [column.reshape(self.inputs, self.outputs).T.copy() for column in columns.T]

    @property
    def superop(self) -> Array:
        """The super-operator: vec(E(rho)) = S vec(rho) with columns stacked."""
        return self._tensor.transpose(3, 1, 2, 0).reshape(self.outputs**2, self.inputs**2)

    @cached_property
    def ptm(self) -> FloatArray:
        """The Pauli transfer matrix tr(P_a E(P_b)) / sqrt(d_in d_out), strings in the order I, X, Y, Z."""
        into, out = _pauli_basis(self.qubits), _pauli_basis(_qubits_of(self.outputs))
        table = np.einsum("apo,bij,iojp->ab", out, into, self._tensor, optimize=True).real
        return table / math.sqrt(self.inputs * self.outputs)

    def apply(self, state: Any) -> Array:
        """Return E(rho) for a density matrix, or a state vector."""
        rho = validate.finite_array("state", state)
        rho = np.outer(rho, rho.conj()) if rho.ndim == 1 else rho
        if rho.shape != (self.inputs, self.inputs):
            raise InvalidInput("state", f"a state of dimension {self.inputs}", f"shape {np.shape(state)}")
        return np.einsum("ij,iojp->op", rho, self._tensor)

    def process_fidelity(self, target: Any) -> float:
        """Return the fidelity of the states J / d_in of this channel and of a target.

        For a unitary target it is the entanglement fidelity <U|J|U> / d_in^2.
        """
        other = as_channel(target)
        self._require_same_size(other)
        roots = [vectors * np.sqrt(values) for values, vectors in (self._spectrum, other._spectrum)]
        return min(1.0, float(np.linalg.norm(roots[0].conj().T @ roots[1], "nuc") ** 2) / self.inputs**2)

    def average_gate_fidelity(self, target: Any) -> float:
        """Return (d F + p) / (d + 1): the mean over pure inputs of the fidelity with a unitary target's output.

        F is the process fidelity and p the mean probability that an input is not lost, 1 for a channel.
        """
        other = as_channel(target)
        if other.rank != 1 or not other.is_trace_preserving:
            raise InvalidInput("target", "a unitary target for the average gate fidelity", f"rank {other.rank}")
        kept = float(np.trace(self.choi).real) / self.inputs
        return (self.inputs * self.process_fidelity(other) + kept) / (self.inputs + 1)

    def diamond_distance(self, target: Any, *, accuracy: float = 1e-6) -> float:
        """Return half the diamond norm of the difference to a target; see :func:`diamond_distance` for the bounds.

        Parameters
        ----------
        target
            A channel, or what :func:`as_channel` makes one of.
        accuracy
            Width of the interval between the bounds at which the search ends.
        """
        from unipd.apps.process_tomography.diamond import diamond_distance

        return diamond_distance(self, target, accuracy=accuracy).value

    @property
    def purity(self) -> float:
        """tr (J / d_in)^2: 1 for a unitary channel, 1 / d^2 for the completely depolarising one."""
        return float(np.linalg.norm(self.choi) ** 2) / self.inputs**2

    @property
    def unitarity(self) -> float:
        """Mean purity of the traceless part of outputs: tr T^T T / (d_in^2 - 1), T the Pauli transfer matrix without I.

        1 for unitary channels alone.
        """
        return float(np.linalg.norm(self.ptm[1:, 1:]) ** 2) / (self.inputs**2 - 1)

    def to_qiskit(self, representation: str = "Choi") -> Any:
        """Return the channel as ``Choi``, ``SuperOp``, ``Kraus`` or ``PTM`` of ``qiskit.quantum_info``."""
        validate.choice("representation", representation, REPRESENTATIONS)
        information = import_extra("qiskit.quantum_info", "quantum", "a Qiskit object")
        choi = information.Choi(self.choi, input_dims=self.inputs, output_dims=self.outputs)
        return choi if representation == "Choi" else getattr(information, representation)(choi)

    def _require_same_size(self, other: QuantumChannel) -> None:
        if (other.inputs, other.outputs) != (self.inputs, self.outputs):
            expected = f"a channel from dimension {self.inputs} to {self.outputs}"
            raise InvalidInput("target", expected, f"from {other.inputs} to {other.outputs}")


def as_channel(value: Any) -> QuantumChannel:
    """Return a channel from what users have.

    Parameters
    ----------
    value
        A :class:`QuantumChannel`; the name of a gate (``"cx"``); a unitary matrix; a list of Kraus operators; or a
        Qiskit channel, operator, gate or circuit.

    Raises
    ------
    InvalidInput
        If the value is none of these, or a matrix is not unitary.

    See Also
    --------
    QuantumChannel, make_channel

    Examples
    --------
    >>> as_channel("cx").qubits, as_channel(np.eye(4)).rank
    (2, 1)
    """
    if isinstance(value, QuantumChannel):
        return value
    if isinstance(value, str):
        if value not in GATES:
            raise InvalidInput("target", f"one of {', '.join(GATES)}", repr(value))
        return QuantumChannel.from_kraus(GATES[value][np.newaxis])
    if hasattr(value, "num_qubits"):  # as all channels, operators, gates and circuits of Qiskit have
        choi: Any = import_module("qiskit.quantum_info").Choi(value)
        return QuantumChannel(choi.data, math.prod(choi.input_dims()))
    array = validate.finite_array("target", value)
    if array.ndim == 3:
        return QuantumChannel.from_kraus(array)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise InvalidInput("target", "a unitary matrix or a list of Kraus operators", f"shape {array.shape}")
    if np.abs(array.conj().T @ array - np.eye(len(array))).max() > VALID:
        raise InvalidInput("target", "a unitary matrix (other matrices: QuantumChannel(choi))", "another matrix")
    return QuantumChannel.from_kraus(array[np.newaxis])


def _qubits_of(dimension: int) -> int:
    """Return the number of qubits of a dimension, or raise."""
    if dimension < 2 or dimension & (dimension - 1):
        raise InvalidInput("channel", "a dimension 2^q for Pauli strings", str(dimension))
    return dimension.bit_length() - 1


def _pauli_basis(qubits: int) -> Array:
    """Return the matrices of all Pauli strings, II..I first, the last letter fastest."""
    return np.array([pauli_matrix("".join(letters)) for letters in product("IXYZ", repeat=qubits)])
