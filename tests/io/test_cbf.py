"""CBF: programs with known optima, every cone, round trips, and the line and word of what is wrong."""

import contextlib
import io
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd import SDP
from unipd.errors import FileFormatError, InvalidInput, MemoryForecastError
from unipd.io import CbfProblem, Limits, read_cbf, write_cbf
from unipd.maps import Entries
from unipd.memory import limited_memory

MIXED = b"""# min 2 X00 + 2 X11 + 2 X22 + 2 X01 + 2 X12 + x0, a matrix and a second-order cone
VER
1
OBJSENSE
MIN

PSDVAR
1
3
VAR
3 1
Q 3
CON
2 1
L= 2

OBJFCOORD
5
0 0 0 2.0
0 1 0 1.0
0 1 1 2.0
0 1 2 1.0
0 2 2 2.0
OBJACOORD
1
0 1.0

FCOORD
9
0 0 0 0 1
0 0 1 1 1
0 0 2 2 1
1 0 0 0 1
1 0 1 0 1
1 0 2 0 1
1 0 1 1 1
# a comment between the entries
1 0 2 1 1
1 0 2 2 1
ACOORD
3
0 0 1
1 1 1
1 2 1
BCOORD
2
0 -1
1 -0.5
"""
"""The example of the format's manuals: tr X + x0 = 1 and <11^T, X> + x1 + x2 = 1/2; its value is 0.7057."""

CONES = b"""VER
4
OBJSENSE
MAX
VAR
6 4
L- 1
L= 2
F 1
QR 2
CON
9 5
L+ 1
L- 1
F 1
QR 3
Q 3
PSDCON
1
2
OBJACOORD
3
0 1
3 -1
5 -1
OBJBCOORD
10.5
ACOORD
5
0 1 5.0
0 3 1.0
3 4 1.0
4 5 1.0
6 3 1.0
BCOORD
6
0 -1.0
1 -2.0
2 7.0
5 2.0
7 3.0
8 4.0
HCOORD
2
0 0 0 0 -1.0
0 4 1 1 1.0
DCOORD
1
0 1 0 2.0
"""
"""max x0 - x3 - x5 + 10.5 with x0 <= 0, x1 = x2 = 0, x4, x5 >= 0; x3 >= 1, 2 x4 x5 >= 4, x3 >= ||(3, 4)|| and
[[-x0, 2], [2, x4]] psd, so that -x0 x4 >= 4: with x4 = t it is 5.5 - 6 / t, with no largest t but for x4 <= 6."""


def problem_of(text, **options):
    return read_cbf(io.BytesIO(text), **options)


def test_the_example_of_the_manuals():
    problem = problem_of(MIXED)
    assert repr(problem) == "CbfProblem(min, constraints=2, second_order=3, psd=3)"
    result = SDP.from_cbf(problem).solve(1e-8)
    assert result.status.success
    assert result.objective == pytest.approx(0.705710509, rel=1e-7)


def test_every_cone_against_the_optimum_by_hand():
    """An upper bound on x4, as a further constraint, makes the optimum unique: 5.5 - 6 / 6."""
    text = CONES.replace(b"9 5\nL+ 1\n", b"10 6\nL+ 1\n").replace(b"Q 3\nPSDCON", b"Q 3\nL- 1\nPSDCON")
    text = text.replace(b"\nACOORD\n5\n", b"\nACOORD\n6\n9 4 1.0\n").replace(b"BCOORD\n6\n", b"BCOORD\n7\n9 -6.0\n")
    program = SDP.from_cbf(problem_of(text))
    kinds = [(block.kind, block.size) for block in program.data.blocks]
    assert kinds[:3] == [("nonnegative", 1), ("free", 1), ("second_order", 2)]
    assert kinds[3:] == [("second_order", 3), ("second_order", 3), ("psd", 2)]
    result = program.solve(1e-8)
    assert result.status.success
    assert result.objective == pytest.approx(4.5, rel=1e-6)
    nonpositive, rotated = program.block(result.x, 0), program.block(result.x, 2)
    assert -nonpositive[0] == pytest.approx(-4 / 6, rel=1e-3)
    turned = np.array([[1.0, 1.0], [1.0, -1.0]]) @ rotated / np.sqrt(2.0)
    np.testing.assert_allclose(turned, [6.0, 1 / 3], rtol=1e-3)


@pytest.mark.parametrize("text", [MIXED, CONES])
@pytest.mark.parametrize("suffix", [".cbf", ".cbf.gz"])
def test_what_is_written_is_read_again(tmp_path, text, suffix):
    problem = problem_of(text)
    write_cbf(problem, tmp_path / f"p{suffix}", comment="two\nlines")
    again = read_cbf(tmp_path / f"p{suffix}")
    assert again == problem
    assert SDP.from_file(tmp_path / f"p{suffix}").to_cbf() == problem


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_round_trips_are_exact(seed):
    rng = np.random.default_rng(seed)
    kinds = sorted(rng.choice(["free", "nonnegative", "second_order", "psd"], rng.integers(1, 5)), key="psd".__eq__)
    blocks = [(str(kind), int(size)) for kind, size in zip(kinds, rng.integers(2, 4, len(kinds)), strict=True)]
    starts = np.cumsum([0, *(size for _, size in blocks)])
    places = [
        (start + i, start + j)
        for start, (kind, size) in zip(starts, blocks, strict=False)
        for i in range(size)
        for j in range(size)
        if i == j or (kind == "psd" and i < j)
    ]
    m = int(rng.integers(1, 5))
    rows = [(k, *place) for k in range(m) for place in places if rng.random() < 0.6]
    constraints = Entries(*np.array(rows, int).reshape(-1, 3).T, rng.standard_normal(len(rows)))
    cost = Entries(np.zeros(len(places), int), *np.array(places).T, rng.standard_normal(len(places)))
    lower, sense = rng.standard_normal(m), rng.integers(0, 3, m)
    upper = np.where(sense == 0, np.inf, lower)
    lower = np.where(sense == 1, -np.inf, lower)
    problem = CbfProblem(tuple(blocks), cost, constraints, lower, upper, bool(seed % 2), float(rng.standard_normal()))
    with tempfile.TemporaryDirectory() as folder:
        write_cbf(problem, f"{folder}/p.cbf")
        again = read_cbf(f"{folder}/p.cbf")
    assert again == problem


def test_ranges_and_matrices_before_vectors_keep_the_optimum(tmp_path):
    """max 2 X_01 + v with 1 <= X_00 <= 2, X_11 <= 3, v <= 1, the psd block first."""
    cost = np.diag([0.0, 0.0, 1.0])
    cost[0, 1] = cost[1, 0] = 1.0
    matrices = [np.diag(row) for row in np.eye(3)]
    given = SDP.from_matrices(
        cost, matrices, [2.0, 3.0, 1.0], "<=", lower=[1.0, -np.inf, -np.inf], maximise=True, blocks=[2, -1]
    )
    given.write(tmp_path / "p.cbf")
    again = SDP.from_file(tmp_path / "p.cbf")
    assert [block.kind for block in again.data.blocks] == ["nonnegative", "psd"]
    assert (again.maximise, again.data.size) == (True, 4)
    assert again.solve(1e-8).objective == pytest.approx(2.0 * np.sqrt(6.0) + 1.0, rel=1e-7)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (b"VER\n1", b"VER\n9", 3, "the version '9' of the format is not supported"),
        (b"VER\n1\n", b"", None, "expected the keyword VER"),
        (b"MIN\n", b"LOW\n", 4, "OBJSENSE has no content"),
        (b"MIN\n", b"min\n", 5, "expected MIN or MAX, got 'min'"),
        (b"Q 3", b"EXP 3", 12, "the cone 'EXP', an exponential cone, is not supported"),
        (b"Q 3", b"@0:POW* 3", 12, r"the cone '@0:POW\*', a power cone, is not supported"),
        (b"Q 3", b"Q", 12, "expected 2 words, got 1"),
        (b"Q 3", b"Q 2.5", 12, "expected a whole number, got '2.5'"),
        (b"Q 3", b"Q 4", 11, "VAR announces 3 entries, and its cones have 4"),
        (b"Q 3", b"Q 3\nF 1", 11, "VAR announces 1 cones, and 2 lines follow"),
        (b"Q 3", b"Q 2\nQR 1", 11, "VAR announces 1 cones, and 2 lines follow"),
        (b"3 1\nQ 3", b"3 2\nQ 2\nQR 1", 13, "a rotated cone has 2 entries or more, got 1"),
        (b"CON\n", b"INT\n1\n0\nCON\n", 14, "INT, integer variables, is not supported"),
        (b"CON\n", b"POWCONES\n1 2\n2\n1\n1\nCON\n", 13, "POWCONES, power cones, is not supported"),
        (b"CON\n", b"NOISE\n1\nCON\n", 13, "the keyword NOISE is not supported"),
        (b"CON\n", b"VAR\n", 13, "VAR was given on line 10 already"),
        (b"BCOORD\n2", b"BCOORD\n3", 46, "BCOORD announces 3 entries, and 2 follow"),
        (b"1 -0.5", b"1 -0.5x", 48, "'-0.5x' is not a number"),
        (b"1 -0.5", b"1 -1e999", 48, "the value is not finite"),
        (b"1 -0.5", b"2 -0.5", 48, "an index is beyond the size of CON"),
        (b"1 -0.5", b"0.5 -0.5", 48, "an index is not a whole number"),
        (b"1 -0.5", b"0 -0.5", 48, "this entry was given before"),
        (b"0 1 2 1.0", b"0 1 0 1.0", 22, "this entry was given before"),
        (b"0 1 2 1.0", b"0 1 3 1.0", 22, "an index is beyond the size of its matrix"),
        (b"0 1 2 1.0", b"1 1 2 1.0", 22, "an index is beyond the size of PSDVAR"),
        (b"1 2 1\n", b"1 3 1\n", 44, "an index is beyond the size of VAR"),
        (b"1 2 1\n", b"1 2\n", 44, "expected 3 numbers, got 2"),
        (b"BCOORD\n2", b"VAR\n1 1\nF 1\nBCOORD\n2", 45, "VAR was given on line 10 already"),
        (b"BCOORD\n2", b"PSDCON\n1\n2\nBCOORD\n2", 45, "PSDCON follows coordinates"),
        (b"# min", b"min", 1, "expected a keyword, got 'min'"),
        (MIXED, b"", None, "expected the keyword VER"),
    ],
)
def test_errors_name_line_and_word(old, new, line, message):
    assert old in MIXED
    with pytest.raises(FileFormatError, match=message) as caught:
        problem_of(MIXED.replace(old, new, 1))
    assert caught.value.line == line


def test_programs_without_constraints_and_implausible_sizes_are_refused():
    with pytest.raises(FileFormatError, match="expected from 1 to"):
        problem_of(b"VER\n1\nOBJSENSE\nMIN\nVAR\n1 1\nL+ 1\n")
    with pytest.raises(FileFormatError, match="got 0 that bound X"):  # a constraint in F holds always
        problem_of(b"VER\n1\nOBJSENSE\nMIN\nVAR\n1 1\nL+ 1\nCON\n2 1\nF 2\nACOORD\n1\n0 0 1.0\n")
    with pytest.raises(FileFormatError, match="more than the limit of 2"):
        problem_of(MIXED, limits=Limits(order=2))
    with pytest.raises(FileFormatError, match="the sizes of CON sum to 2, more than the limit of 1"):
        problem_of(MIXED, limits=Limits(constraints=1))
    with pytest.raises(FileFormatError, match="expected from 1 to 10 constraints, got 11 that"):
        problem_of(CONES, limits=Limits(constraints=10))
    with pytest.raises(FileFormatError, match="sum to 1000001, more than the limit of 1000000"):
        problem_of(CONES.replace(b"PSDCON\n1\n2\n", b"PSDCON\n1\n1000001\n"), limits=Limits(order=1_000_000))
    with limited_memory(1 << 28), pytest.raises((MemoryForecastError, FileFormatError)):
        problem_of(CONES.replace(b"PSDCON\n1\n2\n", b"PSDCON\n1\n9000\n"))


def test_problems_are_checked_and_compared():
    one = Entries([0], [0], [0], [1.0])
    with pytest.raises(InvalidInput, match="blocks"):
        CbfProblem((("exponential", 3),), one, one, np.ones(1), np.ones(1))
    with pytest.raises(InvalidInput, match="an entry outside"):
        CbfProblem((("free", 1),), one, Entries([1], [0], [0], [1.0]), np.ones(1), np.ones(1))
    first = CbfProblem((("free", 1),), one, one, np.ones(1), np.ones(1))
    assert first != CbfProblem((("free", 1),), one, one, np.ones(1), np.full(1, 2.0))
    assert first != CbfProblem((("free", 1),), one, one, np.ones(1), np.ones(1), constant=1.0)
    assert first != "p.cbf"


@given(st.integers(0, len(CONES) - 1), st.integers(0, 255), st.booleans())
def test_damaged_files_are_refused_or_read(place, byte, cut):
    content = bytearray(CONES)
    content = content[: place + 1] if cut else content
    content[min(place, len(content) - 1)] = byte
    with contextlib.suppress(FileFormatError, MemoryForecastError):
        problem_of(bytes(content))
