"""Rows of a head that settle: neighbours move together, what one does alone is averaged, and optima stay."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import unmix as um
from unmix.training.optimisers import optimiser_of
from unmix.training.settling import WIDTH, neighbours_mean, settle

APART = torch.cat([torch.eye(3), -torch.eye(3)])  # six rows that are nobody's neighbours


def drawn(seed, n=40, d=4, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(n, d, generator=generator, dtype=dtype) for _ in range(2))


def kernel(rows):
    """K, row by row."""
    spread = (rows - rows.mean(0)).square().sum(1).mean()
    return torch.exp(-torch.cdist(rows, rows).square() / (2 * WIDTH**2 * spread))


def built(objective, instances=60, seed=0):
    process = um.ClusterProcess(
        um.Sphere(3), um.Clusters(6), um.VonMisesFisher(4.0), um.mixings.Linear(pool=10), instances=instances
    )
    rows = process.sample(300, um.stream(seed, "batches"))
    network = um.Model(um.encoders.MLP((8,)), objective).build(process, rows.x, um.stream(seed, "init"))
    network.training_loss(rows).backward()
    return network


@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 1), (40, 4), (700, 20)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_mean_over_neighbours_is_the_kernels(n, d, dtype):
    rows, values = drawn(0, n, d, dtype)
    weights = kernel(rows.double()) if n > 1 else torch.ones(1, 1, dtype=torch.float64)
    expected = weights @ values.double() / weights.sum(1, keepdim=True)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-10
    assert torch.allclose(neighbours_mean(rows, values).double(), expected, atol=tolerance)


@given(st.integers(0, 2**31), st.floats(0.01, 100), st.floats(-50, 50))
def test_neighbours_do_not_depend_on_where_rows_lie_how_they_are_turned_or_how_long_they_are(seed, scale, shift):
    rows, values = drawn(seed)
    rotation = torch.linalg.qr(rows[:4]).Q
    moved = scale * (rows @ rotation + shift)
    assert torch.allclose(neighbours_mean(moved, values), neighbours_mean(rows, values), atol=1e-8)


def test_rows_that_are_all_one_are_all_neighbours():
    values = torch.arange(6.0).reshape(3, 2)
    assert torch.allclose(neighbours_mean(torch.full((3, 2), 0.7), values), values.mean(0).expand(3, 2))


def test_the_kernel_is_never_held():
    rows, values = drawn(0, 300, 5, torch.float32)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
        neighbours_mean(rows, values)
    assert "aten::_scaled_dot_product_flash_attention_for_cpu" in {event.key for event in seen.key_averages()}


@pytest.mark.parametrize("rows", [torch.randn(60, 3, generator=torch.Generator().manual_seed(0)), APART.repeat(10, 1)])
def test_averaging_has_eigenvalues_from_0_to_1(rows):
    """So ḡ + a(g − ḡ) has them from a to 1."""
    columns = torch.eye(60).double().split(3, 1)
    matrix = torch.cat([neighbours_mean(rows.double(), three) for three in columns], 1)
    found = torch.linalg.eigvals(matrix)
    assert found.imag.abs().max() < 1e-5
    assert found.real.min() > -1e-5
    assert found.real.max() == pytest.approx(1, abs=1e-5)


@given(st.integers(0, 2**31), st.floats(0.01, 0.99), st.floats(0.01, 100))
def test_what_the_optimiser_sees_points_down_where_rows_weigh_as_many_as_their_neighbours(seed, own, noise):
    """Σ_i D_i ⟨g_i, ĝ_i⟩ ≥ a Σ_i D_i |g_i|²: zero only where the gradient is, unless neighbours cancel and a = 0."""
    network = built(um.DIET()).double()
    rows = network.loss.rows().detach()
    g = rows + noise * next(drawn(seed, 60, 3))
    network.loss.weight.grad = g.clone()
    settle(network, own)
    shared = neighbours_mean(rows, g)
    a = own * min(1.0, (shared.norm() / (g - shared).norm()).item())
    weights = kernel(rows).sum(1, keepdim=True)
    down = (weights * g * network.loss.weight.grad).sum().item()
    assert down >= a * (weights * g.square()).sum().item() * (1 - 1e-6) > 0


def test_where_rows_coincide_and_their_gradients_cancel_nothing_is_left():
    """The one place where a is 0: stationary for what the optimiser sees, and not for the loss."""
    network = built(um.DIET(), instances=12)
    with torch.no_grad():
        network.loss.weight.copy_(APART.repeat(2, 1))
    network.loss.weight.grad = torch.cat([torch.ones(6, 3), -torch.ones(6, 3)])
    settle(network, 0.5)
    assert network.loss.weight.grad.abs().max() < 1e-6


def halves(gradient):
    """What six classes of rows that coincide have in common, class by class, and what each row has beside it."""
    shared = gradient.reshape(-1, 6, 3).mean(0).repeat(len(gradient) // 6, 1)
    return shared, gradient - shared


@pytest.mark.parametrize("own", [0.1, 0.5])
@pytest.mark.parametrize("noise", [0.01, 10.0])
def test_where_rows_of_a_class_coincide_what_they_share_stays_and_the_rest_is_made_small(own, noise, generator):
    network = built(um.DIET(), instances=600)
    weight = network.loss.weight
    with torch.no_grad():
        weight.copy_(APART.repeat(100, 1))
    weight.grad = APART.repeat(100, 1) + noise * torch.randn(600, 3, generator=generator)
    shared, rest = halves(weight.grad)
    settle(network, own)
    smaller = own * min(1, (shared.norm() / rest.norm()).item())
    assert torch.allclose(weight.grad, shared + smaller * rest, atol=2e-3)


@pytest.mark.parametrize("optimiser", [um.recipes.SOAP(), um.recipes.Adam()])
def test_the_step_of_a_row_by_itself_falls_as_its_share_and_what_rows_do_together_does_not(optimiser, generator):
    def moved(own):
        network = built(um.DIET(), instances=600)
        weight = network.loss.weight
        with torch.no_grad():
            weight.copy_(APART.repeat(100, 1))
        steps = optimiser_of(network, 1e-4, optimiser)
        for _ in range(60):
            weight.grad = torch.randn(600, 3, generator=generator)
            settle(network, own)
            steps.step()
        return [part.norm().item() for part in halves(weight.detach() - APART.repeat(100, 1))]

    (together, alone), (together_later, alone_later) = moved(0.2), moved(0.02)
    assert alone / alone_later == pytest.approx(10, rel=0.2)
    assert together == pytest.approx(together_later, rel=0.2)


@pytest.mark.parametrize("optimiser", [um.recipes.SOAP(), um.recipes.Adam()])
def test_rows_that_coincide_end_up_moving_as_the_one_row_of_their_class(optimiser):
    """The mean gradient of k rows is that of the class row over k, and the optimiser does not see a factor."""
    process = um.ClusterProcess(
        um.Sphere(3), um.Clusters(6), um.VonMisesFisher(4.0), um.mixings.Linear(pool=10), instances=60
    )
    moved = {}
    for objective in (um.CrossEntropy(), um.DIET()):
        network = built(objective)
        weight = network.loss.weight
        before = APART.repeat(len(weight) // 6, 1)
        with torch.no_grad():
            weight.copy_(before)
        steps = optimiser_of(network, 1e-2, optimiser)
        for step in range(5):
            network.zero_grad()
            network.training_loss(process.sample(200, um.stream(step, "batches"))).backward()
            settle(network, 1e-6)
            steps.step()
        moved[type(objective)] = weight.detach() - before
    of_class = moved[um.CrossEntropy]
    assert of_class.abs().max() > 0.02
    assert torch.allclose(moved[um.DIET], of_class.repeat(10, 1), atol=2e-3)


def test_a_gradient_that_all_rows_share_is_kept():
    network = built(um.DIET())
    network.loss.weight.grad = torch.ones(60, 3)
    settle(network, 0.1)
    assert torch.allclose(network.loss.weight.grad, torch.ones(60, 3), atol=1e-6)


def test_a_head_that_is_not_trained_is_left_alone():
    network = built(um.DIET())
    network.loss.weight.grad = None
    settle(network, 0.5)
    assert network.loss.weight.grad is None


def test_before_a_head_settles_gradients_are_left_alone_and_later_those_of_all_else():
    network = built(um.DIET())
    before = {name: p.grad.clone() for name, p in network.named_parameters()}
    settle(network, 1.0)
    assert all(torch.equal(p.grad, before[name]) for name, p in network.named_parameters())
    settle(network, 0.5)
    changed = {name for name, p in network.named_parameters() if not torch.equal(p.grad, before[name])}
    assert changed == {"loss.weight"}


def test_rows_of_a_class_become_one_sooner_and_outputs_are_less_short():
    """Rows that jitter cost the encoder half the variance of their logits, so that it keeps outputs short. With rows of
    unit length they should be κ long."""
    kappa = 6.0
    process = um.ClusterProcess(
        um.Sphere(3), um.Clusters(12), um.VonMisesFisher(kappa), um.mixings.Linear(pool=10), instances=400
    )
    model = um.Model(um.encoders.MLP((16,)), um.DIET(unit_rows=True))

    def trained(settles):
        recipe = um.Recipe(300, 1024, 3e-2, batches=um.recipes.EvenLabels(), head_settles=settles, whitening_rows=2000)
        fit = um.fit(process, model, recipe, progress=False)
        found = um.cluster_recovery(fit, rows=2048)
        length = fit.embed(process.sample(2048, um.stream(0, "evaluation")).x).norm(dim=1).mean().item()
        return found.scores["collapse"], length

    (collapse, length), (jitter, short) = trained(0.1), trained(1.0)
    assert collapse < jitter / 2
    assert short < length < 1.1 * kappa
