"""Script: runs of every application on as many threads as the first argument says; what they found goes to a file.

BLAS and Numba take their number of threads from the environment when they are loaded: hence a separate process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import unipd
from unipd import MaxIterations, Problem, maps, sharp, solve
from unipd.apps.graphs.maxcut import maxcut as maxcut_of
from unipd.apps.graphs.theta import theta
from unipd.couplings import LeastSquares
from unipd.io import Graph
from unipd.maps import sampling
from unipd.reproduce import generate_ratings


def ratings() -> Any:
    return generate_ratings((100, 150), 5_000, rank=4, seed=1)


def ring(nodes: int = 200) -> Graph:
    """A ring with random chords: every node has four neighbours or so."""
    rng = np.random.default_rng(2)
    first = np.concatenate([np.arange(nodes), rng.integers(0, nodes, nodes)])
    second = np.concatenate([(np.arange(nodes) + 1) % nodes, rng.integers(0, nodes, nodes)])
    return Graph.of(nodes, first, second, np.ones(2 * nodes))


def completion(threads: int) -> Any:
    made = ratings()
    model = unipd.MatrixCompletion(radius=60.0, accuracy=1e-4)
    return model.fit((made.users, made.items, made.values)).result_


def maxcut(threads: int) -> Any:
    return maxcut_of(ring(), accuracy=1e-6).result


def program(threads: int) -> Any:
    return theta(ring(40), accuracy=1e-6)


def sampling_run(method: str) -> Callable[[int], Any]:
    def run(threads: int) -> Any:
        made = ratings()
        map = maps.Sampling(made.users, made.items, made.shape, threads=threads)
        problem = Problem(sharp.NuclearBall(made.shape, 400.0), map, made.values, LeastSquares())
        return solve(problem, method, accuracy=1e-9, stop=MaxIterations(30))

    return run


def dense(method: str) -> Callable[[int], Any]:
    def run(threads: int) -> Any:
        rng = np.random.default_rng(3)
        A = rng.standard_normal((300, 2000))
        problem = Problem(sharp.L1Ball(2000), A, A[:, :5].sum(axis=1) / 4.0, LeastSquares())
        return solve(problem, method, accuracy=1e-8, stop=MaxIterations(200))

    return run


def blocks(method: str) -> Callable[[int], Any]:
    def run(threads: int) -> Any:
        rng = np.random.default_rng(4)
        oracles = [sharp.Spectrahedron(12) for _ in range(4)] + [sharp.Simplex(30)]
        half = [rng.standard_normal((25, 12, 12)) for _ in range(4)]
        rows = [maps.DenseMatrix((a + a.transpose(0, 2, 1)).reshape(25, -1), domain=(12, 12)) for a in half]
        problem = Problem(
            sharp.Product(oracles, threads),
            [*rows, rng.standard_normal((25, 30))],
            rng.standard_normal(25),
            LeastSquares(),
        )
        return solve(problem, method, accuracy=1e-7, stop=MaxIterations(60))

    return run


RUNS: dict[str, Callable[[int], Any]] = {
    "completion": completion,
    "maxcut": maxcut,
    "theta": program,
    **{f"sampled, {method}": sampling_run(method) for method in ("accunipdgrad", "frank-wolfe", "factored")},
    **{f"dense, {method}": dense(method) for method in ("accunipdgrad", "pairwise", "corrective")},
    **{f"blocks, {method}": blocks(method) for method in ("accunipdgrad", "frank-wolfe", "corrective")},
}


def main() -> None:
    threads, found = int(sys.argv[1]), dict[str, Any]()
    sampling._SERIAL_WORK = 0  # small products would be left to one thread
    for name, run in RUNS.items():
        result = run(threads)
        found[f"{name}/status"] = result.status.value
        found[f"{name}/figures"] = np.array([result.objective, result.dual_bound, result.iterations])
        found[f"{name}/image"] = getattr(result, "image", result.dual)
    np.savez(sys.argv[2], **found)


if __name__ == "__main__":
    main()
