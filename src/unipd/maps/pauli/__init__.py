"""The Pauli measurement map, its strings and random sets of them."""

from unipd.maps.pauli.map import PauliMap
from unipd.maps.pauli.operator import DenseOperator, HermitianOperator, PauliOperator
from unipd.maps.pauli.sampling import default_count, random_paulis

__all__ = ["DenseOperator", "HermitianOperator", "PauliMap", "PauliOperator", "default_count", "random_paulis"]
