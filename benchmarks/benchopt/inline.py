"""Make benchopt's pages independent of a network: their charts are drawn by Plotly, which this puts into the file.

``python inline.py outputs/*.html`` replaces the script at Plotly's address by the one of the installed package.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from plotly.offline import get_plotlyjs

ADDRESS = re.compile(r'<script\s[^>]*src="https://cdn\.plot\.ly/[^"]*"[^>]*>\s*</script>')


def main(paths: list[str]) -> None:
    """Write every page anew; one without the address stays as it is."""
    script = f"<script>{get_plotlyjs()}</script>"
    for path in map(Path, paths):
        text, count = ADDRESS.subn(lambda _: script, path.read_text(encoding="utf-8"))
        if count:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
