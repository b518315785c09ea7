"""The class that a verdict names: complete in every direction of the truth, and little lost in any."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

import unmix as um
from unmix.indeterminacy import (
    GeneralisedPermutation,
    Identity,
    Linear,
    Orthogonal,
    ScaledOrthogonal,
    ScaledPermutation,
    SignedPermutation,
)
from unmix.measures.direction import Directions, in_words
from unmix.measures.ladder import Extent, Losses, climbed
from unmix.measures.monotone import monotone_r2
from unmix.measures.paired import pair
from unmix.measures.regression import R2
from unmix.measures.resample import fold_mean
from unmix.measures.sample import Sample

QUICK = {"bootstraps": 40, "permutations": 99}


def latents(n=3000, d=5, correlation=0.0, seed=0):
    shared = correlation * np.ones((d, d)) + (1 - correlation) * np.eye(d)
    return np.random.default_rng(seed).normal(size=(n, d)) @ np.linalg.cholesky(shared).T


def ladder(x, z, **options):
    paired = pair(x, z)
    return climbed(paired.folds, fold_mean(R2(), paired.folds, paired.folds.splits()), **options)


def rotation(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def mixed_by_45_degrees(z):
    x = z.copy()
    x[:, :2] = z[:, :2] @ rotation(np.pi / 4).T
    return x


def with_the_sum(z):
    return np.column_stack([z[:, :-1], z.sum(1)])


def replaced(z, column):
    x = z.copy()
    x[:, column] = np.random.default_rng(1).normal(size=len(z))
    return x


TIED, FREE, WIDE = latents(correlation=0.9), latents(), latents(d=60)
PLANE = latents(d=2)


@pytest.mark.parametrize(
    ("x", "z", "named"),
    [
        (with_the_sum(TIED), TIED, [Linear()]),  # a permutation loses 0.017 on average, and 0.65 in one direction
        (latents(d=2, correlation=0.9) @ [[1, 0], [0.5, 1]], latents(d=2, correlation=0.9), [Linear()]),
        (mixed_by_45_degrees(WIDE), WIDE, [Orthogonal()]),  # a permutation loses 0.01 on average
        (20 - FREE[:, ::-1], 20 + FREE, [SignedPermutation(offset=True)]),  # one name, not three
        (20 + FREE, 20 + FREE, [Identity()]),
        (1.5 * FREE[:, ::-1], FREE, [ScaledPermutation()]),
        (1.5 * PLANE @ (rotation(0.1) * [1.1, 0.9]).T, PLANE, [GeneralisedPermutation(), ScaledOrthogonal()]),
        (FREE * [1, 2, 3, 4, -5], FREE, [GeneralisedPermutation()]),
    ],
)
def test_the_class_named_loses_little_in_every_direction(x, z, named):
    found = ladder(x, z)
    assert found.extent is Extent.COMPLETE
    assert list(found.minimal) == named
    assert all(loss <= 0.02 for loss in found.named.values())


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_two_noisy_copies_of_each_latent_are_matched_as_one(correlation):
    z = latents(d=4, correlation=correlation)
    rng, root = np.random.default_rng(1), np.linalg.cholesky(np.cov(z.T))
    copies = [z + np.sqrt(0.05) * rng.normal(size=z.shape) @ root.T for _ in range(2)]
    assert ladder(np.hstack(copies), z).minimal == (SignedPermutation(),)
    assert ladder(np.hstack(copies)[:, rng.permutation(8)] * -3, z).minimal == (GeneralisedPermutation(),)


def test_outputs_that_only_resemble_an_output_are_no_copies_of_it():
    mixtures = FREE @ np.random.default_rng(0).normal(size=(5, 60))  # any five of them give all latents
    assert ladder(mixtures, FREE).minimal == (Linear(),)


def test_one_latent_of_many_that_is_missing_is_named_and_no_class_is():
    found = ladder(replaced(WIDE, 7), WIDE)
    assert found.extent is Extent.IN_PART
    assert found.minimal == ()
    assert found.weakest.r2 == pytest.approx(0, abs=0.02)
    assert found.weakest.named([f"latent {k}" for k in range(60)]) == "latent 7"


def test_identity_with_noise_that_hides_a_difference_of_tied_factors_is_in_part():
    z = latents(n=10_000, d=2, correlation=0.9)
    found = ladder(z + 0.1 * np.random.default_rng(1).normal(size=z.shape), z)
    assert found.extent is Extent.IN_PART
    assert found.weakest.r2 == pytest.approx(0.1 / 0.11, abs=0.01)  # of the difference: 1 − 0.9 against 0.01 of noise
    first, second = found.weakest.weights
    assert first == pytest.approx(-second, abs=0.05)


def test_a_truth_that_is_recovered_nowhere_well_has_no_direction():
    found = ladder(np.tanh(2 * FREE), FREE)
    assert (found.extent, found.minimal, found.weakest) == (Extent.THROUGHOUT, (), None)


def test_directions_in_which_the_truth_hardly_varies_are_left_out_and_listed():
    z = np.column_stack([PLANE, PLANE[:, 0] + 0.05 * latents(d=1, seed=3)[:, 0]])
    noisy = z + 0.05 * np.random.default_rng(2).normal(size=z.shape)  # as large as what tells columns 0 and 2 apart
    found = ladder(noisy, z)
    assert found.minimal == (Identity(),)
    (unjudged,) = found.unjudged
    assert in_words(unjudged, ["a", "b", "c"]) in ("0.71 a − 0.71 c", "0.71 c − 0.71 a")


def test_no_class_is_named_of_what_is_not_above_chance():
    assert ladder(FREE, FREE, told=False).minimal == ()


@pytest.mark.parametrize(("angle", "named"), [(7.5, Identity()), (8.5, Orthogonal())])
def test_identity_means_within_a_turn_of_eight_degrees(angle, named):
    z = latents(n=20_000, d=2)
    assert ladder(z @ rotation(np.deg2rad(angle)).T, z).minimal == (named,)


@pytest.mark.parametrize(("scale", "named"), [(1.13, Identity()), (1.2, ScaledPermutation())])
def test_identity_means_within_fourteen_percent_of_scale(scale, named):
    assert ladder(FREE * scale, FREE).minimal == (named,)


def test_the_loss_of_a_class_is_that_of_its_worst_direction():
    z = latents(n=200_000, d=2, correlation=0.9)
    paired = pair(z @ [[1, 0], [0.5, 1]], z)
    losses = Losses(paired.folds)
    fitted = Orthogonal(offset=True).fit(paired.folds.chunks.pooled())
    residual = z - fitted(z @ [[1, 0], [0.5, 1]])
    expected = eigh(np.cov(residual.T), np.cov(z.T), eigvals_only=True)[-1]
    assert losses.of(Orthogonal(offset=True)) == pytest.approx(expected, rel=0.02)
    assert expected > 0.02


def test_cross_fitted_r2_of_the_weakest_direction_is_not_too_low():
    found = []
    for seed in range(6):
        z = latents(n=500, d=60, seed=seed)
        noisy = z + 0.2 * np.random.default_rng(seed + 100).normal(size=z.shape)
        losses = Losses(pair(noisy, z).folds)
        cross_fitted, in_sample = losses.directions.largest(losses.affine)
        found.append((1 - cross_fitted, 1 - in_sample))
    cross_fitted, in_sample = np.mean(found, axis=0)
    truth = 1 - 0.04 / 1.04 * (1 + 60 / 400)  # of maps that were fitted on 400 rows
    assert cross_fitted == pytest.approx(truth, abs=0.008)
    assert in_sample < truth - 0.03


@given(st.integers(0, 10_000), st.integers(1, 4))
@settings(max_examples=15)
def test_the_largest_ratio_does_not_depend_on_the_coordinates_of_the_truth(seed, d):
    rng = np.random.default_rng(seed)
    e, z = rng.normal(size=(2, 4, 50, d))
    turned = np.linalg.qr(rng.normal(size=(d, d)))[0] * rng.uniform(0.5, 2, d)

    def largest(t):
        missed, spread = (np.einsum("fni,fnj->fij", rows @ t, rows @ t) for rows in (e, z))
        return Directions.of(spread, spread.sum(0)).largest(missed)

    np.testing.assert_allclose(largest(np.eye(d)), largest(turned), rtol=1e-6)


def sample(x, z):
    rows = np.arange(len(x))
    return Sample(x, z, rows % 64, rows, folds=5, seed=0)


def test_monotone_functions_of_single_latents_are_found():
    heavy = np.random.default_rng(0).standard_t(2, size=(2000, 3))
    assert monotone_r2(sample(np.tanh(heavy)[:, ::-1] * [1, -1, 2], heavy)) > 0.99  # a linear fit of z has R² far below


def test_means_of_tied_latents_are_not_monotone_in_each():
    z = latents(n=3000, d=5, correlation=0.97)
    outputs = z.mean(1, keepdims=True) + 0.05 * np.random.default_rng(1).normal(size=z.shape)
    each = sample(outputs[:, :1], z[:, :1])
    assert monotone_r2(each) > 0.9  # a latent by itself
    assert monotone_r2(sample(outputs, z)) < 0.5


def test_mixed_latents_are_not_monotone_in_each():
    assert monotone_r2(sample(mixed_by_45_degrees(PLANE), PLANE)) < 0.6


def test_recovery_says_what_is_monotone():
    found = um.recovery(np.tanh(2 * FREE), FREE, **QUICK)
    assert found.minimal == ()
    assert found.monotone > 0.95
    assert "monotone" in found.verdict
    assert um.recovery(FREE, FREE, **QUICK).monotone is None
