"""The programs as CVXPY models, for its solvers."""

import warnings

import cvxpy as cp
import numpy as np


class ConicModel:
    """A program in CVXPY, compiled once for a solver; its y has the sign that the objective expects."""

    def __init__(self, C, A, b, solver):
        self.X = cp.Variable(C.shape, PSD=True)
        self.equations = A @ cp.vec(self.X, order="C") == b
        self.problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(C, self.X))), [self.equations])
        self.solver = solver
        self.problem.get_problem_data(solver)

    def solve(self, **settings):
        """Solve, also to a low accuracy, and return X and y."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "solution may be inaccurate" is what the objective measures
            self.problem.solve(solver=self.solver, warm_start=False, **settings)
        return self.X.value, -np.asarray(self.equations.dual_value)
