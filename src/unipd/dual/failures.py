"""What goes wrong inside an oracle or a map, told with its source."""

from __future__ import annotations

from typing import Any

from unipd.errors import InvalidInput, OracleError, UnipdError


class _OracleErrors:
    """Context that names the oracle or the map as the source of what goes wrong inside it."""

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        foreign = isinstance(error, Exception) and not isinstance(error, (UnipdError, MemoryError))
        if foreign or isinstance(error, InvalidInput):
            raise OracleError(f"the sharp oracle or the map failed: {type(error).__name__}: {error}") from error


oracle_errors = _OracleErrors()
