"""Error bars of channels."""

import numpy as np
import pytest
from scipy import stats

from unipd._util import context
from unipd.apps.process_tomography import (
    ProcessTomography,
    all_preparations,
    make_channel,
    noisy_channel,
    simulate_process,
)
from unipd.errors import InvalidInput


def fidelity(channel):
    return channel.process_fidelity("h")


def test_intervals_hold_the_truth():
    truth = noisy_channel("h", depolarizing=0.1)
    inside = 0
    for seed in range(8):
        estimate = ProcessTomography().fit_counts(simulate_process(truth, shots=200, seed=seed))
        low, high = estimate.bootstrap(12, seed=seed).interval(fidelity, limits=(0.0, 1.0))
        inside += low <= fidelity(truth) <= high
        assert high - low < 0.15
    assert inside >= 6


def test_intervals_reach_twice_as_far_as_the_bias_of_the_replicates():
    estimate = ProcessTomography().fit_counts(simulate_process("h", shots=100, seed=3))
    errors = estimate.bootstrap(8, seed=1)
    values, centre = errors.values(fidelity), fidelity(estimate.channel_)
    bias, margin = values.mean() - centre, stats.t.ppf(0.975, 7) * np.std(values, ddof=1) * np.sqrt(1.125)
    assert bias < 0.0
    expected = (centre - margin, centre - 2.0 * bias + margin)
    np.testing.assert_allclose(errors.interval(fidelity), expected, rtol=1e-12)


def test_replicates_repeat_with_their_seed():
    estimate = ProcessTomography(rank=2).fit_counts(simulate_process("h", shots=100))
    first, again = (estimate.bootstrap(3, seed=5).values(fidelity) for _ in range(2))
    assert np.array_equal(first, again)
    assert all(channel.rank <= 2 for channel in estimate.bootstrap(2).channels)


def test_lost_shots_are_drawn_again():
    truth = noisy_channel("h", loss=0.3)
    estimate = ProcessTomography(trace="nonincreasing").fit_counts(simulate_process(truth, shots=400, seed=1))
    kept = estimate.bootstrap(4).values(lambda channel: np.trace(channel.choi).real / 2)
    assert np.allclose(kept, 0.7, atol=0.05)


def test_expectation_values_need_errors():
    channel = make_channel("damping", 1)
    names = [(label, name) for label in all_preparations(1) for name in "XYZ"]
    values = np.linspace(-0.1, 0.1, len(names))
    assert channel.qubits == 1
    plain = ProcessTomography().fit([p for p, _ in names], [s for _, s in names], values)
    with pytest.raises(InvalidInput, match="standard errors"):
        plain.bootstrap(2)
    noisy = ProcessTomography().fit([p for p, _ in names], [s for _, s in names], values, stderr=0.01)
    assert len(noisy.bootstrap(2).channels) == 2


def test_a_requested_stop_ends_the_replicates():
    estimate = ProcessTomography().fit_counts(simulate_process("h", shots=100))
    context.request.pending = True
    try:
        errors = estimate.bootstrap(5)
    finally:
        context.request.pending = False
    assert errors.channels == ()
    with pytest.raises(InvalidInput, match="at least two replicates"):
        errors.interval(fidelity)


def test_a_level_outside_0_and_1_and_a_negative_seed_are_refused():
    estimate = ProcessTomography().fit_counts(simulate_process("h", shots=100))
    with pytest.raises(InvalidInput, match="seed"):
        estimate.bootstrap(2, seed=-1)
    with pytest.raises(InvalidInput, match="level"):
        estimate.bootstrap(2).interval(fidelity, level=1.5)
