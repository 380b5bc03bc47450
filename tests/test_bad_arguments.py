"""Arguments of the wrong type raise the library's own error, which names them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from unipd import maps, memory
from unipd.errors import InvalidInput, UnipdError

BAD: list[Any] = [
    "x",
    -1,
    1.5,
    np.nan,
    1e300,
    1 + 2j,
    [],
    [1],
    np.zeros(0),
    np.array(3.0),
    np.array([None]),
    np.ones((2, 2, 2)),
    {},
    object(),
    int,
    [[1], [1, 2]],
    range(3),
]
LOSS = unipd.couplings.LeastSquares()
FEW = unipd.MaxIterations(3)


def problem(coupling: Any = "=") -> unipd.Problem:
    return unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], coupling)


def enter_limited_memory(limit: Any) -> None:
    with memory.limited_memory(limit):
        pass


NAMED: list[tuple[str, Callable[[], Any]]] = [
    ("factor", lambda: unipd.Stall(10, 2.0)),
    ("factor", lambda: unipd.Stall(10, -0.5)),
    ("split", lambda: unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [1, 0], LOSS, split="yes")),  # type: ignore[arg-type]
    ("polish", lambda: unipd.solve(problem(), polish="no")),  # type: ignore[arg-type]
    ("verbose", lambda: unipd.solve(problem(), verbose="abc")),  # type: ignore[arg-type]
    ("resume", lambda: unipd.solve(problem(), resume=True)),
    ("checkpoint", lambda: unipd.solve(problem(), checkpoint=3)),  # type: ignore[arg-type]
    ("callback", lambda: unipd.solve(problem(), callback=int)),  # type: ignore[arg-type]
    ("path", lambda: unipd.load(None)),  # type: ignore[arg-type]
    ("path", lambda: unipd.save(unipd.solve(problem(), stop=FEW), None)),  # type: ignore[arg-type]
    ("result", lambda: unipd.save(None, "run.npz")),
    ("limit", lambda: enter_limited_memory(-1)),
    ("problem", lambda: memory.forecast(None)),  # type: ignore[arg-type]
    ("problem", lambda: unipd.polish(None, unipd.solve(problem(), stop=FEW))),  # type: ignore[arg-type]
    ("methods", lambda: unipd.compare(problem(), 3)),  # type: ignore[arg-type]
    ("monotone", lambda: unipd.AccUniPDGrad(monotone="yes")),  # type: ignore[arg-type]
    ("continuation", lambda: unipd.solve(problem(), "unipdgrad", continuation="yes")),
    ("b", lambda: unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [1e300, 1.0])),
    ("outer", lambda: maps.Composed(None, maps.Identity(2))),  # type: ignore[arg-type]
    ("maps", lambda: maps.Stacked(3)),  # type: ignore[arg-type]
    ("A", lambda: maps.BlockMap(np.zeros(0))),  # type: ignore[arg-type]
    ("data", lambda: unipd.SDP(np.eye(2), [np.eye(2)], [1.0])),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("argument", "call"), NAMED)
def test_the_error_names_the_argument(argument: str, call: Callable[[], Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.argument == argument


def test_a_program_from_matrices_has_its_own_constructor() -> None:
    with pytest.raises(InvalidInput, match=r"from_matrices\(C, A, b\).*got ndarray"):
        unipd.SDP(np.eye(2))  # type: ignore[arg-type]


SOLVE = [
    "method",
    "accuracy",
    "stop",
    "callback",
    "verbose",
    "tracker",
    "start",
    "polish",
    "checkpoint",
    "every",
    "resume",
    "scaling",
    "continuation",
    "restart",
    "eps",
    "smoothness",
    "step_rule",
    "holder",
    "weights",
    "max_doublings",
]


@pytest.mark.parametrize("coupling", ["=", LOSS], ids=["equality", "loss"])
@pytest.mark.parametrize("argument", SOLVE)
def test_nothing_raw_comes_out_of_solve(
    argument: str, coupling: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for value in BAD:
        with contextlib.suppress(UnipdError):
            unipd.solve(problem(coupling), **{"method": "unipdgrad", "stop": FEW, argument: value})


@pytest.mark.parametrize("method", ["auto", "corrective", "unipdgrad", "accunipdgrad"])
@pytest.mark.parametrize("scale", [1e300, 1e160, 1e-160, 1e-300])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_data_of_extreme_scales_give_an_answer_or_our_error(method: str, scale: float) -> None:
    A = np.random.default_rng(0).standard_normal((3, 3))
    b = A @ [0.2, 0.3, 0.5]
    for matrix, right in ((scale * A, scale * b), (scale * A, b), (A, scale * b)):
        for coupling in ("=", "<=", LOSS):
            with contextlib.suppress(UnipdError):
                given = unipd.Problem(unipd.sharp.Simplex(3), matrix, right, coupling)
                assert unipd.solve(given, method, stop=FEW).iterations >= 1


def test_an_integer_beyond_the_floating_point_range_is_refused():
    with pytest.raises(InvalidInput, match="accuracy: expected a finite number, got one beyond"):
        unipd.solve(unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5]), accuracy=10**5000)
