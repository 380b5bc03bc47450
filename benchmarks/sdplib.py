"""Semidefinite programs of SDPLIB and the like by `unipd`, CSDP, QICS, SCS and Clarabel, quality recomputed outside.

    python benchmarks/sdplib.py [FILE ...] [--solvers unipd csdp qics scs clarabel] [--limit 100] [--quick] [--save F]

FILEs are in SDPA or SeDuMi format (these are converted to SDPA first, for all solvers alike); by default all *.dat-s in
sdplib and structural and *.mat.gz in dimacs of $UNIPD_DATA. Every solver runs in a process
of its own, asked for 1e-6 (CSDP: its default), and leaves X and y in a file; CPU seconds are those of the process, from
its start to its end. The DIMACS errors are computed here, from the data and those files, with the slack Z = sum y_i F_i
- F_0 formed anew. A program is solved if all of them are at most the accuracy; nearly, if at most ten times that. A
program called inf* or unbounded* is solved if the solver says that it has no solution. Refusals, crashes and the limit
are failures, and count with the limit in the shifted geometric means. With --save every outcome is appended to a file
of JSON lines, and those in it are not computed again: a run that was interrupted goes on, solvers can be added.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from figures import note
from unipd.apps.sdp import SDP
from unipd.apps.sdp.program import find_suffix
from unipd.io import SdpaProblem, read_sdpa

ACCURACY = 1e-6
SHIFT = 1.0
"""Seconds added to every time before the geometric mean, so that tiny ones do not rule it."""
SOLVERS = ("unipd", "csdp", "qics", "scs", "clarabel")
QUICK = ("truss1", "hinf9", "control1", "qap6", "mcp100", "theta1", "infd1", "infp1")


class Answer(NamedTuple):
    """What a solver left behind."""

    status: str
    blocks: list[Any]
    """X by blocks: matrices, and vectors for diagonal blocks."""
    y: Any


class Outcome(NamedTuple):
    """One line of the table."""

    seconds: float
    status: str
    error: float
    """The largest DIMACS error, inf without a point."""
    objective: float


def matrices(problem: SdpaProblem) -> tuple[list[Any], list[slice]]:
    """Return one sparse matrix per block, rows F_0, ..., F_m and columns its entries, and the slices of all entries."""
    found: list[Any] = []
    for index, size in enumerate(problem.block_sizes):
        here = np.flatnonzero(problem.block == index)
        row, col, value = problem.row[here], problem.col[here], problem.value[here]
        order = abs(size)
        if size < 0:
            places, rows, values = row, problem.constraint[here], value
            width = order
        else:
            off = row != col
            places = np.concatenate([row * order + col, (col * order + row)[off]])
            rows = np.concatenate([problem.constraint[here], problem.constraint[here][off]])
            values, width = np.concatenate([value, value[off]]), order * order
        found.append(sp.csr_array((values, (rows, places)), shape=(problem.m + 1, width)))
    ends = np.cumsum([part.shape[1] for part in found])
    return found, [slice(int(end) - part.shape[1], int(end)) for end, part in zip(ends, found, strict=True)]


def dimacs_error(problem: SdpaProblem, answer: Answer) -> tuple[float, float]:
    """Return the largest DIMACS error of X and y, and <F_0, X>."""
    parts, _ = matrices(problem)
    image = sum(part @ np.ravel(block) for part, block in zip(parts, answer.blocks, strict=True))
    smallest_x = smallest_z = math.inf
    for part, block, size in zip(parts, answer.blocks, problem.block_sizes, strict=True):
        slack = part.T @ np.concatenate([[-1.0], answer.y])
        smallest_x = min(smallest_x, _smallest(np.asarray(block), size))
        smallest_z = min(smallest_z, _smallest(slack if size < 0 else slack.reshape(size, size), size))
    largest_c = max((float(abs(part[[0]]).max()) for part in parts), default=0.0)
    largest_b, primal, dual = float(np.abs(problem.b).max()), float(image[0]), float(problem.b @ answer.y)
    errors = (
        float(np.linalg.norm(image[1:] - problem.b)) / (1.0 + largest_b),
        max(0.0, -smallest_x) / (1.0 + largest_b),
        max(0.0, -smallest_z) / (1.0 + largest_c),
        abs(dual - primal) / (1.0 + abs(primal) + abs(dual)),
    )
    return max(errors), primal


def _smallest(block: Any, size: int) -> float:
    return float(block.min()) if size < 0 else float(np.linalg.eigvalsh((block + block.T) / 2.0)[0])


# Each solver: a command, and how to read what it leaves. Those of Python run this file with --solve.


def run_solver(solver: str, path: Path, limit: float) -> Outcome:
    """Run a solver in a process of its own and measure what it leaves."""
    problem = read_sdpa(path)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "answer")
        command = {
            "unipd": ["unipd", "solve", path, "--accuracy", ACCURACY, "--quiet", "--json", "-", "--out", f"{out}.npz"],
            "csdp": ["csdp", path, out],
        }.get(solver, [sys.executable, __file__, "--solve", solver, path, f"{out}.npz"])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            cwd=folder,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit))),
        )
        if ended.returncode < 0:  # ended by the signal of the limit
            return Outcome(math.inf, "limit", math.inf, math.nan)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        answer = READERS.get(solver, _read_npz)(problem, out, ended)
    if answer.y is None or not np.isfinite(answer.y).all():
        return Outcome(seconds, answer.status, math.inf, math.nan)
    return Outcome(seconds, answer.status, *dimacs_error(problem, answer))


def _read_unipd(problem: SdpaProblem, out: Path, ended: Any) -> Answer:
    import unipd

    if ended.returncode not in (0, 3, 4, 5):
        return Answer(f"exit {ended.returncode}", [], None)
    status = json.loads(ended.stdout)["status"]
    result = unipd.load(f"{out}.npz")
    if result.x is None or status in ("infeasible", "unbounded"):
        return Answer(status, [], None)
    data = unipd.SDP.from_sdpa(problem).data
    blocks = [data.block(result.x, index) for index in range(len(data.blocks))]
    return Answer(
        status,
        [
            np.reshape(block, -1) if size < 0 else np.reshape(block, (size, size))
            for block, size in zip(blocks, problem.block_sizes, strict=True)
        ],
        result.dual,
    )


def _read_csdp(problem: SdpaProblem, out: Path, ended: Any) -> Answer:
    if ended.returncode in (1, 2):
        return Answer("infeasible", [], None)
    if not out.exists():
        return Answer(f"exit {ended.returncode}", [], None)
    with out.open() as stream:
        y = np.array(stream.readline().split(), float)
        rows = np.loadtxt(stream, ndmin=2)
    blocks = [np.zeros(-size) if size < 0 else np.zeros((size, size)) for size in problem.block_sizes]
    for _, block, i, j, value in rows[rows[:, 0] == 2.0]:
        part, first, second = blocks[int(block) - 1], int(i) - 1, int(j) - 1
        if part.ndim == 1:
            part[first] = value
        else:
            part[first, second] = part[second, first] = value
    return Answer({0: "solved", 3: "reduced accuracy"}.get(ended.returncode, f"exit {ended.returncode}"), blocks, y)


def _read_npz(problem: SdpaProblem, out: Path, ended: Any) -> Answer:
    path = Path(f"{out}.npz")
    if ended.returncode or not path.exists():
        lines = ended.stderr.strip().splitlines()
        return Answer(lines[-1][:40] if lines else f"exit {ended.returncode}", [], None)
    found = np.load(path)
    status, flat = str(found["status"]), found["x"]
    if flat.size == 0 or not np.isfinite(flat).all():
        return Answer(status, [], None)
    _, places = matrices(problem)
    blocks = [
        flat[place] if size < 0 else flat[place].reshape(size, size)
        for place, size in zip(places, problem.block_sizes, strict=True)
    ]
    return Answer(status, blocks, found["y"])


READERS: dict[str, Callable[[SdpaProblem, Path, Any], Answer]] = {"unipd": _read_unipd, "csdp": _read_csdp}


def solve_qics(problem: SdpaProblem) -> tuple[str, Any, Any]:
    """Solve by QICS; return its status, X with all blocks in one vector, and y."""
    import qics

    whole = sp.csr_matrix(sp.hstack(matrices(problem)[0]))
    cones = [qics.cones.NonNegOrthant(-n) if n < 0 else qics.cones.PosSemidefinite(n) for n in problem.block_sizes]
    model = qics.Model(c=-whole[[0]].toarray().T, A=whole[1:], b=problem.b[:, None], cones=cones)
    found = qics.Solver(model, tol_gap=ACCURACY, tol_feas=ACCURACY, verbose=0).solve()
    return found["sol_status"], found["s_opt"].vec[:, 0], found["y_opt"][:, 0]


def solve_scs(problem: SdpaProblem) -> tuple[str, Any, Any]:
    """Solve by SCS; the same."""
    import scs

    rows, fill, cone = _triangles(problem, lower=True)
    data = {"A": sp.csc_matrix(-rows[1:].T), "b": -rows[[0]].toarray()[0], "c": np.array(problem.b)}
    found = scs.SCS(data, cone, eps_abs=ACCURACY, eps_rel=ACCURACY, max_iters=10**7, verbose=False).solve()
    return found["info"]["status"], fill(found["y"]), found["x"]


def solve_clarabel(problem: SdpaProblem) -> tuple[str, Any, Any]:
    """Solve by Clarabel; the same."""
    import clarabel

    rows, fill, _ = _triangles(problem, lower=False)
    sizes = problem.block_sizes
    cones = [clarabel.NonnegativeConeT(-n) if n < 0 else clarabel.PSDTriangleConeT(n) for n in sizes]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = ACCURACY
    quadratic, b = sp.csc_matrix((problem.m, problem.m)), np.array(problem.b)
    matrix, right = sp.csc_matrix(-rows[1:].T), -rows[[0]].toarray()[0]
    found = clarabel.DefaultSolver(quadratic, b, matrix, right, cones, settings).solve()
    return str(found.status), fill(np.array(found.z)), np.array(found.x)


def _triangles(problem: SdpaProblem, *, lower: bool) -> tuple[Any, Callable[[Any], Any], dict[str, Any]]:
    """Return F_0, ..., F_m as rows over triangles by columns, entries off the diagonal times sqrt(2), and the inverse.

    SCS wants linear cones first.
    """
    parts, places = matrices(problem)
    order = sorted(range(len(parts)), key=lambda k: problem.block_sizes[k] > 0) if lower else list(range(len(parts)))
    rows: list[Any] = []
    back: list[tuple[slice, Any, Any]] = []
    for k in order:
        size = problem.block_sizes[k]
        if size < 0:
            chosen, factor = np.arange(-size), np.ones(-size)
        else:
            second, first = np.triu_indices(size) if lower else np.tril_indices(size)  # by columns
            chosen, factor = first * size + second, np.where(first == second, 1.0, math.sqrt(2.0))
        rows.append(parts[k][:, chosen] * factor)
        back.append((places[k], chosen, factor))

    def fill(flat: Any) -> Any:
        out, place = np.zeros(places[-1].stop), 0
        for (where, chosen, factor), k in zip(back, order, strict=True):
            size, part = problem.block_sizes[k], np.zeros(where.stop - where.start)
            part[chosen] = flat[place : place + chosen.size] / factor
            place += chosen.size
            if size > 0:
                matrix = part.reshape(size, size)
                part = np.ravel(matrix + matrix.T - np.diag(matrix.diagonal()))
            out[where] = part
        return out

    linear = sum(-size for size in problem.block_sizes if size < 0)
    return sp.csr_array(sp.hstack(rows)), fill, {"l": linear, "s": [n for n in problem.block_sizes if n > 0]}


PROGRAMS = {"qics": solve_qics, "scs": solve_scs, "clarabel": solve_clarabel}


def is_installed(solver: str) -> bool:
    """Whether a solver can be run here."""
    return shutil.which(solver) is not None if solver in ("unipd", "csdp") else bool(importlib.util.find_spec(solver))


def family_of(name: str) -> str:
    """Return the letters that a name begins with."""
    return re.match(r"[a-zA-Z]*", name).group() or name  # type: ignore[union-attr]


def grade(name: str, outcome: Outcome) -> int:
    """Return 2 for solved, 1 for nearly, 0 for a failure."""
    if name.startswith(("inf", "unbounded")):
        return 2 if re.search("infeas|unbounded", outcome.status.lower()) else 0
    return 2 if outcome.error <= ACCURACY else 1 if outcome.error <= 10.0 * ACCURACY else 0


def summarise(results: dict[str, dict[str, Outcome]], limit: float) -> None:
    """Print solved and nearly solved programs by family, and shifted geometric means of the seconds."""
    solvers = list(next(iter(results.values())))
    print(f"\n{'family':12}" + "".join(f"{solver:>16}" for solver in solvers) + "   solved + nearly / all")
    for family in sorted({family_of(name) for name in results}):
        names = [name for name in results if family_of(name) == family]
        cells = [[grade(name, results[name][solver]) for name in names] for solver in solvers]
        print(f"{family:12}" + "".join(f"{f'{c.count(2)} + {c.count(1)} / {len(c)}':>16}" for c in cells))
    for label, names in (("all", list(results)),):
        means: list[float] = []
        for solver in solvers:
            times = [results[n][solver].seconds if grade(n, results[n][solver]) else limit for n in names]
            means.append(math.exp(sum(math.log(min(t, limit) + SHIFT) for t in times) / len(times)) - SHIFT)
            solved = sum(grade(n, results[n][solver]) > 0 for n in names)
            note(f"{label}: {solver} solved", solved / len(names), "share")
            note(f"{label}: {solver} shifted geometric mean", means[-1], "CPU s")
        print(f"{'mean, CPU s':12}" + "".join(f"{mean:16.2f}" for mean in means))


def as_sdpa(path: Path, folder: Path) -> Path:
    """Return the path of a program in SDPA format, written to the folder if it is in another one."""
    if find_suffix(path) == ".dat-s":
        return path
    written = folder / f"{path.name.split('.')[0]}.dat-s"
    SDP.from_file(path).write(written)
    return written


def read_saved(save: Path | None) -> dict[tuple[str, str], Outcome]:
    """Return the outcomes in a file of JSON lines, by program and solver."""
    lines = save.read_text().splitlines() if save is not None and save.exists() else []
    return {(name, solver): Outcome(*figures) for name, solver, *figures in map(json.loads, lines)}


def compare(name: str, path: Path, solvers: list[str], limit: float, save: Path | None) -> dict[str, Outcome]:
    """Run all solvers on a program, but for outcomes that are saved; print and return what came out."""
    outcomes: dict[str, Outcome] = {}
    saved = read_saved(save)
    for solver in solvers:
        outcome = outcomes[solver] = saved.get((name, solver)) or run_solver(solver, path, limit)
        if save is not None and (name, solver) not in saved:
            with save.open("a") as file:
                print(json.dumps([name, solver, *outcome]), file=file)
        mark = {2: "", 1: "  nearly", 0: "  FAILED"}[grade(name, outcome)]
        figures = f"{outcome.seconds:8.2f} s  {outcome.objective:14.8g}  error {outcome.error:.0e}"
        print(f"{name:14} {solver:9} {figures}  {outcome.status}{mark}", flush=True)
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=SOLVERS)
    parser.add_argument("--limit", type=float, default=100.0, help="CPU seconds that a solver may take")
    parser.add_argument("--save", type=Path, help="file of JSON lines with outcomes, kept and continued")
    parser.add_argument("--quick", action="store_true", help="small programs only")
    parser.add_argument("--solve", nargs=3, metavar=("SOLVER", "FILE", "OUT"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.solve:
        warnings.simplefilter("ignore")
        status, x, y = PROGRAMS[given.solve[0]](read_sdpa(given.solve[1]))
        np.savez(given.solve[2], status=status, x=x, y=y)
        return
    folder = Path(os.environ.get("UNIPD_DATA", "data"))
    patterns = ("sdplib/*.dat-s", "structural/*.dat-s", "dimacs/*.mat.gz")
    files = given.files or [path for pattern in patterns for path in sorted(folder.glob(pattern))]
    files = [path.resolve() for path in files if not given.quick or path.name.split(".")[0] in QUICK]
    if not files:
        print("no files: set UNIPD_DATA or name some")
        return
    solvers = [solver for solver in given.solvers if is_installed(solver)]
    results: dict[str, dict[str, Outcome]] = {}
    with tempfile.TemporaryDirectory() as place:
        for path in files:
            name = path.name.split(".")[0]
            limit = 5.0 if given.quick else given.limit
            results[name] = compare(name, as_sdpa(path, Path(place)), solvers, limit, given.save)
    summarise(results, given.limit)


if __name__ == "__main__":
    main()
