"""Linear maps A (one a file) and the conversion of what users have into one."""

from typing import TYPE_CHECKING, Any

from unipd.maps import sdp
from unipd.maps.base import Map
from unipd.maps.blocks import BlockMap
from unipd.maps.compose import Composed, Stacked
from unipd.maps.convert import as_map
from unipd.maps.identity import Identity
from unipd.maps.inner_products import InnerProducts
from unipd.maps.matrix import DenseMatrix, SparseMatrix
from unipd.maps.operator import OperatorMap
from unipd.maps.rank_one import RankOneMeasurements
from unipd.maps.sampled_matrix import SampledMatrix
from unipd.maps.sampling import Sampling
from unipd.maps.sandwich import Sandwich
from unipd.maps.sdp import SdpMap

if TYPE_CHECKING:
    from unipd.maps.pauli import PauliMap


def __getattr__(name: str) -> Any:
    if name != "PauliMap":  # its kernels need Numba, which takes longest to load
        raise AttributeError(f"module 'unipd.maps' has no attribute {name!r}")
    from unipd.maps.pauli import PauliMap

    return PauliMap


__all__ = [
    "BlockMap",
    "Composed",
    "DenseMatrix",
    "Identity",
    "InnerProducts",
    "Map",
    "OperatorMap",
    "PauliMap",
    "RankOneMeasurements",
    "SampledMatrix",
    "Sampling",
    "Sandwich",
    "SdpMap",
    "SparseMatrix",
    "Stacked",
    "as_map",
    "sdp",
]
