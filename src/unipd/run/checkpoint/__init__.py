"""Checkpoints: the state of a run in one file, from which it resumes bit for bit.

Read file (the format on disk), codec (values to JSON and arrays), fingerprint (what a run depends on), and checkpoint
(which runs are saved, and when).
"""

from unipd._util.lazy import lazy_exports
from unipd.run.checkpoint.checkpoint import DEFAULT_INTERVAL as DEFAULT_INTERVAL
from unipd.run.checkpoint.checkpoint import Checkpoint as Checkpoint
from unipd.run.checkpoint.checkpoint import CheckpointWarning as CheckpointWarning
from unipd.run.checkpoint.checkpoint import Every as Every
from unipd.run.checkpoint.checkpoint import RunRecord as RunRecord
from unipd.run.checkpoint.checkpoint import Snapshot as Snapshot
from unipd.run.checkpoint.checkpoint import checkpoint_for as checkpoint_for
from unipd.run.checkpoint.checkpoint import decode_history as decode_history

__getattr__, __dir__, __all__ = lazy_exports(__name__)
