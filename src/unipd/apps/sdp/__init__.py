"""Semidefinite programs: from files and matrices to certified solutions.

A program passes through a pipeline, one file per stage, each importing only from those before it:

1. ``data``: the program as sparse data, min <C, X> subject to lower <= A(X) <= upper, X in a product of cones;
   ``formats``: to and from the conventions of file formats.
2. ``presolve``: proofs that constraints contradict each other, a change of variables for relaxations of binary
   variables, and facial reduction: a constraint <v v^T, X> = 0 removes a dimension.
3. ``formulation``: the template min <C, X> over psd X of bounded trace, with constraints scaled to unit norm, and the
   form of the factored method that suits them; its sharp oracle is in :mod:`unipd.sharp.spectral.sdp`.
4. ``cones``, ``embedding`` and ``interior_point``: any product of psd, nonnegative, second-order and free blocks, by
   the steps of QICS and certificates of our own.
5. ``infeasibility``: proofs that there is no feasible X, and rays along which the objective improves forever.
6. ``solver``: the routes, chosen by estimated cost; results are in the units of the data.
7. ``program``: the front door, :class:`SDP`.
8. ``certificate``: what a solution of any solver proves.
9. ``cone_program``: min <c, x> subject to A x + s = b, s in K, the form of SCS and CVXPY, as one of these programs.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.apps.sdp.certificate import certify, find_combination
    from unipd.apps.sdp.cone_program import ConeProgram, Cones, ConeSolution, Primal
    from unipd.apps.sdp.cones import TruncatedCone, measure_margins, measure_size
    from unipd.apps.sdp.data import Block, SdpData, TraceBound
    from unipd.apps.sdp.embedding import ConicForm
    from unipd.apps.sdp.formats import data_from_sdpa, data_from_sedumi, sdpa_from_data, sedumi_from_data
    from unipd.apps.sdp.formulation import analyse, bound_from_diagonals
    from unipd.apps.sdp.infeasibility import find_ray, find_separation
    from unipd.apps.sdp.interior_point import InteriorPoint
    from unipd.apps.sdp.presolve import find_binary_lifting, find_face
    from unipd.apps.sdp.program import SDP
    from unipd.apps.sdp.solver import FallbackRule, Solver, estimate_seconds

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "certificate": ("certify", "find_combination"),
        "cone_program": ("ConeProgram", "Cones", "ConeSolution", "Primal"),
        "cones": ("TruncatedCone", "measure_margins", "measure_size"),
        "data": ("Block", "SdpData", "TraceBound"),
        "embedding": ("ConicForm",),
        "formats": ("data_from_sdpa", "data_from_sedumi", "sdpa_from_data", "sedumi_from_data"),
        "formulation": ("analyse", "bound_from_diagonals"),
        "infeasibility": ("find_ray", "find_separation"),
        "interior_point": ("InteriorPoint",),
        "presolve": ("find_binary_lifting", "find_face"),
        "program": ("SDP",),
        "solver": ("FallbackRule", "Solver", "estimate_seconds"),
    },
)

__all__ = [
    "SDP",
    "Block",
    "ConeProgram",
    "ConeSolution",
    "Cones",
    "ConicForm",
    "FallbackRule",
    "InteriorPoint",
    "Primal",
    "SdpData",
    "Solver",
    "TraceBound",
    "TruncatedCone",
    "analyse",
    "bound_from_diagonals",
    "certify",
    "data_from_sdpa",
    "data_from_sedumi",
    "estimate_seconds",
    "find_binary_lifting",
    "find_combination",
    "find_face",
    "find_ray",
    "find_separation",
    "measure_margins",
    "measure_size",
    "sdpa_from_data",
    "sedumi_from_data",
]
