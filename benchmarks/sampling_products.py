"""Products with a sampled matrix against SciPy's sparse products, one and two threads, and the memory they need.

    python benchmarks/sampling_products.py [--quick | --full]

Every line is a ratio of times taken in turns in the same run (the smallest of several repeats). ``--full`` adds
20 million entries and the peak memory as a multiple of the measurements' own size (rows, columns and values).
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from figures import note
from unipd.atoms import LowRank
from unipd.maps import Sampling

QUICK = [(943, 1682, 90_570)]
USUAL = [*QUICK, (138_000, 27_000, 2_000_000)]
FULL = [*USUAL, (138_000, 27_000, 20_000_000)]


@dataclass(frozen=True)
class Instance:
    """Random places with popular rows and columns, sorted by row as ratings files are."""

    rows: Any
    cols: Any
    shape: tuple[int, int]
    dual: Any

    @property
    def coordinate_bytes(self) -> int:
        """Bytes of rows, columns and values."""
        return self.rows.nbytes + self.cols.nbytes + self.dual.nbytes


def instance(rows: int, cols: int, count: int) -> Instance:
    rng = np.random.default_rng(0)
    places = np.sort((rows * rng.random(count, np.float32) ** 2).astype(np.int32))
    return Instance(
        places,
        (cols * rng.random(count, np.float32) ** 2).astype(np.int32),
        (rows, cols),
        rng.standard_normal(count),
    )


def best_times(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the smallest time of each call; they take turns so that a busy machine slows all alike."""
    times = {name: float("inf") for name in calls}
    for call in calls.values():
        call()
    for _ in range(repeats):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            times[name] = min(times[name], time.perf_counter() - begin)
    return times


def measure(data: Instance, repeats: int) -> None:
    one, two = (Sampling(data.rows, data.cols, data.shape, threads=threads) for threads in (1, 2))
    rng = np.random.default_rng(1)
    rows, cols = data.shape
    x, y, block = rng.standard_normal(cols), rng.standard_normal(rows), rng.standard_normal((cols, 8))
    left, right = rng.standard_normal((rows, 20)), rng.standard_normal((cols, 20))
    pair = LowRank(left[:, :1], right[:, :1], np.ones(1))
    factors = LowRank(left, right, np.ones(20))
    starts = np.searchsorted(data.rows, np.arange(rows + 1)).astype(np.int32)
    matrix: Any = sp.csr_array((data.dual, data.cols, starts), shape=data.shape)
    mine, twice = one.adjoint(data.dual), two.adjoint(data.dual)
    table = {
        "M x": (lambda: matrix @ x, lambda: mine.matvec(x), lambda: twice.matvec(x)),
        "M^T y": (lambda: matrix.T @ y, lambda: mine.rmatvec(y), lambda: twice.rmatvec(y)),
        "M X, 8 columns": (lambda: matrix @ block, lambda: mine.matmat(block), lambda: twice.matmat(block)),
        "A(u v^T)": (
            lambda: left[data.rows, 0] * right[data.cols, 0],
            lambda: one.image(pair),
            lambda: two.image(pair),
        ),
        "A(U V^T), rank 20": (None, lambda: one.image(factors), lambda: two.image(factors)),
    }
    print(f"\n{rows} x {cols}, {data.dual.size} entries (best of {repeats}); structure {one.nbytes / 1e6:.1f} MB")
    print(f"{'product':20s} {'ms':>9s} {'ours/SciPy':>11s} {'1 thread/2':>11s}")
    for name, (peer, single, double) in table.items():
        calls = {"single": single, "double": double} | ({"peer": peer} if peer else {})
        times = best_times(calls, repeats)
        ratio = f"{times['single'] / times['peer']:11.2f}" if peer else f"{'-':>11s}"
        print(f"{name:20s} {1e3 * times['single']:9.3f} {ratio} {times['single'] / times['double']:11.2f}")
        if peer:
            note(f"{data.dual.size} entries, {name}: SciPy / ours", times["peer"] / times["single"], "x")
        note(f"{data.dual.size} entries, {name}: 1 thread / 2 threads", times["single"] / times["double"], "times")


def exercise(rows: Any, cols: Any, shape: tuple[int, int], dual: Any) -> None:
    sampling = Sampling(rows, cols, shape)
    matrix = sampling.adjoint(dual)
    matrix.rmatvec(matrix.matvec(np.ones(shape[1])))
    sampling.image(LowRank(np.ones((shape[0], 1)), np.ones((shape[1], 1)), np.ones(1)))


def memory(shape: tuple[int, int], count: int) -> None:
    """Print the peak memory of building the map and taking all its products, as NumPy allocates it."""
    exercise(np.zeros(2, np.int32), np.zeros(2, np.int32), (1, 1), np.ones(2))
    exercise(np.array([1, 0]), np.array([1, 0]), (2, 2), np.ones(2))
    data = instance(*shape, count)
    for name, order in (("sorted by row", None), ("in random order", np.random.default_rng(2).permutation(count))):
        rows, cols = (data.rows, data.cols) if order is None else (data.rows[order], data.cols[order])
        tracemalloc.start()
        exercise(rows, cols, shape, data.dual)
        total = 1 + tracemalloc.get_traced_memory()[1] / data.coordinate_bytes
        tracemalloc.stop()
        print(f"peak memory, {count} entries {name}: {total:.2f} x (rows, columns, values), those included")
        note(f"{count} entries {name}: peak memory / triples", total, "share")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="the small instance only")
    size.add_argument("--full", action="store_true", help="up to 20 million entries")
    options = parser.parse_args()
    sizes = QUICK if options.quick else FULL if options.full else USUAL
    memory(sizes[-1][:2], sizes[-1][2])
    for rows, cols, count in sizes:
        measure(instance(rows, cols, count), repeats=200 if count < 1e5 else 60 if count < 1e7 else 5)


if __name__ == "__main__":
    main()
