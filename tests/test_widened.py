"""Negatives through a wider kernel: the formula, what it is blind to, and where its optimum lies."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import unmix as um
from unmix import Lp, LpNorm
from unmix.kernels import contrastive_sum, onepass, tiled
from unmix.objectives import info_nce
from unmix.objectives.widened import PROBES, kernel, widened_sum, width

DISTANCES = [Lp(1), Lp(2), Lp(3), Lp(1.5), LpNorm(1), LpNorm(2), LpNorm(3)]


def cloud(n, d, scale=1.0, seed=0, dtype=torch.float64):
    return scale * torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("group", [12, 4])
@pytest.mark.parametrize("similarity", [um.Dot(), *DISTANCES], ids=repr)
def test_without_positives_the_kernel_is_the_log_sum_over_the_others(similarity, group, dtype):
    points = cloud(12, 3)
    a, n = (points.clone().requires_grad_() for _ in range(2))
    expected = torch.zeros((), dtype=torch.float64)
    for start in range(0, 12, group):
        for i in range(start, start + group):
            others = [similarity.rows(a[i : i + 1], n[j : j + 1]) for j in range(start, start + group) if j != i]
            expected = expected + torch.logsumexp(torch.cat(others), 0)
    gradients = torch.autograd.grad(expected, (a, n))
    leaves = [points.clone().to(dtype).requires_grad_() for _ in range(2)]
    found = contrastive_sum(similarity, *leaves, None, group)
    tolerance = {torch.float32: 1e-4, torch.float64: 1e-10}[dtype]
    assert found.item() == pytest.approx(expected.item(), abs=tolerance)
    for f, e in zip(torch.autograd.grad(found, leaves), gradients, strict=True):
        assert torch.allclose(f.double(), e, atol=tolerance)


def test_an_anchor_without_positive_is_so_in_both_methods():
    points = cloud(8, 2)
    exact = tiled.contrastive_sum(Lp(2), points, points, None, 8, math.inf, with_gradient=True)
    narrow = onepass.contrastive_sum(Lp(2), points.float(), points.float(), None, 8, math.inf, with_gradient=True)
    for f, e in zip(narrow[:3], exact[:3], strict=True):
        assert torch.allclose(f.double(), e, atol=1e-4)


@given(st.sampled_from(DISTANCES), st.floats(1.0, 1e3), st.integers(2, 40), st.integers(1, 5), st.integers(0, 99))
def test_the_width_undoes_the_scale_once_negatives_are_far(similarity, scale, n, d, seed):
    points = 1e3 * cloud(n, d, seed=seed)
    assert width(similarity, scale * points) == pytest.approx(width(similarity, points) / scale, rel=1e-6)
    assert width(similarity, points * 1e-9) == 1.0


@given(st.integers(1, 12), st.integers(2, 30), st.integers(0, 99))
def test_the_nearest_is_of_the_same_group(groups, size, seed):
    n = groups * size
    points = 1e3 * cloud(n, 2, seed=seed)
    probes = range(0, n, max(1, n // PROBES))
    among = [[j for j in range(i // size * size, (i // size + 1) * size) if j != i] for i in probes]
    nearest = torch.stack(
        [(points[i] - points[others]).abs().sum(1).min() for i, others in zip(probes, among, strict=True)]
    )
    assert width(Lp(1), points, size) == pytest.approx(2 / nearest.mean().item())


@pytest.mark.parametrize("similarity", DISTANCES, ids=repr)
def test_at_its_width_the_nearest_negative_has_the_energy_of_a_positive(similarity):
    """E[−s] = d/h under the density ∝ exp s: here of r = ‖x‖, whose density is ∝ r^{d−1} exp(−r^h)."""
    d, points = 4, cloud(PROBES, 4, 100.0)
    r = torch.linspace(0, 60, 600_001, dtype=torch.float64)
    density = r ** (d - 1) * torch.exp(-(r**similarity.degree))
    energy = (density * r**similarity.degree).sum() / density.sum()
    nearest = (-similarity.matrix(points, points)).fill_diagonal_(torch.inf).min(1).values
    at_width = nearest.mean() * width(similarity, points) ** similarity.degree
    assert at_width.item() == pytest.approx(energy.item(), rel=1e-5)


def naive(similarity, points, group):
    """Each anchor's log-sum at its own width, which is held fixed in the gradient."""
    total, widths = torch.zeros((), dtype=torch.float64), []
    for i in range(len(points)):
        start = i // group * group
        others = torch.stack(
            [similarity.rows(points[i : i + 1], points[j : j + 1])[0] for j in range(start, start + group) if j != i]
        )
        widths.append(min(1.0, points.shape[1] / similarity.degree / max(-others.max().item(), 1e-300)))
        total = total + torch.logsumexp(widths[-1] * others, 0)
    return total, widths


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("group", [12, 4])
@pytest.mark.parametrize("scale", [0.3, 1.0, 30.0])
@pytest.mark.parametrize("similarity", [s for s in DISTANCES if s.p <= 2], ids=repr)
def test_each_anchor_sees_its_negatives_at_its_own_width(similarity, scale, group, dtype):
    points = cloud(12, 3, scale).requires_grad_()
    expected, widths = naive(similarity, points, group)
    (gradient,) = torch.autograd.grad(expected, points)
    leaf = points.detach().to(dtype).requires_grad_()
    found = widened_sum(similarity, leaf, torch.zeros(12, dtype=dtype), group, own_widths=True)
    assert scale < 30 or len(set(widths)) > 6  # a width each
    tolerance = {torch.float32: 1e-4, torch.float64: 1e-10}[dtype]
    assert found.item() == pytest.approx(expected.item(), rel=tolerance, abs=tolerance)
    assert torch.allclose(torch.autograd.grad(found, leaf)[0].double(), gradient, atol=tolerance)


@given(st.integers(2, 40), st.integers(1, 5), st.floats(10.0, 1e6), st.integers(0, 99))
def test_a_far_anchor_pulls_no_harder_for_being_far(n, d, far, seed):
    """Its push on the scale is twice its mean energy, and that is d/2 to d/2 + log n, however far it is."""
    points = 1e3 * cloud(n, d, seed=seed)
    points[0] *= far
    c = torch.ones((), dtype=torch.float64, requires_grad=True)
    (push,) = torch.autograd.grad(widened_sum(Lp(2), c * points, torch.zeros(n), own_widths=True), c)
    assert n * d * (1 - 1e-9) <= -push.item() <= n * (d + 2 * math.log(n)) * (1 + 1e-9)


def test_a_density_is_estimated_by_the_distance_itself_or_by_squares_where_p_is_above_2():
    assert [kernel(s) for s in DISTANCES if s.p <= 2] == [s for s in DISTANCES if s.p <= 2]
    assert (kernel(Lp(3)), kernel(LpNorm(2.5))) == (Lp(2), LpNorm(2))


@pytest.mark.parametrize("similarity", [s for s in DISTANCES if s.p <= 2], ids=repr)
def test_among_near_negatives_it_is_info_nce_but_for_the_positive(similarity):
    a, b = cloud(256, 2, 0.1, seed=1), cloud(256, 2, 0.1, seed=2)
    plain, wide = (info_nce(similarity, a, b, widen=w).item() for w in (False, True))
    assert width(similarity, a) == 1.0
    assert wide < plain < wide + 2 / 255  # one term more among 255


def test_far_negatives_have_no_gradient_in_info_nce_and_one_here():
    a = cloud(64, 3, 50.0).requires_grad_()
    b = a.detach() + 0.1
    slopes = {
        w: torch.autograd.grad(info_nce(Lp(2), a, b, widen=w) - (a - b).square().sum(1).mean(), a)[0]
        for w in (False, True)
    }
    assert slopes[False].norm() == pytest.approx(2 * (0.1 * 3**0.5) / 8, rel=1e-3)  # of the term that was taken off
    assert slopes[True].norm() > 0.005


@given(st.sampled_from([Lp(2), Lp(3), LpNorm(2), LpNorm(4)]), st.integers(0, 99), st.integers(2, 5))
def test_from_p_2_on_negatives_show_no_axes(similarity, seed, d):
    """Nothing in the sum over negatives prefers a rotation, whatever the width: axes are for alignment to show."""
    a = cloud(32, d, 5.0, seed)
    turn = torch.linalg.qr(cloud(d, d, seed=seed + 200)).Q
    straight, turned = (widened_sum(similarity, x, torch.zeros(32)).item() for x in (a, a @ turn))
    assert turned == pytest.approx(straight)


def drawn(law, p, generator, d=3, n=1024):
    """Pairs in a box at the law's own scale, far too narrow for the batch."""
    process = um.PairProcess(um.Box(d), um.Uniform(), law, um.mixings.Identity())
    pairs = process.sample(n, generator)
    return pairs.z / law.spread, pairs.z_view / law.spread


LAWS = [(um.Laplace(0.002), 1), (um.Normal(0.003), 2), (um.GeneralisedNormal(3.0, 0.004), 3)]


@pytest.mark.parametrize(("law", "p"), LAWS, ids=repr)
def test_the_scale_settles_a_little_above_the_laws_own(law, p, generator):
    """InfoNCE is flat there. Negatives other than the nearest are farther than a positive, so they push beyond it."""
    a, b = drawn(law, p, generator)

    def slope(factor):
        c = torch.tensor(factor, requires_grad=True)
        return torch.autograd.grad(info_nce(Lp(p), c * a, c * b, widen=True), c)[0].item()

    assert info_nce(Lp(p), a, b).item() < 0.01
    assert width(Lp(p), a) < 0.5
    assert slope(1.0) < 0 < slope(1.5)


HADAMARD = torch.tensor([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2


@pytest.mark.parametrize(("law", "p"), LAWS, ids=repr)
def test_a_rotation_costs_unless_p_is_2(law, p, generator):
    """Theorem 6 in the small: the conditional shows its axes to its own Lp, and a normal law has none."""
    cost = 0.0
    for _ in range(8):
        a, b = drawn(law, p, generator, d=4)
        cost += (
            info_nce(Lp(p), a @ HADAMARD, b @ HADAMARD, widen=True).item() - info_nce(Lp(p), a, b, widen=True).item()
        )
    assert cost / 8 == pytest.approx(0, abs=1e-4) if p == 2 else cost / 8 > 0.03


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_a_positive_at_infinity_is_no_missing_positive(dtype):
    a = cloud(8, 2, dtype=dtype)
    assert not info_nce(Lp(2), a, torch.full_like(a, torch.inf)).isfinite()


def test_what_cannot_be_widened_is_refused():
    with pytest.raises(um.InputError, match="widen an Lp similarity"):
        info_nce(um.Dot(), cloud(4, 2), cloud(4, 2), widen=True)
    with pytest.raises(um.InputError, match="widen an Lp similarity"):
        um.InfoNCE(um.Dot(), widen=True)
    for described in (um.InfoNCE, lambda **options: um.Recipe(10, 64, 1e-2, **options)):
        with pytest.raises(um.InputError, match="give widen=True too"):
            described(own_widths=True)
    recipe = um.Recipe(10, 64, 1e-2, widen=True)
    with pytest.raises(um.InputError, match="group_size or widen"):
        recipe.trained(um.Model(objective=um.Regression()))


def test_a_recipe_tells_info_nce_where_to_take_negatives_and_nothing_else():
    model = um.Model(objective=um.InfoNCE(Lp(3), 0.5), output=um.outputs.Box())
    assert um.Recipe(10, 64, 1e-2).trained(model) == model
    found = um.Recipe(10, 64, 1e-2, group_size=32, widen=True).trained(model)
    assert found.objective == um.InfoNCE(Lp(3), 0.5, group_size=32, widen=True)
    assert (found.output, found.encoder) == (model.output, model.encoder)
