"""The linear map of semidefinite programs.

``entries`` holds the nonzeros of the data, ``map`` is X -> A(X), with the cost as one more row (for programs) or on a
face of the psd cone. The adjoint is a :class:`~unipd.spectral.SymmetricOperator`, which has certified bounds on its
eigenvalues.
"""

from unipd.maps.sdp.entries import Entries
from unipd.maps.sdp.map import CostAndConstraintsMap, ReducedMap, Reflection, SdpMap
from unipd.spectral import SymmetricOperator

__all__ = [
    "CostAndConstraintsMap",
    "Entries",
    "ReducedMap",
    "Reflection",
    "SdpMap",
    "SymmetricOperator",
]
