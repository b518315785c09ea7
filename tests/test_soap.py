"""SOAP: Adam where there is nothing to turn, faster than Adam on a mixing, and its state is plain tensors."""

import pytest
import torch

import unmix as um
from unmix.training.optimisers import optimiser_of
from unmix.training.soap import LARGEST, Soap


def minimised(loss, optimiser, steps):
    for _ in range(steps):
        optimiser.zero_grad()
        value = loss()
        value.backward()
        optimiser.step()
    return loss().item()


@pytest.mark.parametrize("shape", [(), (7,), (LARGEST + 1, LARGEST + 1), (3, 2, 2)])
def test_what_has_no_small_side_moves_as_by_adam(shape, generator):
    target = torch.randn(shape, generator=generator)
    found = []
    for kind in (Soap, torch.optim.Adam):
        weight = torch.nn.Parameter(torch.zeros(shape))
        optimiser = kind([weight], lr=0.03, betas=(0.9, 0.99))
        minimised(lambda w=weight: (w - target).pow(4).sum(), optimiser, 20)
        found.append(weight.detach())
    assert torch.allclose(*found, rtol=1e-4, atol=1e-6)


def test_a_mixing_is_undone_in_fewer_steps_than_by_adam():
    process = um.PairProcess(um.Box(6), um.Uniform(), um.Uniform(), um.mixings.MLP(3, pool=100))
    model = um.Model(um.encoders.MLP((32, 32)), um.Regression())

    def end(optimiser):
        recipe = um.Recipe(600, 256, 3e-2, optimiser, whitening_rows=2000)
        return um.fit(process, model, recipe, progress=False).losses[-1][1]

    assert end(um.recipes.SOAP()) < 0.6 * end(um.recipes.Adam())


def test_the_bases_are_the_eigenvectors_of_the_mean_products(generator):
    weight = torch.nn.Parameter(torch.zeros(5, 4))
    sides = [torch.linalg.qr(torch.randn(n, n, generator=generator)).Q * 0.5 ** torch.arange(n) for n in (5, 4)]
    optimiser = Soap([weight], lr=0.0, every=1)
    for _ in range(600):
        weight.grad = sides[0] @ torch.randn(5, 4, generator=generator) @ sides[1].mT
        optimiser.step()
    state = optimiser.state[weight]
    for side, mixing in enumerate(sides):
        basis = state[f"basis{side}"]
        assert torch.allclose(basis.mT @ basis, torch.eye(len(basis)), atol=1e-5)
        inside = basis.mT @ (mixing @ mixing.mT) @ basis
        assert (inside - inside.diagonal().diag()).norm() < 0.25 * inside.diagonal().norm()


def test_a_long_side_keeps_its_own_axes(generator):
    weight = torch.nn.Parameter(torch.randn(LARGEST + 1, 3, generator=generator))
    optimiser = Soap([weight], lr=1e-2)
    minimised(lambda: weight.square().sum(), optimiser, 3)
    assert set(optimiser.state[weight]) == {"step", "mean", "square", "covariance1", "basis1"}


def test_rows_of_a_head_keep_their_own_axes():
    process = um.ClusterProcess(um.Sphere(3), um.Clusters(8), um.VonMisesFisher(4.0), um.mixings.Linear(pool=10))
    rows = process.sample(64, um.stream(0, "batches"))
    network = um.Model(um.encoders.MLP((8,)), um.CrossEntropy()).build(process, rows.x, um.stream(0, "init"))
    optimiser = optimiser_of(network, 1e-2, um.recipes.SOAP())
    network.training_loss(rows).backward()
    optimiser.step()
    assert "basis0" not in optimiser.state[network.loss.weight]
    assert "basis1" in optimiser.state[network.loss.weight]
    assert {"basis0", "basis1"} <= set(optimiser.state[network.body.rotation])


def test_all_state_is_tensors_so_that_a_checkpoint_holds_it():
    weight = torch.nn.Parameter(torch.eye(3))
    optimiser = Soap([weight], lr=1e-2)
    minimised(lambda: weight.square().sum(), optimiser, 12)
    assert all(isinstance(value, torch.Tensor) for value in optimiser.state[weight].values())


def test_a_basis_that_never_turns_is_refused():
    with pytest.raises(um.InputError, match="every 1 or more steps"):
        um.recipes.SOAP(every=0)
