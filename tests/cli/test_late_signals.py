"""Signals after the solve: during the rounding of a cut, and during a bootstrap."""

import contextlib
import importlib
import json

import numba
import numpy as np
import pytest

from unipd._util import context
from unipd.apps.graphs.maxcut import _LocalSearch
from unipd.cli.commands import tomography
from unipd.io import load


@pytest.fixture
def graph(tmp_path):
    rng = np.random.default_rng(0)
    ends = rng.integers(1, 31, (90, 2))
    path = tmp_path / "graph.txt"
    path.write_text("30 90\n" + "".join(f"{i} {j} 1\n" for i, j in ends))
    return path


def interrupt_search(monkeypatch, name, call):
    """Request a stop at a certain call of the search; return the values of the cuts that it found."""
    found, original = [], getattr(_LocalSearch, name)

    def search_and_interrupt(*arguments):
        found.append(original(*arguments))
        if len(found) == call:
            context.request.pending = True
        return found[-1]

    monkeypatch.setattr(_LocalSearch, name, search_and_interrupt)
    return found


@pytest.mark.parametrize(("name", "call"), [("climb", 1), ("climb", 7), ("climb", 200), ("anneal", 2)])
def test_rounding_ends_after_the_cuts_at_hand(invoke, graph, tmp_path, monkeypatch, name, call):
    cuts = interrupt_search(monkeypatch, name, call)
    out = tmp_path / "cut.txt"
    result = invoke("maxcut", graph, "--json", "-", "--sides", out)
    content = json.loads(result.stdout)
    assert (result.exit_code, content["status"]) == (130, "interrupted")
    assert call <= len(cuts) <= call + numba.get_num_threads() - 1
    assert content["cut_value"] == max(value for value, _ in cuts)
    assert content["cut_value"] <= content["sdp_bound"]
    assert len(out.read_text().splitlines()) == 30


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("done", "bars"), [(0, False), (1, False), (2, True), (5, True)])
def test_a_bootstrap_keeps_the_replicates_that_are_done(invoke, tmp_path, monkeypatch, done, bars, threads):
    noted = []

    @contextlib.contextmanager
    def interrupting_counter(*_, **__):
        def note(count, total):
            noted.append(count)
            if count == done:
                context.request.pending = True

        note(0, 50)
        yield note

    for module in (tomography, importlib.import_module(tomography.__name__)):  # others may have imported it again
        monkeypatch.setattr(module, "progress_counter", interrupting_counter)
    out = tmp_path / "state.npz"
    result = invoke(
        *("tomography", "--simulate", "ghz", "--qubits", 2, "--shots", 500, "--bootstrap", 50, "--out", out),
        *("--threads", threads, "--json", "-"),
    )
    content = json.loads(result.stdout)
    assert (result.exit_code, content["status"]) == (130, "interrupted")
    assert noted == list(range(done + 1))
    assert content["message"].endswith(f"The bootstrap was interrupted after {done} of 50 replicates.")
    assert ("fidelity_stderr" in content) is bars
    assert 0.9 < content["fidelity"] <= 1.0
    saved = load(out)
    assert (saved.status.value, saved.message) == (content["status"], content["message"])
    assert ("fidelity_stderr" in saved.extras) is bars
