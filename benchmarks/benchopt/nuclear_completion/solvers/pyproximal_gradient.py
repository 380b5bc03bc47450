"""Accelerated proximal gradients of PyProximal with its nuclear ball."""

import numpy as np
import pylops
import pyproximal

from benchopt import BaseSolver


class Solver(BaseSolver):
    """pyproximal.optimization.primal.ProximalGradient."""

    name = "PyProximal"
    requirements = ["pip::pyproximal"]
    sampling_strategy = "iteration"

    def set_objective(self, rows, cols, b, shape, radius):
        self.shape = shape
        restriction = pylops.Restriction(shape[0] * shape[1], rows * shape[1] + cols)
        self.loss = pyproximal.L2(Op=restriction, b=b)
        self.ball = pyproximal.NuclearBall(shape, radius)

    def run(self, n_iter):
        x = np.zeros(self.shape[0] * self.shape[1])
        if n_iter:
            x = pyproximal.optimization.primal.ProximalGradient(
                self.loss, self.ball, x0=x, tau=1.0, niter=n_iter, acceleration="fista"
            )
        self.X = x.reshape(self.shape)

    def get_result(self):
        return {"X": self.X}
