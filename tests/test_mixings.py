"""Mixings: inverse after mixing is the identity, the Jacobian is autograd's, the pool does its work."""

import pytest
import torch

from unmix import Box, InputError, Sphere, mixings
from unmix.mixings.conditioning import best_conditioned

MIXINGS = [mixings.MLP(3), mixings.MLP(4), mixings.Linear(), mixings.Smooth(3), mixings.Identity()]


@pytest.mark.parametrize("mixing", MIXINGS, ids=str)
@pytest.mark.parametrize("space", [Sphere(10), Box(5), Box(10), Box(40)], ids=str)
def test_inverse_undoes_the_mixing(mixing, space, generator):
    g = mixing.draw(space.dimension, generator)
    z = space.uniform(2000, generator, torch.float64)
    assert (g.inverse(g(z)) - z).abs().max() < 1e-10
    # In float32 the error is that of rounding x, amplified by at most ‖J⁻¹‖: no inverse can do better.
    narrow = (g.inverse(g(z.float())) - z.float()).abs()
    amplified = torch.linalg.matrix_norm(torch.linalg.inv(g.jacobian(z)), 2) * g(z).norm(dim=1) * 2**-24
    assert (narrow.max(1).values <= amplified + 1e-6).all()
    assert g(z.float()).dtype == torch.float32


@pytest.mark.parametrize("space", [Sphere(10), Box(10)], ids=str)
@pytest.mark.parametrize("mixing", [mixings.MLP(3), mixings.Linear(), mixings.Smooth(3)], ids=str)
def test_the_papers_setting_is_inverted_to_1e_5_in_float32(mixing, space, generator):
    g = mixing.draw(10, generator)
    z = space.uniform(20_000, generator)
    assert (g.inverse(g(z)) - z).abs().max() < 1e-5


@pytest.mark.parametrize("mixing", MIXINGS, ids=str)
def test_jacobian_is_autograds(mixing, generator):
    g = mixing.draw(4, generator)
    z = torch.randn(6, 4, generator=generator, dtype=torch.float64)
    for row, found in zip(z, g.jacobian(z), strict=True):
        expected = torch.func.jacrev(lambda v: g(v[None])[0])(row)
        assert torch.allclose(found, expected, atol=1e-12)


def test_layers_are_the_best_conditioned_of_their_pool_with_unit_columns(generator):
    (best,) = best_conditioned(10, 1, 25_000, generator)
    assert torch.allclose(best.norm(dim=0), torch.ones(10, dtype=torch.float64))
    assert 3.0 < torch.linalg.cond(best) < 4.5  # the papers' official draws: 3.2 to 4.1
    (one_draw,) = best_conditioned(10, 1, 1, generator)
    assert torch.linalg.cond(one_draw) > torch.linalg.cond(best)


def test_a_larger_pool_is_never_worse():
    conditions = [
        torch.linalg.cond(best_conditioned(5, 1, pool, torch.Generator().manual_seed(3))[0]) for pool in (1, 10, 100)
    ]
    assert conditions == sorted(conditions, reverse=True)


def test_the_search_is_bounded_in_high_dimension(monkeypatch, generator):
    drawn = []
    eigvalsh = torch.linalg.eigvalsh
    monkeypatch.setattr(torch.linalg, "eigvalsh", lambda a: drawn.append(len(a)) or eigvalsh(a))
    best_conditioned(100, 1, 25_000, generator)
    assert drawn == [200]


def test_mlp_is_a_leaky_relu_network(generator):
    g = mixings.MLP(2, slope=0.2, pool=5).draw(3, generator)
    z = torch.randn(8, 3, generator=generator, dtype=torch.float64)
    w1, w2 = g.weights
    assert torch.allclose(g(z), torch.nn.functional.leaky_relu(z @ w1.T, 0.2) @ w2.T)


def test_linear_is_linear_and_smooth_is_not(generator):
    a, b = torch.randn(2, 6, 4, generator=generator, dtype=torch.float64)
    for mixing, linear in ((mixings.Linear(pool=5), True), (mixings.Smooth(2, pool=5), False)):
        g = mixing.draw(4, generator)
        assert torch.allclose(g(a + b), g(a) + g(b)) is linear


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mixings.MLP(0), "at least one layer"),
        (lambda: mixings.MLP(3, slope=0.0), "slope must be positive"),
        (lambda: mixings.Smooth(0), "at least one layer"),
        (lambda: mixings.Smooth(3, bend=-1.0), "bend must be positive"),
        (lambda: mixings.MLP(3, pool=0).draw(3, torch.Generator()), "at least one draw"),
    ],
)
def test_bad_mixings_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
