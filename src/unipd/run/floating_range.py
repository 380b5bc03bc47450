"""Numbers that leave the range of floating point inside a method."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from unipd.errors import OracleError


@contextmanager
def within_range() -> Generator[None]:
    """Tell of a division by zero or an overflow in a method's own arithmetic as what it is: data of extreme units.

    >>> with within_range():
    ...     1.0 / 0.0
    Traceback (most recent call last):
    ...
    unipd.errors.OracleError: the numbers of the run have left the range of floating point: divide A and b by a ...
    """
    try:
        yield
    except (ZeroDivisionError, OverflowError) as error:
        advice = "divide A and b by a common factor"
        raise OracleError(f"the numbers of the run have left the range of floating point: {advice}") from error
