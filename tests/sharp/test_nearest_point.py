"""The nearest point of a set from its oracle: mixtures of points inside have distance zero."""

from __future__ import annotations

import numpy as np
import pytest

from unipd.sharp import BasePolytope, KSupportBall, nearest_point


@pytest.mark.parametrize("seed", range(6))
def test_points_on_a_face_of_a_base_polytope_are_inside(seed: int) -> None:
    random = np.random.default_rng(seed)
    polytope = BasePolytope(lambda chosen: float(np.sqrt(chosen.sum())), 12)
    common = np.repeat(np.arange(6.0), 2)
    vertices = [polytope.maximiser(common + 0.1 * random.standard_normal(12)) for _ in range(9)]
    inside = random.dirichlet(np.ones(9)) @ np.array(vertices)
    assert np.linalg.norm(nearest_point(polytope.maximiser, inside, 1e-9) - inside) <= 1e-9
    assert polytope.contains(inside)
    assert not polytope.contains(inside + 1e-6 * (common - common.mean()))


@pytest.mark.parametrize("seed", range(4))
def test_nearest_point_satisfies_the_variational_inequality(seed: int) -> None:
    random = np.random.default_rng(seed)
    ball = KSupportBall(8, 3)
    point = 2.0 * random.standard_normal(8)
    found = nearest_point(ball.maximiser, point, 1e-3)
    residual = point - found
    assert residual @ (ball.maximiser(residual) - found) <= 1e-6
