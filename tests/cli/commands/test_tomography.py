"""The command ``unipd tomography``."""

import io
import json
import os
import sys

import numpy as np
import pytest

import unipd
from unipd.apps.tomography import PauliTomography, all_bases, ghz, sic_povm, simulate, simulate_counts
from unipd.cli.commands.tomography import progress_counter, read_target
from unipd.cli.options import read_array_file
from unipd.errors import InvalidInput
from unipd.io import PauliData, load, read_pauli_data, write_pauli_data

KEYS = {
    "status", "qubits", "measurements", "objective", "relative_residual", "dual_bound", "gap", "rank", "iterations",
    "oracle_calls", "matvecs", "line_search_trials_per_iteration", "seconds", "peak_memory_bytes", "infeasibility",
    "seed", "version",
}  # fmt: skip


def run(invoke, *arguments):
    result = invoke("tomography", *arguments, "--json", "-", "--quiet")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_simulated_state_is_recovered(invoke):
    figures = run(invoke, "--simulate", "random", "--qubits", 8, "--accuracy", 1e-8, "--seed", 1)
    assert set(figures) >= KEYS | {"fidelity"}
    assert figures["measurements"] == 2158
    assert figures["relative_residual"] <= 1e-8
    assert figures["fidelity"] >= 1 - 1e-6
    assert figures["rank"] == 1
    assert figures["method"] == "factored"


def test_the_papers_method(invoke):
    figures = run(invoke, "--simulate", "random", "--qubits", 8, "--method", "accunipdgrad", "--accuracy", 1e-3)
    assert figures["relative_residual"] <= 1e-3
    assert figures["iterations"] <= 40
    assert figures["line_search_trials_per_iteration"] == pytest.approx(1.057, abs=0.1)


def test_greedy_weights(invoke):
    figures = run(invoke, "--simulate", "random", "--qubits", 3, "--method", "unipdgrad", "--weights", "greedy")
    assert figures["relative_residual"] <= 1e-4


def test_the_file_of_a_cut_estimate_says_what_the_table_says(invoke, tmp_path):
    words = ("tomography", "--simulate", "mixed", "--qubits", 3, "--rank", 1, "--out", tmp_path / "cut.npz")
    result = invoke(*words, "--json", "-", "--quiet")
    assert result.exit_code == 0
    figures, saved = json.loads(result.stdout), load(tmp_path / "cut.npz")
    assert saved.message == figures["message"]
    assert (saved.status.value, saved.gap) == (figures["status"], figures["gap"]) == ("local", saved.gap)
    assert figures["guarantee"] == "local: rank-constrained"
    vector = saved.extras["eigenvectors"][:, 0]
    np.testing.assert_allclose(saved.x.dense(), np.outer(vector, vector.conj()), atol=1e-12)


def test_counts_in_a_table_with_readout_errors(invoke, tmp_path):
    from unipd.apps.tomography import Noise, all_bases, ghz, simulate_counts

    counts = simulate_counts(ghz(3), all_bases(3), 500, noise=Noise(readout=0.1), seed=1)
    rows = [f"{basis},{bits},{number}" for basis, part in counts.items() for bits, number in part.items()]
    (tmp_path / "counts.csv").write_text("\n".join(["basis,outcome,count", *rows]))
    (tmp_path / "flips.json").write_text("[[0.9, 0.1], [0.1, 0.9]]")
    words = ("tomography", tmp_path / "counts.csv", "--readout-matrix", tmp_path / "flips.json", "--rank", "auto")
    result = invoke(*words, "--json", tmp_path / "a.json", "-v")
    figures = json.loads((tmp_path / "a.json").read_text())
    assert (result.exit_code, figures["objective_name"], figures["rank"]) == (0, "likelihood", 1)
    assert 0.5 < figures["chi_square_per_dof"] < 1.5
    assert "objective likelihood, rank: at most 1 (" in result.stderr
    assert "likelihood" in result.stdout
    assert_refused(invoke(*words[:4], "--rank", "low"), "--rank", "auto or a whole number")
    (tmp_path / "flips.json").write_text("{")
    assert_refused(invoke(*words), "flips.json", "not a file of matrices")


def test_readout_errors_are_read_from_a_folder_without_write_permission(monkeypatch, tmp_path):
    path = tmp_path / "flips.npy"
    np.save(path, [[0.9, 0.1], [0.2, 0.8]])
    monkeypatch.setattr("os.access", lambda name, mode: not mode & os.W_OK)  # root may write everywhere
    content = read_array_file("--readout-matrix", path, (".json", ".npy"))
    np.testing.assert_array_equal(content, [[0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(InvalidInput, match=r"--readout-matrix: expected a file name ending in .json or .npy"):
        read_array_file("--readout-matrix", tmp_path / "flips.csv", (".json", ".npy"))


@pytest.mark.parametrize("name", ["missing.json", "folder.json"])
def test_readout_errors_that_cannot_be_read_are_refused(invoke, tmp_path, name):
    (tmp_path / "counts.csv").write_text("basis,outcome,count\nX,0,5\nY,0,5\nZ,0,5\n")
    (tmp_path / "folder.json").mkdir()
    words = ("tomography", tmp_path / "counts.csv", "--readout-matrix", tmp_path / name)
    assert_refused(invoke(*words), name)


def test_a_circuit_as_target(invoke, tmp_path):
    qiskit = pytest.importorskip("qiskit", reason="Qiskit is not installed (extra quantum)")
    from qiskit import qpy

    circuit = qiskit.QuantumCircuit(3)
    circuit.x(0)  # the vector of 001: the order of qubits matters
    for name, ends in (("plain", False), ("measured", True)):
        if ends:
            circuit.measure_all()
        with (tmp_path / f"{name}.qpy").open("wb") as stream:
            qpy.dump(circuit, stream)
        assert read_target(str(tmp_path / f"{name}.qpy")).expectation("IIZ") == pytest.approx(-1.0)
    (tmp_path / "two.qasm").write_text('OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[3];\nx q[0];\n')
    (tmp_path / "three.qasm").write_text('OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[3] q;\nx q[0];\n')
    for name in ("two", "three"):
        assert read_target(str(tmp_path / f"{name}.qasm")).expectation("IIZ") == pytest.approx(-1.0)
    (tmp_path / "data.csv").write_text("pauli,expectation\nIIZ,-1\nIZI,1\nZII,1\n")
    figures = run(invoke, tmp_path / "data.csv", "--target", tmp_path / "measured.qpy", "--accuracy", 1e-8)
    assert figures["fidelity"] == pytest.approx(1.0, abs=1e-4)
    (tmp_path / "damaged.qpy").write_bytes(b"QISKIT")
    words = ("tomography", tmp_path / "data.csv", "--target")
    np.save(tmp_path / "other.npy", [1.0, 0.0, 0.0, 0.0])
    refused = invoke(*words, tmp_path / "other.npy")
    assert (refused.exit_code, "--target: expected a state of 3 qubits, got 2 qubits" in refused.stderr) == (2, True)
    # one line, since the target is read before the fit
    assert_refused(invoke(*words, tmp_path / "damaged.qpy"), "damaged.qpy", "not a QPY file")
    assert_refused(invoke(*words, tmp_path / "missing.qpy"), "missing.qpy")
    (tmp_path / "damaged.qasm").write_text("OPENQASM 2.0; qubits")
    assert_refused(invoke(*words, tmp_path / "damaged.qasm"), "damaged.qasm", "not an OpenQASM file")


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".json"])
def test_files_of_every_kind(invoke, tmp_path, suffix):
    path = tmp_path / f"data{suffix}"
    first = run(
        invoke,
        "--simulate",
        "mixed",
        "--qubits",
        3,
        "--state-rank",
        2,
        "--shots",
        500,
        "--seed",
        4,
        "--save-data",
        path,
    )
    again = run(invoke, path)
    assert again["objective"] == pytest.approx(first["objective"])
    assert "fidelity" not in again
    assert read_pauli_data(path).shots[0] == 500


def test_counts(invoke, tmp_path):
    path = tmp_path / "counts.json"
    path.write_text(json.dumps({"counts": simulate_counts(ghz(3), all_bases(3), 300, seed=1)}))
    figures = run(invoke, path, "--bootstrap", 3)
    assert figures["purity"] > 0.9
    assert 0 <= figures["purity_low"] <= figures["purity_high"] <= 1
    assert not any(name.startswith("fidelity") for name in figures)
    limited = run(invoke, path, "--max-weight", 2)
    assert limited["measurements"] == 9 + 27


def test_fidelity_with_a_target_and_ranges_of_observables(invoke, tmp_path):
    path, vector = tmp_path / "counts.json", tmp_path / "ghz.npy"
    path.write_text(json.dumps({"counts": simulate_counts(ghz(2), all_bases(2), 300, seed=1)}))
    np.save(vector, ghz(2).eigenvectors[:, 0])
    named = run(invoke, path, "--bootstrap", 3, "--target", "ghz", "--observable", "0.5*XX+0.5*ZZ", "--certified-range")
    assert named["fidelity_target"] == "ghz"
    assert named["fidelity_certified_low"] <= named["fidelity"] <= named["fidelity_certified_high"]
    assert named["0.5*XX+0.5*ZZ_certified_low"] <= named["0.5*XX+0.5*ZZ"] <= named["0.5*XX+0.5*ZZ_certified_high"]
    assert {"fidelity_stderr", "0.5*XX+0.5*ZZ_low"} <= set(named)
    assert run(invoke, path, "--target", vector)["fidelity"] == pytest.approx(named["fidelity"])


def test_noise_options(invoke):
    clean = run(invoke, "--simulate", "ghz", "--qubits", 3)
    noisy = run(
        invoke, "--simulate", "ghz", "--qubits", 3, "--depolarizing", 0.2, "--readout", 0.02, "--gaussian", 0.01
    )
    assert clean["fidelity"] > 0.999
    assert noisy["fidelity"] < 0.9
    assert noisy["rank"] > 1


def test_objectives_and_ranks(invoke):
    common = ("--simulate", "random", "--qubits", 3, "--gaussian", 0.05, "--accuracy", 1e-3)
    trace = run(invoke, *common, "--objective", "trace")
    assert trace["infeasibility"] <= 1e-3
    assert trace["fidelity"] > 0.8
    result = invoke("tomography", *common, "--rank", 1, "--json", "-", "--quiet")
    assert json.loads(result.stdout)["rank"] == 1


def test_outputs(invoke, tmp_path):
    pytest.importorskip("matplotlib")
    out, plot = tmp_path / "state.npz", tmp_path / "state.png"
    result = invoke("tomography", "--simulate", "w", "--qubits", 3, "--out", out, "--plot", plot)
    assert result.exit_code == 0
    assert "simulated state: w: 3 qubits, 64 measurements" in result.stdout
    assert "fidelity" in result.stdout
    saved = load(out)
    assert saved.extras["qubits"] == 3
    np.testing.assert_allclose(saved.extras["eigenvalues"].sum(), 1.0)
    assert saved.extras["eigenvectors"].shape[0] == 8
    assert plot.stat().st_size > 10_000


def test_a_limit_gives_its_exit_code(invoke):
    words = ("--simulate", "mixed", "--qubits", 3, "--method", "frank-wolfe", "--accuracy", 1e-9, "--max-iterations", 3)
    assert invoke("tomography", *words, "--quiet").exit_code == 3


def test_too_few_measurements_are_said(invoke, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("pauli,expectation\nXX,1\nZZ,1\n")
    result = invoke("tomography", path, "--quiet")
    assert result.exit_code == 0
    assert "warning: 2 distinct Pauli measurements cannot identify a state of 2 qubits" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "neither"),
        (["data.csv", "--simulate", "ghz", "--qubits", "3"], "both"),
        (["missing.csv"], "no such file"),
        (["data.txt"], "ending in"),
        (["--simulate", "cat", "--qubits", "3"], "one of random"),
        (["--simulate", "random"], "--qubits"),
        (["--simulate", "random", "--qubits", "0"], ">= 1"),
        (["--simulate", "random", "--qubits", "60"], "60 qubits needs about"),
        (["--simulate", "random", "--qubits", "1000000"], "at most 28"),
        (["--simulate", "random", "--qubits", "two"], "--qubits"),
        (["--simulate", "random", "--qubits", "3", "--readout", "0.7"], "below 1/2"),
        (["--simulate", "random", "--qubits", "3", "--objective", "best"], "objective"),
        (["--simulate", "random", "--qubits", "3", "--objective", "trace"], "--noise-level"),
        (["--simulate", "random", "--qubits", "3", "--accuracy", "-1"], "accuracy"),
        (["--simulate", "random", "--qubits", "3", "--save-data", "data.txt"], "--save-data"),
        (["--simulate", "random", "--qubits", "3", "--method", "magic"], "method"),
        (["--simulate", "random", "--qubits", "3", "--measurements", "100"], "at most 4"),
    ],
)
def test_wrong_commands_get_one_line(invoke, words, message):
    result = invoke("tomography", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_limits_of_counts_need_counts(invoke, tmp_path):
    path = tmp_path / "data.csv"
    write_pauli_data(simulate("ghz", 2).data, path)
    result = invoke("tomography", path, "--max-weight", 2)
    assert result.exit_code == 2
    assert "a file of counts" in result.stderr


def test_reproduce_fig1(invoke, tmp_path):
    pytest.importorskip("matplotlib")
    result = invoke(
        "reproduce", "fig1", "--qubits", 3, "--iterations", 10, "--folder", tmp_path / "new", "--json", "-", "--seed", 2
    )
    assert result.exit_code == 0, result.stderr
    figures = json.loads(result.stdout)
    assert [row["iterations"] for row in figures["methods"]] == [10] * 6
    assert figures["methods"][0]["paper_trials_per_iteration"] == 1.978
    assert (tmp_path / "new" / "fig1.png").stat().st_size > 5000
    assert len((tmp_path / "new" / "fig1.csv").read_text().splitlines()) == 61
    assert "AccUniPDGrad" in result.stderr
    assert "1.057" in result.stderr


def test_reproduce_fig1_refuses_what_cannot_be(invoke, tmp_path):
    (tmp_path / "file").touch()
    assert invoke("reproduce", "fig1", "--folder", tmp_path / "file", "--qubits", 3).exit_code == 2
    assert invoke("reproduce", "fig1", "--folder", tmp_path, "--qubits", 60).exit_code == 2


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (["--simulate", "cat", "--qubits", 2], "--simulate: expected one of random"),
        (["--simulate", "ghz", "--qubits", 2, "--gaussian", -1], "--gaussian: expected"),
        (["--simulate", "ghz", "--qubits", 2, "--objective", "trace"], "--noise-level: expected"),
        (["--simulate", "ghz", "--qubits", 2, "--max-weight", 1], "--max-weight: expected a file of counts"),
        (["DATA.txt"], "DATA: expected a file name ending in"),
        (["DATA.csv", "--shots", 5], "--shots: expected --simulate instead of a file, got 5"),
        (["DATA.csv", "--every", "5s"], "--every: expected --checkpoint FILE with this option"),
    ],
)
def test_mistakes_are_named_as_they_were_typed(invoke, tmp_path, words, begins):
    for name in ("DATA.txt", "DATA.csv"):
        (tmp_path / name).write_text("pauli,expectation\nX,0.5\n")
    result = invoke("tomography", *(tmp_path / word if str(word).startswith("DATA") else word for word in words))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"unipd: {begins}")
    assert len(result.stderr.splitlines()) == 1


LINES = {
    "badnum.csv": ("XX,0.1\nZZ,abc", "line 3: expected a number for expectation, got 'abc'"),
    "short.csv": ("XX,0.1\nZZ", "line 3: expected 2 cells, got 1"),
    "length.csv": ("XX,0.1\nZZZ,0.2", "line 3: expected a Pauli string of 2 letters as in line 2, got 'ZZZ'"),
    "letter.csv": ("XX,0.1\nXA,0.2", "line 3: expected a Pauli string of the letters I, X, Y, Z, got 'XA'"),
    "large.csv": ("XX,0.1\nZZ,1.9", "line 3: the expectation value 1.9 lies outside [-1, 1]"),
    "mean.csv": ("XX,0.1,100\nZZ,1.4,100", "line 3: the expectation value 1.4, a mean of outcomes +-1, lies outside"),
    "nan.csv": ("XX,nan", "line 2: the expectation value nan is not a finite number"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_malformed_line_is_named(invoke, tmp_path, name):
    content, message = LINES[name]
    header = "pauli,expectation,shots" if name == "mean.csv" else "pauli,expectation"
    (tmp_path / name).write_text(f"{header}\n{content}\n")
    assert_refused(invoke("tomography", tmp_path / name), f"{name}, {message}")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("XX,00,50\nXX,011,50\nZZ,00,9", "line 3: counts['XX']: expected bit-strings of 2 bits, got '011'"),
        ("XX,00,50\nZZ,00,9\nZZZ,000,9", "line 4: counts: expected bases of 2 letters"),
        ("XX,00,50\nZZ,00,0\nZZ,01,0", "a.csv: counts['ZZ']: expected at least one shot"),
        ("XX,00,0\nZZ,00,5\nZZ,02,5", "line 4: counts['ZZ']: expected bit-strings of 2 bits, got '02'"),
    ],
)
def test_the_line_of_counts_that_are_none_is_named(invoke, tmp_path, rows, message):
    (tmp_path / "a.csv").write_text(f"basis,outcome,count\n{rows}\n")
    assert_refused(invoke("tomography", tmp_path / "a.csv"), message)


def test_the_line_of_shadows_and_of_a_povm_is_named(invoke, tmp_path):
    (tmp_path / "a.csv").write_text("basis,outcome,count\nXX,00,50\nXX,011,50\n")
    assert_refused(invoke("shadows", tmp_path / "a.csv", "--observable", "XX"), "line 3: bits: expected bit-strings")
    (tmp_path / "b.csv").write_text("basis,outcome,count\npovm,03,50\npovm,04,50\n")
    assert_refused(
        invoke("tomography", tmp_path / "b.csv", "--povm", "sic"), "line 3: counts['povm']: expected a digit"
    )


@pytest.fixture
def no_fit(monkeypatch):
    """Fits and simulations fail: what is wrong is to be refused before."""

    def fail(*words, **options):
        raise AssertionError("something was computed")

    for place in ("estimator.fit_counts", "estimator.fit_data", "simulate"):
        monkeypatch.setattr(f"unipd.apps.tomography.{place}", fail)


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--observable", "XX"], "--observable: expected strings on 4 qubits, got 2 qubits"),
        (["--observable", "X7"], "--observable: expected letters with distinct qubits below 4"),
        (["--target", "TARGET.npy"], "--target: expected a state of 4 qubits, got 2 qubits"),
        (["--target", "MIXED.npy", "--certified-range"], "--certified-range: expected --observable or a pure --target"),
        (["--certified-range"], "--certified-range: expected --observable or a pure --target"),
        (["--resample", "foo"], "'--resample': 'foo' is not one of 'parametric', 'basis'"),
        (["--resample", "foo", "--bootstrap", 5], "'--resample': 'foo' is not one of 'parametric', 'basis'"),
        (["--resample", "basis"], "--resample: expected --bootstrap with this option"),
    ],
)
def test_figures_that_the_data_do_not_have_are_refused_before_the_fit(invoke, tmp_path, words, message):
    (tmp_path / "counts.json").write_text(json.dumps({"XXXX": {"0000": 5}, "ZZZZ": {"1111": 5}}))
    write_pauli_data(PauliData(4, np.array([1]), np.array([0]), np.array([0.5])), tmp_path / "a.csv")
    np.save(tmp_path / "TARGET.npy", np.array([1.0, 0.0, 0.0, 1.0]))
    np.save(tmp_path / "MIXED.npy", np.eye(16) / 16)
    words = [tmp_path / word if str(word).endswith(".npy") else word for word in words]
    for data in ([tmp_path / "counts.json"], [tmp_path / "a.csv"], ["--simulate", "mixed", "--qubits", 4]):
        assert_refused(invoke("tomography", *data, *words, "--out", tmp_path / "z.npz"), message)
    assert not (tmp_path / "z.npz").exists()


def test_all_objectives_of_counts_are_named(invoke, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"X": {"0": 5}}))
    names = "auto, likelihood, outcomes, gaussian, least-squares, weighted, trace, trace-squared"
    assert_refused(invoke("tomography", tmp_path / "a.json", "--objective", "foo"), f"one of {names}, got 'foo'")


@pytest.mark.parametrize("shots", [0, -5])
def test_shots_must_be_positive(invoke, tmp_path, shots):
    (tmp_path / "a.csv").write_text(f"pauli,expectation,shots\nXX,0.5,{shots}\n")
    assert_refused(invoke("tomography", tmp_path / "a.csv"), f"line 2: the number of shots {shots} is not above zero")
    result = invoke("tomography", "--simulate", "ghz", "--qubits", 2, "--shots", shots)
    assert result.exit_code == 2
    assert "--shots" in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"counts": {"XX": {"000": 5}}}', "counts['XX']: expected bit-strings of 2 bits, got '000'"),
        ('{"counts": {"XX": {"0a": 5}}}', "expected bit-strings of 2 bits, got '0a'"),
        ('{"counts": {"XX": {"00": -5}}}', "expected at least one shot"),
        ('{"XX": {"00": 5}, "XYZ": {"000": 4}}', "expected bases of 2 letters X, Y, Z (I: not measured), got 'XYZ'"),
        ('{"XX": {"00": 5, "00": 6}}', "'00' occurs twice in one object"),
        ('{"counts": {"XX"', "not JSON"),
        ('[{"pauli": "X", "expectation": 0.5}, {"pauli": "Z"}]', "record 2: expected the names pauli, expectation"),
        (
            '[{"pauli": "X", "expectation": 0.5}, {"pauli": "Z", "expectation": 0.1, "shots": 9}]',
            "record 2: expected the names pauli, expectation as in record 1, got pauli, expectation, shots",
        ),
    ],
)
def test_a_malformed_json_file_is_named(invoke, tmp_path, content, message):
    (tmp_path / "a.json").write_text(content)
    assert_refused(invoke("tomography", tmp_path / "a.json"), "a.json: ", message)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"pauli": ["XX", "ZQ"], "expectation": [0.1, 0.2]},
            "row index 1: expected a Pauli string of the letters I, X, Y, Z, got 'ZQ'",
        ),
        (
            {"pauli": ["XX", "ZZZ"], "expectation": [0.1, 0.2]},
            "row index 1: expected a Pauli string of 2 letters as in row index 0, got 'ZZZ'",
        ),
        ({"pauli": ["XX", "ZZ"], "expectation": [0.1, 2.2]}, "row index 1: the expectation value 2.2"),
        ({"pauli": ["XX", "ZZ"], "expectation": [0.1]}, "expected columns of one length"),
    ],
)
def test_a_malformed_archive_is_named(invoke, tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **{key: np.array(value) for key, value in arrays.items()})
    assert_refused(invoke("tomography", tmp_path / "a.npz"), "a.npz: ", message)


def test_thirty_qubits_are_refused_by_a_forecast(invoke, tmp_path):
    words = "a state of 30 qubits needs about"
    (tmp_path / "a.csv").write_text(f"pauli,expectation\n{'X' * 30},0.5\n")
    (tmp_path / "a.json").write_text(json.dumps({"counts": {"X" * 30: {"0" * 30: 5}}}))
    np.savez(tmp_path / "a.npz", x=np.array([1]), z=np.array([0]), qubits=30, expectation=np.array([0.1]))
    for name in ("a.csv", "a.json", "a.npz"):
        assert_refused(invoke("tomography", tmp_path / name), words, "are available")
    assert_refused(invoke("tomography", "--simulate", "random", "--qubits", 30), words)


def test_options_without_effect_and_files_written_twice_are_refused(invoke, tmp_path):
    simulated = ("--simulate", "ghz", "--qubits", 2)
    assert_refused(invoke("tomography", *simulated, "--noise-level", 0.1), "--noise-level: expected --objective trace")
    assert_refused(invoke("tomography", *simulated, "--weights", "greedy"), "--weights: expected --method unipdgrad")
    path = tmp_path / "a.npz"
    assert_refused(
        invoke("tomography", *simulated, "--out", path, "--save-data", path), "another file than that of --out"
    )
    write_pauli_data(simulate("ghz", 2).data, path)
    kept = path.read_bytes()
    assert_refused(invoke("tomography", path, "--out", path), "--out: expected another file than DATA")
    assert path.read_bytes() == kept


def test_progress_of_a_bootstrap_in_lines(invoke):
    result = invoke("tomography", "--simulate", "ghz", "--qubits", 1, "--shots", 100, "--bootstrap", 4)
    assert result.exit_code == 0
    assert [line for line in result.stderr.splitlines() if "bootstrap" in line] == [
        f"unipd: bootstrap: {done} of 4" for done in (1, 2, 3, 4)
    ]


def test_progress_of_a_bootstrap_is_a_bar_on_a_terminal(monkeypatch):
    pytest.importorskip("rich")
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_counter("bootstrap", 7, quiet=False) as progress:
        progress(3, 7)
        progress(7, 7)
    assert "bootstrap" in screen.getvalue()
    assert "7/7" in screen.getvalue()
    with progress_counter("bootstrap", 7, quiet=True) as progress:
        progress(1, 7)
    assert "1/7" not in screen.getvalue()


class Screen(io.StringIO):
    def isatty(self):
        return True


def assert_refused(result, *words):
    """One line, exit code 2, and these words in it."""
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    for word in words:
        assert word in result.stderr


def test_a_memory_limit_that_leaves_no_room_is_named(invoke):
    done = invoke("tomography", "--simulate", "random", "--qubits", 9, "--memory-limit", "1MB")
    assert_refused(done, "a state of 9 qubits needs about", "0 B are available of the limit of 1 MB")


def test_a_saved_state_is_loaded_as_a_state(invoke, tmp_path):
    out = tmp_path / "state.npz"
    figures = run(invoke, "--simulate", "ghz", "--qubits", 3, "--shots", 500, "--observable", "ZZI", "--out", out)
    loaded = unipd.load(out)
    assert loaded.state.fidelity(ghz(3)) == pytest.approx(figures["fidelity"])
    assert loaded.state.expectation("ZZI") == pytest.approx(figures["ZZI"])
    assert loaded.message == figures["message"]
    assert loaded.extras["observables"]["names"] == ("ZZI",)
    again = unipd.load(unipd.save(loaded, tmp_path / "again.npz"))
    assert again.state.purity == pytest.approx(loaded.state.purity)
    assert invoke("report", out, "--out", tmp_path / "page.html").exit_code == 0
    assert "Residuals by basis" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_gaps_of_counts_are_in_nats_and_readout_errors_named_as_typed(invoke, tmp_path):
    data, readout = tmp_path / "counts.json", tmp_path / "readout.json"
    data.write_text(json.dumps({basis: {"0": 60, "1": 40} for basis in "XYZ"}))
    out, page = tmp_path / "state.npz", tmp_path / "page.html"
    assert " nats, requested 0.01" in invoke("tomography", data, "--out", out).stdout
    assert invoke("report", out, "--out", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert "gap (nats)" in text
    assert text.count("best bound so far|, in nats") == text.count("best bound of the run|, in nats") > 0
    assert "gap (relative)" not in page.read_text(encoding="utf-8")
    readout.write_text("[[0.9, 0.2], [0.2, 0.8]]")
    assert "--readout-matrix: expected probabilities" in invoke("tomography", data, "--readout-matrix", readout).stderr
    (tmp_path / "a.csv").write_text("basis,outcome,counts\nX,0,5\n")
    assert "expected the columns basis, outcome, count, or pauli" in invoke("tomography", tmp_path / "a.csv").stderr


def test_counts_of_a_povm(invoke, tmp_path):
    counts = {"00": 249, "01": 83, "10": 86, "11": 20, "22": 108, "31": 103, "13": 115, "20": 77, "02": 91, "33": 27}
    data = tmp_path / "sic.json"
    data.write_text(json.dumps({"counts": {"all": counts}}))
    named = run(invoke, data, "--povm", "sic")
    for content in (counts, {"counts": counts}):
        (tmp_path / "plain.json").write_text(json.dumps(content))
        assert run(invoke, tmp_path / "plain.json", "--povm", "sic")["objective"] == named["objective"]
    assert "expected bases of 2 letters X, Y, Z" in invoke("tomography", tmp_path / "plain.json").stderr
    np.save(tmp_path / "sic.npy", sic_povm())
    np.savez(tmp_path / "sic.npz", all=sic_povm())
    for name in ("sic.npy", "sic.npz"):
        assert run(invoke, data, "--povm", tmp_path / name)["objective"] == pytest.approx(named["objective"])
    assert (named["objective_name"], named["outcomes"]) == ("likelihood", 16)
    (tmp_path / "bad.npy").write_bytes(b"none")
    for povm, words in (("bad.npy", "not a file of matrices"), ("cube", "one of")):
        result = invoke("tomography", data, "--povm", tmp_path / povm if "." in povm else povm)
        assert result.exit_code == 2
        assert words in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


def test_observables_without_a_state(invoke, tmp_path):
    counts = simulate_counts(ghz(3), all_bases(3), 40, seed=1)
    path = tmp_path / "counts.json"
    path.write_text(json.dumps(counts))
    words = ("shadows", path, "--observable", "ZZI", "--observable", "0.5*X0X1X2-Z0Z2", "--estimator", "matched")
    result = invoke(*words, "--json", "-")
    assert result.exit_code == 0, result.stderr
    figures = json.loads(result.stdout)
    assert (figures["qubits"], figures["shots"], figures["bases"]) == (3, 27 * 40, 27)
    assert figures["observables"]["ZZI"]["value"] == 1.0
    assert figures["observables"]["0.5*X0X1X2-Z0Z2"]["value"] == pytest.approx(-0.5)
    table = invoke("shadows", path, "--observable", "ZZI")
    assert "ZZI" in table.stdout
    assert "the interval of ZZI excludes no value" in table.stderr
    assert "excluded" not in result.stderr
    for arguments, message in (
        (("--observable", "ZZ"), "--observable: expected strings of 3 letters"),
        (("--observable", "Z9"), "--observable"),
        (("--observable", "ZZI", "--batches", 40), "--batches"),
        (("--observable", "ZZI", "--estimator", "mean"), "--estimator"),
    ):
        refused = invoke("shadows", path, *arguments)
        assert refused.exit_code == 2
        assert message in refused.stderr
        assert len(refused.stderr.strip().splitlines()) == 1


def test_quasi_counts_are_not_redrawn_and_that_is_said_before_the_fit(invoke, tmp_path, monkeypatch):
    monkeypatch.setattr(PauliTomography, "fit_counts", lambda *_, **__: pytest.fail("the fit has begun"))
    path = tmp_path / "quasi.csv"
    path.write_text("basis,outcome,count\nZ,0,60.5\nZ,1,39.5\nX,0,50\nX,1,50\n")
    done = invoke("tomography", path, "--bootstrap", "5", "--resample", "basis")
    assert done.exit_code == 2
    assert "--resample: expected parametric for quasi-counts" in done.stderr
