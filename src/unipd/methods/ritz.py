"""Projections on the spectrahedron from a few Ritz vectors, and matrices given by factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from unipd._typing import Array, FloatArray

Terms: TypeAlias = Sequence[tuple[float, Array]]
"""The matrix sum_i c_i F_i F_i^* as its pairs (c_i, F_i)."""
GUARD = 12
"""Ritz vectors kept beyond the rank of a projection, at least; two thirds of the rank where that is more. With fewer
the projections need fewer products each, and as many more of them are needed."""


@dataclass(frozen=True)
class Projection:
    """Projections of Y + H / L on {X psd, tr X = a} for any L, from one product H Q with an orthonormal basis Q.

    >>> model = Projection(np.eye(3), np.diag([2.0, 1.5, -1.0]), (), 1.0)
    >>> roots, _ = model.projected(1.0)
    >>> (roots @ roots.T).round(9)
    array([[0.75, 0.  , 0.  ],
           [0.  , 0.25, 0.  ],
           [0.  , 0.  , 0.  ]])
    """

    basis: Array
    """Q."""
    pushed: Array
    """H Q."""
    terms: Terms
    """Y."""
    trace: float
    """a."""

    @cached_property
    def _held(self) -> Array:
        """Y Q."""
        held: Array = np.zeros_like(self.basis)
        for share, factor in self.terms:
            held = held + share * (factor @ (factor.conj().T @ self.basis))
        return held

    @cached_property
    def _small(self) -> tuple[Array, Array]:
        """Q^* Y Q and Q^* H Q."""
        turned = self.basis.conj().T
        return _hermitian(turned @ self._held), _hermitian(turned @ self.pushed)

    @property
    def top(self) -> float:
        """The largest Ritz value of H."""
        return float(np.linalg.eigvalsh(self._small[1])[-1])

    def refined(self, curvature: float, push: Callable[[Array], Array]) -> Projection:
        """Return the projection with the residuals M Q - Q (Q^* M Q) in the basis too, as far as there is room."""
        rows, columns = self.basis.shape
        image = self._held + self.pushed / curvature
        residual = image - self.basis @ (self.basis.conj().T @ image)
        more = joined(self.basis, residual[:, : rows - columns])
        return Projection(
            np.concatenate([self.basis, more], axis=1),
            np.concatenate([self.pushed, push(more)], axis=1),
            self.terms,
            self.trace,
        )

    def projected(self, curvature: float) -> tuple[Array, Array]:
        """Return a factor of the projection with this L, and its Ritz vectors with some more below them."""
        values, vectors = np.linalg.eigh(self._small[0] + self._small[1] / curvature)
        raised = on_simplex(values, self.trace)
        kept = raised > 0.0
        rank = int(np.count_nonzero(kept))
        factor = self.basis @ (vectors[:, kept] * np.sqrt(raised[kept]))
        leading = self.basis @ vectors[:, -(rank + max(GUARD, 2 * rank // 3)) :]
        return factor, np.linalg.qr(leading)[0]


def joined(basis: Array, block: Array) -> Array:
    """Return orthonormal columns, orthogonal to an orthonormal basis, that span a block of any scale together with it.

    >>> joined(np.array([[1.0], [0.0]]), np.array([[3.0], [1e-9]])).round(6)
    array([[0.],
           [1.]])
    """
    for _ in range(2):
        block = block - basis @ (basis.conj().T @ block)
        lengths = np.linalg.norm(block, axis=0)
        block = np.linalg.qr(block / np.where(lengths > 0.0, lengths, 1.0))[0]
    return block


def on_simplex(values: FloatArray, total: float) -> FloatArray:
    """Return the nearest vector with nonnegative entries of this sum; values in ascending order.

    >>> on_simplex(np.array([-1.0, 1.5, 2.0]), 1.0)
    array([0.  , 0.25, 0.75])
    """
    falling = values[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, values.size + 1)
    return np.maximum(values - levels[np.flatnonzero(falling > levels)[-1]], 0.0)


def compressed(*matrices: Terms) -> list[Array]:
    """Return matrices given by factors in one orthonormal basis of all their ranges.

    Differences of nearby matrices keep their digits so, which inner products of the factors would lose.

    >>> axis = np.array([[1.0], [0.0]])
    >>> compressed(((2.0, axis),), ((1.0, axis), (-1.0, axis)))
    [array([[2.]]), array([[0.]])]
    """
    factors = {id(factor): factor for terms in matrices for _, factor in terms}
    ends = np.cumsum([0, *(factor.shape[1] for factor in factors.values())])
    triangle: Any = np.linalg.qr(np.concatenate(list(factors.values()), axis=1), mode="r")
    places = {key: slice(ends[i], ends[i + 1]) for i, key in enumerate(factors)}
    results: list[Array] = []
    for terms in matrices:
        total: Array = np.zeros((triangle.shape[0],) * 2, triangle.dtype)
        for share, factor in terms:
            part = triangle[:, places[id(factor)]]
            total = total + share * (part @ part.conj().T)
        results.append(total)
    return results


def minus(one: Terms, other: Terms) -> Terms:
    """Return the difference of two matrices given by factors."""
    return (*one, *((-share, factor) for share, factor in other))


def _hermitian(matrix: Array) -> Array:
    return 0.5 * (matrix + matrix.conj().T)
