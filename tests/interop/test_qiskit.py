"""Qiskit's conventions and objects; tests that need the package are skipped without it."""

import itertools
import sys

import numpy as np
import pytest

from unipd.apps.tomography import (
    PauliTomography,
    all_bases,
    as_counts,
    as_state,
    random_mixed,
    random_pure,
    sample_bases,
    simulate_counts,
)
from unipd.errors import InvalidInput, UnipdError
from unipd.interop import qiskit as bridge


def arrays(counts, qubits=None):
    """Return the fitter's arrays for counts by basis, as qiskit-experiments passes them."""
    qubits = qubits or len(next(iter(counts)))
    outcomes = np.zeros((1, len(counts), 2**qubits), int)
    for row, seen in zip(outcomes[0], counts.values(), strict=True):
        for bits, count in seen.items():
            row[int(bits, 2)] = count
    bases = np.array([["ZXY".index(letter) for letter in basis[:qubits][::-1]] for basis in counts])
    return outcomes, outcomes[0].sum(axis=1), bases, np.zeros((len(counts), 0), int)


def test_the_fitter_is_fit_counts():
    state = random_pure(3, seed=1)
    counts = simulate_counts(state, all_bases(3), 400, seed=2)
    matrix, figures = bridge.fitter(*arrays(counts), measurement_qubits=(0, 1, 2), accuracy=1e-5)
    expected = PauliTomography(objective="gaussian", accuracy=1e-5, depolarize=bridge.DEPOLARIZE).fit_counts(counts)
    np.testing.assert_allclose(matrix, expected.state_.density_matrix(), atol=1e-9)
    assert figures["status"] == "solved"
    assert figures["gap"] <= 1e-5
    assert np.trace(matrix).real == pytest.approx(1.0)
    assert as_state(matrix).fidelity(state) > 0.95


def test_the_fitter_takes_options():
    counts = simulate_counts(random_pure(2, seed=1), all_bases(2), 100, seed=2)
    matrix, figures = bridge.fitter(*arrays(counts), rank=1, max_weight=2, accuracy=1e-3)
    assert np.linalg.matrix_rank(matrix, tol=1e-9) == figures["rank"] == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda a: (a[0], a[1], a[2], np.zeros((8, 1), int)),
        lambda a: (np.concatenate([a[0], a[0]]), *a[1:]),
        lambda a: (a[0], a[1], a[2] + 3, a[3]),
        lambda a: (a[0][:, :, :2], *a[1:]),
        lambda a: (a[0], a[1][:-1], a[2], a[3]),
        lambda a: (0 * a[0], *a[1:]),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change):
    data = arrays(simulate_counts(random_pure(2, seed=1), all_bases(2), 10, seed=2))
    with pytest.raises(InvalidInput):
        bridge.fitter(*change(data))


def test_conditional_fits_are_refused():
    data = arrays(simulate_counts(random_pure(2, seed=1), all_bases(2), 10, seed=2))
    with pytest.raises(InvalidInput, match="unconditional"):
        bridge.fitter(*data, conditional_measurement_indices=(0,))


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "qiskit.quantum_info", None)
    with pytest.raises(UnipdError, match=r"unipd\[quantum\]"):
        random_pure(1).to_qiskit()


def test_states_and_figures_agree_with_qiskit():
    information = pytest.importorskip("qiskit.quantum_info")
    pure, mixed = random_pure(3, seed=1), random_mixed(3, 2, seed=2)
    vector, matrix = pure.to_qiskit(), mixed.to_qiskit()
    assert isinstance(vector, information.Statevector)
    assert isinstance(matrix, information.DensityMatrix)
    assert mixed.fidelity(pure) == pytest.approx(information.state_fidelity(matrix, vector))
    assert mixed.fidelity(vector) == pytest.approx(mixed.fidelity(pure))
    assert mixed.purity == pytest.approx(matrix.purity().real)
    assert mixed.entropy == pytest.approx(information.entropy(matrix, 2))
    labels = ["".join(letters) for letters in itertools.product("IXYZ", repeat=3)]
    strings = information.PauliList(labels)
    expected = [matrix.expectation_value(string).real for string in strings]
    np.testing.assert_allclose(mixed.expectations(strings), expected, atol=1e-12)
    operator = information.SparsePauliOp(labels[:7], np.arange(7.0))
    assert mixed.expectation(operator) == pytest.approx(matrix.expectation_value(operator).real)
    estimate = PauliTomography(accuracy=1e-8).fit(strings, pure.expectations(strings))
    assert information.state_fidelity(estimate.to_qiskit(), vector) == pytest.approx(1.0, abs=1e-6)


def histograms(counts):
    return [dict(zip(part.outcomes.tolist(), part.counts.tolist(), strict=True)) for part in as_counts(counts)]


def test_shots_of_the_sampler_are_counts():
    primitives = pytest.importorskip("qiskit.primitives")
    words = {"001": 3, "110": 2, "000": 4}
    expected = [{1: 3, 6: 2, 0: 4}]
    array = primitives.BitArray.from_counts(words, num_bits=3)
    joined = primitives.SamplerPubResult(primitives.DataBin(meas=array))
    assert histograms({"XYZ": words}) == histograms({"XYZ": array}) == histograms({"XYZ": joined}) == expected
    assert histograms({"XYZ": primitives.PubResult(primitives.DataBin(meas=array))}) == expected
    parts = {
        "low": primitives.BitArray.from_samples(["01", "01", "10"], num_bits=2),
        "high": primitives.BitArray.from_samples(["1", "0", "1"], num_bits=1),
    }
    assert histograms({"XYZ": primitives.SamplerPubResult(primitives.DataBin(**parts))}) == [{5: 1, 1: 1, 6: 1}]
    with pytest.raises(InvalidInput, match="one register"):
        as_counts({"XYZ": primitives.PubResult(primitives.DataBin(**parts))})
    with pytest.raises(InvalidInput, match=r"bit-strings of 2 bits"):
        as_counts({"XY": array})
    several = primitives.BitArray(np.zeros((4, 5, 1), np.uint8), 3)
    with pytest.raises(InvalidInput, match=r"shots of one circuit .*, got an array of shape \(4,\)"):
        as_counts({"XYZ": several})
    assert histograms({"XYZ": several[1]}) == [{0: 5}]


def test_the_sampler_runs_to_a_state():
    qiskit = pytest.importorskip("qiskit")
    from qiskit.primitives import StatevectorSampler

    results, turns = {}, {"X": lambda c, q: c.h(q), "Y": lambda c, q: (c.sdg(q), c.h(q)), "Z": lambda c, q: None}
    for basis in all_bases(2):
        circuit = qiskit.QuantumCircuit(2)
        circuit.ry(0.7, 0)  # not symmetric in the qubits
        circuit.cx(0, 1)
        circuit.x(1)
        for qubit, letter in enumerate(reversed(basis)):
            turns[letter](circuit, qubit)
        circuit.measure_all()
        results[basis] = StatevectorSampler(seed=1).run([circuit], shots=2000).result()[0]
    truth = np.array([0.0, np.sin(0.35), np.cos(0.35), 0.0])
    assert PauliTomography(threads=1).fit_counts(results).fidelity(truth) > 0.99


def test_the_fitter_works_inside_the_analysis():
    pytest.importorskip("qiskit_experiments")
    from qiskit.quantum_info import Statevector
    from qiskit_experiments.framework import ExperimentData
    from qiskit_experiments.library.tomography import StateTomographyAnalysis

    state = random_pure(2, seed=4)
    counts = simulate_counts(state, all_bases(2), 2000, seed=1)
    data = [
        {
            "counts": seen,
            "shots": 2000,
            "metadata": {"m_idx": ["ZXY".index(c) for c in basis[::-1]], "clbits": [0, 1], "cond_clbits": None},
        }
        for basis, seen in counts.items()
    ]
    experiment = ExperimentData()
    experiment.add_data(data)
    analysis = StateTomographyAnalysis()
    target = Statevector(state.eigenvectors[:, 0])
    analysis.set_options(
        fitter=bridge.fitter, measurement_qubits=(0, 1), target=target, fitter_options={"accuracy": 1e-5}
    )
    results = analysis.run(experiment, replace_results=True).block_for_results()
    assert not results.errors()
    table = results.analysis_results(dataframe=True).set_index("name")["value"]
    expected = PauliTomography(objective="gaussian", accuracy=1e-5, depolarize=bridge.DEPOLARIZE).fit_counts(counts)
    assert table["state_fidelity"] == pytest.approx(expected.fidelity(state), abs=1e-6)
    assert table["positive"]


def test_qiskits_paulis_expectation_values_and_counts_are_read():
    information = pytest.importorskip("qiskit.quantum_info")
    state = information.random_statevector(4, seed=3)
    labels = ["".join(letters) for letters in itertools.product("IXYZ", repeat=2)][1:]
    values = [complex(state.expectation_value(information.Pauli(label))) for label in labels]
    estimator = PauliTomography(accuracy=1e-8)
    strings = information.PauliList(labels)
    forms = (strings, list(strings), information.SparsePauliOp(labels), (strings.x, strings.z))
    for form in forms:
        assert estimator.fit(form, values).fidelity(state) > 1 - 1e-6
    with pytest.raises(InvalidInput, match="phase"):
        estimator.fit([information.Pauli("-XX")], [0.5])
    with pytest.raises(InvalidInput, match="real numbers"):
        estimator.fit(labels, np.asarray(values) + 0.1j)


def test_qiskits_counts_from_hexadecimal_numbers_are_read():
    counts = pytest.importorskip("qiskit.result").Counts
    found = as_counts({"ZZ": counts({"0x0": 3, "0x1": 2, "0x3": 1}), "XX": counts({"01": 4})})
    assert [part.outcomes.tolist() for part in found] == [[0, 1, 3], [1]]
    with pytest.raises(InvalidInput, match="2 bits"):
        as_counts({"ZZ": counts({"0x4": 1})})


def test_readout_errors_of_a_mitigated_analysis_are_fitted():
    """MitigatedStateTomographyAnalysis with its readout calibration: what it fits describes what was read."""
    pytest.importorskip("qiskit_experiments")
    from qiskit_experiments.data_processing import LocalReadoutMitigator
    from qiskit_experiments.library.tomography.basis import PauliMeasurementBasis

    flips = [np.array([[0.97, 0.08], [0.03, 0.92]]), np.array([[0.9, 0.15], [0.1, 0.85]])]
    state, rng = random_mixed(2, 2, seed=4), np.random.default_rng(1)
    read = list(sample_bases(state, all_bases(2), [50_000] * 9, rng, None, tuple(flips)))
    counts = {
        part.basis: {format(i, "02b"): int(n) for i, n in zip(part.outcomes, part.counts, strict=True)} for part in read
    }
    basis = PauliMeasurementBasis(mitigator=LocalReadoutMitigator(flips, qubits=[5, 2]))
    named = {"measurement_basis": basis, "measurement_qubits": (5, 2), "objective": "likelihood", "accuracy": 1e-4}
    matrix, _ = bridge.fitter(*arrays(counts), **named, depolarize=0.0)
    expected = PauliTomography(accuracy=1e-4).fit_counts(counts, readout=flips)
    np.testing.assert_allclose(matrix, expected.state_.density_matrix(), atol=1e-3)
    assert as_state(matrix).fidelity(state) > 0.99
    plain, _ = bridge.fitter(*arrays(counts), measurement_basis=PauliMeasurementBasis(), measurement_qubits=(5, 2))
    assert as_state(plain).fidelity(state) < 0.97


@pytest.mark.filterwarnings(
    "ignore:Aer not found:RuntimeWarning",
    "ignore:Option:UserWarning",
    "ignore:qiskit.providers.models:DeprecationWarning",
)
def test_the_mitigated_experiment_runs_with_the_fitter():
    pytest.importorskip("qiskit_experiments")
    from qiskit import QuantumCircuit
    from qiskit.providers.fake_provider import GenericBackendV2
    from qiskit_experiments.library import MitigatedStateTomography

    circuit = QuantumCircuit(2)
    circuit.h(0)
    circuit.cx(0, 1)
    backend = GenericBackendV2(2, seed=1)
    experiment = MitigatedStateTomography(circuit, backend=backend)
    experiment.analysis.set_options(fitter=bridge.fitter)
    data = experiment.run(backend_run=True, shots=500).block_for_results()
    assert not data.errors()
    table = data.analysis_results(dataframe=True).set_index("name")["value"]
    assert table["state_fidelity"] > 0.9


@pytest.mark.parametrize("options", [{}, {"rank": 1, "accuracy": 1e-3}])
def test_the_fitter_works_inside_process_tomography(options):
    """Circuits of qiskit-experiments, run by Qiskit's sampler, fitted inside its analysis: a gate without symmetry."""
    qiskit = pytest.importorskip("qiskit")
    pytest.importorskip("qiskit_experiments")
    from qiskit.primitives import StatevectorSampler
    from qiskit.quantum_info import Choi, Operator, process_fidelity
    from qiskit_experiments.framework import ExperimentData
    from qiskit_experiments.library import ProcessTomography

    gate = qiskit.QuantumCircuit(2)
    gate.ry(0.4, 0)
    gate.cx(0, 1)
    gate.s(1)
    experiment = ProcessTomography(gate)
    circuits = experiment.circuits()
    runs = StatevectorSampler(seed=1).run(circuits, shots=200).result()
    data = [
        {"counts": run.join_data().get_counts(), "shots": 200, "metadata": circuit.metadata}
        for circuit, run in zip(circuits, runs, strict=True)
    ]
    records = ExperimentData(experiment)
    records.add_data(data)
    analysis = experiment.analysis
    analysis.set_options(fitter=bridge.fitter, fitter_options=options)
    results = analysis.run(records, replace_results=True).block_for_results()
    assert not results.errors()
    table = results.analysis_results(dataframe=True).set_index("name")["value"]
    choi = table["state"]
    assert isinstance(choi, Choi)
    assert choi.is_cptp(atol=1e-6)
    assert process_fidelity(choi, Operator(gate)) == pytest.approx(table["process_fidelity"], abs=1e-6)
    assert table["process_fidelity"] > 0.97


def test_process_arrays_without_bases_are_those_of_pauli():
    from unipd.apps.process_tomography import all_preparations, as_channel, simulate_process

    gate = np.kron(np.eye(2), np.diag([1, 1j])) @ as_channel("cx").kraus[0]
    counts = simulate_process(gate, preparations=all_preparations(2), shots=300, seed=2)
    outcomes, shots, bases, _ = arrays({f"{basis}|{label}": seen for (label, basis), seen in counts.items()}, 2)
    prepared = np.array([["01+r".index(letter) for letter in label[::-1]] for label, _ in counts])
    matrix, figures = bridge.fitter(outcomes, shots, bases, prepared)
    assert figures["status"] == "solved"
    assert np.real(np.vdot(as_channel(gate).choi, matrix)) / 16 > 0.97
    with pytest.raises(InvalidInput, match="no limit of the strings"):
        bridge.fitter(outcomes, shots, bases, prepared, max_weight=1)
