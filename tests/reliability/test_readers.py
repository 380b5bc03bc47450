"""Every file reader on damaged files: a result or an error that names the file, nothing else."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.corruption import corrupt_archive, corrupt_checkpoint
from support.runs import constrained_problem
from unipd import Checkpoint, MatrixCompletion, MaxIterations, load, solve
from unipd.apps.completion import load_model
from unipd.apps.tomography import simulate
from unipd.errors import FileFormatError
from unipd.io import read_cbf, read_graph, read_pauli_data, read_ratings, read_sdpa, save, write_pauli_data
from unipd.report import load_checkpoint
from unipd.run.checkpoint import read_checkpoint

CBF = b"""VER
1
OBJSENSE
MAX
PSDVAR
1
2
VAR
4 2
L- 1
QR 3
CON
3 2
L= 1
L+ 2
PSDCON
1
2
OBJFCOORD
1
0 1 0 1.5
FCOORD
1
0 0 0 0 1
ACOORD
2
1 2 2.0
2 0 -1
BCOORD
1
0 -1.0
HCOORD
1
0 3 1 1 1.0
DCOORD
1
0 0 0 1.0
"""
SDPA = b'"a comment"\n2 = mDIM\n2 = nBLOCK\n{2, -2}\n1.0, 2.0\n0 1 1 1 1.5\n1 1 1 2 -1.0\n2 2 2 2 3e-1\n'
EDGES = b"4 3\n1 2 1.0\n2 3 -1\n3 4 2.5\n"
RATINGS = b"user,item,rating,timestamp\n1,10,4.5,881250949\n2,10,3,881250950\n1,20,1.5,881250951\n"
EDGE_LIST = b"# friends\nann bob 1.5\nbob eve\neve ann 2\n"
U_DATA = b"196\t242\t3\t881250949\n186\t302\t3\t891717742\n22\t377\t1\t878887116\n"
COUNTS = {"XX": {"00": 40, "11": 60}, "ZZ": {"00": 48, "11": 52}}
PIECES = (b"nan", b"1e999", b"-1", b"\x00", b"\xff", b",", b"\n", b" ", b"99999999999999999999", b'"', b"{", b"]", b"#")
TRIALS = 300


def _pauli(suffix: str) -> Callable[[Path], bytes]:
    def make(folder: Path) -> bytes:
        path = folder / f"made{suffix}"
        write_pauli_data(simulate("ghz", 2, measurements=5, seed=1).data, path)
        return path.read_bytes()

    return make


def _counts(folder: Path) -> bytes:
    return json.dumps({"counts": COUNTS}).encode()


def _result(folder: Path) -> bytes:
    result = solve(constrained_problem(), "unipdgrad", stop=MaxIterations(2))
    return save(result, folder / "made.npz").read_bytes()


def _checkpoint(folder: Path) -> bytes:
    path = folder / "made.ckpt"
    solve(constrained_problem(), "unipdgrad", stop=MaxIterations(2), checkpoint=path)
    return path.read_bytes()


def _model(folder: Path) -> bytes:
    model = MatrixCompletion(1.0).fit(([1, 1, 2, 3], [7, 8, 8, 7], [1.0, 2.0, 3.0, 4.0]))
    model.save(folder / "made.npz")
    return (folder / "made.npz").read_bytes()


def _parquet(folder: Path, users: Any = (1, 2, 1)) -> bytes:
    pyarrow = pytest.importorskip("pyarrow", reason="parquet files need pyarrow (the extra data)")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"user": list(users), "item": [10, 10, 20], "rating": [4.5, 3.0, 1.5]})
    parquet.write_table(table, folder / "made.parquet")
    return (folder / "made.parquet").read_bytes()


READERS: dict[str, tuple[str, Callable[[Path], bytes], Callable[[Path], Any]]] = {
    "SDPA": (".dat-s", lambda folder: SDPA, read_sdpa),
    "SDPA, gzip": (".dat-s.gz", lambda folder: gzip.compress(SDPA, mtime=0), read_sdpa),
    "CBF": (".cbf", lambda folder: CBF, read_cbf),
    "CBF, gzip": (".cbf.gz", lambda folder: gzip.compress(CBF, mtime=0), read_cbf),
    "graph": (".txt", lambda folder: EDGES, read_graph),
    "graph, gzip": (".txt.gz", lambda folder: gzip.compress(EDGES, mtime=0), read_graph),
    "graph, edge list": (".txt", lambda folder: EDGE_LIST, read_graph),
    "ratings, u.data": (".data", lambda folder: U_DATA, read_ratings),
    "ratings, parquet": (".parquet", _parquet, read_ratings),
    "ratings, parquet, names": (".parquet", lambda folder: _parquet(folder, ("ann", "bob", "ann")), read_ratings),
    "ratings": (".csv", lambda folder: RATINGS, read_ratings),
    "ratings, tabs": (".tsv", lambda folder: RATINGS.replace(b",", b"\t"), read_ratings),
    "ratings, gzip": (".csv.gz", lambda folder: gzip.compress(RATINGS, mtime=0), read_ratings),
    "Pauli data, CSV": (".csv", _pauli(".csv"), read_pauli_data),
    "Pauli data, NPZ": (".npz", _pauli(".npz"), read_pauli_data),
    "Pauli data, JSON": (".json", _pauli(".json"), read_pauli_data),
    "Pauli counts": (".json", _counts, read_pauli_data),
    "result": (".npz", _result, load),
    "completion model": (".npz", _model, load_model),
    "checkpoint": (".ckpt", _checkpoint, read_checkpoint),
    "checkpoint, for a report": (".ckpt", _checkpoint, load_checkpoint),
}


def damage(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content cut short, with bytes changed, pieces put in, or lines taken out, doubled or exchanged."""
    kind, place = int(rng.integers(6)), int(rng.integers(len(content) + 1))
    if kind == 0:
        return content[:place]
    if kind == 1:
        return content[:place] + bytes([int(rng.integers(256))]) + content[place + 1 :]
    if kind == 2:
        end = min(len(content), place + int(rng.integers(4)))
        return content[:place] + PIECES[int(rng.integers(len(PIECES)))] + content[end:]
    if kind == 3:
        return content[place:] + content[:place]
    lines = content.splitlines(keepends=True)
    chosen = int(rng.integers(len(lines)))
    return b"".join([*lines[:chosen], *([lines[chosen]] * 2 if kind == 4 else []), *lines[chosen + 1 :]])


@pytest.mark.parametrize("name", READERS)
@pytest.mark.filterwarnings("ignore:columns taken by position")
def test_a_damaged_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    suffix, make, read = READERS[name]
    content, rng = make(tmp_path), np.random.default_rng(len(name))
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    read(path)
    refused: list[str] = []
    for _ in range(TRIALS):
        path.write_bytes(damage(content, rng))
        try:
            read(path)
        except FileFormatError as error:
            refused.append(str(error))
    assert len(refused) > TRIALS // 10
    assert [message for message in refused if path.name not in message] == []


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("content", [b"", b"\x00" * 64, b"\xff\xfe\x00", b"PK\x03\x04", b"\n" * 99, b"[" * 5000])
def test_a_file_of_another_kind_is_refused(name: str, content: bytes, tmp_path: Path) -> None:
    suffix, _, read = READERS[name]
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    with pytest.raises(FileFormatError):
        read(path)


SOUND: dict[str, tuple[str, Callable[..., bytes], Callable[..., bytes], Callable[[Path], Any]]] = {
    "Pauli data": (".npz", _pauli(".npz"), corrupt_archive, read_pauli_data),
    "result": (".npz", _result, corrupt_archive, load),
    "completion model": (".npz", _model, corrupt_archive, load_model),
    "checkpoint, for a report": (".ckpt", _checkpoint, corrupt_checkpoint, load_checkpoint),
    "checkpoint, opened": (".ckpt", _checkpoint, corrupt_checkpoint, lambda path: Checkpoint(path, resume=True)),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_file_with_senseless_content_is_read_or_refused(name: str, tmp_path: Path) -> None:
    """Checksums hide most of a reader from random damage; these files have the right ones."""
    suffix, make, bend, read = SOUND[name]
    content, rng = make(tmp_path), np.random.default_rng(len(name))
    path = tmp_path / f"file{suffix}"
    refused: list[str] = []
    for _ in range(TRIALS):
        path.write_bytes(bend(content, rng))
        try:
            read(path)
        except FileFormatError as error:
            refused.append(str(error))
    assert len(refused) > TRIALS // 10
    assert [message for message in refused if path.name not in message] == []
