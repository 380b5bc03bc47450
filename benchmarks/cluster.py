"""The same solve on several MPI ranks: speed against threads, memory against shards, the cost of exchanges.

    python benchmarks/cluster.py [--quick]

Starts itself under mpirun with different numbers of ranks and threads, on this machine. The configurations
alternate, and the smallest of several repeats counts. Ends with the model of time and memory that the measured
constants give for 18 and 20 qubits; those lines are projections.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from figures import note
from unipd.maps.pauli import default_count

HERE = Path(__file__)
BIN = Path(sys.executable).parent
MPIRUN = str(BIN / "mpirun") if (BIN / "mpirun").exists() else shutil.which("mpirun")
THREADS = 16
"""Threads of a rank in the projections."""
BLOCKS = 64
"""Blocks of rows in which ratings are made, so that they do not depend on the number of ranks."""


def run_worker(ranks: int, threads: int, *words: Any) -> list[dict[str, Any]]:
    """Run one of the workers below and return what each rank printed."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(names, str(threads))}
    command = [str(MPIRUN), "-n", str(ranks), sys.executable, str(HERE), "--worker", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])


def print_figures(ranks: Any, figures: dict[str, Any]) -> None:
    """Print the figures of all ranks from rank 0."""
    everyone = ranks.allgather_objects(figures)
    if ranks.rank == 0:
        print(json.dumps(everyone))


def best(work: Any, ranks: Any, repeats: int) -> tuple[float, float]:
    """Return the least seconds of a call, ranks beginning together, and the seconds of them in exchanges."""
    times = []
    for _ in range(repeats):
        ranks.allreduce(np.zeros(1))
        begun = time.perf_counter()
        before = ranks.seconds
        work()
        times.append((time.perf_counter() - begun, ranks.seconds - before))
    return min(times)


def products(qubits: int, threads: int, repeats: int) -> None:
    """Worker: one product with the adjoint, and one image of a vector."""
    from unipd.atoms import LowRank
    from unipd.cluster import Ranks, distribute
    from unipd.maps.pauli import PauliMap, random_paulis

    ranks, rng = Ranks(), np.random.default_rng(0)
    x, z = random_paulis(qubits, seed=1)
    divided = distribute(PauliMap(qubits, x, z, "single", threads), ranks)
    vector = rng.standard_normal(1 << qubits) + 1j * rng.standard_normal(1 << qubits)
    vector = (vector / np.linalg.norm(vector)).astype(np.complex64)
    atom = LowRank(vector[:, None], vector[:, None], np.ones(1))
    operator = divided.adjoint(rng.standard_normal(x.size))
    operator.matvec(vector), divided.image(atom)
    sent = ranks.bytes
    operator.matvec(vector)
    figures: dict[str, Any] = {"bytes": ranks.bytes - sent, "tables": divided.part.nbytes, "strings": int(x.size)}
    for name, work in (("matvec", lambda: operator.matvec(vector)), ("image", lambda: divided.image(atom))):
        figures[name], figures[f"{name} exchange"] = best(work, ranks, repeats)
    print_figures(ranks, figures)


def exchanges(repeats: int) -> None:
    """Worker: seconds of a sum by its size."""
    from unipd.cluster import Ranks

    ranks = Ranks()
    sizes = [1 << bits for bits in (10, 14, 17, 20, 23)]
    times = {size: best(lambda size=size: ranks.allreduce(np.ones(size // 8)), ranks, repeats)[0] for size in sizes}
    print_figures(ranks, times)


def ratings(entries: int, steps: int) -> None:
    """Worker: a generated ratings matrix, every rank with its own rows, and some steps of Frank-Wolfe on it."""
    import unipd
    from unipd.cluster import DistributedRows, Ranks, session
    from unipd.couplings import LeastSquares
    from unipd.maps import Sampling
    from unipd.memory import peak_memory
    from unipd.sharp import NuclearBall

    ranks = Ranks()
    shape = (max(BLOCKS, entries // 140), max(10, entries // 700))
    ranks.allgather(np.ones(1 << 21))  # MPI's own buffers are not the solver's
    ranks.allreduce(np.ones(1 << 21))
    before = peak_memory()
    edges = np.arange(BLOCKS + 1) * shape[0] // BLOCKS
    mine = range(BLOCKS * ranks.rank // ranks.size, BLOCKS * (ranks.rank + 1) // ranks.size)
    parts = [block_of_ratings(block, edges, shape, entries // BLOCKS) for block in mine]
    rows, cols, values = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    del parts
    with session(threads=1):
        sampling = DistributedRows(Sampling(rows, cols, shape), ranks)
        data = rows.nbytes + cols.nbytes + sampling.nbytes
        target = ranks.allgather(values)  # from here on a vector like the others, which every rank has whole
        del values
        problem = unipd.Problem(
            NuclearBall(shape, 2.0 * math.sqrt(entries)), sampling, target, LeastSquares(2.0 / entries)
        )
        begun = time.perf_counter()
        result = unipd.solve(problem, "frank-wolfe", accuracy=1e-9, stop=unipd.MaxIterations(steps), tracker="atoms")
        seconds = time.perf_counter() - begun
    peak = peak_memory() - before
    print_figures(
        ranks, {"objective": result.objective, "peak": peak, "data": data, "vector": target.nbytes, "seconds": seconds}
    )


def block_of_ratings(block: int, edges: Any, shape: tuple[int, int], count: int) -> tuple[Any, Any, Any]:
    """Return the ratings of one block of users: sorted rows, columns and values of a noisy low-rank matrix."""
    rng = np.random.default_rng([7, block])
    rows = np.sort(rng.integers(edges[block], edges[block + 1], count)).astype(np.uint32)
    cols = (rng.random(count) ** 2 * shape[1]).astype(np.uint32)
    taste = np.sin(rows * 0.37)[:, None] * np.cos(cols * 0.11)[:, None]
    return rows, cols, 3.0 + taste[:, 0] + 0.3 * rng.standard_normal(count)


def show_products(sizes: list[int], repeats: int, turns: int) -> dict[str, float]:
    print("Pauli products, seconds (least of several):")
    heads = ("1 x 1", "1 x 2", "2 x 1", "speed-up", "/ threads", "exchange")
    print(f"{'qubits':>6} {'product':>8} " + " ".join(f"{head:>9}" for head in heads))
    constants: dict[str, float] = {}
    for qubits in sizes:
        shapes = {"one": (1, 1), "threads": (1, 2), "ranks": (2, 1)}
        runs = {
            name: [run_worker(r, t, "products", qubits, t, repeats) for _ in range(turns)]
            for name, (r, t) in shapes.items()
        }
        for product in ("matvec", "image"):
            least = {name: min(max(rank[product] for rank in run) for run in several) for name, several in runs.items()}
            share = min(min(rank[f"{product} exchange"] / rank[product] for rank in run) for run in runs["ranks"])
            gain, relative = least["one"] / least["ranks"], least["ranks"] / least["threads"]
            print(
                f"{qubits:>6} {product:>8} {least['one']:>9.4f} {least['threads']:>9.4f} {least['ranks']:>9.4f}"
                f" {gain:>8.2f}x {relative:>8.2f}x {100 * share:>8.1f}%"
            )
            note(f"{qubits} qubits, {product}: 2 ranks against 1", gain, "x", 1.7, at_least=True)
            note(f"{qubits} qubits, {product}: 2 ranks / 2 threads", relative, "times", 1.1)
            constants[product] = least["one"]
        one = runs["one"][0][0]
        constants |= {"qubits": qubits, "tables": one["tables"] / one["strings"], "bytes": runs["ranks"][0][0]["bytes"]}
    return constants


def show_exchanges(repeats: int) -> tuple[float, float]:
    """Print the cost of a sum on 2 ranks; return the fitted latency and seconds per byte."""
    times = {int(size): seconds for size, seconds in run_worker(2, 1, "exchanges", repeats)[0].items()}
    print(
        "\nA sum on 2 ranks:",
        ", ".join(f"{size / 1e3:.0f} kB {1e3 * seconds:.3f} ms" for size, seconds in times.items()),
    )
    largest, small = max(times), min(times)
    return times[small], (times[largest] - times[small]) / (largest - small)


def show_ratings(entries: int, steps: int, counts: tuple[int, ...]) -> None:
    print(f"\n{entries:,} ratings, {steps} steps of Frank-Wolfe; memory of a rank above imports and MPI's buffers:")
    print(f"{'ranks':>6} {'data':>10} {'peak':>10} {'data/ranks + vectors':>21} {'objective':>16} {'seconds':>8}")
    single: dict[str, Any] = {}
    for ranks in counts:
        run = run_worker(ranks, 1, "ratings", entries, steps)
        data, peak = (max(rank[name] for rank in run) for name in ("data", "peak"))
        single = single or {"data": data, "rest": peak - data}
        allowed = single["data"] / ranks + single["rest"]
        print(
            f"{ranks:>6} {data / 1e6:>7.0f} MB {peak / 1e6:>7.0f} MB {allowed / 1e6:>18.0f} MB"
            f" {run[0]['objective']:>16.10f} {run[0]['seconds']:>8.1f}"
        )
        note(f"{entries} ratings, {ranks} ranks: peak / (data / ranks + vectors)", peak / allowed, "times", 1.05)


def show_tomography(qubits: int, ranks: int = 2) -> None:
    words = ["unipd", "tomography", "--simulate", "random", "--qubits", str(qubits), "--accuracy", "1e-2", "--quiet"]
    command = [str(MPIRUN), "-n", str(ranks), sys.executable, "-m", *words, "--seed", "1", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found = json.loads(done.stdout)
    memory = max(found["peak_memory_bytes_by_rank"])
    print(
        f"\n{qubits} qubits on {ranks} ranks: relative residual {found['relative_residual']:.1e}"
        f" in {found['seconds']:.1f} s, {found['matvecs']} products, {memory / 1e6:.0f} MB a rank"
    )
    note(f"{qubits} qubits to 1e-2 on {ranks} ranks", found["seconds"], "s")
    note(f"{qubits} qubits on {ranks} ranks, memory of a rank", memory, "bytes")


def show_model(constants: dict[str, float], latency: float, byte: float) -> None:
    """Print the projected time and memory of an iteration, from the constants of the largest size measured."""
    print(f"\nProjected (not measured): ranks of {THREADS} threads that scale ideally, exchanges as measured here;")
    print("an iteration is one product with the adjoint and one image")
    heads = ("product", "image", "of both exchanged", "sent", "memory per rank")
    print(f"{'qubits':>6} {'cores':>6} {'ranks':>6} " + " ".join(f"{head:>10}" for head in heads))
    for qubits in (18, 20):
        for cores in (64, 1024):
            ranks = cores // THREADS
            growth = work(qubits) / work(int(constants["qubits"])) / cores
            size, strings = 1 << qubits, default_count(qubits)
            sums, joins = (8 * count * (ranks - 1) / ranks for count in (2 * size, strings))
            product, image = 2 * ranks * latency + sums * byte, ranks * latency + joins * byte
            memory = 2.5e8 + strings * (constants["tables"] / ranks + 20 + 10 * 8) + 40 * 8 * size
            print(
                f"{qubits:>6} {cores:>6} {ranks:>6} {constants['matvec'] * growth + product:>8.3f} s"
                f" {constants['image'] * growth + image:>8.3f} s {product + image:>15.3f} s"
                f" {(sums + joins) / 1e6:>7.1f} MB {memory / 1e9:>11.2f} GB"
            )


def work(qubits: int) -> float:
    """Return the sweeps of a product: pairs of x masks, each over all entries."""
    size = 1 << qubits
    sweeps = max(1.0, default_count(qubits) / size / 2 * 2 / 6)
    return size / 2 * size * sweeps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small instances, seconds")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        globals()[options.worker[0]](*map(int, options.worker[1:]))
        return
    if MPIRUN is None:
        print('mpirun is not installed: pip install "unipd[cluster]"')
        return
    constants = show_products(*(([9], 3, 1) if options.quick else ([13, 14], 15, 2)))
    latency, byte = show_exchanges(5 if options.quick else 200)
    show_ratings(*((50_000, 2, (1, 2)) if options.quick else (20_000_000, 3, (1, 2, 4))))
    show_tomography(8 if options.quick else 16)
    show_model(constants, latency, byte)


if __name__ == "__main__":
    main()
