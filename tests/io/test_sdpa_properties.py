"""Any problem survives a round trip; no bytes crash the reader."""

import gzip
import io
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unipd.errors import FileFormatError
from unipd.io import LOOSE, Limits, SdpaProblem, TableLayout, read_sdpa, read_table, read_table_by_line, write_sdpa

finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def problems(draw: st.DrawFn) -> SdpaProblem:
    sizes = draw(st.lists(st.integers(-4, 4).filter(bool), min_size=1, max_size=3))
    b = draw(st.lists(finite, min_size=1, max_size=4))
    found: dict[tuple[int, int, int, int], float] = {}
    for _ in range(draw(st.integers(0, 8))):
        block = draw(st.integers(0, len(sizes) - 1))
        row = draw(st.integers(0, abs(sizes[block]) - 1))
        col = row if sizes[block] < 0 else draw(st.integers(row, sizes[block] - 1))
        found[draw(st.integers(0, len(b))), block, row, col] = draw(finite)
    places = np.array(list(found), dtype=np.int64).reshape(-1, 4).T
    return SdpaProblem(b, sizes, *places, list(found.values()))


@settings(max_examples=60)
@given(problems(), st.sampled_from([".dat-s", ".dat-s.gz"]), st.sampled_from(["", "made\nby hand"]))
def test_reading_what_was_written_gives_the_same_problem(problem: SdpaProblem, suffix: str, comment: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "problem" + suffix)
        write_sdpa(problem, path, comment=comment)
        once = path.read_bytes()
        assert read_sdpa(path) == problem
        write_sdpa(problem, path, comment=comment)
        assert path.read_bytes() == once
        assert (once[:2] == b"\x1f\x8b") == suffix.endswith("gz")


def format_loosely(problem: SdpaProblem, seed: int) -> bytes:
    """Return a file of the problem in a random loose style, written independently of the writer."""
    rng = random.Random(seed)

    def format_value(value: float) -> str:
        text = rng.choice(["{!r}", "{:.17e}", "{:.17E}", "{:+.17e}"]).format(value)
        return text.replace("e", "D") if rng.random() < 0.3 else text

    def vector(values: list[str]) -> str:
        left, sep, right = rng.choice([("", " ", ""), ("{", ", ", "}"), ("(", ",", ")"), (" ", "\t", " ")])
        return left + sep.join(values) + right

    rows = []
    for k, block, i, j, value in zip(
        problem.constraint, problem.block, problem.row, problem.col, problem.value, strict=True
    ):
        first, second = (j, i) if rng.random() < 0.3 else (i, j)
        rows += [[str(k), str(block + 1), str(first + 1), str(second + 1), format_value(float(value))]]
        if rng.random() < 0.2:
            rows += [[str(k), str(block + 1), str(second + 1), str(first + 1), format_value(float(value))]]
    rng.shuffle(rows)
    lines = ['"title'] * rng.randint(0, 2) + [f"{problem.m} = m", f" {len(problem.block_sizes)}"]
    lines += [vector([str(size) for size in problem.block_sizes]) + rng.choice(["", " sizes"])]
    lines += [vector([format_value(float(value)) for value in problem.b])]
    for row in rows:
        lines += ["*comment 1 1"] * (rng.random() < 0.1) + [""] * (rng.random() < 0.1) + [vector(row)]
    return rng.choice(["\n", "\r\n"]).join(lines).encode()


@settings(max_examples=80)
@given(problems(), st.integers(0, 2**32))
def test_loosely_written_files_read_the_same(problem: SdpaProblem, seed: int) -> None:
    text = format_loosely(problem, seed)
    assert read_sdpa(io.BytesIO(text)) == problem
    assert read_sdpa(io.BytesIO(gzip.compress(text))) == problem


SMALL = Limits(text_bytes=10**6, order=1000, constraints=1000)


def reads_or_refuses(text: bytes) -> None:
    try:
        problem = read_sdpa(io.BytesIO(text), limits=SMALL)
    except FileFormatError:
        return
    assert np.isfinite(problem.value).all()
    assert np.all(problem.row <= problem.col)
    assert problem.order <= SMALL.order


@settings(max_examples=150)
@given(st.binary(max_size=200))
@example(b"\x1f\x8b")
@example(b"\x1f\x8b\x08\x00")
def test_random_bytes_are_refused_or_read(text: bytes) -> None:
    reads_or_refuses(text)


PIECES = [
    b"1",
    b"2",
    b"-1",
    b"1e9",
    b"999999999",
    b"9" * 30,
    b".5",
    b"nan",
    b"{",
    b",",
    b"\n",
    b'"',
    b"*",
    b"=",
    b"\x00",
]
VALID = b"2\n2\n2 -3\n1.0 2.0\n0 1 1 2 -0.5\n1 1 1 1 1\n1 2 3 3 2.5\n2 1 2 2 4\n"


@settings(max_examples=250)
@given(st.lists(st.tuples(st.integers(0, len(VALID)), st.integers(0, 6), st.sampled_from([*PIECES, b""])), max_size=3))
def test_mutated_files_are_refused_or_read(edits: list[tuple[int, int, bytes]]) -> None:
    text = VALID
    for place, removed, piece in edits:
        text = text[:place] + piece + text[place + removed :]
    reads_or_refuses(text)


LAYOUT = TableLayout((3, 2), b"#", LOOSE)
tokens = st.sampled_from([b"1", b"-2.5", b"+.5", b"3.", b"1D2", b"4e-3", b"x", b"1-2", b".", b"", b" ", b"{", b"#"])


def answer(read: Any, text: bytes) -> Any:
    try:
        return read(text, LAYOUT, "name", 7)
    except FileFormatError as error:
        return str(error)


@settings(max_examples=200)
@given(st.lists(st.lists(tokens, max_size=4), max_size=5))
def test_the_fast_table_agrees_with_the_slow_one(rows: list[list[bytes]]) -> None:
    text = b"\n".join(b" ".join(row) for row in rows)
    wanted, found = (answer(read, text) for read in (read_table_by_line, read_table))
    if isinstance(wanted, str) or isinstance(found, str):
        assert found == wanted
        return
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1])
