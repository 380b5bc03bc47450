"""Every class of states that the library has, alone and in every wrapper, resumes bit for bit.

The classes are found by introspection: a new one without an example here fails, and so does a new wrapper.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from support.runs import constrained_problem, cut_problem, same_run, spectral_problem, vector_problem
from unipd import Checkpoint, MaxIterations, Problem, solve
from unipd.apps.completion import StagedState
from unipd.apps.graphs import maxcut_program
from unipd.apps.graphs.theta import theta
from unipd.apps.sdp import SDP, InteriorPointState
from unipd.apps.tomography import Noise, Projected, ProjectedState, simulate
from unipd.errors import UnipdError
from unipd.io import Graph
from unipd.methods import CGALState, Factored, Method, NormBarrier, NormBarrierState, State
from unipd.methods.coordinate import CoordinateDescent, CoordinateState
from unipd.methods.corrective import CorrectiveState
from unipd.methods.factored import FactoredState
from unipd.methods.frank_wolfe import ActiveSetState, FrankWolfeState
from unipd.methods.universal import AccUniPDGradState, QuasiNewtonState, UniPDGradState
from unipd.methods.wrappers import Fallback, Rescaling, Restarts, Wrapper, WrapperState
from unipd.run import watch_runs
from unipd.run.checkpoint import checkpoint

LENGTH = 9


def a_graph(nodes: int = 16) -> Graph:
    random = np.random.default_rng(4)
    rows, cols = np.nonzero(np.triu(random.random((nodes, nodes)) < 0.3, 1))
    return Graph.of(nodes, rows, cols, np.ones(rows.size))


def norm_problem() -> Problem:
    rows, columns = np.nonzero(np.random.default_rng(1).random((6, 5)) < 0.6)
    entries = unipd.maps.Sampling(rows, columns, (6, 5))
    return Problem(unipd.sharp.NuclearNormSquared((6, 5)), entries, np.sin(1.0 + np.arange(rows.size)), "=")


def smooth_problem() -> Problem:
    """A distribution of largest entropy."""
    random = np.random.default_rng(5)
    A = random.standard_normal((5, 12))
    return Problem(unipd.sharp.Entropy(12), A, A @ random.dirichlet(np.ones(12)), "<=")


EXAMPLES: dict[type[State], tuple[Callable[[], Problem], Method]] = {
    UniPDGradState: (constrained_problem, unipd.UniPDGrad()),
    AccUniPDGradState: (constrained_problem, unipd.AccUniPDGrad()),
    QuasiNewtonState: (smooth_problem, unipd.QuasiNewton(period=3)),
    FrankWolfeState: (vector_problem, unipd.FrankWolfe()),
    ActiveSetState: (vector_problem, unipd.PairwiseFrankWolfe()),
    CoordinateState: (vector_problem, CoordinateDescent(working_set=1)),
    CGALState: (constrained_problem, unipd.CGAL()),
    CorrectiveState: (constrained_problem, unipd.Corrective()),
    NormBarrierState: (norm_problem, NormBarrier()),
    FactoredState: (cut_problem, Factored(inner_steps=2, rank=2)),
    ProjectedState: (spectral_problem, Projected(rank=2)),
}
"""A problem and a method for every class of states that is not a wrapper's, nor of one application only."""

WRAPPERS: dict[str, Callable[[Method], Method]] = {
    "alone": lambda method: method,
    "Restarts": lambda method: Restarts(method),  # type: ignore[arg-type]
    "Rescaling": Rescaling,
    "Fallback": lambda method: Fallback(method, unipd.Corrective(), patience=2),
    "Fallback, second": lambda method: Fallback(unipd.UniPDGrad(), method, patience=1),
    "Rescaling, Fallback, Restarts": lambda method: Rescaling(
        Fallback(Restarts(unipd.AccUniPDGrad()), method, patience=2)
    ),
}
"""Every wrapper around a method, alone and nested."""


def subclasses(kind: type) -> set[type]:
    """Return all classes of the library that derive from this one and from which none derives."""
    below = {part for part in kind.__subclasses__() if part.__module__.startswith("unipd.")}
    return {leaf for part in below for leaf in (subclasses(part) or {part})}


def test_every_class_of_states_has_an_example() -> None:
    for module in pkgutil.walk_packages(unipd.__path__, "unipd."):
        if module.name.endswith("__main__") or (module.name == "unipd.cvxpy" and sys.version_info < (3, 11)):
            continue  # CVXPY 1.9 has left Python 3.10
        importlib.import_module(module.name)
    in_applications = {kind for _, kind in APPLICATIONS.values()}
    assert subclasses(State) - subclasses(WrapperState) <= set(EXAMPLES) | in_applications
    assert {kind.__name__ for kind in subclasses(Wrapper)} == {name for name in WRAPPERS if name.isalpha()} - {"alone"}


def states_inside(state: Any) -> Iterator[State]:
    """Yield a state and the states that it holds."""
    if isinstance(state, State):
        yield state
        for part in vars(state).values():
            yield from states_inside(part)


def combinations() -> list[Any]:
    """Return the wrappers that take each method."""
    found: list[Any] = []
    for kind, (_, method) in EXAMPLES.items():
        for name, wrap in WRAPPERS.items():
            with contextlib.suppress(UnipdError):  # Restarts takes universal methods only
                found.append(pytest.param(kind, wrap(method), id=f"{kind.__name__}, {name}"))
    return found


@pytest.mark.parametrize(("kind", "method"), combinations())
def test_a_state_resumes_bit_for_bit_in_every_wrapper(kind: type[State], method: Method, tmp_path: Path) -> None:
    make, _ = EXAMPLES[kind]
    settings: dict[str, Any] = {"accuracy": 1e-9}
    seen = set[type]()
    whole = solve(
        make(),
        method,
        stop=MaxIterations(LENGTH),
        callback=lambda info: seen.update(map(type, states_inside(info.state))),
        **settings,
    )
    assert kind in seen
    for limit in range(1, LENGTH + 1):
        last = solve(
            make(), method, stop=MaxIterations(limit), checkpoint=tmp_path / "run.ckpt", resume=True, **settings
        )
    same_run(last, whole)


# Applications, which do several runs under one checkpoint.


class KilledError(BaseException):
    """What nobody catches: the process is gone."""


def _ratings() -> Any:
    users, items = np.meshgrid(np.arange(12), np.arange(9), indexing="ij")
    return users.ravel(), items.ravel(), 1.0 + (7 * users + 3 * items * items).ravel() % 5


def _dense_program() -> SDP:
    random = np.random.default_rng(0)
    cost, first, second = (0.5 * (a + a.T) for a in random.standard_normal((3, 5, 5)))
    return SDP.from_matrices(cost @ cost, [first, second, np.eye(5)], [0.1, -0.2, 1.0])


APPLICATIONS: dict[str, tuple[Callable[[], Any], type[State]]] = {
    "completion": (lambda: unipd.MatrixCompletion(8.0, accuracy=1e-6).fit(_ratings()).result_, StagedState),
    "completion, radius": (lambda: unipd.MatrixCompletion("auto").fit(_ratings()).result_, StagedState),
    "tomography": (
        lambda: unipd.PauliTomography().fit_data(simulate("mixed", 3, noise=Noise(shots=500)).data).result_,
        ProjectedState,
    ),
    "program": (lambda: _dense_program().solve(1e-8, method="interior"), InteriorPointState),
    "program, corrective": (lambda: _dense_program().solve(method="corrective"), CorrectiveState),
    "program, factored": (lambda: _dense_program().solve(method="factored"), FactoredState),
    "theta": (lambda: theta(a_graph(), 1e-8), FactoredState),
    "maxcut": (lambda: maxcut_program(a_graph()).solve(1e-7), FactoredState),
}
"""What to run, and a class of states that the run goes through."""


@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_resumes_bit_for_bit(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, kind = APPLICATIONS[name]
    seen, path, write = set[type](), tmp_path / "run.ckpt", checkpoint.write_checkpoint
    with watch_runs(lambda method, accuracy: lambda info: seen.update(map(type, states_inside(info.state)))):
        whole = run()
    assert kind in seen
    writes, deaths = 0, 0

    def write_or_die(*arguments: Any) -> None:
        nonlocal writes, deaths
        writes += 1
        if writes in (2, 4, 8, 16, 32):
            deaths += 1
            raise KilledError
        write(*arguments)

    monkeypatch.setattr(checkpoint, "write_checkpoint", write_or_die)
    last = None
    while last is None:
        with contextlib.suppress(KilledError), Checkpoint(path, "1it", resume=True):
            last = run()
    assert deaths > 0
    assert (last.status, last.iterations, last.counts) == (whole.status, whole.iterations, whole.counts)
    assert (last.objective, last.dual_bound, last.gap) == (whole.objective, whole.dual_bound, whole.gap)
    np.testing.assert_array_equal(last.dual, whole.dual)
