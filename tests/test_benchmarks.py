"""The quick form of every benchmark runs to its end and hands on figures; how long it takes is not judged."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from unipd.cli.benchmarks import VARIABLE, Benchmark, benchmarks

SCRIPTS = benchmarks(Path(__file__).parents[1] / "benchmarks")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_the_quick_form_runs(script: Benchmark, tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl"
    done = subprocess.run(
        [sys.executable, str(script.path), "--quick"],
        cwd=tmp_path,
        env={**os.environ, VARIABLE: str(file)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    assert figures or "not installed" in done.stdout, done.stdout
    assert all(figure["name"] for figure in figures)
