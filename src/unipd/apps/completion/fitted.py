"""A fitted completion model: what predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array, FloatArray, IntArray
from unipd.apps.completion.blas import modest_blas
from unipd.apps.completion.indexing import Index
from unipd.errors import InvalidInput

NEGLIGIBLE = 1e-3
"""Singular values below this share of the largest do not count for the rank, nor X below this share of the data."""
_CHUNK = 1 << 18


@dataclass(frozen=True, eq=False)
class Fitted:
    """r_ui = mean + b_u + c_i + (U diag(s) V^T)_ui, clipped to a range.

    A user or item that was not there in training has bias 0 and no row in X.
    """

    users: Index
    items: Index
    mean: float
    user_bias: FloatArray
    item_bias: FloatArray
    left: FloatArray
    """U with orthonormal columns, a row for each user."""
    singular_values: FloatArray
    right: FloatArray
    """V with orthonormal columns, a row for each item."""
    range: tuple[float, float] | None
    """Least and largest prediction; None for no clipping."""
    negligible: bool = False
    """Whether X as a whole is negligible beside how much the ratings differ."""

    @property
    def rank(self) -> int:
        """Singular values of X that are not negligible beside the largest; none where X itself is negligible."""
        values = self.singular_values
        counted = values.size and values[0] > 0 and not self.negligible
        return int((values > NEGLIGIBLE * values[0]).sum()) if counted else 0

    def predict(self, users: Array, items: Array) -> FloatArray:
        """Return the predictions for pairs of names."""
        rows, columns = self.users.places(users), self.items.places(items)
        out = np.empty(rows.size)
        for first in range(0, rows.size, _CHUNK):
            part = slice(first, first + _CHUNK)
            out[part] = self._at(rows[part], columns[part])
        return self._clipped(out)

    def scores(self, user: Any) -> FloatArray:
        """Return the predictions for one user and every item, not clipped: clipping would tie the best."""
        row = int(self.users.places(np.asarray([user]))[0])
        scores = self.mean + self.item_bias
        if row < 0:
            return scores
        return scores + self.user_bias[row] + self.right @ (self.singular_values * self.left[row])

    def recommend(self, user: Any, count: int = 10, skipped: IntArray | None = None) -> tuple[Array, FloatArray]:
        """Return the items with the highest predictions and these, best first; ``skipped`` places are left out."""
        wanted = validate.integer("n", count, minimum=1)
        scores = self.scores(user)
        if skipped is not None:
            scores[skipped] = -np.inf
        wanted = min(wanted, int(np.isfinite(scores).sum()))
        best = np.argsort(-scores, kind="stable")[:wanted]
        return self.items.names[best], self._clipped(scores[best])

    def arrays(self) -> dict[str, Any]:
        """Return everything as arrays and numbers, for a file."""
        return {
            "users": self.users.names,
            "items": self.items.names,
            "mean": self.mean,
            "user_bias": self.user_bias,
            "item_bias": self.item_bias,
            "left": self.left,
            "singular_values": self.singular_values,
            "right": self.right,
            "range": None if self.range is None else list(self.range),
            "negligible": self.negligible,
        }

    @classmethod
    def of_arrays(cls, content: dict[str, Any]) -> Fitted:
        """Return the model that :meth:`arrays` described."""
        try:
            limits = content["range"]
            ends = None if limits is None else (float(limits[0]), float(limits[1]))
            names = {side: Index(content[side]) for side in ("users", "items")}
            parts: Any = {**content, **names, "range": ends}
            return cls(**parts)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput("content", "a completion model", str(error)) from error

    def _at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        user, item = rows >= 0, columns >= 0
        out = np.full(rows.size, self.mean)
        out[user] += self.user_bias[rows[user]]
        out[item] += self.item_bias[columns[item]]
        both = user & item
        left = self.left[rows[both]] * self.singular_values
        out[both] += np.einsum("ij,ij->i", left, self.right[columns[both]])
        return out

    def _clipped(self, values: FloatArray) -> FloatArray:
        return values if self.range is None else np.clip(values, *self.range)


def orthogonal_factors(left: Array, right: Array) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (U, s, V) with orthonormal columns and U diag(s) V^T = left right^T.

    >>> orthogonal_factors(np.array([[2.0], [0.0]]), np.array([[3.0]]))[1]
    array([6.])
    """
    with modest_blas(len(left) + len(right)):
        first, upper = np.linalg.qr(left)
        second, lower = np.linalg.qr(right)
        outer, values, inner = np.linalg.svd(upper @ lower.T)
        count = values.size
        return first @ outer[:, :count], values, second @ inner[:count].T
