"""Measurements given as operators, and of some of the qubits only: compared with dense matrices."""

from functools import reduce

import numpy as np
import pytest

from unipd.apps.tomography import (
    MeasurementWarning,
    PauliTomography,
    QuasiCounts,
    all_bases,
    as_counts,
    estimate_paulis,
    ghz,
    pauli6_povm,
    random_mixed,
    random_pure,
    sic_povm,
    simulate_counts,
)
from unipd.errors import InvalidInput
from unipd.maps.pauli import OutcomeMap

from . import naive


def sample(operators, state, shots, seed=0):
    """Return counts by index of the outcomes of dense operators."""
    chances = np.array([np.trace(operator @ naive.density(state)).real for operator in operators])
    return np.random.default_rng(seed).multinomial(shots, np.maximum(chances, 0) / chances.sum())


def products(parts):
    """Return the operators of a product of POVMs, the first for the leftmost qubit, with their keys."""
    keys = [""]
    operators = [np.eye(1)]
    for part in parts:
        keys = [key + str(outcome) for key in keys for outcome in range(len(part))]
        operators = [np.kron(operator, effect) for operator in operators for effect in part]
    return keys, operators


def mutually_unbiased_bases():
    """Return the five bases of two qubits as projectors, from the eigenvectors of commuting strings."""
    sets = [("ZI", "IZ"), ("XI", "IX"), ("YI", "IY"), ("XY", "YZ"), ("YX", "ZY")]
    found = {}
    for number, (first, second) in enumerate(sets):
        one, other, unit = naive.pauli(first), naive.pauli(second), np.eye(4)
        signs = [(a, b) for a in (1, -1) for b in (1, -1)]
        found[str(number)] = np.array([(unit + a * one) @ (unit + b * other) / 4 for a, b in signs])
    return found


@pytest.mark.parametrize("povm", ["sic", "pauli-6", [sic_povm(), pauli6_povm()]])
def test_probabilities_are_those_of_dense_operators(povm):
    state = random_mixed(2, 3, 1)
    single = (
        [sic_povm(), pauli6_povm()]
        if isinstance(povm, list)
        else [{"sic": sic_povm(), "pauli-6": pauli6_povm()}[povm]] * 2
    )
    keys, operators = products(single[::-1])
    parts = as_counts(dict.fromkeys(keys, 1), povm)
    measured = OutcomeMap([parts[0].measurement], "double")
    expected = [np.trace(operator @ naive.density(state)).real for operator in operators]
    np.testing.assert_allclose(measured.image(state.low_rank), expected, atol=1e-12)
    np.testing.assert_array_equal(parts[0].outcomes, np.arange(len(keys)))
    dual = np.random.default_rng(0).standard_normal(len(keys))
    weighted = sum(number * operator for number, operator in zip(dual, operators, strict=True))
    np.testing.assert_allclose(measured.adjoint(dual).toarray(), weighted, atol=1e-12)


@pytest.mark.parametrize("povm", ["sic", "pauli-6"])
def test_a_povm_on_every_qubit_gives_the_state(povm):
    truth = random_mixed(2, 2, 3)
    single = sic_povm() if povm == "sic" else pauli6_povm()
    keys, operators = products([single, single])
    counts = dict(zip(keys, map(int, sample(operators, truth, 200_000)), strict=True))
    estimate = PauliTomography(threads=1).fit_counts(counts, povm=povm)
    assert (estimate.objective_name_, estimate.result_.extras["outcomes"]) == ("likelihood", len(keys))
    assert estimate.fidelity(truth) > 0.995
    as_operators = PauliTomography(threads=1).fit_counts({"a": counts}, povm=single)
    assert as_operators.objective_ == pytest.approx(estimate.objective_, abs=0.01)
    joint = {number: count for number, count in enumerate(counts.values()) if count}
    together = PauliTomography(threads=1).fit_counts(joint, povm=np.array(operators))
    assert together.objective_ == pytest.approx(estimate.objective_, abs=0.02)
    low, high = estimate.bootstrap(6, target=truth, seed=1).interval("fidelity")
    assert low <= 1.0
    assert high > 0.99


def test_mutually_unbiased_bases_give_the_state():
    truth, bases = random_pure(2, 4), mutually_unbiased_bases()
    counts = {name: dict(enumerate(map(int, sample(part, truth, 20_000)))) for name, part in bases.items()}
    estimate = PauliTomography(threads=1).fit_counts(counts, povm=bases)
    assert estimate.fidelity(truth) > 0.995
    assert estimate.data_.size == 16
    assert 0.3 < estimate.chi_square_per_dof_ < 3 or np.isnan(estimate.chi_square_per_dof_)


def test_settings_are_letters_with_a_povm_each():
    tilted = {"A": naive_axis(1, 0, 1), "B": naive_axis(0, 1, 1), "C": naive_axis(1, 1, 0)}
    truth, counts = random_mixed(2, 2, 5), {}
    for first in "ABC":
        for second in "ABC":
            keys, operators = products([tilted[first], tilted[second]])
            numbers = sample(operators, truth, 20_000, seed=len(counts))
            counts[first + second] = dict(zip(keys, map(int, numbers), strict=True))
    estimate = PauliTomography(threads=1).fit_counts(counts, povm=tilted)
    assert estimate.fidelity(truth) > 0.99
    assert estimate.data_.size == 16  # three tilted axes determine all strings together


def naive_axis(x, y, z):
    length = np.sqrt(x * x + y * y + z * z)
    spin = (x * naive.SINGLE["X"] + y * naive.SINGLE["Y"] + z * naive.SINGLE["Z"]) / length
    return np.array([(np.eye(2) + spin) / 2, (np.eye(2) - spin) / 2])


def test_operators_that_determine_no_string_still_have_a_likelihood():
    rng = np.random.default_rng(2)
    basis = np.linalg.qr(rng.standard_normal((4, 4)) + 1j * rng.standard_normal((4, 4)))[0]
    projectors = np.array([np.outer(v, v.conj()) for v in basis.T])
    counts = dict(enumerate(map(int, sample(projectors, ghz(2), 1000))))
    with pytest.warns(MeasurementWarning, match="3 distinct Pauli measurements"):
        estimate = PauliTomography(threads=1, objective="likelihood").fit_counts(counts, povm=projectors)
    assert estimate.data_.labels() == ["II"]
    assert estimate.objective_ < 0.05  # every distribution over one basis is attained


@pytest.mark.parametrize(
    ("counts", "povm", "words"),
    [
        ({"04": 5}, "sic", "a digit for each qubit"),
        ({"0": 5}, "tetrahedron", "povm"),
        ({"0": 5}, 2.0 * sic_povm(), "sum to the identity"),
        ({"0": 5}, [[[0.5, 0.5], [0.0, 0.5]]], "Hermitian"),
        ({"0": 5}, [[[1.5, 0.0], [0.0, 0.5]], [[-0.5, 0.0], [0.0, 0.5]]], "positive"),
        ({"0": 5}, np.eye(3)[None], "shape"),
        ({"AB": {"00": 5}}, {"A": "sic"}, "each of its letters"),
        ({5: 5}, np.eye(4)[:, None] * np.eye(4)[:, :, None], "a number below 4"),
        ({"a": {"00": 1}, "b": {"000": 1}}, "sic", "outcomes of 2 qubits"),
        ({"0": 5, "1": 5}, "sic", None),
    ],
)
def test_wrong_operators_and_outcomes_are_refused(counts, povm, words):
    if words is None:
        assert as_counts(counts, povm)[0].size == 4
        return
    with pytest.raises(InvalidInput, match=words):
        as_counts(counts, povm)


def test_a_povm_has_no_readout_errors_and_no_limits():
    counts = {"00": 10, "31": 10}
    with pytest.raises(InvalidInput, match="none with a POVM"):
        PauliTomography().fit_counts(counts, povm="sic", readout=0.1)
    with pytest.raises(InvalidInput, match="counts in local bases"):
        PauliTomography().fit_counts(counts, povm="sic", max_weight=1)


def marginals(state, bases, shots, seed):
    counts = simulate_counts(state, bases, shots, seed=seed)
    assert all(len(word) == sum(letter != "I" for letter in basis) for basis, part in counts.items() for word in part)
    return counts


def test_unmeasured_qubits_are_traced_out():
    state = random_mixed(3, 2, 7)
    bases = ["XIZ", "IYI", "ZZX", "IIX"]
    expected = []
    for basis in bases:
        single = [
            [np.eye(2)] if letter == "I" else [(np.eye(2) + s * naive.SINGLE[letter]) / 2 for s in (1, -1)]
            for letter in basis
        ]
        _, operators = products(single)
        expected += [np.trace(operator @ naive.density(state)).real for operator in operators]
    np.testing.assert_allclose(OutcomeMap(bases, "double").image(state.low_rank), expected, atol=1e-12)


def test_marginal_counts_estimate_their_strings_and_fit():
    truth = ghz(3)
    pairs = (
        [f"{a}{b}I" for a in "XYZ" for b in "XYZ"] + [f"I{a}{b}" for a in "XYZ" for b in "XYZ"] + ["XXX", "ZZZ", "YYX"]
    )
    counts = marginals(truth, pairs, 2000, 1)
    data = estimate_paulis(as_counts(counts))
    known = dict(zip(data.labels(), data.expectations, strict=True))
    assert known["IZZ"] == 1.0
    assert known["XXX"] == 1.0
    assert "ZIZ" in known
    assert "XIY" not in known
    whole = {
        basis: {word[:2] + "01"[n % 2] if basis[2] == "I" else word: c for n, (word, c) in enumerate(part.items())}
        for basis, part in counts.items()
        if basis.endswith("I")
    }
    for basis, part in whole.items():  # a bit for the qubit that was not measured does not count
        assert as_counts({basis: part})[0].counts.tolist() == as_counts({basis: counts[basis]})[0].counts.tolist()
    estimate = PauliTomography(threads=1).fit_counts(counts)
    assert estimate.fidelity(truth) > 0.99
    limited = PauliTomography(threads=1).fit_counts(counts, max_weight=2)
    assert set(limited.data_.labels()) <= set(known)
    errors = estimate.bootstrap(4, target=truth, seed=1)
    assert errors.samples["fidelity"].min() > 0.95


def test_readout_errors_of_the_measured_qubits_enter():
    flips = [[[0.95, 0.1], [0.05, 0.9]], [[0.9, 0.2], [0.1, 0.8]]]
    state = random_mixed(2, 2, 3)
    both = OutcomeMap(["XZ"], "double", confusion=tuple(np.array(flips))).image(state.low_rank).reshape(2, 2)
    first, second = (OutcomeMap([basis], "double", confusion=tuple(np.array(flips))) for basis in ("IZ", "XI"))
    np.testing.assert_allclose(first.image(state.low_rank), both.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(second.image(state.low_rank), both.sum(axis=1), atol=1e-12)
    with pytest.raises(InvalidInput, match="a matrix for each qubit"):
        PauliTomography().fit_counts({"XI": {"0": 5}}, readout=np.eye(4))


def test_quasi_counts_of_marginals_are_fitted_by_least_squares():
    counts = {
        basis: {key: value + 0.25 for key, value in part.items()}
        for basis, part in simulate_counts(ghz(2), [*all_bases(2), "ZI"], 500, seed=1).items()
    }
    with pytest.warns(QuasiCounts):
        estimate = PauliTomography(threads=1).fit_counts(counts)
    assert estimate.objective_name_ == "gaussian"
    assert estimate.fidelity(ghz(2)) > 0.97


def test_many_bases_are_one_group():
    measured = OutcomeMap(all_bases(3), "double")
    assert len(measured.groups) == 1
    assert measured.groups[0].is_walsh
    assert reduce(lambda a, b: a * b, measured.groups[0].strings.shape) == 27 * 8
