"""Pauli kernels against a NumPy loop over strings and BLAS on the formed matrix, one and two threads, share of peak.

    python benchmarks/pauli_kernels.py [--quick | --full]

For each number of qubits q: n = ceil(2 p log10 p) random strings, single precision. Every ratio comes from calls
that took turns in one process, with as many BLAS threads as kernel threads, smallest time of several. The loop over
strings is timed on some of the strings and scaled up. BLAS multiplies a matrix of the right size with other
entries (its time does not depend on them). The share of peak counts the 4 p^2 fused multiply-adds of a complex
matrix-vector product against those of a loop that does nothing else. The error is that of the product, relative to
the kernel in double precision. ``--full`` adds 14 qubits (the matrix alone is 2 GB).
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

QUICK, USUAL, FULL = [8, 10], [8, 10, 12, 13], [8, 10, 12, 13, 14]
LOOP_STRINGS = 100
LANES = 8
ROUNDS = 1_000_000


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


def peak_loop() -> Callable[[], None]:
    """Return a call of 10 ROUNDS independent fused multiply-adds of whole vectors."""
    from numba import njit

    from unipd.maps.pauli.pointers import pointer
    from unipd.maps.pauli.vectors import add, load, plus_product, store

    @njit
    def loop(data: Any, rounds: int) -> None:
        place = pointer(data)
        x, y = load(place, 0), load(place, LANES)
        a, b, c, d, e, f, g, h, i, j = x, x, x, x, x, x, x, x, x, x
        for _ in range(rounds):
            a, b, c = plus_product(a, x, y), plus_product(b, x, y), plus_product(c, x, y)
            d, e, f = plus_product(d, x, y), plus_product(e, x, y), plus_product(f, x, y)
            g, h = plus_product(g, x, y), plus_product(h, x, y)
            i, j = plus_product(i, x, y), plus_product(j, x, y)
        store(place, 0, add(add(add(a, b), add(c, d)), add(add(e, f), add(add(g, h), add(i, j)))))

    data = np.full(2 * LANES, 1e-12, np.float32)
    return lambda: loop(data, ROUNDS)


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


def measure(qubits: int, threads: int, seconds: float, blas: bool) -> dict[str, float]:
    from unipd.atoms import LowRank
    from unipd.maps.pauli import PauliMap, random_paulis

    x, z = random_paulis(qubits)
    begin = time.perf_counter()
    paulis = PauliMap(qubits, x, z, threads=threads, method="matrix-free")
    setup = time.perf_counter() - begin
    rng = np.random.default_rng(1)
    dual = rng.standard_normal(x.size)
    vector = rng.standard_normal(2 << qubits).astype(np.float32).view(np.complex64)
    vector /= np.linalg.norm(vector)
    operator = paulis.adjoint(dual)
    atom = LowRank(vector[:, None], vector[:, None], np.ones(1))
    calls: dict[str, Callable[[], Any]] = {
        "product": lambda: operator.matvec(vector),
        "image": lambda: paulis.image(atom),
        "peak": peak_loop(),
    }
    if blas:
        filling = rng.standard_normal(1 << 16).astype(np.float32)
        matrix = np.resize(filling, 2 << (2 * qubits)).view(np.complex64).reshape(1 << qubits, 1 << qubits)
        calls["BLAS"] = lambda: matrix @ vector
    some = slice(None, None, max(x.size // LOOP_STRINGS, 1))
    calls["loop"] = string_loop(qubits, x[some], z[some], dual[some], vector)
    times = best_times(calls, seconds)
    times["loop"] *= x.size / x[some].size
    exact = PauliMap(qubits, x, z, "double", threads, method="matrix-free").adjoint(dual).matvec(vector)
    error = float(np.linalg.norm(operator.matvec(vector) - exact) / np.linalg.norm(exact))
    share = 4.0**qubits * 4 / LANES / times["product"] / (threads * 10 * ROUNDS / times["peak"])
    return {**times, "setup": setup, "share": share, "error": error, "strings": float(x.size)}


def in_child(qubits: int, threads: int, seconds: float, blas: bool) -> dict[str, float]:
    """Measure in a fresh process, because BLAS takes its number of threads when it is loaded."""
    count = str(threads)
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    command = [sys.executable, __file__, "--child", json.dumps([qubits, threads, seconds, blas])]
    environment = {**os.environ, **dict.fromkeys(names, count)}
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


def report(qubits: int, threads: int, found: dict[str, float]) -> None:
    product, blas = found["product"], found.get("BLAS")
    against = f"BLAS {1e3 * blas:8.2f} ms, {blas / product:5.2f} x" if blas else "BLAS not run          "
    print(
        f"q {qubits:2d}  n {found['strings']:7.0f}  threads {threads}  product {1e3 * product:8.3f} ms  {against}  "
        f"loop {found['loop'] / product:6.0f} x  peak {100 * found['share']:3.0f} %  error {found['error']:.0e}  "
        f"image {1e3 * found['image']:8.3f} ms  setup {found['setup']:.2f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="8 and 10 qubits only, a few seconds")
    parser.add_argument("--full", action="store_true", help="up to 14 qubits; needs 3 GB")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(*json.loads(options.child))))
        return
    seconds = 0.5 if options.quick else 3.0
    for qubits in QUICK if options.quick else FULL if options.full else USUAL:
        found = {threads: in_child(qubits, threads, seconds, True) for threads in (1, 2)}
        for threads, times in found.items():
            report(qubits, threads, times)
        products, images = ([found[t][name] for t in (1, 2)] for name in ("product", "image"))
        note(f"{qubits} qubits: product, NumPy loop / unipd", found[1]["loop"] / found[1]["product"], "x")
        note(f"{qubits} qubits: product, BLAS / unipd", found[1]["BLAS"] / found[1]["product"], "x")
        note(f"{qubits} qubits: product, one thread / two", products[0] / products[1], "x")
        print(f"      two threads: product {products[0] / products[1]:.2f} x, image {images[0] / images[1]:.2f} x")


if __name__ == "__main__":
    main()
