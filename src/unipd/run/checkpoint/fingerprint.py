"""What a run depends on, as digests by part: a checkpoint goes on only where all of them agree.

Numbers, arrays and the library's own objects are digested as they are. Code and objects of the user's own cannot be:
of them a *probe* is kept, some numbers that come out at a dual vector drawn with a fixed seed.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from unipd.problem import Problem
from unipd.run.checkpoint.probe import agree, probed

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
"""Parts of a fingerprint, and what they are called in messages."""
_IGNORED = {"threads", "_threads", "calls", "value_calls", "seconds"}
"""Attributes that do not decide an answer: threads, and counters."""
_OURS = "unipd."


def fingerprint(problem: Problem, method: Any, accuracy: float, tracker: Any, start: Any) -> dict[str, Any]:
    """Return the digest of each part of a run, and a probe where something cannot be digested.

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
    opaque = False
    for part, value in zip(PARTS, values, strict=False):
        walker = _Walker()
        walker.walk(value)
        marks[part] = walker.digest()
        opaque |= walker.opaque and part in ("map", "oracle", "coupling")
    marks["probe"] = probed(problem) if opaque else None
    return marks


def digest_of(*values: Any) -> str:
    """Return a digest of values; of code and objects that are not the library's it sees the names only.

    >>> digest_of(1, "x") == digest_of(1, "x"), digest_of(1, "x") == digest_of(1.0, "x")
    (True, False)
    """
    walker = _Walker()
    walker.walk(values)
    return walker.digest()


def differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    """Return in words which parts of two fingerprints differ."""
    words = [name for part, name in PARTS.items() if part != "probe" and here.get(part) != there.get(part)]
    if not agree(here.get("probe"), there.get("probe")):
        words.append(PARTS["probe"])
    return words


class _Walker:
    """Feeds a digest with everything that a value is made of, in a fixed order."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=16)
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []
        self.opaque = False

    def digest(self) -> str:
        return self._digest.hexdigest()

    def walk(self, value: Any) -> None:
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.dtype, np.generic)):
            self._say(f"{type(value).__name__} {value!r}")
        elif isinstance(value, np.ndarray):
            self._array(value)
        elif _is_sparse(value):
            self._sparse(value)
        elif isinstance(value, (tuple, list)):
            self._say(f"{type(value).__name__} {len(value)}")
            for part in value:
                self.walk(part)
        elif isinstance(value, Mapping):
            self._say(f"mapping {len(value)}")
            for key in sorted(value, key=repr):
                self.walk(key)
                self.walk(value[key])
        else:
            self._object(value)

    def _say(self, text: str) -> None:
        self._digest.update(f"{text}\n".encode())

    def _array(self, array: Any) -> None:
        self._say(f"array {array.dtype.str} {array.shape}")
        if array.dtype.hasobject:
            self.opaque = True
        elif array.size:
            self._digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)

    def _sparse(self, matrix: Any) -> None:
        held = matrix if matrix.format in ("csr", "csc") else matrix.tocsr()
        self._say(f"sparse {held.format} {held.shape}")
        for array in (held.indptr, held.indices, held.data):
            self._array(array)

    def _object(self, value: Any) -> None:
        whole = getattr(value, "stands_for", None)  # a part of a map or oracle that is divided in a team
        if whole is not None:
            self.walk(whole)
            return
        if id(value) in self._seen:
            self._say(f"again {self._seen[id(value)]}")
            return
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        kind = value if isinstance(value, type) else type(value)
        ours = kind.__module__.startswith(_OURS) or getattr(value, "__module__", "").startswith(_OURS)
        name = getattr(value, "__qualname__", kind.__qualname__)
        self._say(f"object {name}")
        if not ours:
            self.opaque = True
        elif kind is value or not hasattr(value, "__dict__") or kind.__name__ == "function":
            return
        else:
            for attribute, part in sorted(vars(value).items()):
                if not _passing(kind, attribute, part):
                    self._say(attribute)
                    self.walk(part)


def _passing(kind: type, attribute: str, part: Any) -> bool:
    """Whether an attribute says nothing about answers: a lock, a counter, or a value computed on demand."""
    on_demand = isinstance(getattr(kind, attribute, None), functools.cached_property)
    return on_demand or attribute in _IGNORED or isinstance(part, type(threading.Lock()))


def _is_sparse(value: Any) -> bool:
    """Whether a value is a SciPy sparse matrix, without loading SciPy where nothing has."""
    sparse: Any = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(value))
