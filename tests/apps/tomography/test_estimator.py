"""The tomography estimator."""

import inspect
import itertools
import math
import warnings

import numpy as np
import pytest

import unipd
from unipd.apps.tomography import (
    SOLVER_OPTIONS,
    DoubtfulMeasurements,
    FitSettings,
    Noise,
    PauliTomography,
    TooFewMeasurements,
    all_bases,
    as_counts,
    choose_paulis,
    fit_counts,
    ghz,
    noise_level_of,
    random_mixed,
    random_pure,
    simulate,
    simulate_counts,
    standard_errors,
)
from unipd.errors import InvalidInput, UnipdError

from . import naive


def all_labels(qubits):
    return ["".join(letters) for letters in itertools.product("IXYZ", repeat=qubits)]


def reference(labels, values, weights):
    """Solve the weighted least squares over density matrices by CVXPY."""
    import cvxpy as cp

    size, scale = 2 ** len(labels[0]), weights.max()
    rho = cp.Variable((size, size), hermitian=True)
    rows = [cp.real(cp.trace(naive.pauli(label) @ rho)) for label in labels]
    loss = 0.5 * cp.sum_squares(cp.multiply(np.sqrt(weights / scale), cp.hstack(rows) - values))
    problem = cp.Problem(cp.Minimize(loss), [rho >> 0, cp.real(cp.trace(rho)) == 1])
    problem.solve(solver="CLARABEL")
    return scale * float(problem.value), np.asarray(rho.value)


def test_an_exact_pure_state_is_recovered():
    state = random_pure(4, seed=2)
    estimate = PauliTomography(accuracy=1e-10).fit(all_labels(4), state.expectations(all_labels(4)))
    assert estimate.result_.status.success
    assert estimate.rank_ == 1
    assert estimate.relative_residual_ <= 1e-10
    assert estimate.gap_ <= 1e-10
    assert estimate.fidelity(state) >= 1 - 1e-8
    assert estimate.expectation("XYZI") == pytest.approx(state.expectation("XYZI"), abs=1e-4)
    np.testing.assert_allclose(estimate.fitted_, state.expectations(all_labels(4)), atol=1e-4)


def test_too_few_matrix_free_measurements_still_recover_a_pure_state():
    experiment = simulate("random", 8, seed=1)
    estimate = PauliTomography(accuracy=1e-8).fit_data(experiment.data)
    assert estimate.relative_residual_ <= 1e-8
    assert estimate.fidelity(experiment.state) >= 1 - 1e-6
    assert estimate.result_.counts.matvecs <= 80


@pytest.mark.parametrize(("objective", "shots"), [("least-squares", None), ("weighted", 300)])
def test_noisy_fits_agree_with_a_general_solver(objective, shots):
    experiment = simulate("mixed", 2, rank=2, noise=Noise(shots=300), seed=4)
    data = experiment.data
    estimate = PauliTomography(objective=objective, accuracy=1e-8).fit_data(data)
    weights = np.ones(data.size) if shots is None else standard_errors(data) ** -2.0
    value, rho = reference(data.labels(), data.expectations, weights)
    assert (1 - 1e-4) * value <= estimate.objective_ <= (1 + 1e-5) * value
    assert estimate.dual_bound_ <= value * (1 + 1e-6)
    np.testing.assert_allclose(estimate.state_.density_matrix(), rho, atol=1e-3)


def test_the_objective_is_chosen_by_what_the_data_tell():
    labels, values = all_labels(1), [1.0, 0.3, 0.2, 0.1]
    for noise, kind in (({}, "LeastSquares"), ({"shots": 100}, "Weighted"), ({"stderr": 0.1}, "Weighted")):
        estimate = PauliTomography().fit(labels, values, **noise)
        assert kind in type(estimate.result_.problem.coupling).__name__
    exact = PauliTomography().fit(labels, values, stderr=np.zeros(4))
    assert type(exact.result_.problem.coupling).__name__ == "LeastSquares"


def test_weights_follow_the_errors():
    """Two contradicting values of one string: the answer lies near the one with the smaller error."""
    labels = ["X", "X", "Y", "Z"]
    estimate = PauliTomography(accuracy=1e-8).fit(labels, [0.5, 0.1, 0.0, 0.0], stderr=[0.01, 0.1, 0.1, 0.1])
    expected = (0.5 / 0.01**2 + 0.1 / 0.1**2) / (1 / 0.01**2 + 1 / 0.1**2)
    assert estimate.expectation("X") == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad", "frank-wolfe", "away-step", "pairwise", "corrective"])
def test_every_method_fits(method):
    experiment = simulate("random", 3, noise=Noise(gaussian=0.02), seed=1)
    best = PauliTomography(accuracy=1e-6).fit_data(experiment.data)
    estimate = PauliTomography(method=method, accuracy=1e-2).fit_data(experiment.data)
    assert estimate.result_.status.success
    scale = estimate.result_.problem.scale(0.0)
    assert best.dual_bound_ - 1e-9 <= estimate.objective_ <= best.objective_ + 1.1e-2 * scale
    assert abs(math.fsum(estimate.state_.eigenvalues) - 1.0) <= 2.3e-16


def test_greedy_weights_and_method_objects():
    data = simulate("random", 3, seed=1).data
    greedy = PauliTomography(method="accunipdgrad", method_options={"weights": "greedy"}, accuracy=1e-3).fit_data(data)
    assert greedy.relative_residual_ <= 1e-3
    own = PauliTomography(method=unipd.FrankWolfe("open-loop"), accuracy=1e-1).fit_data(data)
    assert own.result_.method == "frank-wolfe"


def test_universal_methods_get_the_papers_eps():
    data = simulate("random", 3, seed=1).data
    estimate = PauliTomography(method="accunipdgrad", accuracy=1e-1).fit_data(data)
    assert estimate.result_.state.eps == 2e-4
    tight = PauliTomography(method="accunipdgrad", accuracy=1e-5).fit_data(data)
    assert tight.result_.state.eps == pytest.approx(1e-5 * tight.result_.problem.scale(0.0))


@pytest.mark.parametrize("objective", ["trace", "trace-squared"])
def test_constrained_forms_stay_within_the_noise_level(objective):
    experiment = simulate("random", 3, noise=Noise(gaussian=0.05), seed=2)
    level = noise_level_of(experiment.data)
    estimate = PauliTomography(objective=objective, accuracy=1e-3).fit_data(experiment.data)
    assert estimate.result_.status.success
    residual = np.linalg.norm(estimate.result_.image - experiment.data.expectations)
    assert residual <= level * (1 + 1e-3) + 1e-3
    assert estimate.fidelity(experiment.state) > 0.8
    trace = np.trace(estimate.result_.x.dense()).real
    assert 0.5 < trace < 1.0 + 1e-9
    assert abs(math.fsum(estimate.state_.eigenvalues) - 1.0) <= 2.3e-16


def test_an_impossible_noise_level_is_proven_infeasible():
    estimate = PauliTomography(objective="trace", noise_level=0.1, method="corrective")
    with pytest.warns(DoubtfulMeasurements):
        estimate.fit(["X", "X", "Y", "Z"], [1.0, -1.0, 0.0, 0.5])
    assert estimate.result_.status is unipd.Status.INFEASIBLE
    assert "trace at most 1, the trace of a state" in estimate.result_.message
    assert "<= 0.1." in estimate.result_.message


def test_values_too_large_for_trace_one_are_infeasible_and_say_why():
    """X = 1.2 |v><v| fits: only the limit on the trace excludes it, and trace-squared has none."""
    strings, values = ["Z", "X", "Y"], [1.2 / 3**0.5] * 3
    limited = PauliTomography(objective="trace", noise_level=0.01).fit(strings, values)
    assert limited.result_.status is unipd.Status.INFEASIBLE
    assert "trace at most 1" in limited.result_.message
    free = PauliTomography(objective="trace-squared", noise_level=0.01).fit(strings, values)
    assert free.result_.status is unipd.Status.SOLVED


def test_a_noise_level_that_needs_no_state_is_refused():
    with pytest.raises(InvalidInput, match="X = 0 fits"):
        PauliTomography(objective="trace", noise_level=10.0).fit(["X", "Y", "Z"], [0.3, 0.0, 0.5])


def test_the_noise_level_covers_the_truth_almost_always():
    covered = 0
    for seed in range(40):
        experiment = simulate("random", 3, noise=Noise(gaussian=0.05), seed=seed)
        error = np.linalg.norm(experiment.data.expectations - experiment.exact)
        covered += error <= noise_level_of(experiment.data)
    assert covered >= 36


def test_a_prescribed_rank_reports_what_it_costs():
    experiment = simulate("mixed", 3, rank=3, seed=2)
    found = PauliTomography(accuracy=1e-6).fit_data(experiment.data)
    assert found.rank_ == 3
    cut = PauliTomography(accuracy=1e-6, rank=1).fit_data(experiment.data)
    assert cut.state_.rank == 1
    assert cut.gap_ > 1e-3
    expected = 0.5 * np.sum((cut.state_.expectations(experiment.data.labels()) - experiment.data.expectations) ** 2)
    assert cut.objective_ == pytest.approx(expected, rel=1e-5)
    assert (cut.result_.status.value, cut.result_.objective, cut.result_.gap) == ("local", cut.objective_, cut.gap_)
    np.testing.assert_allclose(cut.result_.x.dense(), cut.state_.density_matrix(), atol=1e-12)
    assert cut.summary()["guarantee"] == "local: rank-constrained"
    truncated = found.state_.truncate(1).expectations(experiment.data.labels())
    assert cut.objective_ <= 0.5000001 * np.sum((truncated - experiment.data.expectations) ** 2)


def test_a_rank_with_another_method_truncates_the_state():
    experiment = simulate("mixed", 3, rank=3, seed=2)
    cut = PauliTomography(accuracy=1e-3, rank=1, method="accunipdgrad").fit_data(experiment.data)
    assert cut.state_.rank == 1
    assert cut.summary()["status"] == "stopped"
    assert "Truncation to rank 1" in cut.summary()["message"]


def test_complex_values_are_real_up_to_rounding():
    found = PauliTomography().fit(["X", "Y", "Z"], [0.6 + 1e-17j, 0.0j, 0.7 + 0j])
    assert found.data_.expectations.tolist() == [0.6, 0.0, 0.7]
    with pytest.raises(InvalidInput, match="imaginary"):
        PauliTomography().fit(["X", "Y", "Z"], [0.6 + 1e-3j, 0.0, 0.7])


@pytest.mark.filterwarnings("ignore::unipd.apps.tomography.TooFewMeasurements")
@pytest.mark.parametrize("labels", [["X"], ["X", "Y"], ["XX", "YY"]])
def test_values_that_are_all_zero(labels):
    found = PauliTomography().fit(labels, [0.0] * len(labels), shots=4)
    assert found.summary()["status"] == "solved"
    np.testing.assert_allclose(found.fitted_, 0.0, atol=1e-2)


@pytest.mark.parametrize("objective", ["trace", "trace-squared"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_cut_that_breaks_the_noise_level_is_no_success(objective, rank):
    data = simulate("mixed", 3, rank=3, seed=1).data
    cut = PauliTomography(objective=objective, noise_level=0.05, rank=rank).fit_data(data)
    assert cut.state_.rank == rank
    trace = np.trace(cut.result_.x.dense()).real
    missed = np.linalg.norm(trace * cut.fitted_ - data.expectations) - 0.05
    assert cut.summary()["infeasibility"] == pytest.approx(
        max(missed, 0.0) / np.linalg.norm(data.expectations), abs=1e-6
    )
    assert cut.summary()["status"] == ("solved" if rank == 3 else "stopped")


def test_counts_by_outcomes_and_by_strings():
    state = random_pure(3, seed=3)
    counts = simulate_counts(state, all_bases(3), 500, seed=4)
    outcomes = PauliTomography().fit_counts(counts)
    strings = PauliTomography(objective="weighted").fit_counts(counts)
    limited = PauliTomography().fit_counts(counts, max_weight=3)
    assert outcomes.result_.problem.b.size == 27 * 8
    assert strings.result_.problem.b.size == limited.result_.problem.b.size == 63
    assert outcomes.fidelity(state) > 0.97
    assert strings.fidelity(state) > 0.95
    assert outcomes.objective_ < 27 * 8
    np.testing.assert_allclose(outcomes.fitted_, outcomes.state_.expectations(outcomes.data_.labels()), atol=1e-9)


@pytest.mark.parametrize("objective", ["outcomes", "gaussian"])
def test_outcomes_agree_with_a_general_solver(objective):
    import cvxpy as cp

    state = random_mixed(2, 2, seed=1)
    counts = simulate_counts(state, all_bases(2), 200, seed=4)
    fit = fit_counts(FitSettings(objective=objective, accuracy=1e-8), as_counts(counts), prior=state)
    rho = cp.Variable((4, 4), hermitian=True)
    terms = []
    for basis, seen in counts.items():
        for outcome, projector in enumerate(naive.projectors(basis)):
            count = seen.get(format(outcome, "02b"), 0)
            chance, hedged = np.trace(projector @ naive.density(state)).real, (count + 0.5) / (200 + 4 * 0.5)
            variance = max(chance, 0.1 / 200) if objective == "outcomes" else hedged * (1 - hedged)
            terms.append(0.5 * cp.square(cp.real(cp.trace(projector @ rho)) - count / 200) * 200 / variance)
    problem = cp.Problem(cp.Minimize(sum(terms)), [rho >> 0, cp.real(cp.trace(rho)) == 1])
    problem.solve(solver="CLARABEL")
    assert fit.result.objective == pytest.approx(problem.value, rel=1e-5)
    np.testing.assert_allclose(naive.density(fit.state), rho.value, atol=1e-3)


def test_few_measurements_warn():
    with pytest.warns(TooFewMeasurements, match="2 distinct Pauli measurements cannot identify a state of 2 qubits"):
        PauliTomography().fit(["XX", "ZZ", "ZZ", "II"], [1.0, 1.0, 1.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PauliTomography().fit(all_labels(2), ghz(2).expectations(all_labels(2)))


def test_precision_follows_the_data():
    experiment = simulate("random", 3, seed=1)
    assert PauliTomography().fit_data(experiment.data).result_.problem.map.precision == "double"
    single = PauliTomography(precision="single", accuracy=1e-6).fit_data(experiment.data)
    assert single.result_.problem.map.precision == "single"
    assert single.fidelity(experiment.state) > 1 - 1e-4


def test_results_do_not_depend_on_the_threads():
    data = simulate("random", 8, seed=1, noise=Noise(shots=10_000)).data
    rule = unipd.MaxIterations(3)
    one, two = (PauliTomography(threads=threads, stop=rule).fit_data(data) for threads in (1, 2))
    np.testing.assert_array_equal(one.state_.eigenvectors, two.state_.eigenvectors)


def test_rules_and_callbacks_reach_the_solver():
    data = simulate("mixed", 3, seed=1).data
    seen = []
    estimate = PauliTomography(
        method="frank-wolfe", accuracy=1e-12, stop=unipd.MaxIterations(3), callback=lambda info: seen.append(info)
    ).fit_data(data)
    assert estimate.result_.iterations == len(seen) == 3


@pytest.mark.parametrize("method", ["auto", "factored", "accunipdgrad"])
@pytest.mark.parametrize("name", ["max_iterations", "accuracy", "tracker", "weights"])
def test_options_that_solve_does_not_take_are_named(method, name):
    with pytest.raises(InvalidInput, match=rf"^solver_options: expected atol, .*stop=MaxIterations.*, got {name}$"):
        PauliTomography(method=method, solver_options={name: 5})


def test_options_that_solve_takes_reach_it():
    data = simulate("ghz", 3, seed=1).data
    settings = {"threads": 1, "method": "accunipdgrad", "accuracy": 1e-3}
    exact = PauliTomography(**settings).fit_data(data)
    loose = PauliTomography(**settings, solver_options={"atol": 10.0}).fit_data(data)
    assert loose.result_.status.success
    assert loose.result_.iterations < exact.result_.iterations
    known = set(inspect.signature(unipd.solve).parameters)
    own = set(inspect.signature(PauliTomography).parameters) | {"problem", "tracker", "options"}
    assert known - own == set(SOLVER_OPTIONS)


def test_summary_has_the_headline_figures():
    experiment = simulate("random", 3, seed=1)
    figures = PauliTomography().fit_data(experiment.data).summary(experiment.state)
    for key in ("status", "qubits", "measurements", "objective", "relative_residual", "dual_bound", "fidelity", "rank",
                "iterations", "oracle_calls", "matvecs", "line_search_trials_per_iteration", "seconds", "gap",
                "peak_memory_bytes"):  # fmt: skip
        assert key in figures
    assert figures["measurements"] == experiment.data.size


def test_an_unfitted_estimator_says_so():
    with pytest.raises(UnipdError, match="has not been fitted"):
        PauliTomography().fidelity([1, 0])
    assert "PauliTomography" in repr(PauliTomography())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: PauliTomography(accuracy=0), "accuracy"),
        (lambda: PauliTomography(rank=0), "rank"),
        (lambda: PauliTomography(precision="half"), "precision"),
        (lambda: PauliTomography(noise_level=-1), "noise_level"),
        (lambda: PauliTomography(threads=0), "threads"),
        (lambda: PauliTomography(objective="best").fit(all_labels(1), [1, 0, 0, 0]), "objective"),
        (lambda: PauliTomography(objective="weighted").fit(all_labels(1), [1, 0, 0, 0]), "shots or stderr"),
        (lambda: PauliTomography(objective="trace").fit(all_labels(1), [1, 0, 0, 0]), "noise_level"),
        (lambda: PauliTomography(objective="outcomes").fit(all_labels(1), [1, 0, 0, 0]), "fit_counts"),
        (lambda: PauliTomography(objective="outcomes").fit_counts({"X": {"0": 1}}, max_weight=1), "no limits"),
        (lambda: PauliTomography(method="magic").fit(all_labels(1), [1, 0, 0, 0]), "method"),
        (lambda: PauliTomography().fit(all_labels(1), [1, 0, 0]), "4 values"),
        (lambda: PauliTomography().fit(all_labels(1), ["a", 0, 0, 0]), "real numbers"),
        (lambda: PauliTomography().fit(all_labels(1), [1, 0, np.nan, 0]), "row 2.*nan"),
        (lambda: PauliTomography().fit(all_labels(1), [1, 0, 1.7, 0]), "row 2.*1.7 lies outside"),
        (lambda: PauliTomography().fit(all_labels(1), [1, 0, 1.2, 0], stderr=0.01), "row 2"),
        (lambda: PauliTomography().fit(all_labels(1), [1, 0, 0, 0], shots=-5), "shots"),
        (lambda: PauliTomography().fit(all_labels(1), [1, 0, 0, 0], shots=[1, 2]), "4 values"),
        (lambda: PauliTomography().fit(all_labels(1), [1, 0, 0, 0], stderr=-1.0), "standard error"),
        (lambda: PauliTomography().fit(all_labels(1), [1, 0, 1.2, 0], stderr=[1, 1, 0, 1]), "standard error is 0"),
        (
            lambda: PauliTomography(objective="weighted").fit(["X", "Y", "Z"], [1, 0, 0], stderr=0),
            "errors that are all zero",
        ),
        (lambda: PauliTomography(objective="weighted").fit(["X", "Y", "Z"], [1, 0, 0]), "weighted.*neither"),
        (
            lambda: PauliTomography(objective="trace").fit(["X", "Y", "Z"], [1, 0, 0], stderr=0),
            "noise.*that are all zero",
        ),
        (lambda: PauliTomography().fit(["X", "Z"], np.ones((2, 2))), "2 values.*shape"),
        (lambda: PauliTomography().fit(["X", "XX"], [1, 0]), "labels"),
        (lambda: PauliTomography().fit(([1], [0]), [1]), "qubits"),
    ],
)
def test_wrong_input_is_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()


def test_noise_explains_values_a_little_outside():
    estimate = PauliTomography().fit(all_labels(1), [1, 0, 1.2, 0], stderr=0.1)
    assert estimate.expectation("Y") == pytest.approx(1.0, abs=1e-3)


def test_columns_and_rows_of_values_are_vectors():
    values, shots = np.array([0.5, 0.1, 0.2]), np.array([10.0, 20.0, 30.0])
    plain = PauliTomography(threads=1).fit(["X", "Y", "Z"], values, shots).data_
    for shape in ((3, 1), (1, 3)):
        data = PauliTomography(threads=1).fit(["X", "Y", "Z"], values.reshape(shape), shots.reshape(shape)).data_
        np.testing.assert_array_equal(data.expectations, plain.expectations)
        np.testing.assert_array_equal(data.shots, plain.shots)


def test_masks_and_labels_are_the_same_problem():
    paulis = choose_paulis(3, 40, seed=1)
    state = random_pure(3, seed=1)
    values = state.expectations(paulis)
    by_masks = PauliTomography().fit((paulis.x, paulis.z), values, qubits=3)
    by_labels = PauliTomography().fit(by_masks.data_.labels(), values)
    assert by_masks.objective_ == by_labels.objective_
