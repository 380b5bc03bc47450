"""Progress on a real terminal."""

import os
import re
import select
import struct
import sys
import time
from pathlib import Path

import pytest

from support.processes import python_path

pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
FOLDER = Path(__file__).parent
SCRIPT = (
    "from unipd.cli import commands, main\n"
    "commands.ENTRIES += (commands.Entry('demo', 'A demonstration.', 'Solve', 'demo_command'),)\n"
    "main.main()\n"
)
ENDLESS = ("--kind", "equality", "--method", "unipdgrad", "--accuracy", "1e-15", "--max-iterations", "100000000")


def on_a_terminal(columns, *arguments):
    """Run a command on a terminal, press Ctrl-C once the bar has moved, and return what was to be seen."""
    import fcntl
    import termios

    command = [sys.executable, "-c", SCRIPT, "demo", *arguments]
    environment = {**os.environ, "PYTHONPATH": python_path(FOLDER), "TERM": "xterm", "COLUMNS": str(columns)}
    child, handle = pty.fork()
    if child == 0:
        os.execve(sys.executable, command, environment)
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    seen, pressed, end = b"", False, time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([handle], [], [], 0.2)[0]:
            continue
        try:
            part = os.read(handle, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
        if not pressed and seen.count(b"oracle calls/s") > 2:
            os.write(handle, b"\x03")
            pressed = True
    _, status = os.waitpid(child, 0)
    os.close(handle)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode()), os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize("columns", [60, 100, 180])
def test_the_bar_shows_everything_at_any_width(columns):
    seen, code = on_a_terminal(columns, *ENDLESS)
    assert code == 130
    bar = seen.split("status")[0]
    flat = " ".join(bar.split())
    shown = re.search(
        r"unipdgrad \S* *\d+% \d:\d\d:\d\d ETA .*? iteration \d+ objective \S+ infeasibility \S+ bound \S+ "
        r"gap \S+ \S+ oracle calls/s",
        flat,
    )
    assert shown, flat[-800:]
    assert "…" not in bar
    assert "interrupted" in seen
