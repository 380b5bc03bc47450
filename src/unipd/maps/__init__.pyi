from unipd.maps import channel as channel
from unipd.maps import sdp as sdp
from unipd.maps.base import Map as Map
from unipd.maps.base import OperatorSum as OperatorSum
from unipd.maps.base import frobenius_bound as frobenius_bound
from unipd.maps.base import row_norms as row_norms
from unipd.maps.base import row_norms_of as row_norms_of
from unipd.maps.channel import ChannelMeasurements as ChannelMeasurements
from unipd.maps.channel import PartialTrace as PartialTrace
from unipd.maps.measurements import CodedDiffraction as CodedDiffraction
from unipd.maps.compose import BlockMap as BlockMap
from unipd.maps.compose import Composed as Composed
from unipd.maps.compose import RowScaled
from unipd.maps.compose import Stacked as Stacked
from unipd.maps.measurements import InnerProducts as InnerProducts
from unipd.maps.matrix import DenseMatrix as DenseMatrix
from unipd.maps.matrix import Identity as Identity
from unipd.maps.matrix import Incidence as Incidence
from unipd.maps.matrix import OperatorMap as OperatorMap
from unipd.maps.matrix import SparseMatrix as SparseMatrix
from unipd.maps.matrix import as_map as as_map
from unipd.maps.pauli import PauliMap as PauliMap
from unipd.maps.measurements import RankOneMeasurements as RankOneMeasurements
from unipd.maps.sampling import SampledMatrix as SampledMatrix
from unipd.maps.sampling import Sampling as Sampling
from unipd.maps.sdp import SdpMap as SdpMap
from unipd.maps.compose import TwoSidedMap as TwoSidedMap
from unipd.maps.base import SMALL_ORDER
from unipd.maps.sampling import checksum
from unipd.maps.sampling_kernels import golub_kahan_partial_steps
from unipd.maps.sdp import row_products
from unipd.maps.sdp import Entries
from unipd.maps.sdp import CostAndConstraintsMap
from unipd.maps.sdp import Reflection
from unipd.maps.sdp import SymmetricOperator
