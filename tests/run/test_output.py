"""Output: silent by default, progress on stderr, tables, HTML, plain summaries."""

from __future__ import annotations

import json
import sys

import pytest

from support.methods import FalseCertificates
from support.references import constrained_reference, loss_reference
from unipd import MaxIterations, PairwiseFrankWolfe, Status, solve

GENERAL = ["unipdgrad", "accunipdgrad", "corrective"]
FOR_LOSSES = [*GENERAL, "frank-wolfe", "away-step", "pairwise"]
for_losses = pytest.mark.parametrize("method", FOR_LOSSES)


@for_losses
def test_nothing_is_printed_by_default(method: str, capfd: pytest.CaptureFixture[str]) -> None:
    problem, _ = loss_reference("l1 ball", "least squares")
    solve(problem, method, accuracy=1e-2)
    assert capfd.readouterr() == ("", "")


def test_progress_goes_to_stderr_alone(capfd: pytest.CaptureFixture[str]) -> None:
    problem, _ = loss_reference("l1 ball", "least squares")
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
    problem, _ = loss_reference("l1 ball", "least squares")
    result = solve(problem, "unipdgrad", accuracy=1e-2, verbose=True)
    out, err = capsys.readouterr()
    assert result.status is Status.SOLVED
    assert out == ""
    assert "unipdgrad" in err


def test_progress_works_without_rich(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    problem, _ = loss_reference("l1 ball", "least squares")
    solve(problem, "unipdgrad", accuracy=1e-2, verbose=True)
    assert "objective" in capsys.readouterr().err


def test_the_status_does_not_depend_on_verbosity() -> None:
    problem = constrained_reference("linear on the simplex", "equality")[0]
    for limit in (3, 10):
        quiet = solve(problem, "unipdgrad", stop=MaxIterations(limit))
        loud = solve(problem, "unipdgrad", stop=MaxIterations(limit), verbose=True)
        assert quiet.status is loud.status is Status.ITERATION_LIMIT
        assert quiet.objective == loud.objective


def test_results_print_as_a_table() -> None:
    problem, _ = loss_reference("l1 ball", "least squares")
    result = solve(problem, "accunipdgrad", accuracy=1e-2)
    lines = str(result).splitlines()
    assert lines[0].startswith("status")
    assert "solved" in lines[0]
    for word in ("objective", "dual bound", "gap", "infeasibility", "accunipdgrad", "oracle calls", "seconds"):
        assert word in str(result)


def test_html_is_escaped() -> None:
    problem, _ = loss_reference("simplex", "least squares")
    result = solve(problem, FalseCertificates(PairwiseFrankWolfe(), name="<script>&"), accuracy=1e-2)
    markup = result._repr_html_()
    assert "<script>" not in markup
    assert "&lt;script&gt;&amp;" in markup
    assert markup.startswith("<table>")
    assert markup.count("<tr>") == markup.count("</tr>") == len(str(result).splitlines())


def test_the_summary_is_plain_data() -> None:
    problem, _ = loss_reference("simplex", "least squares")
    summary = solve(problem, "pairwise", accuracy=1e-2).summary()
    assert json.loads(json.dumps(summary)) == summary
    assert summary["status"] == "solved"
    assert summary["oracle_calls"] > 0
    assert summary["peak_memory_bytes"] > 1_000_000
