"""Classical shadows: naive twins, guaranteed intervals, many qubits, and the certified range at small sizes."""

import math

import numpy as np
import pytest

from unipd.apps.tomography import (
    PauliTomography,
    QuantumState,
    Shadow,
    UnevenBases,
    all_bases,
    ghz,
    outcome_probabilities,
    random_mixed,
    random_pure,
    read_terms,
    simulate_counts,
)
from unipd.errors import InvalidInput


def draw(state, shots, seed=0):
    """Return random bases and one outcome in each."""
    rng = np.random.default_rng(seed)
    bases = ["".join(row) for row in np.array(list("XYZ"))[rng.integers(0, 3, (shots, state.qubits))]]
    known = {basis: outcome_probabilities(state, basis) for basis in set(bases)}
    return bases, [format(rng.choice(1 << state.qubits, p=known[basis]), f"0{state.qubits}b") for basis in bases]


def draw_bell_pairs(pairs, shots, seed=0):
    """Return bases and outcomes of (|00> + |11>) / sqrt 2 on the qubits 2 k and 2 k + 1, pair by pair."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("XYZ"))[rng.integers(0, 3, (shots, 2 * pairs))]
    bits = rng.integers(0, 2, letters.shape)
    first, second = letters[:, ::2], letters[:, 1::2]
    equal = first == second  # XX and ZZ are 1, YY is -1
    bits[:, 1::2] = np.where(equal, bits[:, ::2] ^ (first == "Y"), bits[:, 1::2])
    return ["".join(row) for row in letters], bits


def naive_sums(bases, words, label):
    """Return the number of matching shots and the sum of their signs, character by character."""
    matches = signs = 0
    for basis, word in zip(bases, words, strict=True):
        if all(letter in ("I", other) for letter, other in zip(label, basis, strict=True)):
            matches += 1
            signs += (-1) ** sum(bit == "1" for bit, letter in zip(word, label, strict=True) if letter != "I")
    return matches, signs


@pytest.mark.parametrize("batches", [2, 7])
def test_sums_match_the_naive_reference(batches):
    bases, words = draw(random_mixed(3, 2, 1), 301)
    shadow = Shadow(bases, words)
    for label in ("XII", "IYZ", "ZZX"):
        matches, signs = naive_sums(bases, words, label)
        found = shadow.estimate({"a": label}, estimator="matched", batches=batches)["a"]
        assert (found.value, found.matches) == (pytest.approx(signs / matches), matches)
    batch, means = np.arange(301) * 10 // 301, []
    for number in range(10):
        inside = np.flatnonzero(batch == number)
        sums = naive_sums([bases[i] for i in inside], [words[i] for i in inside], "IYZ")
        means.append(9 * sums[1] / inside.size)
    assert shadow.estimate({"a": "IYZ"}, batches=10)["a"].value == pytest.approx(np.median(means))


def test_counts_and_shots_agree():
    bases, words = draw(ghz(2), 200)
    counts = {}
    for basis, word in zip(bases, words, strict=True):
        counts.setdefault(basis, {}).setdefault(word, 0)
        counts[basis][word] += 1
    for label in ("XX", "ZI", "ZZ"):
        one = Shadow(bases, words).estimate({"a": label}, estimator="matched")["a"]
        other = Shadow.from_counts(counts).estimate({"a": label}, estimator="matched")["a"]
        assert (one.value, one.matches) == (other.value, other.matches)
    assert Shadow.from_counts(counts).draws == len(counts)


def test_intervals_hold_the_truth_and_sums_are_estimated_together():
    truth, observable = random_pure(3, 5), {"XXI": 0.5, "IZZ": -0.25, "ZII": 0.5, "III": 2.0}
    exact, held, errors = truth.expectation(observable), 0, []
    for seed in range(20):
        shadow = Shadow(*draw(truth, 800, seed))
        guaranteed = shadow.estimate({"o": observable})["o"]
        assert guaranteed.low <= exact <= guaranteed.high
        found = shadow.estimate({"o": observable}, estimator="matched")["o"]
        held += found.low <= exact <= found.high
        errors.append((found.value - exact) / found.stderr)
    assert held >= 16
    assert 0.5 < np.std(errors) < 2.0


def test_the_radius_is_that_of_the_theorem():
    bases, words = draw(ghz(2), 4000)
    found = Shadow(bases, words).estimate({"a": "XX", "b": {"ZI": 0.5}}, level=0.9)
    batches = math.ceil(2 * math.log(2 * 2 / 0.1))
    radius = math.sqrt(34 * 9 / (4000 // batches))
    assert found["a"].high - found["a"].value <= min(radius, 1 - found["a"].value) + 1e-12
    assert found["b"].high - found["b"].low == pytest.approx(2 * 0.5 * math.sqrt(34 * 3 / (4000 // batches)), rel=1e-9)


def test_thirty_qubits():
    bases, bits = draw_bell_pairs(15, 60_000)
    shadow = Shadow(bases, bits)
    assert (shadow.qubits, shadow.draws) == (30, 60_000)
    observables = {"xx": "X0 X1", "yy": "Y28 Y29", "none": "Z1 Z2", "sum": {"Z0 Z1": 0.5, "Z2 Z3": 0.5, "X4 X5": 1.0}}
    exact = {"xx": 1.0, "yy": -1.0, "none": 0.0, "sum": 2.0}
    matched = shadow.estimate(observables, estimator="matched")
    assert {name: matched[name].value for name in ("xx", "yy", "sum")} == {"xx": 1.0, "yy": -1.0, "sum": 2.0}
    assert abs(matched["none"].value) < 0.05
    for name, found in shadow.estimate(observables).items():
        assert abs(found.value - exact[name]) < 0.15
        assert found.low <= exact[name] <= found.high


def test_the_certified_range_agrees_at_small_sizes():
    truth = QuantumState([1, 0, 0, 1])
    counts = simulate_counts(truth, all_bases(2), 500, seed=1)
    found = Shadow.from_counts(counts).estimate({"o": {"XX": 0.5, "ZZ": 0.5}}, estimator="matched", batches=9)["o"]
    region = PauliTomography(threads=1).fit_counts(counts).state_range({"XX": 0.5, "ZZ": 0.5})
    assert found.value == pytest.approx(1.0)
    assert region.low <= found.value <= region.high + 1e-9


def test_uneven_bases_are_named():
    shadow = Shadow(["ZZ"] * 100, ["00"] * 100)
    with pytest.warns(UnevenBases, match="matched"):
        shadow.estimate({"a": "ZZ"})
    with pytest.raises(InvalidInput, match="XX, which none does"):
        shadow.estimate({"a": "XX"}, estimator="matched")


def test_the_error_of_a_string_that_one_basis_measures():
    truth, held, errors = random_pure(2, 3), 0, []
    exact = truth.expectation("ZZ")
    for seed in range(40):
        counts = simulate_counts(truth, all_bases(2), 500, seed=seed)
        found = Shadow.from_counts(counts).estimate({"a": "ZZ"}, estimator="matched")["a"]
        held += found.low <= exact <= found.high
        errors.append(found.stderr)
    assert held >= 34
    assert np.mean(errors) == pytest.approx(math.sqrt((1.0 - exact**2) / 500), rel=0.1)


def test_a_string_that_no_shot_matches_has_no_finite_error():
    bases, bits = draw_bell_pairs(10, 200)
    found = Shadow(bases, bits).estimate({"high": "Z" * 20, "sum": {"Z" * 20: 0.5, "Z0 Z1": 1.0}, "pair": "Z0 Z1"})
    assert (found["high"].matches, found["high"].stderr, found["sum"].stderr) == (0, math.inf, math.inf)
    assert (found["high"].low, found["high"].high) == (-1.0, 1.0)
    assert 0.0 < found["pair"].stderr < 1.0
    single = Shadow(["ZZ", *["XX"] * 30], ["00"] * 31).estimate({"a": "ZZ"}, estimator="matched")["a"]
    assert (single.value, single.stderr, single.low, single.high, single.matches) == (1.0, math.inf, -1.0, 1.0, 1)


def test_observables_of_qiskit():
    information = pytest.importorskip("qiskit.quantum_info")
    labels, numbers = read_terms(information.SparsePauliOp(["XYZ", "IIZ"], [0.5, 2.0]), 3)
    assert (labels, numbers.tolist()) == (["XYZ", "IIZ"], [0.5, 2.0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Shadow(["XI"], ["00"]), "letters X, Y, Z"),
        (lambda: Shadow(5, ["00"]), "for every shot, got 5"),
        (lambda: Shadow(["XX"], 5), "0 and 1 of shape"),
        (lambda: Shadow(["XX"], ["02"]), "bit-strings of 2 bits"),
        (lambda: Shadow(["XX"], [[0, 2]]), "expected 0 and 1, got 2"),
        (lambda: Shadow(["XX"], [[0, 1, 1]]), r"shape \(1, 2\), got shape \(1, 3\)"),
        (lambda: Shadow.from_counts({}), "got an empty one"),
        (lambda: Shadow([], []), "none"),
        (lambda: Shadow(["XX", "ZZ"], ["00", "00"], [1, 0]), "increasing"),
        (lambda: Shadow(["XX"] * 9, ["00"] * 9).estimate({"a": "XX"}, batches=12), "at least"),
        (lambda: Shadow(["XX"] * 9, ["00"] * 9).estimate({"a": "XXX"}, estimator="matched"), "2 letters"),
        (lambda: Shadow(["XX"] * 9, ["00"] * 9).estimate({"a": "X7"}, estimator="matched"), "qubits below 2"),
        (lambda: Shadow(["XX"] * 9, ["00"] * 9).estimate({"a": {"XX": 1j}}, estimator="matched"), "real"),
        (lambda: Shadow(["XX"] * 9, ["00"] * 9).estimate({"a": "XX"}, level=1.0), "level"),
        (lambda: Shadow.from_counts({"XX": {"00": 0.5}}), "whole numbers"),
        (lambda: Shadow.from_counts([]), "mapping"),
    ],
)
def test_wrong_shots_and_observables_are_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
