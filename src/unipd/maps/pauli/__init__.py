"""Pauli measurements of quantum states: A(X)_k = tr(P_k X), without forming X or the strings P_k.

In reading order:

- ``strings``: Pauli strings as bit masks, labels, random sets (:func:`random_paulis`);
- ``map``: :class:`PauliMap` and its adjoint, an operator with products;
- ``outcomes``: :class:`OutcomeMap`, probabilities of the outcomes of measurements (local bases, POVMs), through
  the Pauli map;
- ``dense``: few qubits, or many columns at once, by Walsh-Hadamard transforms and BLAS;
- ``layout``: the order in which the compiled kernels visit the strings;
- ``kernels``: the compiled kernels, with the algorithm; ``simd``: vectors and pointers for them.
"""

from unipd.maps.pauli.layout import longest_light
from unipd.maps.pauli.map import DenseOperator, HermitianOperator, PauliMap, PauliOperator
from unipd.maps.pauli.outcomes import (
    PAULI_MATRICES,
    Confusion,
    Measurement,
    OutcomeMap,
    apply_local,
    as_measurement,
    find_measurement,
    measure_basis,
    pauli6_povm,
    pauli_coefficients,
    sic_povm,
    walsh_hadamard,
)
from unipd.maps.pauli.strings import (
    bit_count,
    default_count,
    masks,
    parse,
    phases,
    random_paulis,
    write,
)

__all__ = [
    "PAULI_MATRICES",
    "Confusion",
    "DenseOperator",
    "HermitianOperator",
    "Measurement",
    "OutcomeMap",
    "PauliMap",
    "PauliOperator",
    "apply_local",
    "as_measurement",
    "bit_count",
    "default_count",
    "find_measurement",
    "longest_light",
    "masks",
    "measure_basis",
    "parse",
    "pauli6_povm",
    "pauli_coefficients",
    "phases",
    "random_paulis",
    "sic_povm",
    "walsh_hadamard",
    "write",
]
