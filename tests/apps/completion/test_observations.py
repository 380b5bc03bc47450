"""Input formats of ratings, and errors for invalid ones."""

import numpy as np
import pytest
import scipy.sparse as sp

from unipd.apps.completion import Index, as_pairs, as_ratings, index_ratings
from unipd.errors import InvalidInput
from unipd.io import Ratings

TRIPLES = ([0, 0, 2], [1, 2, 0], [3.0, 4.0, 5.0])


def rows_of(ratings):
    rows = zip(ratings.users.tolist(), ratings.items.tolist(), ratings.values.tolist(), strict=True)
    return sorted(rows)


EXPECTED = sorted(zip(*TRIPLES, strict=True))


def forms():
    users, items, values = (np.array(part) for part in TRIPLES)
    dense = np.full((3, 3), np.nan)
    dense[users, items] = values
    matrix = sp.coo_array((values, (users, items)), shape=(3, 3))
    return {
        "tuple": (TRIPLES, None),
        "arrays": ((users, items, values), None),
        "ratings": (Ratings(users, items, values), None),
        "coo": (matrix, None),
        "csr": (matrix.tocsr(), None),
        "csc": (sp.csc_matrix(matrix), None),
        "dense": (dense, None),
        "nested": (dense.tolist(), None),
        "pairs": (np.column_stack([users, items]), values),
        "real pairs": (np.column_stack([users, items]).astype(float), values),
        "pair list": (list(zip(users, items, strict=True)), values),
        "two lists": ((users, items), values),
        "three columns": (np.column_stack([users, items, values]), None),
        "triples": (list(zip(*TRIPLES, strict=True)), None),
        "list of arrays": ([users, items, values], None),
        "masked": (np.ma.masked_invalid(dense), None),
        "objects": ((np.array(list(users), object), items, values), None),
        "numbers of NumPy": (np.array([(user, item) for user, item in zip(users, items, strict=True)], object), values),
    }


@pytest.mark.parametrize("name", forms())
def test_forms(name):
    assert rows_of(as_ratings(*forms()[name])) == EXPECTED


def test_tables():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"rating": TRIPLES[2], "movieId": TRIPLES[1], "userId": TRIPLES[0], "time": [1, 2, 3]})
    assert rows_of(as_ratings(table)) == EXPECTED
    plain = pd.DataFrame(dict(zip("abc", TRIPLES, strict=True)))
    with pytest.warns(UserWarning, match="taken by position"):
        assert rows_of(as_ratings(plain)) == EXPECTED
    assert rows_of(as_ratings(table[["userId", "movieId"]], table["rating"])) == EXPECTED
    named = pd.DataFrame({"user": ["ann", "bob"], "item": ["x", "y"], "rating": [1, 2]})
    assert rows_of(as_ratings(named)) == [("ann", "x", 1.0), ("bob", "y", 2.0)]
    with pytest.raises(InvalidInput, match="columns"):
        as_ratings(table[["rating"]])


def test_pivots():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": [7, 9, 7], "rating": [1.0, 2.0, 3.0]})
    expected = [("ann", 7, 1.0), ("ann", 9, 2.0), ("bob", 7, 3.0)]
    pivot = table.pivot(index="user", columns="item", values="rating")
    assert rows_of(as_ratings(pivot)) == expected
    assert rows_of(as_ratings(table.rename_axis(columns="what"))) == expected
    with pytest.raises(InvalidInput, match="numbers"):
        as_ratings(pivot.astype(object).replace(1.0, "much"))


def test_wide_tables_without_a_name():
    pd = pytest.importorskip("pandas")
    dense = np.array([[5.0, np.nan, 1.0, 2.0], [np.nan, 4.0, 3.0, np.nan]])
    expected = [(0, 0, 5.0), (0, 2, 1.0), (0, 3, 2.0), (1, 1, 4.0), (1, 2, 3.0)]
    assert rows_of(as_ratings(pd.DataFrame(dense))) == expected
    assert rows_of(as_ratings(pd.DataFrame(dense[:, :3]))) == expected[:2] + expected[3:]
    assert rows_of(as_ratings(pd.DataFrame(dense[:, :2]))) == [expected[0], expected[3]]
    whole_first = pd.DataFrame([[5.0, 4.0, 1.0, np.nan], [2.0, 3.0, np.nan, 1.0]])
    assert len(as_ratings(whole_first)) == 6


def test_pivots_from_files():
    pd = pytest.importorskip("pandas")
    import io

    table = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": [7, 9, 7], "rating": [1.0, 2.0, 3.0]})
    text = table.pivot(index="user", columns="item", values="rating").to_csv()
    found = as_ratings(pd.read_csv(io.StringIO(text), index_col=0))
    assert rows_of(found) == [("ann", "7", 1.0), ("ann", "9", 2.0), ("bob", "7", 3.0)]
    for unclear in (text, text.replace("ann", "1").replace("bob", "2"), text.replace("user", "")):
        with pytest.raises(InvalidInput, match="index_col=0"):
            as_ratings(pd.read_csv(io.StringIO(unclear)))


def test_gaps_in_columns_that_are_not_needed_do_no_harm():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({**dict(zip("abc", TRIPLES, strict=True)), "when": [1.0, np.nan, 3.0]})
    with pytest.warns(UserWarning, match="taken by position: user = 'a'"):
        assert rows_of(as_ratings(table)) == EXPECTED
    with pytest.raises(InvalidInput, match="columns user, item and rating"):
        as_ratings(pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [1.0, np.nan]}))


@pytest.mark.parametrize("pairs", [np.array([[1, 5], [2, 6], [3, 5]]), [(1, 5), (2, 6)], [[1, 5]]])
def test_pairs_without_ratings_are_no_matrix(pairs):
    with pytest.raises(InvalidInput, match="ratings y with pairs"):
        as_ratings(pairs)
    assert len(as_ratings(np.asarray(pairs, float))) == 2 * len(pairs)


@pytest.mark.parametrize("form", [tuple, list])
def test_columns_without_ratings_are_no_matrix(form):
    users, items, values = np.array([1, 1, 2]), np.array([5, 6, 5]), np.array([1.0, 2.0, 3.0])
    for part in ([users, items], [users, values], [items]):
        with pytest.raises(InvalidInput, match="columns without ratings"):
            as_ratings(form(part))
    assert len(as_ratings([values + 0.5, values])) == 6


@pytest.mark.parametrize(
    "names",
    [
        ("item_name", "user_name", "my_rating"),
        ("movie_title", "username", "stars"),
        ("bookTitle", "Reader", "Book-Rating"),
        ("track", "listener id", "user_rating"),
    ],
)
def test_qualified_names_of_columns(names):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(dict(zip(names, (TRIPLES[1], TRIPLES[0], TRIPLES[2]), strict=True)))
    assert rows_of(as_ratings(table)) == EXPECTED


def test_columns_that_stand_elsewhere():
    pd = pytest.importorskip("pandas")
    with pytest.raises(InvalidInput, match="columns"):
        as_ratings(pd.DataFrame({"time": [1], "user": [2], "thing": [3], "liking": [4]}))


def test_a_matrix_with_three_columns_and_gaps_is_a_matrix():
    assert rows_of(as_ratings(np.array([[1.0, np.nan, 2.0]]))) == [(0, 0, 1.0), (0, 2, 2.0)]
    assert len(as_ratings(np.array([[0.5, 1.0, 2.0]]))) == 3


def test_triples_of_texts():
    assert rows_of(as_ratings([("bob", "x", 2), ("ann", "y", 1.5)])) == [("ann", "y", 1.5), ("bob", "x", 2.0)]


@pytest.mark.parametrize("large", [[2**63, 5], [10**30, 5], np.array([2**63 + 1, 5], np.uint64)])
def test_large_integers_are_texts(large):
    found = as_ratings((large, [1, 2], [3.0, 4.0]))
    assert found.users.tolist() == [str(int(name)) for name in large]
    np.testing.assert_array_equal(
        Index(found.users).positions(np.array([5])), [sorted(found.users.tolist()).index("5")]
    )


def test_large_integers_are_unknown_among_small_ones():
    index = Index(np.array([3, 2**63 - 1]))
    np.testing.assert_array_equal(index.positions([10**30, 3]), [-1, 0])
    np.testing.assert_array_equal(index.positions([str(2**63 - 1), str(2**63)]), [1, -1])


def test_no_pairs():
    users, items = as_pairs([])
    assert users.size == items.size == 0


def test_duplicates():
    users, items, values = [1, 1, 1], [5, 5, 5], [1.0, 2.0, 4.0]
    assert index_ratings(as_ratings((users, items, values))).values.tolist() == [4.0]
    summed = sp.coo_array((values, (users, items)), shape=(2, 6))
    assert as_ratings(summed).values.tolist() == [7.0]
    assert summed.nnz == 3


def test_places_are_sorted():
    data = index_ratings(as_ratings(([9, 3, 9], [1, 8, 0], [1.0, 2.0, 3.0])))
    assert (data.rows.tolist(), data.columns.tolist()) == ([0, 1, 1], [2, 0, 1])
    assert data.values.tolist() == [2.0, 3.0, 1.0]
    assert data.shape == (2, 3)
    assert rows_of(data.ratings()) == [(3, 8, 2.0), (9, 0, 3.0), (9, 1, 1.0)]


def test_explicit_zeros_are_ratings():
    matrix = sp.csr_array((np.array([0.0, 2.0]), (np.array([0, 1]), np.array([1, 1]))), shape=(2, 2))
    assert as_ratings(matrix).values.tolist() == [0.0, 2.0]


def test_pairs_of_texts_and_numbers():
    users, items = as_pairs([("ann", 3), ("bob", 4)])
    assert (users.tolist(), items.tolist()) == (["ann", "bob"], [3, 4])


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (([1], [2], ["good"]), None, "ratings"),
        (([1], [2], [np.nan]), None, "finite"),
        (([1], [2], [np.inf]), None, "finite"),
        (([1, 2], [2], [1.0]), None, "a user and an item for every rating"),
        (([], [], []), None, "users|at least one"),
        (([-1], [2], [1.0]), None, "nonnegative"),
        (([1.5], [2], [1.0]), None, "not integers"),
        (([1e300], [2], [1.0]), None, "too large"),
        (([np.nan], [2], [1.0]), None, "a name for every rating"),
        (([True], [2], [1.0]), None, "dtype bool"),
        (([1], [2], [1j]), None, "real"),
        (([1], [2], [-1e160]), None, "1e.100.*-1e.160"),
        (np.full((2, 2), np.nan), None, "at least one|users"),
        (np.array([[np.inf, 1.0]]), None, "inf"),
        (np.ones(3), None, "shape"),
        ("ratings", None, "X"),
        (None, None, "X"),
        (np.ones((3, 3)), np.ones(3), "pairs"),
        (np.ones((3, 2)), np.ones(2), "every rating"),
        ([(1, 2), (3,)], np.ones(2), "pairs"),
        (([1, 2], [3]), np.ones(2), "as many items|pairs"),
    ],
)
def test_what_is_no_rating(X, y, words):
    with pytest.raises(InvalidInput, match=words):
        as_ratings(X, y)


def test_names_of_another_kind():
    index = Index(np.array([3, 10]))
    np.testing.assert_array_equal(index.positions(["10", "x", "3", "-3"]), [1, -1, 0, -1])
    np.testing.assert_array_equal(index.union(["7"]).names, [3, 7, 10])
    with pytest.raises(InvalidInput, match="'x'"):
        index.union(["7", "x"])


def test_a_missing_name_is_reported():
    with pytest.raises(InvalidInput, match="position 1"):
        as_ratings((np.array(["a", None], object), [1, 2], [1.0, 2.0]))


def test_a_missing_name_of_pandas_is_reported():
    pd = pytest.importorskip("pandas")
    for users in (pd.array(["a", pd.NA], dtype="string"), pd.array([1, pd.NA], dtype="Int64")):
        with pytest.raises(InvalidInput, match="position 1"):
            as_ratings(pd.DataFrame({"user": users, "item": [1, 2], "rating": [1.0, 2.0]}))
