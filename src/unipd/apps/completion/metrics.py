"""How good predictions and recommendations are: RMSE, MAE, NDCG, recall, MAP."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import FloatArray, IntArray
from unipd.errors import InvalidInput

METRICS = ("rmse", "mae", "ndcg", "recall", "map")
"""Names of the metrics, in the order in which they are reported."""


def check_metrics(argument: str, names: Any) -> tuple[str, ...]:
    """Return the names of metrics, from a sequence or a text with commas; an unknown one raises.

    >>> check_metrics("metrics", "ndcg, rmse")
    ('ndcg', 'rmse')
    """
    chosen = tuple(name.strip() for name in (names.split(",") if isinstance(names, str) else names))
    unknown = [name for name in chosen if name not in METRICS]
    if unknown or not chosen:
        raise InvalidInput(argument, f"names among {', '.join(METRICS)}", ", ".join(unknown) or "none")
    return chosen


def prediction_metrics(error: FloatArray) -> dict[str, float]:
    """Return the root mean squared and the mean absolute error.

    >>> prediction_metrics(np.array([3.0, -4.0]))["mae"]
    3.5
    """
    return {"rmse": float(np.sqrt(np.mean(error**2))), "mae": float(np.mean(np.abs(error)))}


def ranking_metrics(best: IntArray, rows: IntArray, columns: IntArray, counts: IntArray) -> dict[str, float]:
    """Return NDCG, recall and MAP of lists of items, averaged over users; relevance is 0 or 1.

    With k items in a list, hits h_1, ..., h_k in {0, 1} and c relevant items: NDCG is sum h_i / log2(i + 1) over that
    of min(k, c) hits at the top, recall is sum h_i / c, and average precision is the mean over min(k, c) of the
    precision at every hit.

    Parameters
    ----------
    best
        Columns of the items in the list of every user, best first; -1 for none.
    rows, columns
        The relevant pairs: the place of the user in ``best``, and the item's column.
    counts
        Number of relevant items of every user (those that no list can contain too), at least 1.

    Examples
    --------
    >>> best = np.array([[5, 7], [5, 6]])
    >>> found = ranking_metrics(best, np.array([0, 1]), np.array([7, 5]), np.array([1, 1]))
    >>> round(found["ndcg"], 3), found["recall"], found["map"]
    (0.815, 1.0, 0.75)
    """
    width = int(max(best.max(initial=0), columns.max(initial=0))) + 1
    relevant = np.sort(rows * np.int64(width) + columns)
    keys = np.arange(best.shape[0])[:, None] * np.int64(width) + best
    place = np.minimum(np.searchsorted(relevant, keys), max(relevant.size - 1, 0))
    hits = (best >= 0) & (relevant[place] == keys) if relevant.size else np.zeros(best.shape, bool)
    discounts = 1.0 / np.log2(np.arange(2, best.shape[1] + 2))
    most = np.minimum(counts, best.shape[1])
    ideal = np.cumsum(discounts)[most - 1]
    precision = np.cumsum(hits, axis=1) / np.arange(1, best.shape[1] + 1)
    return {
        "ndcg": float(np.mean(hits @ discounts / ideal)),
        "recall": float(np.mean(hits.sum(axis=1) / counts)),
        "map": float(np.mean((precision * hits).sum(axis=1) / most)),
    }
