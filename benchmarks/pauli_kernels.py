"""Pauli kernels against a NumPy loop over strings and BLAS on the formed matrix, one and two threads, share of peak.

    python benchmarks/pauli_kernels.py [--quick | --full]

For each number of qubits q: n = ceil(2 p log10 p) random strings, single precision, smallest time of several calls.
Kernels take turns with each other; BLAS, with as many threads, has separate phases between theirs, since its
threads spin for a while after each call and would take the cores from whoever comes next. One and two kernel threads
are compared in one process. The loop over strings is timed on some of the strings and scaled up. BLAS multiplies
a matrix of the right size with other entries (its time does not depend on them). The share of peak counts the 4 p^2
fused multiply-adds of a complex matrix-vector product against those of a loop that does nothing else. The error is that
of the product, relative to the kernel in double precision. ``--full`` adds 14 qubits (the matrix alone is 2 GB).

A matrix must be formed before BLAS can multiply it. So the last table compares what a method needs, a dual vector,
some products and an image, by kernels and by dense matrices, and says which of the two ``PauliMap`` chooses by itself.

What limits a second thread at 12 qubits (CPU microseconds of one product of 2,830): 86 are serial, namely 21 to bring
the vector into SIMD units, 35 to sum the 32 chunks' vectors and 29 to bring the sum back; to wake a helper takes about
40; a chunk takes 92 to 132, so threads wait for each other for half of that at the end. By this account the gain is at
most 2,830 / (2,744 / 2 + 86 + 40 + 56) = 1.82; measured were 1.45 to 1.6, so more is lost to what the cores share. A
compiled sum and conversion would take 30 instead of 64.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from figures import note

QUICK, USUAL, FULL = [8], [8, 10, 12, 13], [8, 10, 12, 13, 14]
LOOP_STRINGS = 100
LANES = 8
FUSED = 1_000_000
ROUNDS, PAUSE = 3, 0.2
PRODUCTS = 10


def best_times(calls: dict[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """Return the smallest time of each call; they take turns so that a busy machine slows all alike."""
    times = {name: float("inf") for name in calls}
    for call in calls.values():
        call()
    end = time.perf_counter() + seconds
    while True:
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            times[name] = min(times[name], time.perf_counter() - begin)
        if time.perf_counter() > end:
            return times


def in_phases(phases: list[dict[str, Callable[[], Any]]], seconds: float) -> dict[str, float]:
    """Return the smallest times of calls in groups that must not disturb each other: a pause follows each group."""
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        for calls in phases:
            for name, value in best_times(calls, seconds / (ROUNDS * len(phases))).items():
                best[name] = min(value, best.get(name, value))
            time.sleep(PAUSE)
    return best


def peak_loop() -> Callable[[], None]:
    """Return a call of 10 FUSED independent fused multiply-adds of whole vectors."""
    from numba import njit

    from unipd.maps.pauli.simd import load, pointer, store

    @njit
    def loop(data: Any, rounds: int) -> None:
        place = pointer(data)
        x, y = load(place, 0), load(place, LANES)
        a, b, c, d, e, f, g, h, i, j = x, x, x, x, x, x, x, x, x, x
        for _ in range(rounds):
            a, b, c, d, e = a + x * y, b + x * y, c + x * y, d + x * y, e + x * y
            f, g, h, i, j = f + x * y, g + x * y, h + x * y, i + x * y, j + x * y
        store(place, 0, (a + b + (c + d)) + (e + f + (g + h + (i + j))))

    data = np.full(2 * LANES, 1e-12, np.float32)
    return lambda: loop(data, FUSED)


def string_loop(qubits: int, x: Any, z: Any, dual: Any, vector: Any) -> Callable[[], Any]:
    """Return the obvious product: one pass of NumPy over the vector for each string."""
    from unipd.maps.pauli.strings import bit_count, phases

    index = np.arange(1 << qubits)
    signs = (1 - 2 * (bit_count(np.arange(1 << qubits)) & 1)).astype(np.float32)
    weights = (dual * phases(x, z)).astype(np.complex64)

    def product() -> Any:
        total = np.zeros_like(vector)
        for mask, flips, weight in zip(x.tolist(), z.tolist(), weights, strict=True):
            total += weight * (signs[index & flips] * vector[index ^ mask])
        return total

    return product


def measure(qubits: int, threads: int, seconds: float) -> dict[str, float]:
    """Return the figures of products and images with this many threads, and with one for comparison."""
    from unipd.atoms import LowRank
    from unipd.maps.pauli import PauliMap, random_paulis

    x, z = random_paulis(qubits)
    rng = np.random.default_rng(1)
    dual = rng.standard_normal(x.size)
    vector = rng.standard_normal(2 << qubits).astype(np.float32).view(np.complex64)
    vector /= np.linalg.norm(vector)
    atom = LowRank(vector[:, None], vector[:, None], np.ones(1))
    kernels: dict[str, Callable[[], Any]] = {"peak": peak_loop()}
    begin = time.perf_counter()
    maps = {count: PauliMap(qubits, x, z, threads=count, method="matrix-free") for count in {1, threads}}
    operators = {count: paulis.adjoint(dual) for count, paulis in maps.items()}
    setup = (time.perf_counter() - begin) / len(maps)
    for count, paulis in maps.items():
        kernels[f"product {count}"] = lambda operator=operators[count]: operator.matvec(vector)
        kernels[f"image {count}"] = lambda paulis=paulis: paulis.image(atom)
    some = slice(None, None, max(x.size // LOOP_STRINGS, 1))
    loop = string_loop(qubits, x[some], z[some], dual[some], vector)
    filling = rng.standard_normal(1 << 16).astype(np.float32)
    matrix = np.resize(filling, 2 << (2 * qubits)).view(np.complex64).reshape(1 << qubits, 1 << qubits)
    times = in_phases([kernels, {"BLAS": lambda: matrix @ vector}, {"loop": loop}], seconds)
    times["loop"] *= x.size / x[some].size
    exact = PauliMap(qubits, x, z, "double", threads, method="matrix-free").adjoint(dual).matvec(vector)
    error = float(np.linalg.norm(operators[threads].matvec(vector) - exact) / np.linalg.norm(exact))
    share = 4.0**qubits * 4 / LANES / times[f"product {threads}"] / (threads * 10 * FUSED / times["peak"])
    return {**times, "setup": setup, "share": share, "error": error, "strings": float(x.size)}


def in_child(qubits: int, threads: int, seconds: float) -> dict[str, float]:
    """Measure in a fresh process, because BLAS takes its number of threads when it is loaded."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    command = [sys.executable, __file__, "--child", json.dumps([qubits, threads, seconds])]
    environment = {**os.environ, **dict.fromkeys(names, str(threads))}
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


def report(qubits: int, threads: int, found: dict[str, float]) -> None:
    product, image = found[f"product {threads}"], found[f"image {threads}"]
    print(
        f"q {qubits:2d}  n {found['strings']:7.0f}  threads {threads}  product {1e3 * product:8.3f} ms  "
        f"BLAS {1e3 * found['BLAS']:8.3f} ms, {found['BLAS'] / product:5.2f} x  loop {found['loop'] / product:6.0f} x  "
        f"peak {100 * found['share']:3.0f} %  error {found['error']:.0e}  image {1e3 * image:8.3f} ms  "
        f"setup {found['setup']:.2f} s",
        flush=True,
    )


def products(sizes: list[int], seconds: float) -> None:
    """Print and note the figures of single products."""
    for qubits in sizes:
        large = qubits >= 12
        for threads in (1, 2):
            found = in_child(qubits, threads, seconds)
            report(qubits, threads, found)
            product, kind = found[f"product {threads}"], f"{qubits} qubits, {threads} threads: product"
            note(f"{kind}, NumPy loop / unipd", found["loop"] / product, "x", 100.0 if large else None, at_least=True)
            least = 1.5 if qubits == 14 else 1.1 if large else None
            note(f"{kind}, BLAS / unipd", found["BLAS"] / product, "x", least, at_least=True)
            note(f"{kind}, share of peak", found["share"], "share")
        gains = {name: found[f"{name} 1"] / found[f"{name} 2"] for name in ("product", "image")}
        print(f"      two threads: product {gains['product']:.2f} x, image {gains['image']:.2f} x")
        for name, gain in gains.items():
            note(f"{qubits} qubits: {name}, one thread / two", gain, "x", 1.8 if large else None, at_least=True)


def choices(sizes: list[int], seconds: float) -> None:
    """Print and note what a dual vector, some products and an image take either way, and which way is chosen."""
    from unipd.atoms import LowRank
    from unipd.maps.pauli import PauliMap, random_paulis

    print(f"\nOne dual vector, {PRODUCTS} products, one image; one thread")
    for qubits in sizes:
        x, z = random_paulis(qubits)
        rng = np.random.default_rng(1)
        dual = rng.standard_normal(x.size)
        vector = (rng.standard_normal((2, 1 << qubits)).T.copy()).astype(np.float32).view(np.complex64)[:, 0]
        atom = LowRank(vector[:, None], vector[:, None], np.ones(1))

        def call(paulis: Any, dual: Any = dual, vector: Any = vector, atom: Any = atom) -> None:
            operator = paulis.adjoint(dual)
            for _ in range(PRODUCTS):
                operator.matvec(vector)
            paulis.image(atom)

        maps = {name: PauliMap(qubits, x, z, threads=1, method=name) for name in ("matrix-free", "dense")}
        times = best_times({name: lambda paulis=paulis: call(paulis) for name, paulis in maps.items()}, seconds)
        chosen = "dense" if PauliMap(qubits, x, z).dense else "matrix-free"
        other = min(value for name, value in times.items() if name != chosen)
        print(
            f"q {qubits:2d}  kernels {1e3 * times['matrix-free']:8.3f} ms  dense {1e3 * times['dense']:8.3f} ms  "
            f"chosen: {chosen}"
        )
        note(f"{qubits} qubits: other way / chosen one ({chosen})", other / times[chosen], "x", 1.0, at_least=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="8 qubits only, a few seconds")
    parser.add_argument("--full", action="store_true", help="up to 14 qubits; needs 3 GB")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(*json.loads(options.child))))
        return
    seconds = 0.1 if options.quick else 4.0
    products(QUICK if options.quick else FULL if options.full else USUAL, seconds)
    choices(*(([6, 8], 0.1) if options.quick else ([6, 7, 8, 9, 10], 0.3)))


if __name__ == "__main__":
    main()
