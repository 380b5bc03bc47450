"""Biases alone: the ridge regression on who rated and what was rated."""

from __future__ import annotations

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.apps.completion.design import Design

SWEEPS = 20
"""Sweeps of exact minimisation over one side and then the other."""


def fit_biases(design: Design) -> tuple[FloatArray, FloatArray]:
    """Return (b, c) that minimise 1/2 sum (r - mean - b_u - c_i)^2 + ridges, to the accuracy of a few sweeps.

    >>> from unipd.apps.completion.design import Settings
    >>> design = Design(np.array([0, 1]), np.array([0, 0]), np.array([2.0, 4.0]), (2, 1), Settings(user_ridge=1.0))
    >>> fit_biases(design)[0]
    array([-0.5,  0.5])
    """
    (by_user, by_item), target, settings = design.incidences, design.target, design.settings
    users, items = np.zeros(design.shape[0]), np.zeros(design.shape[1])
    for _ in range(SWEEPS):
        sums = by_item.adjoint(target - by_user.image(users))
        items = _shrunk(sums, design.item_counts + settings.item_ridge)
        sums = by_user.adjoint(target - by_item.image(items))
        users = _shrunk(sums, design.user_counts + settings.user_ridge)
    return users, items


def _shrunk(sums: Array, weights: FloatArray) -> FloatArray:
    return np.divide(sums, weights, out=np.zeros(weights.size), where=weights > 0)
