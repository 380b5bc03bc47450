"""The map of cost and constraints, whole and on a face, against dense references."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.atoms import LowRank
from unipd.maps import CostAndConstraintsMap, Entries, Reflection, SdpMap, TwoSidedMap


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
    basis = reflection.matmat(np.eye(order - 1))
    np.testing.assert_allclose(basis.T @ basis, np.eye(order - 1), atol=1e-12)
    np.testing.assert_allclose(reflection.unit @ basis, 0.0, atol=1e-12)
    np.testing.assert_allclose(reflection.rmatmat(np.eye(order)), basis.T, atol=1e-12)
    dual = generator.standard_normal(3)
    slack = matrices[0] + np.tensordot(dual, matrices[1:], 1)
    np.testing.assert_allclose(cost_map.slack(dual).toarray(), slack, atol=1e-12)
    np.testing.assert_allclose((cost_map.adjoint(-dual) - cost_map.cost).toarray(), -slack, atol=1e-12)
    reduced = CostAndConstraintsMap(TwoSidedMap(sdp_map_of(matrices), reflection, reflection))
    inside = basis.T @ slack @ basis
    np.testing.assert_allclose(reduced.slack(dual).toarray(), inside, atol=1e-11)
    block = generator.standard_normal((order - 1, 2))
    np.testing.assert_allclose(reduced.slack(dual).matmat(block), inside @ block, atol=1e-11)
    atom = LowRank(block, block, np.ones(2))
    images = [float(np.sum(m * (basis @ block @ block.T @ basis.T))) for m in matrices]
    cost, image = reduced.cost_and_image(atom)
    np.testing.assert_allclose([cost, *image], images, atol=1e-10)
