"""The report of a run that is still going on, served to browsers on this machine only."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from unipd.errors import InvalidInput
from unipd.report.page import render_page
from unipd.report.page_data import run_data
from unipd.report.sections import written

HOST = "127.0.0.1"
"""The only interface."""
PATIENCE = 1.5
"""Seconds that closing waits for a page that is being looked at to see the end."""
_SHARE = 0.05
"""Share of the time that building answers may take."""
_WATCHED = 3.0
Source = Callable[[], Mapping[str, Any]]


class LiveServer:
    """Serves the page of what ``source`` returns, and its data anew whenever the page asks, while the block lasts.

    There are two addresses, ``/`` and ``/data``, and nothing else; requests that name another host than this machine
    are refused, so that no page from elsewhere can read along. The thread ends with the block, or with the process.

    Parameters
    ----------
    source
        Called for the results (or runs under way) by name; from another thread.
    port
        Where to listen; 0 takes a free port.
    title
        Heading of the page.

    Examples
    --------
    >>> from urllib.request import urlopen
    >>> with LiveServer(dict) as server, urlopen(server.url) as answer:
    ...     answer.status
    200
    """

    def __init__(self, source: Source, port: int = 0, title: str = "A run under way") -> None:
        self.source, self.title = source, title
        self.done = False
        self._lock = threading.Lock()
        self._answer: bytes | None = None
        self._next = 0.0
        self._asked = -_WATCHED
        self._told = threading.Event()
        try:
            self._server = _Server((HOST, port), self)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "not a port"
            raise InvalidInput("--live-port", "a free port between 1024 and 65535", f"{port} ({reason})") from error
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="unipd-live", daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{HOST}:{self.port}/"

    def __enter__(self) -> LiveServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Tell a page that is looking that this was the end, and stop."""
        with self._lock:
            self.done, self._answer = True, None
            watched = time.monotonic() - self._asked < _WATCHED
        if watched:
            self._told.wait(PATIENCE)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(PATIENCE)

    def page(self) -> bytes:
        """Return the page."""
        return render_page(dict(self.source()), title=self.title, live="data").encode()

    def data(self) -> bytes:
        """Return what is new, or what was new a moment ago when making it takes long."""
        with self._lock:
            self._asked = begun = time.monotonic()
            done = self.done
            if self._answer is None or begun >= self._next:
                runs = dict(self.source())
                content = {"runs": [run_data(name, run) for name, run in runs.items()], "done": done, **written(runs)}
                self._answer = json.dumps(content, allow_nan=False).encode()
                spent = time.monotonic() - begun
                self._next = begun + spent / _SHARE
            answer = self._answer
        if done:
            self._told.set()
        return answer


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], live: LiveServer) -> None:
        self.live = live
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a browser that hangs up is no error of the run."""


class _Handler(BaseHTTPRequestHandler):
    timeout = 5
    server_version = "unipd"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer the two addresses."""
        live: LiveServer = self.server.live  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
        routes = {"/": (live.page, "text/html; charset=utf-8"), "/data": (live.data, "application/json")}
        if self.headers.get("Host") not in (f"{HOST}:{live.port}", f"localhost:{live.port}"):
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST)
        elif self.path not in routes:
            self._refuse(HTTPStatus.NOT_FOUND)
        else:
            make, kind = routes[self.path]
            self._send(HTTPStatus.OK, make(), kind)

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(status, f"{status.phrase}\n".encode(), "text/plain; charset=utf-8")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": "frame-ancestors 'none'",
            "Cache-Control": "no-store",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep silent: standard error belongs to the run."""
