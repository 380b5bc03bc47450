"""Runs ended by a limit name it and say by how much it was exceeded."""

import json

import pytest

import unipd
from unipd import Status, memory
from unipd.cli.options import Options
from unipd.cli.output import add_limit_to_message
from unipd.run import Result

SLOW = ("demo", "--method", "accunipdgrad", "--accuracy", "1e-9")


def run_to_limit(invoke, *words):
    done = invoke(*words, "--json", "-")
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("limit", [1, 7, 40])
def test_oracle_calls_are_counted_in_the_message(limit, invoke):
    content, table = run_to_limit(invoke, *SLOW, "--max-oracle-calls", limit)
    calls = content["oracle_calls"]
    assert (content["status"], content["exit_code"]) == ("oracle_limit", 3)
    assert calls >= limit
    assert f"The limit was {limit}, " in content["message"]
    assert f" used {calls}" in content["message"]
    assert ("(iterations are completed)" in content["message"]) == (calls > limit)
    assert content["message"] in table


def test_what_ended_a_run_is_in_the_result_file(invoke, tmp_path):
    out, page = tmp_path / "run.npz", tmp_path / "run.html"
    content, _ = run_to_limit(invoke, *SLOW, "--max-oracle-calls", 7, "--out", out)
    assert unipd.load(out).message == content["message"]
    assert content["message"] in invoke("show", out).output
    assert invoke("report", out, "-o", page).exit_code == 0
    assert content["message"] in page.read_text()


def test_no_iteration_begins_once_the_limit_is_reached(invoke):
    """Granularity of one iteration: the run that was allowed one call less than it took is the same run."""
    first = run_to_limit(invoke, *SLOW, "--max-oracle-calls", 40)[0]
    short = run_to_limit(invoke, *SLOW, "--max-oracle-calls", first["oracle_calls"])[0]
    assert short["iterations"] == first["iterations"]
    assert (
        run_to_limit(invoke, *SLOW, "--max-oracle-calls", first["oracle_calls"] + 1)[0]["iterations"]
        > first["iterations"]
    )


@pytest.mark.parametrize("command", [SLOW, ("tomography", "--simulate", "w", "--qubits", 4, "--method", "unipdgrad")])
def test_a_memory_limit_that_ends_a_run_is_named(command, invoke, monkeypatch):
    held = iter(range(10**9, 10**10, 10**6))
    monkeypatch.setattr(memory, "resident_memory", lambda: next(held))
    content, table = run_to_limit(invoke, *command, "--memory-limit", "1.02GB")
    assert (content["status"], content["exit_code"]) == ("memory_limit", 3)
    assert content["message"].startswith(Status.MEMORY_LIMIT.message + " The limit was 1.02GB, the process used ")
    assert content["message"] in table
    assert content["iterations"] >= 1
    assert content["objective"] is not None


def test_other_endings_are_left_as_they_are():
    solved, limited = Result(Status.SOLVED, note="Done."), Result(Status.ORACLE_LIMIT)
    assert add_limit_to_message(solved, Options(max_oracle_calls=1)).message == "Done."
    assert add_limit_to_message(limited, Options()).message == Status.ORACLE_LIMIT.message


@pytest.mark.parametrize(
    ("limit", "status"), [(("--max-iterations", 1), "iteration_limit"), (("--max-oracle-calls", 2), "oracle_limit")]
)
def test_limits_of_a_completion_are_named(limit, status, invoke, tmp_path):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("".join(f"{u},{i},{1 + (7 * u + 3 * i * i) % 5}\n" for u in range(12) for i in range(9)))
    words = ("complete", ratings, "--radius", 20, "--accuracy", "1e-10", "--quiet", "--out", tmp_path / "m.npz")
    content, _ = run_to_limit(invoke, *words, *limit)
    assert (content["status"], content["exit_code"]) == (status, 3)
    shown = json.loads(invoke("show", tmp_path / "m.npz", "--json", "-", "-q").stdout)
    assert shown["status"] == status
