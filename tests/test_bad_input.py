"""Invalid input, one case per line: InvalidInput, and the message names the argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from unipd import (
    AccUniPDGrad,
    Accuracy,
    Corrective,
    FrankWolfe,
    MaxIterations,
    MaxOracleCalls,
    MaxSeconds,
    Problem,
    Stall,
    UniPDGrad,
    compare,
    iterate,
    maps,
    solve,
    theory,
)
from unipd import couplings as cpl
from unipd import sharp as sh
from unipd.errors import InvalidInput, UnipdError
from unipd.run import History

A = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 1.0]])
B = np.array([1.0, 2.0])
X = sh.Simplex(3)


def replace_last_entry(array: Any, value: float) -> Any:
    """Return a copy whose last entry is the given value."""
    out = np.array(array, dtype=float)
    out.reshape(-1)[-1] = value
    return out


def problem(coupling: Any = "=", b: Any = B) -> Problem:
    return Problem(X, A, b, coupling)


TEMPLATE: dict[str, tuple[str, Callable[[], Any]]] = {
    "sharp is a string": ("sharp", lambda: Problem("simplex", A, B)),
    "sharp is a class": ("sharp", lambda: Problem(sh.Simplex, A, B)),
    "sharp is a list of strings": ("sharp", lambda: Problem(["simplex"], A, B)),  # type: ignore[list-item]
    "sharp is None": ("sharp", lambda: Problem(None, A, B)),
    "sharp is a coupling": ("sharp", lambda: Problem(cpl.L1Ball(1.0), A, B)),
    "no oracles": ("sharp", lambda: Problem([], A, B)),
    "NaN in A": ("A", lambda: Problem(X, replace_last_entry(A, math.nan), B)),
    "inf in A": ("A", lambda: Problem(X, replace_last_entry(A, math.inf), B)),
    "NaN in a sparse A": ("A", lambda: Problem(X, sp.csc_array(replace_last_entry(A, math.nan)), B)),
    "A too narrow": ("A", lambda: Problem(X, A[:, :2], B)),
    "A too narrow, sparse": ("A", lambda: Problem(X, sp.csc_array(A[:, :2]), B)),
    "A too narrow, operator": ("A", lambda: Problem(X, aslinearoperator(A[:, :2]), B)),
    "A is a vector": ("A", lambda: Problem(X, A[0], B)),
    "A is a cube": ("A", lambda: Problem(X, np.ones((2, 3, 1)), B)),
    "A is text": ("A", lambda: Problem(X, "matrix", B)),
    "A is None": ("A", lambda: Problem(X, None, B)),
    "A has objects": ("A", lambda: Problem(X, np.array([[None, 1, 2]]), [1.0])),
    "A is ragged": ("A", lambda: Problem(X, [[1.0, 2.0, 3.0], [1.0]], B)),
    "too few blocks": ("A", lambda: Problem([X, X], [A], B)),
    "blocks of different heights": ("A", lambda: Problem([X, X], [A, A[:1]], B)),
    "NaN in b": ("b", lambda: problem(b=replace_last_entry(B, math.nan))),
    "inf in b": ("b", lambda: problem(b=replace_last_entry(B, -math.inf))),
    "b too long": ("b", lambda: problem(b=np.ones(3))),
    "b a column": ("b", lambda: problem(b=B[:, None])),
    "b a number": ("b", lambda: problem(b=1.0)),
    "b text": ("b", lambda: problem(b=["x", "y"])),
    "complex b with real A": ("b", lambda: problem(b=B + 1j)),
    "complex data with an inequality": ("b", lambda: Problem(sh.L1Ball(3), A + 0j, B, "<=")),
    "unknown relation": ("coupling", lambda: problem("<")),
    "coupling is a number": ("coupling", lambda: problem(3.0)),
    "coupling is a class": ("coupling", lambda: problem(cpl.LeastSquares)),
    "weights of the wrong length": ("weights", lambda: problem(cpl.WeightedLeastSquares(np.ones(3)))),
    "a set cannot be split": ("split", lambda: Problem(X, A, B, "=", split=True)),
    "an unbounded slack cannot be split": ("split", lambda: Problem(X, A, B, cpl.Huber(), split=True)),
}

PARTS: dict[str, tuple[str, Callable[[], Any]]] = {
    "negative radius": ("radius", lambda: sh.L1Ball(3, -1.0)),
    "zero radius": ("radius", lambda: sh.L2Ball(3, 0.0)),
    "NaN radius": ("radius", lambda: sh.LInfBall(3, math.nan)),
    "infinite radius": ("radius", lambda: sh.L1Ball(3, math.inf)),
    "radius is text": ("radius", lambda: sh.L1Ball(3, "one")),
    "empty shape": ("size", lambda: sh.Simplex(0)),
    "fractional shape": ("size", lambda: sh.Simplex(2.5)),
    "boolean shape": ("size", lambda: sh.Simplex(True)),
    "empty shape of a ball": ("shape", lambda: sh.L1Ball(0)),
    "capped simplex of nothing": ("size", lambda: sh.CappedSimplex(0, 1.0)),
    "entropy of nothing": ("size", lambda: sh.Entropy((2, 0))),
    "spectrahedron of a shape": ("size", lambda: sh.Spectrahedron((3, 3))),  # type: ignore[arg-type]
    "Fantope of a shape": ("size", lambda: sh.Fantope((3, 3), 1)),  # type: ignore[arg-type]
    "product of nothing": ("oracles", lambda: sh.Product([])),
    "matrix that is a vector": ("matrix", lambda: maps.DenseMatrix(A[0])),
    "matrix with NaN": ("matrix", lambda: maps.SparseMatrix(sp.csc_array(replace_last_entry(A, math.nan)))),
    "negative scale": ("scale", lambda: sh.Simplex(3, -1.0)),
    "box upside down": ("upper", lambda: sh.Box(1.0, 0.0, 3)),
    "cost of the wrong shape": ("cost", lambda: sh.Linear(np.ones(4), X)),
    "NaN in the cost": ("cost", lambda: sh.Linear(replace_last_entry(np.ones(3), math.nan), X)),
    "no threads": ("threads", lambda: sh.Product([X], threads=0)),
    "K with a negative radius": ("radius", lambda: cpl.L2Ball(-0.5)),
    "loss with a zero scale": ("scale", lambda: cpl.LeastSquares(0.0)),
    "weights with a zero": ("weights", lambda: cpl.WeightedLeastSquares([1.0, 0.0])),
    "Huber with a negative delta": ("delta", lambda: cpl.Huber(-1.0)),
    "NaN in a direction": ("direction", lambda: X(replace_last_entry(np.ones(3), math.nan))),
    "direction of the wrong shape": ("direction", lambda: X(np.ones(4))),
    "complex direction for a real set": ("direction", lambda: X(np.ones(3) + 1j)),
    "exponent above one": ("nu", lambda: theory.smoothness_bound(1.5, 1.0, 1.0)),
    "unknown history column": ("column", lambda: History()["colour"]),
}

RUNS: dict[str, tuple[str, Callable[[], Any]]] = {
    "zero accuracy": ("accuracy", lambda: solve(problem(), accuracy=0.0)),
    "negative accuracy": ("accuracy", lambda: solve(problem(), accuracy=-1e-3)),
    "NaN accuracy": ("accuracy", lambda: solve(problem(), accuracy=math.nan)),
    "accuracy is text": ("accuracy", lambda: solve(problem(), accuracy="high")),
    "accuracy is a number as text": ("accuracy", lambda: solve(problem(), accuracy="1e-3")),
    "radius is a number as text": ("radius", lambda: sh.L1Ball(2, "1")),
    "zero accuracy of a rule": ("accuracy", lambda: Accuracy(0.0)),
    "accuracy of the iterator": ("accuracy", lambda: iterate(problem(), accuracy=-1.0)),
    "unknown method": ("method", lambda: solve(problem(), "newton")),
    "method is a number": ("method", lambda: solve(problem(), 3)),
    "options with a method object": ("method", lambda: solve(problem(), UniPDGrad(), eps=1.0)),
    "option that no method has": ("options", lambda: solve(problem(), colour="blue")),
    "option that this method does not have": (
        "options",
        lambda: solve(problem(cpl.LeastSquares()), "pairwise", eps=1.0),
    ),
    "option of another method": ("options", lambda: solve(problem(), "unipdgrad", step_size="open-loop")),
    "unknown tracker": ("tracker", lambda: solve(problem(), tracker="sparse")),
    "tracker is a number": ("tracker", lambda: solve(problem(), tracker=3)),
    "unknown weights": ("weights", lambda: solve(problem(), "unipdgrad", weights="uniform")),
    "unknown step rule": ("step_rule", lambda: AccUniPDGrad(step_rule="newton")),
    "fixed step without constants": ("holder", lambda: UniPDGrad(step_rule="fixed")),
    "analytic step without a quadratic loss": (
        "step_rule",
        lambda: solve(problem(), "unipdgrad", step_rule="analytic"),
    ),
    "zero eps": ("eps", lambda: UniPDGrad(eps=0.0)),
    "negative smoothness": ("smoothness", lambda: AccUniPDGrad(smoothness=-1.0)),
    "no doublings": ("max_doublings", lambda: UniPDGrad(max_doublings=0)),
    "unknown step size": ("step_size", lambda: FrankWolfe("newton")),
    "memory of one atom": ("memory", lambda: Corrective(memory=1)),
    "negative iterations": ("max_iterations", lambda: MaxIterations(-1)),
    "fractional iterations": ("max_iterations", lambda: MaxIterations(1.5)),
    "negative oracle calls": ("max_oracle_calls", lambda: MaxOracleCalls(-1)),
    "negative seconds": ("limit", lambda: MaxSeconds(-1.0)),
    "empty stall window": ("window", lambda: Stall(window=0)),
    "stop is a number": ("stop", lambda: solve(problem(), stop=100)),
    "callback is a number": ("callback", lambda: solve(problem(), callback=3)),
    "start too long": ("start", lambda: solve(problem(), start=np.ones(3))),
    "NaN in start": ("start", lambda: solve(problem(), start=replace_last_entry(B, math.nan))),
    "complex start with real data": ("start", lambda: solve(problem(), start=B + 1j)),
    "start outside dom h": ("start", lambda: solve(problem("<="), start=-np.ones(2))),
    "start outside dom h, accelerated": ("start", lambda: solve(problem(">="), "accunipdgrad", start=np.ones(2))),
    "start outside dom h, corrective": ("start", lambda: solve(problem("<="), "corrective", start=-np.ones(2))),
    "no problem": ("problem", lambda: solve(None)),
    "a tuple for a problem": ("problem", lambda: solve((A, B), "unipdgrad")),
    "a class for a method": ("method", lambda: solve(problem(), Corrective)),
    "a picture in no folder": ("path", lambda: compare(problem(), ["corrective"], path="no/such/folder/a.png")),
    "masked entries": ("b", lambda: Problem(sh.Simplex(2), np.eye(2), np.ma.masked_array([0.2, 0.8], [True, False]))),
    "complex map over priced real points": (
        "A",
        lambda: Problem(sh.Linear([1, 2], sh.Simplex(2)), 1j * np.eye(2), [0, 0]),
    ),
    "complex map over real blocks": ("A", lambda: Problem([sh.Simplex(2)], [1j * np.eye(2)], [0, 0])),
    "complex cost over real points": ("cost", lambda: sh.Linear([1j, 2], sh.Simplex(2))),
    "a cost over nothing": ("oracle", lambda: sh.Linear([1, 2], None)),
    "a cost over a class": ("oracle", lambda: sh.Linear([1, 2], sh.Simplex)),
    "blocks that are one oracle": ("oracles", lambda: sh.Product(sh.Simplex(2))),
    "one size for a matrix": ("shape", lambda: sh.NuclearBall(3)),
    "Frank-Wolfe with a constraint": ("method", lambda: solve(problem(), "frank-wolfe")),
    "away steps with a constraint": ("method", lambda: solve(problem("<="), "away-step")),
    "pairwise steps with a nonsmooth loss": ("method", lambda: solve(problem(cpl.Absolute()), "pairwise")),
}

CASES = TEMPLATE | PARTS | RUNS


@pytest.mark.parametrize("name", CASES)
def test_wrong_input_is_refused_by_name(name: str) -> None:
    argument, call = CASES[name]
    with pytest.raises(InvalidInput) as caught:
        call()
    assert argument in str(caught.value)
    assert caught.value.argument.startswith(argument)


def test_the_tables_do_not_hide_one_another() -> None:
    assert len(CASES) == len(TEMPLATE) + len(PARTS) + len(RUNS)


def test_refusals_are_value_errors_too() -> None:
    with pytest.raises(ValueError, match="accuracy"):
        solve(problem(), accuracy=0.0)
    assert issubclass(InvalidInput, UnipdError)
