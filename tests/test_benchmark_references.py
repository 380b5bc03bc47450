"""Reference values of benchmarks."""

import pytest

import ratings_20m


def test_the_goal_for_memory_refers_to_ratings_with_64_bit_values(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, tuple[float, float | None]] = {}
    monkeypatch.setattr(
        ratings_20m, "note", lambda name, value, unit, goal=None: seen.update({name.split(": ")[1]: (value, goal)})
    )
    with ratings_20m.Stage() as constructing:
        pass
    ratings_20m.note_memory("whole", 20_000_000, 960_000_000, constructing)
    assert seen["peak memory / ratings with 64-bit values"] == (3.0, 3.0)
    assert seen["peak memory / ratings with 32-bit values"] == (4.0, None)
    assert seen["making the map"][0] == constructing.seconds >= 0.0
