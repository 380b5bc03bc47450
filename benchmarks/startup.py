"""How long commands take on tiny inputs, from the shell to their exit, beside bare imports of NumPy, SciPy and Numba.

CPU seconds, the least of interleaved rounds. Bytecode and compiled kernels are made by a first run: pip makes the one
when it installs a wheel, and Numba keeps the other. The budget of a command is a ratio to the bare imports.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import unipd
from figures import note
from unipd.apps.graphs import maxcut_program

BARE = "import numpy, scipy.sparse.linalg, numba"
COUNTED = """
import sys
from unipd.cli.main import main
try:
    main(sys.argv[1:])
finally:
    print(len(sys.modules), "numba" in sys.modules, file=sys.stderr)
"""
"""Runs a command, then prints the number of modules that it imported, and whether Numba is one of them."""
BUDGETS = {
    "--version": 0.3,
    "--help": 0.5,
    "show result.npz": 0.8,
    "solve program.dat-s": 1.3,
    "tomography --simulate random --qubits 3": 1.3,
    "solve model.py:problem": 2.5,
    "maxcut graph.txt --effort 0": 2.5,
    "complete ratings.csv": 3.0,
    "theta graph.txt": 5.0,
}
"""Commands, and the most CPU seconds that each may take beside the bare imports.

The first five do without Numba, the next three load kernels of it, and QICS compiles its own for interior points.
"""
MODEL = """
import numpy as np, unipd
problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], unipd.couplings.LeastSquares())
"""


def write_inputs(folder: Path) -> None:
    """Write a semidefinite program, its graph, a model in Python, ratings and a result."""
    rng = np.random.default_rng(0)
    edges = [(i, j) for i in range(1, 41) for j in range(1, i) if rng.random() < 0.2]
    graph, lines = folder / "graph.txt", "".join(f"{i} {j} 1\n" for i, j in edges)
    graph.write_text(f"40 {len(edges)}\n{lines}", encoding="utf-8")
    program = maxcut_program(unipd.io.read_graph(graph))
    program.write(folder / "program.dat-s")
    unipd.save(program.solve(), folder / "result.npz")
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    ratings = "".join(
        f"{user},{item},{rng.integers(1, 6)}\n" for user in range(30) for item in rng.choice(40, 8, False)
    )
    (folder / "ratings.csv").write_text(f"user,item,rating\n{ratings}", encoding="utf-8")


def cpu_seconds(code: str, arguments: list[str], folder: Path) -> tuple[float, str]:
    """Return the CPU seconds of a process that runs Python code, and its last line on standard error."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, (done.stderr.splitlines() or [""])[-1]


def measure(folder: Path, rounds: int) -> None:
    """Print and note the least time of every command, and its ratio to the bare imports."""
    least, facts = dict.fromkeys(("", *BUDGETS), np.inf), dict[str, str]()
    for _ in range(rounds + 1):  # the first one compiles
        for name in least:
            code, arguments = (
                (COUNTED, [*name.split(), "--quiet"][: None if " " in name else -1]) if name else (BARE, [])
            )
            seconds, facts[name] = cpu_seconds(code, arguments, folder)
            least[name] = min(least[name], seconds)
    print(f"{'bare imports':40} {least['']:.2f} CPU s")
    for name, budget in BUDGETS.items():
        ratio, (modules, uses_numba) = least[name] / least[""], facts[name].split()
        print(
            f"{name:40} {least[name]:.2f} CPU s, {ratio:.2f} x (at most {budget}), {modules} modules"
            f"{', Numba' if uses_numba == 'True' else ''}"
        )
        note(f"unipd {name.split()[0]}: CPU seconds / bare imports", ratio, "share", budget)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="one round")
    quick = parser.parse_args().quick
    package = Path(str(unipd.__file__)).parent
    compileall.compile_dir(package, quiet=1)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder))
        measure(Path(folder), 1 if quick else 5)


if __name__ == "__main__":
    main()
