"""Objectives: what InfoNCE equals in the limit, and what its options do."""

import math

import pytest
import torch

import unmix as um
from unmix import Dot, InfoNCE, InputError, Lp, LpNorm, Regression
from unmix.laws.bessel import log_bessel
from unmix.objectives import info_nce

WORLD = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.Linear(pool=5))


def test_info_nce_tends_to_the_cross_entropy_of_the_conditional(generator):
    # At the true latents with τ = 1/κ, InfoNCE − log M → E[−κ cos] + log E_uniform[e^{κ cos}]:
    # the entropy of vMF(κ) relative to the uniform law.
    d, kappa, n = 4, 5.0, 8192
    sphere = um.Sphere(d)
    z = sphere.uniform(n, generator)
    view = um.VonMisesFisher(kappa).sample(sphere, z, generator)
    order = d / 2 - 1
    mean_cosine = math.exp(log_bessel(order + 1, kappa) - log_bessel(order, kappa))
    log_mean_exp = math.lgamma(d / 2) + order * math.log(2 / kappa) + log_bessel(order, kappa)
    expected = math.log(n - 1) - kappa * mean_cosine + log_mean_exp
    assert info_nce(Dot(), z, view, 1 / kappa).item() == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(
    ("law", "similarity"),
    [(um.Laplace(0.1), Lp(1)), (um.Normal(0.1), Lp(2)), (um.GeneralisedNormal(3.0, 0.1), Lp(3))],
)
def test_the_matched_scale_minimises_info_nce_on_a_box(law, similarity, generator):
    # Outputs e·z with e = 1/spread make the model's law the conditional; other extents are worse.
    box = um.Box(2)
    z = box.uniform(8192, generator, torch.float64)
    view = law.sample(box, z, generator)
    losses = {c: info_nce(similarity, c * z / law.spread, c * view / law.spread).item() for c in (0.7, 1.0, 1.4)}
    assert losses[1.0] < min(losses[0.7], losses[1.4])


@pytest.mark.parametrize("similarity", [Dot(), Lp(1), Lp(3), LpNorm(2)], ids=str)
def test_temperature_divides_the_similarity(similarity, generator):
    a, b = torch.randn(2, 10, 3, generator=generator, dtype=torch.float64)
    tau, c = 0.3, 0.3 ** (-1 / similarity.degree)
    assert torch.allclose(similarity.rows(c * a, c * b), similarity.rows(a, b) / tau)
    assert torch.allclose(info_nce(similarity, a, b, tau), info_nce(similarity, c * a, c * b))


def test_learned_temperature_gets_the_right_gradient(generator):
    loss = InfoNCE(Lp(1), 0.5, learn_temperature=True).build(WORLD, 3, generator).double()
    x, view = torch.randn(2, 10, 3, generator=generator, dtype=torch.float64)
    loss(lambda t: t, x, view).backward()
    up, down = (info_nce(Lp(1), x, view, 0.5 * math.exp(h)) for h in (1e-5, -1e-5))
    assert loss.log_temperature.grad.item() == pytest.approx(((up - down) / 2e-5).item(), rel=1e-6)
    assert not list(InfoNCE(Lp(1), 0.5).build(WORLD, 3, generator).parameters())


def test_two_sided_is_the_mean_of_both_sides(generator):
    a, b = torch.randn(2, 12, 3, generator=generator, dtype=torch.float64)
    both = info_nce(Dot(), a, b, two_sided=True)
    assert torch.allclose(both, (info_nce(Dot(), a, b) + info_nce(Dot(), b, a)) / 2)


def test_groups_only_meet_their_own_negatives(generator):
    a, b = torch.randn(2, 12, 3, generator=generator, dtype=torch.float64)
    apart = torch.stack([info_nce(Lp(2), x, y) for x, y in zip(a.split(4), b.split(4), strict=True)]).mean()
    assert torch.allclose(info_nce(Lp(2), a, b, group_size=4), apart)


def test_regression_is_the_mean_squared_error(generator):
    x, z = torch.randn(2, 6, 3, generator=generator)
    loss = Regression().build(WORLD, 3, generator)(lambda t: 2 * t, x, z)
    assert loss.item() == pytest.approx(((2 * x - z) ** 2).mean().item())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Lp(0.5), "p ≥ 1"),
        (lambda: Lp(math.nan), "p ≥ 1"),
        (lambda: Lp(math.inf), "p ≥ 1"),
        (lambda: LpNorm(0.9), "p ≥ 1"),
        (lambda: InfoNCE(Dot(), 0.0), "temperature must be positive"),
        (lambda: InfoNCE(Dot(), math.nan), "temperature must be positive"),
        (lambda: InfoNCE(Dot(), 1.0, group_size=1), "at least 2 rows"),
        (lambda: info_nce(Dot(), torch.ones(4, 2), torch.ones(4, 2), -1.0), "temperature must be positive"),
        (lambda: info_nce(Dot(), torch.ones(4, 2), torch.ones(4, 2), group_size=0), "at least 2 rows"),
        (lambda: Regression().check(WORLD, 64, 5), "one output a latent"),
        (lambda: info_nce(Dot(), torch.ones(1, 2), torch.ones(1, 2)), "at least 2 rows"),
        (lambda: info_nce(Dot(), torch.ones(10, 2), torch.ones(10, 2), group_size=4), "does not divide"),
    ],
)
def test_bad_objectives_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
