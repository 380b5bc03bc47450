"""Runs that a limit ends say which one it was, and by how much it was passed."""

import json

import pytest

import unipd
from unipd import memory
from unipd.cli.option_values import Options
from unipd.cli.summary import with_limit
from unipd.status import Status

SLOW = ("demo", "--method", "accunipdgrad", "--accuracy", "1e-9")


def ended(invoke, *words):
    done = invoke(*words, "--json", "-")
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("limit", [1, 7, 40])
def test_oracle_calls_are_counted_in_the_message(limit, invoke):
    content, table = ended(invoke, *SLOW, "--max-oracle-calls", limit)
    calls = content["oracle_calls"]
    assert (content["status"], content["exit_code"]) == ("oracle_limit", 3)
    assert calls >= limit
    assert f"The limit was {limit}, " in content["message"]
    assert f" took {calls}" in content["message"]
    assert ("the first iteration alone" in content["message"]) == (content["iterations"] == 1 and calls > limit)
    assert content["message"] in table


def test_what_ended_a_run_is_in_the_result_file(invoke, tmp_path):
    out, page = tmp_path / "run.npz", tmp_path / "run.html"
    content, _ = ended(invoke, *SLOW, "--max-oracle-calls", 7, "--out", out)
    assert unipd.load(out).figures["message"] == content["message"]
    assert content["message"] in invoke("show", out).output
    assert invoke("report", out, "-o", page).exit_code == 0
    assert content["message"] in page.read_text()


def test_no_iteration_begins_once_the_limit_is_reached(invoke):
    """Granularity of one iteration: the run that was allowed one call less than it took is the same run."""
    first = ended(invoke, *SLOW, "--max-oracle-calls", 40)[0]
    short = ended(invoke, *SLOW, "--max-oracle-calls", first["oracle_calls"])[0]
    assert short["iterations"] == first["iterations"]
    assert ended(invoke, *SLOW, "--max-oracle-calls", first["oracle_calls"] + 1)[0]["iterations"] > first["iterations"]


@pytest.mark.parametrize("command", [SLOW, ("tomography", "--simulate", "w", "--qubits", 4, "--method", "unipdgrad")])
def test_a_memory_limit_that_ends_a_run_is_named(command, invoke, monkeypatch):
    held = iter(range(10**9, 10**10, 10**6))
    monkeypatch.setattr(memory.limits, "resident_memory", lambda: next(held))
    monkeypatch.setattr(memory.forecasting, "resident_memory", lambda: 10**9)  # this process may hold more by itself
    content, table = ended(invoke, *command, "--memory-limit", "1.02GB")
    assert (content["status"], content["exit_code"]) == ("memory_limit", 3)
    assert content["message"].startswith(Status.MEMORY_LIMIT.message + " The limit was 1.02GB, the process took ")
    assert content["message"] in table
    assert content["iterations"] >= 1
    assert content["objective"] is not None


def test_other_endings_are_left_as_they_are():
    assert with_limit({"status": "solved", "message": "Done."}, Options(max_oracle_calls=1))["message"] == "Done."
    assert with_limit({"status": "oracle_limit"}, Options())["message"] == Status.ORACLE_LIMIT.message


@pytest.mark.parametrize(
    ("limit", "status"), [(("--max-iterations", 1), "iteration_limit"), (("--max-oracle-calls", 2), "oracle_limit")]
)
def test_limits_of_a_completion_are_named(limit, status, invoke, tmp_path):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("".join(f"{u},{i},{1 + (7 * u + 3 * i * i) % 5}\n" for u in range(12) for i in range(9)))
    words = ("complete", ratings, "--radius", 20, "--accuracy", "1e-10", "--quiet", "--out", tmp_path / "m.npz")
    content, _ = ended(invoke, *words, *limit)
    assert (content["status"], content["exit_code"]) == (status, 3)
    shown = json.loads(invoke("show", tmp_path / "m.npz", "--json", "-", "-q").stdout)
    assert shown["status"] == status
