"""The commands solve, maxcut and theta as users type them."""

import json

import numpy as np
import pytest

from unipd.io import SdpaProblem, load, write_sdpa

CYCLE = "5 5\n1 2 1\n2 3 1\n3 4 1\n4 5 1\n5 1 1\n"


@pytest.fixture
def eigenvalue(tmp_path):
    """The largest eigenvalue of diag(1, 3) as a file: 3."""
    problem = SdpaProblem([1.0], (2,), [0, 0, 1, 1], [0] * 4, [0, 1, 0, 1], [0, 1, 0, 1], [1.0, 3.0, 1.0, 1.0])
    write_sdpa(problem, tmp_path / "eigenvalue.dat-s")
    return tmp_path / "eigenvalue.dat-s"


@pytest.fixture
def cycle(tmp_path):
    (tmp_path / "cycle.txt").write_text(CYCLE)
    return tmp_path / "cycle.txt"


def figures(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_solve_reports_the_published_sign_and_every_common_key(invoke, eigenvalue, tmp_path):
    out = tmp_path / "result.npz"
    content = figures(invoke("solve", eigenvalue, "--json", "-", "--out", out))
    assert content["status"] == "solved"
    assert content["objective"] == pytest.approx(3.0, rel=1e-5)
    assert content["dual_bound"] >= 3.0 - 1e-9
    assert content["infeasibility"] <= 1e-6
    assert len(content["dimacs_errors"]) == 6
    assert content["rank"] == 1
    assert content["bound_kind"] == "rigorous"
    assert {"gap", "seed", "version", "seconds", "matvecs", "exit_code"} <= set(content)
    saved = load(out)
    assert saved.dual[0] == pytest.approx(3.0, rel=1e-5)
    assert saved.x.left.shape[0] == 2


def test_other_methods_and_a_limit(invoke, cycle):
    result = invoke("theta", cycle, "--method", "unipdgrad", "--max-iterations", 2, "--json", "-")
    content = json.loads(result.stdout)
    assert result.exit_code == 3
    assert (content["method"], content["iterations"], content["status"]) == ("unipdgrad", 2, "iteration_limit")
    assert content["theta_bound"] >= 5**0.5 - 1e-9


def test_interior_points_by_name(invoke, eigenvalue):
    content = figures(invoke("solve", eigenvalue, "--method", "interior", "--json", "-"))
    assert (content["method"], content["status"]) == ("interior", "solved")
    assert invoke("solve", "model.py:problem", "--method", "interior").exit_code == 2


def test_an_absolute_tolerance_is_for_problems_from_python(invoke, cycle, tmp_path):
    model = tmp_path / "model.py"
    model.write_text(
        "import numpy as np, unipd\n"
        "A = np.random.default_rng(0).standard_normal((6, 9))\n"
        "problem = unipd.Problem(unipd.sharp.Simplex(9), A, A.mean(axis=1), unipd.couplings.LeastSquares())\n"
    )
    command = ("solve", f"{model}:problem", "--method", "frank-wolfe", "--accuracy", "1e-15", "--max-iterations", 300)
    assert invoke(*command).exit_code == 3
    assert invoke(*command, "--atol", 0.1).exit_code == 0
    refused = invoke("solve", cycle, "--atol", 0.1)
    assert refused.exit_code == 2
    assert "--atol" in refused.stderr


def test_a_module_with_dataclasses_and_a_binding_memory(invoke, tmp_path):
    """Dataclasses with postponed annotations look up their module; a warning is one line without a source line."""
    model = tmp_path / "dataclass_model.py"
    model.write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "import numpy as np, unipd\n"
        "@dataclass\n"
        "class Size:\n"
        "    columns: int = 60\n"
        "A = np.random.default_rng(0).standard_normal((20, Size().columns))\n"
        "problem = unipd.Problem(unipd.sharp.Simplex(60), A, A.mean(axis=1), '=')\n"
    )
    options = ("--method", "corrective", "--memory", 3, "--max-iterations", 20, "--quiet")
    done = invoke("solve", f"{model}:problem", *options)
    assert done.exit_code == 3
    (line,) = done.stderr.splitlines()
    assert line.startswith("unipd: warning: corrective: memory= allows 3 atoms")


def test_unbounded_files_have_their_own_status_and_exit_code(invoke, tmp_path):
    """max Y_12 subject to Y_11 - Y_22 = 0."""
    unbounded = SdpaProblem([0.0], (2,), [0, 1, 1], [0] * 3, [0, 0, 1], [1, 0, 1], [1.0, 1.0, -1.0])
    write_sdpa(unbounded, tmp_path / "unbounded.dat-s")
    result = invoke("solve", tmp_path / "unbounded.dat-s", "--json", "-", "--out", tmp_path / "ray.npz")
    content = json.loads(result.stdout)
    assert (result.exit_code, content["exit_code"], content["status"]) == (5, 5, "unbounded")
    assert content["ray_objective"] > 0.1
    assert content["ray_residual"] < 1e-5
    shown = invoke("show", tmp_path / "ray.npz", "--verbose")
    assert shown.exit_code == 0
    assert "not a point but a ray" in shown.stdout
    assert invoke("report", tmp_path / "ray.npz", "-o", tmp_path / "ray.html").exit_code == 0
    assert "5  the objective is unbounded" in " ".join(invoke("--help").stdout.split(chr(10)))


def test_infeasible_files_have_their_own_exit_code(invoke, tmp_path):
    infeasible = SdpaProblem([-1.0], (2,), [0, 1, 1], [0] * 3, [0, 0, 1], [0, 0, 1], [1.0, 1.0, 1.0])
    write_sdpa(infeasible, tmp_path / "infeasible.dat-s")
    result = invoke("solve", tmp_path / "infeasible.dat-s")
    assert result.exit_code == 4, result.stderr
    assert "No X is feasible" in result.stdout


def test_a_plot_of_nothing_is_no_reason_to_hide_a_proof(invoke, tmp_path):
    contradictory = SdpaProblem([1.0, 2.0], (2,), [0, 1, 2], [0] * 3, [0] * 3, [0] * 3, [1.0, 1.0, 1.0])
    write_sdpa(contradictory, tmp_path / "contradictory.dat-s")
    result = invoke("solve", tmp_path / "contradictory.dat-s", "--plot", tmp_path / "curve.png")
    assert result.exit_code == 4, result.stderr
    assert "no plot" in result.stderr
    assert "No X is feasible" in result.stdout


def test_a_program_that_cannot_be_certified_ends_with_what_is_proved(invoke, tmp_path):
    """The infimum of X_11 with X_12 = 1 is not attained: no exit 2 without JSON."""
    problem = SdpaProblem([1.0], (2,), [0, 1], [0] * 2, [0, 0], [0, 1], [-1.0, 1.0])
    write_sdpa(problem, tmp_path / "level.dat-s")
    result = invoke("solve", tmp_path / "level.dat-s", "--json", "-")
    content = json.loads(result.stdout)
    assert (result.exit_code, content["status"]) == (3, "stalled")
    assert content["infeasibility"] <= 1e-6


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("huge.dat-s", b"1\n1\n999999999\n1.0\n0 1 1 1 1.0\n"),
        ("index.dat-s", b"2\n1\n2\n1.0 1.0\n1 1 -1 1 1.0\n"),
        ("junk.dat-s", np.random.default_rng(0).bytes(5000)),
        ("empty.txt", b""),
    ],
)
def test_bad_files(invoke, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    for command in ("solve", "maxcut", "theta"):
        result = invoke(command, tmp_path / name)
        assert result.exit_code == 2, (command, result.stdout)
        assert name in result.stderr
        assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--accuracy", "-1"),
        ("--accuracy", "nan"),
        ("--out", "/nonexistent/x.npz"),
        ("--method", "best"),
        ("--trace-bound", "-3"),
    ],
)
def test_bad_options(invoke, eigenvalue, arguments):
    assert invoke("solve", eigenvalue, *arguments).exit_code == 2


def test_a_folder_and_a_missing_file(invoke, tmp_path):
    assert invoke("solve", tmp_path).exit_code == 2
    assert invoke("solve", tmp_path / "missing.dat-s").exit_code == 2
    assert invoke("maxcut", tmp_path).exit_code == 2


def test_maxcut_writes_the_cut(invoke, cycle, tmp_path):
    out, sides = tmp_path / "cut.npz", tmp_path / "sides.txt"
    content = figures(invoke("maxcut", cycle, "--json", "-", "--out", out, "--sides", sides))
    assert content["cut_value"] == 4.0
    assert content["sdp_bound"] == pytest.approx(4.52254, rel=1e-3)
    assert content["sdp_bound"] >= 4.522542
    lines = [line.split() for line in sides.read_text().splitlines()]
    assert [label for label, _ in lines] == ["1", "2", "3", "4", "5"]
    side = np.array([int(value) for _, value in lines])
    assert np.sum(side != np.roll(side, 1)) == 4
    np.testing.assert_array_equal(load(out).extras["sides"], side)


def test_theta_resumes_from_every_iteration(invoke, tmp_path):
    """A graph for which the run ends with the interior-point method."""
    rng = np.random.default_rng(1)
    edges = [(i + 1, j + 1) for i in range(40) for j in range(i) if rng.random() < 0.3]
    graph = tmp_path / "graph.txt"
    graph.write_text(f"40 {len(edges)}\n" + "".join(f"{i} {j} 1\n" for i, j in edges))
    saving = ("--checkpoint", tmp_path / "theta.ckpt", "--every", "1it")
    plain = figures(invoke("theta", graph, "--json", "-"))
    saved = figures(invoke("theta", graph, *saving, "--json", "-"))
    again = figures(invoke("theta", graph, *saving, "--resume", "--json", "-"))
    assert plain["method"] == "interior"
    assert plain["objective"] == saved["objective"] == again["objective"]


def test_theta_of_a_cycle(invoke, cycle):
    content = figures(invoke("theta", cycle, "--json", "-"))
    assert content["theta"] == pytest.approx(5**0.5, rel=1e-5)
    assert content["independence_bound"] == 2
    other = figures(invoke("theta", cycle, "--complement", "--json", "-"))
    assert other["theta"] == pytest.approx(5**0.5, rel=1e-5)


@pytest.mark.parametrize("command", ["maxcut", "theta"])
def test_the_hint_about_edge_lists_is_one_that_the_shell_can_follow(invoke, tmp_path, command):
    path = tmp_path / "pairs.txt"
    path.write_text("3 4\n1 2\n2 3\n")
    refused = invoke(command, str(path))
    assert refused.exit_code == 2
    assert "--form edges" in refused.stderr
    assert json.loads(invoke(command, str(path), "--form", "edges", "--json", "-").stdout)["status"] == "solved"
    assert "--form" in invoke(command, str(path), "--form", "tree").stderr
