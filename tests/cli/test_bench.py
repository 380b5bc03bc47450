import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from unipd.cli import benchmarks
from unipd.cli.commands.bench import code_of

REPOSITORY = Path(__file__).parents[2] / "benchmarks"
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


def test_the_list_of_the_repository(invoke):
    result = invoke("bench", "--list", "--json", "-")
    assert result.exit_code == 0
    listed = json.loads(result.stdout)["benchmarks"]
    names = {each["name"] for each in listed}
    assert {"overhead", "first_order", "tomography"} <= names
    assert not {"figures", "seven"} & names
    assert all(each["question"] for each in listed)
    assert names == {path.stem for path in REPOSITORY.glob("*.py") if "__main__" in path.read_text()}


def test_figures_are_gathered(invoke, folder):
    result = invoke("bench", "--folder", folder, "--quick", "--json", "-")
    content = json.loads(result.stdout)
    assert result.exit_code == content["exit_code"] == 0
    assert content["quick"] is True
    (outcome,) = content["benchmarks"]
    assert (outcome["name"], outcome["exit_code"]) == ("good", 0)
    assert [figure["value"] for figure in outcome["figures"]] == [0.5, 3.0, None]
    assert [figure["met"] for figure in outcome["figures"]] == [True, True, None]
    assert content["machine"]["cores"] > 0
    assert set(content["machine"]["versions"]) == {"unipd", "python", "numpy", "scipy", "numba"}
    for word in ("ratio", "3 x", "numpy", "cores"):
        assert word in result.stderr


def test_a_missed_goal_is_seen_in_the_exit_code(invoke, folder):
    result = invoke("bench", "good.py", "--folder", folder, "--json", folder / "out.json")
    assert result.exit_code == 3
    assert "NOT met" in result.stdout
    assert json.loads((folder / "out.json").read_text())["benchmarks"][0]["figures"][0]["met"] is False


def test_a_failing_script_does_not_lose_the_others(invoke, folder):
    (folder / "bad.py").write_text('"""Fails."""\nif __name__ == "__main__":\n    raise SystemExit(7)\n')
    result = invoke("bench", "--folder", folder, "--quick")
    assert result.exit_code == 1
    assert "failed (7)" in result.stdout
    assert "nothing" in result.stdout


def test_a_script_that_takes_too_long_is_ended(invoke, folder):
    (folder / "good.py").write_text('"""Sleeps."""\nimport time\nif __name__ == "__main__":\n    time.sleep(60)\n')
    result = invoke("bench", "--folder", folder, "--time-limit", "0.5", "--quick")
    assert result.exit_code == 1
    assert "took too long" in result.stdout


def test_threads_reach_the_scripts(invoke, folder):
    script = GOOD.replace(
        'note("nothing",', 'import os\n    note("threads", float(os.environ["OMP_NUM_THREADS"]))\n    note("nothing",'
    )
    (folder / "good.py").write_text(script)
    result = invoke("bench", "--folder", folder, "--quick", "--threads", 1, "--json", "-", "-q")
    content = json.loads(result.stdout)
    assert content["benchmarks"][0]["figures"][0]["value"] == 1.0
    assert content["machine"]["threads"]["OMP_NUM_THREADS"] == "1"
    assert result.stderr == ""


@pytest.mark.parametrize("arguments", [("nothing", "--list"), ("--folder", "nowhere", "--list"), ("--folder", ".")])
def test_mistakes_are_one_line(invoke, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    result = invoke("bench", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1


def test_without_a_checkout_the_way_to_one_is_told(invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(benchmarks, "__file__", str(tmp_path / "a" / "b" / "c" / "benchmarks.py"))
    result = invoke("bench")
    assert result.exit_code == 2
    assert "--folder" in result.stderr
    assert "checkout" in result.stderr


def test_notes_are_silent_without_a_reader(folder):
    done = subprocess.run([sys.executable, str(folder / "good.py")], capture_output=True, text=True, check=True)
    assert done.stdout == "a table of the script\n"
    assert sorted(path.name for path in folder.glob("*.py")) == ["figures.py", "good.py", "helper.py"]


def test_the_variable_is_the_same_on_both_sides():
    assert f'VARIABLE = "{benchmarks.VARIABLE}"' in (REPOSITORY / "figures.py").read_text()


def test_exit_codes():
    good = benchmarks.Outcome("a", 1.0, 0, [])
    assert code_of([good], quick=False) == 0
    assert code_of([good, benchmarks.Outcome("b", 1.0, None, [])], quick=True) == 1


@pytest.mark.parametrize("script", [path for path in REPOSITORY.glob("*.py") if "__main__" in path.read_text()])
def test_every_script_hands_on_figures_and_has_a_quick_form_without_further_words(script):
    tree = ast.parse(script.read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert any(isinstance(call.func, ast.Name) and call.func.id == "note" for call in calls)
    added = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"]
    words = {call.args[0].value: {each.arg: each.value for each in call.keywords} for call in added}
    assert "--quick" in words
    needed = [name for name, named in words.items() if not name.startswith("-") and "nargs" not in named]
    assert needed == []
