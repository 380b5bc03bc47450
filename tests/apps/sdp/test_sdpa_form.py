"""SDPA problems as maps X -> (<C, X>, A(X)): signs, blocks, and the published optima of SDPLIB."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

from unipd import Status
from unipd.apps.sdp import SDP, data_from_sdpa
from unipd.io import SdpaProblem, read_sdpa
from unipd.maps import SdpMap
from unipd.spectral import smallest_eigenpair

real_data = pytest.mark.skipif("UNIPD_DATA" not in os.environ, reason="UNIPD_DATA does not point to the real instances")


def sdplib(name: str) -> SdpaProblem:
    return read_sdpa(Path(os.environ["UNIPD_DATA"], "sdplib", f"{name}.dat-s"))


def cost_and_constraints(problem: SdpaProblem) -> SdpMap:
    """Return X -> (<C, X>, A(X)) with C = -F_0 and A_i = F_i, all blocks in one matrix."""
    return data_from_sdpa(problem).cost_and_constraints


def test_several_blocks() -> None:
    problem = SdpaProblem(
        [1.0, -2.0], (2, -3, 1), [0, 0, 1, 2, 2], [0, 2, 0, 1, 2], [0, 0, 0, 2, 0], [1, 0, 0, 2, 0], [5, 7, 1, 2, 3.0]
    )
    form = cost_and_constraints(problem)
    assert form.domain == (6, 6)
    point = scipy.linalg.block_diag([[1.0, 0.5], [0.5, 2.0]], np.diag([1.0, 2.0, 3.0]), [[4.0]])
    np.testing.assert_allclose(form.image(point), [-5.0 - 28.0, 1.0, 6.0 + 12.0])
    slack = form.adjoint(np.array([1.0, 2.0, -1.0])).toarray()
    expected = scipy.linalg.block_diag([[2.0, -5.0], [-5.0, 0.0]], np.diag([0.0, 0.0, -2.0]), [[-7.0 - 3.0]])
    np.testing.assert_array_equal(slack, expected)


@real_data
@pytest.mark.parametrize(("name", "optimum"), [("mcp100", 226.1574), ("mcp250-1", 317.2643), ("mcp124-1", 141.9905)])
def test_maxcut_bounds_bracket_the_published_optimum(name: str, optimum: float) -> None:
    problem = sdplib(name)
    form = cost_and_constraints(problem)
    n = form.domain[0]
    image = form.image(np.eye(n))
    np.testing.assert_allclose(image[1:], problem.b)
    smallest = smallest_eigenpair(form.adjoint(np.eye(problem.m + 1)[0])).lower
    assert n * smallest <= -optimum <= image[0]


@real_data
@pytest.mark.parametrize(("name", "row", "sign"), [("theta2", 0, -1.0), ("gpp100", 1, 1.0)])
def test_dense_rank_one_data_of_sdplib_is_recognised(name: str, row: int, sign: float) -> None:
    problem = sdplib(name)
    form = cost_and_constraints(problem)
    assert form.pattern.owners.tolist() == [row]
    np.testing.assert_array_equal(form.adjoint(np.eye(problem.m + 1)[row]).toarray(), sign * np.ones((100, 100)))


@real_data
@pytest.mark.parametrize(("name", "optimum"), [("truss1", -8.999996), ("control1", 17.78463)])
def test_several_blocks_have_the_published_optimum(name: str, optimum: float) -> None:
    cp = pytest.importorskip("cvxpy")
    program = sdplib(name)
    form = cost_and_constraints(program)
    blocks = data_from_sdpa(program).blocks
    parts = [
        cp.Variable(b.size, nonneg=True) if b.is_vector else cp.Variable((b.size, b.size), PSD=True) for b in blocks
    ]
    x = [cp.diag(part) if block.is_vector else part for block, part in zip(blocks, parts, strict=True)]

    def image(weights: np.ndarray) -> object:
        matrix = form.adjoint(weights).toarray()
        return sum(cp.sum(cp.multiply(matrix[b.rows, b.rows], part)) for b, part in zip(blocks, x, strict=True))

    rows = np.eye(program.m + 1)
    constraints = [image(row) == value for row, value in zip(rows[1:], program.b, strict=True)]
    problem = cp.Problem(cp.Minimize(image(rows[0])), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=cp.CLARABEL)
    assert problem.value == pytest.approx(-optimum, rel=1e-5)
    np.testing.assert_allclose(
        form.image(scipy.linalg.block_diag(*(part.value for part in x)))[1:], program.b, atol=1e-6
    )


@real_data
def test_ss30_has_small_errors_in_the_units_of_the_file() -> None:
    """Near its solution X is moved onto the constraints only with a share of an earlier X, further inside the cone."""
    result = SDP.from_sdpa(sdplib("ss30")).solve(1e-6)
    assert result.status is Status.SOLVED
    assert result.infeasibility <= 1e-6
    # Rounding in the Schur complement of the last steps limits that move, with the OpenBLAS of NumPy 1 at 2e-6 to 4e-6.
    limit = 1e-6 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 4e-6
    assert max(map(abs, result.extras["dimacs_errors"])) <= limit
    assert result.objective == pytest.approx(20.2395, abs=1e-3)
