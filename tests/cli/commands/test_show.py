"""The command ``unipd show``."""

import numpy as np
import pytest

import unipd
from unipd.io import save
from unipd.reproduce import generate_ratings


@pytest.fixture
def matrix(tmp_path):
    sharp = unipd.sharp.NuclearBall((4, 3), 2.0)
    problem = unipd.Problem(sharp, np.eye(12)[:5], np.ones(5), unipd.couplings.LeastSquares())
    return save(unipd.solve(problem, "frank-wolfe", accuracy=1e-2), tmp_path / "matrix.npz")


def test_the_spectrum_of_a_matrix(invoke, matrix, tmp_path):
    result = invoke("show", matrix, "--spectrum", tmp_path / "s.svg", "--theme", "dark", "--plot", tmp_path / "c.svg")
    assert result.exit_code == 0
    assert "#14181f" in (tmp_path / "s.svg").read_text()
    assert "#14181f" in (tmp_path / "c.svg").read_text()


def test_the_spectrum_of_a_completion_model(invoke, tmp_path):
    made = generate_ratings((20, 15), 150, rank=2)
    path = unipd.MatrixCompletion(10.0).fit((made.users, made.items, made.values)).save(tmp_path / "model.npz")
    result = invoke("show", path, "--spectrum", tmp_path / "s.svg")
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "s.svg").exists()


def test_a_vector_has_none(invoke, tmp_path):
    problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    path = save(unipd.solve(problem), tmp_path / "vector.npz")
    result = invoke("show", path, "--spectrum", tmp_path / "s.svg")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "--spectrum" in result.stderr


@pytest.mark.parametrize("wrong", [("--axis", "hours"), ("--theme", "pink"), ("--spectrum", "a.bmp"), ("--plot", "x")])
def test_wrong_choices_are_one_line(invoke, matrix, wrong):
    result = invoke("show", matrix, *wrong)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert wrong[0] in result.stderr
