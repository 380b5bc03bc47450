"""Products in pieces are the products."""

from __future__ import annotations

import numpy as np
import pytest

from unipd import serial

KINDS = [np.float32, np.float64, np.complex64, np.complex128]


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
    assert abs(serial.dot(x, y) - exact) <= 4.0 * np.finfo(dtype).eps * np.linalg.norm(x) * np.linalg.norm(y)


def test_dot_of_matrices_and_gaps() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((600, 200)), rng.standard_normal((600, 200))
    assert serial.dot(x, y) == pytest.approx(float(np.sum(x * y)), rel=1e-12)
    assert serial.dot(x.T[::-1], y.T[::-1]) == pytest.approx(float(np.sum(x * y)), rel=1e-12)
    assert serial.dot(x, y.astype(np.float32)) == pytest.approx(float(np.sum(x * y)), rel=1e-5)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("size", [5, 20_000, 200_000])
def test_dot_of_what_is_not_finite_is_silent(value: float, size: int) -> None:
    x = np.ones(size)
    x[size // 2] = value
    assert not np.isfinite(serial.dot(x, x))


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((20_011, 3), (3,)),
        ((20_011, 3), (3, 2)),
        ((5, 20_011), (20_011,)),
        ((5, 20_011), (20_011, 2)),
        ((20_011,), (20_011, 4)),
        ((2, 3), (3, 4)),
        ((9000, 2), (2, 9)),
        ((1, 1), (1, 27_000)),
        ((2, 3), (3, 9000)),
        ((3,), (3, 9000)),
        ((3, 0), (0, 2)),
    ],
)
def test_products_of_all_shapes(dtype: type, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    a, b = numbers(rng, first, dtype), numbers(rng, second, dtype)
    found = serial.product(a, b)
    exact = a.astype(np.complex128) @ b.astype(np.complex128)
    allowed = 8.0 * np.finfo(dtype).eps * (np.abs(a).astype(float) @ np.abs(b).astype(float))
    assert found.dtype == dtype
    assert found.shape == exact.shape
    assert np.all(np.abs(found - exact) <= allowed)


def test_columns_in_the_order_of_fortran() -> None:
    rng = np.random.default_rng(1)
    basis = np.asfortranarray(rng.standard_normal((20_000, 4)))[:, 1:]
    np.testing.assert_allclose(serial.product(basis, np.ones(3)), basis.sum(axis=1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((60_000,), (60_000, 5)),
        ((60_000, 5), (5,)),
        ((5, 60_000), (60_000, 2)),
        ((1, 1), (1, 60_000)),
        ((60_000, 40), (40, 20)),
    ],
)
def test_no_piece_is_large(monkeypatch: pytest.MonkeyPatch, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """What BLAS gets is small enough for one thread."""
    sizes: list[int] = []
    whole = np.dot

    def watched(a: np.ndarray, b: np.ndarray, **options: np.ndarray) -> np.ndarray:
        sizes.append(a.size * b.size // a.shape[-1])
        return whole(a, b, **options)

    monkeypatch.setattr(serial.np, "dot", watched)
    serial.product(np.ones(first), np.ones(second))
    matrices = min(len(first), len(second)) == 2 and 1 not in (first[0], second[1])
    assert 1 < len(sizes) < 1500
    assert max(sizes) <= (serial.PRODUCTS if matrices else serial.ENTRIES)
