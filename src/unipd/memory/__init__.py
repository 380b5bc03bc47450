"""Memory: what a run will take, what there is, and limits."""

from unipd.memory.forecasting import (
    LOWRANK_LIMIT,
    SKETCH_RANK,
    Forecast,
    forecast,
    require_room_for_dense,
    require_room_for_run,
)
from unipd.memory.limits import available_memory, limited_memory, over_limit, room_for
from unipd.memory.system import peak_memory, resident_memory, size_text

__all__ = [
    "LOWRANK_LIMIT",
    "SKETCH_RANK",
    "Forecast",
    "available_memory",
    "forecast",
    "limited_memory",
    "over_limit",
    "peak_memory",
    "require_room_for_dense",
    "require_room_for_run",
    "resident_memory",
    "room_for",
    "size_text",
]
