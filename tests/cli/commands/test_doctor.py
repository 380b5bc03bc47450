"""The command ``unipd doctor``."""

import json
import logging
from pathlib import Path

import numba
import pytest

from unipd.doctor import JOBS, run_job

DEMO = Path(__file__).parent.parent / "demo_command.py"


def test_installation(invoke):
    result = invoke("doctor", "--json", "-")
    content = json.loads(result.stdout)
    assert result.exit_code == 0, result.stderr
    assert content["ok"] is True
    assert {check["name"] for check in content["checks"]} >= {"python", "numpy", "threads", "BLAS", "compiler", "solve"}


def test_the_report_has_what_an_issue_needs(invoke, monkeypatch):
    """Versions, also of optional packages, threads, BLAS, compiler and kernels, as plain lines."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    lines = dict(line.split(None, 2)[1:] for line in invoke("doctor").stdout.splitlines())
    assert {"python", "numpy", "scipy", "numba", "matplotlib", "qics", "memory"} <= set(lines)
    assert "OMP_NUM_THREADS=1" in lines["threads"]
    assert "LLVM" in lines["compiler"]
    assert "compiled and kept" in lines["kernels"]


def test_kernels_are_compiled_ahead(invoke, monkeypatch):
    announce = logging.getLogger("unipd._util.lazy").info
    jobs = {
        "nothing": lambda: announce("compiling, which unipd doctor --compile does ahead"),
        "broken": lambda: 1 // 0,
        "sum": lambda: numba.njit(lambda x: x + 1)(2),
    }
    monkeypatch.setattr("unipd.doctor.installation.JOBS", jobs)
    result = invoke("doctor", "--compile", "--json", "-")
    nothing, broken, compiled = json.loads(result.stdout)["checks"]
    assert result.exit_code == 1
    assert "compiling" not in result.stderr
    assert nothing["detail"] == "all kept from before"
    assert broken["outcome"] == "fail"
    assert compiled["detail"].startswith("1 compiled in ")
    assert invoke("doctor", "--compile", f"{DEMO}:problem").exit_code == 2


@pytest.mark.parametrize("name", JOBS)
def test_kernels_are_kept(name):
    """What a job calls a second time is not compiled again."""
    JOBS[name]()
    assert run_job(JOBS[name]) == "all kept from before"


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
