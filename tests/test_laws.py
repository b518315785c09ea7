"""Laws: samplers and densities agree with scipy's, on every space where they are defined."""

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats
import torch

import unmix as um
from unmix import (
    Box,
    Euclidean,
    GeneralisedNormal,
    InputError,
    Laplace,
    Normal,
    Sphere,
    Truncated,
    Uniform,
    VonMisesFisher,
)  # fmt: skip
from unmix.laws.bessel import log_bessel
from unmix.laws.von_mises_fisher import one_minus_cosine, unit_tangent

ADDITIVE = {
    Normal(0.3): scipy.stats.norm(scale=0.3),
    Laplace(0.3): scipy.stats.laplace(scale=0.3),
    GeneralisedNormal(3.0, 0.3): scipy.stats.gennorm(3, scale=0.3),
    GeneralisedNormal(0.7, 0.3): scipy.stats.gennorm(0.7, scale=0.3),
}
LEVEL = 1e-4  # of the Kolmogorov-Smirnov tests; seeds are fixed, so a pass stays a pass


@pytest.mark.parametrize("law", ADDITIVE, ids=str)
def test_additive_law_on_euclidean_space_is_scipys(law, generator):
    centre = torch.tensor([[1.0, -2.0]], dtype=torch.float64).expand(20_000, 2)
    z = law.sample(Euclidean(2), centre, generator)
    for k in range(2):
        assert scipy.stats.kstest((z - centre)[:, k].numpy(), ADDITIVE[law].cdf).pvalue > LEVEL
    assert law.deviation == pytest.approx(ADDITIVE[law].std())
    expected = ADDITIVE[law].logpdf((z - centre).numpy()).sum(-1)
    np.testing.assert_allclose(law.log_prob(Euclidean(2), z, centre).numpy(), expected, rtol=1e-10)
    coordinates = torch.corrcoef((z - centre).mT)
    assert coordinates[0, 1].abs() < 5 / math.sqrt(len(z))


@pytest.mark.parametrize("shape", [0.7, 3.0, 20.0, 50.0])
def test_generalised_normal_has_no_hole_at_zero_in_float32(shape, generator):
    z = GeneralisedNormal(shape, 1.0).sample(Euclidean(1), torch.zeros(200_000, 1), generator)
    assert scipy.stats.kstest(z[:, 0].numpy(), scipy.stats.gennorm(shape).cdf).pvalue > LEVEL


@pytest.mark.parametrize(("shape", "scale"), [(20.0, 0.3), (100.0, 20.0), (200.0, 5.0), (1000.0, 1.0)])
def test_a_nearly_uniform_law_on_a_box_does_not_underflow(shape, scale, generator):
    law, centre = GeneralisedNormal(shape, scale), torch.full((5000, 1), 0.3, dtype=torch.float64)
    z = law.sample(Box(1), centre, generator)
    grid = (torch.arange(10_000, dtype=torch.float64) + 0.5)[:, None] / 10_000
    density = law.log_prob(Box(1), grid, torch.full_like(grid, 0.3)).exp()
    assert density.mean().item() == pytest.approx(1, abs=2e-4)
    cdf = density.cumsum(0) / 10_000
    assert scipy.stats.kstest(z[:, 0].numpy(), lambda x: np.interp(x, grid[:, 0].numpy(), cdf.numpy())).pvalue > LEVEL


@pytest.mark.parametrize("kappa", [1e5, 1e8])
def test_the_density_of_float32_points_stays_accurate_at_high_concentration(kappa, generator):
    sphere = Sphere(3)
    centre = sphere.uniform(100, generator, torch.float64)
    z = VonMisesFisher(kappa).sample(sphere, centre, generator)
    exact = VonMisesFisher(kappa).log_prob(sphere, z, centre)
    narrow = VonMisesFisher(kappa).log_prob(sphere, z.float(), centre.float())
    # rounding moves a point by 1e-7 where the law is 1/√κ wide
    assert (narrow - exact).abs().max() < 20 * 1e-7 * kappa**0.5 + 1e-4


@pytest.mark.parametrize("scale", [0.05, 0.5, 50.0])
@pytest.mark.parametrize("make", [Normal, Laplace, lambda s: GeneralisedNormal(3.0, s)])
@pytest.mark.parametrize("where", [0.0, 0.37, 1.0])
def test_additive_law_on_a_box_is_the_truncated_law(make, scale, where, generator):
    law, box, n = make(scale), Box(2), 5_000
    noise = law.noise()
    centre = torch.full((n, 2), where, dtype=torch.float64)
    z = law.sample(box, centre, generator)
    assert box.contains(z)
    low, high = (float(noise.cdf(torch.tensor(edge - where, dtype=torch.float64))) for edge in (0.0, 1.0))

    def cdf(x):
        return (noise.cdf(torch.from_numpy(x - where)).numpy() - low) / (high - low)

    assert scipy.stats.kstest(z.flatten().numpy(), cdf).pvalue > LEVEL
    grid = (torch.arange(20_000, dtype=torch.float64) + 0.5)[:, None] / 20_000
    density = law.log_prob(Box(1), grid, torch.full_like(grid, where)).exp()
    assert density.mean().item() == pytest.approx(1, abs=2e-4)
    assert law.log_prob(Box(1), torch.tensor([[1.5]]), torch.tensor([[where]])).item() == -math.inf


def test_only_missing_coordinates_are_redrawn(monkeypatch, generator):
    drawn = []
    draw = Laplace.draw
    monkeypatch.setattr(
        Laplace, "draw", lambda self, shape, *rest: drawn.append(math.prod(shape)) or draw(self, shape, *rest)
    )
    Laplace(0.05).sample(Box(10), Box(10).uniform(1000, generator), generator)
    assert drawn[0] == 10_000
    assert sum(drawn[1:]) < 1_000  # about 5 % fall outside; redrawing the batch would never end here


def test_a_law_much_wider_than_the_box_takes_bounded_time(monkeypatch, generator):
    rounds = []
    draw = GeneralisedNormal.draw
    monkeypatch.setattr(
        GeneralisedNormal, "draw", lambda self, shape, *rest: rounds.append(shape) or draw(self, shape, *rest)
    )
    z = GeneralisedNormal(3.0, 1e6).sample(Box(2), torch.full((2000, 2), 0.5, dtype=torch.float64), generator)
    assert len(rounds) <= 9
    assert scipy.stats.kstest(z.flatten().numpy(), "uniform").pvalue > LEVEL


@pytest.mark.parametrize(
    "law", [Normal(0.05), Normal(2.0), Laplace(0.05), Laplace(1.0), GeneralisedNormal(3.0, 0.4)], ids=str
)
def test_projected_density_integrates_to_one_on_the_circle(law):
    angle = (torch.arange(4000, dtype=torch.float64) + 0.5) * 2 * math.pi / 4000
    z = torch.stack([angle.cos(), angle.sin()], 1)
    centre = torch.tensor([[0.6, 0.8]], dtype=torch.float64).expand_as(z)
    assert law.log_prob(Sphere(2), z, centre).exp().mean().item() * 2 * math.pi == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("law", [Normal(0.4), Laplace(0.5), GeneralisedNormal(3.0, 0.8)], ids=str)
def test_projected_samples_follow_the_projected_density(law, generator):
    circle, n = Sphere(2, radius=2.0), 20_000
    centre = torch.tensor([[1.2, 1.6]], dtype=torch.float64)
    z = law.sample(circle, centre.expand(n, 2), generator)
    assert circle.contains(z, 1e-12)
    angle = (torch.arange(4000, dtype=torch.float64) + 0.5) * 2 * math.pi / 4000 - math.pi
    points = 2 * torch.stack([angle.cos(), angle.sin()], 1)
    density = law.log_prob(circle, points, centre.expand_as(points)).exp() * 2 * 2 * math.pi / 4000
    cdf = density.cumsum(0) - density / 2
    assert cdf[-1].item() == pytest.approx(1, abs=1e-4)
    observed = torch.atan2(z[:, 1], z[:, 0]).numpy()
    assert scipy.stats.kstest(observed, lambda x: np.interp(x, angle.numpy(), cdf.numpy())).pvalue > LEVEL


@pytest.mark.parametrize("law", [Normal(0.5), Laplace(0.3)], ids=str)
@pytest.mark.parametrize("radius", [1.0, 2.0])
def test_projected_density_integrates_to_one_in_four_dimensions(law, radius, generator):
    sphere = Sphere(4, radius)
    z = sphere.uniform(20_000, generator, torch.float64)
    centre = sphere.origin.expand_as(z)
    share = law.log_prob(sphere, z, centre).exp() * math.exp(sphere.log_volume)
    assert share.mean().item() == pytest.approx(1, abs=5 * share.std().item() / math.sqrt(len(z)))


def test_projected_normal_with_a_distant_centre_is_nearly_von_mises_fisher():
    # ‖y‖ ≈ 1 when σ is small, so N(c, σ²) projected is vMF with κ = 1/σ² up to O(σ²).
    sphere, sigma = Sphere(3), 0.01
    angle = torch.tensor([0.0, 0.01, 0.02], dtype=torch.float64)
    z = torch.stack([angle.cos(), angle.sin(), torch.zeros(3, dtype=torch.float64)], 1)
    c = sphere.origin.expand_as(z)
    projected = Normal(sigma).log_prob(sphere, z, c)
    assert torch.allclose(projected, VonMisesFisher(1 / sigma**2).log_prob(sphere, z, c), atol=1e-3)


def test_a_projected_density_that_cannot_be_had_is_refused():
    z = Sphere(3).origin[None]
    with pytest.raises(InputError, match="not available"):
        GeneralisedNormal(0.5, 1.0).log_prob(Sphere(3), z, z)


@pytest.mark.parametrize("d", [2, 3, 10, 50])
@pytest.mark.parametrize("kappa", [0.0, 1e-3, 1.0, 10.0, 1e3, 1e5])
def test_von_mises_fisher_cosine_has_the_right_law(kappa, d, generator):
    gap = one_minus_cosine(kappa, d, 20_000, generator).numpy()
    assert (gap >= 0).all()
    assert (gap <= 2).all()
    # P(1 − w ≤ t) by quadrature of (t(2−t))^{(d−3)/2} e^{−κt}, in θ with t = 1 − cos θ, where it is smooth.
    theta = (
        np.linspace(0, np.pi, 400_001)
        if kappa < 100
        else np.linspace(0, min(np.pi, 40 * d / math.sqrt(kappa)), 400_001)
    )
    density = np.sin(theta) ** (d - 2) * np.exp(-kappa * (1 - np.cos(theta)))
    cdf = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    observed = 2 * np.arcsin(np.sqrt(gap / 2))
    assert scipy.stats.kstest(observed, lambda x: np.interp(x, theta, cdf / cdf[-1])).pvalue > LEVEL


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("d", [2, 3, 10])
def test_von_mises_fisher_rows_follow_their_own_means(d, dtype, generator):
    kappa, sphere = 20.0, Sphere(d, radius=1.5)
    centre = sphere.uniform(2, generator, dtype).repeat_interleave(20_000, 0)
    z = VonMisesFisher(kappa).sample(sphere, centre, generator)
    assert sphere.contains(z, 1e-6)
    expected = float(scipy.special.ive(d / 2, kappa) / scipy.special.ive(d / 2 - 1, kappa))  # E cᵀz
    for half in (slice(0, 20_000), slice(20_000, None)):
        mean = z[half].mean(0) / 1.5
        assert torch.allclose(mean, expected * centre[half][0] / 1.5, atol=0.01)


def test_von_mises_fisher_directions_are_uniform_around_the_mean(generator):
    d = 5
    centre = Sphere(d).origin.expand(20_000, d)
    z = VonMisesFisher(4.0).sample(Sphere(d), centre, generator)
    across = torch.nn.functional.normalize(z[:, 1:], dim=1)
    covariance = across.mT @ across / len(z)
    assert torch.allclose(covariance, torch.eye(d - 1, dtype=torch.float64) / (d - 1), atol=0.01)
    assert torch.corrcoef(torch.stack([z[:, 0], across[:, 0]]))[0, 1].abs() < 0.03


@pytest.mark.parametrize(("d", "kappa"), [(2, 0.5), (3, 10.0), (10, 10.0), (10, 1e5), (200, 3.0)])
def test_von_mises_fisher_density_is_scipys(d, kappa, generator):
    sphere = Sphere(d)
    centre = sphere.uniform(1, generator, torch.float64)
    z = sphere.uniform(5, generator, torch.float64)
    expected = scipy.stats.vonmises_fisher(centre[0].numpy(), kappa).logpdf(z.numpy())
    found = VonMisesFisher(kappa).log_prob(sphere, z, centre.expand_as(z))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)


def test_kappa_zero_is_the_uniform_law():
    sphere = Sphere(4, radius=2.0)
    z = sphere.origin[None]
    zero = VonMisesFisher(0.0).log_prob(sphere, z, z)
    assert torch.allclose(zero, Uniform().log_prob(sphere, z, z))
    assert torch.allclose(zero, VonMisesFisher(1e-9).log_prob(sphere, z, z))


@pytest.mark.parametrize(
    ("order", "x"), [(0.0, 1e-3), (4.0, 10.0), (4.0, 1e5), (999.0, 1.0), (5000.0, 300.0), (2e4, 1e4)]
)
def test_log_bessel_satisfies_its_recurrence(order, x):
    # I_{ν−1}(x) − I_{ν+1}(x) = (2ν/x) I_ν(x), divided by I_ν; holds also where I underflows.
    nu = order + 1
    down, here, up = (log_bessel(v, x) for v in (nu - 1, nu, nu + 1))
    assert math.exp(down - here) - math.exp(up - here) == pytest.approx(2 * nu / x, rel=1e-6)


@pytest.mark.parametrize(
    "pair",
    [(Uniform(), Euclidean(2)), (VonMisesFisher(1.0), Box(2)), (VonMisesFisher(1.0), Euclidean(2))],
    ids=str,
)
def test_a_law_that_is_not_defined_on_a_space_says_so(pair):
    law, space = pair
    z = torch.zeros(1, 2)
    for ask in (lambda: law.sample(space, z), lambda: law.log_prob(space, z, z)):
        with pytest.raises(InputError, match="not defined on"):
            ask()
    with pytest.raises(InputError, match="not defined on"):
        um.PairProcess(space, Normal(1.0), law, um.mixings.Linear())


def test_a_draw_along_the_mean_is_drawn_again(monkeypatch):
    # On a circle a normal draw can lie exactly along the mean, and leaves no direction across it.
    draws = iter([torch.tensor([[1.0, 0.0], [1.0, 1.0]]), torch.tensor([[0.5, -2.0]])])
    monkeypatch.setattr(torch, "randn", lambda *a, **k: next(draws))
    mean = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    assert torch.equal(unit_tangent(mean), torch.tensor([[0.0, -1.0], [0.0, 1.0]]))


@pytest.mark.parametrize("law", [VonMisesFisher(3.0), Normal(0.3), Uniform()], ids=str)
def test_points_and_centres_off_the_sphere_are_refused(law):
    sphere = Sphere(3)
    on, off, wide = sphere.origin[None], 2 * sphere.origin[None], torch.ones(1, 5) / 5**0.5
    with pytest.raises(InputError, match="must lie in the space"):
        law.log_prob(sphere, off, on)
    for centre in (off, wide):
        with pytest.raises(InputError, match="the centre must"):
            law.sample(sphere, centre)


def test_a_point_outside_a_box_has_density_zero():
    z = torch.tensor([[0.5, 0.5], [0.5, 1.5]])
    assert Uniform().log_prob(Box(2), z, z[:1].expand(2, 2)).tolist() == [0.0, -math.inf]
    with pytest.raises(InputError, match="the centre must lie"):
        Normal(0.1).log_prob(Box(2), z[:1], z[1:])


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_bad_parameters_are_refused(bad):
    for make in (
        VonMisesFisher,
        Normal,
        Laplace,
        lambda s: GeneralisedNormal(3.0, s),
        lambda b: GeneralisedNormal(b, 1.0),
    ):
        with pytest.raises(InputError, match="not"):
            make(bad)
    for make in (Normal, Laplace):
        with pytest.raises(InputError, match="positive"):
            make(0.0)


def test_a_centre_outside_the_box_is_refused():
    with pytest.raises(InputError, match="must lie in the space"):
        Normal(0.1).sample(Box(1), torch.tensor([[2.0]]))


@pytest.mark.parametrize("law", [Normal(0.5), Laplace(0.5), GeneralisedNormal(3.0, 0.5)], ids=str)
def test_a_truncated_law_is_the_law_given_that_its_noise_is_small(law, generator):
    support, noise = 0.4, law.noise()
    cut, centre = Truncated(law, support), torch.full((20_000, 1), 1.5, dtype=torch.float64)
    z = cut.sample(Euclidean(1), centre, generator)
    low, high = (float(noise.cdf(torch.tensor(edge, dtype=torch.float64))) for edge in (-support, support))

    def cdf(x):
        return (noise.cdf(torch.from_numpy(x)).numpy() - low) / (high - low)

    assert scipy.stats.kstest((z - centre)[:, 0].numpy(), cdf).pvalue > LEVEL
    grid = 1.5 + torch.linspace(-1, 1, 20_001, dtype=torch.float64)[:, None]
    density = cut.log_prob(Euclidean(1), grid, torch.full_like(grid, 1.5)).exp()
    assert torch.trapezoid(density, grid[:, 0]).item() == pytest.approx(1, abs=1e-3)


def test_a_truncated_law_on_a_sphere_is_projected_and_has_no_density(generator):
    sphere, cut = Sphere(4), Truncated(Laplace(1.0), 0.3)
    centre = sphere.uniform(500, generator)
    z = cut.sample(sphere, centre, generator)
    assert sphere.contains(z)
    # Noise within ±s moves a unit vector by at most the angle whose sine is s√d.
    assert (z * centre).sum(1).min() >= math.sqrt(1 - 4 * 0.3**2) - 1e-5
    with pytest.raises(InputError, match="not available"):
        cut.log_prob(sphere, z, centre)
    with pytest.raises(InputError, match="cut off at the border already"):
        cut.check(Box(3))
    with pytest.raises(InputError, match="support must be positive"):
        Truncated(Laplace(1.0), 0.0)
    with pytest.raises(InputError, match="too narrow"):
        Truncated(Laplace(1.0), 1e-20)
