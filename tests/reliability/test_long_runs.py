"""Many runs, long runs and concurrent runs: no leaks, no growth, and no influence on one another."""

from __future__ import annotations

import os
import subprocess
import threading
import tracemalloc
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.runs import cases, constrained_problem, same_run, spectral_problem, vector_problem
from unipd import MaxIterations, solve
from unipd.apps.tomography import PauliTomography, simulate
from unipd.run.checkpoint import CheckpointWarning, read_checkpoint

SIDE_BY_SIDE = ("unipdgrad, atoms", "accunipdgrad, sketch, matrix", "pairwise", "corrective", "factored, matrix")


@pytest.mark.parametrize("name", SIDE_BY_SIDE)
def test_runs_side_by_side_are_the_runs_alone(name: str) -> None:
    """Four threads on two problems, one object shared by each pair."""
    make, method, tracker = cases()[name]
    problems = [make(), make()]

    def run(problem: Any) -> Any:
        return solve(problem, method, accuracy=1e-9, tracker=tracker, stop=MaxIterations(15))

    alone = [run(problem) for problem in problems]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, [*problems, *problems]))
    for result, expected in zip(together, [*alone, *alone], strict=True):
        same_run(result, expected)


def test_checkpoints_side_by_side_keep_to_their_own_runs(tmp_path: Path) -> None:
    def run(number: int) -> Any:
        path = tmp_path / f"{number}.ckpt"
        settings: dict[str, Any] = {"accuracy": 1e-9, "checkpoint": path, "every": "1it", "resume": True}
        solve(constrained_problem(), "unipdgrad", stop=MaxIterations(3 + number), **settings)
        return solve(constrained_problem(), "unipdgrad", stop=MaxIterations(12), **settings)

    whole = solve(constrained_problem(), "unipdgrad", accuracy=1e-9, stop=MaxIterations(12))
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(run, range(4)):
            same_run(result, whole)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="file handles are counted in /proc")
def test_a_thousand_runs_leave_no_thread_and_no_file_open(tmp_path: Path) -> None:
    def run(number: int) -> None:
        problem = vector_problem() if number % 10 else spectral_problem()
        kept: dict[str, Any] = {"checkpoint": tmp_path / f"{number}.ckpt"} if number % 20 == 0 else {}
        solve(problem, accuracy=1e-1, stop=MaxIterations(2), **kept)

    for number in range(-20, 0):
        run(number)
    threads, files = threading.active_count(), open_files()
    for number in range(1000):
        run(number)
    assert threading.active_count() == threads
    assert open_files() == files


LONG_RUNS: dict[str, Any] = {
    "unipdgrad": constrained_problem,
    "accunipdgrad": constrained_problem,
    "frank-wolfe": vector_problem,
    "away-step": vector_problem,
}


@pytest.mark.parametrize("method", LONG_RUNS)
def test_memory_is_flat_over_a_long_run(method: str) -> None:
    """A row of history takes under 1 kB; 1,200 iterations may add no more than 2 kB each."""
    sizes: dict[int, int] = {}

    def note(info: Any) -> None:
        if info.iteration in (300, 1500):
            sizes[info.iteration] = tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        solve(LONG_RUNS[method](), method, accuracy=1e-16, tracker="dense", stop=MaxIterations(1500), callback=note)
    finally:
        tracemalloc.stop()
    assert sizes[1500] - sizes[300] <= 1200 * 2000


@pytest.fixture(scope="module")
def experiment() -> Any:
    return simulate("random", 8, seed=2)


def estimate(experiment: Any, threads: int, method: str = "accunipdgrad") -> Any:
    return PauliTomography(method=method, accuracy=1e-4, threads=threads).fit_data(experiment.data).result_


def test_one_and_two_threads_agree_to_a_millionth(experiment: Any) -> None:
    """Sums are taken in another order; what is stated is 1e-6 relative, as many iterations, and the same status."""
    one, two = estimate(experiment, 1), estimate(experiment, 2)
    assert one.status is two.status
    assert abs(one.iterations - two.iterations) <= 1
    assert two.objective == pytest.approx(one.objective, rel=1e-6, abs=1e-6 * one.problem.scale(one.objective))
    np.testing.assert_allclose(two.image, one.image, atol=1e-6 * float(np.linalg.norm(one.image)))


@pytest.mark.parametrize("method", ["accunipdgrad", "factored"])
def test_the_same_seed_gives_the_same_bits(experiment: Any, method: str) -> None:
    again = simulate("random", 8, seed=2)
    np.testing.assert_array_equal(again.data.expectations, experiment.data.expectations)
    same_run(estimate(again, 1, method), estimate(experiment, 1, method))


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A disk of 64 kB, where the system lets us make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        made = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        made = False
    if not made:
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_does_not_end_the_run(small_disk: Path) -> None:
    path = small_disk / "run.ckpt"
    whole = solve(vector_problem(), "frank-wolfe", accuracy=1e-9, tracker="atoms", stop=MaxIterations(200))
    with pytest.warns(CheckpointWarning, match="No space left"):
        result = solve(
            vector_problem(),
            "frank-wolfe",
            accuracy=1e-9,
            tracker="atoms",
            stop=MaxIterations(200),
            checkpoint=path,
            every="1it",
        )
    same_run(result, whole)
    kept = read_checkpoint(path)[0]["runs"][0]["state"]["$object"][2]["iteration"]
    assert 1 < kept < 200
    assert os.listdir(small_disk) == ["run.ckpt"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_turns_read_only_does_not_end_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()

    def close(info: Any) -> None:
        if info.iteration == 3:
            folder.chmod(0o500)

    try:
        with pytest.warns(CheckpointWarning, match="Permission denied"):
            result = solve(
                constrained_problem(),
                "unipdgrad",
                accuracy=1e-9,
                stop=MaxIterations(9),
                callback=close,
                checkpoint=folder / "run.ckpt",
                every="1it",
            )
    finally:
        folder.chmod(0o700)
    assert result.iterations == 9
