"""Matrix completion over the nuclear ball: min 1/2 |P(X) - b|^2 subject to |X|_* <= radius.

With G the gradient at X, f(X) - f* <= <G, X> + radius |G|_2 for every X in the ball: the gap is computed here, by a
singular value decomposition, from the X that a solver returns, scaled into the ball where it lies outside.
"""

import numpy as np

from benchopt import BaseObjective


class Objective(BaseObjective):
    """The duality gap relative to the loss at zero."""

    name = "Nuclear-norm completion"
    min_benchopt_version = "1.6"

    def set_data(self, rows, cols, b, shape, radius):
        self.rows, self.cols, self.b, self.shape, self.radius = rows, cols, b, shape, radius

    def get_objective(self):
        return {"rows": self.rows, "cols": self.cols, "b": self.b, "shape": self.shape, "radius": self.radius}

    def get_one_result(self):
        return {"X": np.zeros(self.shape)}

    def evaluate_result(self, X):
        values = np.linalg.svd(X, compute_uv=False)
        norm = float(values.sum())
        inside = X * min(1.0, self.radius / max(norm, 1e-300))
        residual = inside[self.rows, self.cols] - self.b
        gradient = np.zeros(self.shape)
        gradient[self.rows, self.cols] = residual
        gap = float(np.vdot(gradient, inside)) + self.radius * float(np.linalg.norm(gradient, 2))
        return {
            "value": gap / (0.5 * float(self.b @ self.b)),
            "loss": 0.5 * float(residual @ residual),
            "excess_norm": max(0.0, norm / self.radius - 1.0),
            "rank": int((values > 1e-6 * values[0]).sum()),
        }
