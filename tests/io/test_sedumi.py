"""SeDuMi's files: both orientations, symmetric parts, refusals by name, limits, exact round trips."""

import contextlib
import gzip
import io
import zlib

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import savemat

from unipd.errors import FileFormatError, InvalidInput, MemoryForecastError
from unipd.io import Limits, SedumiProblem, read_sedumi, write_sedumi
from unipd.memory import limited_memory

A = np.array([[1.0, 0.0, 2.0, 0.0, 3.0, 1.0, 5.0, 4.0], [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]])
B, C = np.array([1.0, 2.0]), np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
K = {"f": 1, "l": 1, "q": [2], "s": [2]}
EXPECTED = SedumiProblem(A, B, C, 1, 1, (2,), (2,))


def packed(content, **options):
    stream = io.BytesIO()
    savemat(stream, content, **options)
    stream.seek(0)
    return stream


@pytest.mark.parametrize(
    "content",
    [
        {"A": A, "b": B, "c": C, "K": K},
        {"At": A.T, "b": B, "c": C, "K": K},
        {"A": A.T, "b": B, "c": C, "K": K},
        {"A": sp.csc_matrix(A), "b": sp.csc_matrix(B), "c": sp.csc_matrix(C).T, "K": {**K, "r": 0}},
        {"A": A.astype(np.uint8), "b": B[:, None], "c": C[:, None], "K": {**K, "s": [0, 2]}, "notes": "ignored"},
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_orientations_and_types_mean_the_same(content, compressed):
    assert read_sedumi(packed(content, do_compression=compressed)) == EXPECTED


def test_only_the_symmetric_part_counts():
    upper = A.copy()
    upper[0, 5:7] = [0.0, 6.0]
    assert SedumiProblem(upper, B, C, 1, 1, (2,), (2,)) == EXPECTED
    np.testing.assert_array_equal(EXPECTED.A.toarray()[0, 4:], [3.0, 3.0, 3.0, 4.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K": {**K, "r": 3}}, r"K\.r, rotated second-order cones, is not supported"),
        ({"K": {**K, "scomplex": 1}}, r"K\.scomplex"),
        ({"K": {**K, "s": 2.5}}, r"K\.s must hold whole numbers"),
        ({"K": {**K, "l": -1}}, r"K\.l must hold whole numbers"),
        ({"K": {**K, "s": 3}}, "for these cones"),
        ({"K": 3.0}, "the structure K"),
        ({"A": A[:, 1:]}, r"b and c require A of shape \(2, 8\)"),
        ({"A": A + 1j}, "the real matrix A or At"),
        ({"A": A * np.nan}, "A"),
        ({"b": A}, "the vector b"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(FileFormatError, match=message):
        read_sedumi(packed({"A": A, "b": B, "c": C, "K": K, **change}))


@pytest.mark.parametrize("missing", ["A", "b", "c", "K"])
def test_missing_variables_are_named(missing):
    content = {name: value for name, value in {"A": A, "b": B, "c": C, "K": K}.items() if name != missing}
    with pytest.raises(FileFormatError, match=missing):
        read_sedumi(packed(content))


@given(st.integers(0, 600), st.integers(0, 255), st.booleans())
def test_damaged_files_are_refused_or_read(place, byte, cut):
    content = bytearray(packed({"A": sp.csc_matrix(A), "b": B, "c": C, "K": K}).getvalue())
    content = content[: place + 1] if cut else content
    content[min(place, len(content) - 1)] = byte
    with contextlib.suppress(FileFormatError, MemoryForecastError):
        read_sedumi(io.BytesIO(bytes(content)))


def test_bombs_and_implausible_sizes_are_refused():
    header = packed({}).getvalue()[:128]
    bomb = zlib.compress(bytes(1 << 26), 9)
    content = header + np.array([15, len(bomb)], "<u4").tobytes() + bomb
    with pytest.raises(FileFormatError, match="times longer"):
        read_sedumi(io.BytesIO(content), limits=Limits(compression_from=1 << 20))
    with pytest.raises(FileFormatError, match="longer than 1000000 bytes"):
        read_sedumi(io.BytesIO(content), limits=Limits(text_bytes=1_000_000))
    large = {"A": A, "b": B, "c": C, "K": {**K, "s": 10**7}}
    with pytest.raises(FileFormatError, match="limit of 2000000"):
        read_sedumi(packed(large))
    with limited_memory(4 << 30), pytest.raises(MemoryForecastError):
        read_sedumi(packed({**large, "K": K, "c": sp.coo_matrix(([1.0], ([0], [0])), shape=(2**31 - 1, 1))}))


@pytest.mark.parametrize("index", [-5, 8, 10**9])
def test_indices_outside_a_sparse_matrix_are_refused(index):
    matrix = sp.csc_matrix(A.T)
    content = packed({"A": matrix, "b": B, "c": C, "K": K}).getvalue()
    rows = matrix.indices.astype("<i4").tobytes()
    assert content.count(rows) == 1
    damaged = content.replace(rows, np.array([index], "<i4").tobytes() + rows[4:])
    with pytest.raises(FileFormatError, match="not a readable MATLAB file"):
        read_sedumi(io.BytesIO(damaged))


def test_files_of_other_kinds_are_refused():
    with pytest.raises(FileFormatError, match=r"-v7\)"):
        read_sedumi(io.BytesIO(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(64)))
    with pytest.raises(FileFormatError, match="not a readable MATLAB file"):
        read_sedumi(io.BytesIO(b"1 = m\n1 = blocks\n" * 20))


@pytest.mark.parametrize("name", ["p.mat", "p.mat.gz"])
def test_written_files_are_read_back_exactly(tmp_path, name):
    problem = SedumiProblem(A / 3.0, B / 7.0, C * np.pi, 1, 1, (2,), (2,))
    write_sedumi(problem, tmp_path / name)
    assert read_sedumi(tmp_path / name) == problem
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") is name.endswith(".gz")


def test_gzip_is_recognised_by_content():
    content = gzip.compress(packed({"A": A, "b": B, "c": C, "K": K}).getvalue())
    assert read_sedumi(io.BytesIO(content)) == EXPECTED


def test_a_program_without_constraints_is_refused():
    with pytest.raises(InvalidInput, match="at least one constraint"):
        SedumiProblem(np.zeros((0, 2)), [], [1.0, 1.0], nonnegative=2)
