"""Checksums of lists that may be spread over several processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import IntArray

_FACTORS = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))
_SHIFT = np.uint64(33)
_STRIDE = np.uint64(0x9E3779B97F4A7C15)


def checksum(values: Any, first: int = 0) -> IntArray:
    """Return a sum of mixed bits of integers and their places, the first of which is ``first``.

    Sums of consecutive parts add up (modulo 2^64) to that of the whole.

    >>> whole = checksum(np.arange(5))
    >>> bool((checksum(np.arange(2)) + checksum(np.arange(2, 5), first=2) == whole).all())
    True
    """
    mixed = np.asarray(values).astype(np.uint64)
    mixed += _STRIDE * np.arange(first + 1, first + 1 + mixed.size, dtype=np.uint64)
    for factor in _FACTORS:
        mixed ^= mixed >> _SHIFT
        mixed *= factor
    mixed ^= mixed >> _SHIFT
    return mixed.sum(dtype=np.uint64, keepdims=True)
