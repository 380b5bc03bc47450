"""Programs in SDPA's and SeDuMi's conventions: same optimum, whatever they were built from."""

import os
import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

from unipd import SDP
from unipd.apps.sdp import Block, SdpData
from unipd.errors import InvalidInput
from unipd.io import SdpaProblem, SedumiProblem, read_sdpa, read_sedumi, write_sdpa, write_sedumi
from unipd.maps import Entries

DIMACS = {"torusg3-8": 483.4095e5, "toruspm3-8-50": 527.808663, "hamming_7_5_6": 128 / 3, "hamming_9_8": 224.0}
"""Published optima, up to the sign; the weights of torusg3-8 are whole numbers in the file, 10^5 times the others."""


def largest_entry(bounds):
    """max X_12 of a psd matrix with X_11 in a range, X_22 <= 2, tr X >= 1/2."""
    cost, matrices = np.array([[0.0, 0.5], [0.5, 0.0]]), [np.diag([1.0, 0.0]), np.diag([0.0, 1.0]), np.eye(2)]
    return SDP.from_matrices(cost, matrices, [3.0, 2.0, 0.5], ["<=", "<=", ">="], lower=bounds, maximise=True)


def mixed_cones():
    """min x_1 + <C, X> with x_1 >= ||(x_2, x_3)||, x_2 = 3 + u, x_3 = 4, u free with u + X_11 = 0, tr X = 2."""
    blocks = (Block(0, 2), Block(2, 3, "second_order"), Block(5, 1, "free"))
    cost = Entries([0, 0], [1, 2], [1, 2], [0.25, 1.0])
    rows = Entries([0, 0, 1, 2, 2, 3, 3], [3, 5, 4, 5, 0, 0, 1], [3, 5, 4, 5, 0, 0, 1], [1, -1, 1, 1, 1, 1, 1])
    b = np.array([3.0, 4.0, 0.0, 2.0])
    return SDP(SdpData(6, cost, rows, b, b, blocks), constant=1.0)


@pytest.mark.parametrize("bounds", [None, [1.0, -np.inf, -np.inf]])
@pytest.mark.parametrize("suffix", [".dat-s", ".dat-s.gz", ".mat", ".mat.gz"])
def test_inequalities_and_ranges_become_equations(tmp_path, bounds, suffix):
    program = largest_entry(bounds)
    program.write(tmp_path / f"p{suffix}")
    again = SDP.from_file(tmp_path / f"p{suffix}")
    assert again.data.equal.all()
    assert again.data.size == program.data.size + (bounds is not None)
    result = again.solve(1e-7)
    assert result.status.success
    assert result.objective == pytest.approx(np.sqrt(6.0) * (1.0 if again.maximise else -1.0), rel=1e-6)


def test_all_cones_survive_a_round_trip(tmp_path):
    program = mixed_cones()
    program.write(tmp_path / "p.mat")
    again = SDP.from_file(tmp_path / "p.mat")
    assert sorted(block.kind for block in again.data.blocks) == ["free", "psd", "second_order"]
    assert again.to_sedumi() == program.to_sedumi() == read_sedumi(tmp_path / "p.mat")
    first, second = program.solve(1e-8), again.solve(1e-8)
    assert first.status.success
    assert second.objective == pytest.approx(first.objective - 1.0, rel=1e-7)
    X, q = cp.Variable((2, 2), PSD=True), cp.Variable(3)
    model = cp.Minimize(q[0] + 0.25 * X[1, 1])
    constraints = [cp.SOC(q[0], q[1:]), q[1] - 3 == -X[0, 0], q[2] == 4, cp.trace(X) == 2]
    assert second.objective == pytest.approx(cp.Problem(model, constraints).solve(solver="CLARABEL"), rel=1e-6)


def test_second_order_cones_are_refused_by_name_in_sdpa(tmp_path):
    with pytest.raises(InvalidInput, match="without second-order cones, which the SDPA format does not have"):
        write_sdpa(mixed_cones(), tmp_path / "p.dat-s")
    assert not (tmp_path / "p.dat-s").exists()


def test_free_variables_become_differences_in_sdpa(tmp_path):
    """min u subject to u - X_11 = -3, X_11 <= 2: u = -3."""
    problem = SedumiProblem([[1.0, -1.0, 0.0], [0.0, 1.0, 1.0]], [-3.0, 2.0], [1.0, 0.0, 0.0], free=1, nonnegative=2)
    write_sdpa(SDP.from_sedumi(problem), tmp_path / "p.dat-s")
    assert read_sdpa(tmp_path / "p.dat-s").block_sizes == (-2, -2)
    result = SDP.from_file(tmp_path / "p.dat-s").solve(1e-7)
    assert result.objective == pytest.approx(3.0, rel=1e-6)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="CVXPY 1.9 has left Python 3.10")
def test_programs_from_cvxpy_are_written_with_a_note_on_the_objective(tmp_path):
    X, t = cp.Variable((2, 2), PSD=True), cp.Variable(nonneg=True)
    model = cp.Problem(cp.Minimize(X[0, 0] + t + 5.0), [cp.trace(X) == 1, X[0, 1] + t >= 0.25])
    program = SDP.from_cvxpy(model)
    program.write(tmp_path / "p.dat-s")
    assert (tmp_path / "p.dat-s").read_text().startswith('"objective = -<F0, Y> + 5.0\n')
    value = -SDP.from_file(tmp_path / "p.dat-s").solve(1e-8).objective + 5.0
    assert value == pytest.approx(model.solve(solver="CLARABEL"), rel=1e-6)
    write_sdpa(program, tmp_path / "again.dat-s")
    assert read_sdpa(tmp_path / "again.dat-s") == read_sdpa(tmp_path / "p.dat-s")


def test_sdpa_to_sedumi_and_back_is_exact(tmp_path):
    rng = np.random.default_rng(0)
    places = [(k, 0, i, i) for k in range(3) for i in range(3)] + [
        (k, 1, i, j) for k in range(3) for i, j in [(0, 1), (1, 1)]
    ]
    problem = SdpaProblem(rng.random(2), (-3, 2), *zip(*places, strict=True), rng.standard_normal(len(places)))
    write_sdpa(problem, tmp_path / "a.dat-s")
    SDP.from_file(tmp_path / "a.dat-s").write(tmp_path / "b.mat.gz")
    SDP.from_file(tmp_path / "b.mat.gz").write(tmp_path / "c.dat-s")
    assert read_sdpa(tmp_path / "c.dat-s") == problem


def test_multipliers_of_sedumi_files_are_minus_y(tmp_path):
    problem = SedumiProblem([[1.0, 1.0]], [2.0], [1.0, 3.0], nonnegative=2)
    write_sedumi(problem, tmp_path / "p.mat")
    program = SDP.from_file(tmp_path / "p.mat")
    result = program.solve(1e-8)
    assert result.objective == pytest.approx(2.0, rel=1e-7)
    assert (problem.c + problem.A.T @ result.dual >= -1e-7).all()
    assert result.dual @ problem.b == pytest.approx(-2.0, rel=1e-6)


@pytest.mark.parametrize("name", [*DIMACS, "copo14"])
def test_dimacs(name):
    """The sizes are what a minute allows: the largest has order 512."""
    path = Path(os.environ.get("UNIPD_DATA", "")) / "dimacs" / f"{name}.mat.gz"
    if not path.is_file():
        pytest.skip(f"{path.name} is not in $UNIPD_DATA/dimacs")
    result = SDP.from_file(path).solve(1e-6)
    assert result.status.success
    assert -result.objective == pytest.approx(DIMACS.get(name, 0.0), rel=1e-6, abs=1e-6)
