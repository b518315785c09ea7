"""Nulls with groups: what is moved and rotated, how often it can be, and what the place in the group explains."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter
from scipy.stats import binom

import unmix as um
from unmix.audit.finding import State
from unmix.measures import CKA, R2, RSA, Neighbours
from unmix.measures.arrangements import moves, rotations, runs_of
from unmix.measures.evaluate import chances, evaluate
from unmix.measures.paired import pair
from unmix.measures.place import follows_place
from unmix.measures.sample import Sample, chosen, drawn
from unmix.measures.score import Chance, HeldOut, Score, scored

QUICK = {"bootstraps": 40, "permutations": 99}
GROUP = np.repeat(np.arange(40), 25)
FINITE = st.floats(-10, 1, allow_nan=False)


def sample(x, y, group):
    return Sample(x, y, group % 16, group, 4, seed=0)


def band(times, level=0.05):
    """Between these counts of `times` repetitions a test of that level is 99.9 times of 100."""
    return binom.ppf(0.0005, times, level), binom.ppf(0.9995, times, level)


def faces(rng, people=60):
    """Three pictures of each person, from the front, the left and the right, in this order."""
    place = np.tile(["front", "left", "right"], people)
    code = np.tile(np.eye(3), (people, 1)) + 0.3 * rng.normal(size=(3 * people, 3))
    person = np.repeat(rng.normal(size=(people, 3)), 3, axis=0)
    return np.hstack([code, person]) @ rng.normal(size=(6, 6)), place, np.repeat(np.arange(people), 3)


def test_a_factor_in_the_same_order_in_every_group_is_found_and_may_be_the_place():
    x, place, group = faces(np.random.default_rng(0))
    report = um.audit(x, {"place": place}, groups=group, probe=False, **QUICK)
    score = report.finding("place").score
    assert score.value > 0.85
    assert score.null < 0.45  # moved alone, rows would still name every place: chance was the score itself
    assert score.above_chance
    assert score.p_beyond_place == 1
    assert "cannot be told apart from the place in the group" in report.verdict
    for text in (str(score), str(report), json.dumps(report.as_dict())):
        assert "place" in text


def test_tables_that_share_the_place_and_more_have_two_small_p_values():
    rng = np.random.default_rng(0)
    profile, z = np.tile(rng.normal(size=(25, 2)), (40, 1)), rng.normal(size=(1000, 2))
    for shared, beyond in ((z, True), (0 * z, False)):
        x, y = (3 * profile + 3 * shared + rng.normal(size=(1000, 2)) for _ in "xy")
        (found,) = um.compare(x, y, groups=GROUP, measures=[R2()], **QUICK).pairs[0].scores
        assert found.p_value <= 0.01
        assert (found.p_beyond_place <= 0.01) == beyond
        assert bool(found.caveat) != beyond
        said = um.compare_layers({"x": x}, {"y": y}, groups=GROUP, **QUICK).verdict
        place = "" if beyond else " (cannot be told apart from the place in the group)"
        assert said.startswith(f"x is like y{place}: CKA 0.")
        assert said.endswith("; 1,000 rows in 40 groups.")


def test_where_a_factor_is_constant_inside_groups_rotations_change_nothing():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.normal(size=(40, 1)), 25, axis=0)
    s = sample(rng.normal(size=(1000, 3)), y, GROUP)
    assert rotations(s.runs, y) == 0
    for order in s.orders(5):
        assert (y[order].reshape(40, 25) == y[order].reshape(40, 25)[:, :1]).all()
    assert s.unjudged() == ""
    assert not s.shares_place()


def test_orders_move_groups_whole_and_rotate_each_by_an_offset_of_its_own():
    s = sample(np.zeros((1000, 1)), np.zeros((1000, 1)), GROUP)
    offsets = []
    for order in s.orders(40):
        assert sorted(order) == list(range(1000))
        rows = order.reshape(40, 25)
        assert ((rows // 25) == (rows // 25)[:, :1]).all()
        assert (np.diff(rows % 25, axis=1) % 25 == 1).all()  # in a circle
        offsets.append(rows[:, 0] % 25)
    counts = np.bincount(np.ravel(offsets), minlength=25)
    assert counts.min() > 0.4 * counts.mean()
    assert all((o.reshape(40, 25) % 25 == np.arange(25)).all() for o in s.orders(3, rotated=False))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=2, max_size=4))
def test_arrangements_are_as_many_as_there_are_different_tables(groups):
    table, size = np.array(groups, float).reshape(-1, 1), len(groups)
    runs = [np.arange(3 * size).reshape(size, 3)]
    moved = {repr(order) for order in itertools.permutations(groups)}
    turns = itertools.product(range(3), repeat=size)
    rotated = {repr([np.roll(g, t).tolist() for g, t in zip(groups, turn, strict=True)]) for turn in turns}
    assert round(np.exp(moves(runs, table))) == len(moved)
    assert round(np.exp(rotations(runs, table))) == len(rotated)


def test_too_few_arrangements_give_no_p_and_every_report_says_so(tmp_path):
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 50)
    fixed, free = np.array([0.0, 1.0, 2.5, 3.0])[group], rng.normal(size=200)
    x = np.column_stack([fixed, free, rng.normal(size=200)]) + 0.1 * rng.normal(size=(200, 3))
    report = um.audit(x, {"fixed": fixed, "free": free}, groups=group, folds=2, probe=False, **QUICK)
    score = report.finding("fixed").score
    assert (score.p_value, score.above_chance) == (None, False)
    assert report.finding("free").score.p_value is not None  # rotations are many
    few = {"measures": [R2(), R2(reverse=True), RSA()], "groups": group, "folds": 2, **QUICK}
    found = um.compare(x, fixed[:, None], **few)
    layers = um.compare_layers({"a": x}, {"b": fixed[:, None]}, groups=group, folds=2, **QUICK)
    for text in (str(report), str(found), str(layers), report.verdict, found.verdict, layers.verdict):
        assert "only 24 different arrangements of the groups" in text
    kept = [(report, "html csv tex json"), (found, "html csv tex json png"), (layers, "csv json png")]
    for which, (thing, kinds) in enumerate(kept):
        for kind in kinds.split():
            thing.save(tmp_path / f"{which}.{kind}")
    assert "only 24 different arrangements" in (tmp_path / "1.html").read_text()
    assert json.loads((tmp_path / "0.json").read_text())["factors"]["fixed"]["linear"]["p_value"] is None
    again = um.compare(x, fixed[:, None], folder=tmp_path, **few)
    kept = um.compare(x, fixed[:, None], folder=tmp_path, **few)
    assert kept.as_dict() == again.as_dict() == found.as_dict()


def test_what_cannot_be_judged_is_recovered_all_the_same():
    fixed = np.array([0.0, 1.0, 2.5, 3.0])[np.repeat(np.arange(4), 50)]
    noise = np.random.default_rng(0).normal(size=(200, 2))
    score = Score(R2(), 0.97, 0.9, 0.99, 0.0, None, 0.0, 9, 9, np.ones(1), None, "only 24 pairings")
    found = um.audit(noise, {"fixed": fixed + noise[:, 0]}, probe=False, **QUICK).findings[0]
    assert type(found)(**(vars(found) | {"score": score})).state is State.RECOVERED


@given(FINITE, st.lists(FINITE, min_size=99, max_size=120), st.floats(-10, 1))
def test_nothing_is_above_chance_that_is_not_above_the_chance_shown(observed, null, value):
    chance = Chance(observed, np.array(null), 100)
    s = scored(R2(), HeldOut(value, np.array([value]), (-0.1, 0.1)), chance, 1000)
    assert not s.above_chance or (s.value > s.null and s.p_value <= 0.01)
    assert s.above_chance == chance.exceeded_by(value)


def test_score_and_chance_of_row_measures_are_of_the_same_rows():
    # Eight groups of 100 can change places; four of 8 rows are left out, far away on one side only: with them in the
    # score and not in the null, RSA was .2 next to a chance of .3, and called above it.
    rng = np.random.default_rng(0)
    sizes = [100] * 8 + [8] * 4
    group = np.repeat(np.arange(12), sizes)
    z, shared = rng.normal(size=(len(group), 3)), 3 * rng.normal(size=(12, 3))
    x, y = ((shared + 2 * rng.normal(size=(12, 3)))[group] + z for _ in "xy")
    x[(group == 8) | (group == 9)] += 25
    y[(group == 10) | (group == 11)] += 25
    for s in evaluate(pair(x, y, groups=group, folds=2), [RSA(), Neighbours()], **QUICK):
        assert s.rows == s.null_rows == 800
        assert s.above_chance
        assert s.value > s.null


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=2, max_size=150), st.integers(100, 1000), st.integers(0, 5))
def test_fewer_rows_are_whole_groups_or_evenly_spaced_ones(sizes, most, seed):
    group = np.repeat(np.arange(len(sizes)), sizes)
    taken = chosen(group, most, seed)
    assert len(taken) <= most or len(group) <= most
    first = np.concatenate([[0], np.cumsum(sizes)])[group[taken]]
    places = [(taken - first)[group[taken] == g] for g in np.unique(group[taken])]
    steps = {int(step) for p in places for step in np.diff(p)}
    assert len(steps) <= 1
    assert all(p[0] == 0 for p in places)
    step = min(steps, default=max(sizes))
    assert all(len(p) == -(-sizes[g] // step) for g, p in zip(np.unique(group[taken]), places, strict=True))
    if len(sizes) <= 100:
        assert len(places) == len(sizes)


def test_a_null_of_fewer_rows_keeps_most_of_them_whatever_the_sizes():
    for sizes in ([20] * 500, [1] * 200 + [500] * 10, [2**i for i in range(4, 12)] * 2, [300] * 15):
        group = np.repeat(np.arange(len(sizes)), sizes)
        taken = drawn(group, 400, 0)
        assert 250 < len(taken) <= 400
        assert sum(run.size for run in runs_of(group[taken], 0)) == len(taken)


def test_pairs_within_groups_are_as_frequent_among_fewer_rows():
    group = np.repeat(np.arange(20), 200)

    def within(some):
        sizes = np.bincount(some)
        return (sizes * (sizes - 1)).sum() / (len(some) * (len(some) - 1))

    assert within(group[chosen(group, 500, 0)]) == pytest.approx(within(group), rel=0.05)


def test_an_effect_between_groups_of_unlike_sizes_is_found():
    rng = np.random.default_rng(0)
    sizes = rng.permutation(np.arange(5, 45))
    group = np.repeat(np.arange(40), sizes)
    shared = rng.normal(size=(40, 2))[group]
    x, y = (shared + 0.3 * rng.normal(size=shared.shape) for _ in "xy")
    (found,) = evaluate(pair(x, y, groups=group), [CKA()], **QUICK)
    assert found.above_chance


def autoregressive(rng, phi, places=25):
    return lfilter([1], [1, -phi], rng.normal(size=(40, 200 + places)), axis=1)[:, 200:].reshape(-1, 1)


@pytest.mark.parametrize("phi", [0.0, 0.9])
def test_false_positives_are_as_many_as_they_may_be(phi):
    rng, hits, times, group = np.random.default_rng(1), 0, 80, np.repeat(np.arange(40), 10)
    for i in range(times):
        x, y = (autoregressive(rng, phi, 10) + np.repeat(rng.normal(size=(40, 1)), 10, axis=0) for _ in "xy")
        (found,) = chances(pair(x, y, groups=group, seed=i), [R2()], 19)
        hits += found.p_value <= 0.05
    low, high = band(times)
    assert low <= hits <= high


def test_the_place_is_seen_where_tables_follow_it_and_seldom_where_not():
    rng, runs = np.random.default_rng(0), [np.arange(1000).reshape(40, 25)]
    trend = np.tile(np.linspace(0, 2, 25), 40)[:, None]
    assert all(follows_place(runs, autoregressive(rng, 0.5) + trend) for _ in range(20))
    for phi in (0.0, 0.9):
        assert sum(follows_place(runs, autoregressive(rng, phi)) for _ in range(200)) <= binom.ppf(0.9995, 200, 0.01)


def test_groups_that_are_no_groups_are_refused():
    x = np.random.default_rng(0).normal(size=(60, 2))
    for groups, words in ((np.arange(60), "leave groups out"), (np.zeros(60), "all rows are in one group")):
        for ask in (um.compare, um.recovery, um.mcc):
            with pytest.raises(um.InputError, match=words):
                ask(x, x, groups=groups)
        with pytest.raises(um.InputError, match=words):
            um.audit(x, {"a": x[:, 0], "b": np.where(x[:, 1] > 0, "p", "q")}, groups=groups)


def test_a_factor_that_is_known_in_one_row_of_each_group_is_scored():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    once = np.where(np.arange(300) % 5 == 0, x[:, 0], np.nan)
    report = um.audit(x, {"a": x[:, 1], "once": once}, groups=np.arange(300) // 5, probe=False, **QUICK)
    assert [f.state for f in report.findings] == [State.RECOVERED] * 2


@pytest.mark.parametrize("measures", [[um.measures.CKA()], [um.measures.R2()]])
def test_every_verdict_says_what_may_be_the_place(measures):
    rng = np.random.default_rng(5)
    place, group = np.tile(np.linspace(-1, 1, 25), 40)[:, None], np.repeat(np.arange(40), 25)
    x, y = (rng.normal(size=(1000, 3)) + sign * place for sign in (3, -3))
    found = um.compare(x, y, groups=group, measures=measures, **QUICK)
    assert "above chance, but cannot be told apart from the place in the group:" in found.verdict


def test_groups_are_those_of_the_rows_that_were_taken():
    """A group of 300 rows is cut to the 20 of the others, and three of 5 rows are left out."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(40), [300, 5, 5, 5] + [20] * 36)
    z = rng.normal(size=(len(group), 3))
    noisy, measures = z + rng.normal(size=z.shape), [um.measures.RSA()]
    (score,) = um.compare(z, noisy, groups=group, measures=measures, **QUICK).pairs[0].scores
    assert (score.rows, score.groups) == (740, 37)
