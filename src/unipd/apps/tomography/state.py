"""A quantum state of low rank: eigenvalues and eigenvectors; the p x p matrix is formed on request only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import hermitian_part
from unipd._util.lazy import import_extra
from unipd.apps.tomography.measurements import as_pauli_sum, as_paulis, pauli_map
from unipd.atoms import LowRank
from unipd.errors import InvalidInput, MemoryForecastError, UnipdError
from unipd.run import Result
from unipd.trackers.lowrank import compress

NEGLIGIBLE = 1e-12
"""Eigenvalues below this are rounding and are not kept."""
DENSE_QUBITS = 12
"""A density matrix of more qubits is refused unless a larger limit is given (2^12: 268 MB)."""


class QuantumState:
    """The density matrix sum_i e_i v_i v_i^* by its nonzero eigenvalues e_i and its eigenvectors v_i.

    Positive semidefinite with trace one by construction. Index j of a vector is the basis state whose bit b is qubit
    b, so ``int(bits, 2)`` of a bit-string with qubit 0 at the right, as in Qiskit.

    Parameters
    ----------
    vectors
        One vector of length 2^q, or several as columns; they need not be orthogonal, and their lengths do not matter.
    weights
        Their probabilities, normalised to sum 1; equal by default.

    Raises
    ------
    InvalidInput
        ``vectors``: expected an array of finite numbers; ``weights``: expected probabilities of nonzero vectors.

    See Also
    --------
    as_state, make_state, unipd.PauliTomography

    Examples
    --------
    >>> bell = QuantumState([1, 0, 0, 1])
    >>> bell.rank, round(bell.purity, 9), round(bell.expectation({"XX": 0.5, "ZZ": 0.5, "XI": 3.0}), 9)
    (1, 1.0, 1.0)
    >>> mixed = QuantumState(np.eye(2), weights=[0.75, 0.25])
    >>> mixed.eigenvalues, round(mixed.entropy, 6)
    (array([0.75, 0.25]), 0.811278)
    """

    def __init__(self, vectors: Any, weights: Any = None) -> None:
        columns = validate.finite_array("vectors", vectors)
        columns = columns[:, np.newaxis] if columns.ndim == 1 else columns
        if columns.ndim != 2 or columns.shape[1] == 0:
            raise InvalidInput("vectors", "a vector, or vectors as columns", f"shape {np.shape(vectors)}")
        size = columns.shape[0]
        if size < 2 or size & (size - 1):
            raise InvalidInput("vectors", "vectors of length 2^q with q >= 1", f"length {size}")
        self.qubits = size.bit_length() - 1
        share = np.ones(columns.shape[1]) if weights is None else weights
        probabilities = validate.real_array("weights", share, shape=columns.shape[1:]).astype(np.float64)
        lengths = np.linalg.norm(columns, axis=0)
        used = probabilities > 0
        if probabilities.min() < 0 or not used.any() or not np.all(lengths[used] > 0):
            raise InvalidInput("weights", "probabilities of nonzero vectors", f"{probabilities.tolist()[:4]}")
        unit = columns.astype(np.complex128) / np.where(lengths > 0, lengths, 1.0)
        factors, _ = compress(LowRank(unit, unit, probabilities / probabilities.sum()), columns.shape[0])
        kept = factors.weights > NEGLIGIBLE * factors.weights[0]
        self.eigenvectors: Array = np.ascontiguousarray(factors.left[:, kept])
        self.eigenvalues: FloatArray = np.asarray(factors.weights[kept], np.float64) / np.sum(factors.weights[kept])
        self.eigenvalues[0] = 1.0 - math.fsum(self.eigenvalues[1:])  # so that they sum to 1 up to the last bit

    @classmethod
    def from_low_rank(cls, point: LowRank) -> QuantumState:
        """Return the state proportional to a positive semidefinite matrix given by its factors."""
        lengths = np.linalg.norm(point.left, axis=0).astype(np.float64)
        weights = point.weights * lengths**2
        used = weights > 0
        if not used.any():
            raise UnipdError("X = 0 fits the data, and is no state: choose a smaller noise level")
        return cls(point.left[:, used], weights[used])

    @property
    def dimension(self) -> int:
        """Length p = 2^q of the vectors."""
        return int(self.eigenvectors.shape[0])

    @property
    def rank(self) -> int:
        """Number of eigenvalues kept."""
        return int(self.eigenvalues.size)

    @property
    def purity(self) -> float:
        """Trace of the square: 1 for pure states."""
        return float(np.sum(self.eigenvalues**2))

    @property
    def entropy(self) -> float:
        """Von Neumann entropy in bits."""
        return max(0.0, float(-np.sum(self.eigenvalues * np.log2(self.eigenvalues))))

    @property
    def low_rank(self) -> LowRank:
        """The density matrix as factors."""
        return LowRank(self.eigenvectors, self.eigenvectors, self.eigenvalues)

    def effective_rank(self, tolerance: float = 1e-6) -> int:
        """Return the number of eigenvalues above ``tolerance``."""
        return max(1, int(np.count_nonzero(self.eigenvalues > tolerance)))

    def truncate(self, rank: int) -> QuantumState:
        """Return the state of the ``rank`` largest eigenvalues, normalised again."""
        kept = validate.integer("rank", rank, minimum=1)
        return QuantumState(self.eigenvectors[:, :kept], self.eigenvalues[:kept])

    def fidelity(self, target: Any) -> float:
        """Return the fidelity (tr sqrt(sqrt(rho) sigma sqrt(rho)))^2 with another state (squared form, as in Qiskit).

        With rho = V E V^* and sigma = W F W^* it is the squared nuclear norm of the small matrix E^(1/2) V^* W F^(1/2).

        Parameters
        ----------
        target
            A state, a vector, a density matrix, or an object with one of these under ``data``.
        """
        other = as_state(target)
        if other.dimension != self.dimension:
            raise InvalidInput("target", f"a state of {self.qubits} qubits", f"{other.qubits} qubits")
        inner = self.eigenvectors.conj().T @ other.eigenvectors
        overlap = np.sqrt(self.eigenvalues)[:, np.newaxis] * inner * np.sqrt(other.eigenvalues)
        return min(1.0, float(np.linalg.svd(overlap, compute_uv=False).sum()) ** 2)

    def expectations(self, paulis: Any, *, threads: int | None = None) -> FloatArray:
        """Return tr(P_k rho) for Pauli strings in any form that :func:`~unipd.apps.tomography.as_paulis` reads.

        Parameters
        ----------
        paulis
            Labels such as ``["XY", "ZI"]``, or another form that :func:`~unipd.apps.tomography.as_paulis` reads.
        threads
            Number of threads; None for Numba's. Results do not depend on it.

        Returns
        -------
        numpy.ndarray
            A number per string.
        """
        strings = as_paulis(paulis, self.qubits)
        return np.asarray(pauli_map(strings, precision="double", threads=threads).image(self.low_rank), np.float64)

    def expectation(self, observable: Any) -> float | complex:
        """Return tr(O rho) of a sum of Pauli strings; real when the coefficients are.

        Parameters
        ----------
        observable
            A label, a mapping or pairs from labels to coefficients, or a ``SparsePauliOp``.
        """
        strings, coefficients = as_pauli_sum(observable, self.qubits)
        total = np.dot(coefficients, self.expectations(strings))
        return float(total.real) if not np.any(np.imag(coefficients)) else complex(total)

    def density_matrix(self, *, max_qubits: int = DENSE_QUBITS) -> Array:
        """Return the p x p matrix; refused above ``max_qubits``, since it holds 4^q numbers."""
        if self.qubits > max_qubits:
            size = 16 * 4**self.qubits / 1e9
            raise MemoryForecastError(
                f"the density matrix of {self.qubits} qubits needs {size:.3g} GB: use eigenvalues and eigenvectors, "
                f"fidelity or expectation, or allow it with max_qubits={self.qubits}"
            )
        return self.low_rank.dense()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.density_matrix(), dtype=dtype)

    def to_qiskit(self, *, max_qubits: int = DENSE_QUBITS) -> Any:
        """Return Qiskit's ``Statevector`` for a state of rank one, else its ``DensityMatrix``."""
        import unipd

        return unipd.interop.qiskit.to_qiskit(self, max_qubits=max_qubits)

    def to_qutip(self, *, max_qubits: int = DENSE_QUBITS) -> Any:
        """Return QuTiP's ``Qobj``: a ket for a state of rank one, else a density matrix; qubit 0 is its last factor."""
        qutip = import_extra("qutip", "qutip", "a QuTiP object")
        sizes = [2] * self.qubits
        if self.rank == 1:
            return qutip.Qobj(self.eigenvectors[:, :1].copy(), dims=[sizes, [1] * self.qubits])
        return qutip.Qobj(self.density_matrix(max_qubits=max_qubits), dims=[sizes, sizes])

    def negativity(self, qubits: Any) -> float:
        """Return the negativity (||rho^T_A||_1 - 1) / 2 of the qubits A with the rest: above 0 only if entangled.

        >>> round(QuantumState([1, 0, 0, 1]).negativity([0]), 9)
        0.5
        """
        chosen = {validate.integer("qubits", qubit, minimum=0) for qubit in qubits}
        if not chosen or max(chosen) >= self.qubits:
            raise InvalidInput("qubits", f"numbers from 0 to {self.qubits - 1}", repr(sorted(chosen)))
        axes = list(range(2 * self.qubits))
        for qubit in chosen:
            row = self.qubits - 1 - qubit
            axes[row], axes[self.qubits + row] = axes[self.qubits + row], axes[row]
        tensor = self.density_matrix().reshape((2,) * (2 * self.qubits)).transpose(axes)
        values = np.linalg.eigvalsh(tensor.reshape(self.dimension, self.dimension))
        return max(0.0, 0.5 * (float(np.abs(values).sum()) - 1.0))

    def __repr__(self) -> str:
        return f"QuantumState(qubits={self.qubits}, rank={self.rank}, purity={self.purity:.6g})"


def read_state_array(value: Any) -> Any:
    """Return the vector or matrix of a state of QuTiP (``full``) or Qiskit (``data``); other values as they are."""
    if not hasattr(value, "dims"):
        return value
    return value.full() if hasattr(value, "full") else getattr(value, "data", value)


def as_state(value: Any) -> QuantumState:
    """Return a state from a state, a vector, a density matrix, or an object that holds one.

    Such objects are those of Qiskit (``data``), QuTiP (``full``), and results of a fit, also loaded ones
    (``as_state(unipd.load("state.npz"))``).

    Parameters
    ----------
    value
        A :class:`QuantumState`, a vector, a density matrix, or an object of Qiskit or QuTiP.

    Raises
    ------
    InvalidInput
        If the value is no state: not a vector or a square matrix, or not psd with trace one.

    See Also
    --------
    QuantumState, make_state

    Examples
    --------
    >>> as_state(np.diag([0.5, 0.5])).purity
    0.5
    """
    if isinstance(value, QuantumState):
        return value
    if isinstance(value, Result):
        if not {"eigenvalues", "eigenvectors"} <= set(value.extras):
            raise InvalidInput("state", "a result of tomography with eigenvalues and eigenvectors", "another result")
        return QuantumState(value.extras["eigenvectors"], value.extras["eigenvalues"])
    if isinstance(value, str):
        expected = 'a vector, a density matrix or a state, by name make_state("ghz", qubits)'
        raise InvalidInput("state", expected, repr(value))
    array: Array = validate.finite_array("state", read_state_array(value))
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.ndim == 1:
        return QuantumState(array)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise InvalidInput("state", "a vector or a square matrix", f"shape {array.shape}")
    spectrum, vectors = np.linalg.eigh(hermitian_part(array))
    if spectrum[0] < -1e-6 * max(1.0, abs(spectrum[-1])) or abs(spectrum.sum() - 1.0) > 1e-6:
        raise InvalidInput("state", "a density matrix (psd, trace one)", f"trace {spectrum.sum():g}")
    return QuantumState(vectors[:, ::-1], np.maximum(spectrum[::-1], 0.0))
