"""Closed-form Jacobians of the prox of the conjugate against finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unipd import couplings
from unipd.couplings import CouplingBase, finite_differences

CASES = {
    "equality": couplings.Equality(),
    "at least": couplings.AtLeast(),
    "at most": couplings.AtMost(),
    "box": couplings.Box(-0.5, 0.7),
    "absolute": couplings.Absolute(),
    "l2 ball": couplings.L2Ball(0.6),
    "psd cone": couplings.PSDCone(3),
    "l1 ball": couplings.L1Ball(0.8),
    "l-infinity ball": couplings.LInfBall(0.4),
    "l1 ball of radius zero": couplings.L1Ball(0.0),
    "l2 ball of radius zero": couplings.L2Ball(0.0),
    "l-infinity ball of radius zero": couplings.LInfBall(0.0),
    "half-space": couplings.HalfSpace(np.arange(1.0, 10.0), -0.3),
    "second-order cone": couplings.SecondOrderCone(),
    "product": couplings.Product([couplings.SecondOrderCone(), couplings.PSDCone(2)], [5, 4]),
    "translated": couplings.Translated(couplings.L1Ball(0.8), np.linspace(-1.0, 1.0, 9)),
    "scaled": couplings.Scaled(couplings.LInfBall(0.4), 0.5),
}
LOSSES = {
    "least squares": couplings.LeastSquares(1.5),
    "weighted least squares": couplings.WeightedLeastSquares(np.linspace(0.5, 2.0, 9)),
    "logistic": couplings.Logistic(),
    "huber": couplings.Huber(0.3),
}


@pytest.mark.parametrize("name", CASES)
@given(seed=st.integers(0, 1000), step=st.floats(0.1, 10.0))
def test_closed_form_agrees_with_differences(name: str, seed: int, step: float) -> None:
    coupling, random = CASES[name], np.random.default_rng(seed)
    vector, directions = random.standard_normal(9), random.standard_normal((9, 4))
    naive = finite_differences(lambda v: coupling.prox_conjugate(v, step), vector, directions)
    found = coupling.prox_jacobian(vector, step, directions)
    agree = np.isclose(found, naive, atol=1e-4 * max(1.0, np.abs(naive).max()))
    assert agree.mean() > 0.7  # a kink of the prox may lie between the two points of a difference
    assert found.shape == directions.shape
    assert type(coupling).prox_jacobian is not CouplingBase.prox_jacobian


@pytest.mark.parametrize("name", ["l1 ball", "l1 ball of radius zero", "l-infinity ball", "half-space", "l2 ball"])
@given(seed=st.integers(0, 1000), step=st.floats(0.1, 10.0))
def test_closed_form_agrees_with_differences_for_complex_numbers(name: str, seed: int, step: float) -> None:
    coupling, random = CASES[name], np.random.default_rng(seed)
    vector = random.standard_normal(9) + 1j * random.standard_normal(9)
    directions = random.standard_normal((9, 4)) + 1j * random.standard_normal((9, 4))
    naive = finite_differences(lambda v: coupling.prox_conjugate(v, step), vector, directions)
    found = coupling.prox_jacobian(vector, step, directions)
    assert np.isclose(found, naive, atol=1e-4 * max(1.0, np.abs(naive).max())).mean() > 0.7


@pytest.mark.parametrize("numbers", ["real", "complex"])
@pytest.mark.parametrize("name", LOSSES)
@given(seed=st.integers(0, 1000))
def test_gradients_of_losses_have_the_derivatives_of_differences(name: str, numbers: str, seed: int) -> None:
    loss, random = LOSSES[name], np.random.default_rng(seed)
    residual, directions = random.standard_normal(9), random.standard_normal((9, 4))
    if numbers == "complex" and name != "logistic":
        residual, directions = residual + 1j * random.standard_normal(9), directions - 0.7j * directions[::-1]
    naive = finite_differences(loss.gradient, residual, directions)
    found = loss.gradient_jacobian(residual, directions)
    assert found.dtype == directions.dtype
    assert np.isclose(found, naive, atol=1e-4 * max(1.0, np.abs(naive).max())).mean() > 0.7


def test_complex_data_falls_back_on_differences() -> None:
    vector = np.array([0.3 + 0.2j, 2.0 - 1.0j])
    directions = np.eye(2, dtype=complex)
    found = couplings.Absolute().prox_jacobian(vector, 1.0, directions)
    np.testing.assert_allclose(found[:, 0], [1.0, 0.0], atol=1e-6)
