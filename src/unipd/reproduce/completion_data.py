"""Ratings for experiments: MovieLens 100K (local or downloaded) and synthetic low-rank ratings."""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd.errors import FileFormatError, InvalidInput, UnipdError
from unipd.io.ratings import Ratings, read_ratings

MOVIELENS_URL = "https://files.grouplens.org/datasets/movielens/ml-100k.zip"
SHA256 = "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229"
MOVIELENS_FOLDER = "ml-100k"
DATA_VARIABLE = "UNIPD_DATA"
"""Environment variable that names a folder with data sets."""
MOVIELENS_RADIUS = 9975.0 / 2.0
"""The radius of the paper's experiment."""
MOVIELENS_SHAPE = (943, 1682)
MOVIELENS_TERMS = (
    "MovieLens 100K: 100,000 ratings of 1,682 films by 943 users, collected by GroupLens, University of Minnesota.",
    "Terms of use, in short (the README in the archive has them in full):",
    "- for research; no commercial use without permission of GroupLens;",
    "- no redistribution without separate permission;",
    "- no statement or suggestion that the University or GroupLens endorses what you do;",
    "- publications must acknowledge it: F. M. Harper and J. A. Konstan, The MovieLens Datasets: History and Context,",
    "  ACM Transactions on Interactive Intelligent Systems 5(4), 2015.",
)
_TIMEOUT = 60.0
_LARGEST = 20_000_000
_CHUNK = 1 << 20
MEAN_RATING = 3.5
SKEW = 1.0
"""Standard deviation of the log-frequencies of users and items."""


class DataMissing(UnipdError, FileNotFoundError):
    """A data set was not found; the message explains how to get it."""


def cache_folder() -> Path:
    """Return the folder of downloaded data sets."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "unipd"


def find_movielens() -> Path | None:
    """Return the folder of MovieLens 100K, in $UNIPD_DATA or else in the cache; None if it is in neither."""
    folders = [Path(base, MOVIELENS_FOLDER) for base in (os.environ.get(DATA_VARIABLE), cache_folder()) if base]
    return next((folder for folder in folders if (folder / "ub.base").is_file()), None)


def load_movielens_split(name: str = "ub") -> tuple[Ratings, Ratings]:
    """Return the training and test ratings of a split, e.g. the paper's "ub"."""
    folder = find_movielens()
    if folder is None:
        raise DataMissing(
            f"MovieLens 100K is neither in ${DATA_VARIABLE} nor in {cache_folder()}: run `unipd data movielens-100k`, "
            f"or put the folder {MOVIELENS_FOLDER} of {MOVIELENS_URL} there"
        )
    files = folder / f"{name}.base", folder / f"{name}.test"
    if not all(file.is_file() for file in files):
        raise DataMissing(f"{folder} has no split {name}: {files[0].name} and {files[1].name} are expected there")
    return read_ratings(files[0]), read_ratings(files[1])


def fetch_movielens(folder: Path | None = None, address: str = MOVIELENS_URL, sha256: str = SHA256) -> Path:
    """Download the archive, verify its checksum, unpack it and return the folder with the ratings.

    The archive is unpacked into a temporary folder and moved into place when complete.
    """
    base = cache_folder() if folder is None else folder
    target = base / MOVIELENS_FOLDER
    if (target / "ub.base").is_file():
        return target
    base.mkdir(parents=True, exist_ok=True)
    content = _download(address, base, sha256)
    with tempfile.TemporaryDirectory(dir=base) as scratch:
        archive = Path(scratch, "archive.zip")
        archive.write_bytes(content)
        try:
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(scratch)
        except zipfile.BadZipFile as error:
            raise FileFormatError(address, "not a zip archive") from error
        if not Path(scratch, MOVIELENS_FOLDER, "ub.base").is_file():
            raise FileFormatError(address, f"no {MOVIELENS_FOLDER}/ub.base in the archive")
        os.replace(Path(scratch, MOVIELENS_FOLDER), target)
    return target


def _download(address: str, base: Path, sha256: str) -> bytes:
    by_hand = f"download {address} elsewhere and unpack it as {base / MOVIELENS_FOLDER}"
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as answer:
            content = answer.read(_LARGEST)
    except (OSError, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise DataMissing(f"{address} could not be reached ({reason}): {by_hand}") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise FileFormatError(address, f"not the expected archive (sha256 {digest}): {by_hand}")
    return content


@dataclass(frozen=True, eq=False)
class SyntheticRatings:
    """Synthetic ratings with their noise-free model.

    Parameters
    ----------
    users
        Row of each rating, from 0.
    items
        Column of each rating, from 0.
    values
        The ratings.
    shape
        Number of users and of items.
    left
        User factors; X = left right^T.
    right
        Item factors.

    See Also
    --------
    generate_ratings

    Examples
    --------
    >>> made = generate_ratings((12, 10), 40, rank=1, noise=0.0)
    >>> (made.left @ made.right.T).shape == made.shape
    True
    """

    users: IntArray
    items: IntArray
    values: Array
    shape: tuple[int, int]
    left: Array
    right: Array

    def truth(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return the ratings without noise.

        Parameters
        ----------
        users, items
            Their indices, one pair per rating.
        """
        return np.einsum("ij,ij->i", self.left[users], self.right[items]).astype(np.float64) + MEAN_RATING


def generate_ratings(
    shape: tuple[int, int], count: int, *, rank: int = 10, noise: float = 0.5, seed: int = 0, dtype: type = np.float64
) -> SyntheticRatings:
    """Return about ``count`` ratings (repeated pairs are dropped), sorted by user and item.

    Users and items are drawn independently with log-normal frequencies; a rating is 3.5 plus a product of
    ``rank`` factors with unit variance plus Gaussian noise.

    Parameters
    ----------
    shape
        Number of users and of items.
    count
        Number of pairs drawn, at most half of all.
    rank
        Number of factors.
    noise
        Standard deviation of the noise.
    seed
        Seed of the random numbers; equal seeds give equal results.
    dtype
        Data type of ratings and factors.

    Raises
    ------
    InvalidInput
        ``count``, ``shape``: expected an integer of at least 1.

    See Also
    --------
    SyntheticRatings, run_figure2

    Examples
    --------
    >>> made = generate_ratings((20, 30), 200, rank=2)
    >>> made.shape, made.values.size <= 200
    ((20, 30), True)
    """
    rows, columns = (validate.integer("shape", size, minimum=1) for size in shape)
    wanted = validate.integer("count", count, minimum=1)
    if wanted > rows * columns // 2:
        raise InvalidInput("count", f"at most half of the {rows * columns} entries", repr(count))
    rng = np.random.default_rng(seed)
    users, items = _draw_pairs(rng, (rows, columns), wanted)
    left, right = (rng.standard_normal((size, rank)).astype(dtype) / rank**0.25 for size in (rows, columns))
    values = np.empty(users.size, dtype)
    for first in range(0, users.size, _CHUNK):
        part = slice(first, first + _CHUNK)
        values[part] = np.einsum("ij,ij->i", left[users[part]], right[items[part]])
        values[part] += MEAN_RATING + noise * rng.standard_normal(values[part].size)
    return SyntheticRatings(users, items, values, (rows, columns), left, right)


def _draw_pairs(rng: np.random.Generator, shape: tuple[int, int], wanted: int) -> tuple[IntArray, IntArray]:
    """Draw distinct pairs by the frequencies of users and items, sorted, in chunks."""
    busy, popular = (np.exp(SKEW * rng.standard_normal(size)) for size in shape)
    counts = rng.multinomial(wanted, busy / busy.sum())
    shares = np.cumsum(popular / popular.sum())
    users, items = np.empty(wanted, np.int32), np.empty(wanted, np.int32)
    ends, first, kept = np.cumsum(counts), 0, 0
    while first < shape[0]:
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _CHUNK)))
        who = np.repeat(np.arange(first, last, dtype=np.int64), counts[first:last])
        what = np.searchsorted(shares, rng.random(who.size)).clip(max=shape[1] - 1)
        pairs = np.sort(who * shape[1] + what)
        pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: pairs.size]]
        users[kept : kept + pairs.size], items[kept : kept + pairs.size] = np.divmod(pairs, shape[1])
        first, kept = last, kept + pairs.size
    return users[:kept], items[:kept]
