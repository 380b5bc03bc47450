"""The map of biases: every measurement sees one entry of a vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array, IntArray
from unipd.errors import InvalidInput
from unipd.maps import Map
from unipd.maps.checksum import checksum


class Incidence(Map):
    """(A x)_k = x[indices[k]]; the adjoint adds lam_k up at indices[k].

    >>> users = Incidence(np.array([0, 2, 2]), 3)
    >>> users.image(np.array([1.0, 2.0, 3.0])), users.adjoint(np.array([1.0, 2.0, 4.0]))
    (array([1., 3., 3.]), array([1., 0., 6.]))
    """

    def __init__(self, indices: Any, size: int, dtype: Any = np.float64) -> None:
        places = np.asarray(indices)
        size = validate.integer("size", size, minimum=1)
        if places.ndim != 1 or places.size == 0 or places.dtype.kind not in "iu":
            raise InvalidInput("indices", "a list of integers", f"dtype {places.dtype}, shape {places.shape}")
        if int(places.min()) < 0 or int(places.max()) >= size:
            raise InvalidInput("indices", f"numbers from 0 to {size - 1}", f"{places.min()} to {places.max()}")
        super().__init__((size,), (places.size,), dtype)
        self.indices: IntArray = places

    @property
    def nbytes(self) -> int:
        """Bytes of the indices."""
        return self.indices.nbytes

    @property
    def stands_for(self) -> Any:
        """What a checkpoint takes this for: the same as a map that is spread over processes."""
        return self.identity()

    def identity(self, first: int = 0) -> tuple[Any, ...]:
        """Return what tells this map from others, for measurements from number ``first`` on; the last part adds up."""
        return ("Incidence", self.domain, self.dtype.str, int(checksum(self.indices, first)[0]))

    def image(self, atom: Any) -> Array:
        """Return the entries that the measurements see."""
        return np.asarray(atom)[self.indices].astype(self.dtype, copy=False)

    def adjoint(self, dual: Array) -> Array:
        """Return the sum of the measurements of every entry."""
        return np.bincount(self.indices, np.asarray(dual), minlength=self.domain[0]).astype(self.dtype, copy=False)
