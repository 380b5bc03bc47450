"""Semidefinite programs: from files and matrices to certified answers."""

from unipd.apps.sdp.program import SDP
from unipd.apps.sdp.result import SdpResult

__all__ = ["SDP", "SdpResult"]
