"""Sets K and losses phi: what couples A x - b (one a file)."""

from unipd.couplings.equality import Equality
from unipd.couplings.least_squares import LeastSquares, WeightedLeastSquares
from unipd.couplings.orthant import AtLeast, AtMost

__all__ = ["AtLeast", "AtMost", "Equality", "LeastSquares", "WeightedLeastSquares"]
