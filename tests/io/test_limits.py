"""One guard for every reader: files that unpack to far more than they hold, endless streams, and the memory limit."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unipd import load
from unipd.apps.completion import load_model
from unipd.errors import FileFormatError, MemoryForecastError
from unipd.io import Limits, read_graph, read_pauli_data, read_ratings, read_sdpa, read_titles
from unipd.memory import limited_memory, resident_memory
from unipd.run.checkpoint import FORMAT, MAGIC, read_checkpoint

BOMB = 80 << 20
"""Bytes, more than the 64 MiB from which on the ratio counts."""
GRAPH_LINE, RATING_LINE, PAULI_LINE = b"1 2 1.5\n", b"1,2,3.5\n", b"XX,0.5\n"
TEXTS: dict[str, tuple[str, bytes, bytes, Callable[..., Any]]] = {
    "SDPA": (".dat-s", b"1\n1\n2\n1\n", b"1 1 1 2 0.5\n", read_sdpa),
    "graph": (".txt", b"", GRAPH_LINE, lambda path, **given: read_graph(path, form="edges", **given)),
    "rudy": (".txt", b"2 1\n", GRAPH_LINE, read_graph),
    "ratings": (".csv", b"user,item,rating\n", RATING_LINE, read_ratings),
    "ratings of names": (".csv", b"user,item,rating\n", b"ann,film,3.5\n", read_ratings),
    "Pauli data": (".csv", b"pauli,expectation\n", PAULI_LINE, read_pauli_data),
}
ARCHIVES: dict[str, Callable[[Path], Any]] = {"Pauli data": read_pauli_data, "result": load, "model": load_model}


def write_bomb_archive(path: Path) -> Path:
    """Write an archive of 80 MB of zeros in 80 kB."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (BOMB // 8,)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("expectation.npy", header.getvalue() + bytes(BOMB))
    return path


@pytest.mark.parametrize("name", TEXTS)
def test_a_compressed_text_that_unpacks_to_very_much_is_refused(name: str, tmp_path: Path) -> None:
    suffix, head, line, read = TEXTS[name]
    path = tmp_path / f"bomb{suffix}"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(head + line * (BOMB // len(line)))
    with pytest.raises(FileFormatError, match=r"bomb.* 100 times longer than the compressed file .*decompress"):
        read(path, limits=Limits(compression=100.0))


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_unpacks_to_very_much_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="times longer than the compressed file"):
        ARCHIVES[name](write_bomb_archive(tmp_path / "bomb.npz"))


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_larger_than_the_memory_limit_is_refused(name: str, tmp_path: Path) -> None:
    suffix, head, line, read = TEXTS[name]
    path = tmp_path / f"long{suffix}"
    path.write_bytes(head + line * ((2 << 20) // len(line)))
    with limited_memory(resident_memory() + (1 << 20)), pytest.raises(MemoryForecastError, match=r"long.*memory limit"):
        read(path)


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_larger_than_the_memory_limit_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "long.npz"
    np.savez(path, expectation=np.ones(1 << 22))
    with limited_memory(resident_memory() + (1 << 20)), pytest.raises(MemoryForecastError, match=r"long.*memory limit"):
        ARCHIVES[name](path)


def test_json_larger_than_the_memory_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text("[" + "{}," * 300_000 + "{}]")
    with limited_memory(resident_memory() + (10 << 20)), pytest.raises(MemoryForecastError, match=r"long\.json"):
        read_pauli_data(path)


def test_one_long_name_among_many_ratings_is_refused(tmp_path: Path) -> None:
    """An array of texts gives each the room of the longest."""
    path = tmp_path / "ratings.csv"
    path.write_text("user,item,rating\n" + "ann,film,1\n" * 30_000 + f"{'x' * 60_000},film,1\n")
    with limited_memory(resident_memory() + (1 << 30)), pytest.raises(MemoryForecastError, match="60000 characters"):
        read_ratings(path)


READERS = {**{name: (suffix, read) for name, (suffix, _, _, read) in TEXTS.items()}, "JSON": (".json", read_pauli_data)}
READERS |= {name: (".npz", read) for name, read in ARCHIVES.items()} | {"titles": (".csv", read_titles)}


@pytest.mark.parametrize("name", READERS)
def test_a_device_of_zeros_is_refused(name: str, tmp_path: Path) -> None:
    suffix, read = READERS[name]
    path = tmp_path / f"zeros{suffix}"
    path.symlink_to("/dev/zero")
    with pytest.raises(FileFormatError, match="zeros"):
        read(path)


def test_a_device_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="not a unipd checkpoint"):
        read_checkpoint(Path("/dev/zero"))
    path = tmp_path / "run.ckpt"
    path.write_bytes(MAGIC)
    os.truncate(path, 1 << 42)  # a file with holes
    with pytest.raises(MemoryForecastError, match=r"run\.ckpt"):
        read_checkpoint(path)


def feed(path: Path, head: bytes, line: bytes) -> threading.Thread:
    """Write the line into a pipe until its reader has enough."""

    def write() -> None:
        with open(path, "wb", buffering=0) as pipe:
            try:
                pipe.write(head)
                while True:
                    pipe.write(line * 1000)
            except BrokenPipeError:
                pass

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.mark.parametrize("name", TEXTS)
def test_an_endless_pipe_is_refused(name: str, tmp_path: Path) -> None:
    suffix, head, line, read = TEXTS[name]
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    writer = feed(path, head, line)
    with pytest.raises(FileFormatError, match=r"longer than 1000000 bytes .*text_bytes"):
        read(path, limits=Limits(text_bytes=10**6))
    writer.join()


def test_an_endless_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    writer = feed(path, b"", b"1")
    with pytest.raises(FileFormatError, match="a line is longer than"):
        read_ratings(path)
    writer.join()


def test_a_pipe_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    content = b"".join(b"%d,%d,1.5\n" % (row, row % 7) for row in range(5000))
    for packed in (content, gzip.compress(content)):
        writer = threading.Thread(target=lambda data=packed: path.write_bytes(data))
        writer.start()
        assert read_ratings(path).users.tolist() == list(range(5000))
        writer.join()


MEMBERS: dict[str, Any] = {
    "no array": b"a member without the header of an array",
    "characters that do not exist": np.full(4, 0x110000, np.uint32).view("U2"),
    "objects": np.array([{}, None], object),
}


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("name", ARCHIVES)
def test_a_member_that_is_no_array_of_numbers_or_texts_is_refused(name: str, member: str, tmp_path: Path) -> None:
    path, content = tmp_path / "file.npz", io.BytesIO()
    given = MEMBERS[member]
    if isinstance(given, np.ndarray):
        np.save(content, given, allow_pickle=True)
    else:
        content.write(given)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pauli.npy" if isinstance(given, np.ndarray) else "pauli", content.getvalue())
    with pytest.raises(FileFormatError, match=r"file\.npz"):
        ARCHIVES[name](path)


def test_places_beyond_every_file_are_refused(tmp_path: Path) -> None:
    """A checkpoint whose checksum is right and whose header is not."""
    path = tmp_path / "run.ckpt"
    header = json.dumps({"format": FORMAT, "arrays": [["<f8", [1], "C", 2**70]], "runs": []}).encode()
    body = MAGIC + len(header).to_bytes(8, "little") + header
    path.write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(FileFormatError, match=r"run\.ckpt"):
        read_checkpoint(path)
