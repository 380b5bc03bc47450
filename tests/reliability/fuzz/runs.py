"""Runs that are killed and resumed, and runs in two threads at once, equal the same runs left in peace."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import unipd
from reliability.fuzz import Case
from reliability.run_on_threads import ring
from support.runs import (
    badly_scaled,
    badly_scaled_cut,
    block_problem,
    constrained_problem,
    cut_problem,
    nuclear_problem,
    product_problem,
    same_run,
    spectral_problem,
    vector_problem,
)
from unipd import MaxIterations, Problem
from unipd.apps.graphs.maxcut import maxcut
from unipd.apps.graphs.theta import theta
from unipd.apps.sdp import SDP
from unipd.apps.tomography import Noise, simulate
from unipd.errors import UnipdError
from unipd.memory import limited_memory
from unipd.methods import Factored
from unipd.methods.wrappers import Fallback

Generator = np.random.Generator
PROBLEMS: dict[str, Callable[[], Problem]] = {
    make.__name__: make
    for make in (
        badly_scaled,
        badly_scaled_cut,
        block_problem,
        constrained_problem,
        cut_problem,
        nuclear_problem,
        product_problem,
        spectral_problem,
        vector_problem,
    )
}
METHODS: dict[str, Callable[[], Any]] = {
    "auto": lambda: "auto",
    "unipdgrad": unipd.UniPDGrad,
    "accunipdgrad": unipd.AccUniPDGrad,
    "quasi-newton": lambda: unipd.QuasiNewton(period=3),
    "greedy": lambda: unipd.AccUniPDGrad(weights="greedy"),
    "frank-wolfe": unipd.FrankWolfe,
    "away-step": unipd.AwayStepFrankWolfe,
    "pairwise": unipd.PairwiseFrankWolfe,
    "corrective": unipd.Corrective,
    "factored": lambda: Factored(inner_steps=2, rank=2),
    "restarts": lambda: unipd.Restarts(unipd.AccUniPDGrad()),
    "stages": lambda: unipd.Restarts(unipd.UniPDGrad(), continuation=False),
    "rescaling": lambda: unipd.Rescaling(unipd.Corrective()),
    "rescaled factored": lambda: unipd.Rescaling(Factored(inner_steps=2)),
    "fallback": lambda: Fallback(unipd.Corrective(), unipd.AccUniPDGrad(), patience=3),
    "fallback of restarts": lambda: Fallback(unipd.Restarts(unipd.AccUniPDGrad()), unipd.Corrective(), patience=4),
    "all wrappers": lambda: unipd.Rescaling(
        Fallback(unipd.Restarts(unipd.UniPDGrad()), unipd.Corrective(), patience=3)
    ),
}
TRACKERS = ("auto", "dense", "atoms", "image", "lowrank", "sketch")
LENGTH = 15


class Killed(BaseException):
    """What nobody catches: the process is gone."""


def _draw_run(random: Generator) -> tuple[str, Callable[..., Any]]:
    """Draw a run: its name, and the function that does it with the settings given."""
    while True:
        words = [str(random.choice(list(names))) for names in (PROBLEMS, METHODS, TRACKERS)]
        accuracy = 10.0 ** int(random.integers(-9, -2))
        run = functools.partial(_solve, *words, accuracy)
        with contextlib.suppress(UnipdError):  # the method or the tracker does not apply to the problem
            run()
            return f"{', '.join(words)}, {accuracy:g}", run


def _solve(problem: str, method: str, tracker: str, accuracy: float, **settings: Any) -> Any:
    made, stop = PROBLEMS[problem](), MaxIterations(LENGTH)
    return unipd.solve(made, METHODS[method](), accuracy=accuracy, tracker=tracker, stop=stop, **settings)


def draw_resume(random: Generator) -> Case:
    """Draw a run, or an application, and the iterations after which it is killed."""
    if random.random() < 0.25:
        return _draw_application(random)
    name, run = _draw_run(random)
    every = f"{int(random.integers(1, 4))}it"
    kills = sorted(int(random.integers(1, LENGTH)) for _ in range(int(random.integers(1, 4))))

    def check(folder: Path) -> None:
        whole, path = run(), folder / "run.ckpt"
        for limit in kills:
            with contextlib.suppress(Killed):
                run(callback=_kill_after(limit), checkpoint=path, every=every, resume=True)
        same_run(run(checkpoint=path, every=every, resume=True), whole)

    return Case(f"{name}, killed after {kills}, every {every}", check)


def _kill_after(limit: int) -> Callable[[Any], None]:
    def callback(info: Any) -> None:
        if info.iteration >= limit:
            raise Killed

    return callback


def _theta(random: Generator) -> Callable[[], Any]:
    nodes = int(random.integers(8, 40))
    return lambda: theta(ring(nodes), accuracy=1e-6)


def _maxcut(random: Generator) -> Callable[[], Any]:
    nodes = int(random.integers(10, 60))
    return lambda: maxcut(ring(nodes), accuracy=1e-6).result


def _program(random: Generator) -> Callable[[], Any]:
    n, m, rng = int(random.integers(3, 12)), int(random.integers(1, 6)), random
    matrices = [0.5 * (a + a.T) for a in rng.standard_normal((m + 1, n, n))]
    half = rng.standard_normal((n, n))
    values = [float(np.sum(a * (half @ half.T))) for a in matrices[1:]]
    cost = matrices[0] @ matrices[0] + np.eye(n)
    method = str(random.choice(["auto", "corrective", "factored"]))
    return lambda: SDP.from_matrices(cost, matrices[1:], values).solve(accuracy=1e-6, method=method)


def _completion(random: Generator) -> Callable[[], Any]:
    users, items = random.integers(0, 12, 60), random.integers(0, 9, 60)
    values = random.standard_normal(60)
    radius = 3.0 if random.integers(2) else "auto"
    return lambda: unipd.MatrixCompletion(radius=radius, accuracy=1e-5).fit((users, items, values)).result_


def _tomography(random: Generator) -> Callable[[], Any]:
    data = simulate("mixed", 3, noise=Noise(shots=500), seed=int(random.integers(100))).data
    return lambda: unipd.PauliTomography(accuracy=1e-6).fit_data(data).result_


APPLICATIONS = {
    "theta": _theta,
    "maxcut": _maxcut,
    "program": _program,
    "completion": _completion,
    "tomography": _tomography,
}


def _draw_application(random: Generator) -> Case:
    """Draw an application and the number of writes after which it is killed, again and again."""
    name = str(random.choice(list(APPLICATIONS)))
    run, writes = APPLICATIONS[name](random), int(random.integers(1, 12))

    def check(folder: Path) -> None:
        whole, path = run(), folder / "run.ckpt"
        for _ in range(2):
            with contextlib.suppress(Killed), killing_writes(writes), unipd.Checkpoint(path, "1it", resume=True):
                run()
        with unipd.Checkpoint(path, "1it", resume=True):
            same_answer(run(), whole)

    return Case(f"{name}, killed after {writes} writes", check)


@contextlib.contextmanager
def killing_writes(limit: int) -> Any:
    """Let the process "die" when a checkpoint is written once more than the limit."""
    from unipd.run.checkpoint import checkpoint

    write, count = checkpoint.write_checkpoint, 0

    def write_or_die(*arguments: Any) -> None:
        nonlocal count
        if count == limit:
            raise Killed
        count += 1
        write(*arguments)

    checkpoint.write_checkpoint = write_or_die
    try:
        yield
    finally:
        checkpoint.write_checkpoint = write


def same_answer(one: Any, two: Any) -> None:
    """Assert that two results of an application are the same, bit for bit."""
    figures = [
        (r.status, r.iterations, r.counts, r.objective, r.dual_bound, r.gap, r.infeasibility) for r in (one, two)
    ]
    assert figures[0] == figures[1], f"{figures[0]} instead of {figures[1]}"
    assert np.asarray(one.dual).tobytes() == np.asarray(two.dual).tobytes()


def draw_threads(random: Generator) -> Case:
    """Draw two runs."""
    names, both = zip(*(_draw_run(random) for _ in range(2)), strict=True)
    limit = bool(random.integers(2))

    def check(folder: Path) -> None:
        alone = [run() for run in both]
        found: list[Any] = [None, None]
        start = threading.Barrier(2)

        def work(place: int) -> None:
            start.wait()
            with limited_memory(1 << 40) if limit and place else contextlib.nullcontext():
                for _ in range(3):
                    found[place] = both[place]()

        threads = [threading.Thread(target=work, args=(place,)) for place in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one, two in zip(found, alone, strict=True):
            assert one is not None, "a thread died"
            same_run(one, two)

    return Case(" beside ".join(names), check)
