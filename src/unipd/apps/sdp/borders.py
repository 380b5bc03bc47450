"""Recognise relaxations of binary variables: a border row to which the diagonal entry of every other row is bound."""

from __future__ import annotations

import numpy as np

from unipd._typing import IntArray
from unipd.apps.sdp.binary import Binary
from unipd.apps.sdp.data import SdpData
from unipd.maps.sdp import Entries


def find_binary(data: SdpData) -> Binary | None:
    """Return the border and the relations of a program all of whose rows are bound to one border, or None.

    >>> from unipd.apps.sdp.data import Block
    >>> entries = Entries([0, 1, 1], [0, 0, 0], [0, 1, 0], [0, 1, 1], [1.0, 1.0, -0.5])
    >>> b = np.array([1.0, 0.0])
    >>> find_binary(SdpData(2, entries, entries, b, b, (Block(0, 2, False),))).halves
    array([1. , 0.5])
    """
    entries = data.constraints
    chosen = np.isin(entries.constraint, np.flatnonzero(_counts(entries, data.size) == 2))
    order = np.flatnonzero(chosen & (entries.value != 0.0))
    order = order[np.argsort(entries.constraint[order], kind="stable")]
    first, second = order[::2], order[1::2]
    swap = entries.row[first] != entries.col[first]
    first, second = np.where(swap, second, first), np.where(swap, first, second)
    own = entries.row[first]
    low, high = entries.row[second], entries.col[second]
    rows = entries.constraint[first]
    fits = (own == entries.col[first]) & (low != high) & ((low == own) | (high == own))
    fits &= data.equal[rows] & (data.b[rows] == 0.0)
    if data.order < 2 or np.count_nonzero(fits) < data.order - 1:
        return None
    first, second, rows, own = first[fits], second[fits], rows[fits], own[fits]
    border = np.bincount(entries.row[second] + entries.col[second] - own, minlength=data.order)
    return _with_border(data, int(border.argmax()), (first, second, rows, own))


def _with_border(data: SdpData, border: int, found: tuple[IntArray, ...]) -> Binary | None:
    entries = data.constraints
    first, second, rows, own = found
    fits = entries.row[second] + entries.col[second] - own == border
    lone = (entries.row == border) & (entries.col == border) & (entries.value != 0.0)
    lone &= (_counts(entries, data.size) == 1)[entries.constraint] & data.equal[entries.constraint]
    if not lone.any():
        return None
    place = int(np.flatnonzero(lone)[0])
    corner, weight = int(entries.constraint[place]), float(entries.value[place])
    value = float(data.b[corner]) / weight
    relations = np.full(data.order, -1, np.int64)
    weights, halves = np.ones(data.order), np.ones(data.order)
    relations[own[fits]] = rows[fits]
    weights[own[fits]] = entries.value[first[fits]]
    halves[own[fits]] = -entries.value[second[fits]] / entries.value[first[fits]]
    relations[border], weights[border], halves[border] = corner, weight, 1.0
    whole = bool((relations >= 0).all()) and value > 0.0
    return Binary(border, corner, value, weight, relations, weights, halves) if whole else None


def _counts(entries: Entries, size: int) -> IntArray:
    return np.bincount(entries.constraint[entries.value != 0.0], minlength=size)
