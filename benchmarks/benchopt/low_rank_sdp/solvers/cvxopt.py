"""CVXOPT: interior points on max <b, y> subject to C - A^T y psd."""

import cvxopt
import numpy as np
import scipy.sparse as sp
from benchmark_utils import AccuracySolver


class Solver(AccuracySolver):
    """cvxopt.solvers.sdp; X is its dual variable."""

    name = "CVXOPT"
    requirements = ["pip::cvxopt"]

    def set_objective(self, C, A, b, trace):
        columns = sp.coo_array(A.T)
        G = cvxopt.spmatrix(columns.data, columns.row.astype(int), columns.col.astype(int), columns.shape)
        self.arguments = (cvxopt.matrix(-b), None, None, [G], [cvxopt.matrix(C)])

    def run(self, tolerance):
        accuracy = self.accuracy(tolerance)
        options = {"abstol": accuracy, "reltol": accuracy, "show_progress": False}
        self.found = cvxopt.solvers.sdp(*self.arguments, options=options)

    def get_result(self):
        return {"X": np.array(self.found["zs"][0]), "y": np.array(self.found["x"]).ravel()}
