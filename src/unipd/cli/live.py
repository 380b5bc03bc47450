"""``--live``: the report of the run under way, in a browser on this machine."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from unipd.cli.exits import say

if TYPE_CHECKING:
    from unipd.report.under_way import Journal

_journal: ContextVar[Journal | None] = ContextVar("unipd_live", default=None)


@contextmanager
def served(live: bool, port: int | None, title: str, *, quiet: bool) -> Generator[None]:
    """Serve the runs of the block on 127.0.0.1; a port implies ``live``, without one a free port is taken."""
    if not live and port is None:
        yield
        return
    from unipd.report.live import LiveServer
    from unipd.report.under_way import Journal
    from unipd.run.watching import watching

    journal = Journal()
    with LiveServer(journal.runs, port or 0, title) as server, watching(journal):
        if not quiet:
            say(f"live at {server.url}")
        token = _journal.set(journal)
        try:
            yield
        finally:
            _journal.reset(token)


def finished(name: str, result: Any) -> None:
    """Show a command's result in the place of its last run, when a page is being served."""
    journal = _journal.get()
    if journal is not None and result is not None:
        journal.finish(name, result)
