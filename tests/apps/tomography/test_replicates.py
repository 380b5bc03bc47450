"""Replicates of a bootstrap beside a checkpoint: kept through whatever happens, and never taken for others."""

from importlib import import_module

import numpy as np
import pytest

from unipd import Checkpoint
from unipd.apps.tomography import Noise, PauliTomography, all_bases, ghz, simulate, simulate_counts
from unipd.apps.tomography import replicates as keeping
from unipd.apps.tomography.replicates import found_replicates, replicates_file
from unipd.errors import FileFormatError
from unipd.run import interruption
from unipd.run.checkpoint import CheckpointWarning

NUMBER = 5


def fitted(seed=1, **settings):
    return PauliTomography(**settings).fit_data(simulate("random", 2, noise=Noise(shots=100), seed=seed).data)


def fitted_counts():
    return PauliTomography().fit_counts(simulate_counts(ghz(2), all_bases(2), 100, seed=1))


@pytest.fixture
def refits(monkeypatch):
    """Count the fits of replicates."""
    module = import_module("unipd.apps.tomography.bootstrap")
    calls, original = [], module._refitted

    def counted(*arguments):
        calls.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(module, "_refitted", counted)
    return calls


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


def resumed(path, make=fitted, number=NUMBER, every="1it", **options):
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
    """Return a progress that asks the runs to end after three replicates."""
    asked = interruption.Request()
    monkeypatch.setattr(interruption, "request", asked)
    return lambda done, total: asked.set() if done == 3 else None


@pytest.mark.parametrize("make", [fitted, fitted_counts])
@pytest.mark.parametrize("threads", [1, 2])
def test_replicates_that_are_done_are_not_drawn_again(path, refits, ending, make, threads):
    options = {"seed": 3, "observables": {"zz": "ZZ", "x": {"XI": 0.5, "IX": 0.5}}, "threads": threads}
    alone = make().bootstrap(NUMBER, **options)
    assert resumed(path, make, progress=ending, **options).replicates == 3
    assert [len(rows) for rows in found_replicates(path).values()] == [3]
    interruption.request.clear()
    refits.clear()
    seen = []
    same(resumed(path, make, progress=lambda *pair: seen.append(pair), **options), alone)
    assert len(refits) == NUMBER - 3
    assert seen == [(done, NUMBER) for done in range(3, NUMBER + 1)]


def test_more_and_fewer_replicates(path, refits):
    same(resumed(path, number=4), fitted().bootstrap(4))
    refits.clear()
    more = resumed(path, number=6)
    assert len(refits) == 2
    same(resumed(path, number=3), fitted().bootstrap(3))
    assert len(refits) == 2 + 3  # those of the bootstrap without a checkpoint
    same(more, fitted().bootstrap(6))


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (lambda: fitted(2), {}),
        (lambda: fitted(accuracy=1e-5), {}),
        (lambda: fitted(rank=1), {}),
        (fitted_counts, {}),
        (fitted, {"seed": 5}),
        (fitted, {"target": ghz(2)}),
        (fitted, {"observables": {"x": "XI"}}),
    ],
)
def test_other_replicates_are_not_taken_for_these(tmp_path, path, refits, make, options):
    resumed(path, fitted, 2, observables={"x": "IX"})
    with Checkpoint(tmp_path / "other.ckpt", "1it"):
        replicates_file(path).rename(replicates_file(tmp_path / "other.ckpt"))
        other = make().bootstrap(2, **options)
    same(other, make().bootstrap(2, **options))
    assert [len(rows) for rows in found_replicates(tmp_path / "other.ckpt").values()] == [2, 2]
    refits.clear()
    replicates_file(tmp_path / "other.ckpt").rename(replicates_file(path))
    resumed(path, fitted, 2, observables={"x": "IX"})
    assert refits == []


def test_the_file_is_written_as_often_as_the_checkpoint(path, monkeypatch):
    written, original = [], keeping.write_checkpoint

    def noted(where, header, arrays):
        written.append(arrays[0].size)
        original(where, header, arrays)

    monkeypatch.setattr(keeping, "write_checkpoint", noted)
    resumed(path, every="3it", number=8)
    assert written == [1, 4, 7, 8]
    written.clear()
    resumed(path, every="1h", number=12)
    assert written == [9, 12]
    resumed(path, every="1h", number=12)
    assert written == [9, 12]


def test_a_full_disk_is_said_once_and_the_bootstrap_goes_on(path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with Checkpoint(path, "1it"):
        model = fitted()
        monkeypatch.setattr(keeping, "write_checkpoint", full)
        with pytest.warns(CheckpointWarning, match="No space left") as said:
            errors = model.bootstrap(NUMBER)
    assert len(said) == 1
    same(errors, fitted().bootstrap(NUMBER))
    assert not replicates_file(path).exists()


@pytest.mark.parametrize("content", [b"", b"junk", "half", "other"])
def test_a_damaged_file_is_refused_and_left_alone(path, content):
    resumed(path)
    file = replicates_file(path)
    half = file.read_bytes()[: file.stat().st_size // 2]
    file.write_bytes({"half": half, "other": path.read_bytes()}.get(content, content))
    before = file.read_bytes()
    with pytest.raises(FileFormatError, match="replicates"):
        resumed(path)
    assert file.read_bytes() == before


def test_without_a_checkpoint_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fitted().bootstrap(2)
    assert list(tmp_path.iterdir()) == []
