"""Solution files of CSDP and SDPA, and archives."""

import numpy as np
import pytest

from unipd.errors import FileFormatError
from unipd.io import read_solution

CSDP = "1.5 -2.0e+00 \n1 1 1 1 7.0\n1 2 1 1 8.0\n2 1 1 1 1.0\n2 1 1 2 0.5\n2 1 2 2 2.0\n2 2 1 1 3.0\n2 2 3 3 4.0\n"
SDPA = """
phase.value  = pdOPT
   objValPrimal = +2.2999999999999e+01
xVec =
{+1.5e+00,-2.0e+00}
xMat =
{
{ {+7.0e+00,+0.0e+00}, {+0.0e+00,+0.0e+00} }
{+8.0e+00,+0.0e+00,+0.0e+00}
}
yMat =
{
{ {+1.0e+00,+5.0e-01}, {+5.0e-01,+2.0e+00} }
{+3.0e+00,+0.0e+00,+4.0e+00}
}
    main loop time = 0.001
"""


@pytest.mark.parametrize("text", [CSDP, SDPA])
def test_blocks_of_x_and_multipliers(tmp_path, text):
    (tmp_path / "out").write_text(text)
    dual, (first, second) = read_solution(tmp_path / "out", 2, (2, -3))
    np.testing.assert_array_equal(dual, [1.5, -2.0])
    np.testing.assert_array_equal(first, [[1.0, 0.5], [0.5, 2.0]])
    np.testing.assert_array_equal(second, [3.0, 0.0, 4.0])


def test_archives(tmp_path):
    np.savez(tmp_path / "y.npz", y=np.array([1, 2]))
    assert read_solution(tmp_path / "y.npz", 2, (2,)).x is None
    np.savez(tmp_path / "yx.npz", dual=np.ones(2), R=np.array([[1.0], [2.0]]))
    np.testing.assert_array_equal(read_solution(tmp_path / "yx.npz", 2, (2,)).x, [[1.0, 2.0], [2.0, 4.0]])
    np.savez(tmp_path / "none.npz", z=np.ones(2))
    with pytest.raises(FileFormatError, match="an array y or dual"):
        read_solution(tmp_path / "none.npz", 2, (2,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CSDP.replace("1.5 ", "", 1), "expected 2 multipliers"),
        (CSDP.replace("1.5 ", "nothing ", 1), "line 1: expected the multipliers"),
        (CSDP.replace("2 2 3 3", "2 2 4 4"), "line 8: a row or column"),
        (CSDP.replace("2 2 3 3", "2 2 1 3"), "line 8: the entry is off the diagonal"),
        (CSDP.replace("2 2 3 3", "2 3 3 3"), "line 8: the block"),
        (CSDP.replace("2 2 3 3", "3 2 3 3"), "line 8: the first number"),
        (CSDP + "2 1 1\n", "line 9"),
        (SDPA.replace("+4.0e+00}", "}"), "expected 7 numbers in yMat, got 6"),
        (SDPA.replace("+4.0e+00}", "nan}"), "something in yMat is not a number"),
        (SDPA[: SDPA.index("main") - 7], "never closed"),
        (SDPA.replace("{+1.5e+00,-2.0e+00}", "{}"), "expected 2 multipliers"),
    ],
)
def test_damaged_files_are_refused_with_the_place(tmp_path, text, message):
    (tmp_path / "out").write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read_solution(tmp_path / "out", 2, (2, -3))
