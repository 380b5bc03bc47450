"""A point whose every block is a convex combination of atoms of its own."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from unipd import atoms
from unipd._typing import FloatArray, IntArray
from unipd.methods.simplices import block_starts
from unipd.primal.active_set import is_low_rank


@dataclass(frozen=True)
class BlockPoint:
    """Tracker of x = (x_1, ..., x_m), every block a convex combination of its own atoms."""

    blocks: IntArray
    atoms: tuple[Any, ...]
    weights: FloatArray

    @property
    def exact_objective(self) -> bool:
        """Whether f(x) is to be computed from x: not from low-rank atoms, whose sum is dear to decompose."""
        return not any(is_low_rank(atom) for atom in self.atoms)

    def mixed(self, gamma: float, atom: Any) -> BlockPoint:
        """Refuse: the weights come from the master."""
        raise NotImplementedError("the weights of a corrective method come from its master problem")

    def point(self) -> atoms.Blocks:
        """Return x, one array a block."""
        starts = block_starts(self.blocks, int(self.blocks[-1]) + 1)
        parts = [
            atoms.combination([float(w) for w in self.weights[first:last]], self.atoms[first:last])
            for first, last in pairwise(starts)
        ]
        return atoms.Blocks(tuple(parts))

    @property
    def nbytes(self) -> int:
        """Bytes of the atoms and their weights."""
        return sum(atom.nbytes for atom in self.atoms) + self.weights.nbytes + self.blocks.nbytes
