"""The SDPA sparse format for semidefinite programs: data, reader, writer and the form solved here."""

from unipd.io.sdpa_form import StandardForm, standard_form
from unipd.io.sdpa_problem import SdpaProblem
from unipd.io.sdpa_read import read_sdpa
from unipd.io.sdpa_stream import Limits
from unipd.io.sdpa_write import write_sdpa

__all__ = ["Limits", "SdpaProblem", "StandardForm", "read_sdpa", "standard_form", "write_sdpa"]
