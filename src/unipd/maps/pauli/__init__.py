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

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
