"""The linear map of semidefinite programs and certificates for its adjoint."""

from unipd.maps.sdp.certificate import SmallestEigenpair, cholesky_bound, smallest_eigenpair
from unipd.maps.sdp.entries import Entries
from unipd.maps.sdp.map import SdpMap
from unipd.maps.sdp.operator import SymmetricOperator

__all__ = ["Entries", "SdpMap", "SmallestEigenpair", "SymmetricOperator", "cholesky_bound", "smallest_eigenpair"]
