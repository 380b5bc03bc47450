"""Solutions with many nonzeros, and the least nuclear norm: where a method of atoms meets its walls.

    python benchmarks/many_nonzeros.py [--quick] [--only "l1 logistic"]

One row per problem: CPU seconds of one thread to a certified 1e-6 with ``method="auto"``, the best of three runs, the
certified gap and the number of nonzeros (of a matrix: its rank); and the CPU seconds of a peer on the same instance,
which solves the penalised form at the multiplier that our run found. A peer that is not installed is skipped with a
note.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import unipd
from figures import note
from unipd import couplings, maps, sharp

ACCURACY = 1e-6
Row = tuple[unipd.Problem, str, Callable[[float], Any]]
"""A problem, the name of a peer, and a call of it at a multiplier of the norm."""


def no_peer(multiplier: float) -> None:
    """Raise: nothing to compare with."""
    raise ImportError(f"none for the multiplier {multiplier}")


def lasso(quick: bool, shape: tuple[int, int] = (2000, 5000)) -> Row:
    """Least squares over the l1 ball."""
    rows, columns = (shape[0] // 10, max(shape[1] // 10, 50)) if quick else shape
    random = np.random.default_rng(0)
    X, w = random.standard_normal((rows, columns)), np.zeros(columns)
    used = max(columns // 20, 20)
    w[:used] = random.standard_normal(used)
    y = X @ w + 5.0 * random.standard_normal(rows)
    problem = unipd.Problem(sharp.L1Ball(columns, 0.9 * np.abs(w).sum()), X, y, couplings.LeastSquares())

    def scikit_learn(multiplier: float) -> Any:
        from sklearn.linear_model import Lasso

        return Lasso(alpha=multiplier / rows, tol=ACCURACY, fit_intercept=False).fit(X, y)

    return problem, "scikit-learn Lasso", scikit_learn


def l1_logistic(quick: bool) -> Row:
    """Logistic regression over the l1 ball with sparse data and more than 2,000 nonzeros."""
    rows, columns = (500, 5000) if quick else (5000, 50000)
    random = np.random.default_rng(0)
    X = sp.random(rows, columns, 0.002, random_state=1, format="csc", data_rvs=random.random)
    w = np.zeros(columns)
    w[:200] = 5.0 * random.standard_normal(200)
    y = np.where(X @ w + 0.1 * random.standard_normal(rows) > 0, 1.0, -1.0)
    signed = (sp.diags_array(y) @ X).tocsc()
    problem = unipd.Problem(sharp.L1Ball(columns, rows / 5), signed, np.zeros(rows), couplings.Logistic())

    def celer(multiplier: float) -> Any:
        from celer import LogisticRegression  # type: ignore[import-not-found]

        return LogisticRegression(C=1.0 / multiplier, tol=ACCURACY * rows, fit_intercept=False).fit(X, y)

    return problem, "celer", celer


def group_ball(quick: bool) -> Row:
    """Least squares over the ball of the group norm, with 3,470 nonzeros for 1,000 rows."""
    rows, columns = (100, 1000) if quick else (1000, 10000)
    random = np.random.default_rng(0)
    X, w = random.standard_normal((rows, columns)), random.standard_normal(columns)
    labels = np.arange(columns) // 10
    y = X @ w + 5.0 * random.standard_normal(rows)
    ball = sharp.GroupBall(labels, 0.2 * sharp.GroupBall(labels).norm(w))

    def celer(multiplier: float) -> Any:
        from celer import GroupLasso  # type: ignore[import-not-found]

        return GroupLasso(groups=10, alpha=multiplier / rows, tol=ACCURACY, fit_intercept=False).fit(X, y)

    return unipd.Problem(ball, X, y, couplings.LeastSquares()), "celer", celer


def basis_pursuit(quick: bool) -> Row:
    """Basis pursuit whose solution has as many nonzeros as there are rows."""
    rows, columns = (80, 400) if quick else (800, 4000)
    random = np.random.default_rng(1)
    A = random.standard_normal((rows, columns)) / np.sqrt(rows)
    return unipd.Problem(sharp.L1NormSquared(columns), A, A @ random.standard_normal(columns), "="), "-", no_peer


def least_norm(quick: bool, shape: tuple[int, int], rank: int, seed: int) -> Row:
    """Least squared nuclear norm with 60 % of the entries given."""
    del quick
    random = np.random.default_rng(seed)
    rows, columns = np.nonzero(random.random(shape) < 0.6)
    truth = random.standard_normal((shape[0], rank)) @ random.standard_normal((rank, shape[1]))
    entries = maps.Sampling(rows, columns, shape)
    return unipd.Problem(sharp.NuclearNormSquared(shape), entries, truth[rows, columns], "="), "-", no_peer


ROWS: dict[str, Callable[[bool], Row]] = {
    "l1 least squares 2000 x 5000": lasso,
    "l1 least squares 100000 x 100": lambda quick: lasso(quick, (100_000, 100)),
    "l1 logistic, sparse 5000 x 50000": l1_logistic,
    "group ball 1000 x 10000": group_ball,
    "basis pursuit 800 x 4000": basis_pursuit,
    "least nuclear norm 12 x 10": lambda quick: least_norm(quick, (12, 10), 2, 1),
    "least nuclear norm 60 x 50": lambda quick: least_norm(quick, (60, 50), 3, 0),
}


def count(x: Any) -> int:
    """Return the number of nonzeros of a vector, or the rank of a matrix."""
    return x.rank if isinstance(x, unipd.atoms.LowRank) else int(np.count_nonzero(x))


def measure(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least CPU time of three calls, and the last answer."""
    best, answer = np.inf, None
    for _ in range(3):
        begun = time.process_time()
        answer = call()
        best = min(best, time.process_time() - begun)
    return best, answer


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for name, make in ROWS.items():
        if options.only not in name:
            continue
        problem, peer, call = make(options.quick)
        unipd.solve(problem, accuracy=0.1)  # compiles what is needed
        seconds, result = measure(lambda made=problem: unipd.solve(made, accuracy=ACCURACY))
        ours = f"{name:34s} {result.method:10s} {seconds:7.2f} s  gap {result.gap:.1e}  {count(result.x):5d}"
        print(f"{ours}  {result.status.value}", flush=True)
        note(name, seconds, "s")
        try:
            price = problem.sharp.support(problem.map.adjoint(-result.dual)) / getattr(problem.sharp, "radius", 1.0)
            print(f"    {peer}: {measure(lambda c=call, p=price: c(p))[0]:.2f} s", flush=True)
        except ImportError as error:
            print(f"    {peer}: skipped ({error})", flush=True)


if __name__ == "__main__":
    main()
