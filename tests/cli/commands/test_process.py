"""The command ``unipd process``, and its files."""

import json

import numpy as np
import pytest

from unipd.apps.process_tomography import (
    GATES,
    ProcessTomography,
    QuantumChannel,
    all_preparations,
    as_channel,
    prepared_state,
    simulate_process,
)
from unipd.apps.tomography import QuantumState, all_bases, simulate_counts
from unipd.errors import FileFormatError
from unipd.io import load, read_process_data, write_process_counts


def run(invoke, *arguments):
    result = invoke("process", *arguments, "--json", "-", "--quiet")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_simulated_gate(invoke, tmp_path):
    data, out = tmp_path / "counts.csv", tmp_path / "channel.npz"
    first = run(invoke, "--simulate", "cx", "--depolarizing", 0.05, "--seed", 3, "--save-data", data, "--diamond")
    assert first["status"] == "solved"
    assert first["process_fidelity"] == pytest.approx(1 - 0.05 * 15 / 16, abs=0.01)
    assert first["fidelity_target"] == "cx"
    assert 0.03 < first["diamond_distance"] < 0.1
    again = run(invoke, data, "--target", "cx", "--out", out)
    assert again["objective"] == pytest.approx(first["objective"], abs=1e-9)
    saved = QuantumChannel(load(out).extras["choi"])
    assert saved.process_fidelity("cx") == pytest.approx(again["process_fidelity"], abs=1e-9)


def test_counts_survive_a_file(tmp_path):
    counts = simulate_process("h", shots=50, seed=1)
    write_process_counts(counts, tmp_path / "counts.csv")
    assert read_process_data(tmp_path / "counts.csv") == counts


def test_losses_and_rank(invoke):
    figures = run(invoke, "--simulate", "s", "--loss", 0.25, "--rank", 1, "--shots", 400)
    assert figures["rank"] == 1
    assert figures["guarantee"].startswith(("local", "optimal"))
    assert figures["average_gate_fidelity"] == pytest.approx(0.75, abs=0.03)


def test_expectations(invoke, tmp_path):
    channel = as_channel("t")
    lines = ["preparation,pauli,expectation,stderr"]
    for label in all_preparations(1):
        output = channel.apply(prepared_state(label))
        for name in "XYZ":
            value = np.trace(GATES[name.lower()] @ output).real
            lines.append(f"{label},{name},{value:.12f},0.01")
    path = tmp_path / "values.csv"
    path.write_text("\n".join(lines))
    figures = run(invoke, path, "--target", "t")
    assert figures["objective_name"] == "weighted"
    assert figures["process_fidelity"] > 0.999


def test_ancilla(invoke, tmp_path):
    choi = as_channel("h").choi
    values, vectors = np.linalg.eigh(choi)
    state = QuantumState(vectors, np.maximum(values, 0.0))
    counts = simulate_counts(state, all_bases(2), 2000, seed=1)
    rows = [f"{basis},{bits},{number}" for basis, seen in counts.items() for bits, number in seen.items()]
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(["basis,outcome,count", *rows]))
    assert run(invoke, path, "--ancilla", "--target", "h")["process_fidelity"] > 0.98


def test_target_files(invoke, tmp_path):
    np.save(tmp_path / "gate.npy", as_channel("h").kraus[0])
    figures = run(invoke, "--simulate", "h", "--shots", 200, "--target", tmp_path / "gate.npy")
    assert figures["process_fidelity"] > 0.95
    qiskit = pytest.importorskip("qiskit")
    from qiskit import qpy

    circuit = qiskit.QuantumCircuit(1)
    circuit.h(0)
    with (tmp_path / "gate.qpy").open("wb") as stream:
        qpy.dump(circuit, stream)
    other = run(invoke, "--simulate", "h", "--shots", 200, "--target", tmp_path / "gate.qpy")
    assert other["process_fidelity"] == pytest.approx(figures["process_fidelity"], abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "either a file of measurements or --simulate"),
        (("--simulate", "toffoli"), "--simulate: expected one of"),
        (("--simulate", "random"), "--qubits"),
        (("--simulate", "cx", "--qubits", "3"), "--qubits: expected 2"),
        (("--simulate", "h", "--target", "hh"), "--target: expected one of"),
        (("--simulate", "h", "--target", "cx"), "--target: expected a channel from dimension 2"),
        (("--simulate", "h", "--trace", "any"), "--trace"),
        (("--simulate", "h", "--depolarizing", "2"), "--depolarizing"),
        (("counts.csv", "--diamond"), "--diamond"),
    ],
)
def test_bad_arguments_are_one_line(invoke, arguments, text):
    result = invoke("process", *arguments, "--quiet")
    assert result.exit_code == 2
    assert text in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("preparation,basis,outcome,count\n", "no measurements"),
        ("preparation,basis,count\n0,Z,1\n", "expected the columns"),
        ("preparation,basis,outcome,count\n0,Z,0,x\n", "whole number for count"),
        ("preparation,basis,outcome,count\n0,Z,0,1.5\n", "a whole number"),
        ("preparation,basis,outcome,count\n0,Z,0,1\n0,Z,0,2\n", "occurs twice"),
        ("preparation,basis,outcome,count\n7,Z,0,1\n", "letters 0, 1"),
        ("preparation,pauli,expectation\n0,Z,nan\n", "a number for expectation"),
    ],
)
def test_bad_files_are_one_line(invoke, tmp_path, text, message):
    path = tmp_path / "counts.csv"
    path.write_text(text)
    result = invoke("process", path)
    assert result.exit_code == 2
    assert message in result.stderr
    assert str(path) in result.stderr.replace("\n", "")
    assert len(result.stderr.strip().splitlines()) == 1


def test_errors_name_the_line(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("preparation,basis,outcome,count\n0,Z,0,3\n0,Z,1,many\n")
    with pytest.raises(FileFormatError, match="line 3"):
        read_process_data(path)


def test_error_bars(invoke):
    figures = run(invoke, "--simulate", "h", "--depolarizing", 0.1, "--shots", 300, "--bootstrap", 5)
    low, high = figures["process_fidelity_low"], figures["process_fidelity_high"]
    assert 0.8 < low < figures["process_fidelity"] < high <= 1.0
    assert low < 0.925 < high


def test_a_target_of_another_size_is_refused_before_the_fit(invoke, monkeypatch):
    monkeypatch.setattr(ProcessTomography, "fit_data", lambda *_: pytest.fail("the fit has begun"))
    done = invoke("process", "--simulate", "cx", "--target", "x")
    assert done.exit_code == 2
    assert "--target: expected a channel from dimension 4 to 4" in done.stderr
