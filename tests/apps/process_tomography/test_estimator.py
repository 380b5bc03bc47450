"""Process tomography against convex solvers, known channels and the definition of the bound."""

import warnings

import cvxpy as cp
import numpy as np
import pytest

import unipd
from unipd.apps.process_tomography import (
    ProcessTomography,
    UndeterminedChannel,
    all_preparations,
    as_channel,
    basis_effects,
    counts_data,
    expectation_data,
    make_channel,
    noisy_channel,
    prepared_state,
    process_problem,
    random_channel,
    random_unitary,
    simulate_process,
)
from unipd.apps.tomography import QuantumState, all_bases, random_bases, simulate_counts
from unipd.errors import InvalidInput, UnipdError

PAULIS = {"X": [[0, 1], [1, 0]], "Y": [[0, -1j], [1j, 0]], "Z": [[1, 0], [0, -1]], "I": [[1, 0], [0, 1]]}


def pauli(label):
    """Return the matrix of a string by Kronecker products."""
    total = np.eye(1)
    for letter in label:
        total = np.kron(total, np.array(PAULIS[letter]))
    return total


def exact_values(channel, preparations, strings):
    """Return tr(P E(rho)) for every pair, with the pairs."""
    pairs = [(label, string) for label in preparations for string in strings]
    return pairs, np.array([np.trace(pauli(s) @ channel.apply(prepared_state(p))).real for p, s in pairs])


def strings_of(qubits):
    """Return all Pauli strings but the identity."""
    strings = [""]
    for _ in range(qubits):
        strings = [head + letter for head in strings for letter in "IXYZ"]
    return strings[1:]


def fit_by_cvxpy(data, trace="preserving"):
    """Return the optimal value of the fit by Clarabel, with operators formed one by one."""
    inputs, outputs = data.states.shape[1], data.effects.shape[1]
    choi = cp.Variable((inputs * outputs, inputs * outputs), hermitian=True)
    operators = np.array(
        [np.kron(data.states[i].T, data.effects[k]).reshape(-1) for i, k in zip(*data.pairs, strict=False)]
    )
    chances = cp.real(operators.conj() @ cp.vec(choi, order="C"))
    reduced = cp.partial_trace(choi, (inputs, outputs), axis=1)
    slack = np.eye(inputs) - reduced
    constraints = [choi >> 0, slack == 0 if trace == "preserving" else slack >> 0]
    if data.is_counts:
        seen = data.values > 0
        loss = -data.values[seen] @ cp.log(chances[seen])
        if trace != "preserving":
            kept = np.zeros((data.shots.size, data.values.size))
            kept[data.settings, np.arange(data.values.size)] = 1.0
            gone = data.lost > 0
            loss = loss - data.lost[gone] @ cp.log((1 - kept @ chances)[gone])
            constant = np.sum(data.lost[gone] * np.log(data.lost[gone] / data.shots[gone]))
        else:
            constant = 0.0
        constant += np.sum(data.values[seen] * np.log(data.values[seen] / data.row_shots[seen]))
    else:
        weights = np.ones(data.values.size) if data.stderr is None else 1.0 / data.stderr
        loss, constant = 0.5 * cp.sum_squares(cp.multiply(weights, chances - data.values)), 0.0
    unit = data.shots.sum() if data.is_counts else 1.0
    problem = cp.Problem(cp.Minimize(loss / unit), constraints)
    with warnings.catch_warnings():  # of a Hermitian equation half of the rows are redundant: "may be inaccurate"
        warnings.simplefilter("ignore")
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return unit * problem.value + constant


class TestOptimum:
    @pytest.mark.parametrize("name", ["h", "damping", "random"])
    def test_likelihood_of_one_qubit(self, name):
        counts = simulate_process(noisy_channel(make_channel(name, 1), depolarizing=0.05), shots=200, seed=3)
        estimate = ProcessTomography(accuracy=1e-6).fit_counts(counts)
        truth = fit_by_cvxpy(estimate.data_)
        assert estimate.result_.status is unipd.Status.SOLVED
        assert estimate.result_.objective == pytest.approx(truth, abs=1e-5)
        assert estimate.result_.dual_bound <= truth + 1e-5

    def test_least_squares_of_two_qubits(self):
        channel = random_channel(2, 3, seed=1)
        pairs, values = exact_values(channel, all_preparations(2), strings_of(2))
        noisy = values + 0.05 * np.random.default_rng(0).standard_normal(values.size)
        data = expectation_data([p for p, _ in pairs], [s for _, s in pairs], noisy, stderr=0.05)
        estimate = ProcessTomography(accuracy=1e-8).fit_data(data)
        truth = fit_by_cvxpy(data)
        assert estimate.result_.status.success
        assert estimate.result_.objective == pytest.approx(truth, rel=1e-6)
        assert estimate.result_.dual_bound <= truth * (1 + 1e-7)

    def test_lost_shots(self):
        counts = simulate_process(noisy_channel("s", depolarizing=0.1, loss=0.2), shots=300, seed=5)
        estimate = ProcessTomography(trace="nonincreasing", accuracy=1e-6).fit_counts(counts)
        truth = fit_by_cvxpy(estimate.data_, "nonincreasing")
        assert estimate.result_.status.success
        assert estimate.result_.objective == pytest.approx(truth, abs=1e-5)
        kept = np.linalg.eigvalsh(estimate.channel_.input_effect)
        assert 0.7 < kept[0] <= kept[1] <= 1.0 + 1e-9

    def test_bound_holds_at_any_multipliers(self):
        """The bound of every iteration is below the optimum, whatever point it is made at."""
        counts = simulate_process(random_channel(1, 2, seed=2), shots=100, seed=1)
        best = ProcessTomography(accuracy=1e-7).fit_counts(counts).result_.objective
        fits = [ProcessTomography(accuracy=eps).fit_counts(counts).result_ for eps in (100.0, 1.0, 1e-2, 1e-4)]
        bounds = [fit.dual_bound for fit in fits]
        assert max(bounds) <= best
        assert best - bounds[-1] <= 1e-4

    def test_another_method_finds_the_same_optimum(self):
        """The problem is an ordinary one: the factored method solves it with multipliers."""
        data = counts_data(simulate_process(noisy_channel("h", depolarizing=0.2), shots=100, seed=1))
        direct = ProcessTomography(accuracy=1e-4).fit_data(data).result_
        pairs, values = exact_values(noisy_channel("h", depolarizing=0.2), all_preparations(1), "XYZ")
        noisy = values + 0.1 * np.random.default_rng(3).standard_normal(values.size)
        least = expectation_data([p for p, _ in pairs], [s for _, s in pairs], noisy)
        general = unipd.solve(process_problem(least), "factored", accuracy=1e-6)
        own = ProcessTomography(accuracy=1e-8).fit_data(least).result_
        assert direct.status.success
        assert general.status.success
        assert general.objective == pytest.approx(own.objective, abs=2e-6 * general.gap_scale)


class TestRecovery:
    @pytest.mark.parametrize("name", ["cx", "depolarizing", "damping", "dephasing", "unitary", "random"])
    def test_exact_expectations_determine_the_channel(self, name):
        channel = make_channel(name, 2, rank=4, seed=2)
        pairs, values = exact_values(channel, all_preparations(2), strings_of(2))
        estimate = ProcessTomography(accuracy=1e-9).fit([p for p, _ in pairs], [s for _, s in pairs], values)
        assert estimate.result_.status.success
        assert np.abs(estimate.channel_.choi - channel.choi).max() < 1e-4
        assert estimate.channel_.process_fidelity(channel) > 1 - 1e-5

    def test_counts_of_three_qubits(self):
        truth = noisy_channel("ccx", depolarizing=0.04)
        estimate = ProcessTomography().fit_counts(simulate_process(truth, shots=500, seed=0))
        assert estimate.result_.status is unipd.Status.SOLVED
        assert estimate.channel_.is_trace_preserving
        assert abs(estimate.channel_.process_fidelity("ccx") - truth.process_fidelity("ccx")) < 0.015
        assert 0.9 < estimate.result_.extras["chi_square_per_dof"] < 1.2

    def test_ancilla(self):
        channel = random_channel(1, 2, seed=4)
        values, vectors = np.linalg.eigh(channel.choi)
        state = QuantumState(vectors, np.maximum(values, 0.0))  # of ancilla and output, for a Bell pair
        estimate = ProcessTomography().fit_ancilla(simulate_counts(state, all_bases(2), 20000))
        assert np.abs(estimate.channel_.choi - channel.choi).max() < 0.03

    def test_ancilla_of_another_state(self):
        channel, angle = make_channel("damping", 1, strength=0.3), 0.5
        pair = np.array([np.cos(angle), 0, 0, np.sin(angle)])
        blocks = np.outer(pair, pair).reshape(2, 2, 2, 2)
        output = sum(
            np.kron(blocks[:, i, :, j], channel.choi.reshape(2, 2, 2, 2)[i, :, j]) for i in range(2) for j in range(2)
        )
        values, vectors = np.linalg.eigh(output)
        counts = simulate_counts(QuantumState(vectors, np.maximum(values, 0.0)), all_bases(2), 40000)
        estimate = ProcessTomography().fit_ancilla(counts, state=pair)
        assert np.abs(estimate.channel_.choi - channel.choi).max() < 0.03

    def test_lost_shots_with_an_ancilla(self):
        """Every outcome of the ancilla contributes to the probability that a shot is lost."""
        channel, shots = noisy_channel("x", loss=0.3), 1000
        counts = {basis: {"lost": round(0.3 * shots)} for basis in all_bases(2)}
        for basis, outcomes in counts.items():
            projectors = basis_effects(basis)
            expected = np.einsum("kab,ba->k", projectors, channel.choi).real / 2
            outcomes |= {f"{k:02b}": round(shots * value) for k, value in enumerate(expected) if value > 1e-9}
        estimate = ProcessTomography(trace="nonincreasing").fit_ancilla(counts)
        assert estimate.result_.status.success
        assert np.abs(estimate.channel_.choi - channel.choi).max() < 1e-3

    def test_readout_errors_are_folded_in(self):
        counts = simulate_process("cx", shots=4000, readout=0.05, seed=2)
        plain, corrected = (ProcessTomography().fit_counts(counts, readout=errors) for errors in (None, 0.05))
        assert plain.channel_.process_fidelity("cx") < 0.93
        assert corrected.channel_.process_fidelity("cx") > 0.99

    def test_uneven_shots_and_missing_pairs(self):
        counts = simulate_process(noisy_channel("cx", depolarizing=0.02), shots=2000, seed=1)
        keys = list(counts)
        few = {key: counts[key] for number, key in enumerate(keys) if number % 5}
        few[keys[1]] = {"00": 3, "01": 1}
        estimate = ProcessTomography().fit_counts(few)
        assert estimate.result_.status.success
        assert estimate.channel_.process_fidelity("cx") > 0.96


class TestRank:
    def test_local_fit_of_a_unitary(self):
        unitary = random_unitary(4, seed=3)
        counts = simulate_process(noisy_channel(unitary, depolarizing=0.02), shots=300, seed=1)
        limited, free = (ProcessTomography(rank=rank).fit_counts(counts) for rank in (1, None))
        assert limited.channel_.rank == 1
        assert limited.result_.status is unipd.Status.LOCAL
        assert limited.guarantee.startswith("local")
        assert limited.channel_.is_trace_preserving
        assert limited.result_.dual_bound <= free.result_.objective <= limited.result_.objective
        assert limited.channel_.process_fidelity(unitary) > 0.99

    def test_few_settings_determine_a_unitary(self):
        unitary = random_unitary(8, seed=1)
        preparations, bases = all_preparations(3)[::3], random_bases(3, 9, 1)
        counts = simulate_process(unitary, preparations=preparations, bases=bases, shots=500, seed=1)
        estimate = ProcessTomography(rank=1).fit_counts(counts)
        assert estimate.channel_.process_fidelity(unitary) > 0.99

    def test_inputs_that_leave_a_part_of_the_space_unknown(self):
        """The first point of few operators would lose inputs that were never prepared."""
        counts = simulate_process(random_unitary(8, seed=1), preparations=["000", "111", "+++"], shots=200, seed=1)
        with pytest.warns(UndeterminedChannel):
            estimate = ProcessTomography(rank=1).fit_counts({key: counts[key] for key in list(counts)[::20]})
        assert estimate.channel_.is_trace_preserving
        assert estimate.channel_.rank == 1

    def test_enough_operators_are_certified(self):
        channel = make_channel("damping", 1, strength=0.4)
        pairs, values = exact_values(channel, all_preparations(1), "XYZ")
        estimate = ProcessTomography(rank=2, accuracy=1e-8).fit([p for p, _ in pairs], [s for _, s in pairs], values)
        assert estimate.result_.status is unipd.Status.SOLVED
        assert estimate.channel_.rank == 2

    def test_limited_rank_with_losses(self):
        counts = simulate_process(noisy_channel("cx", loss=0.3), shots=1000, seed=1)
        estimate = ProcessTomography(rank=1, trace="nonincreasing").fit_counts(counts)
        assert estimate.channel_.rank == 1
        assert np.linalg.eigvalsh(estimate.channel_.input_effect)[-1] <= 1.0 + 1e-9
        assert estimate.channel_.process_fidelity("cx") == pytest.approx(0.7, abs=0.02)


class TestMessages:
    def test_undetermined_channel(self):
        counts = simulate_process("h", preparations=["0", "1"], shots=100)
        with pytest.warns(UndeterminedChannel, match="input states span 2 of 4"):
            ProcessTomography().fit_counts(counts)

    @pytest.mark.parametrize(
        ("counts", "text"),
        [
            ({}, "a mapping of"),
            ({"Z": {"0": 1}}, "pairs"),
            ({("2", "Z"): {"0": 1}}, "letters 0, 1"),
            ({("0", "Z"): {"00": 1}}, "bit-strings of 1 bits"),
            ({("0", "Z"): {"0": 1}, ("0", "ZZ"): {"00": 1}}, "bases of 1 letters"),
            ({("0", "Z"): {"0": 1}, ("00", "X"): {"0": 1}}, "one number of qubits"),
            ({("0", "Z"): {"0": -1, "1": 5}}, "quasi-counts"),
            ({("0", "Z"): {"0": 1, "lost": 3}}, "nonincreasing"),
        ],
    )
    def test_bad_counts(self, counts, text):
        with pytest.raises(InvalidInput, match=text):
            ProcessTomography().fit_counts(counts)

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ((["0"], ["Q"], [0.5]), "I, X, Y, Z"),
            ((["0"], ["X", "Y"], [0.5, 0.5]), "one for each"),
            ((["0"], ["X"], [0.5], None, 0.0), "positive"),
            ((["0"], ["X"], [0.5], 0), "at least 1"),
        ],
    )
    def test_bad_expectations(self, arguments, text):
        with pytest.raises(InvalidInput, match=text):
            ProcessTomography().fit(*arguments)

    def test_before_a_fit(self):
        with pytest.raises(UnipdError, match="call fit"):
            _ = ProcessTomography().channel_

    def test_size_of_the_target(self):
        estimate = ProcessTomography().fit_counts(simulate_process("h", shots=50))
        with pytest.raises(InvalidInput, match="from dimension 2"):
            estimate.summary(as_channel("cx"))


def test_no_channel_fits_better_than_the_data():
    """The residual of too few Kraus operators proves less than nothing; losses are nonnegative."""
    truth = random_channel(1, 4, seed=2)
    for shots in (300, 20):
        estimate = ProcessTomography(rank=1).fit_counts(simulate_process(truth, shots=shots, seed=1))
        assert estimate.result_.status is unipd.Status.LOCAL
        assert -1e-6 * estimate.result_.objective <= estimate.result_.dual_bound <= estimate.result_.objective
        every = ProcessTomography().fit_counts(simulate_process(truth, shots=shots, seed=1))
        assert estimate.result_.dual_bound <= every.result_.objective
