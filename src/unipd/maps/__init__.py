"""Linear maps A: the image A x of an atom, and the adjoint A^* lam as an array or an operator, never formed if large.

In reading order:

- ``base``: the base class :class:`Map`, operators through their products, conversions of shapes and dtypes, norms of
  rows;
- ``matrix``: dense and sparse matrices, operators, the identity; :func:`as_map` accepts what users have;
- ``compose``: several primal blocks, compositions, stacks, scaled rows; ``two_sided``: X = L Z R^*;
- ``rank_one``, ``inner_products``: measurements Re <M_k, X> of a matrix by vectors or matrices;
- ``coded_diffraction``: moduli of masked Fourier transforms (phase retrieval);
- ``sampling``: sampled entries of a matrix (completion), with its compiled ``sampling_kernels``;
- ``sdp``: the constraints of a semidefinite program; ``pauli``: Pauli measurements of quantum states;
- ``channel``: measurements of a quantum channel through its Choi matrix, partial traces.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.maps import channel, sdp
    from unipd.maps.base import Map, OperatorSum, frobenius_bound, row_norms, row_norms_of
    from unipd.maps.channel import ChannelMeasurements, PartialTrace
    from unipd.maps.coded_diffraction import CodedDiffraction
    from unipd.maps.compose import BlockMap, Composed, Stacked
    from unipd.maps.inner_products import InnerProducts
    from unipd.maps.matrix import DenseMatrix, Identity, Incidence, OperatorMap, SparseMatrix, as_map
    from unipd.maps.pauli import PauliMap
    from unipd.maps.rank_one import RankOneMeasurements
    from unipd.maps.sampling import SampledMatrix, Sampling
    from unipd.maps.sdp import SdpMap
    from unipd.maps.two_sided import TwoSidedMap

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "": ("channel", "sdp"),
        "base": ("Map", "OperatorSum", "frobenius_bound", "row_norms", "row_norms_of"),
        "channel": ("ChannelMeasurements", "PartialTrace"),
        "coded_diffraction": ("CodedDiffraction",),
        "compose": ("BlockMap", "Composed", "Stacked"),
        "inner_products": ("InnerProducts",),
        "matrix": ("DenseMatrix", "Identity", "Incidence", "OperatorMap", "SparseMatrix", "as_map"),
        "pauli": ("PauliMap",),
        "rank_one": ("RankOneMeasurements",),
        "sampling": ("SampledMatrix", "Sampling"),
        "sdp": ("SdpMap",),
        "two_sided": ("TwoSidedMap",),
    },
)

__all__ = [
    "BlockMap",
    "ChannelMeasurements",
    "CodedDiffraction",
    "Composed",
    "DenseMatrix",
    "Identity",
    "Incidence",
    "InnerProducts",
    "Map",
    "OperatorMap",
    "OperatorSum",
    "PartialTrace",
    "PauliMap",
    "RankOneMeasurements",
    "SampledMatrix",
    "Sampling",
    "SdpMap",
    "SparseMatrix",
    "Stacked",
    "TwoSidedMap",
    "as_map",
    "channel",
    "frobenius_bound",
    "row_norms",
    "row_norms_of",
    "sdp",
]
