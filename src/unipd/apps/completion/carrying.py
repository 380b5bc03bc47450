"""Take a fit to ratings that were added: users and items may be new, so rows move."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.completion.design import Start
from unipd.apps.completion.indexing import Index
from unipd.apps.completion.placing import Data
from unipd.atoms import Blocks, LowRank


def carried(start: Start, old: Data, new: Data) -> Start:
    """Return the start with the rows of users and items where they are now; those that are new begin at zero.

    Rows of Z are those of the users and then those of their features: the items that they rated, or columns of a
    matrix, which stay.
    """
    matrix, users, items = start.point.parts
    point = LowRank(
        _rows(matrix.left, (old.users, old.items), (new.users, new.items)),
        _rows(matrix.right, (old.items, old.users), (new.items, new.users)),
        matrix.weights,
    )
    biases = _moved(np.asarray(users), old.users, new.users), _moved(np.asarray(items), old.items, new.items)
    return Start(Blocks((point, *biases)), start.multiplier)


def _rows(block: Array, old: tuple[Index, Index], new: tuple[Index, Index]) -> Array:
    own, rest = block[: len(old[0])], block[len(old[0]) :]
    parts = [_moved(own, old[0], new[0])]
    if len(rest):
        parts.append(_moved(rest, old[1], new[1]) if len(rest) == len(old[1]) else rest)
    return np.concatenate(parts, axis=0)


def _moved(rows: Array, old: Index, new: Index) -> Array:
    out: Any = np.zeros((len(new), *rows.shape[1:]), rows.dtype)
    out[new.places(old.names)] = rows
    return out
