"""Checkpoints: the state of a run in one file, from which it resumes bit for bit.

Read file (the format on disk), codec (values to JSON and arrays), fingerprint (what a run depends on), and checkpoint
(which runs are saved, and when).
"""

from unipd.run.checkpoint.checkpoint import (
    DEFAULT_INTERVAL,
    Checkpoint,
    CheckpointWarning,
    Every,
    RunRecord,
    Snapshot,
    checkpoint_for,
    decode_history,
)
from unipd.run.checkpoint.codec import register, unpack

__all__ = [
    "DEFAULT_INTERVAL",
    "Checkpoint",
    "CheckpointWarning",
    "Every",
    "RunRecord",
    "Snapshot",
    "checkpoint_for",
    "decode_history",
    "register",
    "unpack",
]
