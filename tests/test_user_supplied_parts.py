"""What a part of the library holds of the user's counts as user-supplied, whichever part it is."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import unipd
from couplings.registry import CASES as COUPLINGS
from maps.registry import REGISTRY as MAPS
from sharp.registry import CASES as ORACLES
from unipd import MaxIterations, Problem, couplings, maps, sharp, solve
from unipd.apps.learning import CutFunction
from unipd.couplings import CouplingBase, Ellipsoid
from unipd.io import Graph
from unipd.maps import CostAndConstraintsMap, Entries, Reflection, SdpMap
from unipd.maps.pauli import OutcomeMap
from unipd.protocols import Adapted, MapDefaults, OracleDefaults, is_user_supplied
from unipd.sharp.spectral import BalancedNuclearNormSquared, BoundedTrace, FixedTrace, SdpCost, TraceSquared
from unipd.spectral import Engine

PARTS = (OracleDefaults, MapDefaults, CouplingBase, Adapted)
LIBRARYS_OWN = {
    ("Entropy", "simplex"),
    ("InnerProducts", "_sampling"),
    ("SdpCost", "cost_map"),
    ("OutcomeMap", "pauli_map"),
    ("GroupNuclearBall", "_parts"),
    ("SchattenSquared", "values"),
}
"""Attributes that a constructor makes of numbers; the map of a semidefinite program is also its problem's."""
_SDP = SdpMap((2, 2), Entries.from_matrices([np.diag([1.0, 2.0]), np.eye(2)]), 2)
_COST = CostAndConstraintsMap(_SDP)
OTHERS = [
    Ellipsoid(1.0, np.array([1.0, 2.0])),
    maps.RowScaled(maps.Identity(2), np.ones(2)),
    maps.Incidence([0, 1], 2),
    maps.CodedDiffraction(np.ones((1, 2))),
    maps.PauliMap(1, [1], [0]),
    OutcomeMap(["X"]),
    _SDP,
    _COST,
    maps.TwoSidedMap(_SDP, Reflection(np.ones(2))),
    sharp.Fantope(3, 2),
    sharp.GroupNuclearBall((2, 2), [[0], [1]]),
    sharp.NuclearNormOnBall((2, 2)),
    sharp.NuclearNormSquared((2, 2)),
    BalancedNuclearNormSquared((2, 2)),
    sharp.NuclearBall((2, 2)),
    BoundedTrace(2),
    FixedTrace(2),
    SdpCost(_COST, FixedTrace(2)),
    TraceSquared(2),
    sharp.Spectrahedron(2),
    sharp.TraceBall(2),
    sharp.SpectralBall((2, 2)),
    sharp.SchattenSquared((2, 2), 3.0),
    sharp.WeightedNuclearBall(np.ones(2), np.ones(2)),
]


def _instances() -> list[Any]:
    made = [make(np.random.default_rng(0), np.float64).map for make in MAPS.values()]
    return [case.oracle for case in ORACLES] + made + [case.coupling for case in COUPLINGS] + OTHERS


def _held(value: Any) -> Iterator[Any]:
    """Yield what an attribute holds, also in a sequence or a mapping."""
    if isinstance(value, (list, tuple, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _held(inner)
    else:
        yield value


def _concrete(kind: type) -> set[type]:
    below = {each for subclass in kind.__subclasses__() for each in {subclass} | _concrete(subclass)}
    return {each for each in below if each.__module__.startswith("unipd.") and not inspect.isabstract(each)}


def test_an_instance_of_every_class_is_examined() -> None:
    for package in (sharp, maps, couplings):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    rooms = tuple(f"{package.__name__}." for package in (sharp, maps, couplings))
    found = {kind for base in PARTS[:3] for kind in _concrete(base) if kind.__module__.startswith(rooms)}
    assert {kind.__name__ for kind in found} <= {type(each).__name__ for each in _instances()}


@pytest.mark.parametrize("part", _instances(), ids=lambda part: type(part).__name__)
def test_what_a_part_holds_is_named(part: Any) -> None:
    """An oracle, a map or a coupling inside is an inner part; any other callable makes the whole user-supplied."""
    for name, value in vars(part).items():
        for inside in _held(value):
            if isinstance(inside, PARTS):
                is_named = any(inside is each for each in part.inner_parts)
                assert is_named or part.runs_user_code or (type(part).__name__, name) in LIBRARYS_OWN, name
            elif callable(inside) and not type(inside).__module__.startswith("unipd."):
                assert part.runs_user_code, name


class Forgetful(sharp.NormBall):
    """The ball of max |x_i|, with a dual norm that counts only a quarter of the first entry."""

    def norm(self, point: Any) -> float:
        return float(np.abs(point).max())

    def dual_norm(self, direction: Any) -> float:
        return float(np.abs(direction[1:]).sum() + 0.25 * abs(direction[0]))

    def maximiser(self, direction: Any) -> Any:
        return self.radius * np.where(np.arange(direction.size) == 0, 0.25, 1.0) * np.sign(direction)


class OtherEngine(Engine):
    """An engine that is not the library's."""


@pytest.mark.parametrize("oracle", [sharp.NormSquared, sharp.PowerNorm, sharp.NormOnBall])
def test_the_norm_of_a_user_proves_nothing(oracle: Any) -> None:
    random = np.random.default_rng(0)
    problem = Problem(oracle(Forgetful(4, 9.0)), random.standard_normal((2, 4)), random.standard_normal(2), "=")
    assert problem.user_supplied == ("oracle",)
    assert solve(problem, "accunipdgrad", stop=MaxIterations(3)).bound_kind not in ("rigorous", "probabilistic")


def test_a_function_or_an_engine_of_the_user_is_known_and_those_of_the_library_too() -> None:
    assert is_user_supplied(sharp.BasePolytope(np.count_nonzero, 3))
    assert is_user_supplied(sharp.Spectrahedron(3, engine=OtherEngine()))
    assert not is_user_supplied(sharp.BasePolytope(CutFunction(Graph.of(2, [0], [1], np.ones(1))), 2))
    assert not is_user_supplied(unipd.sharp.NormSquared(sharp.L1Ball(3)))
