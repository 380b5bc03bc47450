"""Where MovieLens is looked up and how it is downloaded; nothing here uses the network."""

import hashlib
import zipfile

import pytest

from unipd.errors import FileFormatError
from unipd.reproduce import completion_data


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("UNIPD_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "unipd"


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "served.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("ml-100k/ub.base", "1\t1\t5\t0\n2\t1\t3\t0\n")
        made.writestr("ml-100k/ub.test", "1\t1\t4\t0\n")
    return served(path)


def served(path):
    """Return the arguments with which a file is fetched as the archive."""
    return {"address": path.as_uri(), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def test_places(cache, tmp_path, monkeypatch):
    assert completion_data.find_movielens() is None
    with pytest.raises(completion_data.DataMissing, match="unipd data movielens-100k"):
        completion_data.load_movielens_split()
    for base in (cache, tmp_path / "mine"):
        (base / "ml-100k").mkdir(parents=True)
        (base / "ml-100k" / "ub.base").write_text("1\t1\t5\t0\n")
    assert completion_data.find_movielens() == cache / "ml-100k"
    monkeypatch.setenv("UNIPD_DATA", str(tmp_path / "mine"))
    assert completion_data.find_movielens() == tmp_path / "mine" / "ml-100k"
    with pytest.raises(completion_data.DataMissing, match=r"no split u1: u1\.base and u1\.test"):
        completion_data.load_movielens_split("u1")


def test_fetched_once(cache, archive):
    folder = completion_data.fetch_movielens(**archive)
    assert folder == cache / "ml-100k"
    assert [len(part) for part in completion_data.load_movielens_split()] == [2, 1]
    assert sorted(path.name for path in cache.iterdir()) == ["ml-100k"]
    assert completion_data.fetch_movielens(address="file:///nowhere") == folder


def test_into_a_folder(archive, tmp_path):
    assert completion_data.fetch_movielens(tmp_path / "data", **archive) == tmp_path / "data" / "ml-100k"


def test_another_archive_is_refused(cache, archive):
    with pytest.raises(FileFormatError, match="sha256"):
        completion_data.fetch_movielens(address=archive["address"])
    assert completion_data.find_movielens() is None


def test_an_archive_without_the_ratings(cache, tmp_path):
    for name, content in (("empty.zip", None), ("text.zip", b"no archive")):
        path = tmp_path / name
        if content is None:
            zipfile.ZipFile(path, "w").close()
        else:
            path.write_bytes(content)
        with pytest.raises(FileFormatError, match="ub.base" if content is None else "not a zip"):
            completion_data.fetch_movielens(**served(path))
    assert completion_data.find_movielens() is None


def test_no_connection(cache):
    with pytest.raises(completion_data.DataMissing) as caught:
        completion_data.fetch_movielens(address="file:///nowhere/ml-100k.zip")
    assert "file:///nowhere/ml-100k.zip" in str(caught.value)
    assert str(cache / "ml-100k") in str(caught.value)
