"""What ``solve`` promises: verified answers, honest statuses, warm starts, histories, silence."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from support.oracles import EuclideanPower, Wrapped, answer_at
from support.references import SETS, constrained, with_loss
from unipd import MaxIterations, PairwiseFrankWolfe, Problem, Status, solve
from unipd.atoms import inner
from unipd.couplings import AtMost, L2Ball, LeastSquares
from unipd.errors import InvalidInput, MissingExtra, OracleError, UnboundedOracle
from unipd.methods import Method
from unipd.run.history import COLUMNS, History
from unipd.sharp import Box, L1Ball, Linear, Simplex
from unipd.spectral import RESIDUAL

GENERAL = ["unipdgrad", "accunipdgrad", "corrective"]
FOR_LOSSES = [*GENERAL, "frank-wolfe", "away-step", "pairwise"]
for_constraints = pytest.mark.parametrize("method", GENERAL)
for_losses = pytest.mark.parametrize("method", FOR_LOSSES)


@dataclass(frozen=True)
class Boaster:
    """A method that claims a perfect certificate whatever it has."""

    inner: Method
    name: str = "boaster"

    def start(self, *arguments: Any) -> Any:
        return self.inner.start(*arguments)

    def step(self, problem: Problem, state: Any) -> Any:
        honest = self.inner.step(problem, state)
        return replace(
            honest, certificate=replace(honest.certificate, objective=1.0, dual_bound=1.0, infeasibility=0.0)
        )


def test_solved_is_only_said_after_a_check_of_the_point_itself() -> None:
    problem, _ = with_loss("simplex", "least squares")
    result = solve(problem, Boaster(PairwiseFrankWolfe()), accuracy=1e-6)
    assert result.status is not Status.SOLVED
    assert result.objective == pytest.approx(problem.coupling.value(problem.map.image(result.x) - problem.b))


@for_losses
def test_reported_figures_are_those_of_the_point(method: str) -> None:
    problem, _ = with_loss("l1 ball", "least squares")
    result = solve(problem, method, accuracy=1e-2)
    residual = problem.map.image(result.x) - problem.b
    assert result.objective == pytest.approx(problem.coupling.value(residual), rel=1e-12)
    np.testing.assert_allclose(result.image, problem.map.image(result.x), rtol=1e-12)
    assert result.gap == pytest.approx((result.objective - result.dual_bound) / problem.scale(0.0))


@for_constraints
@pytest.mark.parametrize("coupling", SETS)
def test_the_dual_vector_returned_attains_the_bound(method: str, coupling: str) -> None:
    problem, _ = constrained("squared norm", coupling)
    result = solve(problem, method, accuracy=1e-2)
    answer = problem.sharp(problem.map.adjoint(-result.dual))
    total = answer.value + float(result.dual @ problem.b) + problem.coupling.conjugate(result.dual)
    assert -total == pytest.approx(result.dual_bound, abs=1e-9)


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
def test_a_warm_start_saves_work(method: str) -> None:
    problem, _ = constrained("squared norm", "equality")
    rough = solve(problem, method, accuracy=1e-2)
    cold = solve(problem, method, accuracy=1e-3)
    warm = solve(problem, method, accuracy=1e-3, start=rough)
    assert warm.status is cold.status is Status.SOLVED
    assert warm.counts.oracle_calls < 0.8 * cold.counts.oracle_calls
    again = solve(problem, method, accuracy=1e-3, start=rough.dual)
    assert again.counts == warm.counts


@pytest.mark.parametrize("method", GENERAL)
def test_a_start_at_the_dual_optimum_is_certified_at_once(method: str) -> None:
    problem, optimum = constrained("squared norm", "equality")
    best = solve(problem, "corrective", accuracy=1e-6)
    result = solve(problem, method, accuracy=1e-3, start=best)
    assert result.history["dual_bound"][0] == pytest.approx(optimum, abs=1e-5)


@for_losses
def test_histories_have_one_row_an_iteration(method: str) -> None:
    problem, _ = with_loss("l1 ball", "least squares")
    result = solve(problem, method, accuracy=1e-2, stop=MaxIterations(50))
    history = result.history
    assert len(history) == result.iterations
    np.testing.assert_array_equal(history["iteration"], np.arange(1, result.iterations + 1))
    assert history.table.shape == (result.iterations, len(COLUMNS))
    assert np.all(np.diff(history["seconds"]) >= 0)
    assert np.all(np.diff(history["dual_bound"]) >= 0)
    assert history["oracle_calls"][-1] == result.counts.oracle_calls
    assert history["matvecs"][-1] == result.counts.matvecs
    scale = problem.scale(0.0)
    np.testing.assert_allclose(history["gap"], (history["objective"] - history["dual_bound"]) / scale)
    assert history["nu"].shape == (result.iterations,)


def test_histories_become_data_frames() -> None:
    problem, _ = with_loss("l1 ball", "least squares")
    history = solve(problem, "unipdgrad", accuracy=1e-2).history
    frame = history.to_dataframe()
    assert list(frame.columns) == list(COLUMNS)
    assert len(frame) == len(history)
    assert frame["iteration"].dtype.kind == "i"
    np.testing.assert_array_equal(frame["gap"].to_numpy(), history["gap"])


def test_histories_survive_a_round_trip_through_their_table() -> None:
    problem, _ = with_loss("l1 ball", "least squares")
    history = solve(problem, "unipdgrad", accuracy=1e-2).history
    np.testing.assert_array_equal(History(history.table).table, history.table)


def test_a_missing_pandas_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"pandas.*unipd\[data\]"):
        History().to_dataframe()


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"column.*nonsense"):
        History()["nonsense"]


INFEASIBLE: dict[str, Any] = {
    "a set alone, out of reach": lambda: Problem(Simplex(3), np.eye(3), [2.0, 0.0, 0.0], "="),
    "a set alone, inequality": lambda: Problem(Simplex(3), -np.ones((1, 3)), [-2.0], "<="),
    "a set alone, ball": lambda: Problem(L1Ball(3), np.eye(3), [3.0, 0.0, 0.0], L2Ball(0.5)),
    "a linear objective": lambda: Problem(Linear([1.0, 2.0, 3.0], Simplex(3)), np.eye(3), [2.0, 0.0, 0.0], "="),
    "a linear objective on a box": lambda: Problem(
        Linear([1.0, 1.0], Box(0.0, 1.0, 2)), np.eye(2), [-1.0, 0.5], AtMost()
    ),
    "a zero row": lambda: Problem(EuclideanPower(3, 2.0), np.zeros((2, 3)), [1.0, 0.0], "="),
}


@for_constraints
@pytest.mark.parametrize("name", INFEASIBLE)
def test_infeasible_problems_are_recognised(method: str, name: str) -> None:
    problem = INFEASIBLE[name]()
    result = solve(problem, method, accuracy=1e-4)
    assert result.status is Status.INFEASIBLE
    assert not result.status.success
    assert result.dual_bound > problem.sharp.maximum() or result.dual_bound == math.inf
    assert "infeasible" in str(result)


@for_constraints
def test_nearly_infeasible_problems_are_not_called_infeasible(method: str) -> None:
    """b on the boundary of A(X): the bound comes as near to f's maximum as rounding allows."""
    random = np.random.default_rng(2)
    for trial in range(10):
        A = random.standard_normal((4, 8))
        vertex = A[:, trial % 8]
        result = solve(Problem(Simplex(8), A, vertex, "="), method, accuracy=1e-3, stop=MaxIterations(300))
        assert result.status is not Status.INFEASIBLE
        single = Problem(Simplex(8), A.astype(np.float32), vertex.astype(np.float32), "=")
        assert solve(single, method, accuracy=1e-3, stop=MaxIterations(300)).status is not Status.INFEASIBLE


class Broken(Exception):
    """What a user's oracle may raise."""


def raising(answer: Any) -> Any:
    raise Broken("no answer today")


BAD_ANSWERS: dict[str, Any] = {
    "raises": raising,
    "NaN atom": lambda answer: replace(answer, atom=np.full(3, np.nan), value=math.nan, objective=math.nan),
    "NaN value": lambda answer: replace(answer, value=math.nan, objective=math.nan),
    "infinite value": lambda answer: replace(answer, value=math.inf, objective=-math.inf),
    "wrong shape": lambda answer: replace(answer, atom=np.ones(5), value=math.nan),
}


@for_losses
@pytest.mark.parametrize("name", BAD_ANSWERS)
@pytest.mark.parametrize("call", [1, 4])
def test_oracles_that_go_wrong_are_an_error_with_a_name(method: str, name: str, call: int) -> None:
    oracle = Wrapped(Simplex(3), answer_at(call, BAD_ANSWERS[name]))
    problem = Problem(oracle, np.eye(3), [0.4, 0.35, 0.25], LeastSquares())
    with pytest.raises(OracleError) as caught:
        solve(problem, method, accuracy=1e-9)
    if name == "raises":
        assert isinstance(caught.value.__cause__, Broken)
        assert "no answer today" in str(caught.value)


@for_constraints
def test_an_unbounded_oracle_is_an_error_that_says_so(method: str) -> None:
    def unbounded(answer: Any) -> Any:
        raise UnboundedOracle("<y, x> grows without bound over X")

    problem = Problem(Wrapped(Simplex(3), answer_at(3, unbounded)), np.eye(3), [0.2, 0.3, 0.5], "=")
    with pytest.raises(UnboundedOracle, match="without bound"):
        solve(problem, method, accuracy=1e-12)


class NanMap:
    """A map whose images turn to NaN after some calls."""

    domain, codomain, dtype = (3,), (3,), np.dtype(float)

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def image(self, atom: Any) -> Any:
        self.calls -= 1
        return np.asarray(atom.dense() if hasattr(atom, "dense") else atom) * (math.nan if self.calls < 0 else 1.0)

    def adjoint(self, dual: Any) -> Any:
        return dual


@for_losses
def test_a_map_that_returns_nan_is_an_error(method: str) -> None:
    problem = Problem(Simplex(3), NanMap(2), [0.4, 0.35, 0.25], LeastSquares())
    with pytest.raises(OracleError):
        solve(problem, method, accuracy=1e-12)


@for_losses
def test_nothing_is_printed_by_default(method: str, capfd: pytest.CaptureFixture[str]) -> None:
    problem, _ = with_loss("l1 ball", "least squares")
    solve(problem, method, accuracy=1e-2)
    assert capfd.readouterr() == ("", "")


def test_progress_goes_to_stderr_alone(capfd: pytest.CaptureFixture[str]) -> None:
    problem, _ = with_loss("l1 ball", "least squares")
    solve(problem, "unipdgrad", accuracy=1e-2, verbose=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "unipdgrad" in err
    assert "objective" in err
    assert "gap" in err


def test_progress_on_a_terminal_is_a_bar_on_stderr(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    problem, _ = with_loss("l1 ball", "least squares")
    result = solve(problem, "unipdgrad", accuracy=1e-2, verbose=True)
    out, err = capsys.readouterr()
    assert result.status is Status.SOLVED
    assert out == ""
    assert "unipdgrad" in err


def test_progress_works_without_rich(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    problem, _ = with_loss("l1 ball", "least squares")
    solve(problem, "unipdgrad", accuracy=1e-2, verbose=True)
    assert "objective" in capsys.readouterr().err


def test_the_status_does_not_depend_on_verbosity() -> None:
    problem = constrained("linear on the simplex", "equality")[0]
    for limit in (3, 10):
        quiet = solve(problem, "unipdgrad", stop=MaxIterations(limit))
        loud = solve(problem, "unipdgrad", stop=MaxIterations(limit), verbose=True)
        assert quiet.status is loud.status is Status.ITERATION_LIMIT
        assert quiet.objective == loud.objective


def test_results_print_as_a_table() -> None:
    problem, _ = with_loss("l1 ball", "least squares")
    result = solve(problem, "accunipdgrad", accuracy=1e-2)
    lines = str(result).splitlines()
    assert lines[0].startswith("status")
    assert "solved" in lines[0]
    for word in ("objective", "dual bound", "gap", "infeasibility", "accunipdgrad", "oracle calls", "seconds"):
        assert word in str(result)


def test_html_is_escaped() -> None:
    problem, _ = with_loss("simplex", "least squares")
    result = solve(problem, Boaster(PairwiseFrankWolfe(), name="<script>&"), accuracy=1e-2)
    markup = result._repr_html_()
    assert "<script>" not in markup
    assert "&lt;script&gt;&amp;" in markup
    assert markup.startswith("<table>")
    assert markup.count("<tr>") == markup.count("</tr>") == len(str(result).splitlines())


def test_the_summary_is_plain_data() -> None:
    problem, _ = with_loss("simplex", "least squares")
    summary = solve(problem, "pairwise", accuracy=1e-2).summary()
    assert json.loads(json.dumps(summary)) == summary
    assert summary["status"] == "solved"
    assert summary["oracle_calls"] > 0
    assert summary["peak_memory_bytes"] > 1_000_000


@pytest.mark.parametrize("status", list(Status))
def test_every_status_has_a_message_and_only_one_is_a_success(status: Status) -> None:
    assert status.message.endswith(".")
    assert status.success == (status.value == "solved")


class Unsure(Wrapped):
    """An oracle whose everyday answers rest on residuals, and whose certificate is far too weak."""

    def __init__(self) -> None:
        super().__init__(Simplex(3), lambda call, answer, direction: replace(answer, bound=RESIDUAL), exact=False)

    def certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> Any:
        return replace(self.oracle(direction), error=1e3, bound="probabilistic")


@pytest.mark.parametrize("method", ["pairwise", "accunipdgrad"])
def test_a_claim_that_cannot_be_certified_is_not_solved_and_still_stops(method: str) -> None:
    problem = Problem(Unsure(), np.eye(3), [1.0, 1.2, 1.0], LeastSquares())
    result = solve(problem, method, accuracy=1e-1, stop=MaxIterations(40))
    assert (result.status, result.iterations) == (Status.ITERATION_LIMIT, 40)
    assert result.bound_kind == RESIDUAL
    stopped = solve(problem, method, accuracy=1e-1, callback=lambda moment: moment.state.iteration == 30)
    assert (stopped.status, stopped.iterations) == (Status.STOPPED, 30)


class ShortSighted(Wrapped):
    """An oracle that overlooks the first vertex, except when it is asked for a certificate."""

    def __init__(self) -> None:
        super().__init__(Simplex(3), lambda call, answer, direction: answer, exact=False)

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> Any:
        answer = self.oracle(np.where(np.arange(3) == 0, -1e9, direction))
        return replace(answer, value=inner(direction, answer.atom), bound=RESIDUAL)

    def certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> Any:
        return self.oracle(direction)


@for_constraints
def test_infeasibility_is_not_claimed_on_residuals_alone(method: str) -> None:
    feasible = Problem(ShortSighted(), np.eye(3), [0.6, 0.2, 0.2], "=")
    assert solve(feasible, method, accuracy=1e-2, stop=MaxIterations(50)).status is Status.ITERATION_LIMIT
    infeasible = Problem(ShortSighted(), np.eye(3), [0.0, 2.0, 0.0], "=")
    result = solve(infeasible, method, accuracy=1e-2, stop=MaxIterations(500))
    assert result.status is Status.INFEASIBLE
    assert result.bound_kind == "rigorous"
