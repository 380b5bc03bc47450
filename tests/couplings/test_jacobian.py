"""Closed-form Jacobians of the prox of the conjugate against differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unipd import couplings
from unipd.couplings.jacobian import differences, prox_jacobian

CASES = {
    "equality": couplings.Equality(),
    "at least": couplings.AtLeast(),
    "at most": couplings.AtMost(),
    "box": couplings.Box(-0.5, 0.7),
    "absolute": couplings.Absolute(),
    "l2 ball": couplings.L2Ball(0.6),
    "psd cone": couplings.PSDCone(3),
    "l1 ball": couplings.L1Ball(0.8),
}


@pytest.mark.parametrize("name", CASES)
@given(seed=st.integers(0, 1000), step=st.floats(0.1, 10.0))
def test_closed_form_agrees_with_differences(name: str, seed: int, step: float) -> None:
    coupling, random = CASES[name], np.random.default_rng(seed)
    vector, directions = random.standard_normal(9), random.standard_normal((9, 4))
    naive = differences(lambda v: coupling.prox_conjugate(v, step), vector, directions)
    found = prox_jacobian(coupling, vector, step, directions)
    agree = np.isclose(found, naive, atol=1e-4 * max(1.0, np.abs(naive).max()))
    assert agree.mean() > 0.7  # a kink of the prox may lie between the two points of a difference
    if name not in ("l1 ball",):
        assert found.shape == directions.shape


def test_complex_data_falls_back_on_differences() -> None:
    vector = np.array([0.3 + 0.2j, 2.0 - 1.0j])
    directions = np.eye(2, dtype=complex)
    found = prox_jacobian(couplings.Absolute(), vector, 1.0, directions)
    np.testing.assert_allclose(found[:, 0], [1.0, 0.0], atol=1e-6)
