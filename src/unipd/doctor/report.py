"""The outcome of a check, the report of many, and the random points at which checks probe a problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd._util.arrays import draw_normal
from unipd._util.printing import html_table, plain_table

PASS, FAIL, NOTE, SKIP = "pass", "fail", "note", "skip"


@dataclass(frozen=True)
class Check:
    """One outcome: "pass", "fail", "note" (worth knowing, not wrong) or "skip" (could not be checked).

    Parameters
    ----------
    name
        What was checked.
    outcome
        "pass", "fail", "note" or "skip".
    detail
        What was found.

    See Also
    --------
    Report, check

    Examples
    --------
    >>> Check("adjoint", FAIL, "differs by 1e-3").ok
    False
    """

    name: str
    outcome: str
    detail: str

    @property
    def ok(self) -> bool:
        """Whether the check did not fail."""
        return self.outcome != FAIL


@dataclass(frozen=True)
class Report:
    """Checks in order, by name or by place; prints as a table, and shows as HTML in notebooks.

    Parameters
    ----------
    checks
        The checks, in order.

    See Also
    --------
    Check, check

    Examples
    --------
    >>> report = Report((Check("adjoint", PASS, "to 1e-16"), Check("scaling", NOTE, "rows differ")))
    >>> report.ok
    True
    >>> print(report)
    pass  adjoint  to 1e-16
    note  scaling  rows differ
    """

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return all(check.ok for check in self.checks)

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.ok)

    def __iter__(self) -> Iterator[Check]:
        """Iterate over the checks."""
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    @overload
    def __getitem__(self, key: str | int) -> Check: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Check, ...]: ...
    def __getitem__(self, key: str | int | slice) -> Check | tuple[Check, ...]:
        """Return the check of this name, or by its place as in a tuple."""
        if not isinstance(key, str):
            return self.checks[key]
        return {check.name: check for check in reversed(self.checks)}[key]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values (what ``unipd doctor --json`` prints)."""
        return {"ok": self.ok, "checks": [vars(check) for check in self.checks]}

    def rows(self) -> list[tuple[str, str, str]]:
        """Return outcome, name and detail of every check."""
        return [(check.outcome, check.name, check.detail) for check in self.checks]

    def __str__(self) -> str:
        return plain_table(self.rows())

    def _repr_html_(self) -> str:
        return html_table(self.rows())


class CheckFailed(Exception):
    """A property that a part of the problem lacks."""


def require(condition: bool, detail: str) -> None:
    """Fail the running check unless a condition holds."""
    if not condition:
        raise CheckFailed(detail)


def run_check(name: str, check: Callable[..., str | Check], *arguments: Any) -> Check:
    """Run a check: it returns the detail of a pass or an outcome, and fails with :func:`require` or any exception."""
    try:
        outcome = check(*arguments)
    except Exception as error:  # from the code under test
        return failure(name, error)
    return Check(name, PASS, outcome) if isinstance(outcome, str) else outcome


def failure(name: str, error: Exception) -> Check:
    """Return the outcome of a check that raised."""
    if isinstance(error, CheckFailed):
        return Check(name, FAIL, str(error))
    return Check(name, FAIL, f"raised {type(error).__name__}: {first_line(error)}")


def first_line(error: BaseException) -> str:
    """Return an exception's message up to the first line break.

    >>> first_line(ValueError("too short"))
    'too short'
    """
    return str(error).split("\n", 1)[0]


ROUNDING = 1e4
"""Relative differences up to this multiple of the machine epsilon count as rounding."""
PROBES = 6
"""Random points, directions or dual vectors at which a part is checked."""


def random_like(generator: np.random.Generator, atom: Any) -> Any:
    """Return a random point with the structure and norm of ``atom``: its sparsity, its rank, its blocks.

    >>> point = random_like(np.random.default_rng(0), atoms.one_hot((5,), 1, 2.0))
    >>> point.values.size, float(np.linalg.norm(point.dense()).round(12))
    (1, 2.0)
    """
    if isinstance(atom, atoms.Blocks):
        return atoms.Blocks(tuple(random_like(generator, part) for part in atom.parts))
    if isinstance(atom, atoms.SparsePoint):
        places = generator.choice(math.prod(atom.shape), size=atom.values.size, replace=False)
        values = draw_normal(generator, atom.values.shape, atom.dtype)
        return atoms.SparsePoint(atom.shape, places, _rescale_to(values, atom.values))
    if isinstance(atom, atoms.LowRank):
        left = _random_columns(generator, atom.left)
        return atoms.LowRank(left, left if atom.hermitian else _random_columns(generator, atom.right), atom.weights)
    array = np.asarray(atom)
    return _rescale_to(draw_normal(generator, array.shape, array.dtype), array)


def rearrange(generator: np.random.Generator, atom: Any) -> list[Any]:
    """Return points that often lie in the same set: the same entries with other positions or signs."""
    if isinstance(atom, atoms.SparsePoint):
        places = generator.choice(math.prod(atom.shape), size=atom.values.size, replace=False)
        return [
            atoms.SparsePoint(atom.shape, places, atom.values),
            atoms.SparsePoint(atom.shape, atom.indices, -atom.values),
            atoms.SparsePoint(atom.shape, places, -atom.values),
        ]
    if isinstance(atom, np.ndarray):
        mixed = generator.permutation(atom.reshape(-1)).reshape(atom.shape)
        return [mixed, -atom, -mixed]
    return [random_like(generator, atom), atoms.scale_atom(atom, -1.0)]


def tolerance(dtype: Any) -> float:
    """Return the largest relative difference that counts as rounding.

    >>> tolerance(np.float64) < 1e-11 < tolerance(np.float32)
    True
    """
    return ROUNDING * float(np.finfo(dtype).eps)


def is_finite(atom: Any) -> bool:
    """Whether a point has neither NaN nor infinity."""
    return all(bool(np.isfinite(array).all()) for array in _arrays(atom))


def size_of(point: Any) -> float:
    """Return the Euclidean norm where it is cheap, else 1."""
    if isinstance(point, np.ndarray):
        return float(np.linalg.norm(point.reshape(-1)))
    if isinstance(point, atoms.SparsePoint):
        return float(np.linalg.norm(point.values))
    parts = point.parts if isinstance(point, atoms.Blocks) else point if isinstance(point, tuple) else ()
    return math.sqrt(sum(size_of(part) ** 2 for part in parts)) if parts else 1.0


def precision_of(atom: Any) -> Any:
    """Return the dtype whose rounding an atom carries."""
    return atom.dtype if atom.dtype.kind in "fc" else np.float64


def all_equal(points: Sequence[Any]) -> bool:
    """Whether points are equal bit for bit."""
    flat = [_arrays(point) for point in points]
    return all(len(one) == len(flat[0]) and all(map(np.array_equal, one, flat[0])) for one in flat)


def _arrays(atom: Any) -> list[Any]:
    """Return the arrays of an atom."""
    if isinstance(atom, atoms.Blocks):
        return [array for part in atom.parts for array in _arrays(part)]
    if isinstance(atom, atoms.SparsePoint):
        return [atom.indices, atom.values]
    if isinstance(atom, atoms.LowRank):
        return [atom.left, atom.right, atom.weights]
    return [np.asarray(atom)]


def _random_columns(generator: np.random.Generator, factor: Array) -> Array:
    """Return random columns with the norms of those of a factor."""
    columns = draw_normal(generator, factor.shape, factor.dtype)
    ratio = np.linalg.norm(factor, axis=0) / np.linalg.norm(columns, axis=0)
    return (columns * ratio).astype(factor.dtype, copy=False)


def _rescale_to(values: Array, model: Array) -> Array:
    """Return the values with the Euclidean norm of the model (unchanged when that is zero)."""
    target, size = float(np.linalg.norm(model)), float(np.linalg.norm(values))
    return (values * (target / size)).astype(values.dtype, copy=False) if target and size else values
