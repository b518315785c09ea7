"""Each measure is invariant to exactly the changes that it declares: those leave it, and the others move it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmix.indeterminacy import LADDER, GeneralisedPermutation, ScaledPermutation
from unmix.measures import (
    CCA,
    CKA,
    ICA,
    MCC,
    PWCCA,
    R2,
    RSA,
    SVCCA,
    Change,
    DistanceCorrelation,
    KernelCKA,
    LinearMeasure,
    Neighbours,
    Procrustes,
    UpTo,
)
from unmix.measures.sample import Sample
from unmix.moments import Moments

WIDTH, ROWS = 4, 240
CONTESTED = GeneralisedPermutation.name  # has a test of its own
RNG = np.random.default_rng(0)
X = RNG.laplace(size=(ROWS, WIDTH)) @ RNG.normal(size=(WIDTH, WIDTH)) + 1
Y = X @ RNG.normal(size=(WIDTH, WIDTH)) + RNG.laplace(size=(ROWS, WIDTH)) * [1, 2, 3, 4] - 1

MEASURES = [
    R2(), R2(reverse=True), R2(offset=False), R2(ridge=30.0), R2(offset=False, ridge=30.0), CCA(), CCA(squared=True),
    SVCCA(components=2), SVCCA(variance=0.7), PWCCA(), PWCCA(reverse=True), Procrustes(), Procrustes(scaled=False),
    CKA(), CKA(debiased=False), MCC(), Neighbours(10), RSA(), DistanceCorrelation(), KernelCKA(),
    *(UpTo(c) for c in (*LADDER, ScaledPermutation(), ScaledPermutation(offset=True))),
]  # fmt: skip


def score(measure, x, y):
    if isinstance(measure, LinearMeasure):
        train = np.arange(ROWS) % 3 > 0
        return measure.score(Moments.of(x[train], y[train]), Moments.of(x[~train], y[~train]))
    number = np.arange(ROWS)
    return measure.score(Sample(x, y, number % 8, number, 4, seed=0))


def changed(table, change, rng):
    """A table after a change of one family that is in none of the smaller families."""
    turn = np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0]
    scales = rng.permutation([0.2, 0.7, 2.0, 5.0])
    signs = rng.choice([-1.0, 1.0], WIDTH)
    signs[0] = -1
    match change:
        case Change.OFFSET:
            return table + rng.uniform(2, 4, WIDTH) * rng.choice([-1, 1], WIDTH)
        case Change.SCALE:
            return table * rng.choice([0.3, 4.0])
        case Change.COLUMN_SCALES:
            return table * scales
        case Change.PERMUTATION:
            return table[:, np.roll(np.arange(WIDTH), rng.integers(1, WIDTH))] * signs
        case Change.ROTATION:
            return table @ turn
        case Change.INVERTIBLE:
            return table @ turn @ np.diag(scales) @ np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0]


@pytest.mark.parametrize("side", ["x", "y"])
@pytest.mark.parametrize("change", list(Change), ids=lambda c: c.name)
@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: f"{type(m).__name__} {m.name}")
@settings(max_examples=4)
@given(seed=st.integers(0, 10_000))
def test_a_measure_is_invariant_to_exactly_what_it_declares(measure, change, side, seed):
    rng = np.random.default_rng(seed)
    before = score(measure, X, Y)
    after = score(measure, changed(X, change, rng), Y) if side == "x" else score(measure, X, changed(Y, change, rng))
    if change in (measure.invariant_x if side == "x" else measure.invariant_y):
        assert after == pytest.approx(before, abs=1e-8)
    elif not (isinstance(measure, UpTo) and measure.up_to.name == CONTESTED and change is Change.COLUMN_SCALES):
        assert abs(after - before) > 1e-5


@pytest.mark.parametrize("offset", [False, True])
def test_scales_of_targets_that_contend_for_an_output_decide_who_gets_it(offset):
    # Two targets want the one good output; least squares gives it to the larger one, and the mean of R² shows it.
    wanted = X[:, 0] - X[:, 0].mean()
    x = np.column_stack([wanted, RNG.normal(size=ROWS)])
    y = np.column_stack([wanted, wanted + 2 * wanted.std() * RNG.normal(size=ROWS)])
    measure = UpTo(GeneralisedPermutation(offset))
    assert Change.COLUMN_SCALES not in measure.invariant_y
    assert abs(score(measure, x, y * [100, 1]) - score(measure, x, y * [0.01, 1])) > 0.1


@pytest.mark.parametrize("change", list(Change), ids=lambda c: c.name)
def test_ica_undoes_every_affine_map(change):
    # FastICA finds a local optimum, so the invariance is that of a good one: to the noise of the estimate.
    assert change in ICA().invariant_x
    assert change in ICA().invariant_y
    rng = np.random.default_rng(0)
    sources = rng.laplace(size=(4000, WIDTH))
    number = np.arange(4000)
    x, y = sources @ rng.normal(size=(WIDTH, WIDTH)), sources @ rng.normal(size=(WIDTH, WIDTH))
    scores = [ICA().score(Sample(a, y, number % 8, number, 4, seed=0)) for a in (x, changed(x, change, rng))]
    assert scores[1] == pytest.approx(scores[0], abs=0.01)
