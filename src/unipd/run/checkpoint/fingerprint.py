"""What a run depends on, one digest per part: a run resumes from a checkpoint only if all of them agree.

Numbers, arrays and the library's own objects are digested by value. User-supplied oracles, maps and couplings are
compared by a *probe*, the numbers that they return at a dual vector drawn with a fixed seed; user-supplied methods and
trackers by their class name and their fields.
"""

from __future__ import annotations

import functools
import hashlib
import math
import sys
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy

from unipd._util.arrays import draw_normal, inner, norm
from unipd.problem import Problem
from unipd.protocols import declares

_SEED = 20
_TOLERANCE = 1e-6
"""Relative difference of probes that is ignored: a user-supplied oracle may round differently each time."""


def probe_problem(problem: Problem) -> list[float | str]:
    """Return numbers that oracle, map and coupling give at a dual vector drawn with a fixed seed."""
    dual = draw_normal(np.random.default_rng(_SEED), problem.dual_shape, problem.dtype)
    failures: list[str] = []
    try:
        answer = problem.sharp(problem.map.adjoint(-dual))
        image = np.asarray(problem.map.image(answer.atom))
        numbers = [answer.value, answer.objective, norm(image), inner(dual, image)]
    except Exception as error:  # user-supplied code that raises must raise the same error again
        numbers, failures = [], [type(error).__name__]
    if problem.loss is not None:
        numbers.append(problem.loss.value(dual))
    else:
        numbers.append(problem.coupling.distance(dual))
        if problem.is_mixed:
            numbers.append(problem.coupling.penalty(dual))
    return [*failures, *(float(number) if math.isfinite(number) else str(number) for number in numbers)]


def probes_agree(here: Any, there: Any) -> bool:
    """Whether two probes are equal up to rounding.

    >>> probes_agree([1.0, "inf"], [1.0 + 1e-9, "inf"]), probes_agree([1.0], [1.1]), probes_agree(None, None)
    (True, False, True)
    """
    if not (isinstance(here, list) and isinstance(there, list)) or len(here) != len(there):
        return here == there
    pairs = zip(here, there, strict=True)
    return all(a == b or (isinstance(a, float) and isinstance(b, float) and _is_close(a, b)) for a, b in pairs)


_is_close = functools.partial(math.isclose, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


PARTS = {
    "right_hand_side": "the right-hand side b",
    "map": "the linear map A",
    "oracle": "the sharp oracle",
    "coupling": "the coupling",
    "method": "the method or its settings",
    "accuracy": "the accuracy",
    "tracker": "the tracker",
    "start": "the starting point",
    "probe": "what oracle, map and coupling answer at a test vector",
}
"""Parts of a fingerprint, with their names in messages."""
_PROBED = frozenset({"map", "oracle", "coupling"})
"""Parts whose user-supplied objects are compared by the probe."""
_IGNORED = {"threads", "_threads", "calls", "value_calls", "seconds"}
"""Attributes of the library's own objects that do not change results: threads and counters."""
_OURS = "unipd."


def fingerprint(problem: Problem, method: Any, accuracy: float, tracker: Any, start: Any) -> dict[str, Any]:
    """Return the digest of each part of a run, and a probe where the problem cannot be digested.

    ``"opaque"`` lists the other parts that cannot be compared completely: a method or tracker that holds a function.

    >>> from unipd.sharp import Simplex
    >>> problem = Problem(Simplex(2), np.eye(2), [0.5, 0.5])
    >>> one = fingerprint(problem, "unipdgrad", 1e-3, "auto", None)
    >>> two = fingerprint(problem, "unipdgrad", 1e-2, "auto", None)
    >>> differences(one, two)
    ['the accuracy']
    """
    loss_split = (problem.coupling, problem.split)
    values = (problem.b, problem.map, problem.sharp, loss_split, method, accuracy, tracker, start)
    marks: dict[str, Any] = {}
    opaque: list[str] = []
    for part, value in zip(PARTS, values, strict=False):
        walker = _Walker(by_probe=part in _PROBED)
        walker.walk(value)
        marks[part] = walker.digest()
        if walker.opaque:
            opaque.append(part)
    marks["probe"] = None if _PROBED.isdisjoint(opaque) else probe_problem(problem)
    marks["opaque"] = [PARTS[part] for part in opaque if part not in _PROBED]
    return marks


def digest_of(*values: Any) -> str:
    """Return a digest of values; user-supplied code and objects enter by name only.

    >>> digest_of(1, "x") == digest_of(1, "x"), digest_of(1, "x") == digest_of(1.0, "x")
    (True, False)
    """
    walker = _Walker()
    walker.walk(values)
    return walker.digest()


def differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    """Return the names of the parts in which two fingerprints differ."""
    names = [name for part, name in PARTS.items() if part != "probe" and here.get(part) != there.get(part)]
    if not probes_agree(here.get("probe"), there.get("probe")):
        names.append(PARTS["probe"])
    return names


class _Walker:
    """Feeds a digest with everything a value consists of, in a fixed order.

    User-supplied objects enter by name only with ``by_probe``, and otherwise with their fields; ``opaque`` is set once
    something has entered by name only.
    """

    def __init__(self, *, by_probe: bool = True) -> None:
        self._digest = hashlib.blake2b(digest_size=16)
        self._by_probe = by_probe
        self._seen: dict[int, int] = {}
        self._alive: list[Any] = []
        self.opaque = False

    def digest(self) -> str:
        return self._digest.hexdigest()

    def walk(self, value: Any) -> None:
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.dtype, np.generic)):
            self._add(f"{type(value).__name__} {value!r}")
        elif isinstance(value, type) and issubclass(value, (np.generic, bool, int, float, complex, str)):
            self._add(f"type {value.__name__}")
        elif isinstance(value, np.ndarray):
            self._add_array(value)
        elif "scipy.sparse" in sys.modules and scipy.sparse.issparse(value):
            compressed: Any = value if value.format in ("csr", "csc") else value.tocsr()
            self._add(f"sparse {compressed.format} {compressed.shape}")
            for array in (compressed.indptr, compressed.indices, compressed.data):
                self._add_array(array)
        elif isinstance(value, (tuple, list)):
            self._add(f"{type(value).__name__} {len(value)}")
            for part in value:
                self.walk(part)
        elif isinstance(value, Mapping):
            self._add(f"mapping {len(value)}")
            for key in sorted(value, key=repr):
                self.walk(key)
                self.walk(value[key])
        else:
            self._add_object(value)

    def _add(self, text: str) -> None:
        self._digest.update(f"{text}\n".encode())

    def _add_array(self, array: Any) -> None:
        self._add(f"array {array.dtype.str} {array.shape}")
        if array.dtype.hasobject:
            self.opaque = True
        elif array.size:
            self._digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)

    def _add_object(self, value: Any) -> None:
        whole = value.checkpoint_identity if declares(value, "checkpoint_identity") else None
        if whole is not None:  # the value is a share of it, or an adapter
            self.walk(whole)
            return
        if id(value) in self._seen:
            self._add(f"again {self._seen[id(value)]}")
            return
        self._seen[id(value)] = len(self._seen)
        self._alive.append(value)
        kind = value if isinstance(value, type) else type(value)
        is_ours = kind.__module__.startswith(_OURS) or getattr(value, "__module__", "").startswith(_OURS)
        name = getattr(value, "__qualname__", kind.__qualname__)
        self._add(f"object {name}")
        has_fields = kind is not value and hasattr(value, "__dict__") and kind.__name__ != "function"
        if not is_ours and (self._by_probe or not has_fields):
            self.opaque = True
        elif has_fields:
            for attribute, part in sorted(vars(value).items()):
                is_cached = isinstance(getattr(kind, attribute, None), functools.cached_property)
                if not (is_cached or (is_ours and attribute in _IGNORED) or isinstance(part, type(threading.Lock()))):
                    self._add(attribute)
                    self.walk(part)
