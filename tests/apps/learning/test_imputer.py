"""The imputer: accuracy, units, new rows, tables, and scikit-learn's own checks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from unipd.errors import InvalidInput

pytest.importorskip("sklearn")

from sklearn.datasets import load_iris
from sklearn.impute import KNNImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from unipd.apps.learning import LowRankImputer


@pytest.fixture(scope="module")
def genes() -> tuple[np.ndarray, np.ndarray]:
    """A table of rank 5 plus noise 0.5 with columns of unequal spread, and the same with a fifth of it missing."""
    rng = np.random.default_rng(3)
    low_rank = rng.standard_normal((300, 5)) @ rng.standard_normal((5, 200)) * rng.gamma(2, 0.5, 200)
    table = low_rank + rng.normal(7, 2, 200) + 0.5 * rng.standard_normal((300, 200))
    return table, np.where(np.random.default_rng(0).random(table.shape) < 0.2, np.nan, table)


@pytest.fixture(scope="module")
def iris() -> tuple[np.ndarray, np.ndarray]:
    table = load_iris().data[::2]
    return table, np.where(np.random.default_rng(0).random(table.shape) < 0.2, np.nan, table)


def error(filled: np.ndarray, table: np.ndarray, holes: np.ndarray) -> float:
    return float(np.sqrt(np.mean((filled - table)[np.isnan(holes)] ** 2)))


def test_noise_is_nearly_all_that_is_left(genes: tuple[np.ndarray, np.ndarray]) -> None:
    table, holes = genes
    imputer = LowRankImputer().fit(holes)
    filled = imputer.transform(holes)
    assert error(filled, table, holes) <= 0.55
    assert imputer.result_.status.success
    np.testing.assert_array_equal(filled[~np.isnan(holes)], table[~np.isnan(holes)])


def test_units_do_not_matter(iris: tuple[np.ndarray, np.ndarray]) -> None:
    holes = iris[1]
    filled = LowRankImputer(8.0, accuracy=1e-6).fit_transform(holes)
    unit, shift = np.array([1e-3, 1.0, 4096.0, 1e6]), np.array([0.0, 300.0, -7.0, 1e6])
    other = (LowRankImputer(8.0, accuracy=1e-6).fit_transform(holes * unit + shift) - shift) / unit
    np.testing.assert_allclose(other, filled, atol=1e-2)


def test_new_rows(iris: tuple[np.ndarray, np.ndarray]) -> None:
    table, holes = iris
    imputer = LowRankImputer().fit(holes[::2])
    again = pickle.loads(pickle.dumps(imputer))
    filled = imputer.transform(holes[1::2])
    assert error(filled, table[1::2], holes[1::2]) < 0.8 * error(
        np.full_like(filled, imputer.mean_), table[1::2], holes[1::2]
    )
    np.testing.assert_array_equal(again.transform(holes[1::2]), filled)
    one_by_one = np.vstack([imputer.transform(row[None]) for row in holes[1:9:2]])
    np.testing.assert_allclose(one_by_one, filled[:4])
    nothing = imputer.transform(np.full((1, 4), np.nan))
    np.testing.assert_allclose(nothing[0], imputer.mean_, atol=0.5)


def test_frames_and_pipelines(iris: tuple[np.ndarray, np.ndarray]) -> None:
    pandas = pytest.importorskip("pandas")
    names = ["age", "height", "weight", "tempo"]
    frame = pandas.DataFrame(iris[1], columns=names, index=np.arange(75) + 7)
    imputer = LowRankImputer().set_output(transform="pandas")
    filled = imputer.fit_transform(frame)
    assert error(filled.to_numpy(), *iris) < error(KNNImputer().fit_transform(iris[1]), *iris)
    assert filled.columns.tolist() == names == imputer.get_feature_names_out().tolist()
    assert filled.index.tolist() == frame.index.tolist()
    assert not filled.isna().any().any()
    model = make_pipeline(LowRankImputer(), LinearRegression()).fit(frame, iris[0][:, 2])
    assert model.score(frame, iris[0][:, 2]) > 0.9


def test_constant_columns_and_tables() -> None:
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.standard_normal((30, 2)), np.full(30, 4.0)])
    table[3] = np.nan
    filled = LowRankImputer().fit_transform(table)
    assert filled[3, 2] == pytest.approx(4.0)
    small = LowRankImputer().fit(table * [1.0, 1.0, 1e-9])
    assert small.transform(np.full((1, 3), np.nan))[0, 2] == pytest.approx(4e-9, rel=1e-12)
    known = np.array([[0.5, np.nan, 4e-9], [0.5, np.nan, 1.0]])
    assert np.ptp(small.transform(known)[:, 1]) == 0.0, "a constant column says nothing about others"
    same = np.full((30, 3), 2.5)
    same[4, 1] = np.nan
    np.testing.assert_allclose(LowRankImputer().fit_transform(same), 2.5)


def test_a_column_without_values_is_refused() -> None:
    with pytest.raises(InvalidInput, match="none in column 1"):
        LowRankImputer().fit(np.array([[1.0, np.nan], [2.0, np.nan]]))


def test_scikit_learn_accepts_it() -> None:
    checks = check_estimator(LowRankImputer(radius=5.0), on_fail=None, on_skip=None)
    assert not [check for check in checks if check["status"] == "failed"]
