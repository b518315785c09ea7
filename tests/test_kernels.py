"""The fast log-partition kernels against the naive formula, in value and gradient."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import unmix as um
from unmix import Dot, Lp, LpNorm
from unmix.kernels import compiled, contrastive_sum, onepass, tiled
from unmix.kernels.jit import jit
from unmix.objectives import info_nce

SIMILARITIES = [Dot(), Lp(1), Lp(2), Lp(3), Lp(4), Lp(1.5), Lp(2.7), LpNorm(1), LpNorm(2), LpNorm(3)]
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


def naive(similarity, anchors, positives, temperature=1.0, group=None):
    """InfoNCE written down: a B×B matrix a group, the diagonal replaced by the positive."""
    losses = []
    size = group or len(anchors)
    for a, p in zip(anchors.split(size), positives.split(size), strict=True):
        s = torch.stack([torch.stack([similarity.rows(x[None], y[None])[0] for y in a]) for x in a]) / temperature
        positive = similarity.rows(a, p) / temperature
        for i in range(size):
            others = torch.cat([s[i, :i], s[i, i + 1 :]])
            losses.append(torch.logsumexp(torch.cat([positive[i : i + 1], others]), 0) - positive[i])
    return torch.stack(losses).mean()


def loss_and_gradients(loss, anchors, positives, **options):
    a, p = (t.clone().requires_grad_() for t in (anchors, positives))
    value = loss(anchors=a, positives=p, **options)
    value.backward()
    return value.detach(), a.grad, p.grad


def batch(b, d, scale=1.0, seed=0, dtype=torch.float64):
    g = torch.Generator().manual_seed(seed)
    a = scale * torch.randn(b, d, generator=g, dtype=torch.float64)
    return a.to(dtype), (a + 0.3 * torch.randn(b, d, generator=g, dtype=torch.float64)).to(dtype)


def assert_equal(found, expected, tolerance):
    for f, e in zip(found, expected, strict=True):
        assert (f.double() - e.double()).abs().max() <= tolerance * max(1.0, e.abs().max().item())


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("similarity", SIMILARITIES, ids=repr)
@pytest.mark.parametrize("group", [None, 6])
def test_info_nce_is_the_naive_formula(similarity, dtype, group):
    a, p = batch(24, 5, dtype=dtype)
    wide = [t.double() for t in (a, p)]
    found = loss_and_gradients(lambda anchors, positives: info_nce(similarity, anchors, positives, 0.5, group), a, p)
    expected = loss_and_gradients(lambda anchors, positives: naive(similarity, anchors, positives, 0.5, group), *wide)
    assert_equal(found, expected, TOLERANCE[dtype])


@given(
    similarity=st.sampled_from(SIMILARITIES),
    groups=st.integers(1, 3),
    size=st.integers(2, 9),
    d=st.integers(1, 6),
    scale=st.sampled_from([1e-3, 1.0, 30.0]),
    seed=st.integers(0, 99),
)
def test_both_methods_are_the_naive_formula_for_any_shape_and_scale(similarity, groups, size, d, scale, seed):
    a, p = batch(groups * size, d, scale, seed)
    positive = similarity.rows(a, p)

    def naive_sum(x, n, s):
        total = 0.0
        for g in range(groups):
            rows = slice(g * size, (g + 1) * size)
            matrix = similarity.matrix(x[rows], n[rows])
            matrix = matrix - torch.diag_embed(matrix.diagonal()) + torch.diag_embed(s[rows])
            total = total + (torch.logsumexp(matrix, 1) - s[rows]).sum()
        return total

    leaves = [t.clone().requires_grad_() for t in (a, a, positive)]
    expected = naive_sum(*leaves)
    gradients = torch.autograd.grad(expected, leaves)
    exact = tiled.contrastive_sum(similarity, a, a, positive, size, math.inf, True)
    assert_equal(exact, (expected.detach(), *gradients), 1e-10)
    narrow = [t.float() for t in (a, a, positive)]
    if onepass.serves(similarity, narrow[0]) and scale <= 1:  # at 30 float32 inputs themselves differ by 1e-5
        found = onepass.contrastive_sum(similarity, *narrow, size, math.inf, True)
        assert_equal(found, (expected.detach(), *gradients), 1e-5)


def test_the_polynomial_exponential_and_logarithm_are_exact_to_float32():
    x = np.linspace(-59.9, 0, 5000).astype(np.float32)
    found = np.array([compiled.exp(value) for value in x])
    np.testing.assert_allclose(found, np.exp(x.astype(np.float64)), rtol=3e-7)
    assert compiled.exp(np.float32(-61)) == 0
    x = np.geomspace(1e-30, 1e30, 5000).astype(np.float32)
    found = np.array([compiled.log(value) for value in x])
    np.testing.assert_allclose(found, np.log(x.astype(np.float64)), rtol=2e-7, atol=2e-7)


@pytest.mark.parametrize("similarity", [Dot(), Lp(1), Lp(2), Lp(3)], ids=str)
def test_threads_give_the_same_numbers(similarity, monkeypatch):
    a, p = batch(96, 7, dtype=torch.float32)
    positive = similarity.rows(a, p)
    one = onepass.contrastive_sum(similarity, a, a, positive, 96, math.inf, True)
    monkeypatch.setattr(onepass, "ENTRIES_WORTH_A_THREAD", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 5)
    assert_equal(onepass.contrastive_sum(similarity, a, a, positive, 96, math.inf, True), one, 1e-6)


def test_tiles_do_not_change_the_result(monkeypatch):
    a, p = batch(30, 4)
    whole = tiled.contrastive_sum(Lp(3), a, a, Lp(3).rows(a, p), 10, math.inf, True)
    monkeypatch.setattr(tiled, "TILE_ENTRIES", 1)
    assert_equal(tiled.contrastive_sum(Lp(3), a, a, Lp(3).rows(a, p), 10, math.inf, True), whole, 1e-12)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_an_anchor_is_never_its_own_negative(dtype):
    # With one other row the softmax has two entries: the positive and that row. Were the anchor its own
    # negative (similarity 0, the largest there is), the loss would be at least log 2 larger.
    a = torch.tensor([[0.0], [10.0]], dtype=dtype)
    assert info_nce(Lp(1), a, a + 0.1).item() == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_extreme_similarities_stay_finite(dtype):
    a = torch.linspace(0, 1e4, 8, dtype=dtype)[:, None].expand(8, 3)
    for similarity in (Dot(), Lp(1), Lp(2)):
        value, *gradients = loss_and_gradients(
            lambda anchors, positives, s=similarity: info_nce(s, anchors, positives), a, a + 1
        )
        assert all(bool(t.isfinite().all()) for t in (value, *gradients))


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_nan_is_passed_on_not_hidden(dtype):
    a, p = batch(8, 3, dtype=dtype)
    a[3, 1] = float("nan")
    assert info_nce(Dot(), a, p).isnan()
    assert info_nce(Lp(1), p, a).isnan()
    for similarity in (Dot(), Lp(1), Lp(2.5)):  # also where only a negative is NaN
        assert contrastive_sum(similarity, p, a, Dot().rows(p, p)).isnan()


@pytest.mark.parametrize("kappa", [1e3, 1e5])
def test_a_large_concentration_does_not_cancel_in_float32(kappa):
    sphere = um.Sphere(10)
    a = sphere.uniform(512, torch.Generator().manual_seed(0), torch.float64)
    p = um.VonMisesFisher(kappa).sample(sphere, a, torch.Generator().manual_seed(1))
    exact = info_nce(Dot(), a, p, 1 / kappa).item()
    assert info_nce(Dot(), a.float(), p.float(), 1 / kappa).item() == pytest.approx(exact, abs=1e-5)


def test_the_distance_with_p_1_is_its_power_and_takes_the_fast_way():
    a, p = batch(16, 3, dtype=torch.float32)
    assert torch.equal(info_nce(LpNorm(1), a, p), info_nce(Lp(1), a, p))
    assert onepass.serves(LpNorm(1), a)
    assert not onepass.serves(LpNorm(2), a)


def test_machine_code_is_kept_for_the_next_process(tmp_path):
    script = (
        "import torch, unmix as um; from unmix.kernels import compiled\n"
        "um.objectives.info_nce(um.Dot(), torch.eye(3), torch.eye(3))\n"
        "print(sum(compiled.contrastive_rows.stats.cache_hits.values()))"
    )
    hits = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True,
                       env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}).stdout.strip()
        for _ in range(2)
    ]  # fmt: skip
    assert hits == ["0", "1"]


def test_gradient_scales_with_what_comes_from_above():
    a, p = batch(16, 3, dtype=torch.float32)
    once = loss_and_gradients(lambda anchors, positives: info_nce(Dot(), anchors, positives), a, p)
    thrice = loss_and_gradients(lambda anchors, positives: 3 * info_nce(Dot(), anchors, positives), a, p)
    assert_equal(thrice[1:], [3 * g for g in once[1:]], 1e-6)


def test_without_gradients_only_the_value_is_computed():
    a, p = batch(16, 3, dtype=torch.float32)
    assert not contrastive_sum(Dot(), a, a, Dot().rows(a, p)).requires_grad
    assert info_nce(Dot(), a, p).item() == pytest.approx(naive(Dot(), a, p).item(), rel=1e-5)


def test_a_similarity_of_ones_own_works_through_the_tiles():
    class Cauchy:
        degree = 2.0  # not truly homogeneous, so the temperature stays 1

        def rows(self, a, b):
            return -torch.log1p((a - b).square().sum(-1))

        def matrix(self, a, b):
            return self.rows(a[:, None], b)

    a, p = batch(12, 3)
    found = loss_and_gradients(lambda anchors, positives: info_nce(Cauchy(), anchors, positives), a, p)
    expected = loss_and_gradients(lambda anchors, positives: naive(Cauchy(), anchors, positives), a, p)
    assert_equal(found, expected, 1e-10)


def test_loops_are_compiled_where_machine_code_cannot_be_kept(monkeypatch):
    def read_only(cache=False, **options):
        def decorate(function):
            if cache:
                raise RuntimeError("cannot cache function: no locator available")
            return function

        return decorate

    monkeypatch.setattr("unmix.kernels.jit.njit", read_only)
    assert jit(fastmath=True)(abs)(-1) == 1
