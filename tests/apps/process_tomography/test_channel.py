"""Representations and figures of channels against Qiskit, and closed forms."""

import numpy as np
import pytest
import qiskit.quantum_info as qi
from qiskit.circuit.library import CCXGate, CXGate, iSwapGate

from unipd.apps.process_tomography import (
    GATES,
    KrausDescent,
    KrausFactors,
    QuantumChannel,
    as_channel,
    make_channel,
    noisy_channel,
    random_channel,
    simulate_process,
)
from unipd.errors import InvalidInput


@pytest.mark.parametrize("qubits", [1, 2])
class TestQiskitConventions:
    def channels(self, qubits):
        size = 2**qubits
        return qi.random_quantum_channel(size, size, rank=3, seed=qubits), qi.random_unitary(size, seed=7)

    def test_representations(self, qubits):
        theirs, _ = self.channels(qubits)
        ours = as_channel(theirs)
        for kind, matrix in (("Choi", ours.choi), ("SuperOp", ours.superop), ("PTM", ours.ptm)):
            assert np.allclose(matrix, getattr(qi, kind)(theirs).data, atol=1e-12)
            assert np.allclose(qi.Choi(ours.to_qiskit(kind)).data, ours.choi, atol=1e-12)
            assert np.allclose(as_channel(getattr(qi, kind)(theirs)).choi, ours.choi, atol=1e-12)
        assert np.allclose(qi.Choi(qi.Kraus(ours.kraus)).data, ours.choi, atol=1e-12)
        assert np.allclose(qi.Choi(ours.to_qiskit("Kraus")).data, ours.choi, atol=1e-12)

    def test_inverses(self, qubits):
        ours = as_channel(self.channels(qubits)[0])
        for again in (
            QuantumChannel.from_superop(ours.superop),
            QuantumChannel.from_ptm(ours.ptm),
            QuantumChannel.from_kraus(ours.kraus),
        ):
            assert np.allclose(again.choi, ours.choi, atol=1e-12)

    def test_fidelities(self, qubits):
        theirs, unitary = self.channels(qubits)
        ours = as_channel(theirs)
        assert ours.process_fidelity(unitary) == pytest.approx(qi.process_fidelity(theirs, unitary), abs=1e-10)
        expected = qi.average_gate_fidelity(theirs, unitary)
        assert ours.average_gate_fidelity(unitary) == pytest.approx(expected, abs=1e-10)
        other = qi.SuperOp(qi.random_quantum_channel(2**qubits, 2**qubits, rank=2, seed=9))
        assert ours.process_fidelity(other) == pytest.approx(qi.process_fidelity(theirs, other), abs=1e-6)

    def test_outputs(self, qubits):
        theirs, _ = self.channels(qubits)
        state = qi.random_density_matrix(2**qubits, seed=1)
        assert np.allclose(as_channel(theirs).apply(state.data), state.evolve(theirs).data)


def test_gates_have_qiskit_order():
    for name, gate in (("cx", CXGate()), ("iswap", iSwapGate()), ("ccx", CCXGate())):
        assert np.allclose(as_channel(name).choi, as_channel(gate).choi)


def test_every_gate_is_unitary():
    for gate in GATES.values():
        assert np.allclose(gate @ gate.conj().T, np.eye(len(gate)))


def test_figures_of_depolarizing_noise():
    noisy = noisy_channel("x", depolarizing=0.2)
    assert noisy.unitarity == pytest.approx(0.64)
    assert noisy.process_fidelity("x") == pytest.approx(0.85)
    assert noisy.purity == pytest.approx(0.85**2 + 3 * 0.05**2)
    assert make_channel("dephasing", 1, strength=0.1).process_fidelity("id") == pytest.approx(0.9)


def test_loss_lowers_the_average_gate_fidelity():
    assert noisy_channel("x", loss=0.3).average_gate_fidelity("x") == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("toffoli", "one of"),
        (np.ones((2, 2)), "unitary"),
        (np.ones(3), "unitary matrix or a list"),
        ([np.eye(2), np.eye(2)], "at most I"),
    ],
)
def test_bad_targets(value, text):
    with pytest.raises(InvalidInput, match=text):
        as_channel(value)


def test_simulated_bases_have_a_letter_for_every_qubit():
    with pytest.raises(InvalidInput, match="bases"):
        simulate_process("x", bases=["ZZ"])


def test_bad_choi_matrices():
    with pytest.raises(InvalidInput, match="positive semidefinite"):
        QuantumChannel(np.diag([1.0, 0.0, 2.0, -1.0]))
    with pytest.raises(InvalidInput, match="size d_in d_out"):
        QuantumChannel(np.eye(3))


class TestKrausFactors:
    def factors(self):
        return KrausFactors(6, 0, 2.0, ball=False, inputs=2)

    def test_every_factor_is_a_channel(self):
        rng = np.random.default_rng(0)
        factor = rng.standard_normal((6, 3)) + 1j * rng.standard_normal((6, 3))
        choi = self.factors().point(factor).dense()
        assert np.allclose(np.trace(choi.reshape(2, 3, 2, 3), axis1=1, axis2=3), np.eye(2))

    def test_gradient_is_that_of_differences(self):
        rng = np.random.default_rng(1)
        factors, shape = self.factors(), (6, 3)
        slope = rng.standard_normal((6, 6)) + 1j * rng.standard_normal((6, 6))
        slope = slope + slope.conj().T
        factor, step = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape) for _ in range(2))

        def value(t):
            return np.vdot(slope, factors.point(factor + t * step).dense()).real

        unit = factors.point(factor).left
        gradient = factors.pull_back(2.0 * slope @ unit, factor)
        assert np.vdot(gradient, step).real == pytest.approx((value(1e-6) - value(-1e-6)) / 2e-6, rel=1e-6)

    def test_options_are_checked(self):
        with pytest.raises(InvalidInput):
            KrausDescent(rank=0)


def test_random_channels_are_channels():
    for rank in (1, 3, None):
        channel = random_channel(1, rank, seed=5)
        assert channel.is_trace_preserving
        assert channel.rank == (rank or 4)
