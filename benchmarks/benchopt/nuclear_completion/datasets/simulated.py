"""Entries of random matrices of low rank, with noise."""

import numpy as np

from benchopt import BaseDataset


class Dataset(BaseDataset):
    """A quarter of the entries, and 0.4 times the nuclear norm of the truth as radius."""

    name = "Simulated"
    parameters = {"rows, columns": [(60, 40), (300, 200)], "rank": [5], "noise": [0.1]}
    test_parameters = {"rows, columns": [(12, 9)], "rank": [2], "noise": [0.1]}

    def get_data(self):
        rng = np.random.default_rng(self.get_seed())
        shape = (self.rows, self.columns)
        truth = rng.standard_normal((shape[0], self.rank)) @ rng.standard_normal((self.rank, shape[1]))
        rows, cols = np.nonzero(rng.random(shape) < 0.25)
        b = truth[rows, cols] + self.noise * rng.standard_normal(rows.size)
        radius = 0.4 * float(np.linalg.svd(truth, compute_uv=False).sum())
        return {"rows": rows, "cols": cols, "b": b, "shape": shape, "radius": radius}
