"""Merged blocks, bounds, groups, and the trace implied by diagonals, against dense references."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.apps.sdp import SDP, Block, SdpData, bound_from_diagonals, data_from_sdpa
from unipd.errors import InvalidInput
from unipd.io import SdpaProblem
from unipd.maps import Entries
from unipd.methods.factored import find_groups


def program(matrices, lower, upper=None):
    """A program with the given constraint matrices and cost zero."""
    order = matrices[0].shape[0]
    upper = lower if upper is None else upper
    cost = Entries.from_matrices([np.zeros((order, order))])
    entries = Entries.from_matrices(matrices)
    return SdpData(order, cost, entries, np.array(lower, float), np.array(upper, float))


def test_blocks_are_merged_with_their_values():
    generator = np.random.default_rng(0)
    parts = [
        [np.diag(generator.standard_normal(2)), generator.standard_normal((3, 3)), np.diag([1.5])] for _ in range(3)
    ]
    parts = [[(p + p.T) / 2 for p in blocks] for blocks in parts]
    lists = [[], [], [], [], []]
    for constraint, blocks in enumerate(parts):
        for block, matrix in enumerate(blocks):
            for i, j in zip(*np.nonzero(np.triu(matrix)), strict=True):
                for store, value in zip(lists, (constraint, block, i, j, matrix[i, j]), strict=True):
                    store.append(value)
    data = data_from_sdpa(SdpaProblem([1.0, 2.0], (-2, 3, 1), *lists))
    root = generator.standard_normal((6, 6))
    x = root @ root.T
    images = [float(np.sum(scipy.linalg.block_diag(*blocks) * x)) for blocks in parts]
    np.testing.assert_allclose(data.cost_and_constraints.image(x), [-images[0], *images[1:]], rtol=1e-12)
    assert [(b.start, b.size, b.is_vector) for b in data.blocks] == [(0, 2, True), (2, 3, False), (5, 1, True)]


def test_coupling_and_violation_agree_on_every_kind_of_bound():
    inf = np.inf
    data = program([np.eye(2)] * 4, [1.0, -inf, 1.0, 0.0], [1.0, 2.0, inf, 3.0])
    scales = np.array([1.0, 2.0, 4.0, 0.5])
    for image in np.random.default_rng(1).uniform(-2, 5, (50, 4)):
        distance = data.coupling(scales).distance((image - data.b) / scales)
        assert distance == pytest.approx(np.linalg.norm(data.violation(image) / scales), abs=1e-12)


def test_without_renumbers_the_constraints():
    matrices = [np.diag([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([0.0, 3.0])]
    data = program(matrices, [1.0, 2.0, 3.0]).without(1)
    x = np.array([[2.0, 7.0], [7.0, 5.0]])
    np.testing.assert_allclose(data.cost_and_constraints.image(x)[1:], [2.0, 15.0])
    np.testing.assert_allclose(data.b, [1.0, 3.0])


def groups_of(data):
    return find_groups(data.diagonals, data.b, data.equal)


def test_groups_of_a_diagonal_and_what_is_no_group():
    groups = groups_of(program([np.diag([2.0, 0, 0]), np.diag([0, 1.0, 1.0]), np.eye(3)], [4.0, 3.0, 5.0]))
    np.testing.assert_array_equal(groups.member, [0, 1, 1])
    np.testing.assert_allclose(groups.targets, [2.0, 3.0])
    assert groups.covers_all
    for bad in ([np.diag([1.0, 2.0])], [np.ones((2, 2))], [-np.eye(2)]):
        assert not groups_of(program(bad, [1.0])).covers_all
    assert not groups_of(program([np.eye(2)], [0.0])).covers_all
    assert not groups_of(program([np.eye(2)], [0.0], [1.0])).covers_all


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_trace_bound_holds_and_is_proved_by_its_multipliers(seed):
    generator = np.random.default_rng(seed)
    order, rows = 4, 3
    diagonals = generator.uniform(-1, 2, (rows, order))
    feasible = generator.uniform(0, 2, order)
    b = diagonals @ feasible
    slack = generator.uniform(0, 1, rows) * generator.integers(0, 2, rows)
    data = program([np.diag(d) for d in diagonals], b - slack, b + slack)
    found = bound_from_diagonals(data, groups_of(data))
    if found is None:
        return
    assert found.value >= feasible.sum() - 1e-9
    assert np.all(diagonals.T @ found.multipliers >= 1.0 - 1e-9)
    assert found.value == pytest.approx(data.support_of_bounds(found.multipliers), rel=1e-6)


def test_no_trace_bound_without_cover():
    for diagonal in ([1.0, 0.0], [1.0, -1.0]):
        data = program([np.diag(diagonal)], [1.0])
        assert bound_from_diagonals(data, groups_of(data)) is None


def test_numbers_whose_squares_overflow_are_refused():
    with pytest.raises(InvalidInput, match="b: expected numbers up to 1e\\+100"):
        program([np.eye(2)], [1e101])
    with pytest.raises(InvalidInput, match="A: expected numbers"):
        program([1e200 * np.eye(2)], [1.0])
    assert program([np.eye(2)], [-np.inf], [1.0]).b == [1.0]


def _mixed(kind: str) -> SdpData:
    """A psd block of order 2 and a vector of three entries of another kind."""
    entries = Entries([0, 0, 1, 1], [0, 2, 1, 4], [1, 2, 1, 4], [1.0, 2.0, 3.0, 4.0])
    return SdpData(
        5, entries.select(entries.constraint == 0), entries, np.ones(2), np.ones(2), (Block(0, 2), Block(2, 3, kind))
    )


@pytest.mark.parametrize("kind", ["nonnegative", "second_order", "free"])
def test_a_point_gives_back_its_blocks_and_its_image(kind: str) -> None:
    data = _mixed(kind)
    matrix = np.array([[2.0, -1.0], [-1.0, 3.0]])
    vector = np.array([2.0, 0.5, 1.0]) if kind == "nonnegative" else np.array([2.0, -0.5, -1.0])
    point = data.point([matrix, vector])
    np.testing.assert_allclose(data.block(point, 0), matrix)
    np.testing.assert_allclose(data.block(point, 1), vector, atol=1e-15)
    expected = [-2.0 + 2.0 * vector[0], -2.0 + 2.0 * vector[0], 9.0 + 4.0 * vector[2]]
    np.testing.assert_allclose(data.cost_and_constraints.image(point), expected)
    assert data.is_psd == (kind == "nonnegative")


def test_entries_outside_their_blocks_are_refused() -> None:
    cross, b = Entries([0], [1], [2], [1.0]), np.ones(1)
    with pytest.raises(InvalidInput, match="inside blocks"):
        SdpData(3, cross, cross, b, b, (Block(0, 2), Block(2, 1, "nonnegative")))
    with pytest.raises(InvalidInput, match="diagonal in those of vectors"):
        SdpData(3, cross, cross, b, b, (Block(0, 3, "free"),))
    with pytest.raises(InvalidInput, match="one after another"):
        SdpData(3, cross, cross, b, b, (Block(0, 2),))
    with pytest.raises(InvalidInput, match="kind"):
        SdpData(3, cross, cross, b, b, (Block(0, 3, "exponential"),))


def test_matrices_may_have_several_blocks() -> None:
    first, second = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[1.0, -2.0], [-2.0, 5.0]])
    cost = scipy.linalg.block_diag(first, second, [[4.0]], [[0.5]])
    traces = [np.diag([1.0, 1.0, 0.0, 0.0, 0.0, 0.0]), np.diag([0.0, 0.0, 1.0, 1.0, 1.0, 1.0])]
    blocked = SDP.from_matrices(cost, traces, [1.0, 2.0], blocks=(2, 2, -2))
    result = blocked.solve(1e-7)
    expected = np.linalg.eigvalsh(first)[0] + 2.0 * min(np.linalg.eigvalsh(second)[0], 0.5)
    assert result.objective == pytest.approx(expected, rel=1e-6)
    assert [blocked.block(result.x, k).shape for k in range(3)] == [(2, 2), (2, 2), (2,)]
    stored = scipy.sparse.block_diag([first, second, np.diag([4.0, 0.5])])  # with zeros outside the diagonal
    assert stored.nnz == 12
    assert SDP.from_matrices(stored, traces, [1.0, 2.0], blocks=(2, 2, -2)).data.cost.value.size == 8
    with pytest.raises(InvalidInput, match="blocks"):
        SDP.from_matrices(cost, traces, [1.0, 2.0], blocks=(2, 2))
    with pytest.raises(InvalidInput, match="blocks"):
        SDP.from_matrices(cost, traces, [1.0, 2.0], blocks=(2, 2.5, -2))
    with pytest.raises(InvalidInput, match=r"entry \(0, 1\)"):
        SDP.from_matrices(cost, traces, [1.0, 2.0], blocks=(-2, 2, 2))
