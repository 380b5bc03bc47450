"""unipd's default over the nuclear ball, and the accelerated method of the paper."""

import numpy as np
from benchmark_utils import AccuracySolver

import unipd


class Solver(AccuracySolver):
    """unipd.solve on sampled entries, which never forms X."""

    name = "unipd"
    requirements = ["pip::unipd"]
    parameters = {"method": ["auto", "accunipdgrad"]}

    def set_objective(self, rows, cols, b, shape, radius):
        sampling = unipd.maps.Sampling(rows, cols, shape)
        self.problem = unipd.Problem(
            unipd.sharp.NuclearBall(shape, radius), sampling, b, unipd.couplings.LeastSquares()
        )

    def warm_up(self):
        self.run(1e-1)

    def run(self, tolerance):
        self.result = unipd.solve(
            self.problem, self.method, accuracy=self.accuracy(tolerance), stop=unipd.MaxSeconds(5.0)
        )

    def get_result(self):
        return {"X": np.asarray(self.result.x)}
