"""Moments: one pass in chunks equals the formula; merging is addition; folds and resamples never mix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unmix as um
from unmix.moments import CHUNKS, ChunkMoments, Folds, Moments, chunks_of_groups, chunks_of_rows, chunks_of_table

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(3000, 5)) + 7, RNG.normal(size=(3000, 3)) * 4 - 100


SECOND = ("n", "mean_x", "mean_y", "xx", "xy", "yy")


def assert_same(a: Moments, b: Moments, rtol=1e-9, names=(*SECOND, "norms")):
    for name in names:
        expected = getattr(b, name)
        np.testing.assert_allclose(getattr(a, name), expected, rtol=rtol, atol=rtol * np.abs(expected).max())


def test_moments_are_the_formula():
    m = Moments.of(X, Y)
    x, y = X - X.mean(0), Y - Y.mean(0)
    np.testing.assert_allclose(m.xy, sum(np.outer(a, b) for a, b in zip(x, y, strict=True)))
    np.testing.assert_allclose(m.correlation, np.corrcoef(X.T, Y.T)[:5, 5:])
    square_x, square_y = (x**2).sum(1), (y**2).sum(1)
    np.testing.assert_allclose(m.norms, [(square_x**2).sum(), (square_x * square_y).sum(), (square_y**2).sum()])


def test_least_squares_about_zero_and_of_some_targets_follow_from_one_factorisation():
    m = Moments.of(X, Y)
    expected = np.linalg.lstsq(X, Y, rcond=None)[0]
    np.testing.assert_allclose(m.about_zero.solution, expected, rtol=1e-8)
    some = np.array([2, 0])
    part, whole = m.targets(some), Moments.of(X, Y[:, some])
    assert_same(part, whole, names=SECOND)
    assert_same(part.about_zero, whole.about_zero, names=SECOND)
    np.testing.assert_allclose(part.solution, whole.solution, rtol=1e-9)
    np.testing.assert_allclose(part.about_zero.solution, expected[:, some], rtol=1e-8)


def test_least_squares_about_zero_of_columns_that_only_their_mean_tells_apart():
    x = np.column_stack([X[:, 0], X[:, 0] + 1])  # singular about the mean, not about zero
    found = Moments.of(x, Y).about_zero.solution
    np.testing.assert_allclose(found, np.linalg.lstsq(x, Y, rcond=None)[0], rtol=1e-6)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.int32, ">f8"])
def test_one_pass_in_chunks_is_the_formula_of_all_rows(kind):
    x, y = (10 * X).astype(kind), Y.astype(kind)
    assert_same(ChunkMoments.of(x, y).pooled(), Moments.of(x.astype(float), y.astype(float)))


def test_a_pass_over_strided_and_many_blocks_is_the_same(monkeypatch):
    monkeypatch.setattr("unmix.moments.chunks.BLOCK_ROWS", 100)
    wide = np.asfortranarray(np.hstack([X, X]))
    assert_same(ChunkMoments.of(wide[:, ::2], Y).pooled(), Moments.of(wide[:, ::2], Y))


def test_rows_far_from_zero_keep_their_variance():
    x = RNG.normal(size=(2000, 2)) + 1e8
    np.testing.assert_allclose(ChunkMoments.of(x, x).pooled().xx, Moments.of(x, x).xx, rtol=1e-6)


@given(st.integers(1, 2998), st.integers(1, 2998))
def test_merging_is_associative_and_equals_one_pass(a, b):
    a, b = sorted((a, b + 1))
    b = max(a + 1, b)
    parts = [ChunkMoments.of(X[s:t], Y[s:t], start=s) for s, t in ((0, a), (a, b), (b, 3000))]
    left, right = parts[0].merged(parts[1]).merged(parts[2]), parts[0].merged(parts[1].merged(parts[2]))
    assert_same(left.pooled(), right.pooled())
    whole = ChunkMoments.of(X, Y)
    np.testing.assert_array_equal(left.rows, whole.rows)
    weights = RNG.integers(0, 3, CHUNKS).astype(float)
    assert_same(left.pooled(weights), whole.pooled(weights))


def test_weights_count_chunks_as_copies_of_their_rows():
    chunk = chunks_of_rows(0, 3000)
    weights = RNG.integers(0, 3, CHUNKS).astype(float)
    copies = np.repeat(np.arange(3000), weights[chunk].astype(int))
    assert_same(ChunkMoments.of(X, Y).pooled(weights), Moments.of(X[copies], Y[copies]))


def test_moments_of_other_columns_do_not_merge():
    with pytest.raises(um.InputError, match="same columns"):
        ChunkMoments.of(X, Y).merged(ChunkMoments.of(Y, X))


def test_chunks_are_exchangeable_even_in_a_sorted_file():
    ordered = np.arange(50_000.0)[:, None]
    moments = ChunkMoments.of(ordered, ordered)
    means = moments.sums[:, 0, 3] / moments.rows + moments.shift_x
    error = ordered.std() / np.sqrt(moments.rows)
    assert np.abs((means - ordered.mean()) / error).max() < 4
    assert moments.rows.min() > 0.8 * 50_000 / CHUNKS


@given(st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=50), st.integers(0, 5))
def test_groups_are_whole_and_dealt_evenly(labels, seed):
    chunk = chunks_of_groups(labels, seed)
    found = {label: {int(c) for c, other in zip(chunk, labels, strict=True) if other == label} for label in labels}
    assert all(len(chunks) == 1 for chunks in found.values())
    assert len(set.union(*found.values())) == len(found)


def test_rows_of_a_small_table_are_dealt_evenly_and_by_seed():
    counts = np.bincount(chunks_of_table(640))
    assert set(counts) == {10}
    assert (chunks_of_table(640) != chunks_of_table(640, seed=1)).any()
    assert (chunks_of_rows(0, 640) != chunks_of_rows(0, 640, seed=1)).any()


def test_folds_leave_out_exactly_their_rows():
    folds = Folds(ChunkMoments.of(X, Y), 4)
    fold = chunks_of_rows(0, 3000) % 4
    for f, (train, test) in enumerate(folds.splits()):
        assert_same(train, Moments.of(X[fold != f], Y[fold != f]))
        assert_same(test, Moments.of(X[fold == f], Y[fold == f]))


def test_a_resample_never_puts_a_row_on_both_sides():
    # Each chunk has its own column, which is 1 on its rows: a chunk that is in a part shows in its mean.
    marks = np.repeat(np.eye(CHUNKS), 3, axis=0)
    folds = Folds(ChunkMoments.of(marks, marks, chunks=np.repeat(np.arange(CHUNKS), 3)), 5)
    seen = []
    for splits in folds.resampled(folds.draws(20, seed=0)):
        for train, test in splits:
            in_train, in_test = train.mean_x * train.n > 0.5, test.mean_x * test.n > 0.5
            assert not (in_train & in_test).any()
            seen.append(test.mean_x * test.n)
    counts = np.round(np.array(seen)).astype(int)
    assert counts.max() > 3  # drawn with replacement
    assert (counts.sum(1) > 0).all()


def test_a_constant_column_stays_exactly_constant():
    x = np.column_stack([X[:, 0], np.full(3000, 0.1)])
    m = ChunkMoments.of(x, Y).pooled()
    assert m.xx[1, 1] == 0
    assert m.correlation[1].tolist() == [0, 0, 0]
    # Constant on the train rows at a value that is not the shift: what is left after centring is rounding.
    rows = np.arange(3000)
    half = np.column_stack([X[:, 0], np.where(rows % 2, 0.1, X[:, 1])])
    train, _ = Folds(ChunkMoments.of(half, Y, chunks=np.where(rows % 2, 1 + rows // 2 % 4, 0)), 5).splits()[0]
    assert train.xx[1, 1] == 0
    assert not train.xy[1].any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_what_is_not_a_number_is_refused_with_its_row(bad):
    x = X.copy()
    x[1234, 2] = bad
    with pytest.raises(um.InputError, match=r"the left has .* in 1 rows, the first of them row 1234"):
        ChunkMoments.of(x, Y, names=("the left", "the right"))
    with pytest.raises(um.InputError, match="the right has"):
        ChunkMoments.of(Y, x, names=("the left", "the right"))


def test_tables_without_rows_or_of_different_length_are_refused():
    with pytest.raises(um.InputError, match="no rows"):
        ChunkMoments.over(iter([]))
    with pytest.raises(um.InputError, match="same rows"):
        ChunkMoments.of(X, Y[:10])
    for outside in (-1, CHUNKS):
        with pytest.raises(um.InputError, match="numbers from 0 to 63"):
            ChunkMoments.of(X, Y, chunks=np.full(3000, outside))


def test_an_iterator_of_blocks_is_a_pass():
    blocks = ((X[a : a + 7], Y[a : a + 7], chunks_of_rows(a, min(a + 7, 3000))) for a in range(0, 3000, 7))
    assert_same(ChunkMoments.over(blocks).pooled(), Moments.of(X, Y))
