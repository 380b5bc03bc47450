"""The hull of few atoms of several blocks, over which a master is solved exactly, whatever the coupling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unipd._typing import Array, FloatArray, IntArray


@dataclass(frozen=True)
class BlockHull:
    """Atoms of every block with their images and costs: the weights of every block sum to one.

    b is taken from the images of the first block, whose weights sum to one, so that B w = A x - b.
    """

    columns: Array
    gram: FloatArray
    costs: FloatArray
    sums: FloatArray

    @staticmethod
    def of(images: Array, target: Array, costs: FloatArray, blocks: IntArray) -> BlockHull:
        """Return the hull of atoms with these images, costs and block numbers.

        >>> hull = BlockHull.of(np.eye(2), np.ones(2), np.zeros(2), np.array([0, 1]))
        >>> hull.residual_at(np.ones(2), (2,))
        array([0., 0.])
        """
        sums = (blocks == np.arange(int(blocks[-1]) + 1)[:, None]).astype(np.float64)
        columns = images - target.reshape(-1, 1) * (blocks == 0)
        return BlockHull(columns, (columns.conj().T @ columns).real, costs, sums)

    def residual_at(self, weights: FloatArray, shape: tuple[int, ...]) -> Array:
        """Return A x - b."""
        return (self.columns @ weights).reshape(shape)

    def cost_at(self, weights: FloatArray) -> float:
        """Return c(w), linear in the weights."""
        return float(self.costs @ weights)

    def cost_slopes(self, weights: FloatArray) -> FloatArray:
        """Return the gradient of c."""
        del weights
        return self.costs

    def cost_curve(self) -> float:
        """Return the second derivative of c."""
        return 0.0
