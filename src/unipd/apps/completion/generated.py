"""Ratings made up to order: few tastes, popular items, busy users, and noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unipd import validate
from unipd._typing import Array, FloatArray, IntArray
from unipd.errors import InvalidInput

_CHUNK = 1 << 20
SKEW = 1.0
"""Standard deviation of the logarithm of how busy users and how popular items are."""


@dataclass(frozen=True, eq=False)
class Generated:
    """Ratings with the truth behind them."""

    users: IntArray
    items: IntArray
    values: Array
    shape: tuple[int, int]
    left: Array
    """Tastes of the users; X = left right^T."""
    right: Array

    def truth(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return what the ratings would be without noise."""
        return np.einsum("ij,ij->i", self.left[users], self.right[items]).astype(np.float64) + MEAN


MEAN = 3.5


def generate(
    shape: tuple[int, int], count: int, *, rank: int = 10, noise: float = 0.5, seed: int = 0, dtype: type = np.float64
) -> Generated:
    """Return about ``count`` ratings (repeated pairs are dropped), sorted by user and item.

    Users and items are drawn independently with log-normal frequencies; a rating is 3.5 plus the product of ``rank``
    tastes with unit variance, plus Gaussian noise.

    >>> made = generate((20, 30), 200, rank=2)
    >>> made.shape, made.values.size <= 200
    ((20, 30), True)
    """
    rows, columns = (validate.integer("shape", size, minimum=1) for size in shape)
    wanted = validate.integer("count", count, minimum=1)
    if wanted > rows * columns // 2:
        raise InvalidInput("count", f"at most half of the {rows * columns} entries", repr(count))
    rng = np.random.default_rng(seed)
    users, items = _places(rng, (rows, columns), wanted)
    left, right = (rng.standard_normal((size, rank)).astype(dtype) / rank**0.25 for size in (rows, columns))
    values = np.empty(users.size, dtype)
    for first in range(0, users.size, _CHUNK):
        part = slice(first, first + _CHUNK)
        values[part] = np.einsum("ij,ij->i", left[users[part]], right[items[part]])
        values[part] += MEAN + noise * rng.standard_normal(values[part].size)
    return Generated(users, items, values, (rows, columns), left, right)


def _places(rng: np.random.Generator, shape: tuple[int, int], wanted: int) -> tuple[IntArray, IntArray]:
    """Return different places, sorted, drawn with the frequencies of the users and of the items; a part at a time."""
    busy, popular = (np.exp(SKEW * rng.standard_normal(size)) for size in shape)
    counts = rng.multinomial(wanted, busy / busy.sum())
    shares = np.cumsum(popular / popular.sum())
    users, items = np.empty(wanted, np.int32), np.empty(wanted, np.int32)
    ends, first, kept = np.cumsum(counts), 0, 0
    while first < shape[0]:
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _CHUNK)))
        who = np.repeat(np.arange(first, last, dtype=np.int64), counts[first:last])
        what = np.searchsorted(shares, rng.random(who.size)).clip(max=shape[1] - 1)
        pairs = np.sort(who * shape[1] + what)
        pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: pairs.size]]
        users[kept : kept + pairs.size], items[kept : kept + pairs.size] = np.divmod(pairs, shape[1])
        first, kept = last, kept + pairs.size
    return users[:kept], items[:kept]
