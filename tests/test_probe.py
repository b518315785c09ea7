"""The probe: both scores are of the same rows, its chance is honest, and what is there in any form is found."""

import csv
import json
import re
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import binom
from sklearn.linear_model import LinearRegression

import unmix as um
from unmix.audit.export import terminal
from unmix.audit.finding import State
from unmix.audit.page import html
from unmix.audit.probe import chance
from unmix.audit.probe_rows import FEW, ProbeRows
from unmix.audit.target import Classes, Numbers
from unmix.measures.paired import pair
from unmix.tables import Table

QUICK = {"bootstraps": 40, "permutations": 99}
RNG = np.random.default_rng(0)
ROWS = 500
SPEED = RNG.uniform(0, 40, ROWS)
BUMPS = {"square": (SPEED - 20) ** 2 / 100, "hill": 3 * np.exp(-((SPEED - 20) ** 2) / 50)}
LATENTS = RNG.normal(size=(200, 10))
NOISE = RNG.normal(size=ROWS)


def outputs(code, width=4):
    rng = np.random.default_rng(1)
    return np.column_stack([code + 0.1 * rng.normal(size=len(code)), rng.normal(size=(len(code), width))])


@pytest.fixture(scope="module")
def bump():
    return um.audit(outputs(BUMPS["square"]), {"speed": SPEED, "noise": NOISE}, **QUICK)


@pytest.fixture(scope="module")
def line():
    return um.audit(LATENTS, {"sum": LATENTS.sum(1) + NOISE[:200], "first": LATENTS[:, 0]}, **QUICK)


def test_a_factor_that_only_shows_as_a_square_is_found_and_named_as_nonlinear(bump):
    found = bump.finding("speed")
    assert not found.score.above_chance
    assert found.probe.boosted < 0.05  # no prediction of the speed itself is better than 20
    assert found.fifths.boosted > found.fifths.linear + 0.2
    assert found.state is State.NONLINEAR
    assert "There, but not linearly (500 rows, held out): speed" in bump.verdict
    assert found.importance.argmax() == 0
    assert found.importance.sum() == pytest.approx(found.fifths.strength(found.fifths.boosted))
    assert bump.finding("noise").state is State.ABSENT


def test_a_hill_is_found_too():
    found = um.audit(outputs(BUMPS["hill"]), {"speed": SPEED}, **QUICK)
    assert found.finding("speed").state is State.NONLINEAR


def test_a_bump_off_the_middle_is_in_part_linear_and_the_rest_is_told():
    speed = 1.5 * SPEED
    found = um.audit(outputs(3 * np.exp(-((speed - 20) ** 2) / 50)), {"speed": speed}, **QUICK)
    assert found.finding("speed").state in (State.IN_PART, State.NONLINEAR)
    assert re.search(
        r"(finds more of|There, but not linearly.*?:) speed .*accuracy for which of 5 ranges", found.verdict
    )


def test_an_angle_known_up_to_half_a_turn_is_found():
    heading = 9 * SPEED
    twice = 2 * np.radians(heading)
    x = np.column_stack([np.cos(twice), np.sin(twice)]) + 0.2 * np.column_stack([NOISE, NOISE[::-1]])
    assert um.audit(x, {"heading": heading}, **QUICK).finding("heading").state is State.NONLINEAR


def test_of_few_rows_the_linear_score_is_held_out_in_every_fold():
    y = LATENTS.sum(1) + 3 * NOISE[:200]
    found = um.audit(LATENTS, {"sum": y}, **QUICK).finding("sum")
    fold = pair(LATENTS, y[:, None]).chunk % 5
    wrong = spread = 0.0
    for f in range(5):
        train, held = fold != f, fold == f
        guess = LinearRegression().fit(LATENTS[train], y[train]).predict(LATENTS[held])
        wrong += ((y[held] - guess) ** 2).sum()
        spread += ((y[held] - y[train].mean()) ** 2).sum()
    assert found.probe.linear == pytest.approx(1 - wrong / spread, abs=1e-9)
    assert found.probe.rows[1] == 200


def test_every_form_of_the_report_shows_both_scores_and_their_difference(bump, tmp_path):
    for suffix in ("json", "csv", "tex"):
        bump.save(tmp_path / f"r.{suffix}")
    kept = json.loads((tmp_path / "r.json").read_text())["factors"]
    lines = {line["factor"]: line for line in csv.DictReader((tmp_path / "r.csv").open())}
    console = Console(file=StringIO(), width=200)
    console.print(terminal(bump))
    seen = console.file.getvalue(), html(bump), (tmp_path / "r.tex").read_text()
    for f in bump.findings:
        for what, probe in (("probe", f.probe), ("fifths", f.fifths)):
            assert kept[f.name][what]["gain"] == probe.gain == probe.boosted - probe.linear
            line = {name: float(lines[f.name][f"{what} {name}"]) for name in ("boosted", "linear", "gain", "p_value")}
            assert line == {name: getattr(probe, name) for name in line}
            assert kept[f.name][what]["p_value"] == probe.p_value
        boosted, linear = round(f.probe.boosted, 3), round(f.probe.linear, 3)
        for text in seen:
            assert f"{boosted:.3f} vs {linear:.3f}" in text
            assert f"({boosted - linear:+.3f})" in text


def test_where_boosting_is_worse_it_is_told_and_outputs_are_judged_by_the_linear_map(line):
    found = line.finding("sum")
    assert found.probe.worse
    assert found.probe.better == "linear"
    assert "sum (R² 0." in line.verdict.split("Boosting predicts ")[1]
    assert "worse than the linear map" in line.verdict
    # Permuting one of ten independent outputs costs the linear map 2/11 of R²; boosting knows much less of each.
    assert found.probe.importance.sum() == pytest.approx(20 / 11, abs=0.3)
    np.testing.assert_allclose(found.importance / found.importance.sum(), 0.1, atol=0.06)
    assert found.importance.sum() == pytest.approx(max(found.probe.linear, found.probe.boosted))
    strengths = [max(f.probe.linear, f.probe.boosted) for f in line.findings]
    assert line.dci.informativeness == pytest.approx(np.mean(strengths))


def test_boosting_that_is_not_above_its_chance_finds_nothing(bump):
    found = bump.finding("noise")
    lucky = replace(found.probe, boosted=0.5, linear=0.0, low=0.1, high=0.9, p_value=0.005)
    assert replace(found, probe=lucky).state is State.NONLINEAR
    assert replace(found, probe=replace(lucky, p_value=0.02)).state is State.ABSENT
    assert replace(found, probe=replace(lucky, null=0.6)).state is State.ABSENT
    assert replace(found, probe=replace(lucky, low=-0.1)).state is State.ABSENT


def test_chance_is_that_of_luck_and_scores_are_calibrated_by_it(bump):
    found = bump.finding("speed")
    assert 0 < found.probe.null < 0.03
    assert found.fifths.null == pytest.approx(1 / 5, abs=0.02)
    assert found.fifths.calibrated == pytest.approx((found.fifths.boosted - 0.2) / 0.8, abs=0.03)
    assert found.fifths.p_value <= 0.01 < found.probe.p_value


@pytest.mark.parametrize(
    ("size", "folds", "kind"), [(1, 1, "numbers"), (10, 1, "numbers"), (10, 1, "classes"), (10, 5, "numbers")]
)
def test_predictions_that_know_nothing_are_rarely_above_chance(size, folds, kind):
    """Also where rows of a group share both truth and prediction; the rate of one split lies in its binomial band."""
    rng = np.random.default_rng(1)
    count, times = (1000 // size, 300) if folds == 1 else (400 // size, 30)
    group = np.repeat(np.arange(count), size)
    y = rng.normal(size=(count, 1))[group]
    paired = pair(y, y, groups=group if size > 1 else None)
    rows = ProbeRows.of(Table("x", y, ("0",)), y, paired, permutations=39)
    rows = replace(rows, splits=rows.splits[:1]) if folds == 1 else rows
    assert len(rows.splits) == folds
    target = Numbers.of(y, rows.splits) if kind == "numbers" else Classes((y[:, 0] > 0).astype(int), 2)
    guesses = rng.normal(size=(times, count))[:, group]
    p = [chance(rows.orders, target, g[:, None] if kind == "numbers" else (g > 0).astype(int))[1] for g in guesses]
    found = int((np.array(p) <= 0.05).sum())
    assert found <= binom.ppf(0.999, times, 0.05)
    if folds == 1 and kind == "numbers":
        assert found >= binom.ppf(0.001, times, 0.05)


def test_fits_see_no_more_rows_in_all_folds_than_in_one_split():
    sizes = {}
    for count, size in ((FEW, 60), (FEW // 10, 600)):
        group = np.repeat(np.arange(count), size)
        x = np.random.default_rng(2).normal(size=(len(group), 1))
        rows = ProbeRows.of(Table("x", x, ("0",)), x, pair(x, x, groups=group), permutations=39)
        sizes[len(rows.splits)] = sum(len(train) for train, _ in rows.splits)
    assert set(sizes) == {1, 5}
    assert sizes[5] == pytest.approx(sizes[1], rel=0.05)


@pytest.mark.parametrize("names", [["a", "b"], ["a"]])
def test_monotone_functions_that_only_the_probe_finds_are_called_so(names):
    z = np.random.default_rng(0).normal(size=(1000, 2))
    report = um.audit(np.sinh(3 * z), dict(zip(names, z.T, strict=False)), **QUICK)
    assert {f.state for f in report.findings} == {State.NONLINEAR}
    said = "Each column of the truth" if len(names) > 1 else "a"
    assert f"{said} is a monotone function of one output (R² of ranks" in report.verdict


def test_what_may_be_the_place_in_the_group_is_said_of_the_probe_too():
    """The embedding holds a bump of the place and nothing else, the factor is the place."""
    rng = np.random.default_rng(5)
    place, group = np.tile(np.linspace(-1, 1, 25), 40), np.repeat(np.arange(40), 25)
    x = np.column_stack([rng.normal(size=(1000, 3)), place**2 + 0.1 * rng.normal(size=1000)])
    (found,) = um.audit(x, {"place": place + 0.01 * rng.normal(size=1000)}, groups=group, **QUICK).findings
    assert found.state is State.NONLINEAR
    assert found.nonlinear.p_beyond_place > 0.05
    assert "cannot be told apart from the place in the group" in found.nonlinear.chance_shown
    alone = um.audit(x, {"place": rng.permutation(place)}, groups=group, **QUICK).findings[0]
    assert alone.probe.p_beyond_place is None
