"""The commands convert and certify as users type them."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from unipd.io import SdpaProblem, SedumiProblem, read_sdpa, read_sedumi, write_sdpa, write_sedumi


@pytest.fixture
def eigenvalue(tmp_path):
    """The largest eigenvalue of diag(1, 3) as a file: 3."""
    problem = SdpaProblem([1.0], (2,), [0, 0, 1, 1], [0] * 4, [0, 1, 0, 1], [0, 1, 0, 1], [1.0, 3.0, 1.0, 1.0])
    write_sdpa(problem, tmp_path / "eigenvalue.dat-s")
    return tmp_path / "eigenvalue.dat-s"


def test_convert_there_and_back(invoke, eigenvalue, tmp_path):
    there = invoke("convert", eigenvalue, tmp_path / "e.mat.gz", "--json", "-")
    assert there.exit_code == 0, there.stderr
    assert json.loads(there.stdout)["order"] == 2
    assert invoke("convert", tmp_path / "e.mat.gz", tmp_path / "again.dat-s").exit_code == 0
    assert read_sdpa(tmp_path / "again.dat-s") == read_sdpa(eigenvalue)
    solved = json.loads(invoke("solve", tmp_path / "e.mat.gz", "--json", "-").stdout)
    assert solved["objective"] == pytest.approx(-3.0, rel=1e-6)


def test_convert_keeps_sense_and_cones_in_cbf(invoke, eigenvalue, tmp_path):
    assert invoke("convert", eigenvalue, tmp_path / "e.cbf.gz").exit_code == 0
    solved = json.loads(invoke("solve", tmp_path / "e.cbf.gz", "--json", "-").stdout)
    assert solved["objective"] == pytest.approx(3.0, rel=1e-6)
    write_sedumi(SedumiProblem(np.eye(3)[1:], [3.0, 4.0], [1.0, 0, 0], second_order=(3,)), tmp_path / "cone.mat")
    assert invoke("convert", tmp_path / "cone.mat", tmp_path / "cone.cbf").exit_code == 0
    assert invoke("convert", tmp_path / "cone.cbf", tmp_path / "again.mat").exit_code == 0
    assert read_sedumi(tmp_path / "again.mat") == read_sedumi(tmp_path / "cone.mat")


def test_convert_refuses_what_it_cannot_write(invoke, eigenvalue, tmp_path):
    assert "TARGET" in invoke("convert", eigenvalue, tmp_path / "e.csv").stderr
    assert invoke("convert", eigenvalue, eigenvalue).exit_code == 2
    write_sedumi(SedumiProblem(np.eye(3)[1:], [3.0, 4.0], [1.0, 0, 0], second_order=(3,)), tmp_path / "cone.mat")
    refused = invoke("convert", tmp_path / "cone.mat", tmp_path / "cone.dat-s")
    assert refused.exit_code == 2
    assert "second-order" in refused.stderr
    assert not (tmp_path / "cone.dat-s").exists()


def certified(invoke, *arguments):
    result = invoke("certify", *arguments, "--json", "-")
    return result.exit_code, json.loads(result.stdout)


def test_certify_results_solutions_and_archives(invoke, eigenvalue, tmp_path):
    assert invoke("solve", eigenvalue, "--out", tmp_path / "run.npz").exit_code == 0
    (tmp_path / "csdp.sol").write_text("3.0 \n1 1 1 1 2.0\n2 1 2 2 1.0\n")
    (tmp_path / "sdpa.out").write_text("xVec = \n{+3.0e+00}\nxMat = \n{ }\nyMat = \n{ { {0.0,0.0}, {0.0,1.0} } }\n")
    np.savez(tmp_path / "y.npz", y=np.array([3.0]), X=np.diag([0.0, 1.0]))
    for name in ("run.npz", "csdp.sol", "sdpa.out", "y.npz"):
        code, content = certified(invoke, eigenvalue, "--dual", tmp_path / name, "--rigorous")
        assert (code, content["exit_code"], content["status"]) == (0, 0, "solved"), name
        assert 3.0 <= content["dual_bound"] <= 3.0 + 1e-5
        assert content["bound_kind"] == "rigorous"
        assert len(content["dimacs_errors"]) == 6


def test_certify_reports_what_is_not_certified(invoke, eigenvalue, tmp_path):
    np.savez(tmp_path / "bad.npz", y=np.array([3.0]), X=np.diag([0.05, 0.95]))
    code, content = certified(invoke, eigenvalue, "--dual", tmp_path / "bad.npz")
    assert (code, content["exit_code"]) == (3, 3)
    assert content["gap"] == pytest.approx(0.1 / 2.9)
    assert certified(invoke, eigenvalue, "--dual", tmp_path / "bad.npz", "--accuracy", 0.1)[0] == 0
    np.savez(tmp_path / "alone.npz", y=np.array([3.0]))
    code, content = certified(invoke, eigenvalue, "--dual", tmp_path / "alone.npz")
    assert (code, content["gap"]) == (3, None)
    assert content["dual_bound"] == pytest.approx(3.0, rel=1e-12)
    np.savez(tmp_path / "long.npz", y=np.ones(2))
    assert invoke("certify", eigenvalue, "--dual", tmp_path / "long.npz").exit_code == 2


@pytest.mark.skipif(shutil.which("csdp") is None, reason="CSDP is not installed")
def test_certify_what_csdp_writes(invoke, eigenvalue, tmp_path):
    subprocess.run(["csdp", eigenvalue, tmp_path / "out.sol"], check=True, capture_output=True, cwd=tmp_path)
    code, content = certified(invoke, eigenvalue, "--dual", tmp_path / "out.sol", "--rigorous")
    assert code == 0
    assert content["objective"] == pytest.approx(3.0, rel=1e-6)
