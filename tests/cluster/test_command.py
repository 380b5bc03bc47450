"""The command line under mpirun: detected automatically, one output, the results of one process."""

import numpy as np
import pytest

from support.mpi import MPIRUN, command, figures, needs_mpi, run

pytestmark = needs_mpi
TOMOGRAPHY = ("tomography", "--simulate", "random", "--qubits", 8, "--accuracy", 1e-4, "--seed", 5, "--threads", 1)


def test_tomography(tmp_path):
    two, said = figures(2, *TOMOGRAPHY, "--out", tmp_path / "state.npz")
    one, _ = figures(1, *TOMOGRAPHY)
    assert two["relative_residual"] == pytest.approx(one["relative_residual"], rel=1e-3)
    assert two["iterations"] == one["iterations"]
    assert said.count("solved: ") == 1
    assert (tmp_path / "state.npz").exists()
    assert len(list(tmp_path.iterdir())) == 1


def test_completion_reads_shards(tmp_path):
    rng = np.random.default_rng(1)
    pairs = rng.permutation(600)[:240]
    lines = [f"{pair // 20 + 1}\t{pair % 20 + 1}\t{rng.integers(1, 6)}\t0" for pair in [*pairs, *pairs[:9]]]
    ratings = tmp_path / "ratings.tsv"
    ratings.write_text("\n".join(lines))
    words = ("complete", ratings, "--radius", 5, "--quiet", "--test", ratings)
    (three, _), (one, _) = figures(3, *words), figures(1, *words)
    for name in ("objective", "rmse_train", "rmse_test"):
        assert three[name] == pytest.approx(one[name], rel=1e-6)
    for name in ("users", "items", "ratings", "test_ratings"):
        assert three[name] == one[name]


def test_solve_has_the_same_bits(tmp_path):
    program = tmp_path / "small.dat-s"
    cost = [f"0 1 {i} {j} {1 + (i * j) % 3}" for i in range(1, 7) for j in range(i + 1, 7)]
    diagonal = [f"{i} 1 {i} {i} 1.0" for i in range(1, 7)]
    program.write_text("\n".join(["6", "1", "6", " ".join(["1.0"] * 6), *cost, *diagonal]) + "\n")
    (two, _), (one, _) = (figures(ranks, "solve", program, "--quiet") for ranks in (2, 1))
    assert [two[name] for name in ("objective", "dual_bound")] == [one[name] for name in ("objective", "dual_bound")]


def test_malformed_line_is_reported_with_its_number(tmp_path):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("".join(f"{user},1,3\n" for user in range(1, 30)) + "30,1,good\n")
    done = run(command(2, "unipd", "complete", ratings))
    assert done.returncode == 2
    assert done.stderr.count("line 30: the rating must be a number") == 1
    assert "rank" not in done.stderr


def test_different_commands_are_refused():
    done = run([str(MPIRUN), "-n", "1", "unipd", "theta", "graph.txt", ":", "-n", "1", "unipd", "--version"])
    assert done.returncode == 2
    assert done.stderr.count("word 1 ('theta' on rank 0, nothing on rank 1)") == 1


def test_different_options_are_refused():
    words = ["unipd", "tomography", "--simulate", "ghz", "--qubits", "3", "--seed"]
    done = run([str(MPIRUN), "-n", "1", *words, "1", ":", "-n", "1", *words, "2"])
    assert done.returncode == 2
    assert done.stderr.count("--seed ('1' on rank 0, '2' on rank 1)") == 1


DATA = {
    "ratings.csv": "1,1,3\n1,2,{}\n2,1,2\n2,2,5\n",
    "data.csv": "pauli,expectation\nZZ,1\nXX,{}\nYY,-1\n",
    "graph.txt": "3 3\n1 2 1\n1 3 1\n2 3 {}\n",
    "program.dat-s": "1\n1\n2\n{}\n0 1 1 2 1\n1 1 1 1 1\n1 1 2 2 1\n",
}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("complete", "ratings.csv"), "ratings.csv"),
        (("complete", "same.csv", "--test", "ratings.csv", "--radius", "1"), "ratings.csv"),
        (("tomography", "data.csv"), "data.csv"),
        (("maxcut", "graph.txt"), "graph.txt"),
        (("theta", "graph.txt"), "graph.txt"),
        (("solve", "program.dat-s"), "program.dat-s"),
    ],
    ids=("complete", "test", "tomography", "maxcut", "theta", "solve"),
)
def test_different_files_are_refused_by_name(tmp_path, words, name):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, value in zip(folders, ("0.5", "0.6"), strict=True):
        folder.mkdir()
        (folder / name).write_text(DATA[name].format(value))
        (folder / "same.csv").write_text(DATA["ratings.csv"].format(4))
    one, two = (["-n", "1", "-wdir", str(folder), "unipd", *words] for folder in folders)
    done = run([str(MPIRUN), *one, ":", *two])
    assert done.returncode == 2
    assert done.stderr.count(f"unipd: the file {name}: expected the same on every rank, got content (") == 1
    assert done.stdout == ""


def test_problem_from_python_is_divided(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(
        "import unipd\nfrom unipd.sharp import Simplex\n\n"
        "problem = unipd.Problem(Simplex(3), [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]], [1.0, 0.5])\n"
    )
    words = ("solve", f"{path}:problem", "--quiet")
    (three, said), (one, _) = figures(3, *words), figures(1, *words)
    assert said.count("unipd: 1 of 3 ranks hold no rows and will idle") == 1
    assert three["objective"] == pytest.approx(one["objective"], abs=1e-9)


def test_other_commands_run_once():
    done = run(command(3, "unipd", "--version"))
    assert done.returncode == 0
    assert len(done.stdout.split()) == 2


def test_idle_ranks_are_reported(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("pauli,expectation\nZZ,1\nXX,1\n")
    done = run(command(3, "unipd", "tomography", path, "--quiet"))
    assert done.returncode == 0
    assert done.stderr.count("unipd: 1 of 3 ranks hold no rows and will idle") == 1
