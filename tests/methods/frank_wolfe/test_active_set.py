"""Scores of active vertices: from the direction for sparse vertices, from their images otherwise."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from unipd import atoms
from unipd.methods.frank_wolfe import ActiveSet, Vertex
from unipd.trackers import vertex_key


@pytest.mark.parametrize("kind", ["one", "several", "dense", "mixed", "empty"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_scores_are_those_of_the_images(kind: str, dtype: type) -> None:
    rng = np.random.default_rng(2)
    A = rng.standard_normal((4, 6)) + (1j * rng.standard_normal((4, 6)) if dtype is np.complex128 else 0.0)
    dual = A[:, 0] + 0.5
    vertices: list[Vertex] = []
    for number in range(5):
        count = {"one": 1, "several": 1 + number % 3, "mixed": 1, "dense": 1, "empty": number % 2}[kind]
        atom = atoms.SparsePoint((6,), rng.permutation(6)[:count], rng.standard_normal(count).astype(dtype))
        point = atom.dense() if kind == "dense" or (kind == "mixed" and number % 2) else atom
        vertices.append(Vertex(point, A @ atom.dense(), 0.1 * number, vertex_key(point)))
    active = ActiveSet(tuple(vertices), np.full(5, 0.2))
    naive = [float(np.vdot(dual, A @ atoms.dense(v.atom)).real) + v.objective for v in vertices]
    for after in (active, active.move_weight(0.1, vertices[1], 0), active.move_weight(0.01, None, 2)):
        np.testing.assert_allclose(after.scores(dual, -A.conj().T @ dual), naive, atol=1e-12)


@pytest.mark.parametrize("kind", ["one", "several", "dense", "mixed", "empty"])
def test_vertices_that_enter_and_leave_are_known_at_once(kind: str) -> None:
    rng = np.random.default_rng(4)
    A = rng.standard_normal((4, 6))
    active = ActiveSet((), np.zeros(0))
    for number in range(12):
        count = {"one": 1, "several": 1 + number % 3, "mixed": 1, "dense": 1, "empty": number % 2}[kind]
        atom = atoms.SparsePoint((6,), rng.permutation(6)[:count], rng.standard_normal(count))
        point = atom.dense() if kind == "dense" or (kind == "mixed" and number % 2) else atom
        vertex = Vertex(point, A @ atom.dense(), 0.1 * number, vertex_key(point))
        active = active.move_weight(0.3, vertex, None) if active.vertices else ActiveSet((vertex,), np.ones(1))
        if number % 4 == 3:  # all the weight of a vertex goes to the last one
            active = active.move_weight(float(active.weights[1]), active.vertices[-1], 1)
        if number == 10:  # all but one leave
            active = ActiveSet(active.vertices, (np.arange(active.weights.size) == 2).astype(float)).normalize()
        fresh = ActiveSet(active.vertices, active.weights)
        assert len({vertex.key for vertex in active.vertices}) == len(active.vertices) == active.weights.size
        assert all(active.find(vertex.key) is vertex for vertex in active.vertices)
        dual = rng.standard_normal(4)
        scores = [each.scores(dual, -A.T @ dual) for each in (active, fresh)]
        np.testing.assert_array_equal(*scores)
        naive = sum(w * v.objective for w, v in zip(active.weights, active.vertices, strict=True))
        assert active.objective() == pytest.approx(naive)
        assert active.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["one", "several", "dense", "mixed"])
def test_sets_that_grow_from_the_same_one_do_not_see_each_other(kind: str) -> None:
    rng = np.random.default_rng(5)
    A = rng.standard_normal((4, 6))
    dual = rng.standard_normal(4)

    def vertex(number: int) -> Vertex:
        count = 1 + number % 3 if kind == "several" else 1
        atom = atoms.SparsePoint((6,), rng.permutation(6)[:count], rng.standard_normal(count))
        point = atom.dense() if kind == "dense" or (kind == "mixed" and number > 0) else atom
        return Vertex(point, A @ atom.dense(), 0.1 * number, vertex_key(point))

    first, left, right = map(vertex, range(3))
    trunk = ActiveSet((first,), np.ones(1))
    before = trunk.scores(dual, -A.T @ dual)
    branches = [
        trunk.move_weight(0.25, left, None),
        trunk.move_weight(0.5, right, None),
        trunk.move_weight(0.125, left, None),
    ]
    for branch, vertices, share in zip(
        branches, [(first, left), (first, right), (first, left)], (2, 1, 3), strict=True
    ):
        fresh = ActiveSet(vertices, np.array([1.0 - 0.5**share, 0.5**share]))
        assert branch.vertices == vertices
        np.testing.assert_array_equal(branch.weights, fresh.weights)
        scores = [each.scores(dual, -A.T @ dual) for each in (branch, fresh)]
        np.testing.assert_array_equal(*scores)
        assert branch.objective() == fresh.objective()
        np.testing.assert_array_equal(branch.image(), fresh.image())
    assert trunk.vertices == (first,)
    assert trunk.objective() == first.objective
    np.testing.assert_array_equal(trunk.scores(dual, -A.T @ dual), before)
    np.testing.assert_array_equal(trunk.move_weight(0.5, first, None).weights, [1.0])


@pytest.mark.parametrize(
    ("values", "expected"),
    [(np.array([2], np.uint8), -6.0), (np.array([True]), -3.0), (np.array([2.0 + 1.0j]), -6.0)],
)
def test_scores_of_values_of_other_kinds(values: np.ndarray, expected: float) -> None:
    vertices = [
        Vertex(atoms.SparsePoint((3,), np.array([place]), values), np.zeros(2), 0.0, bytes([place])) for place in (1, 2)
    ]
    updated = ActiveSet(tuple(vertices[:1]), np.ones(1)).move_weight(0.5, vertices[1], None)
    for active in (updated, ActiveSet(tuple(vertices), np.full(2, 0.5))):
        scores = active.scores(np.zeros(2), np.array([0.0, 3.0, 3.0]))
        assert scores.dtype == np.float64
        np.testing.assert_array_equal(scores, [expected, expected])


@pytest.mark.parametrize("repeated", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_have_the_vertices_of_the_set_alone(repeated: Callable[[ActiveSet], ActiveSet]) -> None:
    corners = [Vertex(atoms.one_hot((4,), k, 1.0), np.eye(4)[k], 0.5 * k, bytes([k])) for k in range(4)]
    first = ActiveSet(tuple(corners[:2]), np.array([0.25, 0.75]))
    first.move_weight(0.5, corners[2], None).move_weight(0.5, corners[3], None)
    same = repeated(first)
    assert [vertex.key for vertex in same.vertices] == [b"\x00", b"\x01"]
    np.testing.assert_array_equal(same.weights, first.weights)
    assert same.objective() == first.objective()
