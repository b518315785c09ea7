"""The pair process: one world, sampled, observed and inverted."""

import pytest
import torch

import unmix as um


@pytest.fixture
def process():
    return um.PairProcess(um.Box(4), um.Uniform(), um.Laplace(0.05), um.mixings.MLP(3, pool=100))


def test_observations_are_the_mixed_latents(process, generator):
    pairs = process.sample(50, generator, torch.float64)
    assert torch.equal(pairs.x, process.observe(pairs.z))
    assert torch.allclose(process.invert(pairs.x_view), pairs.z_view, atol=1e-10)


def test_views_are_near_their_latents(process, generator):
    pairs = process.sample(20_000, generator)
    inner = ((pairs.z > 0.4) & (pairs.z < 0.6)).all(1)  # far from the border nothing is truncated
    assert (pairs.z_view - pairs.z)[inner].abs().mean() == pytest.approx(0.05, rel=0.1)


def test_the_same_seed_is_the_same_world_and_another_is_not(process, generator):
    z = process.sample_latents(3, generator)
    twin = um.PairProcess(um.Box(4), um.Uniform(), um.Laplace(0.05), um.mixings.MLP(3, pool=100))
    assert torch.equal(process.observe(z), twin.observe(z))
    assert not torch.allclose(process.observe(z), process.with_seed(1).observe(z))


def test_streams_are_independent_and_repeatable():
    a = torch.rand(1000, generator=um.stream(0, "a"))
    assert torch.equal(a, torch.rand(1000, generator=um.stream(0, "a")))
    for other in (um.stream(0, "b"), um.stream(1, "a")):
        assert torch.corrcoef(torch.stack([a, torch.rand(1000, generator=other)]))[0, 1].abs() < 0.15


@pytest.mark.parametrize("seed", [-1, 1.5, "0", True])
def test_bad_seeds_are_refused(seed):
    with pytest.raises(um.InputError, match="seed must be a whole number"):
        um.stream(seed, "a")


def test_an_empty_batch_is_refused(process):
    with pytest.raises(um.InputError, match="n must be a whole number"):
        process.sample(0)


def test_a_marginal_is_centred_at_the_origin_of_its_space(generator):
    process = um.PairProcess(um.Sphere(3), um.VonMisesFisher(50.0), um.VonMisesFisher(5.0), um.mixings.Linear(pool=5))
    mean = process.sample_latents(5000, generator).mean(0)
    assert mean[0] > 0.9
    assert mean[1:].abs().max() < 0.05
