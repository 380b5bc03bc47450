"""The radius by validation."""

import numpy as np
import pytest

from unipd.apps.completion.design import Design, Settings
from unipd.apps.completion.fitting import predicted
from unipd.apps.completion.generated import generate
from unipd.apps.completion.radius import MOST_TRIALS, choose_radius, guessed_radius, least_of_parabola
from unipd.apps.completion.solving import Plan


def test_parabola():
    radii = [1.0, 2.0, 5.0]
    assert least_of_parabola(radii, [(np.log(r) - 0.9) ** 2 for r in radii]) == pytest.approx(np.exp(0.9))
    assert least_of_parabola([1.0, 2.0], [1.0, 2.0]) == 1.0
    assert least_of_parabola([1.0, 2.0], [2.0, 1.0]) == 2.0
    assert least_of_parabola([1.0, 2.0, 4.0], [1.0, 1.0, 1.0]) in (1.0, 2.0, 4.0)


@pytest.fixture(scope="module")
def instance():
    made = generate((80, 60), 2000, rank=3, noise=0.5, seed=1)
    held = np.random.default_rng(0).random(made.values.size) < 0.2
    rest = [part[~held] for part in (made.users, made.items, made.values)]
    return Design(*rest, made.shape, Settings()), [part[held] for part in (made.users, made.items, made.values)]


def test_the_choice_is_about_the_best(instance, capsys):
    design, (users, items, values) = instance
    asked = []

    def judge(point):
        asked.append(float(np.sqrt(np.mean((predicted(design, point, users, items, None) - values) ** 2))))
        return asked[-1]

    radius, trials = choose_radius(design, judge, Plan(verbose=True))
    assert len(asked) == len(trials) <= MOST_TRIALS
    assert [trial.radius for trial in trials] == sorted(trial.radius for trial in trials)
    best = min(trials, key=lambda trial: trial.error)
    assert best is not trials[0]
    assert best is not trials[-1]
    assert 0.5 * best.radius <= radius <= 2.0 * best.radius
    assert best.error < np.std(values)
    assert capsys.readouterr().err.count("validation error") == len(trials)


def test_the_guess_scales_with_the_ratings(instance):
    design, _ = instance
    twice = Design(design.users, design.items, 2.0 * (design.target + design.mean), design.shape, Settings())
    assert guessed_radius(twice) == pytest.approx(2.0 * guessed_radius(design))


def test_the_guess_of_nothing_is_positive():
    design = Design(np.array([0, 1]), np.array([0, 1]), np.array([3.0, 3.0]), (2, 2), Settings())
    assert guessed_radius(design) > 0


def test_an_interrupt_ends_the_search(instance, monkeypatch):
    from unipd.apps.completion import radius as module
    from unipd.status import Status

    design, _ = instance
    real = module.solve_design

    def interrupted(*arguments):
        from dataclasses import replace

        return replace(real(*arguments), status=Status.INTERRUPTED)

    monkeypatch.setattr(module, "solve_design", interrupted)
    with pytest.raises(KeyboardInterrupt):
        choose_radius(design, lambda point: 1.0, Plan())
