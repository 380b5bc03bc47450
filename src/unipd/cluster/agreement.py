"""Ranks must have the same data, the same options and the same dual vector: checked by comparing hashes."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.cluster.ranks import Ranks
from unipd.errors import InvalidInput, UnipdError

EVERY = 8
"""The dual vector is compared at every so many products with the adjoint."""


class Disagreement(UnipdError, RuntimeError):
    """Ranks that must agree do not."""


def digest(value: Any) -> int:
    """Return a number that tells values apart: of an array from its bytes, else from what is printed of it.

    >>> digest(np.array([1.0])) == digest(np.array([1.0])), digest("a") == digest("b")
    (True, False)
    """
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        return zlib.crc32(array.reshape(-1).view(np.uint8).data, zlib.crc32(f"{array.dtype}{array.shape}".encode()))
    return zlib.crc32(repr(value).encode())


def require_same(ranks: Ranks, what: str, values: Mapping[str, Any]) -> None:
    """Raise on every rank unless all have the same values; the message names those that differ.

    >>> from unipd.cluster.ranks import Single
    >>> require_same(Ranks(Single()), "options", {"seed": 1})
    """
    if ranks.size == 1:
        return
    mine = {name: (digest(value), _shown(value)) for name, value in values.items()}
    everyone: list[dict[str, tuple[int, str]]] = ranks.objects(mine)
    names = dict.fromkeys(name for one in everyone for name in one)
    differing = [text for name in names if (text := _difference(name, everyone)) is not None]
    if differing:
        raise InvalidInput(what, "the same on every rank", "; ".join(differing))


def _difference(name: str, everyone: list[dict[str, tuple[int, str]]]) -> str | None:
    first = everyone[0].get(name)
    for rank, one in enumerate(everyone):
        found = one.get(name)
        if (found is None) != (first is None) or (found and first and found[0] != first[0]):
            texts = ["nothing" if value is None else value[1] for value in (first, found)]
            return f"{name} ({texts[0]} on rank 0, {texts[1]} on rank {rank})"
    return None


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array {digest(value):08x} of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class Watch:
    """Compare the dual vectors of all ranks now and then.

    Parameters
    ----------
    ranks
        The ranks.
    every
        At every so many calls.
    """

    def __init__(self, ranks: Ranks, every: int = EVERY) -> None:
        self._ranks = ranks
        self._every = every
        self._calls = 0

    def __call__(self, dual: Array) -> None:
        """Count the call; when its turn has come, raise on every rank unless the vectors agree."""
        self._calls += 1
        if self._ranks.size == 1 or self._calls % self._every:
            return
        hashes = self._ranks.joined(np.array([digest(dual)], np.int64))
        strays = np.flatnonzero(hashes != hashes[0])
        if strays.size:
            who = ", ".join(str(rank) for rank in strays)
            raise Disagreement(
                f"the ranks have come apart: the dual vector of rank {who} is not that of rank 0 (product "
                f"{self._calls}); are the machines alike, and is every callback and option the same on all ranks?"
            )
