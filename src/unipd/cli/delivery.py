"""The files of a command's end: each is tried, and what could not be written is told when all else is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unipd.cli.exits import UNEXPECTED, complain, explain
from unipd.cli.log_file import LOGGER
from unipd.cli.outputs import STANDARD_OUTPUT, write_json


class Delivery:
    """Writes files one after the other and remembers which of them failed.

    >>> delivery = Delivery()
    >>> delivery.write(Path("a.txt"), lambda path: None)
    >>> delivery.written, delivery.code(0)
    (['a.txt'], 0)
    """

    def __init__(self) -> None:
        self.written: list[str] = []
        """The files that are there."""
        self._errors: list[Exception] = []

    def write(self, path: Path, writer: Callable[[Path], Any]) -> None:
        """Let ``writer`` write a file."""
        try:
            writer(path)
        except Exception as error:
            self._errors.append(error)
        else:
            self.written.append(str(path))

    def write_json(self, content: Mapping[str, Any], to: str | None, code: int) -> None:
        """Write the JSON object with the exit code."""
        whole = {**content, "exit_code": self.code(code)}
        if to is None or to == STANDARD_OUTPUT:
            write_json(whole, to)
        else:
            self.write(Path(to), lambda _: write_json(whole, to))

    def code(self, code: int) -> int:
        """Return the exit code: the one given, unless a file could not be written."""
        for error in self._errors:
            return UNEXPECTED if isinstance(error, OSError) else explain(error)[1]
        return code

    def complete(self, code: int, *, debug: bool) -> int:
        """Say what could not be written, a line each, and return the exit code."""
        for error in self._errors:
            LOGGER.error("%s", explain(error)[0], exc_info=error)
            complain(error, debug=debug)
        return self.code(code)
