"""Checkpoints: a run's state in one file, written as it goes, from which it goes on bit for bit."""

from unipd.run.checkpoint.registry import register
from unipd.run.checkpoint.session import Checkpoint, CheckpointWarning, Stage, checkpoint_for
from unipd.run.checkpoint.snapshot import Snapshot

__all__ = ["Checkpoint", "CheckpointWarning", "Snapshot", "Stage", "checkpoint_for", "register"]
