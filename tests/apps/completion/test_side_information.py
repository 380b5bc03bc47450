"""Maps, side information and curvatures against dense references."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.apps.completion import CompletionModel, Index, SideCurvature, SideFactor, align_features
from unipd.errors import InvalidInput
from unipd.io import as_names
from unipd.maps import Incidence
from unipd.reproduce import generate_ratings
from unipd.spectral import PRECISION, Engine, fixed_tolerance_engine

from .instances import dense_side


@settings(max_examples=40)
@given(indices=st.lists(st.integers(0, 6), min_size=1, max_size=20), seed=st.integers(0, 99))
def test_incidence_is_a_matrix_of_ones(indices, seed):
    rng = np.random.default_rng(seed)
    incidence = Incidence(np.array(indices), 7)
    matrix = np.eye(7)[indices]
    x, lam = rng.standard_normal(7), rng.standard_normal(len(indices))
    np.testing.assert_allclose(incidence.image(x), matrix @ x)
    np.testing.assert_allclose(incidence.adjoint(lam), matrix.T @ lam, atol=1e-12)


@pytest.mark.parametrize("indices", [[], [-1], [3], [0.5], [[0]]])
def test_incidence_refuses(indices):
    with pytest.raises(InvalidInput, match="indices"):
        Incidence(np.array(indices), 3)


FEATURES = {
    "none": None,
    "array": np.random.default_rng(1).standard_normal((5, 3)),
    "sparse": sp.random_array((5, 3), density=0.5, random_state=np.random.default_rng(2)),
}


@pytest.fixture(params=FEATURES)
def side(request):
    return SideFactor(np.array([1.0, 2.0, 0.5, 1.5, 1.0]), FEATURES[request.param])


def test_side_is_its_matrix(side):
    rng, matrix = np.random.default_rng(0), dense_side(side)
    assert side.shape == matrix.shape
    assert side.is_diagonal == (side.features is None)
    x, y = rng.standard_normal((matrix.shape[1], 2)), rng.standard_normal((5, 2))
    np.testing.assert_allclose(side.matmat(x), matrix @ x)
    np.testing.assert_allclose(side.rmatmat(y), matrix.T @ y)
    np.testing.assert_allclose(side.matvec(x[:, 0]), matrix @ x[:, 0])


def test_energies_and_leading_eigenvectors(side):
    weights = np.array([1.0, 4.0, 2.0, 3.0, 5.0])
    full = dense_side(side).T @ np.diag(weights) @ dense_side(side)
    np.testing.assert_allclose(side.gram_diagonal(weights), np.diag(full))
    found = side.leading(weights, 2)
    if side.is_diagonal:
        assert found is None
    else:
        np.testing.assert_allclose(found[0], np.linalg.eigvalsh(full)[::-1][:2], rtol=1e-6)
        np.testing.assert_allclose(full @ found[1], found[1] * found[0], atol=1e-6)


def test_mean_over_the_ratings(side):
    counts = np.array([3.0, 1.0, 2.0, 4.0, 2.0])
    factor = np.random.default_rng(3).standard_normal((side.shape[1], 2))
    rows = np.repeat(dense_side(side) @ factor, counts.astype(int), axis=0)
    np.testing.assert_allclose(SideCurvature(side, counts).mean(factor), rows.T @ rows / len(rows))


def test_inverse_is_symmetric_and_positive(side):
    curvature = SideCurvature(side, np.array([3.0, 1.0, 2.0, 4.0, 2.0]))
    root = np.random.default_rng(4).standard_normal((3, 3))
    solve = curvature.inverse(root @ root.T, 0.7)
    rows = side.shape[1]
    basis = np.eye(rows * 3).reshape(rows * 3, rows, 3)
    matrix = np.array([solve(block).reshape(-1) for block in basis])
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    assert np.linalg.eigvalsh(matrix).min() > 0
    assert np.linalg.eigvalsh(matrix).max() <= 1 / 0.7 + 1e-9


def test_inverse_without_features_is_exact():
    side, counts, scale = SideFactor(np.array([1.0, 2.0])), np.array([3.0, 5.0]), 0.5
    mean = np.array([[2.0, 0.3], [0.3, 1.0]])
    kronecker = scale * np.kron(np.diag(side.scales**2 * counts), mean) + 0.7 * np.eye(4)
    block = np.random.default_rng(5).standard_normal((2, 2))
    expected = np.linalg.solve(kronecker, block.reshape(-1)).reshape(2, 2)
    np.testing.assert_allclose(SideCurvature(side, counts, scale).inverse(mean, 0.7)(block), expected)


def test_index():
    index = Index(np.array(["b", "a", "b"]))
    assert index.names.tolist() == ["a", "b"]
    assert index.positions(np.array(["b", "zebra", "a"])).tolist() == [1, -1, 0]
    assert index.union(np.array(["c"])).names.tolist() == ["a", "b", "c"]
    assert Index(np.array([3, 5])).positions(np.array([5.0, 4.0])).tolist() == [1, -1]
    assert Index(np.array(["7"])).positions(np.array([7])).tolist() == [0]


@pytest.mark.parametrize("values", [[-1], [1.5], [np.nan], [1j], [[1]], [None], ["a", 1.5]])
def test_names_that_are_none(values):
    with pytest.raises(InvalidInput):
        as_names("users", np.array(values, dtype=object) if None in values or "a" in values else np.array(values))


def test_features_in_the_order_of_the_names():
    pd = pytest.importorskip("pandas")
    index, expected = Index([4, 7, 9]), [[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]]
    table = pd.DataFrame([[3.0, 4.0], [1.0, 2.0]], index=[9, 4])
    by_row = np.zeros((10, 2))
    by_row[4], by_row[9] = expected[0], expected[2]
    for features in ({4: [1.0, 2.0], 9: [3.0, 4.0]}, table, by_row):
        np.testing.assert_array_equal(align_features("user_features", features, index), expected)
    sparse = align_features("user_features", sp.csr_array(by_row), index)
    np.testing.assert_array_equal(sparse.toarray(), expected)


@pytest.mark.parametrize(
    "features", [{}, {1: [np.nan]}, np.ones(3), {1: [1.0], 2: [1.0, 2.0]}, {1: ["red"]}, {None: [1.0]}]
)
def test_features_that_are_none(features):
    with pytest.raises(InvalidInput, match="user_features"):
        align_features("user_features", features, Index([1, 2]))


def test_features_of_no_names():
    assert align_features("user_features", np.ones((2, 3)), Index([])).shape == (0, 3)


def test_features_given_twice():
    pd = pytest.importorskip("pandas")
    with pytest.raises(InvalidInput, match="3 rows for 2 names"):
        align_features("user_features", pd.DataFrame([[1.0], [2.0], [3.0]], index=[1, 2, 1]), Index([1, 2]))


def test_features_of_texts_need_names():
    with pytest.raises(InvalidInput, match="DataFrame"):
        align_features("user_features", np.ones((2, 2)), Index(["a", "b"]))


def test_a_precise_engine_asks_for_more():
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((300, 280))
    residuals = [
        float(engine.singular_triples(matrix, tolerance=0.1).residuals[0] / np.linalg.norm(matrix, 2))
        for engine in (Engine(solver="lanczos"), Engine(solver="lanczos", precision=1e-9))
    ]
    assert residuals[1] <= 1e-9 < residuals[0]
    loose = Engine(solver="lanczos", precision=PRECISION).singular_triples(matrix, tolerance=1e3, relative=False)
    assert loose.residuals[0] > 1e-3
    with pytest.raises(InvalidInput, match="precision"):
        fixed_tolerance_engine(0.0)


@pytest.mark.parametrize("kind", [dict, np.array])
def test_items_without_ratings_are_predicted_from_their_features(kind):
    rng = np.random.default_rng(0)
    features = rng.standard_normal((30, 3))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    truth = 3.0 + 2.0 * rng.standard_normal((60, 3)) @ features.T
    users, items = np.nonzero((rng.random(truth.shape) < 0.5) & (np.arange(30) >= 5))
    given = dict(enumerate(features)) if kind is dict else features
    model = CompletionModel(60.0, side_information=True, item_strength=3.0, clip=False)
    model.fit((users, items, truth[users, items]), item_features=given)
    assert model.items_.size == 30
    pairs = np.indices((60, 5)).reshape(2, -1)
    cold = truth[pairs[0], pairs[1]]
    assert np.sqrt(np.mean((model.predict(tuple(pairs)) - cold) ** 2)) < 0.2 * cold.std()
    assert set(model.recommend(0, 30)[0]) >= {0, 1, 2, 3, 4}


def test_rows_of_zeros_are_no_items():
    features = np.vstack([np.zeros(2), np.eye(2), np.zeros(2)])
    model = CompletionModel(2.0, side_information=True)
    model.fit(([0, 1, 1], [1, 1, 2], [1.0, 2.0, 3.0]), item_features=features)
    assert model.items_.tolist() == [1, 2]


def test_bounds_with_side_information_are_our_own():
    made = generate_ratings((30, 20), 200, rank=2, noise=0.3)
    model = CompletionModel(10.0, side_information=True).fit((made.users, made.items, made.values))
    assert model.result_.bound_kind == "rigorous"
    assert not model.result_.problem.user_supplied
