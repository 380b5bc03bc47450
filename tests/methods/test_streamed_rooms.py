"""Memory of long vectors used again: never that of a vector which somebody still has."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unipd
from unipd.maps import Sampling
from unipd.methods import streamed, streamed_rooms
from unipd.methods.streamed_rooms import Rooms, empty_rooms, room_like, rooms_kept

SIZES = (3, 5)


@settings(max_examples=100)
@given(moves=st.lists(st.tuples(st.sampled_from(["take", "view", "drop", "empty"]), st.integers(0, 9)), max_size=40))
def test_no_vector_in_use_is_given_away(moves: list[tuple[str, int]]) -> None:
    """Vectors and views of them keep what was written, and no more memory is held than was in use at once."""
    rooms, held, most = Rooms(), list[tuple[Any, int]](), 0
    for mark, (move, number) in enumerate(moves):
        if move == "take":
            vector = rooms.like(np.empty(SIZES[number % 2], np.float32 if number < 5 else np.float64))
            vector[:] = mark
            held.append((vector, mark))
            del vector
        elif move == "empty":
            rooms.empty()
            assert len(rooms) <= len(held)
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
    assert len(rooms) <= kinds * most


def test_memory_is_used_again_inside_the_context_alone() -> None:
    vector = np.ones(7, np.float32)
    with rooms_kept():
        first = room_like(vector)
        place = first.ctypes.data
        assert room_like(vector).ctypes.data != place
        with rooms_kept():  # a run inside a run has its own
            assert room_like(vector).base is not first.base
        del first
        taken = room_like(vector)
        assert taken.ctypes.data == place
        assert (taken.shape, taken.dtype) == (vector.shape, vector.dtype)
        empty_rooms()
        assert streamed_rooms._current.get() is not None
        assert len(streamed_rooms._current.get() or ()) == 1
    assert room_like(vector).base is None
    empty_rooms()  # does nothing


@pytest.mark.parametrize("shift", range(-2, 4))
def test_how_references_are_counted_is_left_to_the_interpreter(monkeypatch: pytest.MonkeyPatch, shift: int) -> None:
    """Interpreters differ in what they count on their own stack: only a comparison tells."""
    plain = sys.getrefcount
    monkeypatch.setattr(streamed_rooms.sys, "getrefcount", lambda array: plain(array) - shift)
    rooms = Rooms()
    first = rooms.like(np.ones(3))
    place = first.ctypes.data
    assert rooms.like(np.ones(3)).ctypes.data != place
    del first
    assert rooms.like(np.ones(3)).ctypes.data == place


def ratings() -> unipd.Problem:
    rng = np.random.default_rng(5)
    places = np.sort(rng.choice(60 * 40, 900, replace=False))
    ball = unipd.sharp.NuclearBall((60, 40), 30.0, engine=unipd.spectral.Engine(solver="lanczos"))
    sampling = Sampling(places // 40, places % 40, (60, 40))
    return unipd.Problem(ball, sampling, rng.standard_normal(900), unipd.couplings.LeastSquares(0.5))


def test_states_that_are_kept_do_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever keeps states of a run has what a run without used memory gives."""
    monkeypatch.setattr(streamed, "LONG", 100)
    problem, method = ratings(), unipd.AccUniPDGrad(eps=1e-3)
    plain = [state for state, _ in zip(unipd.iterate(problem, method), range(12), strict=False)]
    kept: list[Any] = []

    def keep_some(moment: Any) -> None:
        if moment.state.iteration % 5 == 0:
            kept.append(moment.state)

    asked: list[int] = []
    like = Rooms.like

    def counted(self: Rooms, vector: Any) -> Any:
        asked.append(len(self))
        return like(self, vector)

    monkeypatch.setattr(Rooms, "like", counted)
    unipd.solve(problem, method, accuracy=1e-12, stop=unipd.MaxIterations(12), callback=keep_some)
    assert len(kept) == 2
    assert len(asked) > 30 > 2 * max(asked)  # most of them in used memory
    for state in kept:
        twin: Any = plain[state.iteration - 1]
        for name in ("dual", "previous", "image"):
            np.testing.assert_array_equal(getattr(state, name), getattr(twin, name))
