"""Several methods side by side."""

import numpy as np
import pytest

import unipd
from unipd import couplings, sharp


@pytest.fixture
def problem() -> unipd.Problem:
    return unipd.Problem(sharp.Simplex(4), np.eye(4), [0.1, 0.2, 0.3, 0.4], couplings.LeastSquares())


def test_every_method_has_the_same_history_columns(problem: unipd.Problem) -> None:
    outcome = unipd.compare(problem, ["unipdgrad", "corrective", unipd.FrankWolfe()], stop=unipd.MaxIterations(20))
    assert list(outcome) == ["unipdgrad", "corrective", "frank-wolfe"]
    assert {result.history.table.shape[1] for result in outcome.values()} == {13}
    assert "corrective" in str(outcome)


def test_variants_of_one_method_are_told_apart(problem: unipd.Problem) -> None:
    variants = [unipd.AccUniPDGrad(), unipd.AccUniPDGrad(weights="greedy")]
    outcome = unipd.compare(problem, variants, stop=unipd.MaxIterations(5))
    assert list(outcome) == ["accunipdgrad", "accunipdgrad #2"]


def test_one_picture_holds_them_all(problem: unipd.Problem, tmp_path) -> None:
    outcome = unipd.compare(problem, ["pairwise", "corrective"], accuracy=1e-6)
    outcome.plot(str(tmp_path / "compare.png"))
    assert (tmp_path / "compare.png").stat().st_size > 5000


def test_no_methods_is_a_mistake(problem: unipd.Problem) -> None:
    with pytest.raises(unipd.errors.InvalidInput, match="methods"):
        unipd.compare(problem, [])
