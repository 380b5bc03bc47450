"""Clarabel: interior points in Rust."""

from benchmark_utils import AccuracySolver
from benchmark_utils.conic import ConicModel


class Solver(AccuracySolver):
    """Clarabel through CVXPY, whose compilation is not timed."""

    name = "Clarabel"
    requirements = ["pip::cvxpy", "pip::clarabel"]

    def set_objective(self, C, A, b, trace):
        self.model = ConicModel(C, A, b, "CLARABEL")

    def run(self, tolerance):
        accuracy = self.accuracy(tolerance)
        self.X, self.y = self.model.solve(tol_gap_abs=accuracy, tol_gap_rel=accuracy, tol_feas=accuracy)

    def get_result(self):
        return {"X": self.X, "y": self.y}
