"""A claim that the point itself does not bear out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unipd import Problem, Status, UniPDGrad, solve
from unipd.run.assemble import assembled
from unipd.sharp import Simplex


def test_a_claim_that_fails_when_the_point_is_measured_says_so() -> None:
    problem = Problem(Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    result = solve(problem, "unipdgrad", accuracy=1e-2)
    claimed = replace(result.state, certificate=replace(result.state.certificate, infeasibility=0.0))
    failed = assembled(problem, UniPDGrad(), claimed, Status.SOLVED, result.history, 1e-6, 0.0)
    assert failed.status is Status.STALLED
    assert "measured anew" in failed.status.message
    assert failed.relative_infeasibility > 1e-6
