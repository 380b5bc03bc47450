"""Checks of user input: each returns the checked value or raises :class:`~unipd.errors.InvalidInput`."""

import math
import os
from collections.abc import Collection
from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd._util import arrays
from unipd.errors import InvalidInput

PRECISIONS = tuple(np.dtype(kind) for kind in (np.float64, np.float32, np.complex128, np.complex64))
"""Precisions in which the library computes."""
LARGEST_ENTRY = 1e100
"""Largest magnitude of a number in data that is squared: sums of squares stay far from overflow."""
SYMMETRY = 1e-12
"""Largest difference between an entry of a symmetric matrix and its mirror, relative to the largest entry."""


def finite_array(
    name: str,
    value: Any,
    *,
    shape: Shape | None = None,
    ndim: int | None = None,
    copy: bool = False,
) -> Array:
    """Return ``value`` as a floating or complex array without NaN or infinity.

    >>> finite_array("b", [1, 2])
    array([1., 2.])
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InvalidInput(name, "numbers everywhere", f"{np.ma.count_masked(value)} masked entries")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(name, "an array of numbers", str(error)) from error
    array = array.astype(floating_dtype(name, array.dtype), copy=False)
    if shape is not None and array.shape != shape:
        raise InvalidInput(name, f"shape {shape}", f"shape {array.shape}")
    if ndim is not None and array.ndim != ndim:
        raise InvalidInput(name, f"{ndim} dimension(s)", f"shape {array.shape}")
    if not all_finite(array):
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InvalidInput(name, "finite numbers", f"{array[place]} at index {place}")
    return array.copy() if copy and array is value else array


def floating_dtype(name: str, dtype: Any) -> np.dtype[Any]:
    """Return the single- or double-precision dtype, in this machine's byte order, in which to compute with numbers.

    It is the very object that arrays of this dtype have, so that equal ones can be compared by ``is``.

    >>> floating_dtype("A", ">f4"), floating_dtype("A", "f2"), floating_dtype("A", np.int64)
    (dtype('float32'), dtype('float64'), dtype('float64'))
    """
    try:
        native = np.dtype(dtype).newbyteorder("=")
    except TypeError as error:
        raise InvalidInput(name, "a dtype of numbers", repr(dtype)) from error
    if native.kind not in "biufc":
        raise InvalidInput(name, "an array of numbers", f"dtype {native}")
    if native in PRECISIONS:
        return np.dtype(native.type)
    return np.dtype(np.complex128 if native.kind == "c" else np.float64)


def all_finite(array: Array) -> bool:
    """Whether a floating array is free of NaN and infinity, which both survive in its sum of squares.

    >>> all_finite(np.array([1.0, 1e300])), all_finite(np.array([1.0, np.nan]))
    (True, False)
    """
    return math.isfinite(arrays.dot(array, array).real) or bool(np.isfinite(array).all())


def real_array(name: str, value: Any, **kwargs: Any) -> Array:
    """Return ``value`` as a finite real array; complex data is refused."""
    array = finite_array(name, value, **kwargs)
    if array.dtype.kind == "c":
        raise InvalidInput(name, "real numbers", "complex numbers")
    return array


def extended_array(name: str, value: Any) -> Array:
    """Return ``value`` as a real array of doubles of its own, in which infinity is allowed but NaN is not.

    >>> extended_array("upper", [1, np.inf])
    array([ 1., inf])
    """
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(name, "real numbers, possibly infinite", repr(value)) from error
    if np.isnan(array).any():
        raise InvalidInput(name, "real numbers, possibly infinite", "NaN")
    return array


def number(name: str, value: Any) -> float:
    """Return ``value`` as a finite float; True, False and text are not numbers here."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise InvalidInput(name, "a number", repr(value))
    try:
        result = float(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(name, "a number", repr(value)) from error
    except OverflowError as error:  # an int with hundreds of digits
        raise InvalidInput(name, "a finite number", "one beyond the floating-point range") from error
    if not math.isfinite(result):
        raise InvalidInput(name, "a finite number", repr(value))
    return result


def positive(name: str, value: Any) -> float:
    """Return ``value`` as a finite float above zero."""
    result = number(name, value)
    if result <= 0:
        raise InvalidInput(name, "a number above zero", repr(value))
    return result


def nonnegative(name: str, value: Any) -> float:
    """Return ``value`` as a finite float not below zero."""
    if type(value) is float and 0.0 <= value < math.inf:
        return value
    result = number(name, value)
    if result < 0:
        raise InvalidInput(name, "a number not below zero", repr(value))
    return result


def fraction(name: str, value: Any) -> float:
    """Return ``value`` as a float strictly between 0 and 1."""
    result = number(name, value)
    if not 0.0 < result < 1.0:
        raise InvalidInput(name, "a number between 0 and 1", repr(value))
    return result


def integer(name: str, value: Any, *, minimum: int) -> int:
    """Return ``value`` as an int not below ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InvalidInput(name, "an integer", repr(value))
    if value < minimum:
        raise InvalidInput(name, f"an integer >= {minimum}", repr(value))
    return int(value)


def flag(name: str, value: Any) -> bool:
    """Return ``value`` as True or False; words and numbers are not taken for either.

    >>> flag("polish", True)
    True
    """
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidInput(name, "True or False", repr(value))
    return bool(value)


def choice(name: str, value: Any, options: Collection[str]) -> str:
    """Return ``value`` when it is one of the words given.

    >>> choice("weights", "greedy", ("theory", "greedy"))
    'greedy'
    """
    if not (isinstance(value, str) and value in options):
        raise InvalidInput(name, f"one of {', '.join(options)}", repr(value))
    return value


def path(name: str, value: Any) -> Any:
    """Return ``value`` as it is when it names a file.

    >>> path("path", "result.npz")
    'result.npz'
    """
    if not isinstance(value, (str, os.PathLike)) or not os.fspath(value):
        raise InvalidInput(name, "the name of a file", repr(value))
    return value


def has_parts(name: str, value: Any, expected: str, parts: Collection[str]) -> None:
    """Raise unless ``value`` is an object with these attributes; the message names what is missing.

    >>> has_parts("A", np.ones(2), "an array", ("shape", "dtype"))
    """
    if isinstance(value, type) or not any(hasattr(value, part) for part in parts):
        raise InvalidInput(name, expected, describe_type(value))
    missing = [part for part in parts if not hasattr(value, part)]
    if missing:
        raise InvalidInput(name, f"{expected} with {', '.join(parts)}", f"{describe_type(value)} without {missing[0]}")


def describe_type(value: Any) -> str:
    """Return a description of a value's type for error messages.

    >>> describe_type(3), describe_type(int)
    ('int', 'the class int (an object is needed)')
    """
    return f"the class {value.__name__} (an object is needed)" if isinstance(value, type) else type(value).__name__


def is_own(value: Any) -> bool:
    """Whether an object is of a class of this library, not of NumPy, SciPy or a user.

    >>> is_own(InvalidInput("x", "a number", "none")), is_own(np.ones(2))
    (True, False)
    """
    return type(value).__module__.startswith("unipd.")
