"""Titles of items from files."""

import pytest

from unipd.errors import FileFormatError
from unipd.io import read_titles


@pytest.mark.parametrize(
    "content",
    [
        "1|Heat (1995)|01-Jan-1995||http://x|0|1\n2|Amélie, again|x\n".encode("latin-1"),
        "1::Heat (1995)::Action\n2::Amélie, again::Romance\n".encode(),
        '\ufeffmovieId,title,genres\r\n1,Heat (1995),Action\r\n2,"Amélie, again",Romance\r\n'.encode(),
        "item\ttitle\n1\tHeat (1995)\n\n2\tAmélie, again\n".encode(),
        '1,Heat (1995),Action|Crime\n2,"Amélie, again",Romance\n'.encode(),
    ],
    ids=["u.item", "movies.dat", "movies.csv", "tabs", "no names"],
)
def test_titles(tmp_path, content):
    path = tmp_path / "titles"
    path.write_bytes(content)
    assert read_titles(path) == {"1": "Heat (1995)", "2": "Amélie, again"}


@pytest.mark.parametrize(("text", "line"), [("", 1), ("Heat\n", 1), ("1|Heat\n2\n", 2)])
def test_lines_without_a_title(tmp_path, text, line):
    path = tmp_path / "titles"
    path.write_text(text)
    with pytest.raises(FileFormatError, match="item and its title") as caught:
        read_titles(path)
    assert caught.value.line == line


def test_marks_that_end_lines_elsewhere_belong_to_titles(tmp_path):
    path = tmp_path / "titles"
    path.write_bytes("1|Heat\x85 (1995)|x\r\n2|Amélie\x0c|\r\n".encode("latin-1"))
    assert read_titles(path) == {"1": "Heat\x85 (1995)", "2": "Amélie"}


def test_a_field_without_end(tmp_path):
    path = tmp_path / "titles"
    path.write_text("1,Heat\n2," + 200_000 * "a" + "\n")
    with pytest.raises(FileFormatError, match="not a table") as caught:
        read_titles(path)
    assert caught.value.line == 2
