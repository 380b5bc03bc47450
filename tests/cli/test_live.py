"""Live reports of commands."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from support.processes import python_path

FOLDER = Path(__file__).parent
DEMO = (
    "from unipd.cli import commands, main\n"
    "commands.ENTRIES += (commands.Entry('demo', 'A demonstration.', 'Solve', 'demo_command'),)\n"
    "main.main()\n"
)


def test_a_run_in_a_process_of_its_own_is_served_while_it_lasts():
    endless = ("--kind", "equality", "--method", "unipdgrad", "--accuracy", "1e-15", "--max-iterations", "100000000")
    command = [sys.executable, "-c", DEMO, "demo", *endless, "--live", "--json", "-"]
    environment = {**os.environ, "PYTHONPATH": python_path(FOLDER)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    said = process.stderr.readline()
    url = re.fullmatch(r"unipd: live at (http://127\.0\.0\.1:\d+/)\n", said)[1]
    assert "iteration" in process.stderr.readline()
    with urlopen(url, timeout=20) as answer:
        assert answer.read().startswith(b"<!DOCTYPE html>")
    with urlopen(url + "data", timeout=20) as answer:
        run = json.loads(answer.read())["runs"][0]
    assert run["name"] == "unipdgrad"
    assert len(run["axes"]["iterations"]) > 1
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=60)
    assert json.loads(stdout)["status"] == "interrupted"
    with pytest.raises(OSError, match="refused"):
        urlopen(url, timeout=5)


def test_a_port_in_use_is_refused_before_computing(invoke):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = invoke("demo", "--live-port", taken.getsockname()[1])
    assert result.exit_code == 2
    assert result.stderr.startswith("unipd: --live-port: expected a free port")
    assert result.stderr.count("\n") == 1


def test_live_says_where_and_ends_with_the_command(invoke):
    result = invoke("demo", "--live")
    assert result.exit_code == 0
    assert result.stderr.startswith("unipd: live at http://127.0.0.1:")
    assert invoke("demo", "--live", "--quiet").stderr == ""
