"""Audit: scores are those of scikit-learn on held-out rows, what is planted is found, and nothing else is."""

import csv
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.metrics import balanced_accuracy_score, r2_score

import unmix as um
from unmix.audit.dci import DCI
from unmix.audit.discriminant import balanced_accuracy, discriminant
from unmix.audit.finding import State
from unmix.audit.linear import FactorR2
from unmix.audit.structure import association, dependence_of
from unmix.factors import Categorical, Continuous, Ordinal, Periodic, prepared
from unmix.measures.paired import pair
from unmix.moments import Moments
from unmix.tables import read_columns

RNG = np.random.default_rng(0)
N = 1200
SIZE, HIDDEN, NOISE = RNG.normal(size=(3, N))
ANGLE = RNG.uniform(0, 360, N)
SHAPE = RNG.choice(["disc", "ring", "star"], N)
TURN = np.radians(ANGLE)
CODE = np.column_stack([SIZE, np.cos(TURN), np.sin(TURN), SHAPE == "disc", SHAPE == "ring", HIDDEN**2])
X = CODE @ RNG.normal(size=(6, 8)) + 0.05 * RNG.normal(size=(N, 8))
FACTORS = {"size": SIZE, "angle": ANGLE, "shape": SHAPE, "noise": NOISE}
QUICK = {"bootstraps": 40, "permutations": 99}
FAST = {**QUICK, "probe": False}


@pytest.fixture(scope="module")
def report():
    return um.audit(X, FACTORS, name="outputs", **QUICK)


def test_what_is_planted_is_found_and_noise_is_not(report):
    states = {f.name: f.state for f in report.findings}
    found = dict.fromkeys(("size", "angle", "shape"), State.RECOVERED) | {"noise": State.ABSENT}
    assert states == found
    assert "Linearly recovered (1,200 rows, held out): size (R² 0.998 [" in report.verdict
    assert "Not shown by a linear map or by gradient boosting with 1,200 rows: noise (R² " in report.verdict
    assert report.finding("angle").kind == "periodic, 360 (inferred)"
    assert report.finding("shape").score.null == pytest.approx(1 / 3, abs=0.03)
    assert not report.finding("noise").score.above_chance


def test_the_linear_score_is_scikit_learns_on_the_same_folds(report):
    chunk = pair(X, SIZE[:, None]).chunk
    missed = spread = 0.0
    for fold in range(5):
        held = chunk % 5 == fold
        model = LinearRegression().fit(X[~held], SIZE[~held])
        missed += ((SIZE[held] - model.predict(X[held])) ** 2).sum()
        spread += ((SIZE[held] - SIZE[~held].mean()) ** 2).sum()
    assert report.finding("size").score.value == pytest.approx(1 - missed / spread, abs=1e-9)


def test_groups_are_in_the_same_folds_whether_numbers_or_words():
    group = np.random.default_rng(2).permutation(np.repeat(np.arange(120), 10))
    options = {"groups": group, **QUICK}
    value = um.audit(X, {"size": SIZE}, probe=False, **options).finding("size").score.value
    assert value == pytest.approx(um.recovery(X, SIZE, **options).affine.value, abs=1e-12)
    worded = {**options, "groups": group.astype(str)}
    assert value == pytest.approx(um.recovery(X, SIZE, **worded).affine.value, abs=1e-12)
    assert value == pytest.approx(um.compare(X, SIZE, **worded).pairs[0].scores[0].value, abs=1e-12)


def test_balanced_accuracy_is_that_of_discriminant_analysis_with_equal_priors():
    rng = np.random.default_rng(1)
    label = rng.choice(3, 900, p=[0.6, 0.3, 0.1])
    x = rng.normal(size=(900, 4)) + 1.2 * np.eye(4)[label]
    chunk, named = pair(x, np.eye(3)[label]).chunk, np.empty(900, int)
    for fold in range(5):
        held = chunk % 5 == fold
        model = LinearDiscriminantAnalysis(solver="lsqr", priors=[1 / 3] * 3).fit(x[~held], label[~held])
        named[held] = model.predict(x[held])
    found = um.audit(x, {"label": label}, **FAST).finding("label").score
    assert found.value == pytest.approx(balanced_accuracy_score(label, named), abs=0.004)  # theirs shrinks nothing
    assert found.low < found.value < found.high
    assert found.profile == pytest.approx([np.mean(named[label == c] == c) for c in range(3)], abs=0.02)


def test_a_discriminant_of_separate_classes_makes_no_error():
    x = np.repeat(np.eye(3), 5, axis=0)
    moments = Moments.of(x, np.repeat(np.eye(3), 5, axis=0))
    assert (discriminant(moments, (0, 1, 2))(x) == np.repeat(np.arange(3), 5)).all()
    assert balanced_accuracy(np.diag([3.0, 1.0, 0.0])) == 1


@given(st.floats(0, 360), st.floats(0.1, 10))
def test_the_score_of_an_angle_does_not_know_its_origin(turn, scale):
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 120, 200)  # where cosine and sine have unlike variances
    x = np.radians(angle)[:, None] + 0.3 * rng.normal(size=(200, 2))
    both = [Moments.of(x, Periodic(360).encode(um.tables.Column.of("a", a), 1)[0]) for a in (angle, angle + turn)]
    one, other = (FactorR2("angle", (0, 1)).score(m, m) for m in both)
    assert one == pytest.approx(other, abs=1e-9)


def test_each_factor_is_scored_on_the_rows_where_it_is_known():
    gaps = np.where(RNG.uniform(size=N) < 0.3, np.nan, SIZE)
    there = ~np.isnan(gaps)
    shape = np.where(there, SHAPE, "")
    both = um.audit(X, {"size": gaps, "angle": ANGLE, "shape": shape}, **FAST)
    alone = um.audit(X[there], {"size": gaps[there], "shape": SHAPE[there]}, **FAST)
    for name in ("size", "shape"):
        assert both.finding(name).score.value == alone.finding(name).score.value > 0.99
    assert both.finding("size").rows == there.sum()
    assert both.finding("angle").rows == N
    assert any("Missing in many rows: size (3" in w for w in both.warnings)
    assert both.whole.n == there.sum()


def test_ids_join_the_rows_in_any_order(tmp_path):
    order = RNG.permutation(N)
    ids = np.array([f"row {i}" for i in range(N)])
    lines = [f"{ids[i]},{SIZE[i]!r},{SHAPE[i]}" for i in order]
    (tmp_path / "f.csv").write_text("id,size,shape\n" + "\n".join(lines).replace("np.float64(", "").replace(")", ""))
    np.savez(tmp_path / "x.npz", x=X, id=ids)
    joined = um.audit(f"{tmp_path / 'x.npz'}::x", tmp_path / "f.csv", ids="id", **FAST)
    plain = um.audit(X, {"size": SIZE, "shape": SHAPE}, **FAST)
    assert [f.score.value for f in joined.findings] == pytest.approx([f.score.value for f in plain.findings])
    again = um.audit(X, {"size": SIZE[order]}, ids=[ids, ids[order]], **FAST)
    assert again.finding("size").state is State.RECOVERED
    with pytest.raises(um.InputError, match="1 ids of the embedding are not in the factors, such as row 0"):
        um.audit(X, {"size": SIZE}, ids=[ids, [*ids[1:], "another"]], **FAST)


def test_groups_keep_a_factor_of_the_group_from_leaking():
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(60), 20)
    x, age = rng.normal(size=(60, 30))[group] + 0.1 * rng.normal(size=(1200, 30)), rng.normal(size=60)[group]
    torn = um.audit(x, {"age": age}, **FAST).finding("age")
    kept = um.audit(x, {"age": age, "subject": group}, groups="subject", **FAST)
    assert torn.state is not State.ABSENT
    assert kept.finding("age").state is State.ABSENT
    told = {c.assumption: c for c in kept.checks}
    assert float(re.findall(r"age by (\d\.\d+)", told["groups are kept whole"].evidence)[0]) > 0.2
    assert not told["factors vary within groups"].holds
    assert "has 60 values, not 1,200" in told["factors vary within groups"].remedy


def test_a_factor_known_in_too_few_groups_is_left_out_and_the_others_stay():
    group = np.repeat(np.arange(60), 20)
    some = np.where(group < 5, SIZE, np.nan)
    found = um.audit(X, {"size": SIZE, "some": some}, groups=group, **FAST)
    assert [f.name for f in found.findings] == ["size"]
    assert found.left[0].reason.startswith("on the rows where it is known, 5 groups are too few for 5 folds")


def test_the_probe_finds_what_is_not_linear(report):
    bent = um.audit(X, {"hidden": np.abs(HIDDEN), "size": SIZE}, **QUICK)
    finding = bent.finding("hidden")
    assert finding.probe.adds
    assert finding.probe.boosted > finding.score.value + 0.03
    assert not report.finding("noise").probe.adds
    curved = um.audit(NOISE[:, None] * [1, 1] + [[0, 1]], {"square": NOISE**2}, **QUICK).finding("square")
    assert curved.state is State.NONLINEAR


def test_single_outputs_for_single_factors_are_disentangled_and_a_rotation_is_not():
    rng = np.random.default_rng(3)
    z = rng.normal(size=(1500, 3))
    turned = z @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    factors = dict(zip("abc", z.T, strict=True))
    straight, mixed = (um.audit(x, factors, **QUICK) for x in (z[:, [2, 0, 1]] * [1, -3, 2], turned))
    assert min(straight.dci.disentanglement, straight.dci.completeness) > 0.9
    assert straight.matched == {"a": "1", "b": "2", "c": "0"}
    assert "Single outputs stand for single factors" in straight.verdict
    assert max(mixed.dci.disentanglement, mixed.dci.completeness) < 0.7
    assert [str(c) for c in straight.whole.minimal] == ["generalised permutation"]
    assert [str(c) for c in mixed.whole.minimal] == ["orthogonal"]


@given(st.integers(0, 1000))
def test_dci_lies_between_0_and_1_and_does_not_know_the_order(seed):
    rng = np.random.default_rng(seed)
    table = rng.gamma(0.3, size=(5, 3))
    found, shuffled = DCI.of(table), DCI.of(table[rng.permutation(5)][:, rng.permutation(3)])
    for value, other in zip(
        (found.disentanglement, found.completeness), (shuffled.disentanglement, shuffled.completeness), strict=True
    ):
        assert 0 <= value <= 1
        assert value == pytest.approx(other)


def test_disentanglement_weighs_outputs_by_their_importance():
    table = np.array([[9.0, 0.0], [0.5, 0.5]])  # one output of one factor, and a weak one that serves both
    found = DCI.of(table)
    assert found.disentanglement == pytest.approx((9 * 1 + 1 * 0) / 10)
    share = np.array([9 / 9.5, 0.5 / 9.5])
    assert found.completeness == pytest.approx((1 + (share * np.log2(share)).sum() + 1) / 2)


def test_associations_are_pearson_and_the_correlation_ratio():
    label = RNG.choice(3, N)
    m = Moments.of(X, np.column_stack([SIZE, np.eye(3)[label]]))
    np.testing.assert_allclose(association(m, [0]), [np.corrcoef(x, SIZE)[0, 1] for x in X.T])
    means = np.stack([X[label == c].mean(0) for c in range(3)])
    between = (np.bincount(label)[:, None] * (means - X.mean(0)) ** 2).sum(0)
    np.testing.assert_allclose(association(m, [1, 2, 3]) ** 2, between / ((X - X.mean(0)) ** 2).sum(0))


def test_dependent_factors_are_told():
    factors, _ = prepared(read_columns({"a": SIZE, "b": SIZE + NOISE, "c": HIDDEN}))
    found = dependence_of(factors)
    expected = LinearRegression().fit(np.stack([SIZE, HIDDEN], 1), SIZE + NOISE)
    r2 = r2_score(SIZE + NOISE, expected.predict(np.stack([SIZE, HIDDEN], 1)))
    assert found[1] == pytest.approx(1 - (1 - r2) * (N - 1) / (N - 3))
    assert found[2] < 0.02
    said = um.audit(X, {"a": SIZE, "b": SIZE + NOISE, "c": HIDDEN}, **FAST).warnings
    assert any("The other factors predict a (R² " in w and ", b (R² " in w and "c (R²" not in w for w in said)


@pytest.mark.parametrize(
    ("x", "factors", "words"),
    [
        (X[:300].repeat(2, 0), {"size": SIZE[:300].repeat(2)}, "300 of 600 rows are copies"),
        (RNG.normal(size=(200, 40)), {"size": SIZE[:200]}, "Maps were fitted on 15"),
        (np.column_stack([X, X[:, 0], np.ones(N)]), {"size": SIZE}, "1 of 10 outputs is constant"),
    ],
)
def test_what_the_numbers_assume_is_checked(x, factors, words):
    assert any(words in w for w in um.audit(x, factors, **FAST).warnings)


def test_rows_of_a_recording_ask_for_groups():
    walk = np.cumsum(RNG.normal(size=(500, 3)), axis=0)
    found = um.audit(walk, {"a": walk[:, 0], "session": np.arange(500) // 50}, **FAST)
    assert any("Neighbouring rows" in w and "groups (session may name them)" in w for w in found.warnings)


def test_more_outputs_than_rows_are_refused_in_words(tmp_path):
    found = um.audit(RNG.normal(size=(60, 80)), {"size": SIZE[:60], "shape": SHAPE[:60]}, **FAST)
    assert [f.state for f in found.findings] == [State.REFUSED] * 2
    assert "Not scored: size and shape." in found.verdict
    for suffix in ("html", "json", "csv", "tex"):
        found.save(tmp_path / f"r.{suffix}")


def test_what_is_absent_does_not_hide_what_a_class_loses():
    turn = np.radians(25)
    x = np.column_stack([SIZE, HIDDEN]) @ [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    noise = {f"noise {i}": RNG.normal(size=N) for i in range(8)}
    few, many = (um.audit(x, {"a": SIZE, "b": HIDDEN, **more}, **FAST) for more in ({}, noise))
    assert [str(c) for c in few.whole.minimal] == [str(c) for c in many.whole.minimal] == ["orthogonal"]
    assert many.together == ("a", "b")
    assert "rows would help" not in many.verdict


def test_factors_scored_in_one_loop_are_scored_as_alone():
    rng = np.random.default_rng(4)
    there, noise = rng.uniform(1, 2, size=(600, 2)), rng.normal(size=(600, 1))
    x = there @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(600, 4))
    counts = {"bootstraps": 60, "permutations": 99}
    names = {"a": there[:, 0], "noise": noise[:, 0], "b": there[:, 1]}
    whole = um.audit(x, names, probe=False, **counts).whole
    alone = um.recovery(x, there, **counts)
    assert [s.up_to for s in whole.steps] == [s.up_to for s in alone.steps]
    for a, b in zip(whole.steps, alone.steps, strict=True):
        np.testing.assert_allclose([a.r2, *a.interval, *a.per_dimension], [b.r2, *b.interval, *b.per_dimension])
        np.testing.assert_allclose(a.map.matrix, b.map.matrix)
    for a, b in [(whole.affine, alone.affine), (whole.pearson, alone.pearson), (whole.spearman, alone.spearman)]:
        assert (a.value, a.low, a.high, a.null, a.p_value) == pytest.approx((b.value, b.low, b.high, b.null, b.p_value))


def test_a_bad_row_is_told_by_its_number_in_the_table():
    x = RNG.normal(size=(200, 3))
    x[150, 1] = np.nan
    gaps = np.arange(200.0)
    gaps[3] = np.nan
    with pytest.raises(um.InputError, match="in row 150, counted from 0"):
        um.audit(x, {"gaps": gaps}, **FAST)


def test_the_probe_does_not_mind_an_offset_a_scale_or_an_output_that_is_constant_for_some():
    known = np.arange(N) % 3 > 0
    x = np.column_stack([X[:, :3], np.where(known, 1.0, SIZE)])
    found = um.audit(x * 1e5 + 1e9, {"size": SIZE, "some": np.where(known, X[:, 0], np.nan)}, **QUICK)
    plain = um.audit(x, {"size": SIZE}, **QUICK).finding("size").probe
    assert found.finding("size").probe.linear == pytest.approx(plain.linear, abs=1e-4)
    assert found.finding("size").probe.boosted == pytest.approx(plain.boosted, abs=0.02)
    assert found.dci.importance.shape == (4, 2)
    assert found.dci.importance[3, 1] == 0


def test_classes_that_one_group_alone_has_cannot_be_held_out():
    group = np.repeat(np.arange(40), 30)
    found = um.audit(
        X, {"size": SIZE, "name": group % 40, "half": group // 20}, groups=group, kinds={"name": Categorical()}, **FAST
    )
    assert [some.name for some in found.left] == ["name"]
    assert "one group only" in found.left[0].reason
    assert found.finding("half").levels == ("0", "1")


def test_a_class_with_a_single_train_row_does_not_stop_the_probe():
    label = np.zeros(400, int)
    label[:11] = 1
    group = np.arange(400) // 4
    found = um.audit(X[:400], {"label": label}, groups=group, **QUICK)
    assert found.finding("label").score.value >= 0


def test_the_curve_ends_at_the_score(report):
    for name in ("size", "angle", "noise"):
        finding = report.finding(name)
        rows = [p.rows for p in finding.curve]
        assert rows == sorted(rows)
        assert finding.curve[-1].score == pytest.approx(finding.score.value, abs=0.01)
    assert report.finding("noise").curve[0].score < report.finding("noise").curve[-1].score


def test_a_stated_kind_counts():
    found = um.audit(
        X, {"size": SIZE, "code": (SIZE > 0).astype(int)}, kinds={"code": Continuous(), "size": Ordinal()}, **FAST
    )
    assert found.finding("code").kind == "continuous (stated)"
    assert found.finding("code").measure == "R²"
    assert found.finding("size").score.value > 0.85
    with pytest.raises(um.InputError, match=r"must be like um\.factors\.Periodic"):
        um.audit(X, {"size": SIZE}, kinds={"size": Categorical})
    with pytest.raises(um.InputError, match="there is no factor colour"):
        um.audit(X, {"size": SIZE}, kinds={"colour": Categorical()})


def test_a_report_is_saved_in_every_form(report, tmp_path):
    for suffix in ("html", "json", "csv", "tex"):
        report.save(tmp_path / f"r.{suffix}")
    kept = json.loads((tmp_path / "r.json").read_text())
    assert kept["factors"]["size"]["linear"]["value"] == report.finding("size").score.value
    lines = list(csv.DictReader((tmp_path / "r.csv").open()))
    assert [line["factor"] for line in lines] == list(FACTORS)
    assert float(lines[0]["value"]) == report.finding("size").score.value
    assert (tmp_path / "r.tex").read_text().count(r"\\") == 5
    assert "eastwood2018" in report.cite()
    assert "zimmermann2021" in report.cite()
    assert "size" in str(report)
    with pytest.raises(um.InputError, match=r"saved as \.html"):
        report.save(tmp_path / "r.docx")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: um.audit(X, {"size": SIZE[1:]}), "has 1200 rows and the factors 1199"),
        (lambda: um.audit(X[:12], {"size": SIZE[:12]}), "12 rows are too few for 5 folds"),
        (lambda: um.audit(np.where(X > 4, np.nan, X), {"size": SIZE}), "NaN, infinite or too large"),
        (lambda: um.audit(np.ones((100, 3)), {"size": SIZE[:100]}), "every column of the embedding is constant"),
        (lambda: um.audit(X, {"size": SIZE}, only=["colour"]), "have no factor colour: there are size"),
        (lambda: um.audit(X, {"size": SIZE}, groups="subject"), "the factors have no column subject: there are size"),
        (lambda: um.audit(X, {"size": SIZE}, groups=np.zeros(N)), "all rows are in one group"),
        (lambda: um.audit(X, {"size": SIZE}, ids="id"), "the factors have no column id"),
        (lambda: um.audit(X, {"size": SIZE}, folds=1), "folds must be"),
        (lambda: um.audit(X, {"size": SIZE}, permutations=10), "99 or more"),
        (lambda: um.audit(X.astype(complex), {"size": SIZE}), "real numbers"),
        (lambda: um.audit(X.astype(str), {"size": SIZE}), "real numbers"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(call, message):
    with pytest.raises(um.InputError) as said:
        call()
    assert message in str(said.value)
    assert "\n" not in str(said.value)


DSPRITES = os.environ.get("UNMIX_DSPRITES", "")


@pytest.mark.skipif(not Path(DSPRITES).is_file(), reason="the real images are not here (UNMIX_DSPRITES names the file)")
def test_pixels_of_dsprites_hold_position_and_scale_but_no_orientation():
    with np.load(DSPRITES, allow_pickle=False) as file:
        images, values = file["imgs"], file["latents_values"][:, -5:]
    some = np.random.default_rng(0).permutation(len(images))[:3000]
    pixels = images[some].reshape(-1, 16, 4, 16, 4).mean((2, 4)).reshape(len(some), -1)
    components = np.linalg.svd(pixels - pixels.mean(0), full_matrices=False)
    factors = dict(zip(("scale", "orientation", "x", "y"), values[some][:, 1:].T, strict=True))
    found = um.audit(components.U[:, :24] * components.S[:24], factors, **FAST)
    assert min(found.finding(name).score.value for name in ("scale", "x", "y")) > 0.6
    assert found.finding("orientation").kind == "periodic, 2π (inferred)"
    assert found.finding("orientation").state is State.ABSENT  # most orientations of a square are the same image
