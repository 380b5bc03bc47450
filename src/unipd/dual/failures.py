"""What goes wrong inside an oracle or a map, told with its source."""

from __future__ import annotations

from typing import Any, NoReturn

from unipd.errors import InvalidInput, OracleError, UnipdError


def blame(error: Exception) -> NoReturn:
    """Raise an error from inside an oracle or a map again, with its source unless it names one."""
    if isinstance(error, (UnipdError, MemoryError)) and not isinstance(error, InvalidInput):
        raise error
    raise OracleError(f"the sharp oracle or the map failed: {type(error).__name__}: {error}") from error


class _OracleErrors:
    """Context that names the oracle or the map as the source of what goes wrong inside it."""

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception):
            blame(error)


oracle_errors = _OracleErrors()
