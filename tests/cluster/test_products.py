"""Products of distributed maps on 2 and 4 real ranks equal those of one process."""

import pytest

from support.mpi import answers, needs_mpi

pytestmark = needs_mpi
CASES = (
    "pauli-dense",
    "pauli-single",
    "pauli-double",
    "sampling",
    "sampling-unordered",
    "sampling-complex",
    "sdp",
    "dense",
    "sparse",
    "rank-one",
    "two sided",
    "stacked",
    "plain",
    "blocks",
    "product",
    "idle",
    "few-rows",
    "sums",
)
TOLERANCES = {"pauli-single": 2e-6, "sdp": 1e-12, "product": 0.0, "sums": 0.0}


@pytest.fixture(scope="module", params=[2, 4])
def ran(request):
    return request.param, answers(request.param, "products")


def test_every_case_ran(ran):
    assert set(ran[1]) == set(CASES)


@pytest.mark.parametrize("case", CASES)
def test_products_are_those_of_one_process(ran, case):
    assert ran[1][case]["error"] <= TOLERANCES.get(case, 1e-12)


@pytest.mark.parametrize("case", CASES)
def test_every_rank_has_the_same_bits(ran, case):
    assert ran[1][case]["alike"]


def test_more_ranks_than_work(ran):
    assert ran[1]["idle"]["idle"] == ran[0] - 2


def test_ranks_with_rows_but_no_constraint_are_not_idle(ran):
    assert ran[1]["idle"]["busy"] == 0
