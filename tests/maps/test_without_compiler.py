"""Sampled matrices and Pauli maps where Numba may not compile, and how the compiled kernels use LLVM."""

import os
import subprocess
import sys

import numpy as np
import pytest
from llvmlite import ir
from numba import njit

from unipd.atoms import LowRank
from unipd.maps import Sampling
from unipd.maps.pauli import PauliMap, random_paulis, simd

PRODUCTS = """
import sys, numpy as np
from unipd.atoms import LowRank
from unipd.maps import Sampling
parts = []
for dtype in (np.float32, np.float64, np.complex128):
    rng = np.random.default_rng(0)
    draw = lambda *shape: (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    for rows, cols in ((np.sort(rng.integers(0, 30, 500)), rng.integers(0, 20, 500)), rng.integers(0, 20, (2, 500))):
        sampling = Sampling(rows, cols, (30, 20), dtype)
        matrix = sampling.adjoint(draw(500))
        parts += [matrix.matvec(draw(20)), matrix.rmatvec(draw(30)), matrix.matmat(draw(20, 3)).ravel()]
        parts += [matrix.rmatmat(draw(30, 3)).ravel(), [matrix.frobenius()]]
        parts += [sampling.image(LowRank(draw(30, r), draw(20, r), np.ones(r))) for r in (1, 4)]
print(repr(np.concatenate(parts).tolist()))
"""


def test_sampled_products_without_a_compiler():
    plain, compiled = (np.array(eval(run_python(PRODUCTS, NUMBA_DISABLE_JIT=flag))) for flag in "10")
    np.testing.assert_allclose(plain, compiled, atol=1e-4)


@pytest.mark.parametrize("count", [3, 500])
def test_patterns_are_sorted_by_line_and_know_their_duplicates(count):
    rng = np.random.default_rng(1)
    rows, cols = rng.permutation(count) % 30, rng.permutation(count)
    pattern = Sampling(rows, cols, (30, count)).pattern
    lines = cols if pattern.transposed else rows
    np.testing.assert_array_equal(pattern.starts, np.append(0, np.cumsum(np.bincount(lines, minlength=pattern.lines))))
    np.testing.assert_array_equal(pattern.to_pattern_order(np.arange(count)), np.argsort(lines, kind="stable"))
    assert not pattern.duplicated
    twice = Sampling(np.append(rows, rows[0]), np.append(cols, cols[0]), (30, count))
    assert twice.pattern.duplicated
    values = rng.standard_normal(count + 1)
    matrix = twice.adjoint(values)
    assert matrix.frobenius() == pytest.approx(np.linalg.norm(matrix.toarray()))


def run_python(code: str, **settings: str) -> str:
    """Return what a fresh interpreter prints."""
    environment = {**os.environ, **settings}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


COMPLETION = """
import numpy as np, unipd
rng = np.random.default_rng(0)
truth = np.outer(rng.standard_normal(20), rng.standard_normal(15))
rows, cols = np.nonzero(rng.random(truth.shape) < 0.6)
sampling, ball = unipd.maps.Sampling(rows, cols, truth.shape), unipd.sharp.NuclearBall(truth.shape, 15.0)
problem = unipd.Problem(ball, sampling, truth[rows, cols], unipd.couplings.LeastSquares())
result = unipd.solve(problem, accuracy=1e-5)
print(result.status.name, round(result.objective, 4))
"""
TOMOGRAPHY = """
import numpy as np, unipd
from unipd.atoms import LowRank
from unipd.maps.pauli import PauliMap, random_paulis
x, z = random_paulis(6, 800, seed=1)
measure = PauliMap(6, x, z, "double", method="matrix-free")
rng = np.random.default_rng(0)
state = rng.standard_normal((64, 1)) + 1j * rng.standard_normal((64, 1))
state /= np.linalg.norm(state)
b = measure.image(LowRank(state, state, np.ones(1)))
problem = unipd.Problem(unipd.sharp.Spectrahedron(64), measure, b, "=")
result = unipd.solve(problem, accuracy=1e-5)
fidelity = float(np.linalg.norm(result.x.left.conj().T @ state) ** 2)
print(result.status.name, round(fidelity, 4))
"""


@pytest.mark.parametrize("code", [COMPLETION, TOMOGRAPHY], ids=["completion", "tomography"])
def test_solves_without_a_compiler(code):
    assert run_python(code, NUMBA_DISABLE_JIT="1") == run_python(code) != ""


PAULI = """
import sys, numpy as np
from unipd.atoms import LowRank
from unipd.maps.pauli import PauliMap, random_paulis
x, z = random_paulis(7, 300, seed=3)
measure = PauliMap(7, x, z, "double", method="matrix-free")
rng = np.random.default_rng(0)
u, v = rng.standard_normal((2, 128, 2)) + 1j * rng.standard_normal((2, 128, 2))
operator = measure.adjoint(rng.standard_normal(300))
images = [measure.image(LowRank(u, u, np.ones(2))), measure.image(LowRank(u, v, np.ones(2)))]
parts = [operator.matvec(u[:, 0]), operator.matmat(u).ravel(), *images]
print(repr(np.concatenate(parts).round(9).tolist()))
"""


def test_pauli_products_without_a_compiler():
    plain, compiled = (np.array(eval(run_python(PAULI, NUMBA_DISABLE_JIT=flag))) for flag in "10")
    np.testing.assert_allclose(plain, compiled, atol=1e-8)


def test_the_kernels_name_the_type_of_every_access(monkeypatch):
    """Opaque pointers carry no type, and llvmlite is about to remove those that do."""
    seen = []

    def watch(method, keyword):
        original = getattr(ir.IRBuilder, method)

        def call(builder, *given, **named):
            if sys._getframe(1).f_code.co_filename == simd.__file__:
                seen.append(named.get(keyword) is not None)
            return original(builder, *given, **named)

        monkeypatch.setattr(ir.IRBuilder, method, call)

    watch("load", "typ")
    watch("gep", "source_etype")

    @njit
    def use_all(array, counter):
        here = simd.advance(simd.pointer(array), 8)
        simd.write(here, 0, simd.read(here, 1))
        simd.store(here, 0, simd.load(here, 0) + simd.broadcast_scalar(here, 0))
        return simd.fetch_and_increment(simd.pointer(counter)) + simd.sum_lanes(simd.zero(here))

    assert use_all(np.arange(16, dtype=np.float32), np.zeros(1, np.int64)) == 0
    assert len(seen) >= 7
    assert all(seen)


def test_images_of_arrays_do_not_depend_on_the_compiler():
    x, z = random_paulis(6, 50, seed=0)
    rng = np.random.default_rng(0)
    u = rng.standard_normal((64, 1)) + 0j
    matrix, measure = u @ u.T, PauliMap(6, x, z, "double", method="matrix-free")
    np.testing.assert_allclose(measure.image(LowRank(u, u, np.ones(1))), measure.image(matrix), atol=1e-10)
