"""MovieLens 100K: where it is looked for, and how it is fetched."""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.request
import zipfile
from pathlib import Path

from unipd.errors import FileFormatError, UnipdError
from unipd.io.ratings import Ratings, read_ratings

ADDRESS = "https://files.grouplens.org/datasets/movielens/ml-100k.zip"
SHA256 = "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229"
FOLDER = "ml-100k"
VARIABLE = "UNIPD_DATA"
"""Environment variable that names a folder with data sets."""
KAPPA = 9975.0 / 2.0
"""The radius of the paper's experiment."""
SHAPE = (943, 1682)
TERMS = (
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


class DataMissing(UnipdError, FileNotFoundError):
    """A data set is not where it is looked for; the message says how to get it."""


def cache_folder() -> Path:
    """Return where data sets that were fetched are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "unipd"


def find() -> Path | None:
    """Return the folder of MovieLens 100K: in $UNIPD_DATA, else in the cache; None when it is in neither."""
    places = [Path(os.environ[VARIABLE])] if os.environ.get(VARIABLE) else []
    for place in [*places, cache_folder()]:
        if (place / FOLDER / "ub.base").is_file():
            return place / FOLDER
    return None


def split(name: str = "ub") -> tuple[Ratings, Ratings]:
    """Return the training and the test ratings of one of the splits, e.g. the paper's "ub"."""
    folder = find()
    if folder is None:
        raise DataMissing(
            f"MovieLens 100K is neither in ${VARIABLE} nor in {cache_folder()}: run `unipd data movielens-100k`, or "
            f"put the folder {FOLDER} of {ADDRESS} there"
        )
    return read_ratings(folder / f"{name}.base"), read_ratings(folder / f"{name}.test")


def fetch(folder: Path | None = None, address: str = ADDRESS) -> Path:
    """Download the archive, check it, unpack it and return the folder with the ratings.

    The archive is unpacked beside its place and moved there when it is whole.
    """
    base = cache_folder() if folder is None else folder
    target = base / FOLDER
    if (target / "ub.base").is_file():
        return target
    base.mkdir(parents=True, exist_ok=True)
    content = _download(address, base)
    with tempfile.TemporaryDirectory(dir=base) as scratch:
        archive = Path(scratch, "archive.zip")
        archive.write_bytes(content)
        try:
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(scratch)
        except zipfile.BadZipFile as error:
            raise FileFormatError(address, "not a zip archive") from error
        if not Path(scratch, FOLDER, "ub.base").is_file():
            raise FileFormatError(address, f"no {FOLDER}/ub.base in the archive")
        os.replace(Path(scratch, FOLDER), target)
    return target


def _download(address: str, base: Path) -> bytes:
    by_hand = f"download {address} elsewhere and unpack it as {base / FOLDER}"
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as answer:
            content = answer.read(_LARGEST)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise DataMissing(f"{address} could not be reached ({reason}): {by_hand}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        raise FileFormatError(address, f"not the archive expected (sha256 {found}): {by_hand}")
    return content
