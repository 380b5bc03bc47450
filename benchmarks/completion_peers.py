"""MatrixCompletion beside Surprise's SVD and cmfrec's CMF: fit times and errors of prediction; and formulation (b).

    python benchmarks/completion_peers.py [--quick] [--split ub] [--limit SECONDS]

MovieLens 100K; ``--quick`` takes made-up ratings. The peers have the settings that a search on a part of ub.base found
best for them (SVD: 50 factors, 100 epochs, regularisation 0.1; CMF: 40 factors, lambda 15), and their time is that of
one fit; the time of unipd includes the choice of its radius. Wall and CPU seconds of the threads that are set. Then the
least squared nuclear norm that fits all ratings exactly, min (1/n) ||X||_*^2 subject to A(X) = b, certified to 1 %.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import unipd
from figures import note
from unipd._typing import FloatArray
from unipd.apps.completion import ball_design, factored_norm_method, movielens, norm_problem
from unipd.apps.completion.generated import generate
from unipd.io.ratings import Ratings

PSI = (738.386, 738.583)
"""Where the optimum of formulation (b) on `ub` is known to lie."""
COLUMNS = 220
"""Columns of the factors to begin with: the solution on `ub` has rank 204 or so."""
GOALS = {"unipd": 0.943, "unipd, side structure": 0.915}
"""Errors on `ub` that the estimators should reach."""


def instance(quick: bool, split: str) -> tuple[Ratings, Ratings, tuple[int, int]]:
    """Return training ratings, test ratings and the shape; users and items from 0."""
    if not quick:
        train, test = (Ratings(part.users - 1, part.items - 1, part.values) for part in movielens.split(split))
        return train, test, movielens.SHAPE
    made = generate((100, 140), 3000, rank=3)
    held = np.random.default_rng(1).random(made.values.size) < 0.1
    both = Ratings(made.users, made.items, made.values)
    return both.where(~held), both.where(held), made.shape


def estimator(train: Ratings, test: Ratings, **options: Any) -> FloatArray:
    """Fit and predict with unipd."""
    model = unipd.MatrixCompletion(**options).fit((train.users, train.items, train.values))
    return model.predict(np.column_stack([test.users, test.items]))


def surprise_svd(train: Ratings, test: Ratings) -> FloatArray:
    """Fit and predict with Surprise."""
    from pandas import DataFrame
    from surprise import SVD, Dataset, Reader

    scale = Reader(rating_scale=(float(train.values.min()), float(train.values.max())))
    frame = DataFrame({"user": train.users, "item": train.items, "rating": train.values})
    model = SVD(n_factors=50, n_epochs=100, lr_all=0.005, reg_all=0.1, random_state=0)
    model.fit(Dataset.load_from_df(frame, scale).build_full_trainset())
    return np.array([model.predict(user, item).est for user, item in zip(test.users, test.items, strict=True)])


def cmfrec_cmf(train: Ratings, test: Ratings) -> FloatArray:
    """Fit and predict with cmfrec; pairs it does not know get the mean."""
    from cmfrec import CMF
    from pandas import DataFrame

    frame = DataFrame({"UserId": train.users, "ItemId": train.items, "Rating": train.values})
    model = CMF(k=40, lambda_=15.0, verbose=False, random_state=1).fit(frame)
    found = np.asarray(model.predict(user=test.users, item=test.items), np.float64)
    return np.where(np.isnan(found), train.values.mean(), found).clip(train.values.min(), train.values.max())


CONTESTANTS: dict[str, Callable[[Ratings, Ratings], FloatArray]] = {
    "unipd": estimator,
    "unipd, side structure": lambda train, test: estimator(train, test, side=True),
    "Surprise SVD, tuned": surprise_svd,
    "cmfrec CMF, tuned": cmfrec_cmf,
}


def compare(train: Ratings, test: Ratings, split: str) -> None:
    """Print fit times and errors."""
    print(f"{'fit and predict':24s} {'test RMSE':>10s} {'wall s':>8s} {'CPU s':>8s}")
    for name, run in CONTESTANTS.items():
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            predicted = run(train, test)
        except ImportError as missing:
            print(f"{name:24s} not installed: {missing.name}")
            continue
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        error = float(np.sqrt(np.mean((predicted - test.values) ** 2)))
        print(f"{name:24s} {error:10.4f} {wall:8.2f} {cpu:8.2f}", flush=True)
        goal = GOALS.get(name)
        note(f"{split}, {name}: fit", wall, "s", None if goal is None else 10.0)
        note(f"{split}, {name}: fit, CPU", cpu, "CPU s")
        note(f"{split}, {name}: test RMSE", error, "share", goal if split == "ub" else None)


def least_norm(train: Ratings, shape: tuple[int, int], known: bool, limit: float) -> None:
    """Print the lower bound of formulation (b), and the objective of a point that nearly fits."""
    data = (train.users, train.items, train.values, shape)
    problem = norm_problem(*data, precision=None)
    method = factored_norm_method(ball_design(*data), problem, rank=min(COLUMNS, *shape))
    begun = time.process_time()
    result = unipd.solve(problem, method, accuracy=1e-2, stop=unipd.MaxSeconds(limit))
    seconds = time.process_time() - begun
    print(f"least squared norm: at least {result.dual_bound:.3f}, a {result.bound_kind} bound;")
    print(f"  {result.objective:.3f} at a point with relative residual {result.relative_infeasibility:.1e},")
    print(f"  {seconds:.1f} CPU s, {result.status.value}")
    if known:
        low, high = PSI
        away = max(result.objective / high - 1.0, 1.0 - result.objective / low, 1.0 - result.dual_bound / low)
        print(f"  known to lie in [{low}, {high}]: bound and objective are {away:.2%} off at most (goal 1 %)")
        note("formulation (b): off the known bracket", away, "share", 0.01)
        note("formulation (b): time", seconds, "CPU s")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--split", default="ub", help="ua, ub, u1, ..., u5")
    parser.add_argument("--limit", type=float, default=200.0, help="seconds for formulation (b)")
    given = parser.parse_args()
    if not given.quick and movielens.find() is None:
        raise SystemExit("MovieLens 100K is not here: unipd data movielens-100k (or --quick)")
    train, test, shape = instance(given.quick, given.split)
    title = "made-up ratings" if given.quick else f"MovieLens 100K, {given.split}"
    print(f"{title}: {train.values.size} ratings")
    compare(train, test, "made-up" if given.quick else given.split)
    least_norm(train, shape, not given.quick and given.split == "ub", given.limit)


if __name__ == "__main__":
    main()
