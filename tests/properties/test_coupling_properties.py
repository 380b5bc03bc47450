"""Properties of every set and every loss, at every dtype it supports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couplings.registry import CASES, LOSSES, SETS, names
from unipd._util.arrays import inner, norm
from unipd.protocols import Coupling, Loss

every_case = pytest.mark.parametrize("case", CASES, ids=names(CASES))
every_set = pytest.mark.parametrize("case", SETS, ids=names(SETS))
every_loss = pytest.mark.parametrize("case", LOSSES, ids=names(LOSSES))
SPLITTABLE = [case for case in LOSSES if case.coupling.splittable]
every_splittable_loss = pytest.mark.parametrize("case", SPLITTABLE, ids=names(SPLITTABLE))
examples = settings(max_examples=12)

steps = st.sampled_from([1e-3, 0.4, 1.0, 2.5, 1e3])
seeds = st.integers(0, 2**16)


@st.composite
def vectors(draw: Any, case: Any, count: int = 1) -> list[np.ndarray]:
    """Return vectors of one dtype that the case takes: sizes 1e-3 to 1e3, with zeros, ties and subnormals."""
    dtype = np.dtype(draw(st.sampled_from(case.dtypes)))
    scale = draw(st.sampled_from([1.0, 1e-3, 1e3]))
    special = draw(st.sampled_from([0.0, 0.5, 1.0]))
    rng = np.random.default_rng(draw(seeds))

    def numbers() -> np.ndarray:
        tied = rng.choice([0.0, 1.0, -1.0, 0.5, 1e-40], size=case.shape)
        return scale * np.where(rng.uniform(size=case.shape) < special, tied, rng.standard_normal(case.shape))

    drawn = [numbers() + 1j * numbers() if dtype.kind == "c" else numbers() for _ in range(count)]
    return [vector.astype(dtype) for vector in drawn]


def slack_of(*vectors_: np.ndarray) -> float:
    """Return the rounding that a few operations on vectors of this dtype and size may leave."""
    return 200 * float(np.finfo(vectors_[0].dtype).eps) * (1.0 + sum(norm(array) for array in vectors_))


@every_case
def test_protocol(case: Any) -> None:
    assert isinstance(case.coupling, Coupling)
    assert isinstance(case.coupling, Loss) or not case.coupling.is_loss  # a product of sets has the methods of both
    for dtype in case.dtypes:
        case.coupling.check(case.shape, np.dtype(dtype))


@every_case
@given(data=st.data())
@examples
def test_moreau(case: Any, data: Any) -> None:
    (v,), step = data.draw(vectors(case)), data.draw(steps)
    near = case.coupling.prox(v, step)
    far = step * case.coupling.prox_conjugate(v / step, 1.0 / step)
    assert norm(near + far - v) <= slack_of(v, near, far)


@every_case
@given(data=st.data())
@examples
def test_prox_of_the_conjugate_stays_in_its_domain(case: Any, data: Any) -> None:
    (v,), step = data.draw(vectors(case)), data.draw(steps | st.floats(1e-6, 1e6))
    dual = case.coupling.prox_conjugate(v, step)
    assert np.isfinite(case.coupling.conjugate(dual))
    scaled = (float(data.draw(steps)) * dual).astype(dual.dtype)
    if case.coupling.conjugate_degree is not None:
        assert np.isfinite(case.coupling.conjugate(scaled))


@every_case
@given(data=st.data())
@examples
def test_dtype_and_shape_are_kept_and_arguments_untouched(case: Any, data: Any) -> None:
    (v,) = data.draw(vectors(case))
    before = v.copy()
    coupling, step = case.coupling, np.float64(0.7)
    results = [coupling.prox(v, step), coupling.prox_conjugate(v, step)]
    results += [coupling.gradient(v)] if coupling.is_loss else [coupling.project(v)]
    results += [coupling.slack(v)[0]] if coupling.is_loss and coupling.splittable else []
    for result in results:
        assert (result.dtype, result.shape) == (v.dtype, v.shape)
    floats = [coupling.value(v), coupling.distance(v), coupling.conjugate(v)]
    assert all(type(number) is float for number in floats)
    np.testing.assert_array_equal(v, before)


@every_case
@given(data=st.data())
@examples
def test_homogeneity(case: Any, data: Any) -> None:
    (v,), factor = data.draw(vectors(case)), data.draw(st.sampled_from([0.25, 2.0, 8.0]))
    degree = case.coupling.conjugate_degree
    dual = case.coupling.prox_conjugate(v, 0.5)
    value, scaled = case.coupling.conjugate(dual), case.coupling.conjugate((factor * dual).astype(dual.dtype))
    if degree is None:
        assert case.coupling.is_loss
    else:
        assert scaled == pytest.approx(factor**degree * value, rel=slack_of(v[..., :0]), abs=slack_of(dual))


@every_set
@given(data=st.data())
@examples
def test_projection_is_in_the_set_and_idempotent(case: Any, data: Any) -> None:
    (v,) = data.draw(vectors(case))
    inside = case.coupling.project(v)
    assert case.violation(inside) <= slack_of(v, inside)
    if norm(v) <= 10.0:  # rounding is relative to v, the tolerance of value to its projection
        assert case.coupling.value(inside) == 0.0
    assert norm(case.coupling.project(inside) - inside) <= slack_of(v, inside)
    assert case.coupling.distance(v) == pytest.approx(norm(v - inside), abs=slack_of(v, inside))


@every_set
@given(data=st.data())
@examples
def test_projection_is_nonexpansive(case: Any, data: Any) -> None:
    v, w = data.draw(vectors(case, 2))
    images = case.coupling.project(v), case.coupling.project(w)
    assert norm(images[0] - images[1]) <= norm(v - w) + slack_of(v, w, *images)


@every_set
@given(data=st.data(), seed=seeds)
@examples
def test_projection_is_nearest(case: Any, data: Any, seed: int) -> None:
    (v,) = data.draw(vectors(case))
    rng = np.random.default_rng(seed)
    nearest = case.coupling.project(v)
    for _ in range(5):
        member = case.member(rng, v.dtype)
        scale = norm(v) + norm(nearest) + norm(member) + 1.0
        assert norm(v - nearest) <= norm(v - member) + slack_of(v, nearest, member)
        assert inner(v - nearest, member - nearest) <= slack_of(v[..., :0]) * scale**2
        assert case.coupling.value(member) == 0.0


@every_set
@given(data=st.data())
@examples
def test_value_is_infinite_outside(case: Any, data: Any) -> None:
    (v,) = data.draw(vectors(case))
    if case.violation(v) > 0.01 * (1.0 + norm(v)):
        assert case.coupling.value(v) == np.inf
        assert case.coupling.distance(v) > 0


@every_set
@given(data=st.data(), seed=seeds)
@examples
def test_support_is_the_supremum(case: Any, data: Any, seed: int) -> None:
    v, other = data.draw(vectors(case, 2))
    rng = np.random.default_rng(seed)
    near, dual = case.coupling.project(v), case.coupling.prox_conjugate(v, 1.0)
    height = case.coupling.conjugate(dual)
    assert height == pytest.approx(inner(dual, near), abs=slack_of(v[..., :0]) * (1.0 + norm(dual)) * (1.0 + norm(v)))
    for direction in (dual, other):
        for _ in range(5):
            member = case.member(rng, v.dtype)
            room = slack_of(v[..., :0]) * norm(direction) * (1.0 + norm(member)) + 1e-18  # squares underflow
            assert inner(direction, member) <= case.coupling.conjugate(direction) + room


def in_domain(case: Any, vector: Any) -> Any:
    """Return the vector, with entries away from zero where the loss is finite for positive numbers only."""
    return np.abs(vector) + vector.dtype.type(0.05) if case.positive else vector


@every_loss
@given(data=st.data())
@examples
def test_fenchel_young(case: Any, data: Any) -> None:
    r, w = data.draw(vectors(case, 2))
    r = in_domain(case, r)
    loss = case.coupling
    room = slack_of(r[..., :0]) * (1.0 + norm(r)) * (1.0 + norm(r) + norm(w)) * (1.0 + loss.cancellation)
    dual = loss.prox_conjugate(w, 1.0)
    assert loss.value(r) + loss.conjugate(dual) >= inner(r, dual) - room
    slope = loss.gradient(r)
    assert loss.value(r) + loss.conjugate(slope) == pytest.approx(inner(r, slope), abs=5 * room)
    step = data.draw(st.sampled_from([0.3, 1.0, 4.0]))
    point, dual = loss.prox(w, step), loss.prox_conjugate(w / step, 1.0 / step)
    room = slack_of(r[..., :0]) * (1.0 + norm(w)) ** 2 * (1.0 + loss.cancellation)
    assert loss.value(point) + loss.conjugate(dual) == pytest.approx(inner(point, dual), abs=5 * room)


@every_loss
@given(data=st.data())
@examples
def test_gradient_supports_the_loss_from_below_and_is_lipschitz(case: Any, data: Any) -> None:
    r, s = (in_domain(case, vector) for vector in data.draw(vectors(case, 2)))
    loss = case.coupling
    slope, other = loss.gradient(r), loss.gradient(s)
    room = slack_of(r[..., :0]) * (1.0 + norm(r) + norm(s)) * (1.0 + norm(slope) + norm(other))
    assert loss.value(s) >= loss.value(r) + inner(slope, s - r) - room
    if np.isfinite(loss.curvature()):
        assert norm(slope - other) <= loss.curvature() * norm(r - s) + slack_of(slope, other)


@every_splittable_loss
@given(data=st.data())
@examples
def test_slack_value_is_convex_with_the_maximiser_as_gradient(case: Any, data: Any) -> None:
    v, w = data.draw(vectors(case, 2))
    loss = case.coupling
    (r, value), (_, other) = loss.slack(v), loss.slack(w)
    room = slack_of(v[..., :0]) * (1.0 + norm(r)) * (1.0 + norm(v) + norm(w)) ** 2
    assert value == pytest.approx(inner(v, r) - loss.value(r), abs=room)
    assert other >= value + inner(r, w - v) - room
    assert value <= loss.conjugate(v) + room


@every_splittable_loss
@given(data=st.data())
@examples
def test_slack_equals_the_conjugate_where_the_maximiser_fits(case: Any, data: Any) -> None:
    (r,) = data.draw(vectors(case))
    loss = case.coupling
    radius = getattr(loss, "slack_radius", None)
    if radius is not None:
        r = (r * (0.9 * radius / max(float(np.abs(r).max()), 0.9 * radius))).astype(r.dtype)
    dual = loss.gradient(r)
    room = slack_of(r[..., :0]) * (1.0 + norm(r)) ** 2
    if radius is None or np.all(np.abs(loss.slack(dual)[0]) < radius):
        assert loss.slack(dual)[1] == pytest.approx(loss.conjugate(dual), abs=10 * room)
    assert loss.slack(dual)[1] >= inner(dual, r) - loss.value(r) - 10 * room
