"""States to test with: random pure and mixed ones, GHZ, W and product states."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.apps.tomography.state import QuantumState
from unipd.errors import InvalidInput
from unipd.maps.pauli.strings import MOST_QUBITS


def random_pure(qubits: int, seed: int = 0) -> QuantumState:
    """Return a pure state drawn uniformly (Haar).

    >>> random_pure(3, seed=1).rank
    1
    """
    return random_mixed(qubits, rank=1, seed=seed)


def random_mixed(qubits: int, rank: int = 3, seed: int = 0) -> QuantumState:
    """Return G G^* / tr(G G^*) for a complex Gaussian matrix G with ``rank`` columns.

    >>> state = random_mixed(3, rank=2, seed=1)
    >>> state.rank, 0.5 <= state.purity < 1
    (2, True)
    """
    size = _dimension(qubits)
    columns = validate.integer("rank", rank, minimum=1)
    if columns > size:
        raise InvalidInput("rank", f"at most 2^{qubits}", repr(rank))
    rng = np.random.default_rng(validate.integer("seed", seed, minimum=0))
    block = rng.standard_normal((size, columns)) + 1j * rng.standard_normal((size, columns))
    return QuantumState(block, np.linalg.norm(block, axis=0) ** 2)


def ghz(qubits: int, seed: int = 0) -> QuantumState:
    """Return (|0...0> + |1...1>) / sqrt(2).

    >>> round(ghz(3).expectation("XXX"), 12)
    1.0
    """
    vector = np.zeros(_dimension(qubits))
    vector[[0, -1]] = 1.0
    return QuantumState(vector)


def w_state(qubits: int, seed: int = 0) -> QuantumState:
    """Return the equal superposition of the basis states with a single 1.

    >>> round(w_state(4).expectation("ZIII"), 12)
    0.5
    """
    vector = np.zeros(_dimension(qubits))
    vector[1 << np.arange(qubits)] = 1.0
    return QuantumState(vector)


def product(qubits: int, seed: int = 0) -> QuantumState:
    """Return a product of random pure states of one qubit each.

    >>> product(3, seed=2).rank
    1
    """
    _dimension(qubits)
    rng = np.random.default_rng(validate.integer("seed", seed, minimum=0))
    vector: Array = np.ones(1, np.complex128)
    for _ in range(qubits):
        single = rng.standard_normal(2) + 1j * rng.standard_normal(2)
        vector = np.kron(vector, single / np.linalg.norm(single))
    return QuantumState(vector)


STATES: dict[str, Callable[..., QuantumState]] = {
    "random": random_pure,
    "mixed": random_mixed,
    "ghz": ghz,
    "w": w_state,
    "product": product,
}
"""States by the names used in :func:`~unipd.apps.tomography.simulate` and on the command line."""


def make_state(kind: str, qubits: int, *, rank: int | None = None, seed: int = 0) -> QuantumState:
    """Return the state of this name; ``rank`` is for "mixed" alone (3 by default, 2 for one qubit).

    >>> make_state("mixed", 3, rank=2).rank
    2
    """
    if kind not in STATES:
        raise InvalidInput("state", f"one of {', '.join(STATES)}", repr(kind))
    if kind == "mixed":
        return random_mixed(qubits, min(3, _dimension(qubits)) if rank is None else rank, seed)
    if rank not in (None, 1):
        raise InvalidInput("rank", f'1 (or the state "mixed"), since {kind} is pure', repr(rank))
    return STATES[kind](qubits, seed=seed)


def _dimension(qubits: int) -> int:
    count = validate.integer("qubits", qubits, minimum=1)
    if count > MOST_QUBITS:
        raise InvalidInput(
            "qubits", f"at most {MOST_QUBITS}", f"{qubits} (a vector of {math.ldexp(16, count):.3g} bytes)"
        )
    return 1 << count
