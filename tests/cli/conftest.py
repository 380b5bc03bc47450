from pathlib import Path

import pytest
from typer.testing import CliRunner

from unipd.cli import app, commands

FOLDER = Path(__file__).parent


@pytest.fixture
def invoke(monkeypatch):
    """Run the command line in this process, the demonstration command included."""
    monkeypatch.syspath_prepend(str(FOLDER))
    demo = commands.Entry("demo", "A demonstration.", "Solve", "demo_command")
    monkeypatch.setattr(commands, "ENTRIES", (*commands.ENTRIES, demo))

    def run(*arguments):
        return CliRunner().invoke(app.app, [str(part) for part in arguments], prog_name="unipd")

    return run
