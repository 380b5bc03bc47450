"""The file that a command writes holds every figure that the command prints."""

import json

import pytest

from unipd.io import load

RATINGS = "".join(f"{user}\t{item}\t{1 + (user * item) % 5}\n" for user in range(1, 9) for item in range(1, 7))
GRAPH = "5 5\n1 2 1\n2 3 1\n3 4 1\n4 5 1\n5 1 1\n"
PROGRAM = "1\n1\n2\n1.0\n0 1 1 1 1.0\n0 1 2 2 2.0\n1 1 1 1 1.0\n1 1 2 2 1.0\n"

COMMANDS = {
    "tomography": (
        ("--simulate", "mixed", "--qubits", 2, "--shots", 100, "--bootstrap", 2),
        ("relative_residual", "rank", "purity", "entropy", "measurements", "fidelity", "purity_low"),
    ),
    "maxcut": (("graph.txt",), ("cut_value", "sdp_bound", "ratio", "nodes", "edges", "rank")),
    "solve": (("program.dat-s",), ("rank", "trace_bound", "violation", "feasibility_scale")),
    "process": (("--simulate", "h", "--shots", 50), ("unitarity", "process_fidelity", "gap_unit")),
    "theta": (("graph.txt",), ("theta", "theta_bound", "independence_bound")),
    "complete": (
        ("ratings.tsv", "--test", "ratings.tsv", "--radius", 5, "--recommend", 1, "--top", 2),
        ("rmse_test", "rmse_train", "radius", "rank", "users", "recommended"),
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_file_of_a_command_has_the_figures_of_its_json(name, invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ratings.tsv").write_text(RATINGS)
    (tmp_path / "graph.txt").write_text(GRAPH)
    (tmp_path / "program.dat-s").write_text(PROGRAM)
    arguments, names = COMMANDS[name]
    printed = json.loads(invoke(name, *arguments, "--json", "-", "--out", "run.npz").stdout)
    shown = json.loads(invoke("show", "run.npz", "--json", "-").stdout)
    assert set(names) <= set(printed)
    assert {key: shown.get(key) for key in printed if key != "exit_code"} == {
        key: value for key, value in printed.items() if key != "exit_code"
    }
    table = invoke("show", "run.npz").stdout
    in_words = {"violation", "feasibility_scale", "gap_unit"}  # of the rows of infeasibility and gap
    assert all(key.replace("_", " ") in table for key in set(names) - in_words)
    assert load("run.npz").status.value == printed["status"]
