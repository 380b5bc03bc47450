"""Checkpoints: a run's state in one file, written as it goes, from which it goes on bit for bit."""

from unipd.run.checkpoint.every import Every
from unipd.run.checkpoint.registry import register
from unipd.run.checkpoint.session import Checkpoint, CheckpointWarning, checkpoint_for
from unipd.run.checkpoint.snapshot import Snapshot
from unipd.run.checkpoint.stage import Stage

__all__ = ["Checkpoint", "CheckpointWarning", "Every", "Snapshot", "Stage", "checkpoint_for", "register"]
