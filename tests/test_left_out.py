"""Labels that no step draws: the rows that are found for them are those that DIET asks for."""

from dataclasses import replace

import pytest
import torch
from torch import nn

import unmix as um
from unmix.model import Network
from unmix.training import left_out
from unmix.training.batches import EvenLabels
from unmix.training.left_out import DRAWS, Seen, rows_from_means

KAPPA = 6.0


def world(instances, clusters=30, **options):
    return um.ClusterProcess(
        um.Sphere(3), um.Clusters(clusters), um.VonMisesFisher(KAPPA), um.mixings.Identity(), instances, **options
    )


def perfect(process, among, unit):
    """A network that has nothing left to learn: f(x) = z, β = κ, and w = v for the labels `among`."""
    head = um.DIET(unit_rows=unit, temperature=1 / KAPPA).build(process, 3, torch.Generator())
    head.weight = nn.Parameter(process.vectors[process.class_of[among]].float())
    return Network(nn.Identity(), nn.Identity(), nn.Identity(), head, ("x", "instance"))


def completed(process, among, unit):
    network = perfect(process, among, unit)
    left_out.complete(network, process, among, um.stream(0, "rows"), lambda blocks, count: blocks)
    return network.loss.rows().detach().double()


def seen_of(n=12, d=3, s=3000, seed=0):
    """Outputs and trained rows that are of no process in particular."""
    generator = torch.Generator().manual_seed(seed)
    trained = torch.randn(n, d, generator=generator)
    return trained, Seen.of(2 * torch.randn(s, d, generator=generator), trained)


def test_moments_are_the_derivatives_of_the_mass(generator):
    trained, seen = seen_of(s=5000)
    rows = torch.randn(7, 3, generator=generator)
    partition = (seen.outputs @ trained.mT).exp().sum(1)

    def mass(w):
        return ((seen.outputs @ w).exp() / partition).mean()

    found = seen.moments(rows)
    for i, w in enumerate(rows):
        assert torch.allclose(found.mass[i], mass(w), rtol=1e-4)
        assert torch.allclose(found.first[i], torch.func.grad(mass)(w), rtol=1e-3, atol=1e-5)
        assert torch.allclose(found.second[i], torch.func.hessian(mass)(w), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("unit", [False, True], ids=["free", "unit"])
@pytest.mark.parametrize("seed", range(3))
def test_a_row_is_where_its_mean_says_however_far_the_trained_ones_are(unit, seed, monkeypatch):
    """m = E[r_w f] / ρ is the mean output of a label whose row is w."""
    monkeypatch.setattr(left_out, "NEAR", 1e-3)
    trained, seen = seen_of(seed=seed)
    generator = torch.Generator().manual_seed(seed + 100)
    rows = torch.randn(40, 3, generator=generator)
    rows, trained = (nn.functional.normalize(part, dim=1) for part in (rows, trained)) if unit else (rows, trained)
    seen = Seen.of(seen.outputs, trained)
    shares = 0.01 + torch.rand(40, generator=generator)
    if not unit:  # a share is a scale of the mass, which a free row must meet exactly
        shares = seen.moments(rows).mass
    means = seen.moments(rows).first / shares[:, None]
    found = rows_from_means(means, shares, trained, seen, seen.moments(trained), unit)
    nearest = torch.cdist(rows, trained).min(1).values
    assert nearest.max() > 0.3
    assert torch.allclose(found, rows, atol=5e-3)


@pytest.mark.parametrize("unit", [False, True], ids=["free", "unit"])
def test_rows_have_the_noise_of_their_draws_and_no_more_after_one_step(unit, monkeypatch):
    """w − v = S⁻¹ (m̂ − m) with S = E[f fᵀ | i]: variance tr(S⁻¹ C S⁻¹) / DRAWS, C = cov[f | i]; on the sphere of
    unit rows, of what lies along it alone."""
    monkeypatch.setattr(left_out, "LONGEST", 1)  # every class has a trained label
    process = world(6000)
    among = torch.randperm(6000, generator=um.stream(0, "batches"))[:300]
    rows, classes = completed(process, among, unit), process.class_of
    means = torch.zeros(30, 3, dtype=torch.float64).index_add(0, classes, rows) / 200
    assert (means - process.vectors).square().sum(1).mean() < 0.1 * 3 / DRAWS
    others = torch.ones(6000, dtype=torch.bool).index_fill(0, among, False)
    within = (rows - means[classes]).square().sum(1)[others].mean().item()

    z = process.sample_labels(torch.zeros(200_000, dtype=torch.long), um.stream(0, "evaluation")).z.double() * KAPPA
    second, covariance, v = z.mT @ z / len(z), z.mT.cov(), process.vectors[0]
    if unit:
        along = torch.linalg.svd(v[None]).Vh[1:].mT  # a basis of the plane that v stands on
        second, covariance = along.mT @ second @ along, along.mT @ covariance @ along
    inverse = second.inverse()
    noise = (inverse @ covariance @ inverse).trace().item() / DRAWS
    assert within == pytest.approx(noise, rel=0.06)


@pytest.mark.parametrize("unit", [False, True], ids=["free", "unit"])
def test_a_class_that_no_trained_label_is_of_is_found_all_the_same(unit):
    process = world(900)
    among = (process.class_of > 2).nonzero()[:300, 0]
    rows = completed(process, among, unit)
    missing = process.class_of <= 2
    apart = torch.cdist(process.vectors[:3], process.vectors[3:]).min(1).values
    assert apart.max() > 0.3  # further than any noise
    off = (rows - process.vectors[process.class_of]).norm(dim=1)
    assert off[missing].max() < 0.25
    assert off[missing].mean() < 3 * off[~missing].mean()


def test_trained_rows_stay():
    process = world(400)
    among = torch.arange(5, 205)
    network = perfect(process, among, unit=True)
    with torch.no_grad():
        network.loss.weight.mul_(0.3)  # of unit rows, the length of the weights behind them is nobody's business
    left_out.complete(network, process, among, um.stream(0, "rows"), lambda blocks, count: blocks)
    assert torch.equal(network.loss.weight[among], 0.3 * process.vectors[process.class_of[among]].float())


@pytest.mark.parametrize("unit", [False, True], ids=["free", "unit"])
def test_a_run_on_some_labels_ends_near_the_best_loss_over_all_of_them(unit):
    process = replace(world(1200), mixing=um.mixings.Linear(pool=10))
    model = um.Model(um.encoders.MLP((16,)), um.DIET(unit_rows=unit))
    recipe = um.Recipe(500, 1024, 4e-2, batches=EvenLabels(200), whitening_rows=5000)
    fit = um.fit(process, model, recipe, progress=False)
    scores = um.cluster_recovery(fit, rows=4096).scores
    assert scores["r2_z"] > 0.98
    assert scores["r2_w"] > 0.98
    fresh = process.sample(20_000, um.stream(0, "evaluation"))
    best = torch.log_softmax(KAPPA * fresh.z @ process.vectors.float().mT, 1).gather(1, fresh.label[:, None])
    bayes = torch.tensor(1200 / 30).log() - best.mean()
    with torch.no_grad():
        loss = fit.network.training_loss(fresh)
    assert bayes < loss < bayes + 0.02


@pytest.mark.parametrize(
    "at", [25, 30, "the end"]
)  # between two checkpoints, at the moment of one, after the last step
def test_a_run_on_some_labels_goes_on_as_if_it_had_never_stopped(at, tmp_path, monkeypatch):
    process = replace(world(400), mixing=um.mixings.Linear(pool=10))
    model = um.Model(um.encoders.MLP((8,)), um.DIET())
    recipe = um.Recipe(40, 64, 1e-2, batches=EvenLabels(50), head_settles=0.2, whitening_rows=500, checkpoint_every=10)
    whole = um.fit(process, model, recipe, progress=False)

    def stop(step, network):
        if step == at:
            raise SystemExit

    def killed(*_):
        raise SystemExit

    with monkeypatch.context() as patch:
        if at == "the end":
            patch.setattr(left_out, "complete", killed)
        with pytest.raises(SystemExit):
            um.fit(process, model, recipe, folder=tmp_path, progress=False, watch=stop)
    with pytest.raises(um.InputError, match="the rows of 50 labels of 400 so far: fit again"):
        um.cluster_recovery(um.load(tmp_path))
    steps = []
    rest = um.fit(process, model, recipe, folder=tmp_path, progress=False, watch=lambda s, n: steps.append(s))
    assert steps == ([] if at == "the end" else list(range(21, 41)))
    back = um.load(tmp_path)
    for name, value in whole.network.state_dict().items():
        assert torch.equal(rest.network.state_dict()[name], value)
        assert torch.equal(back.network.state_dict()[name], value)


def test_it_says_what_it_does_after_the_last_step(capsys):
    process = replace(world(400), mixing=um.mixings.Linear(pool=10))
    recipe = um.Recipe(2, 64, 1e-2, batches=EvenLabels(50), whitening_rows=500)
    um.fit(process, um.Model(um.encoders.MLP((8,)), um.DIET()), recipe)
    assert "finding the rows of the labels that were left out" in capsys.readouterr().err
