"""What a result says about the options of its run: the values that were used, never an unresolved default."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from unipd import couplings, maps, sharp
from unipd.io import load, save

random = np.random.default_rng(1)
A = random.standard_normal((10, 50))
b = A @ random.dirichlet(np.ones(50))
CONSTRAINED = unipd.Problem(sharp.Linear(random.standard_normal(50), sharp.Simplex(50)), A, b)
LOSS = unipd.Problem(sharp.Simplex(50), A, b, couplings.LeastSquares())
MATRICES = unipd.Problem(
    sharp.Spectrahedron(5), maps.DenseMatrix(random.standard_normal((4, 25)), domain=(5, 5)), np.full(4, 0.1), "="
)
RUNS: dict[str, tuple[unipd.Problem, Any]] = {
    **{name: (CONSTRAINED, name) for name in ("auto", "unipdgrad", "accunipdgrad", "corrective", "cgal")},
    **{name: (LOSS, name) for name in ("frank-wolfe", "away-step", "pairwise", "blended-pairwise")},
    "restarts": (CONSTRAINED, unipd.Restarts(unipd.AccUniPDGrad())),
    "rescaling": (CONSTRAINED, unipd.Rescaling(unipd.UniPDGrad())),
    "factored": (MATRICES, "factored"),
    "matrices": (MATRICES, "auto"),
}
LIMIT = unipd.MaxIterations(5)


@pytest.mark.parametrize("name", RUNS)
def test_settings_are_the_values_used(name: str, tmp_path: Path) -> None:
    problem, method = RUNS[name]
    result = unipd.solve(problem, method, accuracy=1e-3, stop=LIMIT)
    settings = result.settings
    assert None not in settings.values()
    assert isinstance(settings["tracker"], str)
    if result.method in ("unipdgrad", "accunipdgrad", "corrective"):
        assert 0.0 < settings["eps"] < np.inf
        assert 0.0 < settings["smoothness"] < np.inf
    if result.method == "factored":
        assert settings["rank"] == 4  # ceil(sqrt(2 n)) + 1 for n = 4
        assert settings["seed"] == 0
    assert load(save(result, tmp_path / "run.npz")).settings == settings


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad", "corrective"])
def test_the_settings_of_a_run_repeat_it(method: str) -> None:
    """M_{-1} and eps of the record, given as options, lead to the same iterates."""
    first = unipd.solve(CONSTRAINED, method, accuracy=1e-3, stop=LIMIT)
    given = {name: first.settings[name] for name in ("eps", "smoothness")}
    second = unipd.solve(CONSTRAINED, method, accuracy=1e-3, stop=LIMIT, **given)
    np.testing.assert_array_equal(second.history["objective"], first.history["objective"])
    assert second.settings == first.settings


def test_the_eps_of_stages_is_that_of_the_last() -> None:
    result = unipd.solve(CONSTRAINED, unipd.Restarts(unipd.AccUniPDGrad()), accuracy=1e-3, stop=LIMIT)
    assert result.settings["eps"] == result.state.goal


@pytest.mark.parametrize(
    ("problem", "tracker", "name"),
    [
        (CONSTRAINED, "auto", "dense"),
        (CONSTRAINED, "dense", "dense"),
        (CONSTRAINED, "atoms", "atoms"),
        (CONSTRAINED, "image", "image"),
        (MATRICES, "auto", "atoms"),
        (MATRICES, "lowrank", "lowrank"),
        (MATRICES, "sketch", "sketch"),
    ],
)
def test_the_tracker_is_named(problem: unipd.Problem, tracker: str, name: str) -> None:
    assert unipd.solve(problem, "unipdgrad", tracker=tracker, stop=LIMIT).settings["tracker"] == name


def test_a_resumed_run_reports_the_same_settings(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    whole = unipd.solve(CONSTRAINED, "accunipdgrad", accuracy=1e-3, stop=unipd.MaxIterations(9))
    unipd.solve(CONSTRAINED, "accunipdgrad", accuracy=1e-3, stop=LIMIT, checkpoint=path)
    again = unipd.solve(
        CONSTRAINED, "accunipdgrad", accuracy=1e-3, stop=unipd.MaxIterations(9), checkpoint=path, resume=True
    )
    assert again.settings == whole.settings
