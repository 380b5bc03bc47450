"""SCS on CVXPY's semidefinite form of the nuclear norm."""

import warnings

import cvxpy as cp
from benchmark_utils import AccuracySolver


class Solver(AccuracySolver):
    """SCS through CVXPY, whose compilation is not timed."""

    name = "SCS"
    requirements = ["pip::cvxpy", "pip::scs"]

    def skip(self, rows, cols, b, shape, radius):
        return (True, "more than 5,000 entries") if shape[0] * shape[1] > 5000 else (False, None)

    def set_objective(self, rows, cols, b, shape, radius):
        self.X = cp.Variable(shape)
        loss = cp.sum_squares(self.X[rows, cols] - b) / 2.0
        self.problem = cp.Problem(cp.Minimize(loss), [cp.normNuc(self.X) <= radius])
        self.problem.get_problem_data("SCS")

    def run(self, tolerance):
        accuracy = self.accuracy(tolerance)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.problem.solve(solver="SCS", warm_start=False, eps_abs=accuracy, eps_rel=accuracy, max_iters=20_000)

    def get_result(self):
        return {"X": self.X.value}
