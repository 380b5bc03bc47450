"""Maximum likelihood from counts: its optimum, its certificate in nats, few and uneven shots, readout errors."""

import numpy as np
import pytest

from unipd import MaxSeconds, Status
from unipd.apps.tomography import (
    Noise,
    PauliTomography,
    QuantumState,
    QuasiCounts,
    UndeterminedState,
    all_bases,
    as_confusion,
    as_counts,
    call_dense_oracle,
    ghz,
    histogram_of,
    outcome_probabilities,
    random_bases,
    random_mixed,
    random_pure,
    sample_bases,
    simulate_counts,
    w_state,
)
from unipd.dual import evaluate
from unipd.errors import FileFormatError, InvalidInput
from unipd.io import read_pauli_data
from unipd.maps.pauli import apply_local

from . import naive


def log_likelihood(state, counts):
    """Multinomial log-likelihood, from the probabilities computed by rotating the state."""
    total = 0.0
    for basis, seen in counts.items():
        probabilities = outcome_probabilities(state, basis)
        total += sum(number * np.log(max(probabilities[int(bits, 2)], 1e-300)) for bits, number in seen.items())
    return total


def r_rho_r(counts, gap=1e-3, steps=20_000):
    """Return the maximum-likelihood density matrix by iterating rho -> R rho R, stopped by lambda_max(R) - S."""
    size = 2 ** len(next(iter(counts)))
    seen = [
        (naive.projectors(basis)[int(bits, 2)], number)
        for basis, part in counts.items()
        for bits, number in part.items()
    ]
    operators = np.array([operator for operator, _ in seen]).reshape(-1, size * size)
    numbers = np.array([number for _, number in seen], float)
    rho = np.eye(size, dtype=complex) / size
    for _ in range(steps):
        chances = (operators @ rho.T.reshape(-1)).real
        gradient = (operators.T @ (numbers / chances)).reshape(size, size)
        if np.linalg.eigvalsh(gradient)[-1] - numbers.sum() <= gap:
            break
        rho = gradient @ rho @ gradient
        rho /= np.trace(rho).real
    return rho


def trace_distance(state, matrix):
    return 0.5 * np.abs(np.linalg.eigvalsh(naive.density(state) - matrix)).sum()


@pytest.mark.parametrize("truth", [random_pure(2, 1), random_mixed(2, 2, 2), random_mixed(2, 4, 3), ghz(2)])
@pytest.mark.parametrize("shots", [1, 8, 300])
def test_the_estimate_is_that_of_r_rho_r(truth, shots):
    counts = simulate_counts(truth, all_bases(2), shots, seed=shots)
    estimate = PauliTomography(threads=1, accuracy=1e-4).fit_counts(counts)
    assert estimate.objective_name_ == "likelihood"
    assert estimate.result_.status is Status.SOLVED
    assert estimate.result_.objective - estimate.result_.dual_bound == estimate.gap_ <= 1e-4
    reference = QuantumState(*reversed_eigh(r_rho_r(counts)))
    assert log_likelihood(estimate.state_, counts) >= log_likelihood(reference, counts) - 1e-4


def reversed_eigh(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return vectors[:, ::-1], np.maximum(values[::-1], 0.0)


@pytest.mark.parametrize("kind", ["pure", "rank2", "full", "ghz"])
def test_few_shots_are_no_worse_than_r_rho_r(kind):
    ratios = []
    for seed in range(3):
        truth = {
            "pure": random_pure(3, seed),
            "rank2": random_mixed(3, 2, seed),
            "full": random_mixed(3, 8, seed),
            "ghz": ghz(3),
        }[kind]
        counts = simulate_counts(truth, all_bases(3), 64, seed=seed)
        estimate = PauliTomography(threads=1).fit_counts(counts)
        exact = naive.density(truth)
        ratios.append(
            trace_distance(estimate.state_, exact)
            / trace_distance(QuantumState(*reversed_eigh(r_rho_r(counts, 0.01))), exact)
        )
    assert np.mean(ratios) <= 1.02


def test_the_objective_is_half_the_deviance():
    counts = simulate_counts(random_mixed(2, 3, 1), all_bases(2), 50, seed=1)
    estimate = PauliTomography(threads=1).fit_counts(counts)
    saturated = sum(n * np.log(n / 50) for part in counts.values() for n in part.values())
    assert estimate.objective_ == pytest.approx(saturated - log_likelihood(estimate.state_, counts), rel=1e-9)


def test_one_poor_basis_does_not_change_the_fit():
    """W state, 81 bases with 4,000 shots; one of them cut to 200."""
    truth, bases = w_state(4), all_bases(4)
    errors = {"whole": [], "poor": [], "left out": []}
    for seed in range(3):
        whole = simulate_counts(truth, bases, 4000, seed=seed)
        poor = {**whole, bases[40]: simulate_counts(truth, [bases[40]], 200, seed=seed)[bases[40]]}
        rest = {basis: part for basis, part in whole.items() if basis != bases[40]}
        for name, counts in (("whole", whole), ("poor", poor), ("left out", rest)):
            errors[name].append(1 - PauliTomography(threads=1).fit_counts(counts).fidelity(truth))
    assert np.mean(errors["poor"]) < 1.3 * np.mean(errors["whole"]) < 1e-4
    assert np.mean(errors["poor"]) < 1.3 * np.mean(errors["left out"])


def test_no_number_of_shots_switches_the_objective():
    found = [
        PauliTomography(threads=1).fit_counts(simulate_counts(random_pure(4, 2), all_bases(4), shots, seed=3))
        for shots in (1, 255, 257, 3000)
    ]
    assert [estimate.objective_name_ for estimate in found] == ["likelihood"] * 4
    assert [estimate.result_.status for estimate in found] == [Status.SOLVED] * 4
    errors = [1 - estimate.fidelity(random_pure(4, 2)) for estimate in found]
    assert errors[1] == pytest.approx(errors[2], rel=0.5)
    assert errors[3] < errors[2] < errors[0]


def test_the_accuracy_of_counts_is_in_nats_by_default():
    counts = simulate_counts(random_mixed(3, 2, 4), all_bases(3), 100_000, seed=5)
    estimate = PauliTomography(threads=1).fit_counts(counts)
    finer = PauliTomography(threads=1, accuracy=1e-5).fit_counts(counts)
    assert (estimate.result_.accuracy, estimate.result_.status) == (0.01, Status.SOLVED)
    assert finer.objective_ - 1e-9 <= estimate.objective_ <= finer.objective_ + 0.01
    assert estimate.dual_bound_ <= finer.objective_


def test_chi_square_is_near_its_degrees_of_freedom():
    ratios = []
    for seed in range(5):
        counts = simulate_counts(random_mixed(3, 8, seed), all_bases(3), 500, seed=seed)
        figures = PauliTomography(threads=1).fit_counts(counts).summary()
        assert figures["outcomes"] == 27 * 8
        ratios.append(figures["chi_square_per_dof"])
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.15)
    wrong = simulate_counts(random_mixed(3, 8, 1), all_bases(3), 500, noise=Noise(readout=0.2), seed=1)
    wrong["XXX"] = simulate_counts(ghz(3), ["ZZZ"], 500, seed=1)["ZZZ"]
    assert PauliTomography(threads=1).fit_counts(wrong).chi_square_per_dof_ > 2


def test_residuals_name_the_wrong_basis():
    counts = simulate_counts(random_mixed(3, 8, 1), all_bases(3), 500, seed=1)
    counts["XYZ"] = simulate_counts(ghz(3), ["ZZZ"], 500, seed=1)["ZZZ"]
    found = PauliTomography(threads=1).fit_counts(counts).fit_.residuals_by_basis()
    residuals = dict(zip(found["bases"], found["residuals"], strict=True))
    assert max(residuals, key=residuals.get) == "XYZ"
    assert residuals.pop("XYZ") > 3
    assert 0.5 < np.median(list(residuals.values())) < 1.5
    exact = PauliTomography(threads=1).fit(["X", "Y", "Z"], [0.6, 0.0, 0.0])
    assert exact.fit_.residuals_by_basis() is None


def test_six_qubits_from_few_bases_are_certified():
    counts = simulate_counts(random_mixed(6, 64, 1), random_bases(6, 40, seed=1), 200, seed=2)
    with pytest.warns(UndeterminedState):
        estimate = PauliTomography(threads=1, objective="likelihood").fit_counts(counts)
    assert estimate.result_.status is Status.SOLVED
    assert estimate.gap_ <= 0.01


def test_the_oracle_sees_the_largest_eigenvalue_above_a_cluster():
    """The search by Lanczos may miss it; up to nine qubits the whole matrix is decomposed then."""
    problem = PauliTomography(threads=1).fit_counts(simulate_counts(ghz(3), all_bases(3), 50, seed=1)).result_.problem
    dual = problem.loss.gradient(np.full(problem.b.size, 0.125))
    exact = np.linalg.eigvalsh(-problem.map.adjoint(dual).toarray())[-1]
    rough = evaluate(problem, dual, tolerance=1e3)
    found = call_dense_oracle(problem, dual, rough)
    assert found.value == pytest.approx(exact + np.sum(dual * problem.b), abs=1e-9 * abs(exact))
    assert call_dense_oracle(problem, dual, rough, most=4) is rough


JOINT = np.kron([[0.95, 0.1], [0.05, 0.9]], [[0.97, 0.02], [0.03, 0.98]])


@pytest.mark.parametrize(
    ("readout", "qubits"),
    [
        (0.08, 3),
        ([[0.95, 0.12], [0.05, 0.88]], 3),
        ([[[0.95, 0.1], [0.05, 0.9]], [[0.9, 0.2], [0.1, 0.8]], [[1.0, 0.0], [0.0, 1.0]]], 3),
        (JOINT, 2),
    ],
)
def test_readout_errors_become_part_of_the_measurement(readout, qubits):
    truth, confusion = random_mixed(qubits, 2, 6), as_confusion(readout, qubits)
    parts = list(
        sample_bases(truth, all_bases(qubits), [20_000] * 3**qubits, np.random.default_rng(1), None, confusion)
    )
    corrected = PauliTomography(threads=1).fit_counts(parts, readout=readout)
    plain = PauliTomography(threads=1).fit_counts(parts)
    assert 1 - corrected.fidelity(truth) < min(0.01, 0.5 * (1 - plain.fidelity(truth)))
    assert corrected.chi_square_per_dof_ == pytest.approx(1.0, abs=0.4)
    assert corrected.relative_residual_ < 0.01
    errors = corrected.bootstrap(4, target=truth, seed=1)
    assert errors.samples["fidelity"].min() > 0.98


def test_a_joint_confusion_matrix_orders_outcomes_as_bit_strings():
    pairs = as_confusion([[[0.97, 0.02], [0.03, 0.98]], [[0.95, 0.1], [0.05, 0.9]]], 2)
    histogram = np.random.default_rng(0).uniform(size=(3, 4))
    np.testing.assert_allclose(apply_local(histogram, pairs), apply_local(histogram, as_confusion(JOINT, 2)))


@pytest.mark.parametrize(
    ("readout", "words"),
    [
        ([[0.9, 0.2], [0.2, 0.8]], "columns"),
        ([[1.1, 0.0], [-0.1, 1.0]], "columns"),
        (0.5, "invertible"),
        (np.eye(3), "shape"),
        ("noise", "readout"),
    ],
)
def test_wrong_readout_errors_are_refused(readout, words):
    counts = simulate_counts(ghz(2), all_bases(2), 10, seed=1)
    with pytest.raises(InvalidInput, match=words):
        PauliTomography().fit_counts(counts, readout=readout)
    with pytest.raises(InvalidInput, match="readout"):
        PauliTomography().fit_counts(counts, readout=0.1, max_weight=1)


def test_quasi_counts_are_fitted_with_gaussian_weights():
    truth, confusion = random_pure(3, 7), as_confusion(0.06, 3)
    parts = list(sample_bases(truth, all_bases(3), [5000] * 27, np.random.default_rng(2), None, confusion))
    inverse = tuple(np.linalg.inv(matrix) for matrix in confusion)
    corrected = apply_local(histogram_of(parts).counts.reshape(27, 8), inverse)
    quasi = {
        part.basis: {format(i, "03b"): float(n) for i, n in enumerate(row)}
        for part, row in zip(parts, corrected, strict=True)
    }
    assert min(min(part.values()) for part in quasi.values()) < 0
    with pytest.warns(QuasiCounts, match="no likelihood"):
        estimate = PauliTomography(threads=1).fit_counts(quasi)
    assert estimate.objective_name_ == "gaussian"
    assert estimate.fidelity(truth) > 0.98
    assert "chi_square_per_dof" in estimate.summary()
    with pytest.warns(QuasiCounts), pytest.raises(InvalidInput, match="quasi-counts"):
        PauliTomography(objective="likelihood").fit_counts(quasi)
    with pytest.warns(QuasiCounts):
        assert PauliTomography(threads=1).fit_counts(quasi, max_weight=3).objective_name_ == "weighted"


def test_whole_numbers_stay_counts():
    (part,) = as_counts({"X": {"0": 3.0, "1": np.int64(5)}})
    assert not part.is_quasi
    assert part.counts.dtype.kind == "i"


def test_counts_are_read_from_tables(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("basis;outcome;count\nXZ;00;480\nXZ;11;520\nZZ;01;2.5\n")
    assert read_pauli_data(path) == {"XZ": {"00": 480, "11": 520}, "ZZ": {"01": 2.5}}
    for rows, words in (("XZ,00,5\nXZ,00,6", "occurs twice"), ("XZ,00,many", "expected a number"), ("", "no counts")):
        path.write_text(f"basis,outcome,count\n{rows}\n")
        with pytest.raises(FileFormatError, match=words):
            read_pauli_data(path)


def test_depolarizing_a_likelihood_fit_costs_its_share():
    counts = simulate_counts(ghz(3), all_bases(3), 1000, noise=Noise(depolarizing=0.05), seed=1)
    plain = PauliTomography(threads=1).fit_counts(counts)
    moved = PauliTomography(threads=1, depolarize=1e-2).fit_counts(counts)
    assert plain.objective_ < moved.objective_ <= 1.0101 * plain.objective_
    assert (moved.state_.rank, moved.result_.status) == (8, Status.SOLVED)


def test_a_time_limit_leaves_a_bound_made_at_the_limit():
    counts = simulate_counts(random_mixed(5, 32, 1), all_bases(5), 1000, seed=1)
    cut = PauliTomography(threads=1, stop=MaxSeconds(1e-3)).fit_counts(counts)
    assert cut.result_.status is Status.TIME_LIMIT
    assert np.isfinite(cut.dual_bound_)
    whole = PauliTomography(threads=1).fit_counts(counts)
    assert cut.dual_bound_ <= whole.objective_ <= cut.objective_
