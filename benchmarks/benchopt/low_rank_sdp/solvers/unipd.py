"""unipd's default for semidefinite programs: factored, or by interior points where those are cheaper."""

import numpy as np
from benchmark_utils import AccuracySolver

import unipd


class Solver(AccuracySolver):
    """unipd.SDP."""

    name = "unipd"
    requirements = ["pip::unipd[sdp]"]
    parameters = {"method": ["auto"]}

    def set_objective(self, C, A, b, trace):
        rows = [A[[index]].reshape(C.shape) for index in range(b.size)]
        self.program, self.trace = unipd.SDP.from_matrices(C, rows, b), trace

    def warm_up(self):
        self.run(1e-2)

    def run(self, tolerance):
        self.result = self.program.solve(accuracy=self.accuracy(tolerance), method=self.method, trace_bound=self.trace)

    def get_result(self):
        return {"X": np.asarray(self.result.x), "y": -self.result.dual}
