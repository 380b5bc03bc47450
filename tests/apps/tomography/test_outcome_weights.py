"""Fits of counts by outcome: unbiased weights, intervals that cover the truth, results close to maximum likelihood."""

import numpy as np
import pytest

from unipd import Status
from unipd.apps.tomography import (
    LEAST_COUNT,
    Histogram,
    Noise,
    PauliTomography,
    all_bases,
    fit_counts,
    ghz,
    multinomial_variance,
    outcome_probabilities,
    outcome_problem,
    random_mixed,
    random_pure,
    simulate_counts,
)
from unipd.errors import InvalidInput
from unipd.maps.pauli import OutcomeMap
from unipd.run import MaxIterations

from . import naive


def white(qubits, share, shots, seed):
    counts = simulate_counts(ghz(qubits), all_bases(qubits), shots, noise=Noise(depolarizing=share), seed=seed)
    return counts, 1 - share + share / 2**qubits


def log_likelihood(state, counts):
    """Multinomial log-likelihood, from the probabilities computed by rotating the state."""
    total = 0.0
    for basis, seen in counts.items():
        probabilities = outcome_probabilities(state, basis)
        total += sum(number * np.log(max(probabilities[int(bits, 2)], 1e-300)) for bits, number in seen.items())
    return total


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_a_little_white_noise_is_not_lost(share):
    errors = []
    for seed in range(4):
        counts, truth = white(4, share, 1000, seed)
        errors.append(PauliTomography(threads=1).fit_counts(counts).fidelity(ghz(4)) - truth)
    assert abs(np.mean(errors)) < 3e-3


def test_five_qubits_with_white_noise_and_its_interval():
    counts, truth = white(5, 0.05, 1000, 2)
    estimate = PauliTomography(threads=1).fit_counts(counts)
    assert estimate.fidelity(ghz(5)) == pytest.approx(truth, abs=5e-3)
    low, high = estimate.bootstrap(8, target=ghz(5), seed=1).interval("fidelity")
    assert low < truth < high
    assert high - low < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_the_estimate_nearly_maximises_the_likelihood(seed):
    """The maximum is found where the gradient R = sum n / (N p) Pi has no eigenvalue above 1 (N all shots)."""
    truth = random_mixed(2, 3, seed)
    counts = simulate_counts(truth, all_bases(2), 2000, seed=seed)
    estimate = PauliTomography(objective="outcomes", threads=1, accuracy=1e-8).fit_counts(counts)
    gradient = np.zeros((4, 4), complex)
    for basis, seen in counts.items():
        projectors = naive.projectors(basis)
        for bits, number in seen.items():
            projector = projectors[int(bits, 2)]
            chance = np.trace(projector @ naive.density(estimate.state_)).real
            gradient += number / (9 * 2000) / chance * projector
    assert np.linalg.eigvalsh(gradient)[-1] < 1 + 2e-3
    assert log_likelihood(estimate.state_, counts) > log_likelihood(truth, counts)
    others = [PauliTomography(threads=1, objective=name, accuracy=1e-8) for name in ("weighted", "least-squares")]
    for other in others:
        found = log_likelihood(other.fit_counts(counts).state_, counts)
        assert log_likelihood(estimate.state_, counts) > found - 0.05


def test_the_weights_are_those_of_the_multinomial():
    """On differences that sum to zero in each basis, the loss is 1/2 d' C^+ d with the multinomial covariance C."""
    probabilities, shots = np.array([[0.7, 0.3], [0.5, 0.5]]), np.array([[100.0], [50.0]])
    histogram = Histogram((probabilities * shots).reshape(-1), np.array([2, 2]))
    variance = multinomial_variance(histogram, probabilities.reshape(-1))
    problem = outcome_problem(OutcomeMap(["Z", "X"], "double"), histogram, variance)
    difference = np.array([0.02, -0.02, -0.01, 0.01])
    expected = 0.0
    for p, number, d in zip(probabilities, shots[:, 0], difference.reshape(2, 2), strict=True):
        covariance = (np.diag(p) - np.outer(p, p)) / number
        expected += 0.5 * d @ np.linalg.pinv(covariance) @ d
    assert problem.loss.value(difference) == pytest.approx(expected)


def test_probabilities_of_zero_are_bounded():
    histogram = Histogram(np.array([100.0, 0.0]), np.array([2]))
    variance = multinomial_variance(histogram, np.array([1.0, 0.0]))
    problem = outcome_problem(OutcomeMap(["Z"], "double"), histogram, variance)
    assert problem.loss.value(np.array([0.0, 0.01])) == pytest.approx(0.5 * 1e-4 * 100 / (LEAST_COUNT / 100))


def test_all_rounds_are_counted_and_a_limit_ends_them():
    counts, _ = white(3, 0.2, 1000, 1)
    whole = PauliTomography(objective="outcomes", threads=1).fit_counts(counts)
    single = fit_counts(whole.settings, whole.counts_, whole.state_)
    assert single.state.fidelity(whole.state_) > 0.999
    cut = PauliTomography(objective="outcomes", threads=1, stop=MaxIterations(1), accuracy=1e-9).fit_counts(counts)
    assert cut.result_.status is Status.ITERATION_LIMIT
    assert cut.result_.iterations == 1


@pytest.mark.parametrize("share", [0.0, 0.05])
def test_checkpoints_are_those_of_the_fit_that_was_chosen(share, tmp_path):
    state = random_pure(3, 1) if share == 0.0 else ghz(4)
    counts = simulate_counts(state, all_bases(state.qubits), 1000, noise=Noise(depolarizing=share), seed=3)
    found = [
        PauliTomography(threads=1, solver_options=options).fit_counts(counts).objective_
        for options in ({}, {"checkpoint": tmp_path / "a"}, {"checkpoint": tmp_path / "a", "resume": True})
    ]
    assert found == [found[0]] * 3


def test_the_gaussian_objective_weighs_by_the_counts():
    """One fit, and white noise is lost: what ``outcomes`` is there to avoid."""
    counts, truth = white(4, 0.05, 1000, 1)
    estimate = PauliTomography(threads=1, objective="gaussian", accuracy=1e-8).fit_counts(counts)
    expected = 0.0
    for basis, seen in counts.items():
        for outcome, chance in enumerate(outcome_probabilities(estimate.state_, basis)):
            number = seen.get(format(outcome, "04b"), 0)
            hedged = (number + 0.5) / (1000 + 8)
            expected += 0.5 * 1000 * (number / 1000 - chance) ** 2 / (hedged * (1 - hedged))
    assert estimate.objective_ == pytest.approx(expected, rel=1e-6)
    assert estimate.fidelity(ghz(4)) > truth + 3e-3
    with pytest.raises(InvalidInput, match="counts by basis for gaussian"):
        PauliTomography(objective="gaussian").fit(["X", "Y", "Z"], [0.5, 0.0, 0.0])


@pytest.mark.parametrize("objective", ["auto", "outcomes"])
def test_the_rounds_have_their_limits_together(objective):
    counts, _ = white(4, 0.05, 300, seed=1)
    settings = {"objective": objective, "accuracy": 1e-8, "threads": 1}
    whole = PauliTomography(**settings).fit_counts(counts).result_
    limit = whole.iterations - 2
    cut = PauliTomography(**settings, stop=MaxIterations(limit)).fit_counts(counts).result_
    assert (cut.status, cut.iterations) == (Status.ITERATION_LIMIT, limit)
