"""A bootstrap command whose process is killed, then run again."""

import json
import os
import subprocess
import sys
import time

from unipd.apps.tomography import read_replicates, replicates_file

REPLICATES = 40
COMMAND = (sys.executable, "-m", "unipd", "tomography", "--simulate", "mixed", "--qubits", "2", "--shots", "300")
TIMED = ("seconds", "peak_memory_bytes")


def command(*more):
    return [*COMMAND, "--bootstrap", str(REPLICATES), "--threads", "1", "--quiet", "--json", "-", *more]


def answer(*more):
    done = subprocess.run(command(*more), capture_output=True, text=True, check=True, env=dict(os.environ))
    return {key: value for key, value in json.loads(done.stdout).items() if key not in TIMED}


def count_replicates(path):
    return max((len(rows) for rows in read_replicates(path).values()), default=0)


def test_a_bootstrap_goes_on_where_it_was_killed(tmp_path):
    path = tmp_path / "run.ckpt"
    resumable = ("--checkpoint", str(path), "--every", "1it", "--resume")
    before = 0
    for _ in range(2):
        process = subprocess.Popen(command(*resumable), stdout=subprocess.DEVNULL)
        while count_replicates(path) < before + 2 and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        assert process.wait() < 0
        assert before < count_replicates(path) < REPLICATES
        before = count_replicates(path)
    assert answer(*resumable) == answer()
    assert count_replicates(path) == REPLICATES
    assert sorted(part.name for part in tmp_path.iterdir()) == sorted((path.name, replicates_file(path).name))


def test_a_damaged_file_of_replicates_is_refused_before_the_fit(invoke, tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    replicates_file(path).write_bytes(b"junk")
    words = ("tomography", "--simulate", "ghz", "--qubits", 2, "--bootstrap", 3, "--checkpoint", path)
    result = invoke(*words)
    assert result.exit_code == 2
    assert "run.ckpt.replicates" in result.stderr
    assert not path.exists()
