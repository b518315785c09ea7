"""Each measure equals its published formula, scikit-learn's or scipy's, on small data; nothing gives NaN."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist, squareform
from scipy.stats import kstest, pearsonr
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import NearestNeighbors

import unmix as um
from unmix.indeterminacy import LADDER
from unmix.measures import (
    CCA,
    CKA,
    ICA,
    MCC,
    PWCCA,
    R2,
    RSA,
    SVCCA,
    DistanceCorrelation,
    KernelCKA,
    LinearMeasure,
    Neighbours,
    Procrustes,
    Refusal,
    UpTo,
)
from unmix.measures.cca import directions
from unmix.measures.dependence import dependence
from unmix.measures.evaluate import evaluate
from unmix.measures.paired import pair
from unmix.measures.sample import Pairings, Sample
from unmix.moments import Moments

RNG = np.random.default_rng(0)
X = RNG.laplace(size=(400, 5)) @ RNG.normal(size=(5, 5)) + 3
Y = X[:, :3] @ RNG.normal(size=(3, 4)) + RNG.normal(size=(400, 4))
CENTRED_X, CENTRED_Y = X - X.mean(0), Y - Y.mean(0)
ALL = Moments.of(X, Y)
TRAIN, TEST = Moments.of(X[:250], Y[:250]), Moments.of(X[250:], Y[250:])
QUICK = {"bootstraps": 40, "permutations": 99}
LINEAR = [R2(), R2(reverse=True), R2(offset=False), R2(ridge=3.0), CCA(), CCA(squared=True), SVCCA(components=2),
          SVCCA(variance=0.9), PWCCA(), PWCCA(reverse=True), Procrustes(), Procrustes(scaled=False), CKA(),
          CKA(debiased=False), MCC()]  # fmt: skip
OF_ROWS = [Neighbours(5), RSA(), DistanceCorrelation(), KernelCKA(), ICA()]


def sample(x=X, y=Y, chunks=16, groups=None, folds=4):
    member = np.arange(len(x)) if groups is None else groups
    return Sample(x, y, member % chunks, member, folds, seed=0)


@pytest.mark.parametrize("ridge", [0.0, 5.0])
@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
def test_r2_is_scikit_learns_on_held_out_rows(ridge, offset, reverse):
    a, b = (Y, X) if reverse else (X, Y)
    model = Ridge(alpha=ridge, fit_intercept=offset) if ridge else LinearRegression(fit_intercept=offset)
    guess = model.fit(a[:250], b[:250]).predict(a[250:])
    shift = b[250:] - b[:250].mean(0)  # as scikit-learn's, but about the mean of the train part
    expected = 1 - ((b[250:] - guess) ** 2).sum(0) / (shift**2).sum(0)
    np.testing.assert_allclose(R2(reverse, offset, ridge).profile(TRAIN, TEST), expected, rtol=1e-9)


def test_canonical_correlations_are_cosines_of_principal_angles():
    np.testing.assert_allclose(directions(ALL).rho, np.cos(subspace_angles(CENTRED_X, CENTRED_Y))[::-1], atol=1e-9)
    np.testing.assert_allclose(CCA().profile(ALL, ALL), directions(ALL).rho, atol=1e-9)
    np.testing.assert_allclose(CCA(squared=True).score(ALL, ALL), np.mean(directions(ALL).rho ** 2))


def test_held_out_cca_correlates_the_trained_variates_on_the_test_rows():
    found = directions(TRAIN)
    a, b = X[250:] @ found.x, Y[250:] @ found.y
    expected = [pearsonr(a[:, i], b[:, i]).statistic for i in range(4)]
    np.testing.assert_allclose(CCA().profile(TRAIN, TEST), expected, atol=1e-10)


@pytest.mark.parametrize("measure", [SVCCA(components=2), SVCCA(variance=0.8)])
def test_svcca_is_cca_of_the_leading_components(measure):
    def leading(table):
        u, s, _ = np.linalg.svd(table, full_matrices=False)
        kept = 2 if measure.components else int(np.searchsorted(np.cumsum(s**2) / np.sum(s**2), 0.8)) + 1
        return u[:, :kept]

    expected = np.linalg.svd(leading(CENTRED_X).T @ leading(CENTRED_Y), compute_uv=False)
    np.testing.assert_allclose(measure.profile(ALL, ALL), expected, atol=1e-9)


def test_svcca_of_the_whole_variance_is_cca_and_centring_comes_first():
    assert SVCCA(variance=1.0).score(ALL, ALL) == pytest.approx(CCA().score(ALL, ALL))
    far = Moments.of(X + 1000, Y + 1000)  # uncentred, one component would hold 99 % of the variance
    assert SVCCA(variance=0.99).score(far, far) == pytest.approx(SVCCA(variance=0.99).score(ALL, ALL))


def test_pwcca_is_the_published_weighting():
    qx, qy = np.linalg.qr(CENTRED_X)[0], np.linalg.qr(CENTRED_Y)[0]
    u, rho, _ = np.linalg.svd(qx.T @ qy, full_matrices=False)
    weights = np.abs((qx @ u).T @ CENTRED_X).sum(1)
    assert PWCCA().score(ALL, ALL) == pytest.approx(weights @ rho / weights.sum())
    swapped = Moments.of(Y, X)  # the side that is weighted may be the wider one
    assert PWCCA(reverse=True).score(swapped, swapped) == pytest.approx(PWCCA().score(ALL, ALL))


def test_procrustes_is_scipys_disparity():
    disparity = procrustes(CENTRED_Y, CENTRED_X[:, :4])[2]
    m = Moments.of(X[:, :4], Y)
    assert Procrustes().score(m, m) == pytest.approx(1 - disparity)
    padded = np.column_stack([Y, np.zeros(400)])
    assert Procrustes().score(ALL, ALL) == pytest.approx(1 - procrustes(padded, X)[2])  # narrower side padded


def naive_hsic(k, m):
    n = len(k)
    k, m = k.copy(), m.copy()
    np.fill_diagonal(k, 0)
    np.fill_diagonal(m, 0)
    one = np.ones(n)
    total = np.trace(k @ m) + (one @ k @ one) * (one @ m @ one) / ((n - 1) * (n - 2)) - 2 / (n - 2) * one @ k @ m @ one
    return total / (n * (n - 3))


def test_cka_is_the_kernel_formula_biased_and_debiased():
    kx, ky = X @ X.T, Y @ Y.T
    expected = naive_hsic(kx, ky) / np.sqrt(naive_hsic(kx, kx) * naive_hsic(ky, ky))
    assert CKA().score(ALL, ALL) == pytest.approx(expected, rel=1e-9)
    h = np.eye(400) - 1 / 400
    gram = [h @ k @ h for k in (kx, ky)]
    biased = np.sum(gram[0] * gram[1]) / np.linalg.norm(gram[0]) / np.linalg.norm(gram[1])
    assert CKA(debiased=False).score(ALL, ALL) == pytest.approx(biased, rel=1e-9)


def test_distance_measures_are_the_formulas_on_all_pairs(monkeypatch):
    monkeypatch.setattr("unmix.measures.pairwise.TILE", 64)  # several tiles, the last one short
    dx, dy = pdist(X), pdist(Y)
    assert RSA().score(sample()) == pytest.approx(pearsonr(dx, dy).statistic, rel=1e-9)
    a, b = squareform(dx), squareform(dy)
    expected = naive_hsic(a, b) / np.sqrt(naive_hsic(a, a) * naive_hsic(b, b))
    assert DistanceCorrelation().score(sample()) == pytest.approx(expected, rel=1e-8)
    ka, kb = (np.exp(-(d**2) / (2 * 0.25 * np.median(d[np.triu_indices(400, 1)] ** 2))) for d in (a, b))
    expected = naive_hsic(ka, kb) / np.sqrt(naive_hsic(ka, ka) * naive_hsic(kb, kb))
    assert KernelCKA(0.5).score(sample()) == pytest.approx(expected, rel=1e-8)


def test_bias_corrected_distance_correlation_is_the_u_centred_one():
    def u_centred(d):
        n = len(d)
        c = d - d.sum(0) / (n - 2) - d.sum(1)[:, None] / (n - 2) + d.sum() / ((n - 1) * (n - 2))
        np.fill_diagonal(c, 0)
        return c

    a, b = u_centred(squareform(pdist(X[:80]))), u_centred(squareform(pdist(Y[:80])))
    expected = np.sum(a * b) / np.sqrt(np.sum(a * a) * np.sum(b * b))
    assert DistanceCorrelation().score(sample(X[:80], Y[:80])) == pytest.approx(expected, rel=1e-8)


def test_neighbour_overlap_is_scikit_learns(monkeypatch):
    monkeypatch.setattr("unmix.measures.neighbours.TILE", 64)
    near = [NearestNeighbors(n_neighbors=8).fit(t).kneighbors(return_distance=False) for t in (X, Y)]
    expected = np.mean([len(set(a) & set(b)) / 8 for a, b in zip(*near, strict=True)])
    assert Neighbours(8).score(sample()) == pytest.approx(expected)


@pytest.mark.parametrize("measure", OF_ROWS[:4], ids=lambda m: m.name)
def test_a_jackknife_leaves_out_exactly_a_chunk(measure):
    if isinstance(measure, KernelCKA):
        pytest.skip("its bandwidth is that of all rows")
    s = sample(chunks=8, folds=4)
    left_out = measure.assess(s, 99).left_out
    for g in (0, 7):
        assert left_out[g] == pytest.approx(measure.score(s.rows(np.flatnonzero(s.chunk != g))), rel=1e-9)


def test_neighbours_in_a_chunk_that_is_left_out_are_replaced_even_when_they_are_many():
    blobs = np.repeat(RNG.normal(size=(8, 3)) * 100, 50, axis=0) + RNG.normal(size=(400, 3))
    s = sample(blobs, blobs + 0.1 * RNG.normal(size=(400, 3)), groups=np.repeat(np.arange(8), 50), chunks=8)
    left_out = Neighbours(20).assess(s, 99).left_out
    expected = Neighbours(20).score(s.rows(np.flatnonzero(s.chunk != 3)))
    assert left_out[3] == pytest.approx(expected)


@pytest.mark.parametrize("measure", OF_ROWS[:4], ids=lambda m: m.name)
def test_a_null_of_rows_is_the_score_of_permuted_rows(measure):
    s = sample()
    found = measure.assess(s, 3)
    for order, value in zip(s.orders(3), found.null, strict=True):
        anew = Sample(s.x, s.y[order], s.chunk, s.group, s.folds, s.seed)
        assert value == pytest.approx(measure.score(anew), rel=1e-6, abs=1e-9)
    assert found.null_score == pytest.approx(found.score)


def test_pairings_are_the_moments_of_permuted_rows():
    s = sample()
    pairings = Pairings(s)
    for order in s.orders(3):
        for f, (train, test) in enumerate(pairings.folds(order).splits()):
            for part, rows in ((train, s.fold != f), (test, s.fold == f)):
                expected = Moments.of(s.x[rows], s.y[order][rows])
                np.testing.assert_allclose(part.xy, expected.xy, atol=1e-8)
                np.testing.assert_allclose(part.yy, expected.yy, atol=1e-8)
                np.testing.assert_allclose(part.norms, expected.norms)


def test_permutations_move_groups_whole_and_cut_unlike_sizes():
    sizes = RNG.integers(3, 30, 120)
    group = np.repeat(np.arange(120), sizes)
    rows = np.arange(len(group), dtype=float)[:, None]
    s = Sample(rows, rows, group % 64, group, 4, seed=0).exchangeable()
    assert len(s.x) > 0.8 * len(group)
    for order in s.orders(5):
        moved = {g: set(s.group[order][s.group == g]) for g in np.unique(s.group)}
        assert all(len(sources) == 1 for sources in moved.values())
        assert len(set.union(*moved.values())) == len(moved)


def test_groups_make_the_null_as_wide_as_it_must_be():
    # Rows repeat their group's value: 50 independent things, not 500. Ignoring that finds relations everywhere.
    rng = np.random.default_rng(1)
    honest, blind = [], []
    for _ in range(15):
        x, y = (np.repeat(rng.normal(size=(50, 2)), 10, axis=0) + 0.1 * rng.normal(size=(500, 2)) for _ in range(2))
        group = np.repeat(np.arange(50), 10)
        for groups, found in ((group, honest), (None, blind)):
            found.append(evaluate(pair(x, y, groups=groups), [CKA()], **QUICK)[0].p_value)
    assert kstest(honest, "uniform").pvalue > 0.01
    assert np.median(blind) <= 0.02


@pytest.mark.parametrize("measure", [*LINEAR, *OF_ROWS], ids=lambda m: m.name)
def test_at_chance_a_calibrated_score_is_zero_on_average(measure):
    rng = np.random.default_rng(0)
    times = 6 if isinstance(measure, ICA) else 12
    scores = [evaluate(pair(*rng.normal(size=(2, 150, 3))), [measure], **QUICK)[0] for _ in range(times)]
    calibrated = np.array([s.calibrated for s in scores])
    assert abs(calibrated.mean()) < 4 * calibrated.std() / np.sqrt(times) + 1e-3
    assert np.median([s.p_value for s in scores]) > 0.1


@pytest.mark.parametrize("measure", [R2(), CCA(), CKA(), MCC(), RSA(), Neighbours(5)], ids=lambda m: m.name)
def test_intervals_cover_the_score_of_the_population(measure):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 3))

    def draw(n):
        z = rng.normal(size=(n, 3))
        return z @ a + rng.normal(size=(n, 3)), z @ b + rng.normal(size=(n, 3))

    rows = 300
    if isinstance(measure, Neighbours):  # its population value depends on the number of rows
        truth = np.mean([measure.score(sample(*draw(rows))) for _ in range(40)])
    else:
        truth = evaluate(pair(*draw(40_000)), [measure], **QUICK)[0].value
    covered = 0
    for _ in range(25):
        s = evaluate(pair(*draw(rows)), [measure], **QUICK)[0]
        covered += s.low <= truth <= s.high
    assert covered >= 20


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (X, Y[:, :1]),
        (np.column_stack([X, X @ RNG.normal(size=(5, 3))]), Y),
        (np.column_stack([X, np.ones(400), np.zeros(400)]), np.column_stack([np.full(400, 7.0), Y])),
        (np.column_stack([X, np.arange(400) == 17]), np.column_stack([Y, np.arange(400) == 200])),
        (np.column_stack([X, X[:, 0]]), X),
        (X * 1e-30, Y * 1e30),
    ],
    ids=["widths", "rank", "constant", "rare", "copies", "units"],
)
def test_awkward_tables_never_give_nan(x, y):
    found = evaluate(pair(x, y), [*LINEAR, *OF_ROWS[:4], *(UpTo(c) for c in LADDER if c.applies(9, 4))], **QUICK)
    for s in found:
        assert not isinstance(s, Refusal)
        values = [s.value, s.low, s.high, s.null, s.p_value, s.calibrated, *s.profile]
        assert np.isfinite(values).all(), s.measure.name
        assert s.low <= s.value <= s.high


def test_wide_tables_are_resampled_in_one_fold_which_widens_the_interval(monkeypatch):
    paired = pair(X, Y)
    (narrow,) = evaluate(paired, [MCC()], **QUICK)  # whose interval is a bootstrap's
    monkeypatch.setattr("unmix.measures.resample.WIDE", 2)
    (wide,) = evaluate(paired, [MCC()], **QUICK)
    assert wide.value == narrow.value
    assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)
    assert wide.above_chance


def test_a_rank_deficient_copy_scores_one():
    wide = np.column_stack([X, X @ RNG.normal(size=(5, 3))])
    by_name = {s.measure: s.value for s in evaluate(pair(wide, X), [R2(), R2(reverse=True), CCA()], **QUICK)}
    assert all(value == pytest.approx(1, abs=1e-9) for value in by_name.values())


def test_as_many_columns_as_rows_are_refused_where_something_is_fitted_and_scored_where_not():
    x, y = RNG.normal(size=(2, 60, 80))
    measures = [R2(), CCA(), SVCCA(components=4), PWCCA(), ICA(), R2(ridge=1.0), CKA(), RSA(), Neighbours(5)]
    found = evaluate(pair(x, y), measures, **QUICK)
    assert [isinstance(s, Refusal) for s in found] == [True] * 5 + [False] * 4
    assert "cannot tell 80 columns from noise" in str(found[0])


def test_ica_finds_what_a_rotation_hides_from_mcc():
    rng = np.random.default_rng(0)
    sources = rng.laplace(size=(3000, 4))
    x, y = sources @ rng.normal(size=(4, 4)), sources[:, ::-1] @ rng.normal(size=(4, 4)) + 5
    mcc, ica = evaluate(pair(x, y), [MCC(), ICA()], **QUICK)
    assert ica.value > 0.98
    assert mcc.value < 0.9
    assert ica.above_chance


@pytest.mark.parametrize("reverse", [True, False])
def test_mirrored_measures_score_the_other_way_round(reverse):
    for measure in (R2(reverse), PWCCA(reverse), CCA(), CKA(), MCC()):
        a, b = Moments.of(X[:250], Y[:250]), Moments.of(X[250:], Y[250:])
        swapped = measure.mirrored.score(a.swapped(), b.swapped())
        assert swapped == pytest.approx(measure.score(a, b))


def test_folds_average_and_nothing_is_fitted_on_the_test_rows():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(120, 30)), rng.normal(size=(120, 2))
    paired = pair(x, y)
    (found,) = evaluate(paired, [R2()], **QUICK)
    fold = paired.chunk % 5
    missed = spread = 0.0
    for f in range(5):
        train, test = fold != f, fold == f
        missed += ((y[test] - LinearRegression().fit(x[train], y[train]).predict(x[test])) ** 2).sum(0)
        spread += ((y[test] - y[train].mean(0)) ** 2).sum(0)
    assert found.value == pytest.approx((1 - missed / spread).mean())
    assert found.value < 0 < LinearRegression().fit(x, y).score(x, y)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: R2(ridge=-1.0), "ridge must be"),
        (lambda: SVCCA(), "either components or variance"),
        (lambda: SVCCA(components=3, variance=0.5), "either components or variance"),
        (lambda: SVCCA(variance=1.5), "variance must be"),
        (lambda: SVCCA(components=0), "components must be"),
        (lambda: Neighbours(0), "k must be"),
        (lambda: KernelCKA(0.0), "bandwidth must be"),
        (lambda: evaluate(pair(X, Y), [R2()], bootstraps=10), "take 40 or more"),
        (lambda: evaluate(pair(X, Y), [R2()], permutations=10), "take 99 or more"),
        (lambda: evaluate(pair(X, Y), [R2]), "like um.measures.CCA"),
        (lambda: pair(X, Y, folds=1), "folds must be"),
        (lambda: pair(X, Y, sample=10), "too small for a null"),
        (lambda: pair(X, Y, groups=np.zeros(400)), "all rows are in one group"),
        (lambda: pair(X, Y, groups=np.arange(400)), "leave groups out"),
        (lambda: pair(X, Y, groups=np.zeros(3)), "one label a row"),
        (lambda: pair(np.ones((20, 60_000)), np.ones((20, 60_000))), "need .* GB and this machine has"),
    ],
)
def test_bad_options_are_refused(make, words):
    with pytest.raises(um.InputError, match=words):
        make()


def test_every_measure_says_what_it_assumes_and_where_it_comes_from():
    for measure in [*LINEAR, *OF_ROWS]:
        assert measure.assumes
        assert measure.reference
        assert isinstance(measure, LinearMeasure) == (measure in LINEAR)
    assert len({m.name for m in [*LINEAR, *OF_ROWS]}) == len(LINEAR) + len(OF_ROWS)


def p_values(measure, draw, times=20, **options):
    return [evaluate(pair(*draw(), **options), [measure], **QUICK)[0].p_value for _ in range(times)]


def test_ties_do_not_make_unrelated_tables_neighbours():
    rng = np.random.default_rng(0)
    p = p_values(Neighbours(5), lambda: rng.integers(0, 2, (2, 120, 3)).astype(float))
    assert kstest(p, "uniform").pvalue > 0.01


@pytest.mark.parametrize("sizes", [[300] * 15, [40] * 10, [1] * 3 + [50] * 30, [2**i for i in range(4, 12)] * 2])
@pytest.mark.parametrize("measure", [R2(), CKA(), Procrustes(), MCC(), RSA(), Neighbours(5)], ids=lambda m: m.name)
def test_groups_of_any_size_and_number_leave_a_null_that_can_tell(measure, sizes):
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.normal(size=(len(group), 3))
    (found,) = evaluate(pair(x, x + 0.1 * rng.normal(size=x.shape), groups=group, sample=1000), [measure], **QUICK)
    assert found.above_chance
    assert found.null < 0.2
    assert found.null_rows >= min(400, len(group) // 2)
    assert np.isfinite([found.low, found.high]).all()


def test_groups_of_wildly_unlike_sizes_never_give_nan():
    sizes = [200] * 5 + [1] * 5
    group = np.repeat(np.arange(10), sizes)
    x = RNG.normal(size=(len(group), 2))
    paired = pair(x, x, groups=group)
    for s in evaluate(paired, [R2(), CKA(), RSA()], **QUICK):
        assert isinstance(s, Refusal) or np.isfinite([s.value, s.low, s.high, s.null]).all()


def test_p_values_of_unequal_groups_are_uniform():
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 30, 40)
    group = np.repeat(np.arange(40), sizes)

    def draw():
        return (
            np.repeat(rng.normal(size=(40, 2)), sizes, axis=0) + 0.3 * rng.normal(size=(len(group), 2)) for _ in "xy"
        )

    assert kstest(p_values(CKA(), draw, groups=group), "uniform").pvalue > 0.01


def test_an_outlier_in_one_fold_does_not_spoil_the_others():
    x = RNG.normal(size=(500, 3))
    y = x + RNG.normal(size=(500, 3))
    far = x.copy()
    far[7] = 1e12
    paired, plain = pair(far, y), pair(x, y)
    fold = int(paired.chunk[7] % 5)
    train, expected = (p.folds.splits()[fold][0] for p in (paired, plain))
    np.testing.assert_allclose(train.xx, expected.xx, rtol=1e-6)
    np.testing.assert_allclose(train.xy, expected.xy, rtol=1e-6)


def test_debiased_cka_is_refused_where_one_row_outweighs_all_others():
    x = RNG.normal(size=(100, 3))
    x[3] *= 1e7
    debiased, biased = evaluate(pair(x, RNG.normal(size=(100, 3))), [CKA(), CKA(debiased=False)], **QUICK)
    assert isinstance(debiased, Refusal)
    assert "outweighs" in debiased.reason
    assert not isinstance(biased, Refusal)


def test_single_precision_rounding_is_not_a_direction():
    # Probabilities sum to 1, so they have one dimension less than columns; in float32 the rest is rounding.
    logits = RNG.normal(size=(2000, 6))
    p = (np.exp(logits) / np.exp(logits).sum(1, keepdims=True)).astype(np.float32)
    q = (p @ RNG.normal(size=(6, 6)).astype(np.float32)).astype(np.float32)
    (found,) = evaluate(pair(p, q), [CCA()], **QUICK)
    assert len(found.profile) == 5
    assert found.value > 0.99999


def test_the_score_is_the_mean_of_its_parts_and_rare_targets_count():
    sparse = RNG.random(size=(400, 12)) < 0.005
    for x, y in ((X, np.column_stack([X, sparse])), (X, Y), (np.column_stack([X, sparse]), Y)):
        for s in evaluate(pair(x, y), [R2(), R2(reverse=True), CCA(), MCC(), UpTo(LADDER[5])], **QUICK):
            assert s.value == pytest.approx(s.profile.mean(), abs=1e-12)
    (found,) = evaluate(pair(X, np.column_stack([X, sparse])), [R2()], **QUICK)
    assert found.value < 0.9  # X is recovered, what fires rarely is not: it is not left out


def test_a_rare_target_that_is_a_column_of_x_is_found():
    rare = np.isin(np.arange(400), (17, 200, 333)).astype(float)[:, None]
    (found,) = evaluate(pair(np.column_stack([rare, X]), rare), [R2()], **QUICK)
    assert found.value == pytest.approx(1)


def test_leaving_out_a_group_that_is_a_whole_test_fold_does_not_ruin_the_interval():
    group = np.repeat(np.arange(11), 2 ** np.arange(11))
    x = RNG.normal(size=(len(group), 2))
    (found,) = evaluate(pair(x, x @ RNG.normal(size=(2, 2)), groups=group), [R2()], **QUICK)
    assert isinstance(found, Refusal) or found.low > 0.999


def test_blas_threads_are_what_they_were_after_callers_in_two_threads():
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_info, threadpool_limits

    with threadpool_limits(2, user_api="blas"):
        before = [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda i: pair(X[i:], Y[i:]), range(6)))
        assert [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"] == before


def test_dependence_is_that_of_regressing_each_factor_on_the_others():
    z = RNG.normal(size=(2000, 8))
    z[:, 2], z[:, 5] = z[:, 0] + 0.3 * z[:, 1], 1e-6 * (z[:, 5] + z[:, 4])
    classes = np.eye(3)[(z[:, 3] > 0).astype(int) + (RNG.random(2000) > 0.7)]
    table = np.hstack([z, classes])
    table -= table.mean(0)
    owner = np.array([*range(8), 8, 8, 8])
    found = dependence(table.T @ table, 2000, owner)
    for i, r2 in enumerate(found):
        own, others = table[:, owner == i], table[:, owner != i]
        left = own - others @ np.linalg.lstsq(others, own, rcond=1e-9)[0]
        rank = np.linalg.matrix_rank(others / others.std(0), tol=1e-6)
        share = (left**2).sum() / (own**2).sum() * 1999 / (1999 - rank)
        assert r2 == pytest.approx(max(0, 1 - share), abs=1e-6)
