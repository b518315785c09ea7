"""Encoders, output constraints, whitening, and the model that joins them."""

import math

import pytest
import torch

import unmix as um
from unmix import InputError, outputs
from unmix.encoders import MLP, Whitening


def test_the_papers_encoder_has_its_published_size(generator):
    net = MLP.paper(10).build(10, 10, generator)
    assert sum(p.numel() for p in net.parameters()) == 854_210
    assert net[1].negative_slope == 0.01


def test_weights_depend_on_the_generator_alone():
    a, b, c = (MLP((7, 5), skip=False).build(3, 2, torch.Generator().manual_seed(s)) for s in (0, 0, 1))
    assert all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))
    assert not torch.equal(a[0].weight, c[0].weight)
    assert a[0].weight.abs().max() <= 1 / math.sqrt(3)  # torch's own default bound


@pytest.mark.parametrize(("inputs", "outputs_"), [(4, 4), (6, 3), (3, 6)])
def test_with_skip_the_encoder_starts_as_a_rotation(inputs, outputs_, generator):
    net = MLP((8, 8)).build(inputs, outputs_, generator)
    x = torch.randn(50, inputs, generator=generator)
    r = net.rotation
    assert torch.allclose(net(x), x @ r.mT, atol=1e-6)
    if inputs == outputs_:
        assert torch.allclose(r @ r.mT, torch.eye(inputs), atol=1e-5)
    net.bent[-1].weight.data += 1
    assert not torch.allclose(net(x), x @ r.mT)


def test_outputs_lie_where_they_say(generator):
    h = 5 * torch.randn(100, 4, generator=generator)
    assert torch.allclose(outputs.Sphere().build()(h).norm(dim=1), torch.ones(100))
    assert torch.allclose(outputs.Sphere(3.0).build()(h).norm(dim=1), torch.full((100,), 3.0))
    box = outputs.Box(extent=2.0).build()(h)
    assert box.min() >= 0
    assert box.max() <= 2
    assert torch.equal(outputs.Free().build()(h), h)


def test_extents_are_learned_through_their_logarithm():
    for output in (outputs.Box(5.0), outputs.Sphere(5.0, learnable=True)):
        (log_scale,) = output.build().parameters()
        assert log_scale.exp().item() == pytest.approx(5.0)
    for output in (outputs.Box(5.0, learnable=False), outputs.Sphere(5.0), outputs.Free()):
        assert not list(output.build().parameters())


def test_adam_moves_the_extent_by_a_factor_a_step_not_by_an_amount():
    module = outputs.Box(1.0).build()
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)
    for _ in range(300):
        optimiser.zero_grad()
        (-module(torch.zeros(1, 1)).sum()).backward()
        optimiser.step()
    assert module.log_scale.exp() > 14  # the bound itself at this rate would be at 4


def test_whitening_gives_unit_covariance(generator):
    x = (
        torch.randn(5000, 3, generator=generator, dtype=torch.float64)
        @ torch.randn(3, 3, generator=generator, dtype=torch.float64)
        + 7
    )
    white = Whitening(x)(x)
    assert white.mean(0).abs().max() < 1e-8
    assert torch.allclose(torch.cov(white.mT, correction=0), torch.eye(3, dtype=torch.float64), atol=1e-8)


def test_whitening_keeps_a_constant_direction_at_zero(generator):
    x = torch.randn(500, 3, generator=generator, dtype=torch.float64)
    x[:, 1] = 4.0
    white = Whitening(x)(x)
    assert white.isfinite().all()
    assert white[:, 1].abs().max() < 1e-6


def test_whitening_is_a_declared_part_of_the_model(generator):
    x = torch.randn(200, 3, generator=generator)
    process = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.Identity())
    whitened, plain = (um.Model(MLP((4,)), whiten=w).build(process, x, generator) for w in (True, False))
    assert "whitening.matrix" in whitened.state_dict()
    assert not any(name.startswith("whitening") for name in plain.state_dict())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MLP((0,)), "width must be an int of at least 1"),
        (lambda: MLP((4,), slope=-1.0), "slope must be"),
        (lambda: outputs.Sphere(0.0), "radius must be positive"),
        (lambda: outputs.Box(math.nan), "extent must be positive"),
        (lambda: um.Model(dimension=0), "at least one output"),
        (lambda: Whitening(torch.randn(2, 3, generator=torch.Generator())), "more rows than columns"),
        (lambda: Whitening(torch.full((9, 3), math.inf)), "all finite"),
    ],
)
def test_bad_encoders_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
