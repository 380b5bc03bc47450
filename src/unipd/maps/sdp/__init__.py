"""The linear map of semidefinite programs.

``entries`` holds the nonzeros of the data, ``map`` is X -> A(X) (with the cost as one more row, for programs),
``reduced`` the same on a face of the psd cone, and ``kernels`` the compiled loop. The adjoint is a
:class:`~unipd.spectral.SymmetricOperator`, which has certified bounds on its eigenvalues.
"""

from unipd.maps.sdp.entries import Entries
from unipd.maps.sdp.map import CostAndConstraintsMap, SdpMap
from unipd.maps.sdp.reduced import ReducedMap, Reflection
from unipd.spectral import SymmetricOperator

__all__ = [
    "CostAndConstraintsMap",
    "Entries",
    "ReducedMap",
    "Reflection",
    "SdpMap",
    "SymmetricOperator",
]
