"""Commands run in separate processes, as users run them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.processes import python_path

FOLDER = Path(__file__).parent
DEMO = (
    "from unipd.cli import commands, main\n"
    "commands.ENTRIES += (commands.Entry('demo', 'A demonstration.', 'Solve', 'demo_command'),)\n"
    "main.main()\n"
)
NOTHING = (
    "import sys\n"
    "class Refuse:\n"
    "    def find_spec(self, name, *rest):\n"
    "        if name.split('.')[0] == 'typer': raise ModuleNotFoundError(name, name=name)\n"
    "sys.meta_path.insert(0, Refuse())\n"
    "from unipd.cli.main import main\n"
    "main()\n"
)


def run(*arguments, code=None, **options):
    begin = ["-m", "unipd"] if code is None else ["-c", code]
    environment = {**os.environ, "PYTHONPATH": python_path(FOLDER)}
    command = [sys.executable, *begin, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, **options)


def test_json_is_pure_and_the_exit_code_is_the_status(tmp_path):
    done = run(
        "demo", "--json", "-", "--out", tmp_path / "run.npz", "--max-iterations", 2, "--method", "unipdgrad", code=DEMO
    )
    assert done.returncode == 3
    assert json.loads(done.stdout)["status"] == "iteration_limit"
    assert "status" in done.stderr
    shown = run("show", tmp_path / "run.npz", "--json", "-", "--quiet")
    assert shown.returncode == 0
    assert json.loads(shown.stdout)["iterations"] == 2


def test_mistakes_have_no_traceback(tmp_path):
    done = run("demo", "--out", tmp_path / "missing" / "run.npz", "--debug", code=DEMO)
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    done = run("show", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_missing_packages_are_named():
    done = run("--help", code=NOTHING)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == 'unipd: the command line needs typer: pip install "unipd[cli]"\n'


def test_the_command_line_does_not_import_what_it_does_not_need():
    code = (
        "import sys\n"
        "from unipd.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'matplotlib', 'sklearn', 'pandas', 'numba', 'cvxpy'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    done = run(code=code)
    assert done.returncode == 0, done.stderr


def start_run(*arguments):
    """Start a run that never ends, and return it when its first iteration is over."""
    command = [sys.executable, "-c", DEMO, "demo", "--kind", "slow", "--accuracy", "1e-12", "--method", "unipdgrad"]
    command += ["--json", "-", "--max-iterations", "100000000", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": python_path(FOLDER)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    assert "iteration" in process.stderr.readline()
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_writes_the_best_point_and_the_checkpoint(number, tmp_path):
    out, ckpt = tmp_path / "run.npz", tmp_path / "run.ckpt"
    process = start_run("--out", out, "--checkpoint", ckpt, "--every", "1h")
    process.send_signal(number)
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    answer = json.loads(stdout)
    assert answer["status"] == "interrupted"
    assert out.exists()
    more = ["--max-iterations", answer["iterations"] + 3, "--checkpoint", ckpt, "--resume", "--json", "-", "-q"]
    settings = ["--kind", "slow", "--accuracy", "1e-12", "--method", "unipdgrad"]
    resumed = run("demo", *settings, *more, code=DEMO)
    straight = run("demo", *settings, *more[:2], *more[-3:], code=DEMO)
    assert (resumed.returncode, straight.returncode) == (3, 3)
    one, two = json.loads(resumed.stdout), json.loads(straight.stdout)
    timed = ("seconds", "peak_memory_bytes")
    assert {key: one[key] for key in one if key not in timed} == {key: two[key] for key in two if key not in timed}


def test_a_second_signal_ends_at_once(tmp_path):
    process = start_run("--out", tmp_path / "run.npz", "--checkpoint", tmp_path / "run.ckpt", "--every", "1h")
    process.send_signal(signal.SIGSTOP)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    code = 0
    for _ in range(2000):
        try:
            process.send_signal(signal.SIGTERM)
            code = process.wait(timeout=0.001)
            break
        except subprocess.TimeoutExpired:
            continue
    process.communicate()
    assert code in (-signal.SIGTERM, 130)


def test_an_interrupt_while_modules_are_imported_is_no_traceback():
    script = "import unipd.cli.main as m\ndef stop(given): raise KeyboardInterrupt\nm._run = stop\nm.main([])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "unipd: interrupted\n")


SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@SIGNALS
def test_a_signal_when_all_is_done_changes_nothing(number):
    late = f"import atexit, os\natexit.register(os.kill, os.getpid(), {int(number)})\n"
    done = run("demo", "--quiet", code=late + DEMO)
    assert (done.returncode, done.stderr) == (0, "")


@SIGNALS
def test_a_signal_outside_a_run_is_one_line_and_130(number, tmp_path):
    early = f"import os, unipd.cli.options as o\no.check_file = lambda *_: os.kill(os.getpid(), {int(number)})\n"
    done = run("show", tmp_path / "run.npz", "--plot", "a.png", code=early + DEMO)
    assert (done.returncode, done.stderr) == (130, "unipd: interrupted\n")


def test_an_interrupt_that_an_import_loses_comes_again(tmp_path):
    """The lock of an import is a weak reference, whose callback loses exceptions."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal, sys, time, weakref\n"
        "from unipd.cli import main\n"
        "class Lock: pass\n"
        "def lose(_):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    sum(range(1000))\n"
        "def run(arguments):\n"
        "    lock = Lock(); reference = weakref.ref(lock, lose); del lock\n"
        "    for _ in range(1000): time.sleep(0.01)\n"
        "main._run = run\n"
        "main.main()\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "unipd: interrupted\n")
