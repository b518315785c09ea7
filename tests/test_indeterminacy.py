"""The ladder: each class recovers its own maps exactly, is the least-squares fit, and is ordered by inclusion."""

from itertools import permutations

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from unmix.indeterminacy import (
    AFFINE,
    LADDER,
    GeneralisedPermutation,
    Identity,
    Linear,
    Orthogonal,
    ScaledOrthogonal,
    ScaledPermutation,
    SignedPermutation,
)
from unmix.moments import Moments

CLASSES = (*LADDER, ScaledPermutation(), ScaledPermutation(offset=True))  # those that a theorem can promise


def member(kind, d, rng):
    """A random matrix of the class."""
    signs, scales = rng.choice([-1.0, 1.0], d), rng.uniform(0.5, 2, d) * rng.choice([-1.0, 1.0], d)
    permutation = np.eye(d)[rng.permutation(d)]
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return {
        Identity: np.eye(d),
        SignedPermutation: signs[:, None] * permutation,
        ScaledPermutation: 0.6 * signs[:, None] * permutation,
        GeneralisedPermutation: scales[:, None] * permutation,
        Orthogonal: rotation,
        ScaledOrthogonal: 1.7 * rotation,
        Linear: rng.normal(size=(d, d)) + 2 * np.eye(d),
    }[kind]


@given(st.sampled_from(CLASSES), st.integers(2, 6), st.integers(0, 1000))
def test_a_class_recovers_its_own_maps_exactly_on_rows_it_has_not_seen(up_to, d, seed):
    rng = np.random.default_rng(seed)
    a, b = member(type(up_to), d, rng), rng.normal(size=d) * up_to.offset
    x = rng.normal(size=(400, d)) + 0.5
    fitted = up_to.fit(Moments.of(x[:200], x[:200] @ a.T + b))
    np.testing.assert_allclose(fitted.matrix, a, atol=1e-9)
    np.testing.assert_allclose(fitted.offset, b, atol=1e-9)
    np.testing.assert_allclose(fitted.r2(Moments.of(x[200:], x[200:] @ a.T + b)), 1, atol=1e-12)


OUTSIDERS = {  # a map of each class that is in none of the classes that do not contain it
    Identity: np.eye(3),
    SignedPermutation: np.array([[0, -1, 0], [0, 0, 1], [-1, 0, 0]]),
    ScaledPermutation: np.array([[0, -2, 0], [0, 0, 2], [-2, 0, 0]]),
    GeneralisedPermutation: np.array([[0, -2, 0], [0, 0, 0.5], [3, 0, 0]]),
    Orthogonal: np.array([[2, -2, 1], [1, 2, 2], [2, 1, -2]]) / 3,
    ScaledOrthogonal: np.array([[2, -2, 1], [1, 2, 2], [2, 1, -2]]) * 0.6,
    Linear: np.array([[1.0, 2, 0], [0, 1, 2], [3, 0, 1]]),
}


@pytest.mark.parametrize("asked", CLASSES, ids=str)
@pytest.mark.parametrize("true", CLASSES, ids=str)
def test_a_class_explains_exactly_the_maps_of_the_classes_it_contains(asked, true):
    x = np.random.default_rng(0).normal(size=(500, 3))
    moments = Moments.of(x, x @ OUTSIDERS[type(true)].T + 3.0 * true.offset)
    r2 = asked.fit(moments).r2(moments).mean()
    assert r2 > 1 - 1e-9 if true <= asked else r2 < 0.99


def test_inclusion_is_the_partial_order_of_the_definitions():
    chains = [
        (Identity, SignedPermutation, ScaledPermutation, GeneralisedPermutation, Linear),
        (Identity, SignedPermutation, ScaledPermutation, ScaledOrthogonal, Linear),
        (Identity, SignedPermutation, Orthogonal, ScaledOrthogonal, Linear),
    ]
    expected = {(a, b) for chain in chains for i, a in enumerate(chain) for b in chain[i:]}
    for a in CLASSES:
        for b in CLASSES:
            assert (a <= b) is ((type(a), type(b)) in expected and (b.offset or not a.offset)), (a, b)
            assert (a < b) is (a <= b and a != b)
    assert not GeneralisedPermutation() <= Orthogonal()
    assert not Orthogonal() <= GeneralisedPermutation()


@given(st.integers(0, 200))
def test_a_larger_class_never_fits_worse_in_sample(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 60, 3)) + rng.normal(size=(2, 1, 3))
    y = y * [1, 10, 0.1]
    moments = Moments.of(x, y)
    scores = {c: -((y - c.fit(moments)(x)) ** 2).sum() for c in CLASSES}
    for a in CLASSES:
        for b in CLASSES:
            if a <= b:
                assert scores[a] <= scores[b] + 1e-9, (a, b)


@pytest.mark.parametrize("up_to", [Orthogonal(), Orthogonal(offset=True), ScaledOrthogonal(offset=True)], ids=str)
def test_procrustes_is_the_least_squares_rotation(up_to):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 1
    fitted = up_to.fit(Moments.of(x, y))

    def error(parameters):
        angle, scale, *offset = parameters
        c, s = np.cos(angle), np.sin(angle)
        candidates = (np.array([[c, -s], [s, c]]), np.array([[c, s], [s, -c]]))
        shift = np.array(offset) if up_to.offset else 0
        scale = scale if isinstance(up_to, ScaledOrthogonal) else 1
        return min(((y - scale * x @ a.T - shift) ** 2).sum() for a in candidates)

    starts = [(t, 1.0, 0.0, 0.0) for t in np.linspace(0, 6, 13)]
    best = min(scipy.optimize.minimize(error, s, method="Nelder-Mead", options={"maxiter": 4000}).fun for s in starts)
    assert ((y - fitted(x)) ** 2).sum() == pytest.approx(best, rel=1e-5)


def test_linear_fit_and_r2_are_scikit_learns():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 6)) * np.logspace(-3, 3, 6), rng.normal(size=(300, 2)) + 5
    y += x[:, :2] / x[:, :2].std(0)
    for offset in (False, True):
        fitted = Linear(offset).fit(Moments.of(x[:200], y[:200]))
        reference = LinearRegression(fit_intercept=offset).fit(x[:200], y[:200])
        np.testing.assert_allclose(fitted(x[200:]), reference.predict(x[200:]), rtol=1e-7)
        found = fitted.r2(Moments.of(x[200:], y[200:]))
        expected = r2_score(y[200:], reference.predict(x[200:]), multioutput="raw_values")
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_a_repeated_column_gives_no_nan():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 3))
    x[:, 2] = x[:, 1]
    y = x[:, :2] @ np.array([[1.0, 2], [3, 4]])
    moments = Moments.of(x, y)
    np.testing.assert_allclose(AFFINE.fit(moments).r2(moments), 1)


def test_the_fit_does_not_depend_on_the_units_of_a_column():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 100, 3))
    small = x * np.array([1.0, 1e-9, 1e9])
    a, b = AFFINE.fit(Moments.of(x, y)), AFFINE.fit(Moments.of(small, y))
    np.testing.assert_allclose(a(x), b(small), rtol=1e-6)


def test_the_matching_does_not_depend_on_the_units_of_an_output():
    y = np.random.default_rng(0).normal(size=(500, 2))
    x = np.column_stack([y[:, 0], 1000 * (0.8 * y[:, 0] + 0.5 * y[:, 1])])  # the large output resembles both targets
    matrix = GeneralisedPermutation().fit(Moments.of(x, y)).matrix
    assert matrix[0, 0] == pytest.approx(1)
    assert matrix[1, 1] > 0


def test_different_widths_use_the_best_outputs():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(200, 2))
    h = np.column_stack([rng.normal(size=200), -3 * z[:, 1], rng.normal(size=200), 2 * z[:, 0]])
    moments = Moments.of(h, z)
    matrix = GeneralisedPermutation().fit(moments).matrix
    np.testing.assert_allclose(matrix, [[0, 0, 0, 0.5], [0, -1 / 3, 0, 0]], atol=1e-12)
    assert not Orthogonal().applies(4, 2)
    assert SignedPermutation().applies(4, 2)


@given(st.integers(0, 300), st.sampled_from([(2, 3), (3, 3), (3, 2)]))
def test_one_scale_and_a_matching_are_the_least_squares_ones(seed, widths):
    """Against every matching of outputs with targets: the best scale explains (Σ|xᵀy|)²/Σ‖x‖²."""
    rng = np.random.default_rng(seed)
    k, d = widths
    x, y = rng.normal(size=(40, k)) * rng.uniform(0.3, 3, k), rng.normal(size=(40, d)) * rng.uniform(0.3, 3, d)
    cross, squares, few = np.abs(x.T @ y), (x**2).sum(0), min(k, d)
    best = max(
        cross[list(used), list(target)].sum() ** 2 / squares[list(used)].sum()
        for used in permutations(range(k), few)
        for target in permutations(range(d), few)
    )
    fitted = ScaledPermutation().fit(Moments.of(x, y))
    assert (y**2).sum() - ((y - fitted(x)) ** 2).sum() == pytest.approx(best)
