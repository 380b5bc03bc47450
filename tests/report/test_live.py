"""The live report of a run."""

import html
import http.client
import json
import socket
import threading
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest

import unipd
from report.runs import HOSTILE, MATRIX, solve_constrained
from unipd.errors import InvalidInput
from unipd.report import HOST, MOST_RUNS, LiveServer, RunCollector
from unipd.run import watch_runs


def fetch(server, path="data"):
    with urlopen(server.url + path, timeout=10) as answer:
        return json.loads(answer.read())


def first_trace(content, axis="y"):
    return next(trace for trace in content["figures"]["curves"]["traces"] if trace["yaxis"] == axis)


def raw(server, path, host=None, method="GET"):
    connection = http.client.HTTPConnection(HOST, server.port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    if host is not None:
        connection.putheader("Host", host)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def problem():
    sharp = unipd.sharp.Linear(np.arange(9.0) / 9, unipd.sharp.Simplex(9))
    return unipd.Problem(sharp, MATRIX, MATRIX @ np.full(9, 1 / 9), "=")


def test_the_page_follows_a_run():
    collector, seen = RunCollector(), []

    def look(info):
        if info.state.iteration % 10 == 0:
            server._next = 0.0  # as if a while had passed
            seen.append(fetch(server))

    with LiveServer(collector.runs) as server, watch_runs(collector):
        assert fetch(server)["runs"] == []
        result = unipd.solve(problem(), "unipdgrad", stop=unipd.MaxIterations(30), callback=look)
        collector.finish("the result", result)
        server._next = 0.0
        last = fetch(server)
    lengths = [len(state["runs"][0]["axes"]["iterations"]) for state in seen]
    assert lengths == [10, 20, 30]
    assert [first_trace(state)["name"] for state in seen] == ["unipdgrad"] * 3
    assert all("running" in state["before"] and not state["done"] for state in seen)
    np.testing.assert_allclose(first_trace(seen[1], "y3")["y"], np.abs(result.history["gap"][:20]), rtol=1e-6)
    assert first_trace(last)["name"] == "the result"
    assert "iteration limit" in last["before"]


def test_a_maximisation_is_shown_in_its_own_sign():
    program, collector = unipd.SDP.from_matrices(np.diag([1.0, 2.0]), [np.eye(2)], [1.0], maximise=True), RunCollector()
    with watch_runs(collector):
        program.solve(stop=unipd.MaxIterations(3), method="accunipdgrad")
    (run,) = collector.runs().values()
    assert run.dual_bound >= 2.0 - 1e-9
    assert run.facts.maximise


def test_the_end_is_reported_to_an_open_page():
    with LiveServer(lambda: {"a": solve_constrained()}) as server:
        assert fetch(server)["done"] is False
        closing = threading.Thread(target=server.close)
        closing.start()
        while not server.done:
            pass
        assert fetch(server)["done"] is True
        closing.join(10)
        assert not closing.is_alive()
    with pytest.raises(OSError, match="refused"):
        fetch(server)


def test_nothing_is_left_when_the_block_ends():
    before = threading.active_count()
    with LiveServer(dict) as server:
        assert threading.active_count() > before
    assert threading.active_count() == before
    with socket.create_server((HOST, server.port)):
        pass


def test_only_this_machine_can_connect():
    with LiveServer(dict) as server:
        assert server._server.server_address[0] == "127.0.0.1"
        assert server._thread.daemon


@pytest.mark.parametrize("path", ["/../etc/passwd", "/data/..", "/data?x=1", "/%2e%2e/", "/etc/passwd", "/report.js"])
def test_there_are_two_addresses_only(path):
    with LiveServer(dict) as server:
        answer, body = raw(server, path, f"{HOST}:{server.port}")
        assert answer.status == 404
        assert body == b"Not Found\n"


@pytest.mark.parametrize("host", [None, "evil.example", "evil.example:{}", "127.0.0.1", "127.0.0.1.evil.example:{}"])
@pytest.mark.parametrize("path", ["/", "/data"])
def test_requests_that_name_another_host_are_refused(host, path):
    with LiveServer(lambda: {"secret": solve_constrained()}) as server:
        answer, body = raw(server, path, None if host is None else host.format(server.port))
        assert answer.status == 421
        assert b"secret" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_there_is_nothing_but_get(method):
    with LiveServer(dict) as server, pytest.raises(HTTPError) as error:
        urlopen(Request(server.url, method=method), timeout=10)
    assert error.value.code == 501
    error.value.close()


def test_headers():
    with LiveServer(dict) as server:
        answer, body = raw(server, "/", f"localhost:{server.port}")
        assert answer.status == 200
        assert answer.getheader("Cache-Control") == "no-store"
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert "frame-ancestors 'none'" in answer.getheader("Content-Security-Policy")
        assert answer.getheader("Access-Control-Allow-Origin") is None
        assert b"connect-src &#39;self&#39;" in body


def test_hostile_names_are_data():
    with LiveServer(lambda: {HOSTILE: solve_constrained(), "b": solve_constrained()}, title=HOSTILE) as server:
        body = raw(server, "/", f"{HOST}:{server.port}")[1]
        assert b"<script>window" not in body
        content = fetch(server)
        assert first_trace(content)["name"] == html.escape(HOSTILE, quote=False)
        assert "<script>" not in content["before"]


def test_a_port_in_use_is_refused():
    with LiveServer(dict) as server, pytest.raises(InvalidInput, match=r"--live-port.*in use"):
        LiveServer(dict, server.port)


def test_slow_answers_are_given_again():
    calls = []

    def source():
        calls.append(1)
        return {}

    with LiveServer(source) as server:
        fetch(server)
        server._next = float("inf")
        fetch(server)
    assert len(calls) == 1


def test_a_collector_keeps_the_last_runs():
    collector = RunCollector()
    with watch_runs(collector):
        for _ in range(MOST_RUNS + 3):
            unipd.solve(problem(), "unipdgrad", stop=unipd.MaxIterations(1))
    assert list(collector.runs()) == [f"unipdgrad #{k}" for k in range(4, MOST_RUNS + 4)]


def test_watching_ends_with_the_block_and_changes_nothing():
    seen = []
    with watch_runs(lambda *begin: seen.append):
        watched = unipd.solve(problem(), "unipdgrad", stop=unipd.MaxIterations(5))
    alone = unipd.solve(problem(), "unipdgrad", stop=unipd.MaxIterations(5))
    assert len(seen) == 5
    np.testing.assert_array_equal(watched.x, alone.x)
