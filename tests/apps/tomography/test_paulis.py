"""Pauli strings in the forms users have."""

from types import SimpleNamespace

import numpy as np
import pytest

from unipd.apps.tomography import as_pauli_sum, as_paulis
from unipd.errors import InvalidInput


def like_qiskit(labels, phase=0):
    """Arrays as in Qiskit's PauliList: column 0 is qubit 0, the rightmost letter."""
    x = np.array([[letter in "XY" for letter in label[::-1]] for label in labels])
    z = np.array([[letter in "ZY" for letter in label[::-1]] for label in labels])
    return SimpleNamespace(x=x, z=z, phase=np.full(len(labels), phase))


LABELS = ["XYZ", "IIX", "ZII", "III"]


@pytest.mark.parametrize(
    "form",
    [
        LABELS,
        tuple(LABELS),
        np.array(LABELS),
        like_qiskit(LABELS),
        SimpleNamespace(paulis=like_qiskit(LABELS)),
        (like_qiskit(LABELS).x, like_qiskit(LABELS).z),
        iter(LABELS),
    ],
)
def test_every_form_gives_the_same_masks(form):
    paulis = as_paulis(form)
    assert paulis.qubits == 3
    assert paulis.x.tolist() == [6, 1, 0, 0]
    assert paulis.z.tolist() == [3, 0, 4, 0]


def test_integer_masks_need_the_number_of_qubits():
    assert as_paulis(([6], [3]), qubits=3).x.tolist() == [6]
    with pytest.raises(InvalidInput, match="qubits"):
        as_paulis(([6], [3]))
    with pytest.raises(InvalidInput, match="x: expected masks"):
        as_paulis(([9], [3]), qubits=3)


def test_sums():
    strings, numbers = as_pauli_sum(SimpleNamespace(paulis=like_qiskit(["XZ"]), coeffs=np.array([2.0 + 0j])), 2)
    assert (strings.x.tolist(), strings.z.tolist(), numbers.tolist()) == ([2], [1], [2])
    assert as_pauli_sum("XZ", 2)[1].tolist() == [1.0]
    assert as_pauli_sum([("XZ", 3), ("ZZ", 1)], 2)[1].tolist() == [3, 1]


@pytest.mark.parametrize(
    "form", [5, [], ["XX", "X"], ["AB"], [3, 4], "", like_qiskit(["X"], phase=2), ([1, 2], [1]), "X" * 40, [None]]
)
def test_wrong_strings_are_refused(form):
    with pytest.raises(InvalidInput):
        as_paulis(form, 2 if isinstance(form, tuple) else None)
