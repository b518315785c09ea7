"""A fast part of the calibration: rates and coverage in their bands, p refused, and the page up to date."""

import json
import re
import sys
from dataclasses import replace
from multiprocessing.pool import ThreadPool
from types import SimpleNamespace

import numpy as np
import pytest
from calibration import __main__ as command
from calibration import coverage, jobs, page, rates, widths
from calibration.cells import Cell, band, cells_of_coverage, cells_of_rates
from calibration.coverage import RELATED
from calibration.designs import DESIGNS, PLACE, REFUSED, WARNED, alike
from calibration.laws import Gaussian
from calibration.measures import MEASURES, SELDOM, tried

from unmix import measures
from unmix.measures import CCA, CKA, ICA, R2, RSA, Procrustes
from unmix.measures.measure import Measure

NAMED = {design.name: design for design in (*DESIGNS, *RELATED)}
QUICK = tuple(m for m in MEASURES if not isinstance(m, ICA))


@pytest.fixture
def few_permutations(monkeypatch):
    monkeypatch.setattr(rates, "PERMUTATIONS", 19)  # p is then at most .05 one time of twenty, too


def tallied(name, measures, times):
    part = rates if NAMED[name] in DESIGNS else coverage
    return part.tallied(NAMED[name], [part.once(NAMED[name], i, measures) for i in range(times)])


@pytest.mark.usefixtures("few_permutations")
@pytest.mark.parametrize("name", ["Gaussian", "44 groups of 5 to 15", "AR(.9)"])
def test_tables_that_share_nothing_are_called_related_one_time_of_twenty(name):
    found = tallied(name, QUICK, 20)
    assert {rate.measure for rate in found} == {m.name for m in QUICK}
    for cell in cells_of_rates([vars(rate) for rate in found]):
        assert not cell.side, (cell.row, cell.shown, cell.band_shown)


@pytest.mark.usefixtures("few_permutations")
@pytest.mark.parametrize("name", ["both trend", "both walk"])
def test_where_both_tables_drift_no_measure_has_a_p(name):
    found = tallied(name, MEASURES, 2)
    assert {rate.measure for rate in found} == {m.name for m in MEASURES}
    assert all((rate.judged, rate.expects) == (0, REFUSED) for rate in found)


@pytest.mark.usefixtures("few_permutations")
def test_tables_that_share_only_the_place_are_related_and_beyond_it_one_time_of_twenty():
    (name,) = (design.name for design in DESIGNS if design.expects == PLACE)
    for rate in tallied(name, (R2(), CCA(), CKA()), 20):
        assert rate.positives >= 18
        assert rate.judged == rate.beyond_judged == 20
        assert rate.beyond_positives <= band(20, 0.05)[1]


@pytest.mark.usefixtures("few_permutations")
def test_without_the_option_unrelated_tables_are_related_and_a_note_warns():
    for design in (design for design in DESIGNS if design.expects == WARNED):
        found = tallied(design.name, (CCA(), CKA()), 10)
        assert max(rate.positives for rate in found) > band(10, 0.05)[1], design.name
        assert all(rate.warned == 10 for rate in found), design.name
    assert all(rate.warned == 0 for rate in tallied("Gaussian", (CKA(),), 10))


@pytest.mark.parametrize("name", ["200 rows, Gaussian", "20 groups of 25"])
def test_intervals_hold_the_truth_nineteen_times_of_twenty(name):
    found = tallied(name, (R2(), CCA(), Procrustes(), CKA()), 40)
    for cell in cells_of_coverage([vars(row) for row in found]):
        assert not cell.side, (cell.row, cell.shown, cell.band_shown)


def test_the_truth_of_a_fit_is_of_its_maps_and_of_another_score_its_mean():
    found = coverage.once(NAMED["40 groups of 10"], 0, (R2(), ICA(), RSA()))
    assert abs(found["R² x → y"][3] - found["R² x → y"][0]) < 0.3
    assert 0.3 < found["ICA, MCC"][3] < 0.8
    assert found["RSA"][3] is None
    rows = [{"m": [0.0, -0.5, 0.5, None]}, {"m": [1.0, 0.75, 1.0, None]}]  # the mean is .5
    assert coverage.tallied(NAMED["40 groups of 10"], rows)[0].held == 1
    assert coverage.tallied(NAMED["40 groups of 10"], [{"m": [0.0, -0.5, 0.5, 0.6]}])[0].held == 0


def test_a_width_of_one_is_that_of_the_errors():
    errors = np.random.default_rng(0).normal(size=4000)
    for truths in ([None] * 4000, list(np.linspace(0, 9, 4000))):
        found = [{"m": [e + (t or 0), e + (t or 0) - 1.96, 9.0, t]} for e, t in zip(errors, truths, strict=True)]
        assert widths.tallied(RELATED[0], found)[0].ratio == pytest.approx(1, abs=0.03)


def test_every_measure_is_tried():
    kinds = {kind for kind in vars(measures).values() if isinstance(kind, type) and issubclass(kind, Measure)}
    assert {type(m) for m in MEASURES} == kinds - {Measure, measures.LinearMeasure, measures.RowMeasure}
    assert [len(tried(i)) for i in range(SELDOM + 1)] == [len(MEASURES)] + [len(QUICK)] * 3 + [len(MEASURES)]


def test_what_is_outside_its_band_is_marked_and_counted():
    low, high = band(400, 0.05)
    shown = [Cell("CKA", "AR", count, 400, (low, high)).shown_in_table for count in (low - 1, low, high, high + 1)]
    assert [mark[-3:] for mark in shown] == ["↓**", shown[1][-3:], shown[2][-3:], "↑**"]
    assert not any("*" in mark for mark in shown[1:3])
    row = dict(design="AR", told="time", measure="CKA", judged=400, beyond_judged=0, beyond_positives=0, warned=0)
    for expects, positives, side in (("valid", high + 1, "↑"), ("refused", 0, ""), ("warned", 400, "")):
        kept = rates.Rate(**row, expects=expects, repetitions=400, positives=positives)
        assert cells_of_rates([vars(kept)])[0].side == side
    few = {"rates": [vars(rates.Rate(**row, expects="valid", repetitions=400, positives=300))], "coverage": []}
    assert "AR, CKA: 75.0 ± 2.2" in page.outside(few)[1]


def test_the_page_is_what_the_calibration_wrote():
    text = page.PAGE.read_text()
    assert page.with_results(text) == text


def test_what_is_outside_its_band_is_explained_on_the_page():
    results = json.loads(page.RESULTS.read_text())
    prose = re.sub(r"<!-- (\w+) -->\n.*?<!-- /\1 -->", "", page.PAGE.read_text(), flags=re.DOTALL)
    for cell in (*cells_of_rates(results["rates"]), *cells_of_coverage(results["coverage"])):
        assert not cell.side or (cell.column in prose and cell.row in prose), (cell.column, cell.row)


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Two small designs, in threads instead of processes, with results, page and pieces in a folder of their own."""
    unrelated = alike("small", Gaussian(), (40,))
    monkeypatch.setattr(jobs, "DESIGNS", (unrelated,))
    monkeypatch.setattr(jobs, "RELATED", (replace(RELATED[0], rows=60),))
    monkeypatch.setattr(jobs, "get_context", lambda kind: SimpleNamespace(Pool=ThreadPool))
    for part in (jobs, command):
        monkeypatch.setattr(part, "PIECE", 2)
    for part in (rates, coverage):
        monkeypatch.setattr(part, "tried", lambda repetition: (CKA(),))
    monkeypatch.setattr(coverage, "POPULATION", 1000)
    (tmp_path / "page.md").write_text(page.PAGE.read_text())
    for part in (page, command):
        monkeypatch.setattr(part, "RESULTS", tmp_path / "results.json")
        monkeypatch.setattr(part, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(command, "FOLDER", tmp_path / "pieces")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_done_is_kept_and_not_done_again(small, monkeypatch):
    todo, ran = jobs.jobs(4), []
    run = jobs.Job.run
    monkeypatch.setattr(jobs.Job, "run", lambda job: ran.append(job) or run(job))
    for job in todo[:3]:
        ((_, whole),) = jobs.done([job], small)
        assert json.loads((small / job.file).read_text()) == whole
    found = dict(jobs.done(todo, small))
    assert ran == todo
    assert set(found) == set(todo)
    assert found[todo[0]]["found"] == todo[0].run() != todo[2].run()
    assert len({job.file for job in todo}) == 4
    before = todo[0].file
    monkeypatch.setattr(jobs, "sources", lambda: "other code")
    assert todo[0].file != before


def test_the_command_writes_results_and_page_and_goes_on(small, monkeypatch, capsys):
    for repetitions in (2, 4):
        monkeypatch.setattr(sys, "argv", ["calibration", "--repetitions", str(repetitions)])
        command.main()
        results = json.loads((small / "results.json").read_text())
        rows = (*results["rates"], *results["coverage"], *results["widths"])
        assert [row["repetitions"] for row in rows] == [repetitions] * 3
        assert results["seed"] == 0
        assert len(list((small / "pieces").glob("*.json"))) == repetitions
        assert f"{repetitions} repetitions a design, seed 0" in (small / "page.md").read_text()
    assert "are outside their band" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["calibration", "--repetitions", "3"])
    with pytest.raises(SystemExit):
        command.main()
    assert "multiple of 2" in capsys.readouterr().err
