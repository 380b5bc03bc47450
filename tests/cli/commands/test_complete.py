"""``unipd complete``, ``unipd data`` and ``unipd reproduce fig2``."""

import json
import re

import numpy as np
import pytest

from unipd.apps.completion import load_model
from unipd.reproduce import completion_data, generate_ratings

KEYS = {
    "status",
    "objective",
    "dual_bound",
    "gap",
    "rank",
    "rmse_train",
    "rmse_test",
    "iterations",
    "oracle_calls",
    "matvecs",
    "seconds",
    "peak_memory_bytes",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ratings")
    made = generate_ratings((40, 30), 500, rank=2, noise=0.3)
    held = np.random.default_rng(0).random(made.values.size) < 0.2
    for name, chosen in (("train.tsv", ~held), ("test.tsv", held)):
        rows = zip(made.users[chosen] + 1, made.items[chosen] + 1, made.values[chosen], strict=True)
        (folder / name).write_text("\n".join(f"{u}\t{i}\t{r:.6f}\t881250949" for u, i, r in rows))
    with open(folder / "test.tsv", "a") as stream:
        stream.write("\n999\t1\t3.5\t0\n")
    return folder


def test_json_and_model(invoke, files, tmp_path):
    out = tmp_path / "model.npz"
    words = ("complete", files / "train.tsv", "--test", files / "test.tsv", "--json", "-", "--out", out)
    done = invoke(*words, "--recommend", 1, "--top", 3)
    assert done.exit_code == 0, done.stderr
    content = json.loads(done.stdout)
    assert set(content) >= KEYS
    assert content["status"] == "solved"
    assert content["gap"] <= 1e-3
    assert content["dual_bound"] <= content["objective"]
    assert content["test_unknown"] >= 1
    assert len(content["recommended"]) == 3
    loaded = load_model(out)
    assert loaded.predict([(1, 1)]).shape == (1,)
    assert [str(item) for item in loaded.recommend(1, 3)[0]] == list(content["recommended"])
    assert "validation error" in done.stderr
    assert "rmse test" in done.stderr
    shown = invoke("show", out, "--json", "-")
    assert json.loads(shown.stdout)["status"] == "solved"


def test_table(invoke, files):
    done = invoke("complete", files / "train.tsv", "--radius", 20, "--side", "--accuracy", 1e-2)
    assert done.exit_code == 0
    assert "rmse train" in done.stdout
    assert "rmse test" not in done.stdout
    done = invoke("complete", files / "train.tsv", "--radius", 20, "--accuracy", 1e-2, "--quiet", "--json", "-")
    assert json.loads(done.stdout)["rmse_test"] is None


def test_strangers_are_warned_of(invoke, files, tmp_path):
    (tmp_path / "others.tsv").write_text("999\t1\t3\n1\t999\t4\n")
    words = ("complete", files / "train.tsv", "--radius", 5, "--quiet", "--json", "-")
    done = invoke(*words, "--test", tmp_path / "others.tsv", "--recommend", 998, "--top", 2)
    warnings = done.stderr.splitlines()
    assert done.exit_code == 0
    assert [("--recommend" in line, "--test" in line) for line in warnings] == [(True, False), (False, True)]
    assert all(line.startswith("unipd: warning: ") for line in warnings)
    assert len(json.loads(done.stdout)["recommended"]) == 2
    assert invoke(*words, "--test", files / "test.tsv", "--recommend", 1).stderr == ""


def test_picture_and_quiet(invoke, files, tmp_path):
    picture = tmp_path / "run.png"
    done = invoke("complete", files / "train.tsv", "--radius", 20, "--quiet", "--plot", picture)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert picture.stat().st_size > 1000


def test_limits_are_not_success(invoke, files):
    done = invoke(
        "complete", files / "train.tsv", "--radius", 20, "--accuracy", 1e-14, "--time-limit", 0, "--json", "-"
    )
    assert done.exit_code == 3
    assert json.loads(done.stdout)["status"] == "time_limit"


def test_the_time_limit_is_for_the_choice_of_the_radius_too(invoke, files):
    words = ("complete", files / "train.tsv", "--accuracy", 0.9, "--json", "-", "--quiet")
    found = json.loads(invoke(*words).stdout)
    done = invoke(*words, "--time-limit", 0)
    content = json.loads(done.stdout)
    assert (done.exit_code, content["status"]) == (3, "time_limit")
    assert "the search for a radius" in content["message"]
    assert content["radius"] != found["radius"]
    assert (found["status"], content["search_iterations"]) == ("solved", 0)


def test_table_json_and_file_tell_the_same_counts(invoke, files, tmp_path):
    out = tmp_path / "model.npz"
    done = invoke("complete", files / "train.tsv", "--max-iterations", 1, "--json", "-", "--out", out)
    content = json.loads(done.stdout)
    assert content["iterations"] == 1 < content["search_iterations"]
    shown = invoke("show", out, "--json", "-")
    names = [name for name in content if name.removeprefix("search_") in ("iterations", "oracle_calls", "seconds")]
    assert len(names) == 6
    assert [json.loads(shown.stdout)[name] for name in names] == [content[name] for name in names]
    for table in (done.stderr, shown.stderr):
        assert "factored, 1 iteration\n" in table
        assert re.search(rf"search iterations +{content['search_iterations']}\n", table)


@pytest.mark.parametrize("words", [(), ("--radius", "none")])
def test_residual(invoke, files, words):
    done = invoke("complete", files / "train.tsv", "--residual", 0.3, "--json", "-", *words)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["rmse_train"] < 0.35


def test_what_may_help_without_a_radius(invoke, files):
    words = ("complete", files / "train.tsv", "--max-iterations", 2, "--accuracy", 1e-9, "--json", "-")
    ended = json.loads(invoke(*words, "--residual", 0.3).stdout)
    assert ended["status"] == "iteration_limit"
    assert "larger residual" in ended["message"]
    assert "(rank)" in ended["message"]
    assert "residual" not in json.loads(invoke(*words, "--radius", 20).stdout)["message"]


def test_small_ratings_are_distinguished(invoke, tmp_path):
    ratings = [f"{user},{item},{1e-4 * (item + user % 3)}" for user in range(8) for item in range(5) if user != item]
    (tmp_path / "small.csv").write_text("\n".join(ratings))
    done = invoke("complete", tmp_path / "small.csv", "--radius", "1e-3", "--recommend", 99, "--json", "-", "-q")
    scores = list(json.loads(done.stdout)["recommended"].values())
    assert len(set(scores)) == 5
    assert scores == sorted(scores, reverse=True)


def test_titles_of_what_is_recommended(invoke, files, tmp_path):
    (tmp_path / "u.item").write_bytes("".join(f"{k}|Film n\xba {k}|x\n" for k in range(1, 31)).encode("latin-1"))
    words = ("complete", files / "train.tsv", "--radius", 5, "--recommend", 1, "--titles", tmp_path / "u.item")
    content = json.loads(invoke(*words, "--json", "-").stdout)
    assert content["recommended_titles"] == {item: f"Film n\xba {item}" for item in content["recommended"]}
    assert len(content["recommended"]) == 10


def test_a_user_that_cannot_be_is_reported_before_the_fit(invoke, files, monkeypatch):
    from unipd.apps.completion import CompletionModel

    monkeypatch.setattr(CompletionModel, "fit", lambda *_: pytest.fail("fitted"))
    done = invoke("complete", files / "train.tsv", "--recommend", "ann")
    assert (done.exit_code, "--recommend" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("1\t1\t3\n1\t2\tgood\n", (), "line 2"),
        ("1\t1\t3\n-1\t2\t4\n", (), "line 2"),
        ("1\t1\t3\n7\n", (), "line 2"),
        ("", (), "empty"),
        ("user,item,rating\n", (), "no ratings"),
        ("1\t1\t3\n", ("--radius", "nan"), "radius"),
        ("1\t1\t3\n", ("--radius", "-1"), "radius"),
        ("1\t1\t3\n", ("--radius", "wide"), "radius"),
        ("1\t1\t3\n", ("--radius", "none"), "radius"),
        ("1\t1\t3\n", ("--radius", "2", "--residual", "1"), "--residual"),
        ("1\t1\t3\n", ("--user-ridge", "0"), "--user-ridge"),
        ("1\t1\t3\n", ("--recommend", "ann"), "--recommend"),
        ("1\t1\t3\n", ("--titles", "u.item"), "--titles"),
        ("1\t1\t3\n", ("--recommend", "1", "--titles", "missing.item"), "missing.item"),
        ("1\t1\t3\n", ("--method", "magic"), "method"),
        ("1\t1\t3\n", ("--test", "missing.tsv"), "missing.tsv"),
    ],
)
def test_mistakes_are_one_line(invoke, tmp_path, text, words, message):
    path = tmp_path / "ratings.tsv"
    path.write_text(text)
    done = invoke("complete", path, *words)
    assert done.exit_code == 2
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if "validation error" not in line]
    assert message in lines[-1]
    assert "Traceback" not in done.stderr


def test_data_says_what_there_is(invoke, tmp_path, monkeypatch):
    monkeypatch.delenv("UNIPD_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = invoke("data", "--json", "-")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["data"] == {"movielens-100k": None}
    assert invoke("data", "netflix").exit_code == 2


def test_data_shows_the_terms_and_names_the_address(invoke, tmp_path, monkeypatch):
    def unreachable(*arguments, **settings):
        raise OSError("no network")

    monkeypatch.setattr(completion_data.urllib.request, "urlopen", unreachable)
    done = invoke("data", "movielens-100k", "--folder", tmp_path)
    assert done.exit_code == 2
    assert "no redistribution" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert completion_data.MOVIELENS_URL in last
    assert str(tmp_path / "ml-100k") in last


def test_fetched(invoke, tmp_path):
    (tmp_path / "ml-100k").mkdir()
    (tmp_path / "ml-100k" / "ub.base").write_text("1\t1\t3\t0\n")
    done = invoke("data", "movielens-100k", "--folder", tmp_path, "--json", "-", "--quiet")
    assert json.loads(done.stdout)["folder"] == str(tmp_path / "ml-100k")


def test_figure(invoke, tmp_path):
    folder = tmp_path / "new" / "out"
    done = invoke("reproduce", "fig2", "--generated", "--iterations", 3, "--folder", folder, "--json", "-")
    assert done.exit_code == 0, done.stderr
    content = json.loads(done.stdout)
    assert len(content["methods"]) == 8
    assert {path.name for path in folder.iterdir()} == {"fig2.png", "fig2.csv"}
    assert 0 < content["norm_optimum_infeasibility"] < 1e-2
    row = next(line for line in done.stderr.splitlines() if "near the optimum of (b)" in line)
    assert f"{content['norm_optimum_infeasibility']:.3g}" in row


def test_a_folder_that_cannot_be_made(invoke, tmp_path):
    (tmp_path / "file").touch()
    done = invoke("reproduce", "fig2", "--generated", "--folder", tmp_path / "file" / "out")
    assert (done.exit_code, "--folder" in done.stderr) == (2, True)


def test_figure_without_data(invoke, tmp_path, monkeypatch):
    monkeypatch.delenv("UNIPD_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = invoke("reproduce", "fig2", "--folder", tmp_path)
    assert done.exit_code == 2
    assert "unipd data movielens-100k" in done.stderr


def test_movielens(invoke):
    folder = completion_data.find_movielens()
    if folder is None:
        pytest.skip("MovieLens 100K is not in $UNIPD_DATA or the cache")
    done = invoke("complete", folder / "ub.base", "--test", folder / "ub.test", "--json", "-")
    assert done.exit_code == 0
    content = json.loads(done.stdout)
    assert content["rmse_test"] <= 0.943
    assert content["gap"] <= 1e-3


def test_columns_and_duplicates(invoke, tmp_path):
    made = generate_ratings((20, 15), 150, rank=2)
    rows = [f"{i},{u},{r:.3f}" for u, i, r in zip(made.users, made.items, made.values, strict=True)]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(["what,who,liking", *rows, rows[0]]))
    words = ("complete", path, "--radius", 5, "--json", "-", "--quiet")
    by_position = invoke(*words)
    assert json.loads(by_position.stdout)["users"] == 15
    assert "columns taken by position: user = 'what'" in by_position.stderr
    assert "pairs are rated again later: 1;" in by_position.stderr
    by_name = invoke(*words, "--columns", "user=who,item=what,rating=liking", "--duplicates", "mean")
    content = json.loads(by_name.stdout)
    assert (content["users"], content["duplicates"]) == (20, 1)
    assert by_name.stderr == ""
    refused = invoke(*words, "--duplicates", "error")
    assert (refused.exit_code, "one rating per pair" in refused.stderr) == (2, True)
    assert invoke(*words, "--columns", "user=who").exit_code == 2


def test_metrics(invoke, files):
    words = ("complete", files / "train.tsv", "--radius", 5, "--json", "-", "--quiet")
    done = invoke(*words, "--test", files / "test.tsv", "--metrics", "mae,ndcg,recall,map", "--relevant", 3, "--top", 5)
    content = json.loads(done.stdout)
    names = ("rmse", "mae", "ndcg", "recall", "map")
    assert {name for name in content if name.endswith("_test")} == {f"{name}_test" for name in names}
    assert 0.0 < content["ndcg_test"] < 1.0
    for wrong in (("--metrics", "auc", "--test", files / "test.tsv"), ("--metrics", "ndcg"), ("--relevant", 3)):
        refused = invoke(*words, *wrong)
        assert (refused.exit_code, "--metrics" in refused.stderr) == (2, True)


def test_predict(invoke, files, tmp_path):
    out, pairs = tmp_path / "model.npz", tmp_path / "pairs.csv"
    assert invoke("complete", files / "train.tsv", "--radius", 5, "--out", out, "--quiet").exit_code == 0
    pairs.write_text("item,user\n1,2\n3,4\n1,99999\n")
    done = invoke("predict", out, pairs, "-o", tmp_path / "predictions.csv")
    assert done.exit_code == 0
    assert "1 of 3 pairs have a user or an item" in done.stderr
    lines = (tmp_path / "predictions.csv").read_text().splitlines()
    assert lines[0] == "user,item,prediction"
    expected = load_model(out).predict([(2, 1), (4, 3), (99999, 1)])
    assert [float(line.split(",")[2]) for line in lines[1:]] == expected.tolist()
    assert invoke("predict", out, pairs, "--quiet").stdout.splitlines() == lines
    pairs.write_text("1\n")
    refused = invoke("predict", out, pairs)
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert invoke("predict", files / "train.tsv", pairs).exit_code == 2


def test_pairs_of_texts_need_no_header(invoke, tmp_path):
    ratings, out, pairs = tmp_path / "ratings.csv", tmp_path / "model.npz", tmp_path / "pairs.csv"
    rows = [(f"u{k % 7}", f"i{k % 5}", 1 + k % 4) for k in range(30)]
    ratings.write_text("user,item,rating\n" + "".join(f"{user},{item},{value}\n" for user, item, value in rows))
    assert invoke("complete", ratings, "--radius", 2, "--out", out, "--quiet").exit_code == 0
    pairs.write_text("u1,i2\nu3,i4\n")
    done = invoke("predict", out, pairs)
    assert [line.split(",")[:2] for line in done.stdout.splitlines()[1:]] == [["u1", "i2"], ["u3", "i4"]]
    assert done.stderr == ""
    pairs.write_text("who,what\nu3,i4\n")
    named = invoke("predict", out, pairs)
    assert len(named.stdout.splitlines()) == 2
    assert "columns taken by position: user = 'who', item = 'what'" in named.stderr


def test_a_pair_with_names_like_user7_is_no_header(invoke, tmp_path):
    ratings, out, pairs = tmp_path / "ratings.csv", tmp_path / "model.npz", tmp_path / "pairs.csv"
    rows = [(f"user{k % 7}", f"Movie {k % 5}", 1 + k % 4) for k in range(30)]
    ratings.write_text("user,item,rating\n" + "".join(f"{user},{item},{value}\n" for user, item, value in rows))
    assert invoke("complete", ratings, "--radius", 2, "--out", out, "--quiet").exit_code == 0
    pairs.write_text("user1,Movie 2\nuser3,Movie 4\n")
    done = invoke("predict", out, pairs)
    assert [line.split(",")[0] for line in done.stdout.splitlines()[1:]] == ["user1", "user3"]
    pairs.write_text("user99,Movie 99\nuser3,Movie 4\n")
    assert "columns taken by position: user = 'user99'" in invoke("predict", out, pairs).stderr


def test_a_threshold_that_no_test_rating_reaches_is_refused_before_the_fit(invoke, files):
    words = ("complete", files / "train.tsv", "--test", files / "test.tsv", "--metrics", "ndcg", "--relevant", 99)
    refused = invoke(*words)
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert "--relevant: expected a threshold that some test ratings reach, got 99" in refused.stderr
