"""Bootstrap replicates stored next to a checkpoint: they survive interruptions and are never mixed up."""

from importlib import import_module

import numpy as np
import pytest

from unipd import Checkpoint
from unipd._util import context
from unipd.apps.tomography import (
    Noise,
    PauliTomography,
    all_bases,
    ghz,
    read_replicates,
    replicates_file,
    simulate,
    simulate_counts,
)
from unipd.errors import FileFormatError
from unipd.run.checkpoint import CheckpointWarning

NUMBER = 5

keeping = import_module("unipd.apps.tomography.error_bars")


def fit_labels(seed=1, **settings):
    return PauliTomography(**settings).fit_data(simulate("random", 2, noise=Noise(shots=100), seed=seed).data)


def fit_counts():
    return PauliTomography().fit_counts(simulate_counts(ghz(2), all_bases(2), 100, seed=1))


@pytest.fixture
def refits(monkeypatch):
    """Count the fits of replicates."""
    calls, original = [], keeping.repeat_fit

    def count_call(*arguments):
        calls.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(keeping, "repeat_fit", count_call)
    return calls


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


def bootstrap_with_checkpoint(path, make=fit_labels, number=NUMBER, every="1it", **options):
    """Fit and draw inside a checkpoint."""
    with Checkpoint(path, every, resume=True):
        return make().bootstrap(number, **options)


def same(one, two):
    assert one.estimates == two.estimates
    assert list(one.samples) == list(two.samples)
    for name, values in one.samples.items():
        np.testing.assert_array_equal(values, two.samples[name])


@pytest.fixture
def ending(monkeypatch):
    """Return a progress callback that requests a stop after three replicates."""
    requested = context.StopRequest()
    monkeypatch.setattr(context, "request", requested)
    return lambda done, total: setattr(requested, "pending", done == 3)


@pytest.mark.parametrize("make", [fit_labels, fit_counts])
@pytest.mark.parametrize("threads", [1, 2])
def test_replicates_that_are_done_are_not_drawn_again(path, refits, ending, make, threads):
    options = {"seed": 3, "observables": {"zz": "ZZ", "x": {"XI": 0.5, "IX": 0.5}}, "threads": threads}
    alone = make().bootstrap(NUMBER, **options)
    assert bootstrap_with_checkpoint(path, make, progress=ending, **options).replicates == 3
    assert [len(rows) for rows in read_replicates(path).values()] == [3]
    context.request.pending = False
    refits.clear()
    seen = []
    same(bootstrap_with_checkpoint(path, make, progress=lambda *pair: seen.append(pair), **options), alone)
    assert len(refits) == NUMBER - 3
    assert seen == [(done, NUMBER) for done in range(3, NUMBER + 1)]


def test_more_and_fewer_replicates(path, refits):
    same(bootstrap_with_checkpoint(path, number=4), fit_labels().bootstrap(4))
    refits.clear()
    more = bootstrap_with_checkpoint(path, number=6)
    assert len(refits) == 2
    same(bootstrap_with_checkpoint(path, number=3), fit_labels().bootstrap(3))
    assert len(refits) == 2 + 3  # those of the bootstrap without a checkpoint
    same(more, fit_labels().bootstrap(6))


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (lambda: fit_labels(2), {}),
        (lambda: fit_labels(accuracy=1e-5), {}),
        (lambda: fit_labels(rank=1), {}),
        (fit_counts, {}),
        (fit_labels, {"seed": 5}),
        (fit_labels, {"resample": "basis"}),
    ],
)
def test_other_replicates_are_not_taken_for_these(tmp_path, path, refits, make, options):
    bootstrap_with_checkpoint(path, fit_labels, 2, observables={"x": "IX"})
    with Checkpoint(tmp_path / "other.ckpt", "1it"):
        replicates_file(path).rename(replicates_file(tmp_path / "other.ckpt"))
        other = make().bootstrap(2, **options)
    same(other, make().bootstrap(2, **options))
    assert [len(rows) for rows in read_replicates(tmp_path / "other.ckpt").values()] == [2, 2]
    refits.clear()
    replicates_file(tmp_path / "other.ckpt").rename(replicates_file(path))
    bootstrap_with_checkpoint(path, fit_labels, 2, observables={"x": "IX"})
    assert refits == []


def test_the_file_is_written_as_often_as_the_checkpoint(path, monkeypatch):
    written, original = [], keeping.write_checkpoint

    def record_write(where, header, arrays):
        written.append(len(arrays))
        original(where, header, arrays)

    monkeypatch.setattr(keeping, "write_checkpoint", record_write)
    bootstrap_with_checkpoint(path, every="3it", number=8)
    assert written == [1, 4, 7, 8]
    written.clear()
    bootstrap_with_checkpoint(path, every="1h", number=12)
    assert written == [9, 12]
    bootstrap_with_checkpoint(path, every="1h", number=12)
    assert written == [9, 12]


def test_a_full_disk_is_said_once_and_the_bootstrap_goes_on(path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with Checkpoint(path, "1it"):
        model = fit_labels()
        monkeypatch.setattr(keeping, "write_checkpoint", full)
        with pytest.warns(CheckpointWarning, match="No space left") as said:
            errors = model.bootstrap(NUMBER)
    assert len(said) == 1
    same(errors, fit_labels().bootstrap(NUMBER))
    assert not replicates_file(path).exists()


@pytest.mark.parametrize("content", [b"", b"junk", "half", "other"])
def test_a_damaged_file_is_refused_and_left_alone(path, content):
    bootstrap_with_checkpoint(path)
    file = replicates_file(path)
    half = file.read_bytes()[: file.stat().st_size // 2]
    file.write_bytes({"half": half, "other": path.read_bytes()}.get(content, content))
    before = file.read_bytes()
    with pytest.raises(FileFormatError, match="replicates"):
        bootstrap_with_checkpoint(path)
    assert file.read_bytes() == before


def test_without_a_checkpoint_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fit_labels().bootstrap(2)
    assert list(tmp_path.iterdir()) == []
