"""Run benchmarks and collect their figures in one table.

``python benchmarks/runner.py --list`` lists them, ``--quick`` runs small instances that take seconds each, and names
select some: ``python benchmarks/runner.py overhead first_order --json figures.json``. The scripts' own output goes to
standard error. Exit code: 0 when every script ran (and, without ``--quick``, met its goals), 3 when a goal was missed,
1 when a script failed or timed out, 2 for an unknown name.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from figures import VARIABLE

FOLDER = Path(__file__).parent
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_HEAD = ("benchmark", "figure", "value", "goal", "")


@dataclass(frozen=True)
class Outcome:
    """What running a script gave."""

    name: str
    seconds: float
    exit_code: int | None
    """Exit code of the script; None after a timeout."""
    figures: list[dict[str, Any]]


def find_benchmarks(folder: Path = FOLDER) -> dict[str, Path]:
    """Return the scripts of a folder by name."""
    scripts = (path for path in sorted(folder.glob("*.py")) if path.name != Path(__file__).name)
    return {path.stem: path for path in scripts if "__main__" in path.read_text(encoding="utf-8")}


def question(script: Path) -> str:
    """Return what a script measures: the first line of its docstring."""
    documentation = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    return documentation.split("\n")[0].rstrip(".")


def run_benchmark(name: str, script: Path, *, quick: bool, timeout: float | None = None) -> Outcome:
    """Run a script in its own process, with its output on standard error."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "figures.jsonl")
        begin = time.perf_counter()
        try:
            code: int | None = subprocess.run(
                [sys.executable, str(script), *(["--quick"] if quick else [])],
                env={**os.environ, VARIABLE: str(file)},
                stdin=subprocess.DEVNULL,
                stdout=2,
                timeout=timeout,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            code = None
        seconds = time.perf_counter() - begin
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return Outcome(name, seconds, code, [json.loads(line) for line in lines])


def exit_code(outcomes: Sequence[Outcome], *, quick: bool) -> int:
    """Return the exit code that the outcomes mean."""
    if any(outcome.exit_code != 0 for outcome in outcomes):
        return 1
    missed = any(figure["met"] is False for outcome in outcomes for figure in outcome.figures)
    return 3 if missed and not quick else 0


def table_rows(outcome: Outcome, *, quick: bool) -> list[tuple[str, ...]]:
    """Return one row for the script and one for each of its figures."""
    ending = {0: "ran", None: "timed out"}.get(outcome.exit_code, f"failed ({outcome.exit_code})")
    rows = [(outcome.name, ending, f"{outcome.seconds:.1f} s", "", "")]
    for figure in outcome.figures:
        side = "at least" if figure["at_least"] else "at most"
        goal = "" if figure["goal"] is None or quick else f"{side} {figure['goal']:g}"
        verdict = "" if figure["met"] is None or quick else "met" if figure["met"] else "NOT met"
        value = "unknown" if figure["value"] is None else f"{figure['value']:.4g} {figure['unit']}".strip()
        rows.append(("", figure["name"], value, goal, verdict))
    return rows


def describe_machine() -> dict[str, Any]:
    """Return what figures depend on: processor, cores, load, threads and versions."""
    packages = ("unipd", "numpy", "scipy", "numba")
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "threads": {name: os.environ[name] for name in _THREADS if name in os.environ},
        "versions": {"python": platform.python_version()} | {name: metadata.version(name) for name in packages},
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8", errors="replace").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


def _print_outcomes(outcomes: Sequence[Outcome], machine: dict[str, Any], *, quick: bool) -> None:
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    threads = ", ".join(f"{name}={value}" for name, value in machine["threads"].items()) or "threads not limited"
    print(f"{machine['processor']}, {machine['cores']} cores, {machine['system']}; {threads}; {versions}")
    _print_table([_HEAD, *(row for outcome in outcomes for row in table_rows(outcome, quick=quick))])


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    """Run the benchmarks that the arguments name and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="benchmarks to run (default: all)")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and exit")
    parser.add_argument("--quick", action="store_true", help="small instances; goals are not checked")
    parser.add_argument("--timeout", type=float, help="seconds for each benchmark")
    parser.add_argument("--json", type=Path, help="write machine and figures to this file")
    options = parser.parse_args(arguments)
    scripts = find_benchmarks(folder)
    names = [name.removesuffix(".py") for name in options.names] or list(scripts)
    unknown = [name for name in names if name not in scripts]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}: expected some of {', '.join(scripts)}")
    if options.list:
        _print_table([(name, question(scripts[name])) for name in names])
        return 0
    outcomes: list[Outcome] = []
    try:
        for name in names:
            print(f"benchmark: {name}", file=sys.stderr, flush=True)
            outcomes.append(run_benchmark(name, scripts[name], quick=options.quick, timeout=options.timeout))
    finally:  # after Ctrl-C too, what has been measured is shown
        machine, code = describe_machine(), exit_code(outcomes, quick=options.quick)
        _print_outcomes(outcomes, machine, quick=options.quick)
        if options.json is not None:
            content = {"machine": machine, "quick": options.quick, "benchmarks": [asdict(each) for each in outcomes]}
            options.json.write_text(json.dumps({**content, "exit_code": code}, indent=2) + "\n", encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
