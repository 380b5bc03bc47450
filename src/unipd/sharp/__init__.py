"""Sharp oracles: sets X, objectives f and pairs of them (one a file)."""

from unipd.sharp.base import Sharp, SharpFunction
from unipd.sharp.product import Product
from unipd.sharp.simplex import Simplex, UnitSimplex

__all__ = ["Product", "Sharp", "SharpFunction", "Simplex", "UnitSimplex"]
