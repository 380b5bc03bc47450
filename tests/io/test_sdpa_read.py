"""The SDPA reader: accepted files, and the location of errors in invalid ones."""

import contextlib
import gzip
import io
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from unipd.errors import FileFormatError, InvalidInput
from unipd.io import Limits, SdpaProblem, read_sdpa

PLAIN = b"2\n2\n2 -3\n1.0 2.0\n0 1 1 2 -0.5\n1 1 1 1 1\n1 2 3 3 2.5\n2 1 2 2 4\n"
EXPECTED = SdpaProblem(
    [1.0, 2.0], (2, -3), [0, 1, 1, 2], [0, 0, 1, 0], [0, 0, 2, 1], [1, 0, 2, 1], [-0.5, 1.0, 2.5, 4.0]
)

SAME = {
    "plain": PLAIN,
    "comments": b'"title\n* more {1}\n' + PLAIN.replace(b"0 1 1 2", b'"in between\n\n* and\n0 1 1 2'),
    "punctuation": b"{2}\n(2)\n({2, -3})\n{1.0, 2.0}\n{0, 1, 1, 2, -0.5}\n(1,1)(1,1) 1\n1,2,3,3,2.5\n2 1 2 2 4",
    "text": b"2 =mDIM\n2 = nBLOCK 7\n(2, -3) = bLOCKsTRUCT\n{1.0, 2.0} : c\n" + PLAIN.split(b"\n", 4)[4],
    "text without a space": b"2=mDIM\n2 - blocks\n2 -3 sizes\n1 2 e\n" + PLAIN.split(b"\n", 4)[4],
    "numbers": b"+2\n2\n+2 -3\n1.0E+00 .2D1\n0 1 1 2 -5.d-1\n1 1 1 1 +1\n1 2 3 3 .025e2\n2 1 2 2 0.4D+01\n",
    "wrapped": b"2\n2\n2\n-3\n1.0\n2.0\n" + PLAIN.split(b"\n", 4)[4],
    "windows": b"\xef\xbb\xbf" + PLAIN.replace(b"\n", b"\r\n"),
    "lower triangle": PLAIN.replace(b"0 1 1 2", b"0 1 2 1"),
    "both triangles": PLAIN + b"0 1 2 1 -0.5\n",
    "twice": PLAIN + b"2 1 2 2 4.0\n",
    "zeros": PLAIN + b"2 1 1 1 0\n1 2 1 1 -0.0\n",
    "shuffled": b"\n".join([*PLAIN.split(b"\n")[:4], *PLAIN.split(b"\n")[:3:-1]]),
    "tabs and blanks": PLAIN.replace(b" ", b" \t ").replace(b"\n", b"  \n\n"),
    "no last line end": PLAIN[:-1],
}


@pytest.mark.parametrize("name", SAME)
def test_loose_forms_give_the_same_problem(name: str) -> None:
    assert read_sdpa(io.BytesIO(SAME[name])) == EXPECTED


def test_the_model_has_the_matrices_of_the_file() -> None:
    problem = read_sdpa(io.BytesIO(PLAIN))
    assert (problem.m, problem.order, problem.block_sizes) == (2, 5, (2, -3))
    np.testing.assert_array_equal(problem.matrix(0, 0).toarray(), [[0.0, -0.5], [-0.5, 0.0]])
    np.testing.assert_array_equal(problem.matrix(1, 1).toarray(), np.diag([0.0, 0.0, 2.5]))
    with pytest.raises(ValueError, match="read-only"):
        problem.b[0] = 3.0


def test_problems_differ_when_anything_does() -> None:
    assert read_sdpa(io.BytesIO(PLAIN.replace(b"2 1 2 2 4", b"2 1 2 2 4.5"))) != EXPECTED
    assert read_sdpa(io.BytesIO(PLAIN.replace(b"2 -3\n", b"2 -4\n"))) != EXPECTED
    assert EXPECTED != "a problem"


ENTRIES = b"2\n2\n2 -3\n1.0 2.0\n"
WRONG = {
    "empty": (b"", None, "the file ends before the number of constraints"),
    "only comments": (b'"a\n*b\n', 2, "ends before the number of constraints"),
    "no blocks": (b"2\n", 1, "ends before the number of blocks"),
    "no sizes": (b"2\n2\n", 2, "ends before block sizes"),
    "no b": (b"2\n2\n2 -3\n", 3, "ends before right-hand sides"),
    "title": (b"my problem\n2\n", 1, "expected the number of constraints"),
    "binary": (b"\x00\x01\xff\n\x80", 1, "a zero byte"),
    "fraction": (b"2.5\n", 1, "whole number"),
    "zero constraints": (b"0\n", 1, "positive"),
    "negative blocks": (b"2\n-1\n", 2, "positive"),
    "two counts": (b"2 2\n2 -3\n", 1, "alone, got 2"),
    "infinite": (b"1e999\n", 1, "number"),
    "huge m": (b"999999999\n1\n2\n1.0\n", 1, "more than the limit"),
    "huge blocks": (b"2\n999999999\n", 2, "more than the limit"),
    "huge size": (b"2\n1\n999999999\n1 2\n", 3, "more than the limit"),
    "huge sum": (b"2\n2\n1500000 -1500000\n1 2\n", 3, "more than the limit"),
    "overflowing sizes": (b"2\n2\n9e307 -1e308\n1 2\n", 3, "more than the limit"),
    "size zero": (b"2\n2\n2 0\n1 2\n", 3, "other than zero"),
    "size fraction": (b"2\n2\n2 1.5\n1 2\n", 3, "whole"),
    "too many sizes": (b"2\n2\n2 3 4\n1 2\n", 3, "expected 2 block sizes, got 3"),
    "text among sizes": (b"2\n2\n2 x 3\n1 2\n", 3, "expected 2 block sizes, got 1"),
    "too many b": (b"2\n1\n2\n1 2 3\n", 4, "expected 2 right-hand sides, got 3"),
    "b eats an entry": (b"2\n1\n2\n1\n0 1 1 1 1\n", 5, "expected 2 right-hand sides, got 6"),
    "b overflows": (b"2\n1\n2\n1 1e999\n", 4, "not finite"),
    "four numbers": (ENTRIES + b"1 1 1 1\n", 5, "expected 5 numbers, got 4"),
    "six numbers": (ENTRIES + b"1 1 1 1 1 1\n", 5, "expected 5 numbers, got 6"),
    "four then six": (ENTRIES + b"1 1 1 1 1\n1 1 1 2\n1 1 1 1 1 1\n", 6, "got 4"),
    "two entries a line": (ENTRIES + b"1 1 1 1 1 1 1 2 2 1\n", 5, "got 10"),
    "word": (ENTRIES + b"1 1 1 1 1\n\n1 1 one 1 1\n", 7, "'one' is not a number"),
    "nan": (ENTRIES + b"1 1 1 1 nan\n", 5, "'nan'"),
    "inf": (ENTRIES + b"1 1 1 1 inf\n", 5, "'inf'"),
    "underscore": (ENTRIES + b"1 1 1 1 1_0\n", 5, "'1_0'"),
    "two dots": (ENTRIES + b"1 1 1 1 1.5.5\n", 5, "'1.5.5'"),
    "glued": (ENTRIES + b"1 1 1 1-1\n", 5, "'1-1'"),
    "sign alone": (ENTRIES + b"1 1 1 1 -\n", 5, "'-'"),
    "no exponent": (ENTRIES + b"1 1 1 1 1e\n", 5, "'1e'"),
    "hexadecimal": (ENTRIES + b"1 1 1 1 0x1\n", 5, "'0x1'"),
    "junk": (ENTRIES + b"1 1 1 1 \x00\xff\n", 5, "a zero byte"),
    "value overflows": (ENTRIES + b"1 1 1 1 1\n1 1 1 2 1e999\n", 6, "not finite"),
    "index fraction": (ENTRIES + b"1 1 1.5 1 1\n", 5, "not a whole number"),
    "index overflows": (ENTRIES + b"1 1 1 1e999 1\n", 5, "outside its block"),
    "negative matrix": (ENTRIES + b"-1 1 1 1 1\n", 5, "between 0 and 2"),
    "large matrix": (ENTRIES + b"3 1 1 1 1\n", 5, "between 0 and 2"),
    "block zero": (ENTRIES + b"1 0 1 1 1\n", 5, "between 1 and 2"),
    "large block": (ENTRIES + b"1 3 1 1 1\n", 5, "between 1 and 2"),
    "row zero": (ENTRIES + b"1 1 0 1 1\n", 5, "outside its block"),
    "negative column": (ENTRIES + b"1 1 1 -1 1\n", 5, "outside its block"),
    "large row": (ENTRIES + b"1 1 3 1 1\n", 5, "outside its block"),
    "off a diagonal": (ENTRIES + b"1 2 1 2 1\n", 5, "off the diagonal"),
    "two values": (ENTRIES + b"1 1 1 2 1\n2 1 1 1 1\n1 1 2 1 3\n", 7, "was 1 on line 5 and is 3 here"),
    "zero and a value": (ENTRIES + b"1 1 1 2 0\n1 1 1 2 3\n", 6, "was 0 on line 5"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_line(name: str) -> None:
    text, line, message = WRONG[name]
    with pytest.raises(FileFormatError, match=message) as caught:
        read_sdpa(io.BytesIO(text))
    assert caught.value.line == line
    assert caught.value.path == "<stream>"


def test_errors_name_the_path(tmp_path: Path) -> None:
    path = tmp_path / "bad.dat-s"
    path.write_bytes(b"2\nx\n")
    with pytest.raises(FileFormatError, match=r"bad\.dat-s, line 2"):
        read_sdpa(path)
    with pytest.raises(FileNotFoundError):
        read_sdpa(tmp_path / "absent.dat-s")


def test_line_numbers_hold_across_chunks() -> None:
    good = b"1 1 1 1 1\n" * 420_000
    with pytest.raises(FileFormatError) as caught:
        read_sdpa(io.BytesIO(ENTRIES + good + b"1 1 1 1 x\n"))
    assert caught.value.line == 420_005


@pytest.mark.parametrize("text", [b"50000000\n1\n2\n1 2 3\n", b"1\n2000000\n2\n1\n", b"1\n1\n2000000\n1\n1 1 1 1 1\n"])
def test_declared_sizes_allocate_nothing(text: bytes) -> None:
    tracemalloc.start()
    with contextlib.suppress(FileFormatError):
        read_sdpa(io.BytesIO(text))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6e6


def test_compressed_files_read_alike_and_damage_is_an_error() -> None:
    packed = gzip.compress(PLAIN)
    assert read_sdpa(io.BytesIO(packed)) == EXPECTED
    for cut in range(2, len(packed)):
        with pytest.raises(FileFormatError):
            read_sdpa(io.BytesIO(packed[:cut]))
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xFF
    with pytest.raises(FileFormatError, match="damaged"):
        read_sdpa(io.BytesIO(bytes(damaged)))


def test_a_gzip_bomb_is_refused() -> None:
    bomb = gzip.compress(PLAIN + b"\n" * (2 << 20))
    with pytest.raises(FileFormatError, match="200 times longer"):
        read_sdpa(io.BytesIO(bomb), limits=Limits(compression_from=1 << 20))
    assert read_sdpa(io.BytesIO(bomb)) == EXPECTED
    with pytest.raises(FileFormatError, match="longer than 1000000 bytes"):
        read_sdpa(io.BytesIO(bomb), limits=Limits(text_bytes=10**6))
    with pytest.raises(FileFormatError, match="longer than 30 bytes"):
        read_sdpa(io.BytesIO(PLAIN), limits=Limits(text_bytes=30))


def test_endless_lines_are_refused() -> None:
    with pytest.raises(FileFormatError, match="a line is longer"):
        read_sdpa(io.BytesIO(PLAIN + b"1 1 1 1 " + b"0" * (6 << 20)))
    with pytest.raises(FileFormatError, match="lines without data"):
        read_sdpa(io.BytesIO(b"\n" * 200_000))


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"b": []}, "b"),
        ({"b": [np.nan]}, "b"),
        ({"block_sizes": ()}, "block_sizes"),
        ({"block_sizes": (2, 0)}, "block_sizes"),
        ({"block_sizes": (2.5,)}, "block_sizes"),
        ({"constraint": [2]}, "constraint"),
        ({"constraint": [-1]}, "constraint"),
        ({"constraint": [0.5]}, "constraint"),
        ({"block": [1]}, "block"),
        ({"row": [2]}, "row, col"),
        ({"row": [0, 1]}, "row"),
        ({"block_sizes": (-2,)}, "row, col"),
        ({"value": [np.inf]}, "value"),
        ({"value": [1j]}, "value"),
    ],
)
def test_the_model_refuses_bad_data(change: dict[str, object], argument: str) -> None:
    good: dict[str, object] = {"b": [1.0], "block_sizes": (2,), "constraint": [1], "block": [0], "row": [0]}
    good |= {"col": [1], "value": [1.0]}
    SdpaProblem(**good)
    with pytest.raises(InvalidInput) as caught:
        SdpaProblem(**(good | change))
    assert caught.value.argument == argument


SDPLIB = {
    "mcp100": (100, 100),
    "mcp124-1": (124, 124),
    "mcp250-1": (250, 250),
    "mcp500-1": (500, 500),
    "maxG11": (800, 800),
    "theta1": (104, 50),
    "theta2": (498, 100),
    "gpp100": (101, 100),
    "gpp124-1": (125, 124),
    "truss1": (6, 13),
    "control1": (21, 15),
    "infp1": (10, 30),
    "infd1": (10, 30),
}


@pytest.mark.skipif("UNIPD_DATA" not in os.environ, reason="UNIPD_DATA does not point to the real instances")
@pytest.mark.parametrize("name", SDPLIB)
def test_sdplib_files_have_their_published_sizes(name: str) -> None:
    problem = read_sdpa(Path(os.environ["UNIPD_DATA"], "sdplib", f"{name}.dat-s"))
    assert (problem.m, problem.order) == SDPLIB[name]


def test_a_gzip_bomb_is_refused_before_its_numbers_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(PLAIN + PLAIN.splitlines(keepends=True)[-1] * 500_000)
    monkeypatch.setattr("unipd.io.sdpa.read_table", lambda *_: pytest.fail("the numbers were read"))
    with pytest.raises(FileFormatError, match="200 times longer"):
        read_sdpa(io.BytesIO(bomb), limits=Limits(compression_from=1 << 16))


def test_more_entries_than_the_sizes_have_room_for_are_refused() -> None:
    text, limits = b"1\n2\n2 -3\n1\n" + b"1 2 1 1 5\n" * 31, Limits(repeated_entries=3)
    assert read_sdpa(io.BytesIO(text), limits=limits).value.size == 1
    with pytest.raises(FileFormatError, match="32 entries or more, and 2 matrices of these sizes have only 14"):
        read_sdpa(io.BytesIO(text + b"1 2 1 1 5\n"), limits=limits)
