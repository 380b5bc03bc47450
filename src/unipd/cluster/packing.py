"""Any value as one array of bytes, for exchanges on buffers."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from unipd._typing import Array


def packed(value: Any) -> Array:
    """Return a value as bytes: its description, and after it the arrays inside as they are.

    >>> unpacked(packed({"seed": 3, "b": np.arange(2)}))
    {'seed': 3, 'b': array([0, 1])}
    """
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    raw = [np.frombuffer(head, np.uint8), *(np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers)]
    sizes = np.array([len(raw), *(part.size for part in raw)], np.int64).view(np.uint8)
    return np.concatenate([sizes, *raw])


def unpacked(content: Array) -> Any:
    """Return the value that :func:`packed` made bytes of; its arrays can be written to."""
    content = np.ascontiguousarray(content).copy()
    count = int(content[:8].view(np.int64)[0])
    sizes = content[8 : 8 * (count + 1)].copy().view(np.int64)
    ends = 8 * (count + 1) + np.cumsum(sizes)
    parts = [bytearray(content[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
    return pickle.loads(parts[0], buffers=parts[1:])
