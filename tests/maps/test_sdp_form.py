"""The standard form of SDPA problems: signs, blocks, and what is known of SDPLIB's instances."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from unipd.atoms import Blocks
from unipd.io import SdpaProblem, read_sdpa, standard_form
from unipd.maps.sdp import smallest_eigenpair

real_data = pytest.mark.skipif("UNIPD_DATA" not in os.environ, reason="UNIPD_DATA does not point to the real instances")


def sdplib(name: str) -> SdpaProblem:
    return read_sdpa(Path(os.environ["UNIPD_DATA"], "sdplib", f"{name}.dat-s"))


def test_the_form_has_minus_f0_as_cost() -> None:
    problem = SdpaProblem(
        [1.0, -2.0], (2, -3, 1), [0, 0, 1, 2, 2], [0, 2, 0, 1, 2], [0, 0, 0, 2, 0], [1, 0, 0, 2, 0], [5, 7, 1, 2, 3.0]
    )
    form = standard_form(problem)
    assert form.domain == ((2, 2), (3,), (1,))
    point = Blocks((np.array([[1.0, 0.5], [0.5, 2.0]]), np.array([1.0, 2.0, 3.0]), np.array([4.0])))
    np.testing.assert_allclose(form.cost.image(point), [-5.0 - 28.0])
    np.testing.assert_allclose(form.map.image(point), [1.0, 6.0 + 12.0])
    np.testing.assert_allclose(form.extended.image(point), [-33.0, 1.0, 18.0])
    slack = form.extended.adjoint(np.array([1.0, 2.0, -1.0]))
    np.testing.assert_array_equal(slack[0].toarray(), [[2.0, -5.0], [-5.0, 0.0]])
    np.testing.assert_array_equal(slack[1], [0.0, 0.0, -2.0])
    np.testing.assert_array_equal(slack[2], [-7.0 - 3.0])
    np.testing.assert_array_equal(form.b, problem.b)


def test_a_single_block_has_a_plain_domain() -> None:
    entries = ([0, 1], [0, 0], [0, 1], [0, 1], [1.0, 1.0])
    assert standard_form(SdpaProblem([1.0], (2,), *entries)).domain == (2, 2)
    assert standard_form(SdpaProblem([1.0], (-2,), *entries)).domain == (2,)


@real_data
@pytest.mark.parametrize(("name", "optimum"), [("mcp100", 226.1574), ("mcp250-1", 317.2643), ("mcp124-1", 141.9905)])
def test_maxcut_bounds_bracket_the_published_optimum(name: str, optimum: float) -> None:
    form = standard_form(sdplib(name))
    n = form.domain[0]
    np.testing.assert_allclose(form.map.image(np.eye(n)), form.b)
    smallest = smallest_eigenpair(form.cost.adjoint(np.ones(1))).lower
    assert n * smallest <= -optimum <= form.cost.image(np.eye(n))[0]


@real_data
def test_dense_rank_one_data_of_sdplib_is_recognised() -> None:
    theta, partition = standard_form(sdplib("theta2")), standard_form(sdplib("gpp100"))
    assert theta.cost.blocks[0].owners.tolist() == [0]
    assert partition.map.blocks[0].owners.tolist() == [0]
    np.testing.assert_array_equal(theta.cost.adjoint(np.ones(1)).toarray(), -np.ones((100, 100)))
    np.testing.assert_array_equal(partition.map.adjoint(np.eye(101)[0]).toarray(), np.ones((100, 100)))


@real_data
@pytest.mark.parametrize(("name", "optimum"), [("truss1", -8.999996), ("control1", 17.78463)])
def test_several_blocks_have_the_published_optimum(name: str, optimum: float) -> None:
    cp = pytest.importorskip("cvxpy")
    form = standard_form(sdplib(name))
    blocks = [cp.Variable(s, PSD=True) if len(s) == 2 else cp.Variable(s, nonneg=True) for s in form.domain]

    def image(weights: np.ndarray) -> object:
        parts = form.extended.adjoint(weights)
        return sum(cp.sum(cp.multiply(p, x)) for p, x in zip(map(dense, parts), blocks, strict=True))

    def dense(part: object) -> np.ndarray:
        return part if isinstance(part, np.ndarray) else part.toarray()

    rows = np.eye(form.b.size + 1)
    constraints = [image(row) == value for row, value in zip(rows[1:], form.b, strict=True)]
    problem = cp.Problem(cp.Minimize(image(rows[0])), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=cp.CLARABEL)
    assert problem.value == pytest.approx(-optimum, rel=1e-5)
    point = Blocks(tuple(block.value for block in blocks))
    np.testing.assert_allclose(form.extended.image(point)[1:], form.b, atol=1e-6)
