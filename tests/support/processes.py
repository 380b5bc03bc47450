"""Child processes of tests."""

import os
from pathlib import Path


def python_path(folder: Path) -> str:
    """Return PYTHONPATH for a child that also imports from ``folder``: the library stays the one under test."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
