"""Files with valid checksums and invalid content."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from unipd.run.checkpoint import MAGIC

ODD = (None, True, -1, 0, 10**9, 1e300, "", "x", "nan", [], {}, [1, 2], {"$array": 0}, {"$array": "x"}, {"$object": []})


def corrupt(value: Any, rng: np.random.Generator) -> Any:
    """Return JSON with one value somewhere exchanged for another or taken out."""
    inner = list(value.items() if isinstance(value, dict) else enumerate(value)) if value and _holds(value) else []
    if not inner or rng.random() < 0.1:
        return ODD[int(rng.integers(len(ODD)))]
    key, part = inner[int(rng.integers(len(inner)))]
    changed = dict(inner) | {key: corrupt(part, rng)}
    if rng.random() < 0.1:
        del changed[key]
    return changed if isinstance(value, dict) else list(changed.values())


def _holds(value: Any) -> bool:
    return isinstance(value, (dict, list))


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place in JSON where a value stands: what holds it, and its key there."""
    inner = list(value.items() if isinstance(value, dict) else enumerate(value)) if _holds(value) else []
    return [(value, key) for key, _ in inner] + [place for _, part in inner for place in _places(part)]


def corrupt_archive(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a sound NumPy archive whose header is bent, or one of whose arrays is another or missing."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = dict(archive)
    if "header" in arrays and rng.random() < 0.7:
        header = corrupt(json.loads(arrays["header"].tobytes()), rng)
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    else:
        name = list(arrays)[int(rng.integers(len(arrays)))]
        array = arrays.pop(name)
        others = (array[..., None], array.astype(np.str_), array.reshape(-1)[:-1], np.full(array.shape, np.nan), None)
        other = others[int(rng.integers(len(others)))]
        arrays |= {} if other is None else {name: other}
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def corrupt_checkpoint(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a checkpoint with a bent header, its length and digest right."""

    def change(header: Any) -> Any:
        if rng.random() < 0.2:
            return corrupt(header, rng)
        places = _places(header["runs"])  # anywhere in what the runs hold, most of which lies deep
        holder, key = places[int(rng.integers(len(places)))]
        holder[key] = ODD[int(rng.integers(len(ODD)))]
        return header

    return _edit_checkpoint(content, change)


def exchange_in_checkpoint(content: bytes, name: str, value: Any) -> bytes:
    """Return a checkpoint with another value wherever its runs have one of this name."""

    def change(header: Any) -> Any:
        for holder, key in [place for place in _places(header["runs"]) if place[1] == name]:
            holder[key] = value
        return header

    return _edit_checkpoint(content, change)


def raise_inner_bounds(content: bytes, value: float) -> bytes:
    """Return a checkpoint whose inner states have another bound, and the outer ones theirs; as it was without any."""

    def change(header: Any) -> Any:
        inside = [holder[key] for holder, key in _places(header["runs"]) if key in ("inner", "alternative")]
        for holder, key in [place for part in inside for place in _places(part) if place[1] == "dual_bound"]:
            holder[key] = value
        return header

    return _edit_checkpoint(content, change)


def _edit_checkpoint(content: bytes, change: Callable[[Any], Any]) -> bytes:
    begin = len(MAGIC) + 8
    end = begin + int.from_bytes(content[len(MAGIC) : begin], "little")
    header = json.dumps(change(json.loads(content[begin:end]))).encode()
    body = MAGIC + len(header).to_bytes(8, "little") + header + content[end:-32]
    return body + hashlib.sha256(body).digest()
