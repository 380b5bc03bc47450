"""The command ``unipd report``."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from urllib.request import urlopen

import numpy as np
import pytest

import unipd
from unipd.io import save


@pytest.fixture
def results_folder(tmp_path):
    problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        save(unipd.solve(problem), tmp_path / folder / "run.npz", seed=4)
    return tmp_path


def test_a_page_of_several_results(invoke, results_folder):
    result = invoke(
        "report", results_folder / "a" / "run.npz", results_folder / "b" / "run.npz", "-o", results_folder / "both.html"
    )
    assert result.exit_code == 0
    assert str(results_folder / "both.html") in result.stdout
    page = (results_folder / "both.html").read_text(encoding="utf-8")
    assert "a/run" in page
    assert "b/run" in page


def test_the_title_and_the_usual_name(invoke, results_folder, monkeypatch):
    monkeypatch.chdir(results_folder)
    result = invoke("report", "a/run.npz", "--title", "<b>Mine</b>", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert "<title>&lt;b&gt;Mine&lt;/b&gt;</title>" in (results_folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("missing.npz",),
        ("a",),
        ("a/run.npz", "-o", "page.pdf"),
        ("a/run.npz", "-o", "nowhere/page.html"),
        ("a/run.npz", "-o", "a"),
        ("not-a-result.npz",),
        ("a/run.npz", "not-a-result.npz"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_page(invoke, results_folder, monkeypatch, arguments):
    monkeypatch.chdir(results_folder)
    (results_folder / "not-a-result.npz").write_text("no")
    result = invoke("report", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert not list(results_folder.glob("*.html"))


def test_a_checkpoint_of_another_process_is_followed(results_folder):
    path, problem = results_folder / "run.ckpt", unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")

    def solve(iterations, *, resume):
        stop = unipd.MaxIterations(iterations)
        unipd.solve(problem, "unipdgrad", accuracy=1e-9, stop=stop, checkpoint=path, every="1it", resume=resume)

    solve(5, resume=False)
    command = [sys.executable, "-m", "unipd", "report", str(path), "--live"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    url = re.search(r"http://127\.0\.0\.1:\d+/", process.stderr.readline())[0]
    lengths = []
    for iterations in (5, 9):
        if iterations > 5:
            solve(iterations, resume=True)
            os.utime(path, (1.0, 1.0))  # a different time, however coarse the clock of the file system
        for _ in range(40):  # the page looks at the file about once a second
            with urlopen(url + "data", timeout=20) as answer:
                length = len(json.loads(answer.read())["runs"][0]["axes"]["iterations"])
            if length == iterations:
                break
            time.sleep(0.5)
        lengths.append(length)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    process.stderr.close()
    assert lengths == [5, 9]


def test_a_checkpoint_makes_a_page(invoke, results_folder):
    problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    unipd.solve(problem, checkpoint=results_folder / "run.ckpt")
    assert (
        invoke(
            "report", results_folder / "run.ckpt", results_folder / "a" / "run.npz", "-o", results_folder / "p.html"
        ).exit_code
        == 0
    )
    assert "running" not in (results_folder / "p.html").read_text(encoding="utf-8").split("<script")[0]


def test_live_writes_nothing(invoke, results_folder):
    result = invoke("report", results_folder / "a" / "run.npz", "--live", "-o", results_folder / "page.html")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
