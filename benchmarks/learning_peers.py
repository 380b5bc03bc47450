"""Lasso and support vector machines against scikit-learn, celer and skglm: CPU seconds to the same answer.

    python benchmarks/learning_peers.py [--quick]

Every contestant fits a tenth of the samples once before its clock starts, so that nothing is loaded or compiled in what
is timed, and the least of three fits counts. The Lasso peers solve the penalised form to a duality gap of 1e-8 of
their own measure; unipd solves the constrained form with the radius of scikit-learn's solution, to a certified gap of
1e-6 of the loss of the best constant. ``excess`` is the mean squared error above scikit-learn's, relative. The SVMs
solve the same problem, and ``excess`` is the share of samples that they classify differently. The goal is twice the
time of scikit-learn.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import Lasso
from sklearn.svm import NuSVC

from figures import note
from unipd.apps.learning import NormConstrainedRegressor, SupportVectorClassifier

GOAL = 2.0
"""Most CPU time, in units of scikit-learn's."""
LASSOS = ((10_000, 100, 20, 0.05), (100_000, 100, 20, 0.05), (2_000, 5_000, 100, 0.02))
"""Samples, features, nonzeros of the truth, and the penalty as a share of the one that leaves no coefficient."""
REPEATS = 3


def measure(fit: Callable[[int], Any], count: int) -> tuple[float, Any]:
    """Return the least CPU seconds of a fit to all samples, and the model; ``fit`` takes the number of samples."""
    fit(max(count // 10, 50))
    seconds, model = [], None
    for _ in range(REPEATS):
        begin = time.process_time()
        model = fit(count)
        seconds.append(time.process_time() - begin)
    return min(seconds), model


def lasso_peers(penalty: float) -> dict[str, Callable[[], Any]]:
    """Return makers of the peers' estimators by name; those not installed raise ImportError."""

    def celer() -> Any:
        from celer import Lasso as Celer

        return Celer(alpha=penalty, tol=1e-8)

    def skglm() -> Any:
        from skglm import Lasso as Skglm

        return Skglm(alpha=penalty, tol=1e-8)

    return {"celer": celer, "skglm": skglm}


def compare_lasso(samples: int, features: int, nonzeros: int, share: float) -> None:
    """Print the times of one Lasso."""
    rng = np.random.default_rng(samples + features)
    X = np.asfortranarray(rng.standard_normal((samples, features)))
    y = X[:, :nonzeros] @ rng.standard_normal(nonzeros) + rng.standard_normal(samples) + 1.0
    penalty = share * float(np.abs(X.T @ (y - y.mean())).max()) / samples
    title = f"Lasso {samples} x {features}"
    plain = Lasso(alpha=penalty, tol=1e-8, max_iter=10_000)
    base, reference = measure(lambda count: plain.fit(X[:count], y[:count]), samples)
    radius = float(np.abs(reference.coef_).sum())
    error = float(np.mean((reference.predict(X) - y) ** 2))
    print(f"{title}, {np.count_nonzero(reference.coef_)} nonzeros")
    print(f"  {'scikit-learn':14s} {base:8.3f} CPU s")
    peers = {"unipd": lambda: NormConstrainedRegressor(radius), **lasso_peers(penalty)}
    for name, make in peers.items():
        try:
            peer = make()
        except ImportError as missing:
            print(f"  {name:14s} not installed: {missing.name}")
            continue
        seconds, model = measure(lambda count, peer=peer: peer.fit(X[:count], y[:count]), samples)
        excess = float(np.mean((model.predict(X) - y) ** 2)) / error - 1.0
        print(f"  {name:14s} {seconds:8.3f} CPU s {seconds / base:6.2f} x, excess {excess:.1e}", flush=True)
        note(f"{title}: {name}", seconds / base, "x scikit-learn", GOAL if name == "unipd" else None)


def compare_svm(samples: int, kernel: str, nu: float) -> None:
    """Print the times of one support vector machine."""
    X, y = make_classification(samples, 20, n_informative=8, class_sep=1.0, flip_y=0.02, random_state=0)
    title = f"nu-SVM, {kernel}, {samples} samples"
    base, reference = measure(lambda count: NuSVC(nu=nu, kernel=kernel).fit(X[:count], y[:count]), samples)
    ours = SupportVectorClassifier(nu, kernel)
    seconds, model = measure(lambda count: ours.fit(X[:count], y[:count]), samples)
    excess = float(np.mean(model.predict(X) != reference.predict(X)))
    print(f"{title}\n  {'scikit-learn':14s} {base:8.3f} CPU s")
    print(f"  {'unipd':14s} {seconds:8.3f} CPU s {seconds / base:6.2f} x, excess {excess:.1e}", flush=True)
    note(f"{title}: unipd", seconds / base, "x scikit-learn", GOAL)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for case in ((400, 20, 5, 0.05),) if given.quick else LASSOS:
        compare_lasso(*case)
    for count, kernel, nu in ((300, "rbf", 0.3),) if given.quick else ((4_000, "rbf", 0.3), (10_000, "linear", 0.6)):
        compare_svm(count, kernel, nu)


if __name__ == "__main__":
    main()
