"""Every coupling of the library with its independent definition for the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd.couplings import (
    Absolute,
    AtLeast,
    AtMost,
    Box,
    Equality,
    HalfSpace,
    Huber,
    L1Ball,
    L2Ball,
    LeastSquares,
    LInfBall,
    Logistic,
    MultinomialLikelihood,
    NuclearBall,
    PoissonLikelihood,
    Product,
    PSDCone,
    Scaled,
    SecondOrderCone,
    SpectralBall,
    Translated,
    WeightedLeastSquares,
)

REAL = (np.float64, np.float32)
ANY = (np.float64, np.float32, np.complex128, np.complex64)


@dataclass(frozen=True)
class SetCase:
    """A set K with a sampler of its members and a naive measure of how far a vector is from obeying its definition."""

    name: str
    coupling: Any
    shape: tuple[int, ...]
    dtypes: tuple[Any, ...]
    member: Callable[[np.random.Generator, Any], np.ndarray]
    violation: Callable[[np.ndarray], float]


@dataclass(frozen=True)
class LossCase:
    """A loss phi with its naive formula for one entry of given index."""

    name: str
    coupling: Any
    shape: tuple[int, ...]
    dtypes: tuple[Any, ...]
    entry: Callable[[float, int], float]
    positive: bool = False
    """Whether phi is finite for positive numbers only."""


def sample(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return normal numbers of any of the four dtypes."""
    numbers = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        numbers = numbers + 1j * rng.standard_normal(shape)
    return numbers.astype(dtype)


def _singular(r: np.ndarray) -> np.ndarray:
    return np.linalg.svd(r.reshape(3, 2), compute_uv=False)


_NORMS: dict[str, Callable[[np.ndarray], float]] = {
    "l1": lambda r: float(np.abs(r).sum()),
    "l2": lambda r: float(np.sqrt((np.abs(r) ** 2).sum())),
    "linf": lambda r: float(np.abs(r).max()),
    "nuclear": lambda r: float(_singular(r).sum()),
    "spectral": lambda r: float(_singular(r)[0]),
}


def _ball(name: str, coupling: Any, norm: str, radius: float, shape: tuple[int, ...]) -> SetCase:
    measure = _NORMS[norm]

    def member(rng: np.random.Generator, dtype: Any) -> np.ndarray:
        draw = sample(rng, shape, dtype)
        share = rng.choice([1.0, rng.uniform()])
        return (draw * (share * radius / measure(draw))).astype(dtype)

    return SetCase(name, coupling, shape, ANY, member, lambda r: max(measure(r) - radius, 0.0))


def _box(name: str, lower: Any, upper: Any, shape: tuple[int, ...]) -> SetCase:
    low, high = np.broadcast_to(lower, shape), np.broadcast_to(upper, shape)

    def member(rng: np.random.Generator, dtype: Any) -> np.ndarray:
        draw = 3.0 * rng.standard_normal(shape)
        corner = np.where(rng.uniform(size=shape) < 0.5, low, high)
        draw = np.where(np.isfinite(corner) & (rng.uniform(size=shape) < 0.5), corner, draw)
        return np.minimum(np.maximum(draw, low), high).astype(dtype)

    def violation(r: np.ndarray) -> float:
        return float(np.maximum(np.maximum(low - r, r - high), 0.0).max())

    return SetCase(name, Box(lower, upper), shape, REAL, member, violation)


def _orthant(name: str, coupling: Any, sign: float) -> SetCase:
    return SetCase(
        name,
        coupling,
        (4,),
        REAL,
        lambda rng, dtype: (sign * np.abs(sample(rng, (4,), dtype))).astype(dtype),
        lambda r: float(np.maximum(-sign * r, 0.0).max()),
    )


def _half_space(name: str, normal: np.ndarray, offset: float, dtypes: tuple[Any, ...]) -> SetCase:
    def member(rng: np.random.Generator, dtype: Any) -> np.ndarray:
        draw = sample(rng, normal.shape, dtype).astype(np.result_type(dtype, np.float64))
        height = np.vdot(normal, draw).real
        wanted = offset - rng.choice([0.0, rng.exponential()])
        return (draw + (wanted - height) / np.vdot(normal, normal).real * normal).astype(dtype)

    def violation(r: np.ndarray) -> float:
        return max(float(np.vdot(normal, r).real) - offset, 0.0)

    return SetCase(name, HalfSpace(normal, offset), normal.shape, dtypes, member, violation)


def _second_order(name: str, size: int) -> SetCase:
    def member(rng: np.random.Generator, dtype: Any) -> np.ndarray:
        draw = sample(rng, (size,), np.float64)
        draw[0] = np.linalg.norm(draw[1:]) + rng.choice([0.0, rng.exponential()])
        return draw.astype(dtype)

    def violation(r: np.ndarray) -> float:
        return max(float(np.sqrt((r[1:] ** 2).sum()) - r[0]), 0.0)

    return SetCase(name, SecondOrderCone(), (size,), REAL, member, violation)


def _psd_member(rng: np.random.Generator, dtype: Any) -> np.ndarray:
    factor = sample(rng, (3, int(rng.integers(1, 4))), dtype)
    return factor @ factor.conj().T


def _psd_violation(r: np.ndarray) -> float:
    matrix = r.reshape(3, 3)
    return max(-float(np.linalg.eigvalsh(matrix)[0]), float(np.abs(matrix - matrix.conj().T).max()), 0.0)


def _psd(name: str, shape: tuple[int, ...]) -> SetCase:
    return SetCase(
        name, PSDCone(3), shape, ANY, lambda rng, dtype: _psd_member(rng, dtype).reshape(shape), _psd_violation
    )


def _equality() -> SetCase:
    return SetCase(
        "Equality",
        Equality(),
        (4,),
        ANY,
        lambda rng, dtype: np.zeros(4, dtype),
        lambda r: float(np.abs(r).max()),
    )


def _product(cases: list[SetCase]) -> SetCase:
    sizes = [int(np.prod(case.shape)) for case in cases]
    cuts = np.cumsum(sizes)[:-1]

    def member(rng: np.random.Generator, dtype: Any) -> np.ndarray:
        return np.concatenate([case.member(rng, dtype).reshape(-1) for case in cases])

    def violation(r: np.ndarray) -> float:
        return max(case.violation(part) for case, part in zip(cases, np.split(r, cuts), strict=True))

    coupling = Product([case.coupling for case in cases], sizes)
    return SetCase("Product", coupling, (sum(sizes),), REAL, member, violation)


def _translate(base: SetCase, shift: np.ndarray) -> SetCase:
    return SetCase(
        f"Translated {base.name}",
        Translated(base.coupling, shift),
        base.shape,
        base.dtypes,
        lambda rng, dtype: (base.member(rng, dtype) + shift).astype(dtype),
        lambda r: base.violation(r - shift),
    )


def _scale(base: SetCase, factor: float) -> SetCase:
    return SetCase(
        f"Scaled {base.name}",
        Scaled(base.coupling, factor),
        base.shape,
        base.dtypes,
        lambda rng, dtype: (factor * base.member(rng, dtype)).astype(dtype),
        lambda r: factor * base.violation(r / factor),
    )


_L2 = _ball("L2Ball", L2Ball(1.25), "l2", 1.25, (4,))
_BOX = _box("Box", -0.75, [1.0, 2.0, np.inf, -0.5], (4,))
_SOC = _second_order("SecondOrderCone", 4)
_HALF = _half_space("HalfSpace", np.array([1.0, -2.0, 0.3]), 0.7, ANY)

SETS: list[SetCase] = [
    _equality(),
    _orthant("AtLeast", AtLeast(), 1.0),
    _orthant("AtMost", AtMost(), -1.0),
    _BOX,
    _box("Box one-sided", [-np.inf, 0.1, -np.inf], [0.3, np.inf, np.inf], (3,)),
    _box("Box thin", 0.1, 0.1, (3,)),
    _ball("L1Ball", L1Ball(1.7), "l1", 1.7, (5,)),
    _ball("L1Ball matrix", L1Ball(0.6), "l1", 0.6, (2, 3)),
    _L2,
    _ball("LInfBall", LInfBall(0.3), "linf", 0.3, (5,)),
    _HALF,
    _half_space("HalfSpace negative", np.array([0.1, 0.2, 3.0, 1.0]), -1.3, ANY),
    _half_space("HalfSpace complex", np.array([1.0 + 2.0j, -0.5j, 0.3]), 0.4, ANY[2:]),
    _SOC,
    _second_order("SecondOrderCone short", 1),
    _psd("PSDCone", (3, 3)),
    _psd("PSDCone flat", (9,)),
    _ball("NuclearBall", NuclearBall(1.4, (3, 2)), "nuclear", 1.4, (3, 2)),
    _ball("SpectralBall flat", SpectralBall(0.8, (3, 2)), "spectral", 0.8, (6,)),
    _product([_SOC, _BOX, _psd("PSDCone flat", (9,)), _equality(), _HALF]),
    _translate(_L2, np.array([0.1, -0.5, 2.0, 0.7])),
    _translate(_SOC, np.array([0.1, -0.5, 2.0, 0.7])),
    _scale(_BOX, 0.3),
    _scale(_SOC, 2.5),
]

_WEIGHTS = np.array([0.3, 1.0, 4.0])


def _huber(delta: float) -> Callable[[float, int], float]:
    return lambda r, i: 0.5 * r * r if abs(r) <= delta else delta * (abs(r) - 0.5 * delta)


def _logistic(r: float, i: int) -> float:
    return float(np.log1p(np.exp(-abs(r)))) + max(-r, 0.0)


_COUNTS = np.array([3.0, 0.0, 1.0, 7.5])


def _multinomial(p: float, i: int) -> float:
    count = float(_COUNTS[i])
    return 0.0 if count == 0.0 else count * float(np.log(count / (20.0 * p))) if p > 0.0 else np.inf


def _poisson(p: float, i: int) -> float:
    return _multinomial(p, i) + 20.0 * p - float(_COUNTS[i])


LOSSES: list[LossCase] = [
    LossCase("LeastSquares", LeastSquares(), (3,), ANY, lambda r, i: 0.5 * r * r),
    LossCase("LeastSquares scaled", LeastSquares(2.5), (2, 2), ANY, lambda r, i: 1.25 * r * r),
    LossCase(
        "WeightedLeastSquares",
        WeightedLeastSquares(_WEIGHTS),
        (3,),
        ANY,
        lambda r, i: 0.5 * float(_WEIGHTS[i]) * r * r,
    ),
    LossCase("Huber", Huber(0.7, slack_radius=3.1), (3,), ANY, _huber(0.7)),
    LossCase("Huber small slack", Huber(2.3, slack_radius=0.9), (2, 2), ANY, _huber(2.3)),
    LossCase("Logistic", Logistic(slack_radius=4.3), (4,), REAL, _logistic),
    LossCase("Absolute", Absolute(slack_radius=1.9), (4,), ANY, lambda r, i: abs(r)),
    LossCase(
        "Product of losses",
        Product([LeastSquares(2.0), WeightedLeastSquares(_WEIGHTS)], [2, 3]),
        (5,),
        ANY,
        lambda r, i: (2.0 if i < 2 else float(_WEIGHTS[i - 2])) * 0.5 * r * r,
    ),
    LossCase("Multinomial", MultinomialLikelihood(_COUNTS, shots=20), (4,), REAL, _multinomial, positive=True),
    LossCase("Poisson", PoissonLikelihood(_COUNTS, exposure=20), (4,), REAL, _poisson, positive=True),
]

CASES: list[SetCase | LossCase] = [*SETS, *LOSSES]


def names(cases: list[Any]) -> list[str]:
    """Return the test ids."""
    return [case.name for case in cases]
