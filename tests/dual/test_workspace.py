"""The workspace of long vectors: memory is reused, but never that of a vector still referenced."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.dual import Workspace, long_vectors, workspace_like, workspace_scope

SIZES = (3, 5)


@settings(max_examples=100)
@given(moves=st.lists(st.tuples(st.sampled_from(["take", "view", "drop", "release"]), st.integers(0, 9)), max_size=40))
def test_no_vector_in_use_is_given_away(moves: list[tuple[str, int]]) -> None:
    """Vectors and views of them keep what was written, and no more memory is held than was in use at once."""
    pool, held, most = Workspace(), list[tuple[Any, int]](), 0
    for mark, (move, number) in enumerate(moves):
        if move == "take":
            vector = pool.like(np.empty(SIZES[number % 2], np.float32 if number < 5 else np.float64))
            vector[:] = mark
            held.append((vector, mark))
            del vector
        elif move == "release":
            pool.release()
            assert len(pool) <= len(held)
        elif held and move == "view":
            vector, old = held[number % len(held)]
            held[number % len(held)] = (vector[1:].reshape(-1, 1)[::-1], old)
            del vector
        elif held:
            del held[number % len(held)]
        most = max(most, len(held))
        for vector, old in held:
            assert np.all(vector == old)
            del vector
    kinds = 4
    assert len(pool) <= kinds * most


def test_memory_is_used_again_inside_the_context_alone() -> None:
    vector = np.ones(7, np.float32)
    with workspace_scope() as context:
        first = workspace_like(vector)
        place = first.ctypes.data
        assert workspace_like(vector).ctypes.data != place
        with workspace_scope():  # a run inside a run has its own
            assert workspace_like(vector).base is not first.base
        del first
        taken = workspace_like(vector)
        assert taken.ctypes.data == place
        assert (taken.shape, taken.dtype) == (vector.shape, vector.dtype)
        context.workspace.release()
        assert len(context.workspace) == 1
    assert workspace_like(vector).base is None


@pytest.mark.parametrize("shift", range(-2, 4))
def test_how_references_are_counted_is_left_to_the_interpreter(monkeypatch: pytest.MonkeyPatch, shift: int) -> None:
    """Interpreters differ in what they count on their own stack: only a comparison shows it."""
    plain = sys.getrefcount
    monkeypatch.setattr(long_vectors.sys, "getrefcount", lambda array: plain(array) - shift)
    pool = Workspace()
    first = pool.like(np.ones(3))
    place = first.ctypes.data
    assert pool.like(np.ones(3)).ctypes.data != place
    del first
    assert pool.like(np.ones(3)).ctypes.data == place
