"""A few cases of every section of ``make fuzz``."""

from __future__ import annotations

import pytest

from reliability.fuzz.__main__ import sections, try_case

CASES = {
    "readers": 400,
    "oracles": 300,
    "resumes": 25,
    "units": 60,
    "optima": 150,
    "programs": 60,
    "threads": 25,
    "signals": 3,
}
"""Cases of each section: a few seconds' worth."""


@pytest.mark.parametrize("name", CASES)
def test_the_promise_holds_in_random_cases(name: str) -> None:
    section = sections()[name]
    failures = [try_case(name, section, 1, number) for number in range(CASES[name])]
    assert [failure for failure in failures if failure is not None] == []
    assert section.decided > 0.4 * section.tried
