"""Whole solves on real ranks agree with one process, with the same bits on every rank."""

import pytest

from support.mpi import answers, needs_mpi

pytestmark = needs_mpi
TOLERANCES = {
    "factored": 1e-6,
    "accunipdgrad": 1e-6,
    "separable": 1e-6,
    "spectral-blocks": 1e-6,
    "tomography": 1e-6,
    "completion": 1e-6,
    "completion-auto": 0.1,
    "completion-side": 1e-6,
    "completion-residual": 1e-2,
    "sdp": 0.0,
}


FOUR = ("factored", "separable", "completion")
"""Cases for four ranks."""


@pytest.fixture(scope="module")
def two():
    return answers(2, "solves")


@pytest.fixture(scope="module")
def four():
    return answers(4, "solves", *FOUR)


def check(found, case):
    expected = pytest.approx(found["single"], rel=TOLERANCES[case], abs=1e-7 * TOLERANCES[case])
    assert found["together"] == expected
    assert found["alike"]


@pytest.mark.parametrize("case", TOLERANCES)
def test_two_ranks_agree_with_one_process(two, case):
    check(two[case], case)


@pytest.mark.parametrize("case", FOUR)
def test_four_ranks_agree_with_one_process(four, case):
    check(four[case], case)


def test_limits_end_all_ranks(two):
    assert two["limits"]["ended"]
    assert two["limits"]["stopped"] == 3
    assert two["limits"]["alike"]
