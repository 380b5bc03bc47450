"""Files of ratings in shards: each rank reads its own lines and ends up with the ratings of its own users."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.cluster.balance import contiguous, shares
from unipd.cluster.ranks import Ranks
from unipd.io.ratings import Ratings, Shard, read_ratings
from unipd.io.ratings_text import Layout, find_layout

_PACKED = (".gz", ".parquet", ".pq")
"""Files that cannot be read from the middle: every rank reads them and keeps its share."""


def read_shard(path: str | os.PathLike[str], ranks: Ranks) -> Shard:
    """Return the ratings of this rank's users.

    Of a text file with numbers for names a rank reads its own lines only; ratings then move to the rank of their user.
    Other files (compressed, or with texts for names) are read by every rank, which keeps its share.
    """
    lines = _own_lines(Path(path), ranks)
    if lines is None:
        everything = read_ratings(path)
        counts = shares(len(everything), ranks.size)
        first = int(counts[: ranks.rank].sum())
        own = everything.where(slice(first, first + int(counts[ranks.rank])))  # type: ignore[arg-type]
        lines = (own.users, own.items, own.values)
        del everything
    return moved(Ratings(*lines), ranks)


def moved(ratings: Ratings, ranks: Ranks) -> Shard:
    """Return the ratings of this rank's users, from ratings spread over the ranks in any way.

    Users are divided in the order of their names, about as many ratings to each rank. Of several ratings of one pair
    those of later ranks come later.
    """
    users, items = _all_names(ratings.users, ranks), _all_names(ratings.items, ranks)
    places = np.searchsorted(users, ratings.users)
    counts = ranks.summed(np.bincount(places, minlength=users.size))
    owners = np.searchsorted(contiguous(counts, ranks.size)[1:-1], places, side="right")
    order = np.argsort(owners, kind="stable")
    cuts = np.cumsum(np.bincount(owners, minlength=ranks.size))[:-1]

    def sent(values: Array) -> Array:
        return np.concatenate(ranks.exchanged(np.split(values[order], cuts)))

    rows, columns = sent(places), sent(np.searchsorted(items, ratings.items))
    return Shard(users[rows], items[columns], sent(ratings.values), users, items)


def _all_names(names: Array, ranks: Ranks) -> Array:
    own = np.unique(names)
    if own.dtype.kind != "U":
        return np.unique(ranks.joined(own))
    return np.unique(np.concatenate(ranks.objects(own)))


def _own_lines(path: Path, ranks: Ranks) -> tuple[Array, Array, FloatArray] | None:
    """Return this rank's lines of a text file of numbers; None on every rank when that cannot be read in parts."""
    if path.suffix.lower() in _PACKED:
        return None
    layout = find_layout(path)
    if any(layout.texts):
        return None
    found = _parsed(_own_bytes(path, layout, ranks), layout)
    return None if ranks.summed(np.array([int(found is None)]))[0] else found


def _own_bytes(path: Path, layout: Layout, ranks: Ranks) -> bytes:
    """Return the lines that begin in this rank's part of the bytes."""
    size = path.stat().st_size
    first, last = (size * part // ranks.size for part in (ranks.rank, ranks.rank + 1))
    with open(path, "rb") as stream:
        begin = _line_after(stream, first)
        end = _line_after(stream, last)
        stream.seek(begin)
        content = stream.read(max(end - begin, 0))
    if first == 0 and layout.header:
        content = content.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[2]
    return content


def _line_after(stream: Any, place: int) -> int:
    """Return where the first line begins that begins at ``place`` or after it."""
    if place == 0:
        return 0
    stream.seek(place - 1)
    stream.readline()
    return int(stream.tell())


def _parsed(content: bytes, layout: Layout) -> tuple[Array, Array, FloatArray] | None:
    """Return users, items and ratings of lines of numbers; None when there is anything else."""
    separator = layout.separator
    if separator == "::":
        content, separator = content.replace(b"::", b"\t"), "\t"
    kinds: Any = [("user", np.int64), ("item", np.int64), ("rating", np.float64)]
    how: Any = {"delimiter": separator, "usecols": layout.columns, "comments": None, "ndmin": 1}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a rank may have no lines
            text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
            table: Any = np.loadtxt((line for line in text if line.strip()), kinds, **how)
    except (ValueError, OverflowError):
        return None
    users, items, ratings = (np.ascontiguousarray(table[name]) for name in ("user", "item", "rating"))
    fine = not users.size or (users.min() >= 0 and items.min() >= 0 and np.isfinite(ratings).all())
    return (users, items, ratings) if fine else None
