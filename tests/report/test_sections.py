"""What applications add to the page of a result."""

import json
import re

import numpy as np
import pytest

import unipd
import unipd.io
from report.runs import save_and_load, solve_constrained
from unipd.apps.process_tomography import simulate_process
from unipd.apps.tomography import Noise, PauliTomography, ghz, report_data, simulate
from unipd.report import page_content, report_sections, to_plain

CYCLE = unipd.io.Graph.of(7, np.arange(7), (np.arange(7) + 1) % 7, np.ones(7))


@pytest.fixture(scope="module")
def program():
    """Return a program whose slack is known: min <C, X> with trace X = 1 has Z = C - lambda_min(C) I."""
    cost = np.diag([1.0, 2.0, 4.0])
    return unipd.SDP.from_matrices(cost, [np.eye(3)], [1.0]).solve(1e-6)


def section_of(result, title):
    return next(section for section in report_sections(result) if section.title == title)


def figure_of(section, title):
    return next(figure for figure in section.figures if figure.title == title)


def test_a_plain_run_has_none():
    assert report_sections(solve_constrained()) == []


def test_a_channel_is_not_shown_as_a_state():
    counts = simulate_process("h", shots=100)
    assert report_sections(unipd.ProcessTomography().fit_counts(counts).result_) == []


def test_the_page_of_a_channel_has_its_matrices(tmp_path):
    model = unipd.ProcessTomography().fit_counts(simulate_process("h", shots=100))
    model.report(tmp_path / "channel.html", target="h")
    page = (tmp_path / "channel.html").read_text(encoding="utf-8")
    assert all(words in page for words in ("Choi matrix", "Pauli transfer matrix", "average gate fidelity"))


def test_a_saved_channel_shows_its_choi_matrix_and_fidelities():
    model = unipd.ProcessTomography().fit_counts(simulate_process("h", shots=100))
    channel = model.channel_
    figures = {"choi": channel.choi, "eigenvalues": channel.eigenvalues, "process_fidelity": 0.97}
    result = model.result_.with_extras(**figures, process_fidelity_low=0.96, process_fidelity_high=0.98)
    (section,) = report_sections(result)
    assert section.title == "Channel"
    assert "0.97 [0.96, 0.98]" in page_content({"run": result})["before"]
    mesh, _ = figure_of(section, "Choi matrix").traces
    assert np.max(mesh["z"]) == pytest.approx(np.abs(channel.choi).max() / 2)
    (spectrum,) = figure_of(section, "Spectrum of the Choi matrix").traces
    np.testing.assert_allclose(np.sort(spectrum["y"]), np.sort(channel.eigenvalues))
    (table,) = figure_of(section, "Pauli transfer matrix").traces
    np.testing.assert_allclose(table["z"], channel.ptm, atol=1e-12)
    assert table["x"] == ["I", "X", "Y", "Z"]


def test_a_semidefinite_program_shows_its_errors_and_both_spectra(program):
    section = section_of(program, "Semidefinite program")
    assert [float(row[2]) for row in section.tables[0].rows] == pytest.approx(program.extras["dimacs_errors"], abs=1e-2)
    first, second = figure_of(section, "Eigenvalues").traces
    assert first["y"][0] == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(np.sort(np.nan_to_num(second["y"])), [0.0, 1.0, 3.0], atol=1e-3)


def test_a_cut_shows_how_far_from_the_bound_it_can_be():
    section = section_of(unipd.MaxCut().fit(CYCLE).result_, "Cut")
    (bars,) = figure_of(section, "Cut and bound").traces
    assert bars["x"][0] == 6.0
    assert bars["x"][1] == pytest.approx(7 * np.cos(np.pi / 14) ** 2, rel=1e-3)
    assert "at least 90" in section.sentences[1]


@pytest.fixture(scope="module")
def estimate():
    return PauliTomography().fit_data(simulate("ghz", 3, noise=Noise(shots=400), seed=1).data)


def test_a_city_has_the_entries_of_the_state(estimate):
    bright, grey = figure_of(section_of(estimate.result_, "State"), "Density matrix").traces
    heights, expected = np.zeros((8, 8)), np.abs(estimate.state_.density_matrix())
    for mesh in (bright, grey):
        boxes = np.stack([np.asarray(mesh[axis]).reshape(-1, 8) for axis in "xyz"])
        rows, columns = (np.rint(part.mean(axis=1)).astype(int) for part in boxes[:2])
        heights[rows, columns] = boxes[2, :, -1]
        assert max(int(np.max(mesh[side])) for side in "ijk") == np.asarray(mesh["x"]).size - 1
    np.testing.assert_allclose(heights, expected, atol=1e-12)
    assert np.asarray(bright["z"]).reshape(-1, 8)[:, -1].min() >= 0.03 * expected.max()
    assert np.asarray(grey["z"]).max() < 0.03 * expected.max()
    assert "intensity" in bright
    assert "intensity" not in grey  # the phase of a small entry is noise


@pytest.mark.parametrize(
    ("chi_square", "words"),
    [(100.0, "as expected"), (130.0, "as expected"), (200.0, "more than the noise"), (40.0, "less than the noise")],
)
def test_chi_square_is_judged_by_its_own_spread(estimate, chi_square, words):
    result = estimate.result_.with_extras(chi_square=chi_square, degrees_of_freedom=100)
    assert words in section_of(result, "State").sentences[0]


def test_observables_and_residuals_are_drawn_where_they_are_known(estimate):
    known = {"names": ["<Z>"], "values": [0.5], "low": [0.3], "high": [0.6]}
    result = estimate.result_.with_extras(observables=known, residuals_by_basis={"bases": ["X"], "residuals": [1.1]})
    section = section_of(result, "State")
    (points,) = figure_of(section, "Observables").traces
    assert points["x"] == ["&lt;Z&gt;"]
    assert points["error_y"]["array"] == pytest.approx([0.1])
    assert points["error_y"]["arrayminus"] == pytest.approx([0.2])
    assert figure_of(section, "Residuals by basis").traces[0]["y"] == [1.1]
    assert [figure.title for figure in section_of(estimate.result_, "State").figures] == ["Density matrix", "Spectrum"]


def test_the_page_of_a_fit_has_target_error_bars_and_residuals(estimate, tmp_path):
    errors = estimate.bootstrap(4, target=ghz(3), observables={"zz": "ZZI"}, seed=1)
    result = estimate.result_.with_extras(**report_data(estimate.fit_, errors=errors))
    section = section_of(result, "State")
    first, second = figure_of(section, "Spectrum").traces
    assert (first["name"], second["name"]) == ("estimate", "target")
    assert first["error_y"]["array"][0] == pytest.approx(
        errors.interval("eigenvalue_1")[1] - result.extras["eigenvalues"][0]
    )
    (points,) = figure_of(section, "Observables").traces
    assert points["y"][0] == pytest.approx(errors.estimates["zz"])
    low, high = errors.interval("zz")
    assert points["error_y"]["array"][0] + points["error_y"]["arrayminus"][0] == pytest.approx(high - low)
    assert list(figure_of(section, "Residuals by basis").traces[0]["x"]) == ["weight 1", "weight 2", "weight 3"]
    estimate.report(tmp_path / "fit.html", errors=errors)
    page = (tmp_path / "fit.html").read_text(encoding="utf-8")
    assert "Residuals by basis" in page
    assert re.search(r"fidelity</th>\s*<td[^>]*>[\d.]+ \[", page)


def test_a_saved_model_shows_the_radii_that_were_tried(tmp_path):
    random = np.random.default_rng(0)
    rows, columns = np.divmod(random.choice(600, 300, replace=False), 20)
    values = np.outer(np.arange(30.0), np.ones(20))[rows, columns] + random.standard_normal(300)
    model = unipd.MatrixCompletion().fit((rows, columns, values))
    saved = unipd.io.results.load(model.save(tmp_path / "model.npz"))
    section = section_of(saved, "Model")
    (path,) = figure_of(section, "Choice of the radius").traces
    np.testing.assert_allclose(np.sort(path["x"]), sorted(radius for radius, _ in model.path_))
    assert section.tables[0].rows[0] == ("training", f"{saved.extras['rmse_train']:.5g}")
    assert float(section.tables[0].rows[1][1]) == pytest.approx(min(error for _, error in model.path_), rel=1e-4)
    residuals = figure_of(section, "Residuals").traces[0]
    assert sum(residuals["y"]) == values.size
    _, groups = figure_of(section, "Calibration").traces
    assert np.mean(groups["y"]) == pytest.approx(values.mean(), rel=0.02)
    assert np.abs(groups["x"] - groups["y"]).max() < 0.1 * np.ptp(values)
    best = section.tables[1].rows[0]
    scores = {str(item): model.predict([(999, item)])[0] for item in range(20)}
    assert float(best[1]) == pytest.approx(max(scores.values()), abs=2e-3)
    assert scores[best[0]] == max(scores.values())
    assert f"rank {model.rank_}" in section.sentences[1]
    assert section.sentences[2] == "Side information was not used."
    user, items = section.tables[2].rows[0]
    assert int(user) == np.argmax(np.bincount(rows))
    assert items.split(" ")[0] == str(model.recommend(int(user), 1)[0][0])


def test_a_saved_model_of_implicit_feedback_shows_what_it_recommends(tmp_path):
    users, items = np.nonzero(np.random.default_rng(0).random((30, 20)) < np.linspace(0.1, 0.6, 30)[:, None])
    model = unipd.ImplicitCompletion(1.0).fit((users, items))
    saved = unipd.io.results.load(model.save(tmp_path / "model.npz"))
    section = section_of(saved, "Model")
    assert f"{users.size} seen pairs" in section.sentences[0]
    assert f"rank {model.rank_}" in section.sentences[1]
    user, best = section.tables[0].rows[0]
    assert int(user) == np.argmax(np.bincount(users))
    assert best.split(" ")[0] == str(model.recommend(int(user), 1)[0][0])
    np.testing.assert_allclose(figure_of(section, "Singular values").traces[0]["y"][0], model.singular_values_[0])
    saved.extras["completion"]["items"] = np.zeros(0, np.int64)
    assert "missing" in section_of(saved, "Model").sentences[1]


def test_saved_results_show_the_same(program, tmp_path):
    cut = unipd.MaxCut().fit(CYCLE).result_
    for result in (program, cut):
        fresh, saved = report_sections(result), report_sections(save_and_load(result, tmp_path))
        assert [s.title for s in fresh] == [s.title for s in saved]
        for one, other in zip(fresh, saved, strict=True):
            assert [to_plain(figure.traces) for figure in one.figures] == [to_plain(f.traces) for f in other.figures]


def test_figures_are_json():
    value = {"y": np.array([1.0, np.nan, np.inf]), "n": np.int64(3), "parts": ({"z": np.float32(0.5)},)}
    assert json.loads(json.dumps(to_plain(value), allow_nan=False)) == {
        "y": [1.0, None, None],
        "n": 3,
        "parts": [{"z": 0.5}],
    }
