"""Starting blocks: a warm start with a little randomness, or randomness alone."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from unipd import serial, validate
from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.spectral.basis import gaussian


def starting_block(start: Any, rows: int, block: int, dtype: Any, seed: int, mix: float) -> Array:
    """Return ``block`` columns to start from: the given vectors mixed with random ones, then random ones.

    A warm start v becomes v / ||v|| + mix * g / ||g|| with g Gaussian, so that its angle to any fixed vector is
    almost surely not a right one. g is turned to the phase of v (<g, v> >= 0): the phase of an eigenvector is left to
    rounding, and what comes of -v must be what comes of v. Vectors of length zero count as absent.

    >>> starting_block(np.array([0.0, 5.0]), 2, 1, np.float64, 0, 0.0)
    array([[0.],
           [1.]])
    """
    columns = random_columns(rows, block, np.result_type(dtype, np.float64), seed).copy()
    if start is not None:
        given = _given(start, rows, np.dtype(dtype))[:, :block]
        for number, column in enumerate(given.T):
            length = math.sqrt(serial.dot(column, column).real)
            if length > 0:
                random = columns[:, number]
                product = serial.dot(random, column)
                phase = product / abs(product) if product != 0 else 1.0
                columns[:, number] = column / length + mix * phase * random
    return columns.astype(dtype, copy=False)


def random_columns(rows: int, block: int, dtype: np.dtype[Any], seed: int) -> Array:
    """Return random unit columns; the array is shared, and remembered where it is small."""
    chosen = _random_columns if rows * block <= _MOST_REMEMBERED else _random_columns.__wrapped__
    return chosen(rows, block, dtype, seed)


_MOST_REMEMBERED = 1 << 16
"""Entries of random columns that are kept for the next call: a method asks for the same ones in every iteration."""


@lru_cache(maxsize=8)
def _random_columns(rows: int, block: int, dtype: np.dtype[Any], seed: int) -> Array:
    columns = gaussian(np.random.default_rng(seed), (rows, block), dtype)
    columns /= np.linalg.norm(columns, axis=0)
    return columns


def _given(start: Any, rows: int, dtype: np.dtype[Any]) -> Array:
    block = np.asarray(start)
    if block.ndim == 1:
        block = block[:, np.newaxis]
    if block.ndim != 2 or block.shape[0] != rows:
        raise InvalidInput("start", f"vectors of length {rows}", f"shape {np.shape(start)}")
    if not validate.all_finite(block):
        raise InvalidInput("start", "finite numbers", "NaN or inf")
    return np.real(block) if dtype.kind != "c" else block
