"""Importing unipd is cheap: optional packages are loaded only where they are used, and nothing is compiled."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ["matplotlib", "rich", "pandas", "sklearn", "cvxpy", "typer", "pylops", "networkx", "mpi4py", "qiskit"]
CORE = "import unipd; unipd.solve, unipd.Problem, unipd.sharp, unipd.couplings, unipd.maps, unipd.theory"
LATER = ["scipy.linalg", "scipy.sparse", "numba"]


def modules_after(code: str) -> list[str]:
    """Return the heavy packages that a fresh interpreter has loaded after running the code."""
    return modules_among(HEAVY, code)


def modules_among(names: list[str], code: str) -> list[str]:
    """Return which of the modules a fresh interpreter has loaded after running the code."""
    script = f"{code}\nimport sys, json; print(json.dumps([m for m in {names!r} if m in sys.modules]))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def test_import_loads_nothing_but_the_package_itself() -> None:
    assert modules_among(["numpy", "scipy", "unipd.run", "unipd.sharp", *LATER, *HEAVY], "import unipd") == []


def test_the_core_loads_no_optional_package() -> None:
    assert modules_after(CORE) == []


def test_the_core_leaves_what_takes_longest_for_later() -> None:
    assert modules_among(LATER, CORE) == []


def test_a_quiet_run_loads_no_optional_package() -> None:
    code = """
import numpy as np, unipd
problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], unipd.couplings.LeastSquares())
print(unipd.solve(problem, "pairwise"))
"""
    assert modules_after(code) == []


PROGRAM = "1\n1\n2\n1.0\n0 1 1 1 1.0\n0 1 2 2 1.0\n1 1 1 1 1.0\n1 1 2 2 1.0\n"


def test_commands_import_what_they_use(tmp_path) -> None:
    """Neither a small program nor its result needs a compiler, tables or pictures."""
    (tmp_path / "small.dat-s").write_text(PROGRAM)
    program, result = tmp_path / "small.dat-s", tmp_path / "small.npz"
    unused = ["numba", "unipd.run.checkpoint.fingerprint", *(name for name in HEAVY if name != "typer")]
    for arguments in (["--version"], ["solve", str(program), "--quiet", "--out", str(result)], ["show", str(result)]):
        code = (
            f"from unipd.cli.main import main\ntry: main({arguments!r})\nexcept SystemExit as end: assert not end.code"
        )
        found = modules_among(unused, code)
        assert found in ([], ["rich"]), arguments  # main looks whether Rich is installed
    assert result.exists()


def test_import_compiles_nothing() -> None:
    code = f"""
import numba.core.dispatcher as dispatcher
def refuse(*arguments, **options):
    raise SystemExit("compiled on import")
dispatcher.Dispatcher.compile = refuse
{CORE}
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_is_there() -> None:
    import unipd

    for name in unipd.__all__:
        if name != "cvxpy" or sys.version_info >= (3, 11):  # CVXPY 1.9 needs it
            assert hasattr(unipd, name), name
    assert sorted(unipd.__all__) == sorted(set(unipd.__all__))
    assert sorted(dir(unipd)) == sorted(unipd.__all__)


def test_a_name_that_is_not_there_is_said_so() -> None:
    import unipd

    with pytest.raises(AttributeError, match="no attribute 'solver'"):
        unipd.solver  # noqa: B018


@pytest.mark.parametrize("module", ["sharp", "maps", "couplings", "methods", "trackers", "run"])
def test_every_public_name_of_a_part_is_there_and_documented(module: str) -> None:
    import importlib

    part = importlib.import_module(f"unipd.{module}")
    for name in part.__all__:
        documented = getattr(part, name)
        if callable(documented):
            assert documented.__doc__, f"{module}.{name}"


def test_modules_that_the_guides_name_need_no_import_of_their_own() -> None:
    code = "import unipd; unipd.doctor.check, unipd.memory.forecast, unipd.report.write_report, unipd.methods.State"
    assert modules_after(code) == []
