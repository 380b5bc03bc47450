"""The corrective method with a small memory: it still converges, and stores no more atoms than allowed."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from support.references import constrained_reference
from unipd import Corrective, Problem, Status, iterate, solve
from unipd.couplings import LeastSquares
from unipd.methods import MemoryBound
from unipd.sharp import L1Ball


def many_atoms() -> Problem:
    """Least squares over the l1 ball whose solution needs more atoms than the memories below hold."""
    random = np.random.default_rng(0)
    return Problem(L1Ball(40), random.standard_normal((20, 40)), random.standard_normal(20), LeastSquares())


@pytest.mark.parametrize(("memory", "accuracy"), [(2, 1e-2), (4, 3e-3), (8, 1e-3)])
def test_a_small_memory_slows_down_and_does_not_stop(memory: int, accuracy: float) -> None:
    problem = many_atoms()
    full = solve(problem, Corrective(), accuracy=1e-8)
    assert np.count_nonzero(full.x) > 8
    with pytest.warns(MemoryBound, match=f"memory= allows {memory} atoms, and all are in use") as caught:
        result = solve(problem, Corrective(memory=memory), accuracy=accuracy)
    assert len(caught) == 1  # once, however many iterations follow
    assert result.settings["memory"] == memory
    assert result.status is Status.SOLVED
    assert result.iterations >= full.iterations // 2
    assert result.objective == pytest.approx(full.objective, abs=accuracy * problem.scale(0.0))


def test_the_default_memory_does_not_bind_and_is_recorded() -> None:
    assert solve(many_atoms(), Corrective(), accuracy=1e-8).settings["memory"] == 500  # a warning would be an error


@pytest.mark.filterwarnings("ignore::unipd.methods.MemoryBound")
@pytest.mark.parametrize("memory", [2, 3, 6])
def test_no_more_atoms_are_kept_than_the_memory_holds(memory: int) -> None:
    for problem in (many_atoms(), constrained_reference("squared norm", "equality")[0]):
        for state in islice(iterate(problem, Corrective(memory=memory)), 30):
            assert len(state.bundle.atoms) <= memory
            np.testing.assert_allclose(problem.map.image(state.primal.point()), state.image, atol=1e-9)
