"""Points that sharp oracles return, kept in the form they come in.

An atom is a NumPy array, or one of three structured points that are never made dense by accident:

- :class:`SparsePoint`: a few nonzeros of a long vector (a vertex of the simplex has one);
- :class:`LowRank`: a matrix U diag(w) V^* given by its factors (a top singular pair has one column);
- :class:`Blocks`: one atom for each block of x = (x_1, ..., x_m).

The functions below accept all four.
"""

from unipd.atoms.kinds import Atom, Blocks, LowRank, SparsePoint, dense, inner, one_hot
from unipd.atoms.products import apply, apply_adjoint
from unipd.atoms.sums import add_to, combination, scaled, zero_like

__all__ = [
    "Atom",
    "Blocks",
    "LowRank",
    "SparsePoint",
    "add_to",
    "apply",
    "apply_adjoint",
    "combination",
    "dense",
    "inner",
    "one_hot",
    "scaled",
    "zero_like",
]
