"""The command ``unipd compare``."""

import json

import pytest

import unipd
from unipd import Status
from unipd.cli.commands.compare import DEMOS, combined_exit_code
from unipd.io import load

SDPA = """1
1
2
1.0
0 1 1 1 2.0
0 1 2 2 1.0
1 1 1 1 1.0
1 1 2 2 1.0
"""


def test_a_generated_problem_by_all_methods_that_fit(invoke, tmp_path):
    out = ("--plot", tmp_path / "all.svg", "--json", "-", "--save", tmp_path / "new" / "runs")
    result = invoke("compare", "--demo", "least-squares", "--size", 40, "--accuracy", "0.01", *out)
    assert result.exit_code == 0
    content = json.loads(result.stdout)
    names = [run["name"] for run in content["runs"]]
    frank_wolfe = ["frank-wolfe", "away-step", "pairwise", "blended-pairwise"]
    assert names == ["unipdgrad", "accunipdgrad", *frank_wolfe, "corrective", "coordinate"]
    assert {run["status"] for run in content["runs"]} == {"solved"}
    best = min(run["objective"] for run in content["runs"])
    assert all(run["dual_bound"] <= best * (1.0 + 1e-9) for run in content["runs"])
    assert content["exit_code"] == 0
    assert (tmp_path / "all.svg").read_text().startswith("<?xml")
    assert sorted(path.stem for path in (tmp_path / "new" / "runs").iterdir()) == sorted(names)
    assert load(tmp_path / "new" / "runs" / "pairwise.npz").settings["method"] == "pairwise"
    for word in ("infeasibility", "oracle calls", "pairwise"):
        assert word in result.stderr


def test_the_saved_runs_make_a_report(invoke, tmp_path):
    invoke("compare", "--demo", "linear-program", "--size", 40, "--methods", "corrective", "--save", tmp_path, "-q")
    assert invoke("report", tmp_path / "corrective.npz", "-o", tmp_path / "page.html").exit_code == 0
    assert "corrective" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_semidefinite_program(invoke, tmp_path):
    (tmp_path / "small.dat-s").write_text(SDPA)
    result = invoke("compare", tmp_path / "small.dat-s", "--methods", "factored,corrective", "--json", "-")
    assert result.exit_code == 0
    assert [run["objective"] for run in json.loads(result.stdout)["runs"]] == pytest.approx([2.0, 2.0], abs=1e-2)


def test_a_problem_from_python(invoke):
    result = invoke("compare", "demo_command:problem", "--methods", "pairwise, corrective", "--accuracy", "0.01")
    assert result.exit_code == 0
    assert "Problem(Simplex" in result.stdout


def test_limits_hold_for_each_method_and_show_in_the_exit_code(invoke):
    options = ("--methods", "unipdgrad,corrective", "--max-iterations", 2, "--accuracy", "1e-8", "--json", "-", "-q")
    result = invoke("compare", "--demo", "linear-program", "--size", 40, *options)
    content = json.loads(result.stdout)
    assert [run["iterations"] for run in content["runs"]] == [2, 2]
    assert result.exit_code == content["exit_code"] == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "either a problem or --demo"),
        (("a.dat-s", "--demo", "maxcut"), "either a problem or --demo"),
        (("--demo", "nothing"), "least-squares"),
        (("--demo", "maxcut", "--methods", "fastest"), "--methods"),
        (("--demo", "maxcut", "--methods", "corrective,corrective"), "once"),
        (("--demo", "maxcut", "--methods", ","), "--methods"),
        (("--demo", "linear-program", "--methods", "pairwise"), "methods for this problem"),
        (("--demo", "linear-program", "--methods", "factored"), "methods for this problem"),
        (("--demo", "maxcut", "--axis", "hours"), "--axis"),
        (("--demo", "maxcut", "--size", "2"), "--size"),
        (("missing.dat-s",), "missing.dat-s: no such file"),
        (("missing.dat-s", "--size", "9"), "--size"),
        (("--demo", "maxcut", "--plot", "a.bmp"), "--plot"),
    ],
)
def test_mistakes_are_one_line(invoke, monkeypatch, arguments, words):
    monkeypatch.setattr(unipd.run, "solve", lambda *_, **__: pytest.fail("the computing has started"))
    result = invoke("compare", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_file_in_the_place_of_the_folder(invoke, tmp_path):
    (tmp_path / "runs").write_text("")
    result = invoke("compare", "--demo", "maxcut", "--save", tmp_path / "runs")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("name", list(DEMOS))
def test_demos_depend_on_the_seed_alone(name):
    make, usual, _ = DEMOS[name]
    assert usual > 0
    one, again, other = (make(30, seed).solve(1e-2) if name == "maxcut" else make(30, seed) for seed in (1, 1, 2))
    if name == "maxcut":
        assert one.objective == again.objective != other.objective
    else:
        assert (one.b == again.b).all()
        assert (one.b != other.b).any()


def test_exit_codes_of_several_runs():
    assert combined_exit_code([Status.SOLVED, Status.SOLVED]) == 0
    assert combined_exit_code([Status.SOLVED, Status.INFEASIBLE]) == 3
    assert combined_exit_code([Status.UNBOUNDED] * 2) == 5
    assert combined_exit_code([Status.SOLVED, Status.INTERRUPTED]) == 130
