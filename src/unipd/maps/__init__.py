"""Linear maps A (one a file) and the conversion of what users have into one."""

from unipd.maps.base import Map
from unipd.maps.blocks import BlockMap
from unipd.maps.convert import as_map
from unipd.maps.identity import Identity
from unipd.maps.matrix import DenseMatrix, SparseMatrix
from unipd.maps.operator import OperatorMap

__all__ = ["BlockMap", "DenseMatrix", "Identity", "Map", "OperatorMap", "SparseMatrix", "as_map"]
