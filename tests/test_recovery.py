"""Recovery: the verdict is the minimal class, held out, above chance; bad tables never give a number."""

import json
import math

import numpy as np
import pytest
import torch
from scipy.stats import kstest, spearmanr
from sklearn.linear_model import LinearRegression

import unmix as um
from unmix.indeterminacy import AFFINE, GeneralisedPermutation, Identity, Linear, Orthogonal, SignedPermutation
from unmix.measures import R2
from unmix.measures.paired import pair
from unmix.measures.sample import Pairings

RNG = np.random.default_rng(0)
BOX = RNG.uniform(size=(2000, 4))
NORMAL = RNG.normal(size=(2000, 4))
QUICK = {"bootstraps": 40, "permutations": 99}
ROTATION = np.linalg.qr(RNG.normal(size=(4, 4)))[0]


@pytest.mark.parametrize(
    ("embedding", "truth", "expected"),
    [
        (NORMAL, NORMAL, [Identity()]),
        (-NORMAL[:, ::-1], NORMAL, [SignedPermutation()]),
        (1 - BOX[:, ::-1], BOX, [SignedPermutation(offset=True)]),  # on a box a flip is z → 1 − z
        (NORMAL * [1, -2, 3, 4], NORMAL, [GeneralisedPermutation()]),
        (NORMAL @ ROTATION.T, NORMAL, [Orthogonal()]),
        (NORMAL @ ROTATION.T + 5, NORMAL, [Orthogonal(offset=True)]),
        (NORMAL @ (RNG.normal(size=(4, 4)) + np.eye(4)), NORMAL, [Linear()]),
    ],
)
def test_the_verdict_is_the_smallest_class(embedding, truth, expected):
    assert list(um.recovery(embedding, truth, **QUICK).minimal) == expected


def test_there_can_be_two_minimal_classes():
    # A slight rotation and slightly uneven scales: an uneven permutation fits, and so does a rotation with one scale.
    z = NORMAL[:, :2]
    tilt = 0.1
    a = 1.5 * np.array([[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]]) * [1.1, 0.9]
    r = um.recovery(z @ a.T, z, **QUICK)
    assert {type(c).__name__ for c in r.minimal} == {"GeneralisedPermutation", "ScaledOrthogonal"}


def test_noise_gets_no_class_and_a_null_of_about_minus_d_over_n():
    rng = np.random.default_rng(3)
    r = um.recovery(rng.normal(size=(400, 20)), rng.normal(size=(400, 3)), **QUICK)
    assert r.minimal == ()
    assert not r.affine.above_chance
    assert r.verdict.startswith("No linear recovery is shown with 400 rows")
    assert r.affine.null == pytest.approx(-20 / (320 - 22), abs=0.01)  # the fit's noise


def test_p_values_of_noise_are_uniform():
    rng, p = np.random.default_rng(0), []
    for _ in range(150):
        sample = pair(*rng.normal(size=(2, 60, 2))).sample
        pairings = Pairings(sample)
        scores = []
        for order in (np.arange(60), *sample.orders(99)):
            scores.append(np.mean([R2().score(*split) for split in pairings.folds(order).splits()]))
        p.append(np.mean(np.array(scores) >= scores[0]))
    assert kstest(p, "uniform").pvalue > 0.01


def test_scores_are_held_out():
    rng = np.random.default_rng(1)
    h, z = rng.normal(size=(60, 20)), rng.normal(size=(60, 2))
    assert LinearRegression().fit(h, z).score(h, z) > 0.2  # in sample noise looks recovered
    assert um.recovery(h, z, **QUICK).r2() < 0


def test_r2_is_averaged_over_dimensions_and_not_clipped():
    z = NORMAL.copy()
    h = z + np.array([0, 0, 0, 100])
    scores = um.recovery(h, z, **QUICK).step(Identity()).per_dimension
    np.testing.assert_allclose(scores[:3], 1)
    assert scores[3] < -1000


def test_recovered_latents_are_the_mapped_embedding():
    r = um.recovery(NORMAL @ ROTATION.T, NORMAL, **QUICK)
    np.testing.assert_allclose(r.recovered(NORMAL @ ROTATION.T, Orthogonal()), NORMAL, atol=1e-8)


def test_mcc_is_one_for_permuted_scaled_factors_and_rank_mcc_for_monotone_ones():
    assert um.mcc(NORMAL[:, [2, 0, 3, 1]] * [1, -5, 2, 3], NORMAL) == pytest.approx(1)
    warped = np.exp(3 * NORMAL[:, ::-1])
    assert um.mcc(warped, NORMAL, ranks=True) == pytest.approx(1)
    assert um.mcc(warped, NORMAL) < 0.7


def test_mcc_matches_on_one_part_and_scores_on_the_other():
    rng = np.random.default_rng(0)
    h, z = rng.normal(size=(40, 15)), rng.normal(size=(40, 1))
    in_sample = max(abs(np.corrcoef(h[:, k], z[:, 0])[0, 1]) for k in range(15))
    held_out = np.mean([um.mcc(h, z, seed=s) for s in range(30)])
    assert held_out < in_sample - 0.05


def test_spearman_mcc_of_one_column_is_scipys():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2000, 1))
    h = z + rng.normal(size=(2000, 1))
    expected = abs(spearmanr(h[:, 0], z[:, 0]).statistic)
    assert um.mcc(h, z, ranks=True) == pytest.approx(expected, abs=0.005)


def test_numbers_of_factors_and_outputs_may_differ():
    z = NORMAL[:, :3]
    wide = np.column_stack([RNG.normal(size=(2000, 5)), z])
    assert um.mcc(wide, z) == pytest.approx(1)
    assert um.mcc(z[:, :2], z) == pytest.approx(2 / 3, abs=0.02)  # a factor without an output counts 0
    r = um.recovery(wide, z, **QUICK)
    assert r.r2() == pytest.approx(1)
    assert all(s.up_to.applies(8, 3) for s in r.steps)
    assert not any(isinstance(s.up_to, Orthogonal) for s in r.steps)


def test_a_constant_output_is_dropped_with_a_note():
    h = np.column_stack([NORMAL, np.ones(2000)])
    r = um.recovery(h, NORMAL, **QUICK)
    assert r.r2() == pytest.approx(1)
    assert "constant column 4" in r.notes[0]
    np.testing.assert_allclose(r.recovered(h), NORMAL, atol=1e-8)


def test_tensors_and_arrays_are_the_same():
    assert um.recovery(torch.tensor(BOX), torch.tensor(BOX), **QUICK).r2() == um.recovery(BOX, BOX, **QUICK).r2()


def test_the_dictionary_is_plain_json():
    r = um.recovery(NORMAL, NORMAL, **QUICK)
    assert json.loads(json.dumps(r.as_dict()))["r2"]["affine"] == pytest.approx(1)
    assert "signed permutation" in str(r)
    assert AFFINE.name == "linear"


def test_recovery_too_weak_to_tell_classes_apart_names_none():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(20_000, 2))
    r = um.recovery(0.1 * z + rng.normal(size=z.shape), z, **QUICK)
    assert r.affine.above_chance
    assert r.minimal == ()
    assert r.verdict.startswith("Hardly any linear recovery: affine R² 0.01")
    assert "20,000 rows" in r.verdict


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"permutations": 19}, "take 99 or more"),
        ({"permutations": -1}, "take 99 or more"),
        ({"tolerance": -1.0}, "tolerance must be"),
        ({"tolerance": math.nan}, "tolerance must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(um.InputError, match=words):
        um.recovery(NORMAL, NORMAL, **options)


def test_asking_for_what_was_not_scored_is_refused():
    r = um.recovery(NORMAL, NORMAL[:, :2], **QUICK)
    with pytest.raises(um.InputError, match="there is no score up to"):
        r.r2(Orthogonal())
    with pytest.raises(um.InputError, match="must have 4 columns"):
        r.recovered(NORMAL[:, :3])


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_units_do_not_matter(scale):
    assert um.recovery(scale * NORMAL, scale * NORMAL, **QUICK).r2() == pytest.approx(1)


def test_half_precision_tensors_are_measured():
    assert um.recovery(torch.tensor(NORMAL).bfloat16(), torch.tensor(NORMAL), **QUICK).r2() > 0.999


def with_value(value):
    table = NORMAL.copy()
    table[3, 1] = value
    return table


@pytest.mark.parametrize(
    ("embedding", "truth", "words"),
    [
        (NORMAL[:10], NORMAL, "same rows in the same order"),
        (with_value(math.nan), NORMAL, "is NaN or infinite in 1 cell: remove"),
        (NORMAL, with_value(math.inf), "the truth is NaN or infinite in 1 cell"),
        (np.empty((0, 3)), np.empty((0, 3)), "is empty"),
        (np.empty((5, 0)), NORMAL[:5], "is empty"),
        (NORMAL[:8], NORMAL[:8], "give at least 20 rows"),
        (NORMAL, np.ones((2000, 2)), "every column of the truth is constant"),
        (NORMAL, NORMAL * [1, 0, 1, 1], "column 1 of the truth is constant"),
        (np.ones((2000, 2)), NORMAL, "every column of the embedding is constant"),
        (np.zeros((2, 3, 4)), NORMAL, "two axes"),
        (1e-90 * NORMAL, 1e-90 * NORMAL, "too large or too small"),
        (NORMAL * [1, 1, 1, 1e-200], NORMAL, "too large"),
        (NORMAL, NORMAL * [1, 1, 1, 1e200], "too large"),
        (NORMAL + 1j, NORMAL, "real numbers"),
        (np.ma.masked_less(NORMAL, 0), NORMAL, "without a mask"),
        ([["a", "b"]] * 20, NORMAL[:20], "table of numbers"),
        ([[1.0], [2.0, 3.0]], NORMAL[:2], "table of numbers"),
    ],
)
def test_bad_tables_are_refused(embedding, truth, words):
    for measure in (um.recovery, um.mcc):
        with pytest.raises(um.InputError, match=words):
            measure(embedding, truth)


def test_columns_that_repeat_others_keep_their_numbers_next_to_constant_ones():
    z = np.random.default_rng(5).normal(size=(200, 2))
    x = np.column_stack([np.ones(200), z, -3 * z[:, 0] + 1])
    notes = um.recovery(x, z, bootstraps=40, permutations=99).notes
    said = "columns of the embedding, counted from 0, repeat others, up to scale and offset: 3 of 1"
    assert said in notes


@pytest.mark.parametrize(
    ("bend", "words"),
    [(lambda z: np.sinh(3 * z), "No linear recovery is shown"), (lambda z: z**5, "Hardly any")],
)
def test_a_monotone_function_is_called_so_where_it_is_hardly_linear(bend, words):
    z = np.random.default_rng(0).normal(size=(1000, 4))
    found = um.recovery(bend(z), z, **QUICK).verdict
    assert found.startswith(words)
    assert "Each column of the truth is a monotone function of one output (R² of ranks 1.000" in found
