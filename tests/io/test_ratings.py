"""Files of ratings: common formats, and messages about invalid files."""

import gzip
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unipd.errors import FileFormatError, InvalidInput, MissingExtra
from unipd.io import Ratings, check_columns, read_ratings

PLAIN = [(1, 10, 4.0), (2, 10, 3.5), (1, 12, 5.0)]


def write_text(tmp_path, text, name="ratings.txt"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def rows_of(ratings):
    return list(zip(ratings.users.tolist(), ratings.items.tolist(), ratings.values.tolist(), strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "1\t10\t4\t881250949\n2\t10\t3.5\t881250949\n1\t12\t5\t0",
        "1,10,4\n2,10,3.5\n1,12,5\n",
        "1;10;4\r\n2;10;3.5\r\n1;12;5\r\n",
        "1::10::4::97\n2::10::3.5::97\n1::12::5::97\n",
        "1 10 4\n2   10 3.5\n\n1 12 5\n",
        "1|10|4\n2|10|3.5\n1|12|5\n",
        "user,item,rating\n1,10,4\n2,10,3.5\n1,12,5\n",
        "timestamp,movieId,userId,rating\n9,10,1,4\n9,10,2,3.5\n9,12,1,5\n",
        '"user_id","product id","Score"\n"1","10","4"\n"2","10","3.5"\n"1","12","5"\n',
        "who,what,how much\n1,10,4\n2,10,3.5\n1,12,5\n",
        "1.0,10.0,4\n2.0,10.0,3.5\n1.0,12.0,5\n",
        "\ufeff1,10,4\n2,10,3.5\n1,12,5\n",
        ",who,what,how much\n0,1,10,4\n1,2,10,3.5\n2,1,12,5\n",
        "user_id,timestamp,track_id,plays\n1,9,10,4\n2,9,10,3.5\n1,9,12,5\n",
    ],
    ids=[
        "tabs",
        "commas",
        "semicolons",
        "colons",
        "spaces",
        "bars",
        "header",
        "order",
        "quotes",
        "names",
        "reals",
        "bom",
        "numbered rows",
        "tracks",
    ],
)
@pytest.mark.filterwarnings("ignore:columns taken by position")
def test_formats(tmp_path, text):
    assert rows_of(read_ratings(write_text(tmp_path, text))) == PLAIN


def test_columns_by_name(tmp_path):
    path = write_text(tmp_path, "liking,what,when,who\n4,10,0,1\n3.5,10,0,2\n5,12,0,1\n")
    columns = {"user": "who", "item": "what", "rating": "liking"}
    assert rows_of(read_ratings(path, columns)) == PLAIN
    with pytest.raises(FileFormatError, match="columns who, what, love expected"):
        read_ratings(path, {**columns, "rating": "love"})
    with pytest.raises(InvalidInput, match="columns"):
        read_ratings(path, {"user": "who"})


def test_compressed(tmp_path):
    path = write_text(tmp_path, gzip.compress(b"1,10,4\n2,10,3.5\n1,12,5\n"), "ratings.csv.gz")
    assert rows_of(read_ratings(path)) == PLAIN


def test_texts_are_identifiers_too(tmp_path):
    found = read_ratings(write_text(tmp_path, 'user,item,rating\nann,"Alien, again",4\nbob,Heat,2\n'))
    assert rows_of(found) == [("ann", "Alien, again", 4.0), ("bob", "Heat", 2.0)]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("1,155061224,5\n2,34545104X,3\n3,45104X,3\n", ["155061224", "34545104X", "45104X"]),
        ("1,0001713353,5\n2,B000052,4\n", ["0001713353", "B000052"]),
        ('"a","x;y",3\n"b","Toy, Story",5\n', ["x;y", "Toy, Story"]),
        (f"1,{2**63},3\n1,5,4\n", [str(2**63), "5"]),
        (f"1,{10**30},3\n1,5,4\n", [str(10**30), "5"]),
        ("1,12_34,3\n1,123_4,4\n", ["12_34", "123_4"]),
    ],
    ids=["later texts", "zeros", "marks in quotes", "64 bits", "more bits", "underscores"],
)
def test_what_else_is_a_text(tmp_path, text, items):
    assert read_ratings(write_text(tmp_path, text)).items.tolist() == items


def test_colons_are_read_as_fast_as_tabs(tmp_path, monkeypatch):
    from unipd.io import ratings as ratings_text

    monkeypatch.setattr(ratings_text, "_read_lines", lambda *_: pytest.fail("read line by line"))
    assert rows_of(read_ratings(write_text(tmp_path, "1::10::4::97\n2::10::3.5::97\n1::12::5::97\n"))) == PLAIN


def test_large_identifiers_stay_exact(tmp_path):
    large = 2**53 + 1
    assert read_ratings(write_text(tmp_path, f"{large},1,3\n")).users.tolist() == [large]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("1,10,4\n2,10,good\n", 2, "rating must be a number"),
        ("1,10,4\n2,10,nan\n", 2, "rating must be a number"),
        ("1,10,4\n2,10,inf\n", 2, "rating must be a number"),
        ("1,10,bad\n2,10,3\n", 1, "rating must be a number"),
        ("1,10,4\n\n2,10\n", 3, "3 fields expected"),
        ("1,10,4\n-2,10,3\n", 2, "user must not be negative"),
        ("1,10,4\n2,-10,3\n", 2, "item must not be negative"),
        ("1,10,4\n2x,10,3\n", 2, "user must be an integer"),
        ("1,10,4\n2,10.5,3\n", 2, "item must be an integer"),
        ("1,10,4\n,10,3\n", 2, "user must be an integer"),
        ("1::10::4\n2::10\n", 2, "3 fields expected"),
        ("user,item,rating\n1,10,4\n1,oops,4\n", 3, "item must be an integer"),
        ("1,10\n", 1, "three fields expected"),
        ("time,user,thing,liking\n9,1,10,4\n", 1, "columns user, item and rating"),
        ("1,10,4\nnan,10,3\nnan,11,3\n", 2, "user must be an integer"),
        ("1,10,4\n1_2,10,3\n", 2, "user must be an integer"),
        ("1,10,4\n2,10,1_0\n", 2, "rating must be a number"),
        ("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 5\n2 2 3\n", 1, "mmread"),
    ],
)
def test_the_wrong_line_is_named(tmp_path, text, line, words):
    with pytest.raises(FileFormatError, match=words) as caught:
        read_ratings(write_text(tmp_path, text))
    assert caught.value.line == line
    assert f"line {line}" in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n \n", "user,item,rating\n"])
def test_nothing_to_read(tmp_path, text):
    with pytest.raises(FileFormatError, match="no ratings"):
        read_ratings(write_text(tmp_path, text))


def test_no_text_at_all(tmp_path):
    with pytest.raises(FileFormatError, match="UTF-8"):
        read_ratings(write_text(tmp_path, b"\xff\xfe\x00\x01" * 10))
    with pytest.raises(FileFormatError, match="gzip"):
        read_ratings(write_text(tmp_path, b"plain", "ratings.gz"))


def test_a_quotation_that_never_ends(tmp_path):
    with pytest.raises(FileFormatError, match="quotation"):
        read_ratings(write_text(tmp_path, '1,"10,4\n' + "2,10,3\n" * 30000))


def test_parquet_needs_pyarrow(tmp_path, monkeypatch):
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match="pyarrow"):
        read_ratings(write_text(tmp_path, b"PAR1", "ratings.parquet"))


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    columns = {"rating": [4.0, 3.5, 5.0], "user": [1, 2, 1], "item": [10, 10, 12]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "ratings.parquet")
    assert rows_of(read_ratings(tmp_path / "ratings.parquet")) == PLAIN
    with pytest.raises(FileFormatError, match="not a parquet file"):
        read_ratings(write_text(tmp_path, b"nothing", "other.parquet"))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (([1, 2], [1, 1], [1.0, np.nan]), "row 2"),
        (([1, -2], [1, 1], [1.0, 2.0]), "negative"),
        (([1.0, 2.5], [1, 1], [1.0, 2.0]), "not integers"),
        ((["a", None], [1, 1], [1.0, 2.0]), "none at position 1"),
        (([1], [1], ["much"]), "not numbers"),
        (([], [], []), "no ratings"),
        (([1], [1], np.array(["2020-01-01"], "M8[D]")), "dates"),
        ((np.array([[1], None], object)[:1], [1], [1.0]), "integers or strings"),
    ],
)
def test_columns_of_tables_are_checked(columns, words):
    with pytest.raises(FileFormatError, match=words):
        check_columns("table", *(np.array(column, dtype=_dtype(column)) for column in columns))


def test_unsigned_identifiers_beyond_64_bits_are_texts():
    users, _, _ = check_columns("table", np.array([2**63 + 3, 4], np.uint64), np.array([1, 2]), np.ones(2))
    assert users.tolist() == [str(2**63 + 3), "4"]


def _dtype(column):
    if isinstance(column, np.ndarray):
        return column.dtype
    return object if None in column else None


def test_part_of_the_ratings():
    ratings = Ratings(np.arange(3), np.arange(3), np.arange(3.0))
    assert rows_of(ratings.where(np.array([False, True, True]))) == [(1, 1, 1.0), (2, 2, 2.0)]


rating_lists = st.lists(
    st.tuples(st.integers(0, 2**40), st.integers(0, 2**40), st.floats(-1e6, 1e6, allow_nan=False)), min_size=1
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rating_lists, separator=st.sampled_from(["\t", ",", ";", "::", "|", " "]), header=st.booleans())
def test_what_is_written_is_read(tmp_path, rows, separator, header):
    lines = [separator.join(map(repr, row)) for row in rows]
    if header:
        lines.insert(0, separator.join(["user", "item", "rating"]))
    assert rows_of(read_ratings(write_text(tmp_path, "\n".join(lines)))) == rows
