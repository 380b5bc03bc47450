"""k-means and communities: against the general solver, scikit-learn and known clusters."""

import itertools

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from unipd.apps.learning import communities, kmeans, solve_partition
from unipd.apps.sdp import SDP
from unipd.errors import InvalidInput
from unipd.io import Graph


def test_kmeans_finds_separated_clusters_and_bounds_every_partition():
    generator = np.random.default_rng(3)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    points = np.concatenate([centre + 0.3 * generator.standard_normal((4, 2)) for centre in centres])
    found = kmeans(points, 3, 1e-4)
    assert [len(set(found.labels[4 * k : 4 * k + 4])) for k in range(3)] == [1, 1, 1]
    inertia = sum(np.sum((points[4 * k : 4 * k + 4] - points[4 * k : 4 * k + 4].mean(0)) ** 2) for k in range(3))
    assert found.cost == pytest.approx(inertia)
    assert found.sdp_bound <= inertia * (1 + 1e-9)
    assert found.sdp_bound == pytest.approx(inertia, rel=1e-2)


def test_kmeans_labels_are_a_fixed_point_of_lloyd():
    points = np.random.default_rng(9).standard_normal((24, 2))
    found = kmeans(points, 4, 1e-2)
    centres = np.array([points[found.labels == k].mean(axis=0) for k in range(4)])
    distances = np.sum((points[:, None] - centres) ** 2, axis=2)
    assert (distances.argmin(axis=1) == found.labels).all()
    assert found.cost == pytest.approx(distances.min(axis=1).sum())
    assert found.sdp_bound <= found.cost


def _cost_of_groups(cost, labels):
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return sum(cost[np.ix_(group, group)].sum() / group.size for group in groups)


def partition_program(cost, clusters):
    """Return min <C, Z> subject to Z 1 = 1, tr Z = k, Z >= 0, Z psd as a general program."""
    order, basis = len(cost), np.eye(len(cost))
    sums = [0.5 * (np.outer(row, np.ones(order)) + np.outer(np.ones(order), row)) for row in basis]
    pairs = [np.outer(one, two) + np.outer(two, one) for one, two in itertools.combinations(basis, 2)]
    b = np.concatenate([np.ones(order), [float(clusters)], np.zeros(len(pairs))])
    return SDP.from_matrices(cost, [*sums, basis, *pairs], b, ["="] * (order + 1) + [">="] * len(pairs))


@pytest.mark.parametrize("clusters", [1, 2, 4, 9])
def test_the_partition_program_agrees_with_the_general_solver(clusters):
    points = np.random.default_rng(clusters).standard_normal((9, 2))
    cost = 0.5 * np.sum((points[:, None] - points) ** 2, axis=2)
    fast, general = solve_partition(cost, clusters, 1e-6), partition_program(cost, clusters).solve(1e-6)
    assert fast.status.success
    assert fast.objective == pytest.approx(general.objective, rel=1e-4, abs=1e-3)
    assert fast.dual_bound <= _cost_of_groups(cost, np.arange(9) % clusters) + 1e-9
    np.testing.assert_allclose(fast.x.sum(axis=0), 1.0, atol=1e-9)
    assert np.trace(fast.x) == pytest.approx(clusters)
    assert np.linalg.eigvalsh(fast.x)[0] >= -1e-9


def test_kmeans_is_at_least_as_good_as_scikit_learn():
    points = load_iris().data
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    found = kmeans(points, 4)
    assert found.result.status.success
    assert found.cost <= KMeans(4, n_init=20, random_state=0).fit(points).inertia_ * (1.0 + 1e-9)
    assert 0.9 * found.cost < found.sdp_bound <= found.cost


def test_communities_of_joined_cliques():
    blocks = [(i, j) for start in (0, 4) for i, j in itertools.combinations(range(start, start + 4), 2)]
    edges = np.array([*blocks, (0, 4)])
    found = communities(Graph.of(8, edges[:, 0], edges[:, 1], np.ones(len(edges))), 2)
    assert len(set(found.labels[:4])) == len(set(found.labels[4:])) == 1
    assert found.labels[0] != found.labels[4]


def test_partition_is_refused_for_many_points():
    with pytest.raises(InvalidInput, match="at most 1000, got 1001"):
        kmeans(np.zeros((1001, 1)), 2)


def test_there_are_no_more_clusters_than_points():
    with pytest.raises(InvalidInput, match="at most as many clusters as points, 3, got 4"):
        kmeans(np.eye(3), 4)


def test_kmeans_does_not_depend_on_where_the_points_lie():
    points = np.random.default_rng(2).integers(0, 16, (20, 2)) / 4.0
    here, far = kmeans(points, 3), kmeans(points + 1e8, 3)
    assert far.cost == pytest.approx(here.cost, rel=1e-9)
    assert far.sdp_bound == pytest.approx(here.sdp_bound, rel=1e-6)
    np.testing.assert_array_equal(far.labels, here.labels)
