"""The cost of a semidefinite program as an oracle: bounds of the smallest eigenvalue at every order."""

import numpy as np
import pytest

from unipd.maps import CostAndConstraintsMap, Entries, SdpMap
from unipd.sharp.spectral import BoundedTrace, FixedTrace, SdpCost


def symmetric(generator, order, count):
    matrices = generator.standard_normal((count, order, order))
    return matrices + matrices.transpose(0, 2, 1)


def pairs(order):
    """A cost and a constraint of 2 x 2 blocks, and the eigenvalues of cost + dual * constraint."""
    parts = symmetric(np.random.default_rng(5), 2, order).reshape(2, order // 2, 2, 2)
    first = np.repeat(2 * np.arange(order // 2), 3).reshape(-1, 3)
    rows, cols = first + np.array([0, 0, 1]), first + np.array([0, 1, 1])
    values = np.stack([parts[..., 0, 0], parts[..., 0, 1], parts[..., 1, 1]], axis=-1)
    matrix = np.repeat([0, 1], rows.size)
    entries = Entries(matrix, np.tile(rows.ravel(), 2), np.tile(cols.ravel(), 2), values.ravel())
    cost_map = CostAndConstraintsMap(SdpMap((order, order), entries, 2))
    return cost_map, lambda dual: np.linalg.eigvalsh(parts[0] + dual * parts[1]).ravel()


@pytest.mark.parametrize("kind", [FixedTrace, BoundedTrace])
@pytest.mark.parametrize("order", [80, 400, 2100], ids=["dense", "Lanczos, dense where in doubt", "Lanczos, Cholesky"])
def test_oracle_brackets_the_smallest_eigenvalue(kind, order):
    cost_map, eigenvalues = pairs(order)
    oracle = SdpCost(cost_map, kind(order, 3.0))
    dual = np.array([0.7])
    true = -3.0 * eigenvalues(0.7).min()
    answer = oracle.call_certified(cost_map.adjoint(-dual), tolerance=1e-5)
    assert answer.bound_kind == "rigorous"
    assert answer.value <= true + 1e-9
    assert true <= answer.value + answer.error <= true + 1e-3
    assert answer.objective == pytest.approx(oracle.objective(answer.atom), rel=1e-9)


def test_above_the_cholesky_order_the_bound_is_called_probabilistic():
    cost_map, eigenvalues = pairs(3100)
    answer = SdpCost(cost_map, FixedTrace(3100, 1.0)).call_certified(cost_map.adjoint(np.zeros(1)), tolerance=1e-6)
    true = -eigenvalues(0.0).min()
    assert answer.bound_kind == "probabilistic"
    assert answer.value <= true + 1e-9
    assert true <= answer.value + answer.error
