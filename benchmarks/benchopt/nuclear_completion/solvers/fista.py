"""Accelerated projected gradients (FISTA) in NumPy: a full singular value decomposition in every iteration."""

import numpy as np

from benchopt import BaseSolver


class Solver(BaseSolver):
    """FISTA with projections onto the nuclear ball; the loss has the Lipschitz constant 1."""

    name = "FISTA"
    sampling_strategy = "callback"

    def set_objective(self, rows, cols, b, shape, radius):
        self.entries, self.b, self.shape, self.radius = (rows, cols), b, shape, radius

    def project(self, X):
        """Return the nearest point of the ball: that of the simplex for the singular values."""
        left, values, right = np.linalg.svd(X, full_matrices=False)
        if values.sum() > self.radius:
            excess = (np.cumsum(values) - self.radius) / np.arange(1, values.size + 1)
            values = np.maximum(values - excess[np.flatnonzero(values > excess)[-1]], 0.0)
        return (left * values) @ right

    def run(self, callback):
        self.X = point = np.zeros(self.shape)
        momentum = 1.0
        while callback():
            step = point.copy()
            step[self.entries] -= point[self.entries] - self.b
            before, self.X = self.X, self.project(step)
            following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
            point = self.X + (momentum - 1.0) / following * (self.X - before)
            momentum = following

    def get_result(self):
        return {"X": self.X}
