"""AccUniPDGrad with a sketch on synthetic ratings of the size of MovieLens 20M: memory, and time beyond the products.

    python benchmarks/ratings_20m.py [--quick] [--share 0.1] [--iterations 50] [--double]

138,000 users, 27,000 items, 20 million ratings of rank 10 with noise (``--share`` takes a part of the ratings, and its
square root of users and items), centred. Single precision, which holds ratings exactly, unless ``--double``. Prints
- the peak memory of the process during the runs, of which the interpreter with its libraries is a fixed part, as a
  multiple of two sizes of the ratings as triples (COO): with two 32-bit indices and a 64-bit value, as ratings come (16
  bytes per rating), to which the goal of 3 refers; and with a 32-bit value, as the single precision run has them (12);
- time and peak memory of generating the ratings, and of building map and problem from them, each separately, after a
  small instance that loads and compiles what they need;
- the wall time of the run as a multiple of (products) x (time of one product measured alone, half of them M x and half
  M^T y). Products are those of the Lanczos runs and the images A(u v^T) of atoms; an image alone takes longer than a
  product (it writes all its entries), so the multiple is given with images at their own time as well.
A run of two iterations comes first, so that nothing is compiled and no memory is new to the machine in what is timed.
Neighbours on a shared machine come and go, and with them the memory's bandwidth: a product alone is timed before the
run, in about ten pauses of it whose time is subtracted, and after it; the median is taken. An image is timed after it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import unipd
from figures import note
from unipd._typing import Array
from unipd.atoms import LowRank
from unipd.maps import Sampling
from unipd.reproduce import SyntheticRatings, generate_ratings
from unipd.trackers import SketchTracker

SHAPE, COUNT, RANK = (138_000, 27_000), 20_000_000, 10
TRIPLE, SHORT_TRIPLE = 16, 12
"""Bytes of a rating: two 32-bit indices and a 64-bit value, or a 32-bit one."""


def peak() -> int:
    """Return the largest resident memory since the start or the last call of :func:`forget_peak`, in bytes (Linux)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def forget_peak() -> None:
    """Restart the measurement of the peak."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


class Counted(Sampling):
    """A sampling map that counts the images it makes."""

    images = 0

    def image(self, atom: Any) -> Array:
        """Count and make an image."""
        self.images += 1
        return super().image(atom)

    def image_lines(self, atom: Any) -> Any:
        """Count an image that is made in parts."""
        self.images += 1
        return super().image_lines(atom)


def median_seconds(call: Callable[[], object], repeats: int = 3) -> float:
    """Return the median time of a call."""
    spent: list[float] = []
    for _ in range(repeats):
        begun = time.perf_counter()
        call()
        spent.append(time.perf_counter() - begun)
    return float(np.median(spent))


class Alone:
    """Times of one product with the sampled matrix, the mean of both directions, taken before, in and after a run."""

    def __init__(self, sampling: Sampling, dual: Array, every: int) -> None:
        self._matrix, self._every = sampling.adjoint(dual), every
        self._x, self._y = (np.ones(size, dual.dtype) for size in reversed(sampling.domain))
        self.taken: list[float] = []
        self.spent = 0.0
        """Seconds of all that was timed."""

    def take(self) -> None:
        """Time it now."""
        begun = time.perf_counter()
        forward = median_seconds(lambda: self._matrix.matvec(self._x))
        backward = median_seconds(lambda: self._matrix.rmatvec(self._y))
        self.taken.append(0.5 * (forward + backward))
        self.spent += time.perf_counter() - begun

    def __call__(self, info: Any) -> None:
        """Time it in a pause of a run now and then."""
        if info.state.iteration % self._every == 0:
            self.take()


def image_seconds(sampling: Sampling, dtype: type) -> float:
    """Return the time of one image of an atom."""
    left, right = (np.ones((size, 1), dtype) for size in sampling.domain)
    return median_seconds(lambda: sampling.image(LowRank(left, right, np.ones(1, dtype))))


class Stage:
    """Seconds and peak memory of what is done inside of it."""

    def __enter__(self) -> Stage:
        forget_peak()
        self.before, self._begun = peak(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds, self.peak = time.perf_counter() - self._begun, peak()

    def describe(self) -> str:
        """Return them for people."""
        return f"{self.seconds:.1f} s, from {self.before / 1e6:.0f} MB to a peak of {self.peak / 1e6:.0f} MB"


def ratings(share: float, dtype: type) -> SyntheticRatings:
    """Generate the ratings, centred."""
    shape = (round(SHAPE[0] * share**0.5), round(SHAPE[1] * share**0.5))
    made = generate_ratings(shape, round(COUNT * share), rank=RANK, dtype=dtype)
    made.values[...] -= made.values.mean(dtype=np.float64)
    return made


def ratings_problem(made: SyntheticRatings, dtype: type) -> unipd.Problem:
    """Return the problem of the ratings, with its own map."""
    radius = float(np.linalg.norm(made.left) * np.linalg.norm(made.right)) / 2
    sampling = Counted(made.users, made.items, made.shape, dtype)
    loss = unipd.couplings.LeastSquares(2.0 / made.values.size)
    return unipd.Problem(unipd.sharp.NuclearBall(made.shape, radius), sampling, made.values, loss)


def print_memory(highest: int, held: int, bare: int, count: int) -> None:
    """Print the peak of the runs relative to both sizes of the ratings."""
    size, short = TRIPLE * count, SHORT_TRIPLE * count
    print(f"peak memory of the runs {highest / 1e6:.0f} MB, interpreter included ({bare / 1e6:.0f} MB at the start)")
    print(f"  = {highest / size:.2f} x the ratings as they come, with 64-bit values: {size / 1e6:.0f} MB (goal 3)")
    print(f"  = {highest / short:.2f} x the ratings with 32-bit values: {short / 1e6:.0f} MB")
    print(f"  before the runs {held / 1e6:.0f} MB = {held / size:.2f} x, {held / short:.2f} x")


def note_memory(title: str, count: int, highest: int, constructing: Stage) -> None:
    """Note the peak of the runs, and what building the map took."""
    goal = 3.0 if count > COUNT // 2 else None  # in small instances the interpreter is most of the memory
    note(f"{title}: peak memory / ratings with 64-bit values", highest / (TRIPLE * count), "share", goal)
    note(f"{title}: peak memory / ratings with 32-bit values", highest / (SHORT_TRIPLE * count), "share")
    note(f"{title}: making the map", constructing.seconds, "s")
    note(f"{title}: peak memory of making the map / ratings", constructing.peak / (TRIPLE * count), "share")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the ratings")
    parser.add_argument("--share", type=float, default=1.0, help="share of the full size")
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--double", action="store_true", help="double precision")
    given = parser.parse_args()
    dtype = np.float64 if given.double else np.float32
    ratings_problem(ratings(1e-4, dtype), dtype)  # loads and compiles
    bare = peak()
    with Stage() as generating:
        made = ratings(0.01 if given.quick else given.share, dtype)
    with Stage() as constructing:
        problem = ratings_problem(made, dtype)
    del made
    forget_peak()
    held = peak()
    sampling = problem.map
    assert isinstance(sampling, Counted)

    alone = Alone(sampling, problem.b, max(1, given.iterations // 10))

    def run(iterations: int, callback: Alone | None = None) -> unipd.Result:
        stop, tracker = unipd.MaxIterations(iterations), SketchTracker(sampling.domain, RANK, dtype=dtype)
        method = unipd.AccUniPDGrad(eps=1e-3)
        return unipd.solve(problem, method, accuracy=1e-9, stop=stop, tracker=tracker, callback=callback)

    run(2)
    alone.take()
    sampling.images, before = 0, alone.spent
    begun = time.perf_counter()
    result = run(given.iterations, alone)
    seconds, images = time.perf_counter() - begun - (alone.spent - before), sampling.images
    alone.take()
    product, image, highest = float(np.median(alone.taken)), image_seconds(sampling, dtype), peak()
    products = result.counts.matvecs
    rows, columns = sampling.domain
    count = problem.b.size
    print(f"{rows} x {columns}, {count} ratings, {problem.dtype}")
    print(f"making the ratings up: {generating.describe()}")
    print(f"making the map and the problem: {constructing.describe()}")
    print(f"{result.iterations} iterations, {result.counts.oracle_calls} oracle calls, {products} products,", end=" ")
    print(f"{images} of them images")
    print(f"objective {result.objective:.5f}, error of the sketch about {result.tracker_error:.3g}")
    ratio = seconds / (products * product)
    print(f"wall time {seconds:.1f} s = {ratio:.2f} x products x {1e3 * product:.2f} ms, one product (goal 1.3)")
    fair = seconds / ((products - images) * product + images * image)
    print(f"  = {fair:.2f} x what they take with images at their own time, {1e3 * image:.2f} ms")
    print_memory(highest, held, bare, count)
    title, whole = f"{count} ratings, {'double' if given.double else 'single'} precision", count > COUNT // 2
    note_memory(title, count, highest, constructing)
    note(f"{title}: time / products, images at their own time", fair, "share")
    note(f"{title}: time / products", ratio, "share", 1.3 if whole else None)


if __name__ == "__main__":
    main()
