"""Peers are imported before the clock of a benchmark starts, and their warm-up is not timed."""

import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import completion_peers
import stopwatch
from unipd._typing import FloatArray
from unipd.io import Ratings

RATINGS = Ratings(np.arange(40) // 4, np.arange(40) % 4, np.linspace(1.0, 5.0, 40))
WARM_UP, WORK = 0.3, 0.05


@pytest.mark.parametrize(("peer", "module"), [("surprise_svd", "surprise"), ("cmfrec_cmf", "cmfrec")])
def test_a_peer_is_imported_before_it_fits(peer: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError):
        getattr(completion_peers, peer)()


def test_what_cmfrec_does_not_know_gets_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    found = SimpleNamespace(predict=lambda user, item: np.where(user > 5, np.nan, 9.0))
    monkeypatch.setitem(sys.modules, "cmfrec", SimpleNamespace(CMF=lambda **_: SimpleNamespace(fit=lambda _: found)))
    predicted = completion_peers.cmfrec_cmf()(RATINGS)(RATINGS)
    np.testing.assert_array_equal(predicted, np.where(RATINGS.users > 5, 3.0, 5.0))


def test_fit_and_prediction_are_timed_apart_and_warm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: dict[str, float] = {}

    def predict(test: Ratings) -> FloatArray:
        time.sleep(2 * WORK)
        return np.full(test.values.size, 3.0)

    def prepare() -> completion_peers.Fit:
        calls: list[int] = []

        def fit(train: Ratings) -> completion_peers.Predict:
            time.sleep(WORK if calls else WARM_UP)  # the first call compiles
            calls.append(train.values.size)
            return predict

        return fit

    monkeypatch.setattr(completion_peers, "CONTESTANTS", {"made up": prepare})
    monkeypatch.setattr(completion_peers, "note", lambda name, value, *_, **__: seen.update({name: value}))
    completion_peers.compare(RATINGS, RATINGS, "made-up", (10, 4))
    assert WORK <= seen["made-up, made up: fit"] < WARM_UP
    assert seen["made-up, made up: prediction"] >= 2 * WORK
    assert seen["made-up, made up: test RMSE"] == pytest.approx(np.std(RATINGS.values))
    assert "imported and warm" in capsys.readouterr().out


def test_a_stopwatch_counts_outer_calls_once_and_failed_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(1, 100))
    monkeypatch.setattr(stopwatch, "clock", lambda: float(next(now)))
    watch = stopwatch.Stopwatch()
    within = watch.time_calls(lambda: None)

    def fail() -> None:
        within()
        raise KeyError

    within()  # from 1 to 2
    with pytest.raises(KeyError):
        watch.time_calls(fail)()  # from 3 to 6
    assert (watch.seconds, watch.calls) == (1.0 + 3.0, 2)
    watch.reset()
    assert (watch.seconds, watch.calls) == (0.0, 0)
