"""Counts in local bases and the Pauli estimates they give."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.apps.tomography import (
    Noise,
    QuantumState,
    all_bases,
    all_signed_sums,
    as_counts,
    estimate_paulis,
    ghz,
    histogram_of,
    outcome_probabilities,
    pool_estimates,
    random_bases,
    random_mixed,
    simulate_counts,
    supports_by_weight,
)
from unipd.errors import InvalidInput
from unipd.maps.pauli import OutcomeMap, walsh_hadamard

from . import naive


def naive_estimates(counts):
    """Sum of signs and shots of every string, by dictionaries and characters."""
    sums, shots = defaultdict(float), defaultdict(float)
    for basis, outcomes in counts.items():
        for mask in range(1, 2 ** len(basis)):
            bits = format(mask, f"0{len(basis)}b")
            label = "".join(letter if bit == "1" else "I" for letter, bit in zip(basis, bits, strict=True))
            for outcome, count in outcomes.items():
                odd = sum(o == b == "1" for o, b in zip(outcome, bits, strict=True)) % 2
                sums[label] += -count if odd else count
                shots[label] += count
    return sums, shots


@st.composite
def random_counts(draw):
    qubits = draw(st.integers(1, 4))
    bases = draw(st.lists(st.text("XYZ", min_size=qubits, max_size=qubits), min_size=1, max_size=6, unique=True))
    bits = st.text("01", min_size=qubits, max_size=qubits)
    return {basis: draw(st.dictionaries(bits, st.integers(1, 50), min_size=1, max_size=5)) for basis in bases}


@given(random_counts())
@settings(max_examples=60)
def test_estimates_match_the_naive_reference(counts):
    data = estimate_paulis(as_counts(counts))
    sums, shots = naive_estimates(counts)
    assert set(data.labels()) == set(sums)
    for label, value, number in zip(data.labels(), data.expectations, data.shots, strict=True):
        assert value == pytest.approx(sums[label] / shots[label])
        assert number == shots[label]


@given(random_counts())
@settings(max_examples=30)
def test_the_outcome_map_pools_the_same_estimates(counts):
    parts = as_counts(counts)
    pooled = pool_estimates(OutcomeMap(list(counts), "double"), histogram_of(parts))
    direct = estimate_paulis(parts)
    known = dict(zip(pooled.labels(), pooled.expectations, strict=True))
    assert known.pop("I" * len(parts[0].basis)) == 1.0
    assert known == pytest.approx(dict(zip(direct.labels(), direct.expectations, strict=True)))


@given(st.integers(1, 3), st.integers(0, 100))
@settings(max_examples=20)
def test_probabilities_match_projectors_and_the_outcome_map_is_its_own_adjoint(qubits, seed):
    state = random_mixed(qubits, min(2, qubits), seed)
    bases = random_bases(qubits, 4, seed)
    expected = np.concatenate([naive.probabilities(naive.density(state), basis) for basis in bases])
    found = np.concatenate([outcome_probabilities(state, basis) for basis in bases])
    np.testing.assert_allclose(found, expected, atol=1e-12)
    measured = OutcomeMap(bases, "double")
    np.testing.assert_allclose(measured.image(state.low_rank), expected, atol=1e-12)
    dual = np.random.default_rng(seed).standard_normal(expected.size)
    paired = np.trace(measured.adjoint(dual).toarray() @ naive.density(state)).real
    assert paired == pytest.approx(float(dual @ expected))


def test_limits_keep_the_lowest_weights():
    counts = as_counts(simulate_counts(ghz(4), all_bases(4)[:20], 50, seed=1))
    weights = [len(label.replace("I", "")) for label in estimate_paulis(counts, max_weight=2).labels()]
    assert max(weights) == 2
    every = estimate_paulis(counts)
    few = estimate_paulis(counts, max_paulis=10)
    assert few.size == 10
    lightest = sorted(len(label.replace("I", "")) for label in every.labels())[:10]
    assert sorted(len(label.replace("I", "")) for label in few.labels()) == lightest


def test_many_qubits_are_limited_by_number():
    outcomes = {"0" * 24: 3, "1" * 24: 1}
    data = estimate_paulis(as_counts({"Z" * 24: outcomes}), max_paulis=300)
    assert data.size == 300
    assert {len(label.replace("I", "")) for label in data.labels()} == {1, 2}
    even = np.array([len(label.replace("I", "")) % 2 == 0 for label in data.labels()])
    np.testing.assert_allclose(data.expectations, np.where(even, 1.0, 0.5))


def test_supports_are_sorted_by_weight():
    masks = supports_by_weight(5, 3)
    weights = [int(mask).bit_count() for mask in masks]
    assert weights == sorted(weights)
    assert len(set(masks.tolist())) == masks.size == 5 + 10 + 10
    assert supports_by_weight(3, 3).size == 7


@given(st.integers(1, 5), st.integers(0, 50))
@settings(max_examples=20)
def test_both_ways_of_summing_signs_agree(qubits, seed):
    rng = np.random.default_rng(seed)
    outcomes, counts = np.arange(1 << qubits), rng.integers(0, 9, 1 << qubits)
    signs = np.array([[1 - 2 * ((i & j).bit_count() % 2) for j in range(1 << qubits)] for i in range(1 << qubits)])
    np.testing.assert_allclose(walsh_hadamard(counts.astype(float)), signs @ counts)
    few = np.array([1, (1 << qubits) - 1])
    np.testing.assert_allclose(all_signed_sums(qubits, outcomes[:1], counts[:1], few), (signs * counts)[few][:, 0])


def test_readout_and_depolarizing_noise_damp_the_counts():
    noise = Noise(depolarizing=0.2, readout=0.1)
    probabilities = outcome_probabilities(ghz(2), "ZZ", noise)
    parity = probabilities @ [1, -1, -1, 1]
    assert parity == pytest.approx(0.8 * 0.8**2)


def test_simulated_counts_are_seeded_and_complete():
    one = simulate_counts(ghz(3), ["XXX", "ZZZ"], 100, seed=5)
    assert one == simulate_counts(ghz(3), ["XXX", "ZZZ"], 100, seed=5)
    assert all(sum(outcomes.values()) == 100 for outcomes in one.values())
    assert set(one["ZZZ"]) == {"000", "111"}
    assert all(word.count("1") % 2 == 0 for word in one["XXX"])


def test_the_rightmost_bit_is_qubit_0():
    excited = np.zeros(4)
    excited[1] = 1.0
    counts = simulate_counts(QuantumState(excited), ["ZZ"], 10)
    assert counts == {"ZZ": {"01": 10}}
    data = estimate_paulis(as_counts(counts))
    assert dict(zip(data.labels(), data.expectations, strict=True)) == {"IZ": -1.0, "ZI": 1.0, "ZZ": -1.0}


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({}, "mapping of basis"),
        (None, "mapping of basis"),
        ({}, "got an empty one"),
        ({"XX": {"0": 1}}, "bit-strings of 2 bits.*'0'"),
        ({"XX": {"000": 1}}, "bit-strings of 2 bits"),
        ({"XX": {"02": 1}}, "bit-strings"),
        ({"XX": {"00": -1}}, "at least one shot"),
        ({"XX": {"00": 0.75, "11": 0.25}}, "multiply frequencies by the shots"),
        ({"XX": {"00": np.inf}}, "finite"),
        ({"XX": {"00": "5"}}, "numbers"),
        ({"XX": {"00": 0}}, "at least one shot"),
        ({"XX": {}}, "at least one shot"),
        ({"II": {"": 1}}, "bases of 2 letters X, Y, Z"),
        ({"XI": {"000": 1}}, "bit-strings of 1 bits"),
        ({"XI": {"0x1": 1}}, "bit-strings of 1 bits"),
        ({"XA": {"00": 1}}, "letters X, Y, Z"),
        ({"XX": {"00": 1}, "XYZ": {"000": 1}}, "bases of 2 letters"),
        ({5: {"00": 1}}, "bases of 1 letters"),
        ({"XX": {"0x4": 1}}, "bit-strings of 2 bits.*'0x4'"),
        ({"XX": {"0x": 1}}, "bit-strings of 2 bits"),
        ({"XX": {"0x3": 1, "11": 2}}, "every outcome once, got 11 twice"),
        ({"XX": [1, 2]}, "BitArray or PubResult, got list"),
    ],
)
def test_wrong_counts_are_refused(counts, words):
    with pytest.raises(InvalidInput, match=words):
        as_counts(counts)


def test_registers_with_spaces_are_joined():
    assert as_counts({"XZY": {"0 11": 2}})[0].outcomes.tolist() == [3]


def test_hexadecimal_outcomes_are_bit_strings():
    words = {"0x0": 3, "0X2": 4, "0x0007": 5, "0 01": 6}
    assert as_counts({"XZY": words})[0].outcomes.tolist() == [0, 2, 7, 1]


def test_wrong_bases_are_refused():
    with pytest.raises(InvalidInput, match="bases of 2 letters"):
        simulate_counts(ghz(2), ["XXX"], 10)
