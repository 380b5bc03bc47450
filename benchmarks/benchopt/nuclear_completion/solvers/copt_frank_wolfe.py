"""Frank-Wolfe of copt, with its backtracking step sizes."""

import copt
import numpy as np
from copt.constraint import TraceBall

from benchopt import BaseSolver


class Solver(BaseSolver):
    """copt.minimize_frank_wolfe over the trace ball."""

    name = "copt-FW"
    requirements = ["pip::copt"]
    parameters = {"variant": ["vanilla"]}
    sampling_strategy = "iteration"

    def set_objective(self, rows, cols, b, shape, radius):
        self.entries, self.b, self.shape, self.ball = (rows, cols), b, shape, TraceBall(radius, shape)

    def loss(self, x):
        """Return loss and gradient."""
        residual = x.reshape(self.shape)[self.entries] - self.b
        gradient = np.zeros(self.shape)
        gradient[self.entries] = residual
        return 0.5 * residual @ residual, gradient.ravel()

    def run(self, n_iter):
        x0 = np.zeros(self.shape[0] * self.shape[1])
        if n_iter == 0:
            self.X = x0.reshape(self.shape)
            return
        self.X = copt.minimize_frank_wolfe(
            self.loss, x0, self.ball.lmo, step="backtracking", lipschitz=1.0, max_iter=n_iter, tol=0.0,
            variant=self.variant,
        ).x.reshape(self.shape)  # fmt: skip

    def get_result(self):
        return {"X": self.X}
