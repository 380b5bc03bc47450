"""Linear maps A: the image A x of an atom, and the adjoint A^* lam as an array or an operator, never formed if large.

In reading order:

- ``base``: the base class :class:`Map`, operators through their products, conversions of shapes and dtypes, norms of
  rows;
- ``matrix``: dense and sparse matrices, operators, the identity; :func:`as_map` accepts what users have;
- ``compose``: several primal blocks, compositions, stacks, X = L Z R^*, scaled rows;
- ``measurements``: Re <M_k, X> of a matrix, by vectors, matrices or masked Fourier transforms (phase retrieval);
- ``sampling``: sampled entries of a matrix (completion), with its compiled ``sampling_kernels``;
- ``sdp``: the constraints of a semidefinite program; ``pauli``: Pauli measurements of quantum states;
- ``channel``: measurements of a quantum channel through its Choi matrix, partial traces.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
