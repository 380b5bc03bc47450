"""Goemans and Williamson's relaxation of MaxCut on random graphs: X has ones on its diagonal."""

import numpy as np
import scipy.sparse as sp

from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Graphs with edges of probability degree / nodes."""

    name = "MaxCut"
    parameters = {"nodes": [50, 100, 300], "degree": [8]}
    test_parameters = {"nodes": [10], "degree": [4]}

    def get_data(self):
        rng = np.random.default_rng(self.get_seed())
        n = self.nodes
        edges = np.triu(rng.random((n, n)) < self.degree / n, 1).astype(float)
        edges += edges.T
        laplacian = np.diag(edges.sum(axis=1)) - edges
        rows = np.arange(n)
        diagonal = sp.csr_array((np.ones(n), (rows, rows * (n + 1))), shape=(n, n * n))
        return {"C": -laplacian / 4.0, "A": diagonal, "b": np.ones(n), "trace": float(n)}
