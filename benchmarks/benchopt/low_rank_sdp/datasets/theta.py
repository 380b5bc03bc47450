"""The theta number of Lovasz for random graphs: trace X = 1, and X_ij = 0 on every edge."""

import numpy as np
import scipy.sparse as sp

from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Graphs with a given density of edges."""

    name = "Theta"
    parameters = {"nodes": [30, 60], "density": [0.2]}
    test_parameters = {"nodes": [8], "density": [0.3]}

    def get_data(self):
        rng = np.random.default_rng(self.get_seed())
        n = self.nodes
        i, j = np.nonzero(np.triu(rng.random((n, n)) < self.density, 1))
        identity = sp.csr_array(np.eye(n).reshape(1, -1))
        rows, values = np.repeat(np.arange(i.size), 2), np.full(2 * i.size, 0.5)
        places = np.stack([i * n + j, j * n + i], axis=1).ravel()
        edges = sp.csr_array((values, (rows, places)), shape=(i.size, n * n))
        b = np.zeros(1 + i.size)
        b[0] = 1.0
        return {"C": -np.ones((n, n)), "A": sp.vstack([identity, edges], format="csr"), "b": b, "trace": 1.0}
