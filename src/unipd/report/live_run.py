"""Runs that have not ended: collected live or read from a checkpoint, as results; served to local browsers, or logged.

:class:`LiveServer` serves the page of a run; callbacks of :func:`unipd.solve` log it to TensorBoard or MLflow.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from unipd._typing import Array
from unipd._util.lazy import import_extra
from unipd.errors import InvalidInput
from unipd.methods import Counts
from unipd.report.page import page_content, render_page
from unipd.run import IterationInfo, Result
from unipd.run.checkpoint.checkpoint import decode_history
from unipd.run.checkpoint.codec import unpack
from unipd.run.checkpoint.file import read_runs, unusable
from unipd.run.history import COLUMNS, History
from unipd.run.result import certificate_figures, problem_facts
from unipd.status import Status

MOST_RUNS = 12
"""Maximum number of runs on a page; the last ones are shown."""


def _running_result(method: str, accuracy: float, info: IterationInfo) -> Result:
    """Return a run at one of its iterations as a result, without those that have come since."""
    state, rows, display = info.state, info.history.table, info.problem.sharp.display_value
    figures = certificate_figures(info.problem, state.certificate)
    figures |= {name: display(figures[name]) for name in ("objective", "dual_bound")}
    run = Result(
        status=Status.RUNNING,
        image=state.image,
        **figures,
        accuracy=accuracy,
        method=method,
        iterations=state.iteration,
        counts=state.counts,
        seconds=info.seconds,
        history=History(rows[rows[:, 0] <= state.iteration]).convert_values(display),
        problem=info.problem,
        state=state,
    )
    return replace(run, facts=replace(problem_facts(run), maximise=display(1.0) < display(0.0)))


class RunCollector:
    """Collects running solves: a watcher for :func:`unipd.run.progress.watch_runs`, and the source of a live page.

    An iteration costs one assignment; everything else happens on request, in the thread of the server.

    See Also
    --------
    LiveServer, load_checkpoint

    Examples
    --------
    >>> import unipd
    >>> from unipd.run.progress import watch_runs
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> collector = RunCollector()
    >>> with watch_runs(collector):
    ...     result = unipd.solve(problem, "frank-wolfe")
    >>> list(collector.runs())
    ['frank-wolfe']
    """

    def __init__(self) -> None:
        self._runs: dict[str, Callable[[], Result]] = {}
        self._begun = 0

    def __call__(self, method: str, accuracy: float) -> Any:
        """Begin a run; return the callback for its iterations."""
        self._begun += 1
        name = method if self._begun == 1 else f"{method} #{self._begun}"

        def note(info: IterationInfo) -> None:
            self._runs[name] = partial(_running_result, method, accuracy, info)

        return note

    def finish(self, name: str, result: Result) -> None:
        """Replace the last run by its result.

        Parameters
        ----------
        name
            The name of the run in the report.
        result
            Its result.
        """
        if self._runs:
            self._runs.popitem()
        self._runs[name] = lambda: result

    def runs(self) -> Mapping[str, Result]:
        """Return the last runs by name, as of now."""
        return {name: result() for name, result in list(self._runs.items())[-MOST_RUNS:]}


def load_checkpoint(path: str | os.PathLike[str]) -> list[Result]:
    """Return the runs in a checkpoint as results with the figures of their last iteration, without points.

    A damaged file or one of another kind raises :class:`~unipd.errors.FileFormatError`.

    Parameters
    ----------
    path
        Path of the checkpoint.

    See Also
    --------
    is_checkpoint, unipd.Checkpoint

    Examples
    --------
    >>> import tempfile
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = unipd.solve(problem, checkpoint=unipd.Checkpoint(f"{folder}/run.ckpt"))
    ...     runs = load_checkpoint(f"{folder}/run.ckpt")
    >>> len(runs)
    1
    """
    header, records = read_runs(Path(path))
    try:
        return [_checkpoint_result(header, content, arrays) for content, arrays in records]
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise unusable(Path(path), f"the checkpoint is inconsistent ({error})") from error


def _checkpoint_result(header: dict[str, Any], run: dict[str, Any], arrays: Sequence[Array]) -> Result:
    history, status = History(decode_history(run, arrays)), unpack(run["status"], arrays)
    if not isinstance(status, Status | None):
        raise TypeError(f"a status {status!r}")
    last: Any = dict(zip(COLUMNS, history.table[-1].tolist(), strict=True)) if len(history) else {}
    return Result(
        status=status or Status.RUNNING,
        **{name: last[name] for name in ("objective", "dual_bound", "gap", "infeasibility", "seconds") if last},
        iterations=int(last.get("iteration", 0)),
        counts=Counts(*(int(last.get(name, 0)) for name in ("oracle_calls", "trials", "matvecs"))),
        history=history,
        versions=dict(header["versions"]),
        saved=str(header["written"]),
    )


HOST = "127.0.0.1"
"""The only interface."""
PATIENCE = 1.5
"""Seconds for which closing waits for an open page to fetch the end."""
_SHARE = 0.05
"""Largest share of the time spent on building answers."""
_WATCHED = 3.0
Source = Callable[[], Mapping[str, Any]]


class LiveServer:
    """Serves the page of what ``source`` returns, and fresh data on every request, while the block lasts.

    There are two addresses, ``/`` and ``/data``; requests that name another host are refused, so that no foreign page
    can read them. The thread ends with the block, or with the process.

    Parameters
    ----------
    source
        Returns the results by name; called from another thread.
    port
        Port to listen on; 0 takes a free one.
    title
        Heading of the page.

    Raises
    ------
    MissingExtra
        Without the extra ``report``.

    See Also
    --------
    RunCollector, write_report

    Examples
    --------
    >>> from urllib.request import urlopen
    >>> with LiveServer(dict) as server, urlopen(server.url) as answer:
    ...     answer.status
    200
    """

    def __init__(self, source: Source, port: int = 0, title: str = "Live run") -> None:
        for package in ("jinja2", "plotly"):  # here, not in the server's thread
            import_extra(package, "report", "a live page")
        self.source, self.title = source, title
        self.done = False
        self._lock = threading.Lock()
        self._answer: bytes | None = None
        self._next = 0.0
        self._last_request = -_WATCHED
        self._end_sent = threading.Event()
        try:
            self._server = ThreadingHTTPServer((HOST, port), partial(_Handler, self))
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a port"
            raise InvalidInput("--live-port", "a free port between 1024 and 65535", f"{port} ({reason})") from error
        self._server.handle_error = lambda request, client_address: None  # browsers that hang up
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="unipd-live", daemon=True)

    @property
    def port(self) -> int:
        """Port of the server."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{HOST}:{self.port}/"

    def __enter__(self) -> LiveServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Tell an open page that the run has ended, and stop."""
        with self._lock:
            self.done, self._answer = True, None
            watched = time.monotonic() - self._last_request < _WATCHED
        if watched:
            self._end_sent.wait(PATIENCE)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(PATIENCE)

    def page(self) -> bytes:
        """Return the page."""
        return render_page(dict(self.source()), title=self.title, live="data").encode()

    def data(self) -> bytes:
        """Return the current data, or the last answer if a new one would take too large a share of the time."""
        with self._lock:
            self._last_request = begun = time.monotonic()
            done = self.done
            if self._answer is None or begun >= self._next:
                content = {**page_content(dict(self.source())), "done": done}
                self._answer = json.dumps(content, allow_nan=False).encode()
                spent = time.monotonic() - begun
                self._next = begun + spent / _SHARE
            answer = self._answer
        if done:
            self._end_sent.set()
        return answer


_HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class _Handler(BaseHTTPRequestHandler):
    timeout = 5
    server_version = "unipd"
    sys_version = ""

    def __init__(self, live: LiveServer, *connection: Any) -> None:
        self.live = live
        super().__init__(*connection)

    def do_GET(self) -> None:
        """Serve the two addresses."""
        live = self.live
        routes = {"/": (live.page, "text/html; charset=utf-8"), "/data": (live.data, "application/json")}
        if self.headers.get("Host") not in (f"{HOST}:{live.port}", f"localhost:{live.port}"):
            self._send(HTTPStatus.MISDIRECTED_REQUEST)
        elif self.path not in routes:
            self._send(HTTPStatus.NOT_FOUND)
        else:
            make, kind = routes[self.path]
            self._send(HTTPStatus.OK, make(), kind)

    def _send(self, status: HTTPStatus, body: bytes = b"", kind: str = "text/plain; charset=utf-8") -> None:
        body = body or f"{status.phrase}\n".encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **_HEADERS}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: standard error belongs to the run."""


FIGURES = ("objective", "dual_bound", "gap", "infeasibility", "oracle_calls", "matvecs", "seconds")
"""Columns of the history that are logged."""


def _figures(info: IterationInfo) -> dict[str, float]:
    """Return the finite figures of an iteration by name."""
    found = {name: float(info.history[name][-1]) for name in FIGURES}
    return {name: value for name, value in found.items() if math.isfinite(value)}


class TensorBoardCallback:
    """Log a run to TensorBoard: one scalar a figure, objective, bound, gap, infeasibility and work.

    Parameters
    ----------
    writer
        A ``SummaryWriter`` (of ``torch.utils.tensorboard`` or ``tensorboardX``), or anything with
        ``add_scalar(tag, value, step)``; a folder opens one of ``tensorboardX``.
    prefix
        Beginning of the tags, to tell runs apart.
    every
        Number of iterations between two logs.

    See Also
    --------
    MLflowCallback : The same for MLflow.
    LiveServer : A page of a run, without further packages.

    Examples
    --------
    >>> import numpy as np, unipd
    >>> class Writer:
    ...     def add_scalar(self, tag, value, step):
    ...         if tag == "demo/oracle_calls":
    ...             print(tag, value, step)
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], unipd.couplings.LeastSquares())
    >>> log = TensorBoardCallback(Writer(), prefix="demo", every=2)
    >>> result = unipd.solve(problem, "frank-wolfe", callback=log, stop=unipd.MaxIterations(4))
    demo/oracle_calls 2.0 2
    demo/oracle_calls 4.0 4
    """

    def __init__(self, writer: Any, prefix: str = "unipd", every: int = 1) -> None:
        if isinstance(writer, (str, os.PathLike)):
            writer = import_extra("tensorboardX", "track", "a log for TensorBoard").SummaryWriter(str(writer))
        self.writer, self.prefix, self.every = writer, prefix, every

    def __call__(self, info: IterationInfo) -> None:
        """Log an iteration."""
        step = info.state.iteration
        if step % self.every == 0:
            for name, value in _figures(info).items():
                self.writer.add_scalar(f"{self.prefix}/{name}", value, step)


class MLflowCallback:
    """Log a run to MLflow's active run (``mlflow.start_run``): one metric a figure.

    Parameters
    ----------
    client
        What has ``log_metrics(figures, step=...)``; the package ``mlflow`` by default.
    prefix
        Beginning of the metrics' names.
    every
        Number of iterations between two logs: a tracking server handles some hundred calls a second.

    See Also
    --------
    TensorBoardCallback : The same for TensorBoard.

    Examples
    --------
    >>> import numpy as np, unipd
    >>> class Client:
    ...     def log_metrics(self, figures, step):
    ...         print(step, sorted(figures)[:2])
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], unipd.couplings.LeastSquares())
    >>> log = MLflowCallback(Client(), every=3)
    >>> result = unipd.solve(problem, "frank-wolfe", callback=log, stop=unipd.MaxIterations(4))
    3 ['dual_bound', 'gap']
    """

    def __init__(self, client: Any = None, prefix: str = "", every: int = 10) -> None:
        self.client = import_extra("mlflow", "track", "a log for MLflow") if client is None else client
        self.prefix, self.every = prefix, every

    def __call__(self, info: IterationInfo) -> None:
        """Log an iteration."""
        step = info.state.iteration
        if step % self.every == 0:
            figures = {f"{self.prefix}{name}": value for name, value in _figures(info).items()}
            self.client.log_metrics(figures, step=step)
