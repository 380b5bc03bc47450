"""Readers on damaged files: a result or one clear error, within a fixed memory."""

from __future__ import annotations

import functools
import gzip
import io
import tempfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from reliability.fuzz import Case
from reliability.test_readers import EDGES, RATINGS, READERS, SDPA, SOUND, damage
from unipd.errors import UnipdError
from unipd.io import read_graph, read_pauli_data, read_ratings, read_sdpa

MEMORY = 256 << 20
"""Bytes that reading a file of a few megabytes may take."""
MESSAGE = 2000
"""Longest error message, in characters."""
BOMB = 300 << 20
"""Bytes to which a bomb expands."""


def draw_reader(random: np.random.Generator) -> Case:
    """Draw a reader and a damaged file: bytes changed, sound with senseless content, or a bomb."""
    kind = random.random()
    if kind < 0.02:
        return _draw_bomb(random)
    if kind < 0.3:
        name = str(random.choice(list(SOUND)))
        suffix, _, corrupt, read = SOUND[name]
        return _case(f"{name}, senseless", suffix, corrupt(_sound_file(name), random), read)
    name = str(random.choice(list(READERS)))
    suffix, _, read = READERS[name]
    content = _sound_file(name)
    for _ in range(int(random.choice([1, 1, 2, 3, 6]))):
        content = damage(content, random) or b"\n"
    if suffix.endswith(".gz") and random.random() < 0.7:  # damage within a sound archive
        content = gzip.compress(damage(gzip.decompress(_sound_file(name)), random), mtime=0)
    return _case(name, suffix, content, read)


@functools.cache
def _sound_file(name: str) -> bytes:
    make = (READERS.get(name) or SOUND[name])[1]
    with tempfile.TemporaryDirectory() as folder:
        return make(Path(folder))


def _case(name: str, suffix: str, content: bytes, read: Callable[[Path], Any]) -> Case:
    def check(folder: Path) -> None:
        path = folder / f"file{suffix}"
        path.write_bytes(content)
        tracemalloc.start()
        try:
            read(path)
        except UnipdError as error:
            message = str(error)
            assert len(message) <= MESSAGE, f"a message of {len(message)} characters"
            assert message.isprintable(), f"not one line of text: {message!r}"
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak <= MEMORY, f"reading {len(content)} bytes took {peak >> 20} MB"

    return Case(name, check)


def _draw_bomb(random: np.random.Generator) -> Case:
    """Draw a small file that expands to much more than it may take."""
    lines = {
        "SDPA": (".dat-s.gz", SDPA, b"1 1 1 2 -1.0\n", read_sdpa),
        "graph": (".txt.gz", EDGES, b"1 2 1.0\n", read_graph),
        "ratings": (".csv.gz", RATINGS, b"1,10,4.5,881250949\n", read_ratings),
    }
    name = str(random.choice([*lines, "Pauli data"]))
    if name == "Pauli data":
        return _case(f"{name}, bomb", ".npz", _archive_bomb(), read_pauli_data)
    suffix, head, line, read = lines[name]
    return _case(f"{name}, bomb", suffix, _text_bomb(head, line), read)


@functools.cache
def _text_bomb(head: bytes, line: bytes) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as stream:
        stream.write(head)
        for _ in range(BOMB // (1 << 20)):
            stream.write(line * ((1 << 20) // len(line)))
    return out.getvalue()


@functools.cache
def _archive_bomb() -> bytes:
    out = io.BytesIO()
    count = BOMB // 8
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in (("x", np.zeros(3, np.int64)), ("z", np.zeros(3, np.int64)), ("qubits", np.array(2))):
            with archive.open(f"{name}.npy", "w") as stream:
                np.lib.format.write_array(stream, array)
        with archive.open("expectation.npy", "w", force_zip64=True) as stream:
            header = {"descr": "<f8", "fortran_order": False, "shape": (count,)}
            np.lib.format.write_array_header_1_0(stream, header)
            for _ in range(count >> 17):
                stream.write(bytes(1 << 20))
    return out.getvalue()
