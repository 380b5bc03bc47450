"""The squared trace: sharp operator, conjugate and bounds against the definition."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.sharp.spectral import TraceSquared


def hermitian(seed, size=4):
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((size, size)) + 1j * rng.standard_normal((size, size))
    return 0.5 * (matrix + matrix.conj().T)


def random_psd(rng, size=4):
    factor = rng.standard_normal((size, 2)) + 1j * rng.standard_normal((size, 2))
    return factor @ factor.conj().T


@given(st.integers(0, 1000), st.floats(0.1, 10))
@settings(max_examples=40)
def test_the_answer_is_the_maximum(seed, weight):
    y, oracle = hermitian(seed), TraceSquared(4, weight)
    answer = oracle(y)
    x = answer.atom.dense()
    attained = np.vdot(y, x).real - weight * np.trace(x).real ** 2
    assert answer.value == pytest.approx(attained, abs=1e-9)
    assert oracle.objective(answer.atom) == pytest.approx(answer.objective, abs=1e-9)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        other = rng.uniform(0, 2) * random_psd(rng)
        assert np.vdot(y, other).real - weight * np.trace(other).real ** 2 <= answer.value + answer.error + 1e-9
    assert oracle.contains(answer.atom)
    assert oracle(2.0 * y).value == pytest.approx(4.0 * answer.value)


def test_a_negative_direction_gives_zero():
    answer = TraceSquared(3)(-np.eye(3))
    assert answer.value == 0.0
    assert not answer.atom.dense().any()
    assert TraceSquared(3).support(-np.eye(3)) == 0.0
    assert TraceSquared(3).support(np.eye(3)) == math.inf


def test_membership_and_tolerances():
    oracle = TraceSquared(2, 2.0)
    assert oracle.contains(np.diag([3.0, 0.0]))
    assert not oracle.contains(np.diag([3.0, -0.1]))
    assert not oracle.contains(np.eye(3))
    assert oracle.top_value_tolerance(1.0, 0.0) == 0.0
    step = oracle.top_value_tolerance(1.5, 0.1)
    assert ((1.5 + step) ** 2 - 1.5**2) / 8 == pytest.approx(0.1)
    assert oracle.maximum() == math.inf
    assert (oracle.degree, oracle.linear) == (2.0, False)
    left = np.array([[1.0], [1.0]])
    assert oracle.objective(LowRank(left, left, np.array([3.0]))) == pytest.approx(2 * 36)


@pytest.mark.parametrize(
    "call", [lambda: TraceSquared(0), lambda: TraceSquared(2, 0.0), lambda: TraceSquared(2).objective(np.eye(3))]
)
def test_wrong_input_is_refused(call):
    with pytest.raises(InvalidInput):
        call()
