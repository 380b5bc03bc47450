"""The commands convert and certify as users type them."""

import json

import numpy as np
import pytest

from unipd.io import SdpaProblem, SedumiProblem, read_sdpa, write_sdpa, write_sedumi


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


def test_convert_refuses_what_it_cannot_write(invoke, eigenvalue, tmp_path):
    assert "TARGET" in invoke("convert", eigenvalue, tmp_path / "e.csv").stderr
    assert invoke("convert", eigenvalue, eigenvalue).exit_code == 2
    write_sedumi(SedumiProblem(np.eye(3)[1:], [3.0, 4.0], [1.0, 0, 0], second_order=(3,)), tmp_path / "cone.mat")
    refused = invoke("convert", tmp_path / "cone.mat", tmp_path / "cone.dat-s")
    assert refused.exit_code == 2
    assert "second-order" in refused.stderr
    assert not (tmp_path / "cone.dat-s").exists()
