"""Logs of runs for TensorBoard and MLflow."""

import sys

import pytest

from report.runs import solve_constrained
from unipd.errors import MissingExtra
from unipd.report import MLflowCallback, TensorBoardCallback


class Log:
    """Stands for a writer of TensorBoard and for MLflow."""

    def __init__(self):
        self.entries = []

    def add_scalar(self, tag, value, step):
        self.entries.append((step, tag, value))

    def log_metrics(self, figures, step):
        self.entries += [(step, name, value) for name, value in figures.items()]


@pytest.mark.parametrize(
    "make", [lambda log: TensorBoardCallback(log, every=5), lambda log: MLflowCallback(log, "unipd/", 5)]
)
def test_the_figures_are_those_of_the_history(make):
    log = Log()
    result = solve_constrained("unipdgrad", 12, make(log))
    assert sorted({step for step, _, _ in log.entries}) == [5, 10]
    for step, name, value in log.entries:
        assert value == result.history[name.removeprefix("unipd/")][step - 1]
    assert {name for _, name, _ in log.entries} >= {"unipd/objective", "unipd/dual_bound", "unipd/gap", "unipd/seconds"}


@pytest.mark.parametrize(
    ("package", "make"), [("tensorboardX", lambda: TensorBoardCallback("folder")), ("mlflow", MLflowCallback)]
)
def test_a_missing_package_is_named(package, make, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"unipd\[track\]"):
        make()
