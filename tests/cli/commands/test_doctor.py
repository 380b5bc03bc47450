"""The command ``unipd doctor``."""

import json
from pathlib import Path

import pytest

DEMO = Path(__file__).parent.parent / "demo_command.py"


def test_installation(invoke):
    result = invoke("doctor", "--json", "-")
    content = json.loads(result.stdout)
    assert result.exit_code == 0, result.stderr
    assert content["ok"] is True
    assert {check["name"] for check in content["checks"]} >= {"python", "numpy", "threads", "BLAS", "compiler", "solve"}


@pytest.mark.parametrize("name", ["problem", "make_problem"])
def test_problem_from_a_file_and_from_a_module(invoke, name):
    for place in (DEMO, "demo_command"):
        result = invoke("doctor", f"{place}:{name}")
        assert result.exit_code == 0, result.stderr
        assert "adjoint" in result.stdout


def test_broken_problem(invoke):
    result = invoke("doctor", f"{DEMO}:broken_problem", "--json", "-")
    content = json.loads(result.stdout)
    assert result.exit_code == 2
    assert content["ok"] is False
    assert {check["name"] for check in content["checks"] if check["outcome"] == "fail"} == {"oracle maximises"}


@pytest.mark.parametrize(
    "reference",
    [
        "nothing", "a:", ":b", "no_such_module:problem", "no_such_file.py:problem", f"{DEMO}:nobody", f"{DEMO}:failing",
        f"{DEMO}:EXAMPLES", "json:dumps", f"{Path(__file__).parent}:problem",
    ],
)  # fmt: skip
def test_bad_references(invoke, reference):
    result = invoke("doctor", reference)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_a_module_that_fails_is_explained(invoke, tmp_path):
    (tmp_path / "model.py").write_text("raise ValueError('no licence')\n")
    result = invoke("doctor", f"{tmp_path / 'model.py'}:problem")
    assert result.exit_code == 2
    assert "no licence" in result.stderr
    assert "Traceback" in invoke("doctor", f"{tmp_path / 'model.py'}:problem", "--debug").stderr
