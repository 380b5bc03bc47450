"""The closed forms of :mod:`unipd.theory` against slow definitions and limits."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd import theory
from unipd.errors import InvalidInput

exponents = st.floats(0.0, 1.0)
sizes = st.floats(1e-3, 1e3)
examples = settings(max_examples=60)


@given(nu=exponents, holder=sizes, eps=sizes, step=sizes)
@examples
def test_m_bar_majorises_the_hoelder_bound(nu: float, holder: float, eps: float, step: float) -> None:
    """M_nu/(1+nu) t^(1+nu) <= M_bar/2 t^2 + eps/2 for all t: why the line search ends."""
    m_bar = theory.smoothness_bound(nu, holder, eps)
    power = holder / (1.0 + nu) * step ** (1.0 + nu)
    assert power <= (0.5 * m_bar * step**2 + 0.5 * eps) * (1.0 + 1e-9)


@given(nu=st.floats(0.0, 0.99), holder=sizes, eps=sizes)
@examples
def test_m_bar_is_the_least_such_constant(nu: float, holder: float, eps: float) -> None:
    """At the t where both sides touch, anything smaller fails."""
    m_bar = theory.smoothness_bound(nu, holder, eps)
    touch = (holder / m_bar) ** (1.0 / (1.0 - nu))
    power = holder / (1.0 + nu) * touch ** (1.0 + nu)
    assert power == pytest.approx(0.5 * m_bar * touch**2 + 0.5 * eps, rel=1e-6)


@pytest.mark.parametrize("nu", [-0.1, 1.1, math.nan])
def test_exponents_outside_the_unit_interval_are_refused(nu: float) -> None:
    with pytest.raises(InvalidInput, match="nu"):
        theory.smoothness_bound(nu, 1.0, 1.0)


@pytest.mark.parametrize("count", [theory.unipdgrad_iterations, theory.accunipdgrad_iterations])
def test_k_max_near_a_zero_dual_optimum_does_not_cancel(count: Callable[..., int]) -> None:
    assert count(1e-6, 1e-17, {1.0: 3.0}) == count(1e-6, 0.0, {1.0: 3.0})


@pytest.mark.parametrize("count", [theory.unipdgrad_iterations, theory.accunipdgrad_iterations])
def test_wrong_constants_are_refused(count: Callable[..., int]) -> None:
    for name, wrong in (
        ("eps", (0.0, 1.0, {1.0: 1.0})),
        ("dual_norm", (1.0, -1.0, {1.0: 1.0})),
        ("holder", (1.0, 1.0, {})),
        ("holder", (1.0, 1.0, {1.0: -1.0})),
        ("nu", (1.0, 1.0, {2.0: 1.0})),
    ):
        with pytest.raises(InvalidInput, match=name):
            count(*wrong)
    with pytest.raises(InvalidInput, match="eps"):
        theory.smoothness_bound(0.5, 1.0, 0.0)


def test_degrees_below_two_are_refused() -> None:
    with pytest.raises(InvalidInput, match="q"):
        theory.uniform_convexity_constant(1.5, 1.0, 1.0)


@given(nu=exponents, holder=sizes, dual_norm=st.floats(1e-2, 1e2), eps=st.floats(1e-2, 1.0))
@examples
def test_k_max_of_unipdgrad_makes_the_feasibility_bound_an_eps(
    nu: float, holder: float, dual_norm: float, eps: float
) -> None:
    k = theory.unipdgrad_iterations(eps, dual_norm, {nu: holder})
    bound = theory.unipdgrad_feasibility_bound(k, theory.smoothness_bound(nu, holder, eps), eps, dual_norm)
    assert bound * max(1.0, dual_norm) <= eps * (1.0 + 1e-9)


@given(nu=exponents, holder=sizes, dual_norm=st.floats(1e-2, 1e2), eps=st.floats(1e-2, 1.0))
@examples
def test_k_max_of_accunipdgrad_makes_the_feasibility_bound_an_eps(
    nu: float, holder: float, dual_norm: float, eps: float
) -> None:
    k = theory.accunipdgrad_iterations(eps, dual_norm, {nu: holder})
    m_bar = theory.smoothness_bound(nu, holder, eps)
    bound = theory.accunipdgrad_feasibility_bound(k, nu, m_bar, eps, dual_norm)
    assert bound * max(1.0, dual_norm) <= eps * (1.0 + 1e-9)


@pytest.mark.parametrize("count", [theory.unipdgrad_iterations, theory.accunipdgrad_iterations])
def test_k_max_at_a_zero_dual_optimum_is_the_limit(count: type) -> None:
    pairs = {0.5: 20.0}
    assert count(0.1, 0.0, pairs) == pytest.approx(count(0.1, 1e-9, pairs), rel=1e-3)


@pytest.mark.parametrize("count", [theory.unipdgrad_iterations, theory.accunipdgrad_iterations])
def test_k_max_takes_the_best_pair(count: type) -> None:
    one, other = {0.0: 3.0}, {1.0: 100.0}
    assert count(1e-2, 1.0, one | other) == min(count(1e-2, 1.0, one), count(1e-2, 1.0, other))


def test_bounds_fall_with_the_iteration() -> None:
    for k in range(50):
        now = (
            theory.unipdgrad_objective_bound(k, 2.0, 0.1, 1.0),
            theory.unipdgrad_feasibility_bound(k, 2.0, 0.1, 1.0),
            theory.unipdgrad_dual_bound(k, 2.0, 0.1, 1.0),
            theory.accunipdgrad_objective_bound(k, 1.0, 2.0, 0.1, 1.0),
            theory.accunipdgrad_feasibility_bound(k, 1.0, 2.0, 0.1, 1.0),
        )
        later = (
            theory.unipdgrad_objective_bound(k + 1, 2.0, 0.1, 1.0),
            theory.unipdgrad_feasibility_bound(k + 1, 2.0, 0.1, 1.0),
            theory.unipdgrad_dual_bound(k + 1, 2.0, 0.1, 1.0),
            theory.accunipdgrad_objective_bound(k + 1, 1.0, 2.0, 0.1, 1.0),
            theory.accunipdgrad_feasibility_bound(k + 1, 1.0, 2.0, 0.1, 1.0),
        )
        assert all(new < old for new, old in zip(later, now, strict=True))


def test_the_formulas_at_hand_computed_values() -> None:
    assert theory.smoothness_bound(0.0, 3.0, 0.5) == pytest.approx(18.0)
    assert theory.unipdgrad_objective_bound(3, 2.0, 0.1, 4.0) == pytest.approx(8.05)
    assert theory.unipdgrad_feasibility_bound(3, 2.0, 0.5, 4.0) == pytest.approx(8.0 + math.sqrt(0.5))
    assert theory.accunipdgrad_objective_bound(2, 1.0, 2.0, 0.1, 4.0) == pytest.approx(8.05)
    assert theory.accunipdgrad_feasibility_bound(2, 1.0, 2.0, 0.5, 4.0) == pytest.approx(8.0 + math.sqrt(0.5))
    assert theory.unipdgrad_trials(9, 8.0, 2.0) == 22
    assert theory.accunipdgrad_trials(9, 8.0, 2.0) == 12
    assert theory.unipdgrad_oracle_calls(9, 8.0, 2.0) == 23
    assert theory.accunipdgrad_oracle_calls(9, 8.0, 2.0) == 22
    assert theory.unipdgrad_oracle_bound(9, 1e-3, 1.0, {1.0: 8.0}) == pytest.approx(24.0)
    assert theory.accunipdgrad_oracle_bound(9, 1e-3, 1.0, 1.0, 8.0) == pytest.approx(24.0)
    assert theory.quadratic_smoothness_bound(2.0, 3.0, 0.5) == pytest.approx(18.5)
    nu, constant = theory.uniform_convexity_constant(3.0, 2.0, 4.0)
    assert (nu, constant) == (0.5, pytest.approx(math.sqrt(32.0)))
