"""Checks of a linear map: shapes, linearity and Re <A x, lam> = Re <x, A^* lam>."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd.doctor.probes import is_finite, random_array, random_like, tolerance
from unipd.doctor.report import FAIL, NOTE, PASS, Check, guarded
from unipd.protocols import LinearMap, inner, norm
from unipd.validate import has_parts

PROBES = 5
_DENSE_LIMIT = 10**6
"""Points with more entries are not made dense."""


def check_map(A: LinearMap, points: Sequence[Any] = (), *, seed: int = 0) -> tuple[Check, ...]:
    """Check a map at points of the form its oracle answers with (dense random ones when none are given).

    >>> from unipd.maps import DenseMatrix
    >>> [check.outcome for check in check_map(DenseMatrix(np.eye(2)))]
    ['pass', 'pass']
    """
    has_parts("A", A, "a linear map", ("domain", "codomain", "dtype"))
    generator = np.random.default_rng(seed)
    probes = _probes(generator, A, points)
    duals = [random_array(generator, A.codomain, A.dtype) for _ in range(PROBES)]
    shapes = guarded("image", lambda: _check_image(A, probes))
    if not all(check.ok for check in shapes):
        return shapes
    return shapes + guarded("adjoint", lambda: _check_adjoint(A, probes, duals))


def _probes(generator: np.random.Generator, A: LinearMap, points: Sequence[Any]) -> list[Any]:
    if points:
        return [*points, *(random_like(generator, point) for point in points)]
    blocks = bool(A.domain) and isinstance(A.domain[0], tuple)
    shapes = A.domain if blocks else (A.domain,)
    drawn = [[random_array(generator, shape, A.dtype) for shape in shapes] for _ in range(PROBES)]
    return [atoms.Blocks(tuple(parts)) if blocks else parts[0] for parts in drawn]


def _check_image(A: LinearMap, probes: Sequence[Any]) -> Check:
    """Check shape, numbers and additivity of A x."""
    images: list[Array] = []
    for point in probes:
        image = np.asarray(A.image(point))
        if image.shape != A.codomain:
            return Check("image", FAIL, f"A x has shape {image.shape}, the map says {A.codomain}")
        if image.dtype.kind == "c" and A.dtype.kind != "c":
            return Check("image", FAIL, f"A x is complex, the map says {A.dtype}")
        if not np.isfinite(image).all():
            return Check("image", FAIL, "A x has NaN or infinity for a finite x")
        images.append(image)
    if not any(image.any() for image in images):
        return Check("image", NOTE, "A x = 0 at every point tried")
    wrong = _densely(A, probes[0], images[0])
    if wrong > tolerance(A.dtype):
        return Check("image", FAIL, f"A x differs by {wrong:.1e} (relative) when x is given as an array")
    together = atoms.combination([1.0, -2.0], [probes[0], probes[-1]])
    difference = norm(np.asarray(A.image(together)) - (images[0] - 2.0 * images[-1]))
    size = norm(images[0]) + 2.0 * norm(images[-1])
    if difference > tolerance(A.dtype) * size:
        return Check("image", FAIL, f"not linear: A(x - 2 y) differs from A x - 2 A y by {difference / size:.1e}")
    return Check("image", PASS, f"shape {A.codomain}, {A.dtype}, linear at {len(probes)} points")


def _densely(A: LinearMap, point: Any, image: Array) -> float:
    """Return how much the image changes when a structured point is given as an array, relatively."""
    if isinstance(point, (np.ndarray, atoms.Blocks)) or math.prod(point.shape) > _DENSE_LIMIT:
        return 0.0
    return norm(np.asarray(A.image(atoms.dense(point))) - image) / max(norm(image), 1e-300)


def _check_adjoint(A: LinearMap, probes: Sequence[Any], duals: Sequence[Array]) -> Check:
    worst = 0.0
    for dual in duals:
        direction = A.adjoint(dual)
        wrong = _shape_problem(direction, A.domain)
        if wrong is not None:
            return Check("adjoint", FAIL, wrong)
        for point in probes:
            image = np.asarray(A.image(point))
            left, right = inner(image, dual), _pairing(direction, point)
            size = norm(image) * norm(dual) + abs(right)
            if size > 0.0:
                error = abs(left - right) / size
                worst = max(worst, error if np.isfinite(error) else np.inf)
    if worst > tolerance(A.dtype):
        detail = f"Re <A x, lam> and Re <x, A* lam> differ by {worst:.1e} (relative)"
        return Check("adjoint", FAIL, detail + _hint(A))
    return Check("adjoint", PASS, f"Re <A x, lam> = Re <x, A* lam> to {worst:.0e} at {len(probes) * len(duals)} pairs")


def _pairing(direction: Any, point: Any) -> float:
    """Return Re <A^* lam, x>, also for an operator with an array."""
    if isinstance(point, np.ndarray) and hasattr(direction, "matvec"):
        return inner(atoms.apply(direction, np.eye(direction.shape[1], dtype=point.dtype)), point)
    return atoms.inner(direction, point)


def _shape_problem(direction: Any, domain: Any) -> str | None:
    """Return what is wrong with the shape or the numbers of A^* lam, or None."""
    if domain and isinstance(domain[0], tuple):
        if len(direction) != len(domain):
            return f"A* lam has {len(direction)} blocks, x has {len(domain)}"
        pairs = zip(direction, domain, strict=True)
        return next((found for part, shape in pairs if (found := _shape_problem(part, shape))), None)
    if tuple(direction.shape) != tuple(domain):
        return f"A* lam has shape {tuple(direction.shape)}, x has {domain}"
    if isinstance(direction, np.ndarray) and not is_finite(direction):
        return "A* lam has NaN or infinity for a finite lam"
    return None


def _hint(A: LinearMap) -> str:
    return "; is a conjugate missing?" if A.dtype.kind == "c" else "; is a factor or a transpose missing?"
