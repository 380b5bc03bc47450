"""repr shows the arguments of the constructor on one line."""

from __future__ import annotations

import numpy as np
import pytest

import unipd
from unipd import atoms, couplings, maps, sharp


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (sharp.L1Ball(3, 2.0), "L1Ball(shape=(3,), radius=2)"),
        (sharp.Spectrahedron(4), "Spectrahedron(shape=(4, 4), trace=1)"),
        (sharp.Counted(sharp.Simplex(3)), "Counted(Simplex(size=3, scale=1))"),
        (sharp.from_callable(lambda y: y, 3, objective=np.sum), "CallableSharp(shape=(3,))"),
        (couplings.Box(0.0, 1.0), "Box(lower=0, upper=1)"),
        (couplings.LeastSquares(), "LeastSquares(scale=1)"),
        (maps.DenseMatrix(np.eye(2)), "DenseMatrix(matrix=<2 x 2 float64>, domain=(2,))"),
        (maps.Identity((2, 3)), "Identity(shape=(2, 3), dtype=dtype('float64'))"),
    ],
)
def test_objects_print_their_arguments(thing: object, text: str) -> None:
    assert repr(thing) == text


def test_products_of_many_sets_print_in_a_line() -> None:
    product = sharp.Product([sharp.Simplex(3)] * 50)
    assert len(repr(product)) < 200
    problem = unipd.Problem(product, [np.eye(3)] * 50, np.ones(3), "=")
    assert "Product" in repr(problem)


def _results() -> dict[str, object]:
    """Return a result of every kind that a caller receives."""
    from unipd.apps import completion, graphs, learning, tomography
    from unipd.apps.graphs.maxcut import maxcut
    from unipd.apps.sdp import SDP

    random = np.random.default_rng(0)
    problem = unipd.Problem(sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5])
    program = SDP.from_matrices(np.eye(3), [np.eye(3)], [1.0])
    graph = unipd.io.Graph.of(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0] * 4)
    simulation = tomography.simulate("random", 2, seed=0)
    state = tomography.PauliTomography(accuracy=1e-2).fit_data(simulation.data)
    users, items = np.divmod(random.choice(60, 40, replace=False), 6)
    model = completion.MatrixCompletion(accuracy=1e-2).fit((users, items), random.standard_normal(40))
    solved = unipd.solve(problem)
    return {
        "solve": solved,
        "history": solved.history,
        "semidefinite": program.solve(),
        "unbounded": SDP.from_matrices(-np.eye(2), [np.diag([1.0, 0.0])], [1.0]).solve(),
        "maxcut": maxcut(graph),
        "bisection": graphs.bisect(graph),
        "clustering": learning.kmeans(random.standard_normal((5, 2)), 2),
        "simulation": simulation,
        "data": simulation.data,
        "tomography": state,
        "tomography result": state.result_,
        "tomography state": state.state_,
        "completion": model,
        "completion result": model.result_,
        "sparse atom": atoms.one_hot((3,), 1, 2.0),
        "low-rank atom": atoms.LowRank(np.eye(9), np.eye(9), np.ones(9)),
        "blocks": atoms.Blocks((np.ones((30, 30)), atoms.one_hot((3,), 1, 2.0))),
    }


def test_every_result_prints_in_a_line() -> None:
    for name, result in _results().items():
        text = repr(result)
        assert "\n" not in text, name
        assert len(text) <= 250, (name, text)
