"""Solve problems on all ranks and on one process; rank 0 prints both as JSON."""

import json
import sys
import time

import numpy as np

import unipd
from unipd.apps.completion import MatrixCompletion
from unipd.apps.sdp import SDP
from unipd.apps.tomography import Paulis, PauliTomography, pauli_map, simulate, tomography_problem
from unipd.cluster import Ranks, run, session
from unipd.couplings import LeastSquares
from unipd.maps import DenseMatrix
from unipd.sharp import NuclearBall, Simplex

RANKS = Ranks()


def alike(*values):
    """Whether all ranks have the same numbers."""
    numbers = np.concatenate([np.asarray(value, np.float64).reshape(-1) for value in values])[None]
    everyone = RANKS.allgather(numbers)
    return bool((everyone == everyone[0]).all())


def compare(together, single, *, same):
    return {"together": float(together), "single": float(single), "alike": same}


def problem(method, iterations):
    """A problem of the library solved by ``run``; late iterates of the accelerated method follow every rounding."""
    data = simulate("random", 8, seed=2).data
    made = tomography_problem(pauli_map(Paulis(8, data.x, data.z), precision="double", threads=1), data)
    options = {"accuracy": 1e-5, "stop": unipd.MaxIterations(iterations)}
    found, single = run(made, method, **options), unipd.solve(made, method, **options)
    assert found.iterations == single.iterations
    return compare(found.objective, single.objective, same=alike(found.dual, found.image))


def separable():
    rng = np.random.default_rng(3)
    made = unipd.Problem(
        [Simplex(3) for _ in range(6)],
        [rng.standard_normal((5, 3)) for _ in range(6)],
        rng.standard_normal(5),
        LeastSquares(),
    )
    found, single = run(made, accuracy=1e-6), unipd.solve(made, accuracy=1e-6)
    return compare(found.objective, single.objective, same=alike(found.dual))


def tomography():
    experiment = simulate("random", 8, seed=4)
    single = PauliTomography(accuracy=1e-6, threads=1).fit_data(experiment.data)
    with session():
        together = PauliTomography(accuracy=1e-6, threads=1).fit_data(experiment.data)
    assert type(together.result_.problem.map).__name__ == "DistributedPauliMap"
    return compare(together.relative_residual_, single.relative_residual_, same=alike(together.fitted_))


def completion(**options):
    rng = np.random.default_rng(5)
    taste = rng.standard_normal((24, 2)) @ rng.standard_normal((2, 15)) + 0.5 * rng.standard_normal((24, 15))
    known = np.where(rng.random((24, 15)) < 0.6, taste, np.nan)
    single = MatrixCompletion(**options).fit(known)
    with session():
        together = MatrixCompletion(**options).fit(known)
        rated = together.recommend(3, 4)
    theirs = single.recommend(3, 4)
    assert together.summary()["ratings"] == single.summary()["ratings"]
    if "radius" in options:
        assert rated[0].tolist() == theirs[0].tolist(), (rated, theirs)
    if not options:
        return compare(together.summary()["radius"], single.summary()["radius"], same=alike(rated[1]))
    assert abs(together.summary()["rmse_train"] - single.summary()["rmse_train"]) < 1e-3
    return compare(together.objective_, single.objective_, same=alike(rated[1], together.objective_))


def semidefinite():
    size = 12
    rng = np.random.default_rng(6)
    weights = np.triu(rng.random((size, size)) < 0.4, 1).astype(float)
    laplacian = np.diag((weights + weights.T).sum(1)) - weights - weights.T
    diagonal = [np.diag(np.eye(size)[i]) for i in range(size)]
    program = SDP.from_matrices(-laplacian / 4, diagonal, np.ones(size))
    single = program.solve(1e-6)
    with session():
        together = program.solve(1e-6)
    return compare(together.objective, single.objective, same=alike(together.dual))


def limits():
    """A time limit, and a callback on one rank alone, end the run on all ranks."""
    made = unipd.Problem(Simplex(3), np.eye(3), [0.2, 1.4, -0.3], LeastSquares())
    begun = time.perf_counter()
    slow = run(made, "unipdgrad", accuracy=1e-300, stop=unipd.MaxSeconds(0.3))
    calls = []

    def stop(info):
        calls.append(info.state.iteration)
        return RANKS.rank == RANKS.size - 1 and info.state.iteration == 3

    stopped = run(made, "unipdgrad", accuracy=1e-300, callback=stop)
    assert calls == [1, 2, 3]
    ended = slow.status.value in ("time_limit", "stalled")
    return {"ended": ended, "stopped": stopped.iterations, "alike": alike(slow.iterations, slow.dual)} | {
        "seconds": time.perf_counter() - begun
    }


def spectral_blocks():
    """Blocks whose oracles report different numbers of products: the time limit is still checked together."""
    rng = np.random.default_rng(8)
    sizes = (9, 30, 12)
    maps = [DenseMatrix(rng.standard_normal((4, n * n)), (n, n)) for n in sizes]
    made = unipd.Problem([NuclearBall((n, n), 1.0) for n in sizes], maps, rng.standard_normal(4), LeastSquares())
    options = {"accuracy": 1e-3, "stop": unipd.MaxSeconds(60.0) | unipd.MaxIterations(4)}
    found, single = run(made, "unipdgrad", **options), unipd.solve(made, "unipdgrad", **options)
    return compare(found.objective, single.objective, same=alike(found.dual, found.iterations))


CASES = {
    "spectral-blocks": spectral_blocks,
    "factored": lambda: problem("factored", 40),
    "accunipdgrad": lambda: problem("accunipdgrad", 6),
    "separable": separable,
    "tomography": tomography,
    "completion": lambda: completion(radius=20.0),
    "completion-auto": completion,
    "completion-side": lambda: completion(radius=20.0, side_information=True),
    "completion-residual": lambda: completion(residual=0.1),
    "sdp": semidefinite,
    "limits": limits,
}

if __name__ == "__main__":
    found = {name: CASES[name]() for name in sys.argv[1:] or CASES}
    if RANKS.rank == 0:
        print(json.dumps(found))
