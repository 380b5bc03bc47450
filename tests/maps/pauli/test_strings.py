"""Labels, masks and random sets of Pauli strings."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unipd.errors import InvalidInput
from unipd.maps.pauli import (
    PauliMap,
    bit_count,
    default_count,
    masks,
    most_repeats,
    parse,
    phases,
    random_paulis,
    write,
)

labels = st.integers(1, 12).flatmap(
    lambda q: st.lists(st.text("IXYZ", min_size=q, max_size=q), min_size=1, max_size=20)
)


@given(labels)
def test_writing_undoes_parsing(words):
    qubits, x, z = parse(words)
    assert qubits == len(words[0])
    assert write(qubits, x, z) == words
    assert PauliMap.from_labels(words[:1]).labels == words[:1]


@given(labels)
def test_phases_count_the_letter_y(words):
    _, x, z = parse(words)
    np.testing.assert_array_equal(phases(x, z), [(-1j) ** word.count("Y") for word in words])


@given(st.lists(st.integers(0, 2**62 - 1), min_size=1))
def test_bit_count(values):
    np.testing.assert_array_equal(bit_count(np.array(values)), [bin(value).count("1") for value in values])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_most_repeats(pairs):
    x, z = np.array(pairs).T
    assert most_repeats(x, z) == max(pairs.count(pair) for pair in pairs)


def test_boolean_masks_have_qubit_zero_first():
    bits = np.array([[True, False, False], [False, True, True]])
    np.testing.assert_array_equal(masks("x", 3, bits), [1, 6])


@pytest.mark.parametrize(
    "words", [[], [""], ["XQ"], ["XX", "X"], ["xx"], ["X X"], [3], ["I" * 29], ["XX", "X\n"], ["X", None]]
)
def test_wrong_labels_are_refused(words):
    with pytest.raises(InvalidInput, match="labels"):
        parse(words)


@pytest.mark.parametrize("value", [[], [[1]], [1.0], [-1], [4], [True, False], "XX", np.ones((2, 3), bool)])
def test_wrong_masks_are_refused(value):
    with pytest.raises(InvalidInput, match="x"):
        masks("x", 2, value)


@pytest.mark.parametrize("qubits", range(1, 8))
def test_default_count_is_the_papers(qubits):
    p = 2**qubits
    assert default_count(qubits) == math.ceil(2 * p * math.log10(p))


def test_default_count_of_the_papers_experiment():
    assert default_count(14) == 138_099


@given(st.integers(1, 5).flatmap(lambda q: st.tuples(st.just(q), st.integers(1, 4**q))), st.integers(0, 1000))
def test_random_strings_are_distinct_sorted_and_repeatable(case, seed):
    qubits, count = case
    x, z = random_paulis(qubits, count, seed)
    number = x * 2**qubits + z
    assert number.size == count
    assert (np.diff(number) > 0).all()
    assert number.min() >= 0
    assert number.max() < 4**qubits
    again = random_paulis(qubits, count, seed)
    np.testing.assert_array_equal(again, (x, z))


@pytest.mark.parametrize("count", [3, 13])
def test_random_strings_are_uniform(count):
    """Each of the 16 strings of two qubits is drawn with probability count / 16."""
    draws = 2000
    hits = np.zeros(16)
    for seed in range(draws):
        x, z = random_paulis(2, count, seed)
        hits[4 * x + z] += 1
    expected = draws * count / 16
    deviation = math.sqrt(draws * (count / 16) * (1 - count / 16))
    assert np.abs(hits - expected).max() < 4 * deviation


def test_random_strings_of_many_qubits():
    x, z = random_paulis(28, 5000, seed=3)
    assert x.size == 5000
    assert max(x.max(), z.max()) > 2**27
    assert most_repeats(x, z) == 1


@pytest.mark.parametrize("arguments", [(0, 1), (29, 1), (2, 17), (2, 0), (2, 1, -1), (2.0, 1)])
def test_wrong_requests_are_refused(arguments):
    with pytest.raises(InvalidInput):
        random_paulis(*arguments)
