"""Sampled matrices and Pauli maps where Numba may not compile, and how the compiled kernels use LLVM."""

import os
import subprocess
import sys

import numpy as np
import pytest
from llvmlite import ir
from numba import njit

from unipd.atoms import LowRank
from unipd.maps import Sampling, sampling_kernels, sampling_numpy
from unipd.maps.pauli import PauliMap, random_paulis, simd

KERNELS = ("gather", "scatter", "gather_block", "scatter_block", "sample_outer", "sample_factors")
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])


def draw(rng, shape, dtype):
    numbers = rng.standard_normal(shape)
    return (numbers + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else numbers).astype(dtype)


def arguments(name, pattern, dtype, rng):
    """Return the arguments of a kernel between places and bounds, the output last, and the bounds."""
    lines, width, bounds = pattern.lines, pattern.width, pattern._line_bounds
    columns = (3,) if name.endswith("block") else ()
    values = draw(rng, pattern.size, dtype)
    if name.startswith("gather"):
        return [values, draw(rng, (width, *columns), dtype), np.empty((lines, *columns), dtype)], bounds
    if name.startswith("scatter"):
        bounds = np.array([0, lines // 3, lines // 2, lines], np.uint64)
        return [values, draw(rng, (lines, *columns), dtype), np.empty((3, width, *columns), dtype)], bounds
    rank = () if name == "sample_outer" else (4,)
    factors = [draw(rng, (size, *rank), dtype) for size in (lines, width)]
    return [*factors, pattern.order, np.empty(pattern.size, dtype)], bounds


@dtypes
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("is_sorted", [True, False])
def test_products_in_numpy_are_those_of_the_compiled_kernels(name, dtype, is_sorted):
    rng = np.random.default_rng(0)
    rows, cols = rng.integers(0, 30, 500), rng.integers(0, 20, 500)
    pattern = Sampling(np.sort(rows) if is_sorted else rows, cols, (30, 20)).pattern
    given, bounds = arguments(name, pattern, dtype, rng)
    found = []
    for module in (sampling_kernels, sampling_numpy):
        out = np.full_like(given[-1], 7)
        counter = np.zeros(1, np.int64)
        getattr(module, name)(pattern.starts, pattern.places, *given[:-1], out, bounds, counter)
        again = out.copy()
        getattr(module, name)(pattern.starts, pattern.places, *given[:-1], out, bounds, counter)
        np.testing.assert_array_equal(out, again)  # another thread finds nothing to do
        found.append(out)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4 if dtype == np.float32 else 1e-11, atol=1e-5)


@pytest.mark.parametrize("count", [3, 500])
def test_patterns_in_numpy_are_those_of_the_compiled_kernels(count):
    rng = np.random.default_rng(1)
    lines = rng.integers(0, 30, count).astype(np.uint32)
    values, width = rng.standard_normal(count), 400
    found = []
    for module in (sampling_kernels, sampling_numpy):
        counts, order = np.zeros(31, np.uint64), np.empty(count, np.uint32)
        module.count_lines(lines, counts)
        starts = np.cumsum(counts, dtype=np.uint64)
        module.counting_sort(lines, starts, order)
        places = rng.permutation(width).astype(np.uint16)[np.arange(count) % width]
        twice = module.has_duplicates(starts, np.zeros(count, np.uint16), width)
        once = module.has_duplicates(starts, np.arange(count).astype(np.uint16), width + count)
        norm = module.squared_norm(starts, np.zeros_like(places), values, width)
        found.append([counts.tolist(), order.tolist(), twice, once, pytest.approx(norm)])
    assert found[0] == found[1]
    assert found[0][2:4] == [bool(np.bincount(lines).max() > 1), False]


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
