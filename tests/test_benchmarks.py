"""Benchmarks: every quick form runs and reports figures, and the runner collects them; times are not checked."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import runner

REPOSITORY = Path(__file__).parents[1] / "benchmarks"
SCRIPTS = runner.find_benchmarks(REPOSITORY)
GOOD = '''"""How long nothing takes.

More words.
"""
import sys
from figures import note
if __name__ == "__main__":
    print("a table of the script")
    note("nothing", 0.5 if "--quick" in sys.argv else 2.0, "s", 1.0)
    note("ratio", 3.0, "x", 2.0, at_least=True)
    note("unknown", float("nan"))
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "figures.py").write_text((REPOSITORY / "figures.py").read_text())
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "helper.py").write_text('"""No script."""\n')
    return tmp_path


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_quick_form_runs(name, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    outcome = runner.run_benchmark(name, SCRIPTS[name], quick=True)
    printed = capfd.readouterr().err
    assert outcome.exit_code == 0, printed
    is_excused = any(reason in printed for reason in ("not installed", "no files: set UNIPD_DATA"))
    assert outcome.figures or is_excused, printed
    assert all(figure["name"] for figure in outcome.figures)


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=list(SCRIPTS))
def test_every_script_reports_figures_and_needs_no_argument(script):
    calls = [node for node in ast.walk(ast.parse(script.read_text())) if isinstance(node, ast.Call)]
    assert any(isinstance(call.func, ast.Name) and call.func.id == "note" for call in calls)
    arguments = {
        call.args[0].value: {keyword.arg for keyword in call.keywords}
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"
    }
    assert "--quick" in arguments
    assert [name for name, given in arguments.items() if not name.startswith("-") and "nargs" not in given] == []


def test_the_list_of_the_repository(capsys):
    assert runner.main(["--list"]) == 0
    listed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert {"overhead", "first_order", "tomography"} <= listed.keys()
    assert not {"figures", "seven", "runner"} & listed.keys()


def test_figures_are_collected(folder, capfd):
    code = runner.main(["--quick", "--json", str(folder / "out.json")], folder)
    content = json.loads((folder / "out.json").read_text())
    assert code == content["exit_code"] == 0
    assert content["quick"] is True
    (outcome,) = content["benchmarks"]
    assert (outcome["name"], outcome["exit_code"]) == ("good", 0)
    assert [figure["value"] for figure in outcome["figures"]] == [0.5, 3.0, None]
    assert [figure["met"] for figure in outcome["figures"]] == [True, True, None]
    assert content["machine"]["cores"] > 0
    assert set(content["machine"]["versions"]) == {"unipd", "python", "numpy", "scipy", "numba"}
    printed = capfd.readouterr()
    assert "a table of the script" in printed.err
    for word in ("ratio", "3 x", "numpy", "cores"):
        assert word in printed.out


def test_a_missed_goal_sets_the_exit_code(folder, capfd):
    assert runner.main(["good.py"], folder) == 3
    assert "NOT met" in capfd.readouterr().out


def test_a_failing_script_does_not_lose_the_others(folder, capfd):
    (folder / "bad.py").write_text('"""Fails."""\nif __name__ == "__main__":\n    raise SystemExit(7)\n')
    assert runner.main(["--quick"], folder) == 1
    printed = capfd.readouterr().out
    assert "failed (7)" in printed
    assert "nothing" in printed


def test_a_slow_script_times_out(folder, capfd):
    (folder / "good.py").write_text('"""Sleeps."""\nimport time\nif __name__ == "__main__":\n    time.sleep(60)\n')
    assert runner.main(["--quick", "--timeout", "0.5"], folder) == 1
    assert "timed out" in capfd.readouterr().out


def test_an_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit) as left:
        runner.main(["nothing"])
    assert left.value.code == 2
    assert "overhead" in capsys.readouterr().err


def test_notes_are_silent_without_a_reader(folder):
    done = subprocess.run([sys.executable, str(folder / "good.py")], capture_output=True, text=True, check=True)
    assert done.stdout == "a table of the script\n"
    assert sorted(path.name for path in folder.glob("*.py")) == ["figures.py", "good.py", "helper.py"]
