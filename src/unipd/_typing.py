"""Type aliases shared by every layer."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""A NumPy array of any floating or complex dtype."""

FloatArray: TypeAlias = NDArray[np.float64]
"""A NumPy array of doubles."""

IntArray: TypeAlias = NDArray[np.integer[Any]]
"""A NumPy array of integers."""

Shape: TypeAlias = tuple[int, ...]
