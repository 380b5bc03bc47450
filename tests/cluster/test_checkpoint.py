"""A run with a killed rank resumes from its checkpoint: bit for bit, or nearly so on another number of ranks."""

import json
import os
import shutil
import signal
import subprocess

import pytest

from support.mpi import environment, figures, needs_mpi, program, ranks_of, run

pytestmark = needs_mpi
ITERATIONS = 14
OTHER_RANKS = 1e-5
"""Relative difference of objectives after a change of the number of ranks, this early in a run in single precision."""


def run_to_end(ranks, path):
    done = run(program(ranks, "checkpoint", path, ITERATIONS, 0.0))
    assert done.returncode == 0, done.stderr
    *steps, last = done.stdout.splitlines()
    return [int(step) for step in steps], json.loads(last)


@pytest.fixture(scope="module")
def killed_run(tmp_path_factory):
    """Return the checkpoint of a run whose last rank was killed, and the iterations that it printed."""
    path = tmp_path_factory.mktemp("killed") / "run.ckpt"
    words, printed = program(2, "checkpoint", path, 10_000, 0.02), []
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment()
    ) as job:
        try:
            assert job.stdout is not None
            while len(printed) < 5:
                printed.append(int(job.stdout.readline()))
            os.kill(ranks_of(job.pid)[-1], signal.SIGKILL)
            rest, _ = job.communicate(timeout=30)
            assert job.returncode != 0
        finally:
            job.terminate()
    return path, [*printed, *(int(line) for line in rest.splitlines() if line.isdigit())]


@pytest.fixture(scope="module")
def uninterrupted_run(tmp_path_factory):
    return run_to_end(2, tmp_path_factory.mktemp("unbroken") / "run.ckpt")


def test_same_ranks_go_on_bit_for_bit(killed_run, uninterrupted_run, tmp_path):
    path, printed = killed_run
    shutil.copy(path, tmp_path / "run.ckpt")
    steps, result = run_to_end(2, tmp_path / "run.ckpt")
    assert uninterrupted_run[0] == list(range(1, ITERATIONS + 1))
    assert result == uninterrupted_run[1]
    assert printed[-1] <= (steps[0] if steps else ITERATIONS)  # at most the iteration under way was lost
    assert [name.name for name in tmp_path.iterdir()] == ["run.ckpt"]


def test_another_number_of_ranks_goes_on(killed_run, uninterrupted_run, tmp_path):
    shutil.copy(killed_run[0], tmp_path / "run.ckpt")
    _, result = run_to_end(3, tmp_path / "run.ckpt")
    assert result["rows"] == ITERATIONS
    assert result["objective"] == pytest.approx(uninterrupted_run[1]["objective"], rel=OTHER_RANKS)


def run_command(ranks, *words):
    found, _ = figures(ranks, *words, "--quiet", codes=(0, 3))
    return {name: found[name] for name in ("status", "objective", "dual_bound", "iterations")}


@pytest.mark.parametrize("kind", ["solve", "complete"])
def test_commands_go_on_where_a_limit_ended_them(tmp_path, kind):
    path = tmp_path / ("cut.dat-s" if kind == "solve" else "ratings.csv")
    if kind == "solve":
        cost = [f"0 1 {i} {j} {1 + (i * j) % 3}" for i in range(1, 9) for j in range(i + 1, 9)]
        path.write_text(
            "\n".join(["8", "1", "8", " ".join(["1"] * 8), *cost, *(f"{i} 1 {i} {i} 1" for i in range(1, 9))])
        )
    else:
        path.write_text("".join(f"{i},{j},{1 + (i * i + 3 * j) % 5}\n" for i in range(12) for j in range(i % 3, 9, 2)))
    more = ["--accuracy", 1e-4, "--method", "corrective"] if kind == "solve" else ["--accuracy", 1e-7, "--radius", 6]
    words = [kind, path, *more]
    unbroken = run_command(2, *words)
    kept = tmp_path / "kept.ckpt"
    assert (
        run_command(2, *words, "--max-iterations", 1, "--checkpoint", kept)["iterations"] == 1 < unbroken["iterations"]
    )
    for ranks in (2, 3, 1):
        shutil.copy(kept, tmp_path / "run.ckpt")
        found = run_command(ranks, *words, "--checkpoint", tmp_path / "run.ckpt", "--resume")
        assert found == unbroken if ranks == 2 else found["status"] == "solved"
        assert found["objective"] == pytest.approx(unbroken["objective"], rel=OTHER_RANKS)
