"""The diamond distance against closed forms, Qiskit, and its two programs against each other."""

import numpy as np
import pytest
import qiskit.quantum_info as qi

from unipd.apps.process_tomography import (
    as_channel,
    diamond_distance,
    dual_program,
    iterate_states,
    make_channel,
    noisy_channel,
    random_channel,
    random_unitary,
)
from unipd.errors import InvalidInput


def unitary_distance(first, second):
    """Return sqrt(1 - m^2), m the distance of 0 from the hull of the eigenvalues of U^* V (Aharonov et al., 1998)."""
    angles = np.sort(np.angle(np.linalg.eigvals(first.conj().T @ second)))
    gaps = np.diff([*angles, angles[0] + 2 * np.pi])
    spread = 2 * np.pi - gaps.max()
    return 1.0 if spread >= np.pi else np.sin(spread / 2)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("size", "accuracy"), [(2, 1e-6), (4, 1e-6), (8, 1e-3)])
def test_unitary_channels(seed, size, accuracy):
    first = random_unitary(size, seed)
    generator = np.random.default_rng(seed).uniform(-0.4, 0.4, size)
    basis = random_unitary(size, seed + 50)
    second = first @ basis @ np.diag(np.exp(1j * generator)) @ basis.conj().T
    found = diamond_distance(first, second, accuracy=accuracy)
    exact = unitary_distance(first, second)
    assert found.value <= exact + 1e-12
    assert found.upper_bound >= exact - 1e-12
    assert found.gap <= accuracy


def test_pauli_channels():
    """The distance of two Pauli channels is half the 1-norm of the difference of their probabilities."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(4), 2)
    letters = [as_channel(name).kraus[0] for name in ("id", "x", "y", "z")]
    channels = [[np.sqrt(p) * k for p, k in zip(row, letters, strict=True)] for row in shares]
    found = diamond_distance(*channels)
    assert found.value == pytest.approx(0.5 * np.abs(shares[0] - shares[1]).sum(), abs=1e-9)
    assert found.gap <= 1e-9


def test_agrees_with_qiskit():
    for seed in range(2):
        first, second = (qi.random_quantum_channel(2, 2, rank=2, seed=seed + shift) for shift in (0, 20))
        difference = qi.Choi(qi.Choi(first).data - qi.Choi(second).data)
        assert 2 * diamond_distance(first, second).value == pytest.approx(qi.diamond_norm(difference), abs=1e-3)


@pytest.mark.parametrize("qubits", [1, 2])
def test_program_agrees_with_the_iteration(qubits):
    first, second = make_channel("damping", qubits, strength=0.3), random_channel(qubits, 2, seed=1)
    difference = first.choi - second.choi
    program = dual_program(difference, first.inputs).solve(accuracy=1e-7)
    found = iterate_states(difference, first.inputs, 1e-7, 400)
    assert program.status.success
    assert found.value <= program.objective + 1e-8
    assert program.dual_bound <= found.upper_bound + 1e-8
    both = diamond_distance(first, second)
    assert both.value - 1e-7 <= program.objective <= both.upper_bound + 1e-7
    assert both.gap <= 1e-6


def test_state_attains_the_value():
    first, second = make_channel("damping", 1, strength=0.5), as_channel("h")
    found = diamond_distance(first, second)
    values, vectors = np.linalg.eigh(found.state)
    root = np.kron((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.conj().T, np.eye(2))
    moved = root @ (first.choi - second.choi) @ root
    assert 0.5 * np.abs(np.linalg.eigvalsh(moved)).sum() == pytest.approx(found.value, abs=1e-5)


def test_equal_channels_and_losses():
    assert diamond_distance("x", "x").value == 0.0
    assert diamond_distance(noisy_channel("x", loss=0.2), "x").value == pytest.approx(0.1)
    assert as_channel("s").diamond_distance("id") == pytest.approx(np.sqrt(0.5))


def test_sizes_must_agree():
    with pytest.raises(InvalidInput, match="dimension 2"):
        diamond_distance("x", "cx")
