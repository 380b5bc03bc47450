"""Checkpoints: the state of a run in one file, from which it resumes bit for bit.

Read file (the format on disk), codec (values to JSON and arrays), fingerprint (what a run depends on), and checkpoint
(which runs are saved, and when).
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports
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

if TYPE_CHECKING:
    from unipd.run.checkpoint.codec import Packer, register, unpack
    from unipd.run.checkpoint.file import MAGIC, read_checkpoint, remove_leftovers, write_checkpoint

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "codec": ("Packer", "register", "unpack"),
        "file": ("MAGIC", "read_checkpoint", "remove_leftovers", "write_checkpoint"),
    },
)

__all__ = [
    "DEFAULT_INTERVAL",
    "MAGIC",
    "Checkpoint",
    "CheckpointWarning",
    "Every",
    "Packer",
    "RunRecord",
    "Snapshot",
    "checkpoint_for",
    "decode_history",
    "read_checkpoint",
    "register",
    "remove_leftovers",
    "unpack",
    "write_checkpoint",
]
