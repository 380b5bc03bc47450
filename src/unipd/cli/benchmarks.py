"""The scripts under ``benchmarks/``: where they are, what they measure, and running them."""

from __future__ import annotations

import ast
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from unipd._version import __version__
from unipd.errors import InvalidInput

VARIABLE = "UNIPD_BENCH_FIGURES"
"""Tells a script in which file to leave its figures, one JSON object a line."""
_PACKAGES = ("numpy", "scipy", "numba")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Benchmark:
    """A script that measures."""

    name: str
    path: Path
    question: str
    """First line of its documentation."""


@dataclass(frozen=True)
class Outcome:
    """What running a script gave."""

    name: str
    seconds: float
    exit_code: int | None
    """Of the script; None when it took too long."""
    figures: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def find_folder(given: Path | None) -> Path:
    """Return the folder of the benchmarks: the one given, or the one of the checkout that unipd runs from."""
    if given is not None:
        if not given.is_dir():
            raise InvalidInput("--folder", "the folder benchmarks of a checkout of unipd", repr(str(given)))
        return given
    for folder in (Path(__file__).parents[3] / "benchmarks", Path.cwd() / "benchmarks"):
        if (folder / "figures.py").is_file():
            return folder
    expected = "a checkout of unipd: the installed package is without benchmarks (--folder PATH says where they are)"
    raise InvalidInput("bench", expected, "none")


def benchmarks(folder: Path) -> list[Benchmark]:
    """Return the scripts of a folder that can be run, by name."""
    found: list[Benchmark] = []
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if "__main__" in text:
            found.append(Benchmark(path.stem, path, _question(text)))
    if not found:
        raise InvalidInput("--folder", "a folder with benchmarks", repr(str(folder)))
    return found


def _question(text: str) -> str:
    try:
        documentation = ast.get_docstring(ast.parse(text)) or ""
    except SyntaxError:
        return "(cannot be read)"
    return documentation.split("\n")[0].rstrip(".")


def chosen(known: list[Benchmark], names: list[str]) -> list[Benchmark]:
    """Return the benchmarks of these names, all when there are none."""
    by_name = {each.name: each for each in known}
    for name in names:
        if name.removesuffix(".py") not in by_name:
            raise InvalidInput("NAMES", f"some of {', '.join(by_name)}", repr(name))
    return [by_name[name.removesuffix(".py")] for name in names] or known


def run(benchmark: Benchmark, *, quick: bool, show: bool, limit: float | None) -> Outcome:
    """Run a script in a process of its own; what it prints goes to standard error."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "figures.jsonl")
        command = [sys.executable, str(benchmark.path), *(["--quick"] if quick else [])]
        begun = time.perf_counter()
        try:
            done = subprocess.run(
                command,
                env={**os.environ, VARIABLE: str(file)},
                stdin=subprocess.DEVNULL,
                stdout=2 if show else subprocess.DEVNULL,
                stderr=None if show else subprocess.DEVNULL,
                timeout=limit,
                check=False,
            )
            code: int | None = done.returncode
        except subprocess.TimeoutExpired:
            code = None
        return Outcome(benchmark.name, time.perf_counter() - begun, code, _figures(file))


def _figures(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def machine() -> dict[str, Any]:
    """Return what figures depend on: processor, cores, threads, versions."""
    threads = {name: os.environ[name] for name in _THREADS if name in os.environ}
    versions = {"unipd": __version__, "python": platform.python_version()}
    versions |= {name: metadata.version(name) for name in _PACKAGES}
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "threads": threads,
        "versions": versions,
    }


def _processor() -> str:
    """Return the name of the processor as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
