"""Oracles from plain functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy
from scipy.sparse.linalg import aslinearoperator

import unipd
from unipd.atoms import LowRank, one_hot
from unipd.errors import InvalidInput, OracleError
from unipd.protocols import SharpAnswer
from unipd.sharp import from_callable


def test_a_set_by_default() -> None:
    oracle = from_callable(lambda y: one_hot((3,), int(np.argmax(y)), 1.0), 3)
    y = np.array([1.0, 4.0, 2.0])
    assert oracle(y).value == oracle.value(y).value == oracle.support(y) == 4.0
    assert (oracle.degree, oracle.linear, oracle.exact, oracle.maximum()) == (1.0, True, True, 0.0)
    assert oracle.contains(np.zeros(3))
    assert not oracle.contains(np.zeros(2))
    assert oracle.maximiser(y).dense().tolist() == [0.0, 1.0, 0.0]


def test_an_objective_promises_nothing_more() -> None:
    oracle = from_callable(lambda y: y, 2, lambda x: 0.5 * float(x @ x))
    answer = oracle(np.array([3.0, 4.0]))
    assert (answer.value, answer.objective) == (12.5, 12.5)
    assert (oracle.degree, oracle.linear) == (None, False)
    assert oracle.maximum() == oracle.support(np.ones(2)) == math.inf


def test_what_the_user_knows_is_passed_on() -> None:
    oracle = from_callable(
        lambda y: y,
        2,
        lambda x: 0.5 * float(x @ x),
        degree=2.0,
        linear=False,
        exact=False,
        contains=lambda x: x[0] > 0,
        support=lambda y: 7.0,
        maximum=9.0,
    )
    assert (oracle.degree, oracle.linear, oracle.exact) == (2.0, False, False)
    assert oracle.support(np.ones(2)) == 7.0
    assert oracle.maximum() == 9.0
    assert oracle.contains(np.array([1.0, 0.0]))
    assert not oracle.contains(np.array([-1.0, 0.0]))


def test_whole_answers_and_operators_pass_through() -> None:
    def top(direction: object) -> SharpAnswer:
        return SharpAnswer(LowRank(np.eye(2)[:, :1], np.eye(2)[:, :1], np.ones(1)), 1.0, 0.0, error=0.25)

    answer = from_callable(top, (2, 2), exact=False)(aslinearoperator(np.eye(2)))
    assert (answer.value, answer.error) == (1.0, 0.25)


def test_wrong_answers_are_refused() -> None:
    with pytest.raises(OracleError, match=r"shape \(2,\)"):
        from_callable(lambda y: np.zeros(3), 2)(np.zeros(2))
    with pytest.raises(OracleError, match="NoneType"):
        from_callable(lambda y: None, 2)(np.zeros(2))
    with pytest.raises(OracleError, match="nan"):
        from_callable(lambda y: y * np.nan, 2)(np.zeros(2))


def test_no_answer_at_zero_is_said_to_be_one() -> None:
    def unit(y: Any) -> Any:
        with np.errstate(invalid="ignore"):
            return y / np.linalg.norm(y)

    problem = unipd.Problem(from_callable(unit, 2), np.eye(2), [0.1, 0.2], "=")
    with pytest.raises(OracleError, match=r"value nan at y = 0, where runs begin$"):
        unipd.solve(problem)
    with pytest.raises(OracleError, match=r"value nan$"):
        from_callable(lambda y: y * np.nan, 2)(np.ones(2))


@pytest.mark.parametrize("wrong", [(np.ones(2), 1.0), "ab", np.array(["a", "b"]), [[1.0], [1.0, 2.0]]])
def test_what_is_no_array_of_numbers_is_refused(wrong: Any) -> None:
    with pytest.raises(OracleError, match="must return"):
        from_callable(lambda y: wrong, 2)(np.zeros(2))


def test_a_certified_error_is_not_negative() -> None:
    with pytest.raises(OracleError, match=r"error is -1\.0"):
        from_callable(lambda y: SharpAnswer(y, 0.0, 0.0, error=-1.0), 2)(np.zeros(2))


@pytest.mark.parametrize("given", [np.float16, np.float32, np.float64, np.longdouble, object])
@pytest.mark.parametrize("asked", [np.float32, np.float64, np.complex64, np.complex128])
def test_points_have_the_precision_of_the_direction(given: Any, asked: Any) -> None:
    oracle = from_callable(lambda y: np.eye(3)[int(np.argmax(y.real))].astype(given), 3)
    atom = oracle(np.array([1, 3, 2], asked)).atom
    assert atom.dtype == np.zeros(0, asked).real.dtype
    assert atom.tolist() == [0.0, 1.0, 0.0]


def test_bad_input() -> None:
    with pytest.raises(InvalidInput, match="function"):
        from_callable(3, 2)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="objective"):
        from_callable(lambda y: y, 2, 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="shape"):
        from_callable(lambda y: y, -2)
    with pytest.raises(InvalidInput, match="complex"):
        from_callable(lambda y: y, 2, real_only=True)(np.zeros(2, complex))
    with pytest.raises(InvalidInput, match="direction"):
        from_callable(lambda y: y, (2, 2))(aslinearoperator(np.eye(3)))


@pytest.mark.parametrize(
    "vertex", [lambda place: np.eye(3, dtype=int)[place], lambda place: [0] * place + [1] + [0] * (2 - place)]
)
@pytest.mark.parametrize("method", ["auto", "accunipdgrad", "pairwise"])
def test_points_of_whole_numbers_and_lists_will_do(vertex: Any, method: str) -> None:
    corner = from_callable(lambda y: vertex(int(np.argmax(y))), 3)
    loss = unipd.couplings.LeastSquares()
    result = unipd.solve(unipd.Problem(corner, np.eye(3), [0.2, 0.3, 0.5], loss), method, accuracy=1e-3)
    assert result.status is unipd.Status.SOLVED
    assert result.x == pytest.approx([0.2, 0.3, 0.5], abs=0.05)


def test_a_function_may_work_in_its_argument() -> None:
    cost = np.array([3.0, 1.0, 2.0])

    def careless(y: Any) -> Any:
        place = int(np.argmax(y))
        y[:] = 0.0
        return np.eye(3)[place]

    oracle = from_callable(careless, 3)
    direction = np.array([0.5, 2.0, 1.0])
    assert oracle(direction).value == 2.0
    assert direction.tolist() == [0.5, 2.0, 1.0]
    priced = unipd.sharp.Linear(cost, oracle)
    assert priced.maximum() == 3.0
    assert cost.tolist() == [3.0, 1.0, 2.0]


def test_complex_points_for_real_directions_are_refused() -> None:
    oracle = from_callable(lambda y: 1j * y, 2)
    with pytest.raises(unipd.errors.OracleError, match="real points"):
        oracle(np.ones(2))
    assert oracle(np.ones(2, complex)).atom.dtype == np.complex128


def test_a_whole_answer_is_true_of_its_point() -> None:
    """A value below that of the point itself would make a bound that is too good to be true."""
    y = np.array([3.0, -4.0])

    def claiming(value: float, cost: float = 0.0) -> Any:
        return from_callable(lambda y: SharpAnswer(one_hot((2,), 0, 1.0), value, cost), 2, lambda x: 0.0)

    assert claiming(3.0)(y).value == 3.0
    assert claiming(float(np.float32(3.0000002)))(y.astype(np.float32)).objective == 0.0
    for wrong in (2.9, 3.1, -math.inf, math.nan):
        with pytest.raises(OracleError, match=r"where it is 3\.0|value nan"):
            claiming(wrong)(y)
    with pytest.raises(OracleError, match="its objective says 0"):
        claiming(2.0, 1.0)(y)
    with pytest.raises(unipd.errors.UnboundedOracle):
        claiming(math.inf)(y)


@pytest.mark.parametrize("wrong", [scipy.sparse.coo_array([1.0, 0.0]), pd.Series([1.0, 0.0])], ids=["sparse", "series"])
def test_points_of_other_libraries_are_named(wrong: Any) -> None:
    with pytest.raises(OracleError, match=f"not a {type(wrong).__name__}"):
        from_callable(lambda y: wrong, 2)(np.zeros(2))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("degree", "two"),
            ("degree", math.nan),
            ("degree", -1.0),
            ("degree", 0.5),
            ("maximum", "large"),
            ("maximum", math.nan),
        ),
        *(("contains", 3), ("support", 1.0), ("linear", "yes"), ("exact", None), ("real_only", 1)),
    ],
)
def test_what_is_known_beside_the_function_is_checked(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=name):
        from_callable(lambda y: y, 2, **{name: value})


def test_a_maximum_may_be_infinite() -> None:
    assert from_callable(lambda y: y, 2, maximum=math.inf).maximum() == math.inf
