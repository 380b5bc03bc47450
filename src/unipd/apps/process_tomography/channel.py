"""A quantum channel by its Choi matrix: other representations, fidelities, figures of its noise, diamond distances.

Conventions are Qiskit's: J = sum_ij |i><j| (x) E(|i><j|) has the input as its first factor and trace d_in,
super-operators act on matrices stacked by columns, and qubit 0 is the rightmost letter of a label.

With D the difference of two Choi matrices, the diamond norm is the maximum over input states rho of ||B||_1, where
B = (rho^(1/2) (x) I) D (rho^(1/2) (x) I); the dual is the minimum of the largest eigenvalue of tr_out(P + N) over
D = P - N with P, N psd (Watrous, 2009). Every rho gives a value of both: P and N are the positive and negative part of
B, transformed back. The iteration rho <- tr_out |B| / ||B||_1 has the optimal rho as a fixed point, and a step costs
one eigendecomposition; where it is slow, interior points solve the semidefinite program of the dual.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import draw_normal, hermitian_part
from unipd._util.lazy import import_extra
from unipd._util.printing import ReprMixin
from unipd.errors import InvalidInput
from unipd.maps.channel import unpack
from unipd.maps.pauli import PAULI_MATRICES

if TYPE_CHECKING:
    from unipd.apps.sdp import SDP

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
    """Return the Kronecker product of vectors, matrices or stacks of matrices, the first leftmost.

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
        self.choi: Array = hermitian_part(matrix)
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
        return trace_output(self.choi, self.inputs)

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
        self.require_same_size(other)
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
        return diamond_distance(self, target, accuracy=accuracy).value

    @property
    def purity(self) -> float:
        """tr (J / d_in)^2: 1 for a unitary channel, 1 / d^2 for the completely depolarizing one."""
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

    def require_same_size(self, other: QuantumChannel) -> None:
        """Raise for a channel between other dimensions."""
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
    return kron_all([np.array([PAULIS[letter] for letter in "IXYZ"])] * qubits)


CHANNELS = ("random", "unitary", "depolarizing", "damping", "dephasing")
"""Test channels known by name, besides the gates."""


def random_unitary(dimension: int, seed: int = 0) -> Array:
    """Return a random unitary matrix (Haar measure).

    Parameters
    ----------
    dimension
        Number of rows.
    seed
        Seed of the random numbers; equal seeds give equal results.

    See Also
    --------
    random_channel

    Examples
    --------
    >>> unitary = random_unitary(2)
    >>> bool(np.allclose(unitary @ unitary.conj().T, np.eye(2)))
    True
    """
    return _random_isometry(dimension, dimension, np.random.default_rng(seed))


def random_channel(qubits: int, rank: int | None = None, seed: int = 0) -> QuantumChannel:
    """Return a channel with random Kraus operators, ``rank`` of them (by default 4^q).

    Parameters
    ----------
    qubits
        The number of qubits.
    rank
        Number of Kraus operators.
    seed
        Seed of the random numbers; equal seeds give equal results.

    Raises
    ------
    InvalidInput
        ``qubits``, ``rank``: expected an integer of at least 1.

    See Also
    --------
    random_unitary, make_channel

    Examples
    --------
    >>> channel = random_channel(1, rank=2)
    >>> channel.rank, channel.is_trace_preserving
    (2, True)
    """
    size = 1 << validate.integer("qubits", qubits, minimum=1)
    number = size * size if rank is None else validate.integer("rank", rank, minimum=1)
    isometry = _random_isometry(number * size, size, np.random.default_rng(seed))
    return QuantumChannel.from_kraus(isometry.reshape(number, size, size))


def noisy_channel(channel: Any, *, depolarizing: float = 0.0, loss: float = 0.0) -> QuantumChannel:
    """Return a channel followed by depolarizing noise, and with a share of all shots lost.

    With probability ``depolarizing`` the output is replaced by white noise; the identity is one of its errors, unlike
    those that ``strength`` of :func:`make_channel` counts.

    Parameters
    ----------
    channel
        The channel, in any form that :func:`as_channel` takes.
    depolarizing
        The share of white noise in the output.
    loss
        The share of shots that are lost.

    Raises
    ------
    InvalidInput
        Unless both shares are between 0 and 1.

    See Also
    --------
    make_channel, as_channel

    Examples
    --------
    >>> round(noisy_channel("x", depolarizing=0.04).process_fidelity("x"), 9)
    0.97
    """
    clean = as_channel(channel)
    for name, share in (("depolarizing", depolarizing), ("loss", loss)):
        if not 0.0 <= share <= 1.0:
            raise InvalidInput(name, "a number from 0 to 1", f"{share!r}")
    white = np.kron(clean.input_effect, np.eye(clean.outputs)) / clean.outputs
    return QuantumChannel((1.0 - loss) * ((1.0 - depolarizing) * clean.choi + depolarizing * white), clean.inputs)


def make_channel(
    name: str, qubits: int | None = None, *, strength: float = 0.1, rank: int | None = None, seed: int = 0
) -> QuantumChannel:
    """Return a test channel by name.

    Parameters
    ----------
    name
        A gate ("cx", ...), "random" (random Kraus operators), "unitary" (random), or noise on every qubit:
        "depolarizing", "damping" (of amplitudes), "dephasing".
    qubits
        Number of qubits; that of a gate is known.
    strength
        Probability of an error of the three kinds of noise.
    rank
        Number of Kraus operators of "random".
    seed
        Seed of the random channels.

    Raises
    ------
    InvalidInput
        ``qubits``: expected the number of qubits of a channel other than a gate; ``strength``: expected a
        probability.

    See Also
    --------
    noisy_channel, random_channel, simulate_process

    Examples
    --------
    >>> make_channel("damping", 1, strength=0.25).apply(np.diag([0.0, 1.0])).real
    array([[0.25, 0.  ],
           [0.  , 0.75]])
    """
    if name in GATES:
        gate = as_channel(name)
        if qubits not in (None, gate.qubits):
            raise InvalidInput("qubits", f"{gate.qubits}, that of the gate {name}", repr(qubits))
        return gate
    validate.choice("channel", name, (*GATES, *CHANNELS))
    if qubits is None:
        raise InvalidInput("qubits", "the number of qubits of a channel other than a gate", "None")
    if name == "random":
        return random_channel(qubits, rank, seed)
    if name == "unitary":
        return as_channel(random_unitary(1 << validate.integer("qubits", qubits, minimum=1), seed))
    if not 0.0 <= strength <= 1.0:
        raise InvalidInput("strength", "a probability", f"{strength!r}")
    number = validate.integer("qubits", qubits, minimum=1)
    return QuantumChannel.from_kraus(kron_all([_noise_operators(name, strength)] * number))


def _random_isometry(rows: int, columns: int, rng: np.random.Generator) -> Array:
    block = draw_normal(rng, (rows, columns), np.complex128)
    basis, triangle = np.linalg.qr(block)
    phases = np.diag(triangle) / np.abs(np.diag(triangle))
    return basis * phases


def _noise_operators(name: str, strength: float) -> Array:
    """Return the Kraus operators of noise on one qubit."""
    unit, keep = np.eye(2, dtype=np.complex128), math.sqrt(1.0 - strength)
    if name == "damping":
        return np.array([np.diag([1.0, keep]), math.sqrt(strength) * np.array([[0.0, 1.0], [0.0, 0.0]])], np.complex128)
    if name == "dephasing":
        return np.array([keep * unit, math.sqrt(strength) * GATES["z"]])
    errors = [math.sqrt(strength / 3.0) * GATES[letter] for letter in "xyz"]
    return np.array([keep * unit, *errors])


STEPS, MANY_STEPS = 500, 10_000
"""Most steps of the iteration, and where no program can take over."""
PROGRAM_ROWS = 16
"""Largest Choi matrix (two qubits) for which the semidefinite program is solved."""
FLOOR = 1e-7
"""White noise in rho for upper bounds: its inverse root amplifies rounding errors."""


@dataclass(frozen=True)
class DiamondDistance(ReprMixin):
    """Half the diamond norm of a difference, with proven bounds.

    Parameters
    ----------
    value
        The lower bound, attained by the state.
    upper_bound
        No input distinguishes the channels better.
    state
        The reduced input state rho that attains the value, in the conjugate basis of the Choi matrix's input.

    See Also
    --------
    diamond_distance

    Examples
    --------
    >>> distance = diamond_distance("x", "z")
    >>> round(distance.value, 6), distance.value <= distance.upper_bound
    (1.0, True)
    """

    value: float
    upper_bound: float
    state: Array

    @property
    def gap(self) -> float:
        """Width of the interval."""
        return self.upper_bound - self.value


def diamond_distance(channel: Any, target: Any, *, accuracy: float = 1e-6) -> DiamondDistance:
    """Return half the diamond norm of the difference of two channels: 0 for equal ones, at most 1.

    Parameters
    ----------
    channel, target
        Channels, or what :func:`as_channel` makes one of.
    accuracy
        Width of the interval between the bounds at which the search ends.

    Raises
    ------
    InvalidInput
        ``accuracy``: expected a number above zero.

    See Also
    --------
    DiamondDistance, QuantumChannel

    Examples
    --------
    >>> from unipd.apps.process_tomography import noisy_channel
    >>> round(diamond_distance(noisy_channel("cx", depolarizing=0.1), "cx").value, 9)
    0.09375
    >>> round(diamond_distance("s", "id").value, 6)
    0.707107
    """
    first, second = as_channel(channel), as_channel(target)
    first.require_same_size(second)
    eps, difference = validate.positive("accuracy", accuracy), first.choi - second.choi
    found = iterate_states(difference, first.inputs, eps, STEPS)
    if found.gap <= eps:
        return found
    from unipd.apps.sdp.solver import has_interior_points

    if difference.shape[0] > PROGRAM_ROWS or not has_interior_points():
        return iterate_states(difference, first.inputs, eps, MANY_STEPS)
    result = dual_program(difference, first.inputs).solve(accuracy=0.1 * eps)
    lower, upper = max(found.value, result.dual_bound), min(found.upper_bound, result.objective)
    return DiamondDistance(lower, max(upper, lower), found.state)


def iterate_states(difference: Array, inputs: int, eps: float, steps: int) -> DiamondDistance:
    """Iterate rho <- tr_out |B| / ||B||_1 until the bounds are within eps."""
    rho, best, upper = np.eye(inputs) / inputs, 0.0, math.inf
    state = rho
    for _ in range(steps):
        value, reduced = _transform(difference, rho)[:2]
        if value > best:
            best, state = value, rho
        upper = min(upper, _upper_bound(difference, (1.0 - FLOOR) * rho + FLOOR * np.eye(inputs) / inputs))
        if upper - best <= eps or value == 0.0:
            break
        rho = reduced / (2.0 * value)
    return DiamondDistance(best, max(upper, best), state)


def _transform(difference: Array, rho: Array) -> tuple[float, Array, Array, Array]:
    """Return ||B||_1 / 2, tr_out |B|, and the eigenvalues and eigenvectors of B."""
    inputs = rho.shape[0]
    values, vectors = np.linalg.eigh(rho)
    root = np.kron((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.conj().T, np.eye(len(difference) // inputs))
    values, vectors = np.linalg.eigh(root @ difference @ root)
    modulus = (vectors * np.abs(values)) @ vectors.conj().T
    return 0.5 * float(np.abs(values).sum()), trace_output(modulus, inputs), values, vectors


def _upper_bound(difference: Array, rho: Array) -> float:
    """Return half the largest eigenvalue of tr_out(P + N), plus what P - N misses of the difference."""
    inputs = rho.shape[0]
    outputs = len(difference) // inputs
    values, vectors = _transform(difference, rho)[2:]
    roots, basis = np.linalg.eigh(rho)
    back = np.kron((basis / np.sqrt(roots)) @ basis.conj().T, np.eye(outputs)) @ vectors
    positive, negative = ((back * np.maximum(sign * values, 0.0)) @ back.conj().T for sign in (1.0, -1.0))
    missing = float(np.linalg.norm(positive - negative - difference, 2))
    return 0.5 * (float(np.linalg.eigvalsh(trace_output(positive + negative, inputs))[-1]) + outputs * missing)


def trace_output(matrix: Array, inputs: int) -> Array:
    """Return the partial trace over the output."""
    outputs = len(matrix) // inputs
    return np.trace(matrix.reshape(inputs, outputs, inputs, outputs), axis1=1, axis2=3)


def dual_program(difference: Array, inputs: int) -> SDP:
    """Return min t / 2 subject to P - N = D, tr_out(P + N) + S = t I over psd P, N, S, as a real program.

    A Hermitian matrix M stands for the real one [[Re M, -Im M], [Im M, Re M]]. t is the mean of the diagonal.

    >>> dual_program(np.diag([0.5, -0.5, -0.5, 0.5]), 2)
    SDP(min, order=20, constraints=19, blocks=1)
    """
    from unipd.apps.sdp import SDP

    size = len(difference)
    outputs = size // inputs
    nothing = sp.csr_array((2 * inputs, 2 * inputs))
    rows, right = list[Any](), list[float]()
    for matrix in unpack(np.eye(size * size)):
        real = _embed(matrix)
        rows.append(sp.block_diag([real, -real, nothing], format="csr"))
        right.append(float(np.vdot(matrix, difference).real))
    unit = np.eye(inputs)
    diagonal = [np.diag(unit[0] - other) for other in unit[1:]]
    for matrix in [*diagonal, *unpack(np.eye(inputs * inputs))[inputs:]]:
        real = _embed(np.kron(matrix, np.eye(outputs)))
        rows.append(sp.block_diag([real, real, _embed(matrix)], format="csr"))
        right.append(0.0)
    cost = sp.eye_array(4 * size + 2 * inputs, format="csr") * (0.25 / inputs)
    return SDP.from_matrices(cost, rows, right)


def _embed(matrix: Array) -> Any:
    """Return half the real form of a Hermitian matrix, so that inner products with real forms are those of matrices."""
    real, imaginary = np.real(matrix), np.imag(matrix)
    return sp.csr_array(0.5 * np.block([[real, -imaginary], [imaginary, real]]))
