"""Blocked products equal the plain ones and do not start the BLAS threads."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from unipd._util import arrays

KINDS = [np.float32, np.float64, np.complex64, np.complex128]
SHAPES = [
    ((20_011, 3), (3,)),
    ((20_011, 3), (3, 1)),
    ((20_011, 3), (3, 2)),
    ((5, 20_011), (20_011,)),
    ((5, 20_011), (20_011, 2)),
    ((20_011,), (20_011, 4)),
    ((2, 3), (3, 4)),
    ((9000, 2), (2, 9)),
    ((1, 1), (1, 27_000)),
    ((2, 3), (3, 9000)),
    ((3,), (3, 9000)),
    ((60_000, 40), (40, 20)),
    ((300, 5), (5, 300)),
    ((447, 1), (1, 447)),
    ((100, 100), (100, 100)),
    ((5, 300), (300, 300)),
    ((160, 500), (500, 200)),
    ((3, 0), (0, 2)),
    ((0, 3), (3, 2)),
]


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("size", [1, 4000, 8000, 8001, 30_011, 100_003])
def test_dot_conjugates_the_first(dtype: type, size: int) -> None:
    rng = np.random.default_rng(size)
    x, y = numbers(rng, (size,), dtype), numbers(rng, (size,), dtype)
    exact = np.vdot(x.astype(np.complex128), y.astype(np.complex128))
    assert abs(arrays.dot(x, y) - exact) <= 4.0 * np.finfo(dtype).eps * np.linalg.norm(x) * np.linalg.norm(y)


def test_dot_of_matrices_and_gaps() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((600, 200)), rng.standard_normal((600, 200))
    assert arrays.dot(x, y) == pytest.approx(float(np.sum(x * y)), rel=1e-12)
    assert arrays.dot(x.T[::-1], y.T[::-1]) == pytest.approx(float(np.sum(x * y)), rel=1e-12)
    assert arrays.dot(x, y.astype(np.float32)) == pytest.approx(float(np.sum(x * y)), rel=1e-5)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("size", [5, 20_000, 200_000])
def test_dot_of_what_is_not_finite_is_silent(value: float, size: int) -> None:
    x = np.ones(size)
    x[size // 2] = value
    assert not np.isfinite(arrays.dot(x, x))


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_products_of_all_shapes(dtype: type, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    a, b = numbers(rng, first, dtype), numbers(rng, second, dtype)
    found = arrays.product(a, b)
    exact = a.astype(np.complex128) @ b.astype(np.complex128)
    allowed = 8.0 * np.finfo(dtype).eps * (np.abs(a).astype(float) @ np.abs(b).astype(float))
    assert found.dtype == dtype
    assert found.shape == exact.shape
    assert np.all(np.abs(found - exact) <= allowed)


def test_columns_in_the_order_of_fortran() -> None:
    rng = np.random.default_rng(1)
    basis = np.asfortranarray(rng.standard_normal((20_000, 4)))[:, 1:]
    np.testing.assert_allclose(arrays.product(basis, np.ones(3)), basis.sum(axis=1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sizes", [(16_000, 24_000), (9000, 8000), (160_000, 8000)])
def test_sizes_that_do_not_fit_are_refused(sizes: tuple[int, int]) -> None:
    one, other = (np.ones(size) for size in sizes)
    with pytest.raises(ValueError, match=r"shape|size|dimension|mismatch"):
        arrays.dot(one, other)
    with pytest.raises(ValueError, match="mismatch"):
        arrays.product(np.ones((2, sizes[0])), other)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize(("first", "second"), [pair for pair in SHAPES if np.prod(pair[0]) > arrays.ENTRIES])
def test_no_piece_is_large(dtype: type, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """What BLAS gets is small enough for one thread, unless both are large, and never a row at a time."""
    seen: list[tuple[int, ...]] = []

    class Watched(np.ndarray):
        def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
            if ufunc is np.matmul:
                one, other = given
                seen.append((one.size // max(one.shape[-1], 1), one.shape[-1], other.size // max(len(other), 1)))
            plain = [np.asarray(each) for each in given]
            if "out" in options:
                options["out"] = tuple(np.asarray(each) for each in options["out"])
            return getattr(ufunc, method)(*plain, **options)

    arrays.product(np.ones(first, dtype).view(Watched), np.ones(second, dtype).view(Watched))
    limits = (arrays.ENTRIES, arrays.PRODUCTS)
    if np.dtype(dtype).kind == "c":
        limits = (arrays.ENTRIES // 2, arrays.PRODUCTS // 4)
    (rows, inner, columns) = (int(np.prod(first[:-1])), first[-1], int(np.prod(second[1:])))
    limit = limits[min(rows, columns) > 1]
    if limit * max(rows, inner, columns) < 8 * rows * inner * columns:  # pieces of less than eight rows
        assert len(seen) == 1
    else:
        assert max(one * two * three for one, two, three in seen) <= limit
        assert len(seen) < 1500


SLEEPERS = '''
import os, time
import numpy as np
from unipd._util import arrays
from unipd._util.arrays import inner
from unipd._util.validate import all_finite

def others(works):
    """CPU time of all threads but this one."""
    def spent():
        tasks = [task for task in os.listdir("/proc/self/task") if int(task) != os.getpid()]
        return sum(int(open(f"/proc/self/task/{task}/schedstat").read().split()[0]) for task in tasks)
    time.sleep(0.3)
    before = spent()
    for work in works:
        work()
    time.sleep(0.1)
    return spent() - before

works = {}
for kind in (np.float32, np.float64, np.complex64, np.complex128):
    x, tall, small = np.ones(300_000, kind), np.ones((60_000, 20), kind, order="F"), np.ones((20, 7), kind)
    for name, work, *given in (
        ("dot", arrays.dot, x, x),
        ("inner", inner, x, x),
        ("finite", all_finite, x),
        ("tall", arrays.product, tall, small),
        ("vector", arrays.product, tall, small[:, 0]),
        ("column", arrays.product, tall, small[:, :1]),
        ("wide", arrays.product, tall.T, tall[:, :2]),
        ("outer", arrays.product, small[:1, :1], x[None, :]),
    ):
        works[f"{kind.__name__} {name}"] = lambda work=work, given=given: work(*given)
for work in works.values():
    work()  # the first call of a compiled one loads libraries that start threads
if others([lambda: np.vdot(np.ones(300_000), np.ones(300_000))]) == 0:
    print("no threads")
elif others(works.values()) > 0:
    print([name for name, work in works.items() if others([work]) > 0])
'''


@pytest.mark.skipif(sys.platform != "linux", reason="identifies threads by /proc")
@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="its OpenBLAS wakes threads for complex products"
)
def test_threads_of_blas_stay_asleep() -> None:
    two = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    run = subprocess.run([sys.executable, "-c", SLEEPERS], capture_output=True, text=True, check=True, env=two)
    if "no threads" in run.stdout:
        pytest.skip("this BLAS has one thread")
    assert run.stdout == ""


def test_products_of_column_major_matrices():
    first, second = np.random.default_rng(0).standard_normal((2, 300, 200))
    expected = float(np.sum(first * second))
    for one in (first, np.asfortranarray(first)):
        for other in (second, np.asfortranarray(second)):
            assert arrays.dot(one, other) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint64, np.float64, "U3", ">i8"])
@pytest.mark.parametrize("size", [0, 1, 300])
@pytest.mark.parametrize(("low", "high"), [(0, 90), (-60, 90), (30, 120)])
@pytest.mark.parametrize("wide", [False, True])
def test_distinct_entries(dtype, size, low, high, wide):
    """Few numbers are marked in a table, many are sorted; other types are NumPy's."""
    values = np.random.default_rng(size).integers(0 if dtype is np.uint64 else low, high, (size, 2))
    values = (values * (10_000 if wide and dtype not in (np.int8, "U3") else 1)).astype(dtype)
    found = arrays.distinct(values)
    assert found.dtype == values.dtype
    assert np.array_equal(found, np.unique(values))


def test_distinct_integers_are_not_hashed(monkeypatch):
    """NumPy's own function hashes them, at fifty times the cost of a sort."""
    monkeypatch.setattr(np, "unique", None)
    assert arrays.distinct(np.array([7, 7, 3])).tolist() == [3, 7]
    assert arrays.distinct(np.array([-7, 10**9])).tolist() == [-7, 10**9]
