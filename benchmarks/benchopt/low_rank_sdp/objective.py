"""Semidefinite programs with solutions of low rank: min <C, X> subject to A(X) = b, X psd, with a known trace.

Every figure is computed here from the X and y that a solver returns. For any y, all feasible X satisfy
<C, X> >= <b, y> + trace * min(0, lambda_min(C - A^T y)), so the gap is a proof whatever the solver claims.
"""

import numpy as np

from benchopt import BaseObjective


class Objective(BaseObjective):
    """The largest of relative gap, infeasibility and negative eigenvalue."""

    name = "Low-rank semidefinite programs"
    min_benchopt_version = "1.6"

    def set_data(self, C, A, b, trace):
        self.C, self.A, self.b, self.trace = C, A, b, trace

    def get_objective(self):
        return {"C": self.C, "A": self.A, "b": self.b, "trace": self.trace}

    def get_one_result(self):
        n = len(self.C)
        return {"X": np.eye(n) * self.trace / n, "y": np.zeros(self.b.size)}

    def evaluate_result(self, X, y):
        X = (X + X.T) / 2.0
        slack = self.C - (self.A.T @ y).reshape(self.C.shape)
        primal = float(np.vdot(self.C, X))
        bound = float(self.b @ y) + self.trace * min(0.0, np.linalg.eigvalsh((slack + slack.T) / 2.0)[0])
        gap = abs(primal - bound) / (1.0 + abs(bound))
        infeasibility = np.linalg.norm(self.A @ X.ravel() - self.b) / (1.0 + np.linalg.norm(self.b))
        values = np.linalg.eigvalsh(X)
        negative = max(0.0, -values[0]) / self.trace
        return {
            "value": float(max(gap, infeasibility, negative)),
            "gap": gap,
            "infeasibility": float(infeasibility),
            "negative_eigenvalue": float(negative),
            "primal": primal,
            "bound": float(bound),
            "rank": int((values > 1e-6 * self.trace).sum()),
        }
