"""Certified ranges of observables over the states that fit within chi-square."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import stats

from unipd.apps.tomography import (
    Noise,
    PauliTomography,
    TooFewMeasurements,
    all_bases,
    as_observable,
    as_state,
    calibrate_excess,
    confidence_region,
    ghz,
    is_identified,
    random_mixed,
    random_pure,
    simulate,
    simulate_counts,
    smallest_value,
    state_range,
)
from unipd.errors import InvalidInput
from unipd.maps.pauli import PauliMap

from .naive import pauli


def solve_range(matrices, values, errors, observable, excess):
    """Return min and max of <O, X> over states with phi <= phi_min + excess, by CVXPY and Clarabel."""
    size = observable.shape[0]
    X = cp.Variable((size, size), hermitian=True)
    images = cp.hstack([cp.real(cp.trace(matrix @ X)) for matrix in matrices])
    distance = cp.norm(cp.multiply(1.0 / errors, images - values))
    is_state = [X >> 0, cp.real(cp.trace(X)) == 1]
    least = cp.Problem(cp.Minimize(distance), is_state).solve(solver="CLARABEL")
    inside = [*is_state, distance <= np.sqrt(least**2 + 2 * excess)]
    value = cp.real(cp.trace(observable @ X))
    ends = (cp.Problem(kind(value), inside).solve(solver="CLARABEL") for kind in (cp.Minimize, cp.Maximize))
    return tuple(ends)


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize(("state", "count"), [("random", 15), ("mixed", 15), ("mixed", 9)])
@pytest.mark.filterwarnings("ignore::unipd.apps.tomography.MeasurementWarning", "ignore:Solution may be inaccurate")
def test_the_range_is_that_of_an_interior_point_solver(state, count, joint):
    labels = ["XX", "XY", "XZ", "YX", "YY", "YZ", "ZX", "ZY", "ZZ", "XI", "YI", "ZI", "IX", "IY", "IZ"][:count]
    experiment = simulate(state, 2, paulis=labels, noise=Noise(shots=200), seed=3)
    fit = PauliTomography().fit_data(experiment.data).fit_
    excess = 0.5 * stats.chi2.ppf(0.95, count if joint else 1)
    strings = [pauli(label) for label in fit.data.labels()]
    errors = np.sqrt(1.0 / fit.model.problem.coupling.quadratic_weights)
    for observable in ("XY", {"ZZ": 0.7, "XI": -0.3}):
        found = state_range(fit, observable, joint=joint, replicates=0)
        matrix = as_observable(observable, 2).toarray()
        low, high = solve_range(strings, fit.data.expectations, errors, matrix, excess)
        tolerance, rounding = 0.02 * (high - low), 1e-4
        assert low - tolerance <= found.low <= low + rounding
        assert low - rounding <= found.attained_low <= low + tolerance
        assert high - rounding <= found.high <= high + tolerance
        assert high - tolerance <= found.attained_high <= high + rounding


def fit_near_the_boundary(seed):
    """GHZ with 5 % of white noise, read with errors: most eigenvalues of the truth are smaller than the noise."""
    truth = as_state(0.95 * ghz(3).density_matrix() + 0.05 * np.eye(8) / 8)
    counts = simulate_counts(truth, all_bases(3), 500, noise=Noise(readout=0.05), seed=seed)
    return truth, PauliTomography().fit_counts(counts, readout=0.05).fit_


def test_near_the_boundary_the_range_of_one_observable_is_calibrated():
    observable = {"XXX": 0.5, "ZZI": 0.5}
    held = {0: 0, 20: 0}
    for seed in (154, 183, 165, 176):  # experiments whose profile intervals miss the truth
        truth, fit = fit_near_the_boundary(seed)
        ranges = {number: state_range(fit, observable, joint=False, replicates=number) for number in held}
        for number, found in ranges.items():
            held[number] += found.low <= truth.expectation(observable) <= found.high
        joint = state_range(fit, observable)
        assert joint.low <= ranges[20].low <= ranges[0].low + 1e-9
        assert ranges[0].high - 1e-9 <= ranges[20].high <= joint.high
        assert ranges[20].low <= ranges[20].attained_low <= ranges[20].estimate <= ranges[20].attained_high
    assert held[0] == 0
    assert held[20] >= 3


def test_a_calibration_depends_on_its_seed_alone():
    _, fit = fit_near_the_boundary(100)
    ranges = [state_range(fit, "XXX", joint=False, replicates=3, seed=seed) for seed in (1, 1, 2)]
    assert ranges[0].high == ranges[1].high != ranges[2].high


def test_the_calibrated_excess_ends_where_repeated_fits_reach_the_estimate():
    _, fit = fit_near_the_boundary(101)
    region = confidence_region(fit, 2.0)
    end = smallest_value(region, as_observable("XXX", 3), 1.0)
    repeated = end.attained + np.array([-0.03, -0.01, 0.02, 0.04])  # bias 0.005
    farthest = end.centre - 0.005 - 2.0 * np.std(repeated, ddof=1)  # chi-square 4 are two standard deviations
    excess = calibrate_excess(region, end, end.centre, np.array([end.attained, *repeated]))
    assert np.isclose(excess, 2.0 * ((end.centre - farthest) / (end.centre - end.attained)) ** 2)
    assert calibrate_excess(region, end, end.centre, np.full(5, end.attained)) == 2.0


def test_attained_values_belong_to_states_of_the_region():
    """For counts too: the profile of the multinomial likelihood of one qubit is that of a binomial."""
    counts = {"X": {"0": 70, "1": 30}, "Y": {"0": 52, "1": 48}, "Z": {"0": 45, "1": 55}}
    found = PauliTomography().fit_counts(counts).state_range("X", joint=False, replicates=0)

    def excess(value):
        chance = 0.5 * (1 + value)
        return 70 * np.log(0.7 / chance) + 30 * np.log(0.3 / (1 - chance))

    limit = 0.5 * stats.chi2.ppf(0.95, 1)
    for end in (found.low, found.high):
        assert excess(end) == pytest.approx(limit, rel=0.02)
    assert found.low <= found.attained_low < found.estimate < found.attained_high <= found.high


def test_the_projector_on_a_pure_state_is_an_observable():
    counts = simulate_counts(ghz(2), all_bases(2), 200, noise=Noise(depolarizing=0.1), seed=1)
    estimate = PauliTomography().fit_counts(counts)
    by_state, by_vector = (estimate.state_range(target) for target in (ghz(2), [1, 0, 0, 1] / np.sqrt(2)))
    by_sum = estimate.state_range({"II": 0.25, "XX": 0.25, "ZZ": 0.25, "YY": -0.25})
    by_matrix = estimate.state_range(ghz(2).density_matrix())
    for other in (by_vector, by_sum, by_matrix):
        assert (other.low, other.high) == pytest.approx((by_state.low, by_state.high), abs=2e-3)
    assert by_state.low < estimate.fidelity(ghz(2)) < by_state.high <= 1.0


def test_data_without_errors_get_them_from_the_residual():
    experiment = simulate("random", 3, noise=Noise(gaussian=0.03), seed=1)
    estimate = PauliTomography(rank=1).fit(experiment.data.labels(), experiment.data.expectations)
    found = estimate.state_range("XII", joint=False)
    assert found.low < experiment.state.expectation("XII") < found.high < found.low + 0.2


def test_identification():
    truth = random_mixed(2, 4, seed=1)
    full = PauliTomography().fit_counts(simulate_counts(truth, all_bases(2), 300, seed=1))
    assert is_identified(full.fit_)
    with pytest.warns(TooFewMeasurements):
        few = PauliTomography().fit_counts(simulate_counts(truth, ["XX", "ZZ"], 300, seed=1))
    assert not is_identified(few.fit_)
    pure = random_pure(2, seed=1)
    some = [label for label in PauliMap(2, np.arange(16) >> 2, np.arange(16) & 3).labels if label not in ("II", "XY")]
    known = PauliTomography(rank=1).fit(some, pure.expectations(some), shots=10_000)
    assert is_identified(known.fit_)  # a pure state is known without one of its strings


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.state_range("X", 1.0),
        lambda e: e.state_range("XX"),
        lambda e: e.state_range({"X": 1j}),
        lambda e: e.state_range(np.array([[0.0, 1.0], [0.0, 0.0]])),
        lambda e: e.state_range(as_state(np.eye(2) / 2)),
    ],
)
def test_wrong_input_is_refused(call):
    estimate = PauliTomography().fit(["X", "Y", "Z"], [0.3, 0.2, -0.1], shots=400)
    with pytest.raises(InvalidInput):
        call(estimate)


def test_a_range_contradicts_itself_for_no_rank():
    """The region holds states of all ranks: an estimate of limited rank may lie outside."""
    truth = as_state(0.7 * ghz(2).density_matrix() + 0.3 * np.eye(4) / 4)
    counts = simulate_counts(truth, all_bases(2), 1000, seed=1)
    found = PauliTomography(rank=1).fit_counts(counts).state_range("ZZ")
    assert found.low <= found.attained_low <= found.attained_high <= found.high < found.estimate


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"replicates": 1}])
def test_wrong_options_of_a_calibration_are_refused(wrong):
    estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.0], shots=1000)
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        estimate.state_range("X", joint=False, **wrong)
