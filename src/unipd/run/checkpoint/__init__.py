"""Checkpoints: the state of a run in one file, from which it resumes bit for bit.

Read file (the format on disk), codec (values to JSON and arrays), fingerprint (what a run depends on), and checkpoint
(which runs are saved, and when).
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
