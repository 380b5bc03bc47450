"""A claim that the final measurement of the point does not confirm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unipd import Problem, Status, solve
from unipd.run import Termination
from unipd.sharp import Simplex


def test_a_claim_that_fails_when_the_point_is_measured_says_so() -> None:
    problem = Problem(Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    result = solve(problem, "unipdgrad", accuracy=1e-2)
    claimed = replace(result.state, certificate=replace(result.state.certificate, violation=0.0))
    failed = Termination(problem, 1e-6).conclude(claimed, Status.SOLVED)
    assert failed.status is Status.STALLED
    assert failed.certificate.violation > 1e-6
