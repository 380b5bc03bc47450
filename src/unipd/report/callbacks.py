"""Callbacks of :func:`unipd.solve` that log a run to TensorBoard or MLflow, for those who watch runs there."""

from __future__ import annotations

import math
from typing import Any

from unipd._util.lazy import import_extra
from unipd.run import IterationInfo

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
        Log every so many iterations.

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
        if not hasattr(writer, "add_scalar"):
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
        Log every so many iterations: a tracking server answers some hundred calls a second.

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
