import numpy as np
import pytest

from unipd.io import Graph


@pytest.fixture(scope="session")
def graph():
    """A random weighted graph of 24 nodes."""
    generator = np.random.default_rng(3)
    rows, cols = np.triu_indices(24, 1)
    keep = generator.random(rows.size) < 0.3
    return Graph.of(24, rows[keep], cols[keep], generator.integers(1, 4, keep.sum()).astype(float))
