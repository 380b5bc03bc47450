"""Accuracies of the solvers that take one: 1e-1, 1e-2, and so on."""

from benchopt import BaseSolver


class AccuracySolver(BaseSolver):
    """A solver that is asked for ten times the accuracy in each run."""

    sampling_strategy = "tolerance"

    def get_next(self, tolerance):
        return self.accuracy(tolerance) / 10.0

    @staticmethod
    def accuracy(tolerance):
        """Return what to ask for: benchopt begins with infinity, and 1e-9 is as much as double precision has."""
        return max(1e-9, min(1e-1, tolerance))
