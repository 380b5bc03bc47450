"""Starting blocks: a warm start with a little randomness, or randomness alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.spectral.basis import gaussian


def starting_block(start: Any, rows: int, block: int, dtype: Any, seed: int, mix: float) -> Array:
    """Return ``block`` columns to start from: the given vectors mixed with random ones, then random ones.

    A warm start v becomes v / ||v|| + mix * g / ||g|| with g Gaussian, so that its angle to any fixed vector is
    almost surely not a right one. Vectors of length zero count as absent.

    >>> starting_block(np.array([0.0, 5.0]), 2, 1, np.float64, 0, 0.0)
    array([[0.],
           [1.]])
    """
    generator = np.random.default_rng(seed)
    columns = gaussian(generator, (rows, block), np.result_type(dtype, np.float64))
    columns /= np.linalg.norm(columns, axis=0)
    if start is not None:
        given = _given(start, rows, np.dtype(dtype))[:, :block]
        lengths = np.linalg.norm(given, axis=0)
        used = np.flatnonzero(lengths > 0)
        columns[:, used] = given[:, used] / lengths[used] + mix * columns[:, used]
    return columns.astype(dtype)


def _given(start: Any, rows: int, dtype: np.dtype[Any]) -> Array:
    block = np.asarray(start)
    if block.ndim == 1:
        block = block[:, np.newaxis]
    if block.ndim != 2 or block.shape[0] != rows:
        raise InvalidInput("start", f"vectors of length {rows}", f"shape {np.shape(start)}")
    if not np.isfinite(block).all():
        raise InvalidInput("start", "finite numbers", "NaN or inf")
    return np.real(block) if dtype.kind != "c" else block
