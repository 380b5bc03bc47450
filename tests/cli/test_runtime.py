"""Options of long runs: checkpoints and the memory limit."""

import json

import pytest

from unipd.cli.runtime import parse_size
from unipd.errors import InvalidInput
from unipd.run.checkpoint import MAGIC


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--resume"], "--resume: expected --checkpoint FILE"),
        (["--checkpoint", "{folder}"], "--checkpoint: expected a file"),
        (["--checkpoint", "{folder}/no/run.ckpt"], "--checkpoint: expected a file in an existing folder"),
        (["--checkpoint", "{folder}/notes"], "--checkpoint: expected a new file"),
        (["--checkpoint", "{folder}/notes", "--resume"], "not a unipd checkpoint; choose another"),
        (["--checkpoint", "{folder}/cut", "--resume"], "delete it to start over"),
        (["--checkpoint", "{folder}/run.ckpt", "--every", "often"], "--every: expected an interval"),
        (["--memory-limit", "much"], "--memory-limit: expected a size"),
        (["--memory-limit", "1MB"], "more than the memory limit of 1 MB"),
    ],
)
def test_what_cannot_be_is_said_in_one_line_before_the_run(words, message, invoke, tmp_path):
    (tmp_path / "notes").write_text("mine")
    (tmp_path / "cut").write_bytes(MAGIC[:5])
    done = invoke("demo", *(word.format(folder=tmp_path) for word in words))
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_run_goes_on_with_a_higher_limit(invoke, tmp_path):
    def run(limit, *more):
        words = ("--kind", "equality", "--method", "unipdgrad", "--accuracy", "1e-6", "--max-iterations", limit)
        return json.loads(invoke("demo", *words, "--json", "-", "-q", *more).stdout)

    kept = ("--checkpoint", tmp_path / "run.ckpt", "--every", "1it", "--resume")
    assert [run(limit, *kept)["iterations"] for limit in (3, 3, 8)] == [3, 3, 8]
    one, two = run(9, *kept), run(9)
    assert one["objective"] == two["objective"]
    assert one["oracle_calls"] == two["oracle_calls"]


def test_another_run_is_refused_with_what_differs(invoke, tmp_path):
    kept = ("--checkpoint", tmp_path / "run.ckpt")
    assert invoke("demo", "-q", *kept).exit_code == 0
    done = invoke("demo", "--kind", "equality", "-q", *kept, "--resume")
    assert done.exit_code == 2
    assert "another run: the right-hand side b, the coupling" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_disk_that_fills_up_is_a_line_and_the_run_goes_on(invoke, tmp_path, monkeypatch):
    def full(*rest):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    done = invoke("demo", "-q", "--checkpoint", tmp_path / "run.ckpt", "--every", "1it")
    assert done.exit_code == 0
    assert done.stderr.count("\n") == 1
    assert "warning: the checkpoint" in done.stderr
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize(("text", "size"), [("2GB", 2 * 10**9), ("1.5 g", 15 * 10**8), ("10", 10), ("3MiB", 3 * 2**20)])
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "0", "1XB", "nan"])
def test_sizes_that_mean_nothing(text):
    with pytest.raises(InvalidInput, match="memory-limit"):
        parse_size(text)
