"""The map of cost and constraints and its facial reduction against dense references."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.apps.sdp import SdpData, find_face
from unipd.atoms import LowRank
from unipd.maps.sdp import CostAndConstraintsMap, Entries, ReducedMap, Reflection, SdpMap
from unipd.sharp.spectral.sdp import BoundedTrace, FixedTrace, SdpCost


def symmetric(generator, order, count):
    matrices = generator.standard_normal((count, order, order))
    return matrices + matrices.transpose(0, 2, 1)


def sdp_map_of(matrices):
    return SdpMap(matrices[0].shape, Entries.from_matrices(list(matrices)), len(matrices))


def cost_map_of(matrices):
    return CostAndConstraintsMap(sdp_map_of(matrices))


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(2, 6))
def test_whole_and_reduced_maps_match_dense_matrices(seed, order):
    generator = np.random.default_rng(seed)
    matrices = symmetric(generator, order, 4)
    cost_map = cost_map_of(matrices)
    reflection = Reflection(generator.standard_normal(order))
    basis = reflection.times(np.eye(order - 1))
    np.testing.assert_allclose(basis.T @ basis, np.eye(order - 1), atol=1e-12)
    np.testing.assert_allclose(reflection.unit @ basis, 0.0, atol=1e-12)
    np.testing.assert_allclose(reflection.adjoint_times(np.eye(order)), basis.T, atol=1e-12)
    dual = generator.standard_normal(3)
    slack = matrices[0] + np.tensordot(dual, matrices[1:], 1)
    np.testing.assert_allclose(cost_map.slack(dual).toarray(), slack, atol=1e-12)
    np.testing.assert_allclose((cost_map.adjoint(-dual) - cost_map.cost).toarray(), -slack, atol=1e-12)
    reduced = CostAndConstraintsMap(ReducedMap(sdp_map_of(matrices), reflection))
    inside = basis.T @ slack @ basis
    np.testing.assert_allclose(reduced.slack(dual).toarray(), inside, atol=1e-11)
    block = generator.standard_normal((order - 1, 2))
    np.testing.assert_allclose(reduced.slack(dual).matmat(block), inside @ block, atol=1e-11)
    atom = LowRank(block, block, np.ones(2))
    images = [float(np.sum(m * (basis @ block @ block.T @ basis.T))) for m in matrices]
    cost, image = reduced.cost_and_image(atom)
    np.testing.assert_allclose([cost, *image], images, atol=1e-10)


def test_face_multiplier_keeps_its_promise():
    generator = np.random.default_rng(2)
    slack = symmetric(generator, 5, 1)[0]
    ones = Entries.from_matrices([2.0 * np.ones((5, 5))])
    data = SdpData(5, ones, ones, np.zeros(1), np.zeros(1))
    face = find_face(data)
    basis = Reflection(np.ones(5)).times(np.eye(4))
    smallest = np.linalg.eigvalsh(basis.T @ slack @ basis)[0]
    operator = cost_map_of([slack, np.eye(5)]).cost
    for loss in (1e-1, 1e-4, 1e-7):
        multiplier = face.multiplier(operator, smallest, loss)
        bottom = np.linalg.eigvalsh(slack + multiplier * 2.0 * np.ones((5, 5)))[0]
        assert smallest - loss * (1 + 1e-6) - 1e-9 <= bottom <= smallest + 1e-9


def test_no_face_unless_the_right_hand_side_is_zero():
    ones = Entries.from_matrices([np.ones((3, 3))])
    assert find_face(SdpData(3, ones, ones, np.ones(1), np.ones(1))) is None
    assert find_face(SdpData(3, ones, ones, np.zeros(1), np.ones(1))) is None


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
