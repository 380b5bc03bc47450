"""Completion against Surprise, cmfrec, myFM and implicit: times, memory, errors, NDCG@10; and formulation (b).

    python benchmarks/completion_peers.py [--quick] [--split NAME] [--limit SECONDS] [--only NAME]

MovieLens 100K; ``--quick`` takes synthetic ratings. The peers have the settings that a search on a part of ub.base
found best for them (SVD: 50 factors, 100 epochs, regularisation 0.1; CMF: 40 factors, lambda 15), and their time is
that of one fit; the time of unipd includes the choice of its radius. Each contestant is imported and fits and
predicts a part of the ratings once before its clock starts, so that nothing is loaded or compiled in what is timed.
All begin with the ratings as NumPy arrays; what a peer makes of them counts as its fit. Wall and CPU seconds of
the configured threads, fit and prediction separately. NDCG@10 has relevance from 4 stars on and leaves out items rated
in training; a model of ratings recommends the items with the highest predictions, which is not what it is fitted for.
implicit's ALS has 64 factors and its defaults otherwise, with the ratings as weights; myFM is a Bayesian factorisation
machine with rank 10 and 200 samples. Every contestant runs in a process of its own, whose peak memory is shown;
``--only`` runs one of them and nothing else. The split "random" holds out a fifth of all ratings, as u1 to u5 do, and
needs the files of `ub` alone. After the table, the least squared nuclear norm that fits all ratings,
min (1/n) ||X||_*^2 subject to A(X) = b, certified to 1 %.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

import unipd
from figures import note
from unipd._typing import FloatArray
from unipd._util.threads import limit_blas_threads
from unipd.apps.completion import ball_formulation, factored_norm_method, norm_problem
from unipd.apps.completion.fitted_model import ranking_metrics
from unipd.apps.completion.ratings import join_ratings
from unipd.io import Ratings
from unipd.reproduce import completion_data, generate_ratings

PSI = (738.386, 738.583)
"""Where the optimum of formulation (b) on `ub` is known to lie."""
COLUMNS = 220
"""Columns of the factors to begin with: the solution on `ub` has rank 204 or so."""
GOALS = {"unipd": 0.943, "unipd, side structure": 0.915}
"""Errors on `ub` that the estimators should reach."""
RANKING_GOAL = 0.30
"""NDCG@10 on `ub` that ImplicitCompletion should reach."""
RELEVANT, TOP = 4.0, 10
HELD_OUT = 0.2
"""Share of the ratings that the random split holds out."""
WARM_UP = 10
"""Every tenth rating is for the warm-up."""

Predict: TypeAlias = Callable[[Ratings], FloatArray]
Fit: TypeAlias = Callable[[Ratings], Predict]


def instance(quick: bool, split: str) -> tuple[Ratings, Ratings, tuple[int, int]]:
    """Return training ratings, test ratings and the shape; users and items from 0."""
    if not quick:
        name = "ub" if split == "random" else split
        train, test = (
            Ratings(part.users - 1, part.items - 1, part.values) for part in completion_data.load_movielens_split(name)
        )
        if split == "random":
            everything = join_ratings(train, test)
            held = np.random.default_rng(1).random(len(everything)) < HELD_OUT
            train, test = everything.where(~held), everything.where(held)
        return train, test, completion_data.MOVIELENS_SHAPE
    made = generate_ratings((100, 140), 3000, rank=3)
    held = np.random.default_rng(1).random(made.values.size) < 0.1
    both = Ratings(made.users, made.items, made.values)
    return both.where(~held), both.where(held), made.shape


def estimator(**options: Any) -> Fit:
    """Return the fit of unipd."""

    def fit(train: Ratings) -> Predict:
        model = unipd.MatrixCompletion(**options).fit((train.users, train.items, train.values))
        return lambda test: model.predict(np.column_stack([test.users, test.items]))

    return fit


def surprise_svd() -> Fit:
    """Import Surprise and return its fit; it predicts one pair at a time."""
    from pandas import DataFrame
    from surprise import SVD, Dataset, Reader

    def fit(train: Ratings) -> Predict:
        scale = Reader(rating_scale=(float(train.values.min()), float(train.values.max())))
        frame = DataFrame({"user": train.users, "item": train.items, "rating": train.values})
        model = SVD(n_factors=50, n_epochs=100, lr_all=0.005, reg_all=0.1, random_state=0)
        model.fit(Dataset.load_from_df(frame, scale).build_full_trainset())
        return lambda test: np.array(
            [model.predict(user, item).est for user, item in zip(test.users, test.items, strict=True)]
        )

    return fit


def positive(values: FloatArray) -> FloatArray:
    """Return the ratings as weights: themselves, or ones where some are not positive."""
    return values if values.min() > 0.0 else np.ones_like(values)


def implicit_unipd() -> Fit:
    """Return the fit of unipd to implicit feedback; its predictions are scores, not ratings."""

    def fit(train: Ratings) -> Predict:
        model = unipd.ImplicitCompletion().fit((train.users, train.items, positive(train.values)))
        return lambda test: model.predict((test.users, test.items))

    return fit


def implicit_als() -> Fit:
    """Import implicit and return its fit."""
    from implicit.als import AlternatingLeastSquares

    def fit(train: Ratings) -> Predict:
        weights = sp.csr_matrix((positive(train.values), (train.users, train.items)))
        model = AlternatingLeastSquares(factors=64, random_state=0)
        model.fit(weights, show_progress=False)
        left, right = np.asarray(model.user_factors), np.asarray(model.item_factors)

        def predict(test: Ratings) -> FloatArray:
            known = (test.users < len(left)) & (test.items < len(right))
            scores = np.zeros(len(test))
            scores[known] = np.einsum("ij,ij->i", left[test.users[known]], right[test.items[known]])
            return scores

        return predict

    return fit


def popularity() -> Fit:
    """Return the fit of the baseline: the number of ratings of an item."""

    def fit(train: Ratings) -> Predict:
        counts = np.bincount(train.items, minlength=1 << 12).astype(np.float64)
        return lambda test: counts[test.items]

    return fit


def ranking(predict: Predict, train: Ratings, test: Ratings, shape: tuple[int, int]) -> float:
    """Return NDCG at ``TOP`` over users with relevant test items, among items not rated in training."""
    relevant = test.where(test.values >= RELEVANT)
    users, places = np.unique(relevant.users, return_inverse=True)
    best = np.empty((users.size, min(TOP, shape[1])), np.int64)
    for row, user in enumerate(users):
        everything = Ratings(np.full(shape[1], user), np.arange(shape[1]), np.zeros(shape[1]))
        scores = np.array(predict(everything), np.float64)
        scores[train.items[train.users == user]] = -np.inf
        best[row] = np.argsort(-scores, kind="stable")[:TOP]
    return ranking_metrics(best, places.ravel(), relevant.items, np.bincount(places.ravel()))["ndcg"]


def cmfrec_cmf() -> Fit:
    """Import cmfrec and return its fit; pairs it does not know get the mean."""
    from cmfrec import CMF
    from pandas import DataFrame

    def fit(train: Ratings) -> Predict:
        frame = DataFrame({"UserId": train.users, "ItemId": train.items, "Rating": train.values})
        model = CMF(k=40, lambda_=15.0, verbose=False, random_state=1).fit(frame)
        low, mean, high = train.values.min(), train.values.mean(), train.values.max()

        def predict(test: Ratings) -> FloatArray:
            found = np.asarray(model.predict(user=test.users, item=test.items), np.float64)
            return np.where(np.isnan(found), mean, found).clip(low, high)

        return predict

    return fit


def myfm_gibbs() -> Fit:
    """Import myFM and return its fit: a Bayesian factorisation machine on indicators of users and items."""
    from myfm import MyFMGibbsRegressor

    def fit(train: Ratings) -> Predict:
        sizes = int(train.users.max()) + 1, int(train.items.max()) + 1

        def indicators(pairs: Ratings) -> Any:
            blocks = []
            for names, size in zip((pairs.users, pairs.items), sizes, strict=True):
                known = names < size
                places = (np.flatnonzero(known), names[known])
                blocks.append(sp.csr_matrix((np.ones(known.sum()), places), shape=(len(pairs), size)))
            return sp.hstack(blocks).tocsr()

        groups = [np.full(size, group) for group, size in enumerate(sizes)]
        model: Any = MyFMGibbsRegressor(rank=10, random_seed=0)
        model.fit(indicators(train), train.values, n_iter=200, grouping=np.concatenate(groups).tolist())
        low, high = train.values.min(), train.values.max()
        return lambda test: np.asarray(model.predict(indicators(test)), np.float64).clip(low, high)

    return fit


CONTESTANTS: dict[str, Callable[[], Fit]] = {
    "unipd": estimator,
    "unipd, side structure": lambda: estimator(side_information=True),
    "Surprise SVD, tuned": surprise_svd,
    "cmfrec CMF, tuned": cmfrec_cmf,
    "myFM, rank 10": myfm_gibbs,
    "unipd, implicit": implicit_unipd,
    "implicit ALS, 64 factors": implicit_als,
    "most popular items": popularity,
}
RANKERS = ("unipd, implicit", "implicit ALS, 64 factors", "most popular items")
"""Contestants whose predictions are scores, not ratings."""


class Clock:
    """Wall and CPU seconds since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Return both."""
        return time.perf_counter() - self._wall, time.process_time() - self._cpu


def compare(train: Ratings, test: Ratings, split: str, shape: tuple[int, int], only: str | None = None) -> None:
    """Print errors, NDCG, the times of fits and predictions, and the peak memory; ``only`` one contestant if given."""
    few = train.where(np.arange(train.values.size) % WARM_UP == 0)
    if only is None:
        print_header()
    for name, prepare in CONTESTANTS.items():
        if only not in (None, name):
            continue
        try:
            fit = prepare()
        except ImportError as missing:
            print(f"{name:24s} not installed: {missing.name}")
            continue
        fit(few)(few)
        clock = Clock()
        predict = fit(train)
        wall, cpu = clock.read()
        clock = Clock()
        predicted = predict(test)
        later = clock.read()
        error = float(np.sqrt(np.mean((predicted - test.values) ** 2)))
        gain = ranking(predict, train, test, shape)
        shown = "-" if name in RANKERS else f"{error:.4f}"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000.0
        figures = f"{wall:8.2f} {cpu:8.2f} {later[0]:8.2f} {later[1]:8.2f} {peak:8.0f}"
        print(f"{name:24s} {shown:>10s} {gain:8.4f} {figures}", flush=True)
        goal = GOALS.get(name)
        note(f"{split}, {name}: fit", wall, "s", None if goal is None else 10.0)
        note(f"{split}, {name}: fit, CPU", cpu, "CPU s")
        note(f"{split}, {name}: prediction", later[0], "s")
        if name not in RANKERS:
            note(f"{split}, {name}: test RMSE", error, "share", goal if split == "ub" else None)
        is_judged = name == "unipd, implicit" and split == "ub"
        note(f"{split}, {name}: NDCG@10", gain, "share", RANKING_GOAL if is_judged else None, at_least=True)


def print_header() -> None:
    """Print the names of the columns."""
    print(f"{'':24s} {'':>10s} {'':>8s} {'fit':>17s} {'prediction':>17s}")
    times = f"{'wall s':>8s} {'CPU s':>8s} {'wall s':>8s} {'CPU s':>8s} {'peak MB':>8s}"
    print(f"{'imported and warm':24s} {'test RMSE':>10s} {'NDCG@10':>8s} {times}", flush=True)


def least_norm(train: Ratings, shape: tuple[int, int], known: bool, limit: float) -> None:
    """Print the lower bound of formulation (b), and the objective of a point that nearly fits."""
    data = (train.users, train.items, train.values, shape)
    problem = norm_problem(*data, precision=None)
    method = factored_norm_method(ball_formulation(*data), problem, rank=min(COLUMNS, *shape))
    begun = time.process_time()
    with limit_blas_threads(1):  # as the application does
        result = unipd.solve(problem, method, accuracy=1e-2, stop=unipd.MaxSeconds(limit))
    seconds = time.process_time() - begun
    print(f"least squared norm: at least {result.dual_bound:.3f}, a {result.bound_kind} bound;")
    print(f"  {result.objective:.3f} at a point with relative residual {result.infeasibility:.1e},")
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
    parser.add_argument("--split", default="ub", help="ua, ub, u1, ..., u5, or random")
    parser.add_argument("--limit", type=float, default=200.0, help="seconds for formulation (b), 0 for none")
    parser.add_argument("--only", choices=tuple(CONTESTANTS), help="one contestant, for its memory")
    given = parser.parse_args()
    os.environ["TQDM_DISABLE"] = "1"  # myFM's bar of progress
    try:
        train, test, shape = instance(given.quick, given.split)
    except completion_data.DataMissing as missing:
        raise SystemExit(f"{missing} (--quick needs no data)") from None
    split = "synthetic" if given.quick else given.split
    if given.only is not None:
        return compare(train, test, split, shape, given.only)
    print(f"{'synthetic ratings' if given.quick else f'MovieLens 100K, {split}'}: {train.values.size} ratings")
    print_header()
    for name in CONTESTANTS:
        subprocess.run([sys.executable, *sys.argv, "--only", name], check=True)
    if given.limit:
        least_norm(train, shape, split == "ub", given.limit)
    return None


if __name__ == "__main__":
    main()
