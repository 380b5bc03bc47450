"""Script: every run of ``support.runs`` in a process that is killed again and again, resumed until it is done.

Prints one JSON object per case: the digest of the undisturbed run, that of the one which was not, how often it
was killed, and how often the kill came while a file was being written. Children are forked, so that only the
first process pays for the imports; writes are slowed down, so that kills find them.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numba  # noqa: F401 - loaded once, for all children
import scipy.linalg
import scipy.sparse.linalg  # noqa: F401

from support.runs import bits, cases
from unipd import MaxIterations, solve
from unipd.run import COLUMNS
from unipd.run.checkpoint import file

ITERATIONS = 6
KILLS = 3
SLOWLY = 0.004


def digest(result: Any) -> str:
    """Return a digest of everything but the times."""
    known = hashlib.sha256(repr(bits(result.problem, result.state)).encode())
    known.update(result.image.tobytes())
    for name in COLUMNS:
        if name not in ("seconds", "cpu_seconds"):
            known.update(result.history[name].tobytes())
    known.update(repr((result.status, result.counts, result.objective, result.dual_bound)).encode())
    return known.hexdigest()


def run(name: str, answer: Path, **settings: Any) -> None:
    """Solve one case and write its digest, in one step: a kill may come here too."""
    make, method, tracker = cases()[name]
    stop = MaxIterations(ITERATIONS)
    result = solve(make(), method, accuracy=1e-9, tracker=tracker, stop=stop, **settings)
    draft = answer.with_suffix(".draft")
    draft.write_text(digest(result))
    os.replace(draft, answer)


def slow_writes() -> None:
    """Wait in the middle of every write: half of the file is there, and before the name changes."""
    write, replace = file._write_stream, os.replace

    def halfway(stream: Any, header: bytes, arrays: Any) -> None:
        write(stream, header, arrays)
        whole = stream.tell()
        stream.flush()
        os.ftruncate(stream.fileno(), whole // 2)
        time.sleep(SLOWLY)
        stream.seek(0)
        write(stream, header, arrays)

    def late(*paths: Any) -> None:
        time.sleep(SLOWLY)
        replace(*paths)

    file._write_stream, os.replace = halfway, late


def child(work: Any) -> int:
    """Run a function in a forked process and return its number."""
    number = os.fork()
    if number == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    return number


def wait_for_child(number: int) -> bool:
    """Wait for a process; whether it ended well."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 0


def kill_and_compare(name: str, folder: Path, rng: random.Random) -> dict[str, Any]:
    """Kill, resume, and compare."""
    path, answer, peaceful = folder / "run.ckpt", folder / "killed", folder / "peaceful"
    assert wait_for_child(child(lambda: run(name, peaceful)))
    begun = time.perf_counter()  # a second time: the first may have compiled kernels
    assert wait_for_child(child(lambda: run(name, peaceful)))
    duration = time.perf_counter() - begun + 2 * SLOWLY * ITERATIONS

    def resume_run() -> None:
        slow_writes()
        run(name, answer, checkpoint=path, every="1it", resume=True)

    kills = writing = 0
    for _ in range(KILLS):
        number = child(resume_run)
        time.sleep(rng.uniform(0.2, 1.0) * duration)
        os.kill(number, signal.SIGKILL)
        if wait_for_child(number) or answer.exists():
            break
        kills += 1
        writing += any(part.name.endswith(".part") for part in folder.iterdir())
    done = answer.exists() or wait_for_child(child(resume_run))
    left = [part.name for part in folder.iterdir() if part.name.endswith(".part")]
    killed = answer.read_text() if done else None
    return {"name": name, "kills": kills, "writing": writing, "left": left, "same": killed == peaceful.read_text()}


def main() -> None:
    rng = random.Random(int(sys.argv[1]))
    for name in cases():
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(kill_and_compare(name, Path(folder), rng)), flush=True)


if __name__ == "__main__":
    main()
