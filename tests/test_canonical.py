"""Two models with f and g: what is equal up to a known map is found; what theory does not promise is said."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter
from scipy.special import log_softmax, rel_entr, softmax

import unmix as um
from unmix.canonical import CanonicalModel, compare_models
from unmix.canonical.diversity import best_labels, condition, diversity
from unmix.measures import CCA
from unmix.measures.digits import shown_p
from unmix.theory.roeder2021 import DIVERSITY, ENOUGH_LABELS, EQUAL_WIDTH, SAME_LABELS, THEOREM_1

RNG = np.random.default_rng(0)
QUICK = {"bootstraps": 40, "permutations": 99}
N, K, M = 600, 12, 4
F, G, A = RNG.normal(size=(N, M)), RNG.normal(size=(K, M)), RNG.normal(size=(M, M))
INVERSE = np.linalg.inv(A)


def test_a_pair_equal_up_to_a_known_map_is_found_in_three_ways():
    # g′ = A^-T g, moved by a constant that the softmax does not see.
    found = compare_models(CanonicalModel(F, G), CanonicalModel(F @ A.T, G @ INVERSE + 5), **QUICK)
    assert found.promised
    for fitted in found.alignment.maps.values():
        np.testing.assert_allclose(fitted.matrix, A, atol=1e-6)
    assert max(found.alignment.disagreement.values()) < 1e-6
    assert found.alignment.halves < 1e-6
    assert found.alignment.g_residual < 1e-6
    assert found.label_r2 == pytest.approx(1, abs=1e-6)
    assert found.equal_logits == pytest.approx(1, abs=1e-6)
    assert all(s.value == pytest.approx(1, abs=1e-6) for s in found.scores)
    assert found.distances["KL"].value < 1e-9
    assert "f′ of the model (2) is a linear map of f of the model (1): held-out R² 1.000 [1.000, 1." in found.verdict


def test_with_biases_the_map_is_affine():
    bias, offset = RNG.normal(size=K), RNG.normal(size=M)
    g = G @ INVERSE
    found = compare_models(CanonicalModel(F, G, bias), CanonicalModel(F @ A.T + offset, g, bias - g @ offset), **QUICK)
    for fitted in found.alignment.maps.values():
        np.testing.assert_allclose(fitted.matrix, A, atol=1e-6)
        np.testing.assert_allclose(fitted.offset, offset, atol=1e-6)
    assert found.equal_logits == pytest.approx(1)
    assert str(THEOREM_1.promise(CanonicalModel(F, G, bias), CanonicalModel(F, G))) == "affine"
    assert str(THEOREM_1.promise(CanonicalModel(F, G), CanonicalModel(F, G))) == "linear"


def circle_pair():
    """Labels on a circle, f = ρ g(y); the second model has the labels on the circle permuted."""
    rng = np.random.default_rng(2)
    angle = 2 * np.pi * np.arange(K) / K
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    label = rng.integers(0, K, 2000)
    first = CanonicalModel(300 * circle[label], circle, name="one")
    other = circle[rng.permutation(K)]
    return first, CanonicalModel(300 * other[label], other, name="two"), label


def test_near_zero_loss_of_both_models_does_not_make_them_alike():
    first, second, label = circle_pair()
    for model in (first, second):
        loss = -log_softmax(model.f @ model.g.T, axis=1)[np.arange(2000), label].mean()
        assert loss < 1e-9
    found = compare_models(first, second, **QUICK)
    assert found.promised  # form, width, labels and diversity are all there: only equality of distributions is not
    cca = next(s for s in found.scores if s.measure == CCA())
    assert cca.value < 0.6
    assert found.distances["KL"].value < 1e-6
    assert found.equal_logits < 0.5
    assert "not equal" in found.verdict
    assert "does not bound" in found.verdict
    assert "f′ of two is hardly a linear map of f of one: held-out R² 0.0" in found.verdict


def test_too_few_labels_promise_nothing_and_only_the_identified_part_is_measured():
    wide, few = RNG.normal(size=(N, 8)), RNG.normal(size=(4, 8))
    first = CanonicalModel(wide, few, name="one")
    unseen = np.linalg.svd(first.centred_g)[2][3:]  # directions that no difference of labels sees
    second = CanonicalModel(wide + 3 * RNG.normal(size=(N, 5)) @ unseen, few, name="two")
    found = compare_models(first, second, **QUICK)
    assert not found.promised
    assert set(found.violated) == {ENOUGH_LABELS, DIVERSITY}
    assert found.seen == (3, 3)
    assert found.scores[0].value == pytest.approx(1, abs=1e-6)
    assert "promises nothing" in found.verdict
    assert "3 and 3 dimensions" in found.verdict
    whole = um.compare(first.f, second.f, measures=[um.measures.R2()], **QUICK).pairs[0].scores[0]
    assert whole.value < 0.8  # what the distributions do not see is different indeed


def test_models_of_different_width_are_compared_on_what_both_see():
    wide = CanonicalModel(
        np.column_stack([F @ A.T, RNG.normal(size=(N, 2))]), np.column_stack([G @ INVERSE, np.zeros((K, 2))])
    )
    found = compare_models(CanonicalModel(F, G), wide, **QUICK)
    assert set(found.violated) == {EQUAL_WIDTH, DIVERSITY}
    assert found.seen == (4, 4)
    assert found.label_r2 == pytest.approx(1, abs=1e-6)
    assert found.alignment.g_residual < 1e-6


def test_a_narrower_bottleneck_is_measured_too():
    narrow = CanonicalModel(F[:, :2], G[:, :2])
    found = compare_models(CanonicalModel(F, G), narrow, **QUICK)
    assert found.violated == (EQUAL_WIDTH,)
    assert found.scores[0].value == pytest.approx(1)
    assert found.scores[1].value < 0.7
    assert found.alignment.maps["regression"].matrix.shape == (2, 4)


def test_noise_shows_in_every_number():
    noisy = CanonicalModel(F @ A.T + 0.3 * RNG.normal(size=(N, M)), G @ INVERSE + 0.1 * RNG.normal(size=(K, M)))
    found = compare_models(CanonicalModel(F, G), noisy, **QUICK)
    assert 0.5 < found.scores[0].value < 0.999
    assert found.alignment.g_residual > 1e-3
    assert min(found.alignment.disagreement.values()) > 1e-3
    assert found.alignment.halves > 1e-3


def test_unrelated_models_are_at_chance():
    rng = np.random.default_rng(1)
    found = compare_models(
        CanonicalModel(F, G), CanonicalModel(rng.normal(size=(N, M)), rng.normal(size=(K, M))), **QUICK
    )
    assert not found.scores[0].above_chance
    assert all(d.p_value > 0.01 for d in found.distances.values())
    assert all(d.value == pytest.approx(d.null, rel=0.25) for d in found.distances.values())


def test_the_verdict_has_what_can_be_quoted_and_no_bare_no():
    rng = np.random.default_rng(1)
    other = CanonicalModel(rng.normal(size=(N, M)), rng.normal(size=(K, M)), name="two")
    number = r"held-out R² -0\.\d{3} \[-?[\d.]+, -?[\d.]+\], chance -0\.\d{3}, p = 0\.\d{3}"
    none = compare_models(CanonicalModel(F, G, name="one"), other, **QUICK).verdict
    for y, x in (("f′ of two", "f of one"), ("f of one", "f′ of two")):
        assert re.search(rf"That {y} is a linear map of {x} is not shown with 600 rows: {number}\.", none)
    assert re.search(
        r"not equal: centred logits R² -[\d.]+, KL [\d.]+ \[.*\], chance [\d.]+, p = 0\.\d{3}; 600 inputs", none
    )
    for size, words in (
        (0.2, "is hardly a linear map"),
        (1, "is only in part a"),
        (6, "is nearly a"),
        (99, "is a linear"),
    ):
        near = CanonicalModel(size * F + RNG.normal(size=F.shape), G, name="two")
        said = compare_models(CanonicalModel(F, G, name="one"), near, **QUICK).verdict
        assert f"f′ of two {words}" in said
        assert f"f of one {words}" in said
    narrow = compare_models(CanonicalModel(F, G, name="one"), CanonicalModel(F[:, :2], G[:, :2], name="two"), **QUICK)
    assert "f′ of two is a linear map of f of one" in narrow.verdict
    assert "f of one is only in part a linear map of f′ of two" in narrow.verdict


def test_p_of_distances_is_shown_as_that_of_scores_and_scores_in_three_digits():
    same = compare_models(CanonicalModel(F, G), CanonicalModel(F @ A.T, G @ INVERSE), **QUICK)
    rng = np.random.default_rng(1)
    other = compare_models(CanonicalModel(F, G), CanonicalModel(rng.normal(size=F.shape), G), **QUICK)
    for found in (same, other):
        assert all(re.fullmatch(r"p (< 1/100|= \d\.\d{3})", p) for p in re.findall(r"p [<=] [\d./]*\d", str(found)))
        assert all(re.fullmatch(r"-?\d\.\d{3}", r2) for r2 in re.findall(r"R² (-?[\d.]*\d)", found.verdict))
        for distance in found.distances.values():
            assert shown_p(distance.p_value, 99) in str(distance)
    tiny = compare_models(CanonicalModel(1e-7 * F, G), CanonicalModel(1e-7 * F @ A.T, G @ INVERSE), **QUICK)
    assert tiny.distances["logits"].p_value == 0.01  # ties are ties in a distance's own size


def series(rng, phi=0.9, rows=N, columns=3):
    return lfilter([1], [1, -phi], rng.normal(size=(rows + 500, columns)), axis=0)[500:]


def test_inputs_in_time_are_told_of_and_taken_in_time():
    rng = np.random.default_rng(0)
    one, two = (CanonicalModel(series(rng), rng.normal(size=(K, 3)), name=name) for name in ("one", "two"))
    blind, timed, blocked = (compare_models(one, two, **o, **QUICK) for o in ({}, {"time": True}, {"blocks": 60}))
    (note,) = blind.notes
    assert note.startswith("neighbouring rows correlate by 0.")
    assert f"note: {note}" in str(blind)
    assert blind.as_dict()["notes"] == [note]
    assert timed.notes[0].startswith("rows in time: folds are consecutive rows")
    assert "10 groups: intervals are rough" in " ".join(blocked.notes)
    for found in (timed, blocked):
        assert "neighbouring" not in str(found)
        assert all(s.p_value > 0.01 for s in [*found.scores, *found.distances.values()])
    related = CanonicalModel(one.f @ RNG.normal(size=(3, 3)), one.g, name="two")
    assert compare_models(one, related, time=True, **QUICK).scores[0].above_chance


def test_where_both_models_drift_neither_scores_nor_distances_have_a_p():
    rng = np.random.default_rng(0)
    walks = [CanonicalModel(np.cumsum(rng.normal(size=(N, 3)), axis=0), rng.normal(size=(K, 3))) for _ in range(2)]
    for options in ({"time": True}, {"blocks": 50}):
        found = compare_models(*walks, **options, **QUICK)
        for s in (*found.scores, *found.distances.values()):
            assert s.p_value is None
            assert re.search("chance not judged.*both tables drift in time", str(s))
    assert json.loads(json.dumps(found.as_dict()))["distances"]["KL"]["not_judged"].startswith("both tables drift")
    looks = compare_models(walks[0], walks[0], time=True, **QUICK).verdict
    assert "looks like a linear map" in looks
    assert "is a linear map" not in looks


def test_models_that_share_the_place_in_the_group_have_two_p():
    rng = np.random.default_rng(0)
    group, place = np.repeat(np.arange(40), 25), np.tile(np.linspace(-1, 1, 25), 40)[:, None]
    one, two = (CanonicalModel(rng.normal(size=(1000, 3)) + 3 * place, RNG.normal(size=(K, 3))) for _ in range(2))
    found = compare_models(one, CanonicalModel(two.f, one.g), groups=group, **QUICK)
    for s in (found.scores[0], found.distances["logits"]):
        assert s.p_value <= 0.01 < s.p_beyond_place
        assert "beyond the place in the group p = 0." in str(s)
    assert "a linear map of f of the model (1) (cannot be told apart from the place in the group)" in found.verdict


def test_what_is_seen_of_the_inputs_of_models_is_told():
    flat = np.column_stack([F, np.ones(N)])
    one, two = CanonicalModel(np.vstack([F, F]), G), CanonicalModel(np.vstack([flat, flat]), RNG.normal(size=(K, 5)))
    found = compare_models(one, two, **QUICK)
    assert "dropped constant column 4 of f of the model" in str(found)
    assert "600 of 1,200 rows are copies of others" in str(found)


def test_distances_are_their_formulas():
    other = CanonicalModel(F + 0.5 * RNG.normal(size=(N, M)), G, RNG.normal(size=K))
    first = CanonicalModel(F, G)
    found = compare_models(first, other, **QUICK).distances
    p, q = softmax(F @ G.T, axis=1), softmax(other.f @ G.T + other.bias, axis=1)
    middle = (p + q) / 2
    assert found["KL"].value == pytest.approx(rel_entr(p, q).sum(1).mean())
    assert found["KL back"].value == pytest.approx(rel_entr(q, p).sum(1).mean())
    assert found["JS"].value == pytest.approx((rel_entr(p, middle) + rel_entr(q, middle)).sum(1).mean() / 2)
    ours, theirs = F @ G.T, other.f @ G.T + other.bias
    ours, theirs = (t - t.mean(1, keepdims=True) for t in (ours, theirs))
    assert found["logits"].value == pytest.approx(((ours - theirs) ** 2).sum(1).mean())
    assert all(d.low <= d.value <= d.high for d in found.values())
    assert all(d.p_value == 0.01 for d in found.values())


def test_distances_do_not_depend_on_the_size_of_a_tile(monkeypatch):
    other = CanonicalModel(F + 0.5 * RNG.normal(size=(N, M)), G)
    whole = compare_models(CanonicalModel(F, G), other, **QUICK).distances["JS"].value
    monkeypatch.setattr("unmix.canonical.distances.ENTRIES", 37 * K)
    assert compare_models(CanonicalModel(F, G), other, **QUICK).distances["JS"].value == pytest.approx(whole)


def test_pivoted_labels_are_better_conditioned_than_random_ones():
    rng = np.random.default_rng(5)
    g = rng.normal(size=(200, 6)) * [1, 1, 1, 1, 0.3, 0.1]
    model = CanonicalModel(rng.normal(size=(50, 6)), g)
    found = diversity(model)
    assert found.chosen_condition < found.random_condition
    assert len(found.chosen) == len(set(found.chosen.tolist())) == 7
    assert found.chosen_condition == condition(model, best_labels(model))
    differences = (g[found.chosen[1:]] - g[found.chosen[0]]).T
    assert found.chosen_condition == pytest.approx(np.linalg.cond(differences))
    np.testing.assert_allclose(found.spectrum, np.linalg.svd(g - g.mean(0), compute_uv=False))


def test_the_theorem_is_checked_assumption_by_assumption():
    small = CanonicalModel(F, G[: K - 1])
    assert THEOREM_1.violated(CanonicalModel(F, G), small) == (SAME_LABELS,)
    flat = CanonicalModel(F, G * [1, 1, 1, 0])
    assert THEOREM_1.violated(CanonicalModel(F, G), flat) == (DIVERSITY,)
    assert THEOREM_1.violated(CanonicalModel(F, G), CanonicalModel(F, G)) == ()


def test_everything_is_plain_json(tmp_path):
    found = compare_models(CanonicalModel(F, G, name="a"), CanonicalModel(F, G * [1, 1, 1, 0], name="b"), **QUICK)
    found.save(tmp_path / "models.json")
    kept = json.loads((tmp_path / "models.json").read_text())
    assert kept["violated"] == [DIVERSITY.statement]
    assert "NaN" not in (tmp_path / "models.json").read_text()
    assert "a: K = 12" in str(found)
    with pytest.raises(um.InputError, match="saved as"):
        found.save(tmp_path / "models.csv")


def named(f, step=1):
    return CanonicalModel(pd.DataFrame(f, [f"row {i}" for i in range(N)][::step]), G)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: CanonicalModel(F, G[:, :3]), "give g as"),
        (lambda: CanonicalModel(F, G[:1]), "two or more"),
        (lambda: CanonicalModel(F, G, np.ones(3)), "one number a label"),
        (lambda: CanonicalModel(F * np.nan, G), "NaN"),
        (lambda: compare_models(CanonicalModel(F, G), CanonicalModel(F, G[:5])), "same labels"),
        (lambda: compare_models(CanonicalModel(F, G), CanonicalModel(F[:9], G)), "same rows"),
        (lambda: compare_models(CanonicalModel(F, G), CanonicalModel(F, np.ones((K, M)))), "one distribution"),
        (lambda: compare_models(CanonicalModel(F, G), CanonicalModel(F, G), time=True, blocks=9), "leave one of the"),
        (lambda: compare_models(named(F), named(F[::-1], -1), time=True), "f of .* is in another order .*, so one of"),
    ],
)
def test_bad_models_are_refused(make, words):
    with pytest.raises(um.InputError, match=words):
        make()
