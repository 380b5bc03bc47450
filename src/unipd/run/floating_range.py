"""Numbers that leave the range of floating point inside a method."""

from __future__ import annotations

from typing import Any

from unipd.errors import OracleError


class _WithinRange:
    """Context that tells of a division by zero or an overflow in a method's arithmetic as what it is: extreme units.

    >>> with within_range:
    ...     1.0 / 0.0
    Traceback (most recent call last):
    ...
    unipd.errors.OracleError: the numbers of the run have left the range of floating point: divide A and b by a ...
    """

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, (ZeroDivisionError, OverflowError)):
            advice = "divide A and b by a common factor"
            raise OracleError(f"the numbers of the run have left the range of floating point: {advice}") from error


within_range = _WithinRange()
