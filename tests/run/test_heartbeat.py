"""Progress messages during long iterations."""

from __future__ import annotations

import numpy as np

import unipd
from unipd._util.context import notify, subscribe
from unipd.run import Heartbeat
from unipd.spectral import Engine


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_line_after_a_silence_which_grows_with_the_run():
    clock, lines = Clock(), []
    heartbeat = Heartbeat(lambda seconds, text: lines.append((seconds, text)), clock=clock)
    for second in range(1, 201):
        clock.now = float(second)
        heartbeat("eigenvector", 1)
    assert lines[0] == (5.0, "eigenvector: 5 products, 1 a second")
    gaps = np.diff([seconds for seconds, _ in lines])
    assert gaps.min() == 5.0
    assert gaps.max() > 15.0


def test_the_count_begins_anew_with_other_work_and_after_an_iteration():
    clock, lines = Clock(), []
    heartbeat = Heartbeat(lambda _, text: lines.append(text), silence=0.0, clock=clock)
    for work in ("eigenvector", "eigenvector", "steps"):
        clock.now += 1.0
        heartbeat(work, 2)
    heartbeat.start_count()
    clock.now += 1.0
    heartbeat("steps", 3)
    assert [line.split(",")[0] for line in lines] == [
        "eigenvector: 2 products",
        "eigenvector: 4 products",
        "steps: 2 products",
        "steps: 3 products",
    ]


def test_products_of_eigenvectors_and_of_steps_are_heard_and_counted():
    heard: list[tuple[str, int]] = []
    matrix = np.diag(np.arange(1.0, 41.0))
    with subscribe(lambda work, products: heard.append((work, products))):
        found = Engine(solver="lanczos").eigenpairs(matrix)
        loss = unipd.couplings.LeastSquares()
        entries = unipd.maps.DenseMatrix(np.eye(4), domain=(2, 2))
        problem = unipd.Problem(unipd.sharp.Spectrahedron(2), entries, np.array([0.75, 0.0, 0.0, 0.25]), loss)
        unipd.solve(problem, "factored", accuracy=1e-6)
    notify("nobody listens", 1)
    assert sum(products for work, products in heard if work == "eigenvector") == found.matvecs
    assert {work for work, _ in heard} == {"eigenvector", "quasi-Newton steps"}
