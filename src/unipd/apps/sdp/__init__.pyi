from unipd.apps.sdp.cone_program import ConeProgram as ConeProgram
from unipd.apps.sdp.cone_program import Cones as Cones
from unipd.apps.sdp.cone_program import ConeSolution as ConeSolution
from unipd.apps.sdp.data import Block as Block
from unipd.apps.sdp.data import SdpData as SdpData
from unipd.apps.sdp.program import SDP as SDP
from unipd.apps.sdp.program import certify as certify
from unipd.apps.sdp.cone_program import Primal
from unipd.apps.sdp.cones import TruncatedCone
from unipd.apps.sdp.cones import find_combination
from unipd.apps.sdp.cones import measure_margins
from unipd.apps.sdp.data import measure_size
from unipd.apps.sdp.data import TraceBound
from unipd.apps.sdp.embedding import ConicForm
from unipd.apps.sdp.data import data_from_sdpa
from unipd.apps.sdp.formulation import analyse
from unipd.apps.sdp.formulation import bound_from_diagonals
from unipd.apps.sdp.infeasibility import find_ray
from unipd.apps.sdp.infeasibility import find_separation
from unipd.apps.sdp.formulation import find_binary_lifting
from unipd.apps.sdp.formulation import find_face
from unipd.apps.sdp.solver import FallbackRule
from unipd.apps.sdp.solver import estimate_seconds
from unipd.apps.sdp.template import find_template
from unipd.apps.sdp.interior_point import InteriorPointState
from unipd.apps.sdp.interior_point import InteriorPoint
from unipd.apps.sdp.cliques import cover_once
from unipd.apps.sdp.cliques import find_equal_pair
from unipd.apps.sdp.cliques import list_maximal_cliques
from unipd.apps.sdp.cliques import solve_by_cliques
