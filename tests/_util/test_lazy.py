"""Kernels and their NumPy versions compute the same; small programs need no Numba; lazy packages export every name."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from unipd._util import lazy
from unipd.maps import row_products
from unipd.methods.factored import project_rows, remove_radial_part, take_step, update_direction
from unipd.spectral import csr_block, csr_three_term, lanczos_steps, remove_component

N, R = 40, 5
rng = np.random.default_rng(0)
SPARSE = sp.random_array((N, N), density=0.1, random_state=rng, format="csr") + sp.eye_array(N, format="csr")
CSR = (SPARSE.indptr, SPARSE.indices, SPARSE.data)
PAIRS = rng.integers(0, N, (2, 90)).astype(np.uint32)


def block() -> Any:
    return rng.standard_normal((N, R))


def vector(size: int = N) -> Any:
    return rng.standard_normal(size)


def lanczos_arguments() -> tuple[Any, ...]:
    vectors = np.zeros((3, N))
    vectors[1, 3:] = N**-0.5
    return (*CSR, vectors, np.zeros(8), np.zeros(8), 0, 8, vector(8), vector())


CASES: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {
    "project_rows": (project_rows, lambda: (vector() ** 2 + 1.0, vector(), block(), block(), block(), 3, N - 2)),
    "take_step": (take_step, lambda: (0.3, block(), block(), vector() ** 2, block(), block(), 3, N - 2)),
    "update_direction": (update_direction, lambda: (0.3, vector() ** 2, block(), block(), 3, N - 2)),
    "remove_radial_part": (remove_radial_part, lambda: (vector(), block(), block())),
    "row_products": (row_products, lambda: (*PAIRS, block(), block(), np.empty(90))),
    "csr_block": (csr_block, lambda: (*CSR, block(), block(), 3, N - 2)),
    "csr_three_term": (csr_three_term, lambda: (*CSR, vector(), vector(), 0.7, vector(), 3, N - 2)),
    "remove_component": (remove_component, lambda: (0.4, vector(), vector(), 0.2, vector(), 3, N - 2)),
    "lanczos_steps": (lanczos_steps, lanczos_arguments),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("single", [False, True])
def test_the_plain_version_computes_what_the_kernel_does(
    name: str, single: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, make = CASES[name]
    plain = [
        each.astype(np.float32) if single and isinstance(each, np.ndarray) and each.dtype == float else each
        for each in make()
    ]
    if single and name in ("csr_three_term", "remove_component", "lanczos_steps"):
        pytest.skip("these are called in double precision only")
    compiled = [each.copy() if isinstance(each, np.ndarray) else each for each in plain]
    first = kernel(*plain)
    monkeypatch.setattr(lazy, "SMALL", -1)
    second = kernel(*compiled)
    tolerance = 1e-4 if single else 1e-11
    if first is not None or second is not None:
        np.testing.assert_allclose(first, second, rtol=tolerance)
    for one, other in zip(plain, compiled, strict=True):
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_lanczos_stops_where_the_krylov_space_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    identity = sp.eye_array(N, format="csr")
    found = []
    for small in (lazy.SMALL, -1):
        monkeypatch.setattr(lazy, "SMALL", small)
        vectors, alpha, beta = np.zeros((3, N)), np.zeros(8), np.ones(8)
        vectors[1, 0] = 1.0
        arrays = (identity.indptr, identity.indices, identity.data, vectors, alpha, beta)
        found.append((lanczos_steps(*arrays, 0, 8, np.zeros(0), np.zeros(0)), alpha[0], beta[0]))
    assert found[0] == found[1] == (1, 1.0, 0.0)


def run_python(code: str, **settings: str) -> str:
    """Return what a fresh interpreter prints."""
    environment = {**os.environ, **settings}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


MAXCUT = """
import sys, numpy as np, unipd
edges = np.triu(np.random.default_rng(0).random((60, 60)) < 0.1, 1)
laplacian = np.diag((edges + edges.T).sum(1)) - (edges + edges.T)
diagonals = [np.diag(np.eye(60)[i]) for i in range(60)]
result = unipd.SDP.from_matrices(-laplacian / 4.0, diagonals, np.ones(60)).solve(accuracy=1e-6)
print(result.status.name, "numba" in sys.modules, round(result.objective, 4))
"""


def test_a_small_program_needs_no_numba() -> None:
    status, has_numba, objective = run_python(MAXCUT).split()
    assert (status, has_numba) == ("SOLVED", "False")
    assert run_python(MAXCUT, NUMBA_DISABLE_JIT="1").split() == [status, has_numba, objective]


SOURCE = Path(lazy.__file__).parent.parent
PACKAGES = sorted(
    ".".join(("unipd", *path.parent.relative_to(SOURCE).parts))
    for path in SOURCE.rglob("__init__.py")
    if "lazy_exports(" in path.read_text()
)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_lazy_package_exports_every_name(package: str) -> None:
    module = importlib.import_module(package)
    assert set(module.__all__) <= set(dir(module))
    for name in set(module.__all__) - {"cvxpy"}:  # that module needs CVXPY 1.9, and has its own tests
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        module.absent  # noqa: B018


def test_modules_of_one_import_do_not_load_their_neighbours() -> None:
    code = (
        "import sys, json; from unipd.sharp import Simplex; print(json.dumps([m for m in sys.modules if 'sharp' in m]))"
    )
    loaded = json.loads(run_python(code))
    assert "unipd.sharp.simplex" in loaded
    assert "unipd.sharp.birkhoff" not in loaded
