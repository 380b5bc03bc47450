"""SCS: splitting conic solver, a first-order method."""

from benchmark_utils import AccuracySolver
from benchmark_utils.conic import ConicModel


class Solver(AccuracySolver):
    """SCS through CVXPY, whose compilation is not timed."""

    name = "SCS"
    requirements = ["pip::cvxpy", "pip::scs"]

    def set_objective(self, C, A, b, trace):
        self.model = ConicModel(C, A, b, "SCS")

    def run(self, tolerance):
        accuracy = self.accuracy(tolerance)
        self.X, self.y = self.model.solve(eps_abs=accuracy, eps_rel=accuracy, max_iters=100_000)

    def get_result(self):
        return {"X": self.X, "y": self.y}
