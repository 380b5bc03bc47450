"""Semidefinite programs: from files and matrices to certified solutions.

A program passes through a pipeline, one file per stage, each importing only from those before it:

1. ``data``: the program as sparse data, min <C, X> subject to lower <= A(X) <= upper, X psd, and its trace bound.
2. ``presolve``: proofs that constraints contradict each other, a change of variables for relaxations of binary
   variables, and facial reduction: a constraint <v v^T, X> = 0 removes a dimension.
3. ``formulation``: the template min <C, X> over psd X of bounded trace, with constraints scaled to unit norm, and the
   form of the factored method that suits them; its sharp oracle is in :mod:`unipd.sharp.spectral.sdp`.
4. ``bounded``: solve with a known trace bound, by the factored method and, where it stalls, by ``interior_point``;
   results are in the units of the data, with multipliers whose slack matrix is psd.
5. ``unbounded``: programs without such a bound, by theorems of the alternative and continuation.
6. ``program``: the front door, :class:`SDP`, which runs the stages in order.
"""

from unipd.apps.sdp.bounded import BoundedSolver, FallbackRule, interior_point_work
from unipd.apps.sdp.data import Block, SdpData, data_from_sdpa
from unipd.apps.sdp.formulation import analyse, bound_from_diagonals
from unipd.apps.sdp.interior_point import InteriorPoint
from unipd.apps.sdp.presolve import find_binary_lifting, find_face
from unipd.apps.sdp.program import SDP
from unipd.apps.sdp.unbounded import NoProgress, level_alternative, search_trace, solve_without_trace

__all__ = [
    "SDP",
    "Block",
    "BoundedSolver",
    "FallbackRule",
    "InteriorPoint",
    "NoProgress",
    "SdpData",
    "analyse",
    "bound_from_diagonals",
    "data_from_sdpa",
    "find_binary_lifting",
    "find_face",
    "interior_point_work",
    "level_alternative",
    "search_trace",
    "solve_without_trace",
]
