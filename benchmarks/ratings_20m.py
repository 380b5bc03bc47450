"""AccUniPDGrad with a sketch on made-up ratings of the size of MovieLens 20M: memory, and time beyond the products.

    python benchmarks/ratings_20m.py [--quick] [--share 0.1] [--iterations 50]

138,000 users, 27,000 items, 20 million ratings of rank 10 with noise (``--share`` takes a part of all three), centred.
Prints the peak memory as a multiple of the ratings' own size (32-bit places, values) and the wall time of the run as a
multiple of (products) x (time of one product measured alone, half of them M x and half M^T y).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import unipd
from unipd.apps.completion.generated import generate
from unipd.maps import Sampling
from unipd.primal import SketchTracker

SHAPE, COUNT, RANK = (138_000, 27_000), 20_000_000, 10


def peak() -> int:
    """Return the largest resident memory since the start or the last call of :func:`forget_peak`, in bytes (Linux)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def forget_peak() -> None:
    """Begin to measure the peak anew: making up the ratings takes more than using them."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def one_product(sampling: Sampling, dual: np.ndarray, repeats: int = 5) -> float:
    """Return the seconds of one product with the sampled matrix, the mean of both directions."""
    matrix = sampling.adjoint(dual)
    x, y = np.ones(sampling.domain[1]), np.ones(sampling.domain[0])
    best = [float("inf")] * 2
    for _ in range(repeats + 1):
        for place, call in enumerate((lambda: matrix.matvec(x), lambda: matrix.rmatvec(y))):
            begun = time.perf_counter()
            call()
            best[place] = min(best[place], time.perf_counter() - begun)
    return sum(best) / 2


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the ratings")
    parser.add_argument("--share", type=float, default=1.0, help="share of the full size")
    parser.add_argument("--iterations", type=int, default=50)
    given = parser.parse_args()
    share = 0.01 if given.quick else given.share
    shape = (round(SHAPE[0] * share**0.5), round(SHAPE[1] * share**0.5))
    made = generate(shape, round(COUNT * share), rank=RANK)
    users, items, values = made.users, made.items, made.values
    radius = float(np.linalg.norm(made.left) * np.linalg.norm(made.right)) / 2
    del made
    values -= values.mean()
    size = users.nbytes + items.nbytes + values.nbytes
    forget_peak()
    before = peak()
    sampling = Sampling(users, items, shape)
    loss = unipd.couplings.LeastSquares(2.0 / values.size)
    problem = unipd.Problem(unipd.sharp.NuclearBall(shape, radius), sampling, values, loss)
    single = one_product(sampling, values)
    stop, tracker = unipd.MaxIterations(given.iterations), SketchTracker(shape, RANK)
    begun = time.perf_counter()
    result = unipd.solve(problem, unipd.AccUniPDGrad(eps=1e-3), accuracy=1e-9, stop=stop, tracker=tracker)
    seconds = time.perf_counter() - begun
    single = min(single, one_product(sampling, values))
    products = result.counts.matvecs
    print(f"{shape[0]} x {shape[1]}, {values.size} ratings of {size / 1e6:.0f} MB; one product {1e3 * single:.2f} ms")
    print(f"{result.iterations} iterations, {result.counts.oracle_calls} oracle calls, {products} products")
    print(f"objective {result.objective:.5f}, error of the sketch about {result.state.primal.error:.3g}")
    print(f"wall time {seconds:.1f} s = {seconds / (products * single):.2f} x products x one product (goal 1.3)")
    print(f"peak memory {peak() / size:.2f} x the ratings (goal 3)")
    print(f"  of which {before / size:.2f} x were there before the problem: ratings, interpreter, libraries")


if __name__ == "__main__":
    main()
