"""MkDocs hook: ``{{ run examples/maxcut.py }}`` becomes the script and its output, run when the site is built."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
MARK = re.compile(r"^\{\{ run (\S+) \}\}$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace every mark on a page."""
    return MARK.sub(lambda mark: render_script(mark.group(1)), markdown)


def render_script(script: str) -> str:
    """Return a script and its output as Markdown; a script that fails stops the build."""
    path = ROOT / script
    with TemporaryDirectory() as folder:
        quiet = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}
        run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=folder, env=quiet)
    if run.returncode != 0:
        raise RuntimeError(f"{script} failed:\n{run.stderr}")
    source = path.read_text(encoding="utf-8")
    return f"```python\n{source}```\n\nIt prints\n\n```text\n{run.stdout.rstrip()}\n```\n"
