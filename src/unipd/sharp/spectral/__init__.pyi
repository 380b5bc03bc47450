from unipd.sharp.spectral.spectrahedron import Fantope as Fantope
from unipd.sharp.spectral.nuclear import GroupNuclearBall as GroupNuclearBall
from unipd.sharp.spectral.nuclear import NuclearBall as NuclearBall
from unipd.sharp.spectral.nuclear import NuclearNormOnBall as NuclearNormOnBall
from unipd.sharp.spectral.nuclear import NuclearNormSquared as NuclearNormSquared
from unipd.sharp.spectral.spectrahedron import Spectrahedron as Spectrahedron
from unipd.sharp.spectral.spectrahedron import TraceBall as TraceBall
from unipd.sharp.spectral.spectrahedron import TraceSquared as TraceSquared
from unipd.sharp.spectral.spectral_ball import SchattenSquared as SchattenSquared
from unipd.sharp.spectral.spectral_ball import SpectralBall as SpectralBall
from unipd.sharp.spectral.nuclear import WeightedNuclearBall as WeightedNuclearBall
from unipd.sharp.spectral.base import eigenvalues
from unipd.sharp.spectral.base import singular_values
from unipd.sharp.spectral.nuclear import BalancedNuclearNormSquared
from unipd.sharp.spectral.sdp import BoundedTrace
from unipd.sharp.spectral.sdp import FixedTrace
from unipd.sharp.spectral.sdp import SdpCost
