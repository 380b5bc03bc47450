"""Every long command, interrupted at one of its checkpoints and resumed, gives the result of an uninterrupted run."""

import contextlib
import json

import numpy as np
import pytest

from unipd.run.checkpoint import checkpoint

TIMED = ("seconds", "search_seconds", "total_seconds", "peak_memory_bytes")


class Killed(BaseException):
    """What nobody catches: the process is gone."""


def a_graph(folder):
    ends = np.random.default_rng(0).integers(1, 21, (50, 2))
    path = folder / "graph.txt"
    path.write_text("20 50\n" + "".join(f"{i} {j} 1\n" for i, j in ends))
    return path


def a_program(folder):
    """The program of a maximum cut of a cycle: max <C, Y>, diag(Y) = 1."""
    n = 9
    entries = "".join(f"0 1 {i} {i + 1} -1\n" for i in range(1, n)) + f"0 1 1 {n} -1\n"
    entries += "".join(f"{i} 1 {i} {i} 1\n" for i in range(1, n + 1))
    path = folder / "cycle.dat-s"
    path.write_text(f"{n}\n1\n{n}\n{' '.join(['1'] * n)}\n{entries}")
    return path


def some_ratings(folder):
    path = folder / "ratings.csv"
    path.write_text("".join(f"{u},{i},{1 + (7 * u + 3 * i * i) % 5}\n" for u in range(12) for i in range(9)))
    return path


COMMANDS = {
    "solve": lambda folder: ("solve", a_program(folder), "--method", "unipdgrad", "--max-iterations", 12),
    "solve-auto": lambda folder: ("solve", a_program(folder), "--accuracy", "1e-9"),
    "maxcut": lambda folder: ("maxcut", a_graph(folder), "--accuracy", "1e-8"),
    "theta": lambda folder: ("theta", a_graph(folder), "--accuracy", "1e-6"),
    "complete": lambda folder: ("complete", some_ratings(folder), "--accuracy", "1e-6", "--max-iterations", 20),
    "tomography": lambda folder: ("tomography", "--simulate", "mixed", "--qubits", 3, "--shots", 500),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_goes_on_to_the_same_answer(name, invoke, tmp_path, monkeypatch):
    command = (*COMMANDS[name](tmp_path), "--quiet", "--json", "-")
    alone, kept = invoke(*command), tmp_path / "run.ckpt"
    resumable = (*command, "--checkpoint", kept, "--every", "1it", "--resume", "--out", tmp_path / "run.npz")
    whole, _ = run_until_killed(invoke, resumable, None, monkeypatch)
    for number in {number for number in (1, whole // 2, whole - 1) if 0 < number < whole}:
        kept.unlink()
        run_until_killed(invoke, resumable, number, monkeypatch)
        more, resumed = run_until_killed(invoke, resumable, None, monkeypatch)
        assert more <= whole - number + 1  # it went on, and did not begin afresh
        assert resumed.exit_code == alone.exit_code
        assert answer(resumed) == answer(alone)


def run_until_killed(invoke, command, limit, monkeypatch):
    """Break the command off when it writes once more than the limit; return how often it wrote, and its result."""
    write, result, count = checkpoint.write_checkpoint, None, 0

    def write_or_die(*arguments):
        nonlocal count
        if count == limit:
            raise Killed
        count += 1
        write(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "write_checkpoint", write_or_die)
        with contextlib.suppress(Killed):
            result = invoke(*command)
    assert (result is None) == (limit is not None)
    return count, result


def answer(result):
    return {key: value for key, value in json.loads(result.stdout).items() if key not in TIMED}
