"""Many factors: passes over the rows of a bounded number each, and figures that stay readable."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

import unmix as um
from unmix.audit import examine, pictures
from unmix.audit import passes as passing
from unmix.audit.examine import Asked
from unmix.audit.extremes import extremes, which
from unmix.audit.inputs import inputs
from unmix.audit.page import html
from unmix.audit.passes import columns_of, passes
from unmix.factors import prepared
from unmix.measures.score import Refusal
from unmix.tables import Column, Table

RNG = np.random.default_rng(0)
ROWS = 240
X = RNG.normal(size=(ROWS, 4))
QUICK = {"bootstraps": 40, "permutations": 99, "probe": False}


def factors(count):
    numbers = {f"n{i}": X @ RNG.normal(size=4) + i * RNG.normal(size=ROWS) for i in range(count)}
    return numbers | {f"c{i}": np.where(X[:, i % 4] > 0, "a", "b") for i in range(count // 3)}


@pytest.mark.parametrize("how", [{}, {"groups": np.arange(ROWS) // 4}, {"time": True}], ids=["rows", "groups", "time"])
def test_a_score_does_not_depend_on_how_many_factors_there_are(monkeypatch, how):
    known = factors(9)
    known["n3"][:7] = np.nan
    one = um.audit(X, known, **how, **QUICK)
    monkeypatch.setattr(passing, "FEWEST", 4)
    assert len(passes(inputs_of(known), 4)[0]) == 4
    many = um.audit(X, known, **how, **QUICK)
    assert [f.name for f in many.findings] == [f.name for f in one.findings] == list(known)
    for a, b in zip(one.findings, many.findings, strict=True):
        assert a.state is b.state
        assert a.score.p_value == b.score.p_value
        np.testing.assert_allclose(a.curve, b.curve, atol=1e-9)
        for what in ("value", "low", "high", "null"):
            assert getattr(a.score, what) == pytest.approx(getattr(b.score, what), abs=1e-9)
    np.testing.assert_allclose(many.associations, one.associations, atol=1e-12)
    assert many.together == one.together
    for a, b in zip(one.whole.steps, many.whole.steps, strict=True):
        assert a.r2 == pytest.approx(b.r2, abs=1e-9)
    assert [c.holds for c in many.checks] == [c.holds for c in one.checks]
    assert str(many.checks[3].evidence) == str(one.checks[3].evidence)


def inputs_of(known):
    return prepared([Column.of(name, values) for name, values in known.items()])[0]


def test_passes_are_of_factors_known_in_the_same_rows_and_of_few_columns():
    known = factors(250)
    known["n7"][3] = np.nan
    found = passes(inputs_of(known), 4)
    assert [columns_of(some) for pattern in found for some in pattern] == [100, 100, 99, 100, 16, 1]
    assert [f.name for some in found[1] for f in some] == ["n7"]
    assert max(map(columns_of, passes(inputs_of(known), 1000)[0])) == 255


def test_of_many_sets_of_rows_only_one_is_kept_in_memory():
    known = {f"n{i}": np.where(np.arange(ROWS) == 5 + 3 * i, np.nan, X[:, i % 4]) for i in range(6)} | {"all": X[:, 0]}
    given = inputs(X, known, None, None, None, None, None, 5)
    asked = Asked(None, False, None, False, 5, 40, 99, None, 0)
    parts, left = examine.examined(Table("x", X), given.factors, asked, lambda: None)
    assert not left
    assert [p.paired is not None for p in parts] == [False] * 6 + [True]
    assert um.audit(X, known, **QUICK).findings[0].rows == ROWS - 1


def test_numbers_that_are_too_many_to_be_taken_together_are_said_to_be(monkeypatch):
    monkeypatch.setattr(examine, "WIDE", 2)
    report = um.audit(X, {f"n{i}": X[:, i] for i in range(3)}, **QUICK)
    assert report.whole is None
    assert any("are 3: name 2 or fewer with only" in note for note in report.notes)


def test_a_page_of_hundreds_of_factors_shows_some_and_lists_all():
    few = um.audit(X, factors(6), **QUICK)
    names = [f"factor {i}" for i in range(320)]
    many = tuple(replace(few.findings[i % 8], name=name) for i, name in enumerate(names))
    report = replace(few, findings=many, associations=np.tile(few.associations, 40), matched={}, dci=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns of figures that collapse
        text = html(report)
    assert all(f"<td>{name}</td>" in text for name in names)
    for figure, most in (
        (pictures.bars, 40),
        (pictures.heat_map, 40),
        (pictures.true_against_recovered, 12),
        (pictures.curves, 20),
    ):
        drawn = figure(report)
        assert len(set(re.findall(r"factor \d+", drawn.svg))) == most
        assert (
            f"Of 320 factors the {most // 2} that are there most and the {most // 2} that are there least"
            in drawn.caption
        )


def test_extremes_are_by_strength_and_all_where_there_are_few():
    report = um.audit(X, factors(6), **QUICK)
    assert extremes(report.findings) == list(range(8))
    assert which(report.findings) == ""
    strength = [f.strength(f.score.value) for f in report.findings]
    order = np.argsort(strength)
    assert extremes(report.findings, 2) == [*order[:-3:-1].tolist(), *order[1::-1].tolist()]
    refused = [replace(f, score=Refusal(f.score.measure, "few rows")) for f in report.findings]
    assert extremes([*refused[:2], *report.findings[2:]], 2)[-1] == order[order > 1][0]
    assert len(extremes(refused, 2)) == len(extremes([*refused[2:], *report.findings[:2]], 2)) == 4
