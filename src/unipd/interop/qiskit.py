"""Qiskit: states as its objects, and a fitter for the tomography of qiskit-experiments, of states and processes.

The conventions are Qiskit's everywhere: qubit 0 is the rightmost letter of a label and the rightmost bit of a
bit-string, and ``int(bits, 2)`` is the index in a vector.
"""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.lazy import import_extra
from unipd.apps.process_tomography import ProcessTomography, prepared_state
from unipd.apps.process_tomography.data import MINIMAL, basis_effects, tabulate_process
from unipd.apps.tomography import BasisCounts, PauliTomography, as_state
from unipd.apps.tomography.fit import DEPOLARIZE_QUBITS
from unipd.apps.tomography.model import has_few_outcomes
from unipd.errors import FileFormatError, InvalidInput
from unipd.maps.pauli import Measurement, measure_basis, pauli_coefficients

if TYPE_CHECKING:
    from unipd.apps.tomography import QuantumState
    from unipd.run import Result

_LETTERS = "ZXY"
"""Letters of the indices of Qiskit's Pauli measurement basis."""
ACCURACY = 1e-6
"""Default accuracy of the fitter: SCS is more accurate than the usual 1e-4."""
DEPOLARIZE = 5e-5
"""Default share of the loss that white noise in the estimate may cost: half of the excess that SCS commonly leaves."""


def to_qiskit(state: QuantumState, *, max_qubits: int = 12) -> Any:
    """Return a ``Statevector`` for a state of rank one, else a ``DensityMatrix``.

    Parameters
    ----------
    state
        The state.
    max_qubits
        A density matrix of more qubits is refused.
    """
    information = import_extra("qiskit.quantum_info", "quantum", "a Qiskit object")
    if state.rank == 1:
        return information.Statevector(state.eigenvectors[:, 0].copy())
    return information.DensityMatrix(state.density_matrix(max_qubits=max_qubits))


def read_circuit(path: str | os.PathLike[str]) -> Any:
    """Return a circuit without its final measurements.

    The file is QPY (its first circuit) or, with the ending .qasm, OpenQASM 2 or 3 (which needs qiskit-qasm3-import).
    """
    qiskit = import_extra("qiskit", "quantum", "a circuit")
    content, is_text = Path(path).read_bytes(), Path(path).suffix.lower() == ".qasm"
    try:
        if not is_text:
            circuit: Any = import_module("qiskit.qpy").load(io.BytesIO(content))[0]
        elif re.search(rb"OPENQASM\s+2", content):
            circuit = qiskit.QuantumCircuit.from_qasm_str(content.decode())
        else:
            circuit = import_module("qiskit.qasm3").loads(content.decode())
    except Exception as error:  # Qiskit raises errors of many kinds for damaged files
        kind = "an OpenQASM" if is_text else "a QPY"
        raise FileFormatError(os.fspath(path), f"not {kind} file that Qiskit reads ({error})") from error
    return circuit.remove_final_measurements(inplace=False)


def read_circuit_state(path: str | os.PathLike[str]) -> QuantumState:
    """Return the state that a circuit prepares from all zeros; final measurements are removed."""
    circuit = read_circuit(path)
    return as_state(import_module("qiskit.quantum_info").Statevector(circuit))


def fitter(
    outcome_data: Array,
    shot_data: Array,
    measurement_data: Array,
    preparation_data: Array,
    *,
    measurement_basis: Any = None,
    preparation_basis: Any = None,
    measurement_qubits: Any = None,
    preparation_qubits: Any = None,
    conditional_measurement_indices: Any = None,
    conditional_preparation_indices: Any = None,
    max_weight: int | None = None,
    max_paulis: int | None = None,
    **options: Any,
) -> tuple[Array, dict[str, Any]]:
    """Fit a state or a channel inside ``StateTomographyAnalysis`` or ``ProcessTomographyAnalysis``.

    Select it with ``analysis.set_options(fitter=unipd.interop.qiskit.fitter, fitter_options={"accuracy": 1e-8})``.

    Parameters
    ----------
    outcome_data
        Counts of shape (1, bases, outcomes).
    shot_data
        Shots of each basis.
    measurement_data
        Index of the Pauli basis (0 is Z, 1 is X, 2 is Y) of shape (bases, qubits), column k for qubit k.
    preparation_data
        For processes the index of each qubit's input state (0, 1, +, r), of shape (bases, qubits); else empty.
    measurement_basis, preparation_basis, measurement_qubits, preparation_qubits
        Passed by the analysis. The operators of the bases are fitted, so that of
        ``MitigatedStateTomography``, which describes readout errors, needs nothing else.
    conditional_measurement_indices, conditional_preparation_indices
        Refused unless empty.
    max_weight, max_paulis
        Limits of the Pauli strings, as in :meth:`unipd.PauliTomography.fit_counts`.
    options
        Options of :class:`~unipd.apps.tomography.PauliTomography`. The objective is "gaussian" by default, that of
        ``cvxpy_gaussian_lstsq``; "outcomes" is less biased for states with a little noise. ``accuracy`` and
        ``depolarize`` are 1e-6 and 5e-5 by default. For processes those of
        :class:`~unipd.apps.process_tomography.ProcessTomography`, which maximises the likelihood.

    Returns
    -------
    tuple
        The density or Choi matrix, and a dictionary with its certificate.

    Raises
    ------
    InvalidInput
        The data are conditional, or those of a process with a limit of the strings.

    See Also
    --------
    unipd.PauliTomography, unipd.ProcessTomography

    Examples
    --------
    >>> counts = np.array([[[1000, 0], [500, 500], [500, 500]]])
    >>> empty = np.zeros((3, 0), int)
    >>> matrix, figures = fitter(counts, np.full(3, 1000), np.array([[0], [1], [2]]), empty)
    >>> matrix.shape, figures["fitter"]
    ((2, 2), 'unipd')
    """
    begun = time.perf_counter()
    if conditional_preparation_indices or conditional_measurement_indices or np.shape(outcome_data)[0] != 1:
        raise InvalidInput("outcome_data", "one unconditional state or process", "conditional data")
    bases = np.asarray(measurement_data)
    if np.size(preparation_data):
        if max_weight is not None or max_paulis is not None:
            raise InvalidInput("max_weight", "no limit of the strings of a process", "one")
        effects, outcomes = _read_operators(measurement_basis, measurement_qubits, bases, _pauli_effects)
        prepared = np.asarray(preparation_data)
        states, inputs = _read_operators(preparation_basis, preparation_qubits, prepared, _pauli_states)
        table = np.asarray(outcome_data)[0]
        estimate = ProcessTomography(**options).fit_data(tabulate_process(states, inputs, effects, outcomes, table))
        sizes = {"input_dims": (2,) * prepared.shape[1], "output_dims": (2,) * bases.shape[1]}
        return estimate.channel_.choi, {**sizes, **_metadata(estimate.result_, begun)}
    povms = {} if measurement_basis is None else read_basis(measurement_basis, measurement_qubits, bases)
    counts = counts_of(np.asarray(outcome_data)[0], np.asarray(shot_data), bases, povms)
    limited = max_weight is not None or max_paulis is not None
    options.setdefault("accuracy", ACCURACY)
    low_rank = options.get("rank") is not None or counts[0].qubits > DEPOLARIZE_QUBITS
    options.setdefault("depolarize", 0.0 if low_rank else DEPOLARIZE)
    options.setdefault("objective", "auto" if limited or not has_few_outcomes(counts) else "gaussian")
    estimate = PauliTomography(**options).fit_counts(counts, max_weight=max_weight, max_paulis=max_paulis)
    return estimate.state_.density_matrix(max_qubits=14), _metadata(estimate.result_, begun)


def _metadata(result: Result, begun: float) -> dict[str, Any]:
    figures = result.summary()
    chosen = ("status", "method", "objective", "dual_bound", "gap", "relative_residual", "rank", "iterations")
    known = {key: figures[key] for key in chosen if key in figures}
    return {"fitter": "unipd", "fitter_time": time.perf_counter() - begun, **known}


def _read_operators(
    basis: Any, qubits: Any, indices: Array, default: Callable[[tuple[int, ...]], Array]
) -> tuple[Array, Array]:
    """Return the operators of every distinct row of indices, and the place of each row among them."""
    distinct, places = np.unique(indices, axis=0, return_inverse=True)
    if basis is None:
        return np.array([default(tuple(row)) for row in distinct.tolist()]), places.reshape(-1)
    numbers = tuple(range(indices.shape[1])) if qubits is None else tuple(qubits)
    if hasattr(basis, "outcome_shape"):
        size = int(np.prod(basis.outcome_shape(numbers)))
        found = [[np.asarray(basis.matrix(row, k, numbers)) for k in range(size)] for row in distinct.tolist()]
    else:
        found = [np.asarray(basis.matrix(row, numbers)) for row in distinct.tolist()]
    return np.array(found, np.complex128), places.reshape(-1)


def _pauli_effects(indices: tuple[int, ...]) -> Array:
    """Return the projectors of Qiskit's Pauli measurement basis."""
    return basis_effects("".join(_LETTERS[index] for index in reversed(indices)))


def _pauli_states(indices: tuple[int, ...]) -> Array:
    """Return the input state of Qiskit's Pauli preparation basis."""
    return prepared_state("".join(MINIMAL[index] for index in reversed(indices)))


def read_basis(basis: Any, qubits: Any, indices: Array) -> dict[tuple[int, int], FloatArray]:
    """Return the Pauli coefficients of what each qubit measures, by its column and index; none for the Pauli basis.

    Readout mitigation (``MitigatedStateTomography``) makes the operators those of what is read, with its errors.
    """
    numbers = range(indices.shape[1]) if qubits is None else qubits
    povms: dict[tuple[int, int], FloatArray] = {}
    for column, qubit in enumerate(numbers):
        outcomes = int(basis.outcome_shape((qubit,))[0])
        for index in np.unique(indices[:, column]).tolist():
            operators = [np.asarray(basis.matrix((index,), outcome, (qubit,))) for outcome in range(outcomes)]
            povms[column, index] = pauli_coefficients(np.array(operators, np.complex128))
    ideal = {index: measure_basis(letter).matrices[0] for index, letter in enumerate(_LETTERS)}
    is_pauli = all(
        index in ideal and found.shape == (2, 4) and np.allclose(found, ideal[index], atol=1e-12)
        for (_, index), found in povms.items()
    )
    return {} if is_pauli else povms


def counts_of(
    outcomes: Array, shots: Array, bases: Array, povms: Mapping[tuple[int, int], FloatArray] | None = None
) -> list[BasisCounts]:
    """Return the counts of the fitter's arrays basis by basis; ``povms`` are those of :func:`read_basis`.

    >>> counts_of(np.array([[3, 0, 1, 0]]), np.array([4]), np.array([[0, 1]]))[0].basis
    'XZ'
    """
    is_known = bases.ndim == 2 and bases.shape[0] == outcomes.shape[0]
    if not is_known or not (povms or np.isin(bases, (0, 1, 2)).all()):
        expected = "indices 0, 1, 2 of shape (bases, qubits) and outcomes of shape (bases, 2^qubits)"
        raise InvalidInput("measurement_data", expected, f"shapes {bases.shape} and {outcomes.shape}")
    if shots.shape != bases.shape[:1] or np.any(outcomes < 0) or np.any(outcomes.sum(axis=1) <= 0):
        raise InvalidInput("shot_data", "the number of shots of each basis, above zero", f"shape {shots.shape}")
    parts: list[BasisCounts] = []
    for row, indices in zip(outcomes, bases, strict=True):
        seen = np.flatnonzero(row)
        povm = None
        if povms:
            povm = Measurement(bases.shape[1], tuple(povms[column, int(i)] for column, i in enumerate(indices)))
        label = "".join(_LETTERS[i] if i < 3 else "?" for i in indices[::-1])
        parts.append(BasisCounts(label, seen, np.round(row[seen]).astype(np.int64), povm))
        if row.size != parts[-1].size:
            expected = f"{parts[-1].size} outcomes of each basis"
            raise InvalidInput("outcome_data", expected, f"{row.size}")
    return parts
