"""Rows in time: folds with gaps, shifts, no p where both tables drift, and a warning where time was not said."""

import re
import sys
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter
from scipy.stats import binom

import unmix as um
from unmix.audit.export import terminal
from unmix.cli import main
from unmix.measures import CCA, CKA, ICA, MCC, R2, RSA, Neighbours
from unmix.measures.evaluate import chances, evaluate
from unmix.measures.paired import pair
from unmix.measures.sample import Pairings, spaced
from unmix.measures.series import SerialCorrelation, drifts, memory, trend
from unmix.moments import CHUNKS, Moments, chunks_in_time

QUICK = {"bootstraps": 40, "permutations": 99}
ROWS = 1000


def autoregressive(rng, phi, columns=2, rows=ROWS):
    return lfilter([1], [1, -phi], rng.normal(size=(rows + 500, columns)), axis=0)[500:]


def walk(rng, columns=2, rows=ROWS):
    return np.cumsum(rng.normal(size=(rows, columns)), axis=0)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 12), st.integers(0, 40), st.integers(64, 2000))
def test_folds_and_chunks_are_consecutive_and_gaps_lie_between_folds(folds, gap, inside):
    rows = inside + (folds - 1) * gap
    chunk, apart = chunks_in_time(rows, folds, gap)
    assert len(chunk) == rows
    assert apart.sum() == (folds - 1) * gap
    fold = chunk[~apart] % folds
    assert (np.diff(fold) >= 0).all()
    assert set(fold.tolist()) == set(range(folds))
    for f in range(folds - 1):  # no row of a fold is nearer than the gap to one of another
        here = (chunk % folds == f) & ~apart
        assert np.flatnonzero((chunk % folds == f + 1) & ~apart).min() - np.flatnonzero(here).max() == gap + 1
    sizes = np.bincount(chunk[~apart])
    assert sizes.max() - sizes.min() <= 1
    assert sum(np.diff(chunk[~apart]) != 0) == len(sizes) - 1
    assert 4 * folds <= len(sizes) <= CHUNKS
    assert sizes.min() >= min(gap, inside // (4 * folds))


def test_scores_in_time_are_of_consecutive_folds_without_the_gaps():
    rng = np.random.default_rng(0)
    x = autoregressive(rng, 0.8)
    y = x @ rng.normal(size=(2, 2)) + autoregressive(rng, 0.8)
    paired = pair(x, y, time=True)
    assert 5 <= paired.gap.sum() / 4 <= ROWS / 10
    for f, (train, test) in enumerate(paired.folds.splits()):
        for part, rows in ((test, paired.fold == f), (train, (paired.fold != f) & (paired.fold >= 0))):
            np.testing.assert_allclose(part.xy, Moments.of(x[rows], y[rows]).xy)
    assert paired.rows == ROWS - paired.gap.sum()
    for s in evaluate(paired, [R2(), CKA(), RSA(), Neighbours(), ICA()], **QUICK):
        assert s.above_chance, s.measure.name


def test_the_null_is_every_shift_of_the_whole_series_once():
    rng = np.random.default_rng(0)
    s = pair(*rng.normal(size=(2, 150, 1)), time=True).sample
    lags = [order[0] for order in s.orders(1000)]
    assert sorted(lags) == list(range(1, 150))
    assert len({order[0] for order in s.orders(60)}) == 60
    for order in s.orders(10):
        assert (np.diff(order) % 150 == 1).all()


@pytest.mark.parametrize("drift", [False, True])
def test_the_table_that_does_not_drift_is_shifted_and_folds_stay_with_the_other(drift):
    rng = np.random.default_rng(0)
    x, y = walk(rng) if drift else autoregressive(rng, 0.5), autoregressive(rng, 0.5)
    s = pair(x, y, time=True).sample
    assert s.moves_x != drift
    order = next(s.orders(1))
    i, j = s.sides(order)
    for f, (_, test) in enumerate(Pairings(s).folds(order).splits()):
        rows = s.fold == f
        np.testing.assert_allclose(test.xy, Moments.of(x[i[rows]], y[j[rows]]).xy, atol=1e-7)
        np.testing.assert_allclose((test.xx, test.yy)[s.moves_x], Moments.of(x[rows], y[rows]).yy if s.moves_x
                                   else Moments.of(x[rows], y[rows]).xx, atol=1e-7)  # fmt: skip


def test_unrelated_series_are_found_related_as_often_as_they_may_be():
    rng, times, measures = np.random.default_rng(2), 60, [R2(), CCA(), CKA(), MCC()]
    hits, blind, judged = np.zeros(4), np.zeros(4), 0
    for i in range(times):
        x, y = autoregressive(rng, 0.9), autoregressive(rng, 0.9)
        in_time = chances(pair(x, y, time=True, seed=i), measures, 19)
        if not in_time[0].not_judged:
            judged += 1
            hits += [c.p_value <= 0.05 for c in in_time]
        if i < 15:
            blind += [c.p_value <= 0.05 for c in chances(pair(x, y, seed=i), measures, 19)]
    assert judged >= 0.95 * times
    assert (hits <= binom.ppf(0.9995, judged, 0.05)).all()
    assert (blind >= 8).all()  # of 15; rows permuted as if they were independent


@pytest.mark.parametrize("other", [walk, lambda rng: autoregressive(rng, 0.5) + np.linspace(0, 3, ROWS)[:, None]])
def test_where_both_tables_drift_there_is_no_p_and_the_remedy_is_named(other):
    rng = np.random.default_rng(0)
    x, y = walk(rng), other(rng)
    found = um.compare(x, y, measures=[R2(), R2(reverse=True), RSA()], time=True, **QUICK)
    assert all(s.p_value is None and not s.above_chance for s in found.pairs[0].scores)
    assert "drift" in found.verdict
    assert "take differences, remove trends, or give whole sessions as groups" in found.verdict
    assert "chance not judged" in str(um.recovery(x, y, time=True, **QUICK))


def test_of_layers_only_pairs_that_both_drift_have_no_p():
    rng = np.random.default_rng(0)
    walks, steady = {"walk": walk(rng), "steady": autoregressive(rng, 0.5)}, autoregressive(rng, 0.5)
    found = um.compare_layers(walks, {"walks": walk(rng), "still": steady, "copy": walks["walk"]}, time=True, **QUICK)
    assert found.verdicts["walk"].startswith("walk looks most like copy: CKA 1.000 [1.000, 1.000], chance not judged")
    assert "both tables drift" in found.verdicts["walk"]
    assert found.verdicts["steady"].startswith("No likeness of steady to any of 3 layers is shown with ")
    assert "not judged" not in found.verdicts["steady"]
    mixed = um.compare_layers({"walk": walks["walk"]}, {"copy": walks["walk"], "near": steady}, time=True, **QUICK)
    assert not mixed.best
    both = np.column_stack([walks["walk"], 20 * steady])  # drifts, and is like what does not
    mixed = um.compare_layers({"both": both}, {"copy": both, "near": steady}, time=True, **QUICK)
    assert mixed.best == {"both": "near"}
    assert re.fullmatch(
        r"both is most like near: CKA .*, p < 1/100; \d+ rows\. It is higher with copy: 1\.000 .* not judged.*\.",
        mixed.verdict,
    )


def test_in_an_audit_only_factors_that_drift_too_have_no_p():
    rng = np.random.default_rng(0)
    x, steady = walk(rng, 3), autoregressive(rng, 0.5, 1)[:, 0]
    side = np.where(steady > 0, "left", "right")
    factors = {"depth": x[:, 0] + 0.1 * rng.normal(size=ROWS), "speed": steady, "side": side}
    report = um.audit(x, factors, time=True, probe=False, **QUICK)
    assert report.finding("depth").score.p_value is None
    assert report.finding("depth").state.value == "recovered"
    assert report.finding("speed").score.p_value > 0.01
    assert report.finding("side").score.p_value > 0.01
    assert any("the embedding drifts" in c.evidence for c in report.checks if c.holds is False)


def test_drift_is_seen_in_trends_and_walks_and_seldom_in_what_is_stationary():
    rng, t = np.random.default_rng(0), np.arange(ROWS)[:, None]
    season = 2 * np.sin(2 * np.pi * t / 50) + autoregressive(rng, 0.5)
    assert not drifts(season)
    assert sum(drifts(autoregressive(rng, phi)) for phi in (0.0, 0.5, 0.9) for _ in range(30)) <= 8
    assert all(drifts(autoregressive(rng, 0.5) + t / 400) for _ in range(20))
    assert all(drifts(rng.normal(size=(ROWS, 1)) * (1 + t / 500)) for _ in range(20))  # its spread has a trend
    assert sum(drifts(walk(rng)) for _ in range(20)) >= 18


def test_memory_is_the_last_of_the_columns_first_lags_below_the_noise():
    rng = np.random.default_rng(0)
    moving = lfilter(np.ones(30), [1], rng.normal(size=20_000))[:, None]  # correlates over 29 rows
    assert 25 <= memory(moving) <= 60
    assert memory(np.column_stack([rng.normal(size=20_000), moving[:, 0]])) == memory(moving)


def test_the_trend_of_correlated_errors_has_the_t_value_it_says():
    rng = np.random.default_rng(0)
    t = [trend(autoregressive(rng, 0.9, 1)[:, 0]) for _ in range(200)]
    assert np.std(t) == pytest.approx(1, abs=0.2)  # of least squares alone it would be above 4
    assert abs(trend(rng.normal(size=ROWS) + np.linspace(0, 1, ROWS))) > 5


def test_fewer_rows_in_time_are_evenly_spaced():
    for rows, most in ((10, 10), (10, 9), (5000, 1000), (5001, 1000)):
        taken = spaced(rows, most)
        assert most / 2 < len(taken) <= most
        assert len(set(np.diff(taken))) == 1


def test_neighbours_that_correlate_are_told_of_and_the_option_is_named():
    rng = np.random.default_rng(0)
    x, y = autoregressive(rng, 0.9), autoregressive(rng, 0.9)
    mixed = rng.permutation(ROWS)

    def notes(a, b, **options):
        pairs = um.compare(a, b, measures=[CKA()], **options, **QUICK).pairs
        return " ".join([*pairs[0].notes, *um.recovery(a, b, **options, **QUICK).notes])

    assert notes(x, y).count("--time") == 2
    for a, b, options in ((x[mixed], y[mixed], {}), (x, y, {"time": True}), (x, y, {"blocks": 50})):
        assert "--time" not in notes(a, b, **options)
    assert any("--time" in warning for warning in um.audit(x, {"y": y[:, 0]}, probe=False, **QUICK).warnings)


def test_blocks_are_groups_of_consecutive_rows():
    rng = np.random.default_rng(0)
    x, y = autoregressive(rng, 0.5), autoregressive(rng, 0.5)
    blocks, groups = (
        um.compare(x, y, measures=[R2()], **options, **QUICK).pairs[0].scores[0].as_dict()
        for options in ({"blocks": 40}, {"groups": np.arange(ROWS) // 40})
    )
    assert blocks == groups


def test_blocks_of_two_series_that_drift_give_no_p():
    rng = np.random.default_rng(0)
    x, y, options = walk(rng), walk(rng), {"blocks": 20, **QUICK}
    for s in um.compare(x, y, measures=[R2(), CKA(), RSA()], **options).pairs[0].scores:
        assert s.p_value is None
        assert "both tables drift" in s.caveat
    assert "chance not judged (both tables drift" in um.recovery(x, y, **options).verdict
    report = um.audit(x, {"walk": y[:, 0], "noise": rng.normal(size=ROWS)}, probe=False, **options)
    assert [f.score.p_value is None for f in report.findings] == [True, False]


def test_blocks_that_are_short_next_to_what_both_series_remember_are_told_of():
    rng = np.random.default_rng(0)
    x, y, white = autoregressive(rng, 0.9), autoregressive(rng, 0.9), rng.normal(size=(ROWS, 2))

    def told(a, b, blocks):
        options = {"blocks": blocks, **QUICK}
        found = um.compare(a, b, measures=[R2()], **options).pairs[0], um.recovery(a, b, **options)
        found = (*found, um.audit(a, {"y": b[:, 0]}, probe=False, **options))
        return [any("both tables remember" in note for note in one.notes) for one in found]

    assert told(x, y, 10) == [True] * 3
    assert told(x, y, 100) == [False] * 3
    assert told(x, white, 10) == [False] * 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"time": True, "groups": np.arange(ROWS) // 10}, "time takes all rows as one series"),
        ({"time": True, "blocks": 50}, "time takes all rows as one series"),
        ({"blocks": 50, "groups": np.arange(ROWS) // 10}, "groups or blocks, not both"),
        ({"blocks": 1}, "blocks must be"),
        ({"blocks": 500}, "2 groups are too few"),
    ],
)
def test_options_that_contradict_one_another_are_refused(options, words):
    x = np.random.default_rng(0).normal(size=(ROWS, 2))
    asks = [um.compare, um.recovery, um.mcc, lambda a, b, **o: um.audit(a, {"b": b[:, 0]}, **o)]
    asks.append(lambda a, b, **o: um.compare_layers({"a": a}, {"b": b}, **o))
    asks.append(lambda a, b, **o: um.compare_models(um.CanonicalModel(a, a[:9]), um.CanonicalModel(b, b[:9]), **o))
    for ask in asks:
        with pytest.raises(um.InputError, match=words):
            ask(x, x, **options)


def test_time_with_ids_in_another_order_is_refused_and_with_sorted_ids_is_not():
    x = np.random.default_rng(0).normal(size=(200, 2))
    for options in ({"time": True}, {"blocks": 10}):
        for ids in ([np.arange(200), np.arange(200)[::-1]], [np.arange(200)[::-1], np.arange(200)]):
            with pytest.raises(um.InputError, match="in another order"):
                um.compare(x, x, ids=ids, **options)
            with pytest.raises(um.InputError, match="in another order"):
                um.audit(x, {"a": x[:, 0]}, ids=ids, **options)
    same = [np.arange(200)] * 2
    assert um.compare(x, x, ids=same, time=True, measures=[CKA()], **QUICK).pairs[0].scores[0].value > 0.99


def test_a_series_shorter_than_its_memory_is_refused():
    slow = np.sin(np.arange(60) / 15)[:, None] + [[0.0, 1.0]]
    for ask in (um.compare, um.recovery, um.mcc, lambda a, b, **o: um.audit(a, {"b": b[:, 0]}, **o)):
        with pytest.raises(um.InputError, match="too short for its memory"):
            ask(slow, slow, time=True)
    with pytest.raises(um.InputError, match="NaN"):
        um.compare(np.full((60, 2), np.nan), slow, time=True)


def test_too_few_shifts_give_no_p():
    x = np.random.default_rng(0).normal(size=(60, 2))
    (found,) = um.compare(x, x, time=True, measures=[CKA()], **QUICK).pairs[0].scores
    assert found.p_value is None
    assert "only 60 shifts" in found.caveat


def test_the_command_line_takes_time_and_blocks(tmp_path, monkeypatch, capfd):
    rng = np.random.default_rng(0)
    for name in ("x", "y"):
        np.save(tmp_path / f"{name}.npy", autoregressive(rng, 0.9, rows=300))
    x, y = tmp_path / "x.npy", tmp_path / "y.npy"

    def said(*arguments):
        few = ["--permutations", "99", "--bootstraps", "40"]
        monkeypatch.setattr(sys, "argv", ["unmix", *map(str, arguments), *few])
        with suppress(SystemExit):
            main()
        return "".join(capfd.readouterr())

    assert "say so with time" in said("compare", x, y, "--measures", "cka")
    assert "folds are consecutive rows" in said("compare", x, y, "--measures", "cka", "--time")
    assert "say so with time" not in said("compare", x, y, "--measures", "cka", "--blocks", "20")
    assert "leave one of the two out" in said("compare", x, y, "--time", "--blocks", "20")
    for name, f in (("one", x), ("two", y)):
        np.savez(tmp_path / f"{name}.npz", f=np.load(f), g=rng.normal(size=(9, 2)))
    models = "compare", tmp_path / "one.npz", tmp_path / "two.npz", "--models"
    assert "say so with time" in said(*models)
    assert "folds are consecutive rows" in said(*models, "--time")
    assert "only 10 groups" in said(*models, "--blocks", "30")
    assert "leave one of the two out" in said(*models, "--time", "--blocks", "30")
    audited = ["audit", x, "--factors", y, "--no-probe", "--out", tmp_path / "audit"]
    assert "Verdict" in said(*audited, "--time")
    assert "shifts in time" in (tmp_path / "audit" / "audit.html").read_text()


def test_one_column_that_is_a_series_among_others_is_told_of():
    """One is enough for a p that is too small; noise of as many columns is not."""
    rng = np.random.default_rng(3)
    noise, series = rng.normal(size=(2, 400, 9)), [autoregressive(rng, 0.95, 1, 400) for _ in range(2)]
    x, y = (np.hstack(parts) for parts in zip(noise, series, strict=True))
    assert "neighbouring rows correlate by" in um.compare(x, y, **QUICK).pairs[0].notes[0]
    (warning,) = [w for w in um.audit(x, {"f": series[1][:, 0]}, probe=False, **QUICK).warnings if "--time" in w]
    assert "in the embedding and by" in warning
    assert not um.compare(*noise, **QUICK).pairs[0].notes
    assert not [w for w in um.audit(x, {"f": noise[1][:, 0]}, probe=False, **QUICK).warnings if "--time" in w]


def test_independent_columns_seldom_look_like_a_series():
    rng = np.random.default_rng(0)
    seen = [SerialCorrelation.of(rng.standard_t(3, size=(300, 40))).alike for _ in range(300)]
    assert sum(seen) <= 4


def test_what_both_tables_share_may_be_a_drift_and_no_verdict_says_more():
    rng = np.random.default_rng(0)
    trend = np.linspace(0, 5, 600)[:, None]
    x, y = (trend + rng.normal(size=(600, 3)) for _ in range(2))
    found = um.compare(x, y, names=["x", "y"], time=True, **QUICK)
    assert found.verdict.startswith("Whether x and y share a part linearly cannot be told: held-out R² of y from x")
    report = um.audit(x, {"f": y[:, 0]}, probe=False, time=True, **QUICK)
    assert report.verdict.startswith("Perhaps linearly recovered in part")


def test_the_terminal_and_the_verdict_of_a_series_count_the_same_rows():
    rng = np.random.default_rng(0)
    x = autoregressive(rng, 0.9, 3, 400)
    report = um.audit(x, {"f": x[:, 0] + rng.normal(size=400)}, probe=False, time=True, **QUICK)
    rows = report.findings[0].score.rows_shown
    assert rows in report.verdict
    assert rows in terminal(report).title
    assert "400 rows" not in terminal(report).title
