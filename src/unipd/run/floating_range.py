"""Numbers that leave the range of floating point inside a method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from unipd.errors import OracleError

T = TypeVar("T")
OUT_OF_RANGE = (ZeroDivisionError, OverflowError)
"""What numbers of Python raise when they leave the range."""


def within_range(call: Callable[..., T], *arguments: Any) -> T:
    """Call a method's own arithmetic; tell of a division by zero or an overflow as what it is: data of extreme units.

    >>> within_range(lambda x: 1.0 / x, 0.0)
    Traceback (most recent call last):
    ...
    unipd.errors.OracleError: the numbers of the run have left the range of floating point: divide A and b by a ...
    """
    try:
        return call(*arguments)
    except OUT_OF_RANGE as error:
        raise out_of_range() from error


def out_of_range() -> OracleError:
    """Return the error that tells what to do about it."""
    advice = "divide A and b by a common factor"
    return OracleError(f"the numbers of the run have left the range of floating point: {advice}")
