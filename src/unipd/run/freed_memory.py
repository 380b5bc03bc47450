"""What becomes of the memory of vectors that an iteration frees."""

from __future__ import annotations

import numpy as np

KEPT = 16
"""Vectors whose memory the C library shall keep for the next iteration."""
_LEAST, _MOST = 1 << 16, 1 << 21
"""Bytes of vectors that matter: smaller ones are always kept, larger ones are too dear to keep."""


def keep_freed_memory(size: int) -> bool:
    """Let the C library keep the memory of freed vectors of ``size`` bytes; return whether that was needed.

    The allocator of glibc hands memory back to the system as soon as a few vectors are freed, and every page of the
    next ones then costs a fault: up to a third of the time of an iteration. What it keeps grows with the largest block
    that was ever freed, up to 32 MB. So one is allocated and freed that nobody writes to: it takes no memory.

    >>> keep_freed_memory(800), keep_freed_memory(800_000)
    (False, True)
    """
    needed = _LEAST <= size < _MOST
    if needed:
        np.empty(KEPT * size, np.uint8)
    return needed
