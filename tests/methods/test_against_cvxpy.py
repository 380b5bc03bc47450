"""Every method on small problems of every coupling, against an interior-point solver."""

from __future__ import annotations

import pytest

from support.references import LOSSES, SETS, constrained_reference, loss_reference
from unipd import AwayStepFrankWolfe, Corrective, FrankWolfe, MaxIterations, PairwiseFrankWolfe, Problem, Status, solve
from unipd.methods import Method

REFERENCE = 1e-7
"""How exact the reference is."""
UNIVERSAL = ["unipdgrad", "accunipdgrad"]
SMOOTH = [name for name in LOSSES if name != "absolute"]
QUADRATIC = [name for name in LOSSES if "squares" in name]

every_set = pytest.mark.parametrize("coupling", SETS)
both_universal = pytest.mark.parametrize("method", UNIVERSAL)
every_region = pytest.mark.parametrize("point", ["simplex", "l1 ball", "box"])


@both_universal
@every_set
def test_universal_methods_reach_the_requested_accuracy_when_f_is_strongly_convex(method: str, coupling: str) -> None:
    problem, optimum = constrained_reference("squared norm", coupling)
    result = solve(problem, method, accuracy=1e-3)
    assert result.status is Status.SOLVED
    assert result.dual_bound <= optimum + REFERENCE
    assert result.dual_bound == pytest.approx(optimum, abs=2e-3)
    assert result.objective == pytest.approx(optimum, abs=2e-3)
    assert result.infeasibility <= 1e-3


@both_universal
@every_set
def test_universal_methods_bound_linear_programs(method: str, coupling: str) -> None:
    problem, optimum = constrained_reference("linear on the simplex", coupling)
    result = solve(problem, method, eps=0.1, stop=MaxIterations(500))
    assert optimum - 0.1 <= result.dual_bound <= optimum + REFERENCE
    assert result.infeasibility <= 0.2


@both_universal
@every_region
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("split", [True, False])
def test_universal_methods_minimise_losses_in_both_forms(method: str, point: str, loss: str, split: bool) -> None:
    problem, optimum = loss_reference(point, loss, split)
    result = solve(problem, method, accuracy=3e-2)
    assert result.status is Status.SOLVED
    assert result.dual_bound <= optimum + REFERENCE
    assert optimum - REFERENCE <= result.objective <= optimum + 3e-2 * problem.scale(0.0)


@pytest.mark.parametrize("point", ["squared norm", "linear on the simplex"])
@every_set
def test_the_corrective_method_solves_to_high_accuracy(point: str, coupling: str) -> None:
    check_tightly(*constrained_reference(point, coupling), Corrective())


@every_region
@pytest.mark.parametrize("loss", LOSSES)
def test_the_corrective_method_minimises_losses(point: str, loss: str) -> None:
    check_tightly(*loss_reference(point, loss), Corrective())


@every_region
@pytest.mark.parametrize("loss", QUADRATIC)
@pytest.mark.parametrize("method", [AwayStepFrankWolfe(), PairwiseFrankWolfe()], ids=lambda method: method.name)
def test_active_set_frank_wolfe_solves_to_high_accuracy(point: str, loss: str, method: Method) -> None:
    check_tightly(*loss_reference(point, loss), method)


def check_tightly(problem: Problem, optimum: float, method: Method) -> None:
    result = solve(problem, method, accuracy=1e-6)
    assert result.status is Status.SOLVED
    assert result.dual_bound <= optimum + REFERENCE
    assert result.objective == pytest.approx(optimum, abs=1e-5)
    assert result.infeasibility <= 1e-6


@every_region
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("step_size", ["open-loop", "line-search", "short-step"])
def test_frank_wolfe_comes_near_with_every_step_size(point: str, loss: str, step_size: str) -> None:
    problem, optimum = loss_reference(point, loss)
    result = solve(problem, FrankWolfe(step_size), accuracy=2e-2)
    assert result.status is Status.SOLVED
    assert result.dual_bound <= optimum + REFERENCE
    assert optimum - REFERENCE <= result.objective <= optimum + 2e-2 * problem.scale(0.0)
    assert problem.sharp.contains(result.x)
