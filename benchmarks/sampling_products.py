"""Products with a sampled matrix against SciPy's sparse products, one and two threads, and the memory they need.

    python benchmarks/sampling_products.py [--quick | --full]

Every line compares times of alternating calls in the same run (smallest of several repeats). SciPy's products have one
thread. Columns: milliseconds of SciPy; our time with ONE thread over SciPy's (goal: at most 1.1); SciPy's time over
ours with TWO threads (goal: at least 1.7); our one thread over our two. The line "read" is what the machine allows: the
values and places of the matrix are only read and added up. Then follows from how many entries on a second thread pays,
with the threads forced (by default products of fewer than 2^19 multiplications stay in one). ``--full`` adds 20 million
entries and the peak memory as a multiple of the measurements' own size (rows, columns and values).
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
from numba import njit

from figures import note
from unipd._util.threads import run_chunks
from unipd.atoms import LowRank
from unipd.maps import Sampling
from unipd.maps import sampling as pattern

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


@njit(nogil=True, fastmath=True)
def read(places: Any, values: Any) -> float:
    """Read everything that a product reads in order, and nothing at random."""
    total = 0.0
    for k in range(values.size):
        total += values[k]
    check = places.dtype.type(0)
    for k in range(places.size):
        check += places[k]
    return total + check


def read_all(places: Any, values: Any, threads: int) -> None:
    halves = np.linspace(0, values.size, threads + 1).astype(int)
    run_chunks(lambda c: read(places[halves[c] : halves[c + 1]], values[halves[c] : halves[c + 1]]), threads, threads)


def scipy_matrix(data: Instance) -> Any:
    starts = np.searchsorted(data.rows, np.arange(data.shape[0] + 1)).astype(np.int32)
    return sp.csr_array((data.dual, data.cols, starts), shape=data.shape)


def products(data: Instance) -> dict[str, tuple[Callable[[], Any] | None, Callable[[], Any], Callable[[], Any]]]:
    """Return SciPy's product, ours with one thread and ours with two, by name."""
    one, two = (Sampling(data.rows, data.cols, data.shape, threads=threads) for threads in (1, 2))
    rng = np.random.default_rng(1)
    rows, cols = data.shape
    x, y, block = rng.standard_normal(cols), rng.standard_normal(rows), rng.standard_normal((cols, 8))
    left, right = rng.standard_normal((rows, 20)), rng.standard_normal((cols, 20))
    pair = LowRank(left[:, :1], right[:, :1], np.ones(1))
    factors = LowRank(left, right, np.ones(20))
    matrix = scipy_matrix(data)
    mine, twice = one.adjoint(data.dual), two.adjoint(data.dual)
    places = one.pattern.places
    return {
        "read": (None, lambda: read_all(places, data.dual, 1), lambda: read_all(places, data.dual, 2)),
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


def measure(data: Instance, repeats: int) -> None:
    rows, cols = data.shape
    count = data.dual.size
    print(f"\n{rows} x {cols}, {count} entries (best of {repeats})")
    print(f"{'':20s} {'SciPy':>9s} {'1 thread':>9s} {'2 threads':>9s} | {'ratios of times':>40s}")
    titles = ("1 thread/SciPy", "SciPy/2 threads", "1 thread/2")
    print(f"{'':20s} {'ms':>9s} {'ms':>9s} {'ms':>9s} | {titles[0]:>15s} {titles[1]:>16s} {titles[2]:>11s}")
    for name, (peer, single, double) in products(data).items():
        times = best_times({"single": single, "double": double} | ({"peer": peer} if peer else {}), repeats)
        one, two, other = times["single"], times["double"], times.get("peer")
        peers = ("-", "-", "-") if other is None else (f"{1e3 * other:.3f}", f"{one / other:.2f}", f"{other / two:.2f}")
        print(
            f"{name:20s} {peers[0]:>9s} {1e3 * one:9.3f} {1e3 * two:9.3f} | "
            f"{peers[1]:>15s} {peers[2]:>16s} {one / two:11.2f}"
        )
        if other is not None:
            matrix = name in ("M x", "M^T y")
            note(f"{count} entries, {name}: 1 thread / SciPy", one / other, "share", 1.1 if matrix else None)
            note(
                f"{count} entries, {name}: SciPy / 2 threads",
                other / two,
                "times",
                1.7 if matrix else None,
                at_least=True,
            )
        note(f"{count} entries, {name}: 1 thread / 2 threads", one / two, "times")


def threshold(repeats: int) -> None:
    """Print the gain from a second thread for products of growing size, with the threads forced."""
    pattern._SERIAL_WORK = 0
    print(f"\nM x with 30 entries per row: the gain from a second thread (best of {repeats})")
    x = np.ones(2000)
    for count in (30_000, 90_000, 200_000, 500_000, 1_000_000):
        data = instance(count // 30, x.size, count)
        one, two = (Sampling(data.rows, data.cols, data.shape, threads=n).adjoint(data.dual) for n in (1, 2))
        times = best_times({"one": lambda m=one: m.matvec(x), "two": lambda m=two: m.matvec(x)}, repeats)
        print(
            f"{count:9d} entries: {1e6 * times['one']:7.0f} us, two threads {1e6 * times['two']:7.0f} us: "
            f"{times['one'] / times['two']:.2f} times as fast"
        )


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
        measure(instance(rows, cols, count), repeats=400 if count < 1e5 else 100 if count < 1e7 else 9)
    threshold(repeats=300)


if __name__ == "__main__":
    main()
