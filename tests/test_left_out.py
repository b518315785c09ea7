"""Labels that no step draws: the rows that are found for them are those that DIET asks for."""

import signal
import warnings
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
    head.weight, head.among = nn.Parameter(process.vectors[process.class_of[among]].float()), among
    return Network(nn.Identity(), nn.Identity(), nn.Identity(), head, ("x", "instance"))


def complete(network, process, stop=lambda: False):
    left_out.complete(network, process, um.stream(0, "rows"), lambda blocks: blocks, stop)
    return network.loss.rows().detach().double()


def seen_of(n=12, d=3, s=3000, seed=0, unit=False):
    """Outputs and trained rows that are of no process in particular."""
    generator = torch.Generator().manual_seed(seed)
    trained = torch.randn(n, d, generator=generator)
    trained = nn.functional.normalize(trained, dim=1) if unit else trained
    weights = torch.rand(s, generator=generator) / s
    return trained, Seen.of(2 * torch.randn(s, d, generator=generator), weights, trained)


def test_moments_are_the_derivatives_of_the_mass(generator):
    trained, seen = seen_of(s=5000)
    rows = torch.randn(7, 3, generator=generator)
    partition = (seen.outputs @ trained.mT).exp().sum(1)

    def mass(w):
        return ((seen.outputs @ w).exp() / partition * seen.weights).sum()

    found = seen.moments(rows)
    r = (seen.outputs @ rows.mT).exp() / partition[:, None] * seen.weights[:, None]
    assert torch.allclose(found.effective, r.sum(0).square() / r.square().sum(0), rtol=1e-3)
    for i, w in enumerate(rows):
        assert torch.allclose(found.mass[i], mass(w), rtol=1e-4)
        assert torch.allclose(found.first[i], torch.func.grad(mass)(w), rtol=1e-3, atol=1e-5)
        assert torch.allclose(found.second[i], torch.func.hessian(mass)(w), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("pull", [None, 0.0, 10.0], ids=["free", "unit", "unit, too short"])
@pytest.mark.parametrize("seed", range(3))
def test_a_row_is_where_its_mean_says_however_far_the_trained_ones_are(pull, seed, monkeypatch):
    """∇F = 0 at w if m = E[r_w f] / ρ, and along the sphere also if m is further out: then the row would be longer."""
    monkeypatch.setattr(left_out, "DRAWS", 10**7)  # as if means had no noise
    unit = pull is not None
    trained, seen = seen_of(seed=seed, unit=unit)
    generator = torch.Generator().manual_seed(seed + 100)
    rows = torch.randn(40, 3, generator=generator)
    rows = nn.functional.normalize(rows, dim=1) if unit else rows
    shares = 0.01 + torch.rand(40, generator=generator)
    at = seen.moments(rows)
    outwards = (pull or 0.0) * at.mass[:, None] * rows
    found, _ = rows_from_means(
        (at.first + outwards) / shares[:, None], shares, trained, seen, seen.moments(trained), unit
    )
    assert torch.cdist(rows, trained).min(1).values.max() > 0.3
    assert torch.allclose(found, rows, atol=5e-3)


@pytest.mark.parametrize("unit", [False, True], ids=["free", "unit"])
def test_rows_have_the_noise_of_their_draws_and_no_more_after_a_step_or_two(unit, monkeypatch):
    """w − v = S⁻¹ (m̂ − m) with S = E[f fᵀ | i]: variance tr(S⁻¹ C S⁻¹) / DRAWS, C = cov[f | i]; on the sphere of
    unit rows, of what lies along it alone."""
    monkeypatch.setattr(left_out, "MOST_STEPS", 2)  # every class has a trained label
    process = world(6000)
    among = torch.randperm(6000, generator=um.stream(0, "batches"))[:300]
    rows, classes = complete(perfect(process, among, unit), process), process.class_of
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
def test_a_class_that_no_trained_label_is_of_is_found_by_more_steps(unit, monkeypatch):
    process = world(700, clusters=7)
    among = (process.class_of > 0).nonzero()[:300, 0]
    assert torch.cdist(process.vectors[:1], process.vectors[1:]).min() > 0.5  # a long way

    def off():
        rows = complete(perfect(process, among, unit), process)[process.class_of == 0]
        return (rows.mean(0) - process.vectors[0]).norm().item()

    assert off() < 0.05
    monkeypatch.setattr(left_out, "MOST_STEPS", 1)
    with pytest.warns(UserWarning, match=r"the rows of \d+ labels that were left out are uncertain, .* train more"):
        assert off() > 0.1


@pytest.mark.parametrize("unit", [False, True], ids=["free", "unit"])
def test_rows_that_rest_on_few_outputs_are_said_to_be_uncertain(unit):
    """Where clusters are narrow, a class without a trained label is seen by the tails of others alone."""
    narrow = um.VonMisesFisher(60.0)
    process = um.ClusterProcess(um.Sphere(3), um.Clusters(12), narrow, um.mixings.Identity(), 600)
    head = um.DIET(unit_rows=unit, temperature=1 / 60).build(process, 3, torch.Generator())
    for first, lacks in ((0, False), (1, True)):  # of the classes that are trained
        among = (process.class_of >= first).nonzero()[:300, 0]
        head.weight, head.among = nn.Parameter(process.vectors[process.class_of[among]].float()), among
        network = Network(nn.Identity(), nn.Identity(), nn.Identity(), head, ("x", "instance"))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            complete(network, process)
        assert any("uncertain" in str(warning.message) for warning in told) == lacks


@pytest.mark.parametrize("unit", [False, True], ids=["free", "unit"])
def test_rows_of_rare_and_common_classes_are_stationary(unit):
    """E[r f] − ρ_i m_i is zero, by rows that the search has not seen; with unit rows, along the sphere."""
    process = world(900, frequencies=(0.01, 20.0, *[1.0] * 28))
    among = torch.randperm(900, generator=um.stream(0, "batches"))[:500]
    trained = process.vectors[process.class_of[among]].float()
    rows = complete(perfect(process, among, unit), process).float()
    fresh = process.sample(400_000, um.stream(1, "evaluation"), among=among)
    seen = Seen.of(KAPPA * fresh.z, torch.full((400_000,), 1 / 400_000), trained)
    others = torch.ones(900, dtype=torch.bool).index_fill(0, among, False)
    for c in (0, 1, 2):  # rare, common, ordinary
        labels = ((process.class_of == c) & others).nonzero()[:, 0]
        share = (process.probabilities[labels[0]] / process.probabilities[among].sum()).item()
        mean = KAPPA * process.sample_labels(labels[:1].repeat(100_000), um.stream(2, "evaluation")).z.mean(0)
        first = seen.moments(rows[labels]).first
        down = share * mean - first
        if unit:
            down = down - (down * rows[labels]).sum(1, keepdim=True) * rows[labels]
        assert down.mean(0).norm() < 0.05 * first.mean(0).norm()


def test_trained_rows_stay_and_a_search_that_is_stopped_leaves_all_as_it_was():
    process = world(400)
    among = torch.arange(5, 205)
    network = perfect(process, among, unit=True)
    with torch.no_grad():
        network.loss.weight.mul_(0.3)  # of unit rows, the length of the weights behind them is nobody's business
    before = network.loss.weight.detach().clone()
    complete(network, process, stop=lambda: True)
    assert torch.equal(network.loss.weight, before)
    assert torch.equal(network.loss.among, among)
    complete(network, process)
    assert torch.equal(network.loss.weight[among], before)
    assert network.loss.among is None


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
    stopped = um.load(tmp_path)
    assert not stopped.finished
    assert len(stopped.network.loss.weight) == 50
    steps = []
    rest = um.fit(process, model, recipe, folder=tmp_path, progress=False, watch=lambda s, n: steps.append(s))
    assert steps == ([] if at == "the end" else list(range(21, 41)))
    back = um.load(tmp_path)
    assert back.finished
    for name, value in whole.network.state_dict().items():
        assert torch.equal(rest.network.state_dict()[name], value)
        assert torch.equal(back.network.state_dict()[name], value)


def test_it_says_what_it_does_after_the_last_step(capsys):
    process = replace(world(400), mixing=um.mixings.Linear(pool=10))
    recipe = um.Recipe(2, 64, 1e-2, batches=EvenLabels(50), whitening_rows=500)
    um.fit(process, um.Model(um.encoders.MLP((8,)), um.DIET()), recipe)
    assert "finding the rows of the labels that were left out" in capsys.readouterr().err


def test_a_run_that_is_stopped_is_scored_by_the_rows_that_it_has():
    """Rows of a class coincide with its cluster vector: scores would be low if they were held against other labels'."""
    process = world(2000)
    among = torch.randperm(2000, generator=um.stream(0, "batches"))[:300]
    recipe = um.Recipe(1, 64, 1e-2, batches=EvenLabels(300), whitening_rows=500)
    fit = um.fit(process, um.Model(um.encoders.MLP((8,)), um.DIET(temperature=1 / KAPPA)), recipe, progress=False)
    scores = um.cluster_recovery(replace(fit, network=perfect(process, among, unit=False)), rows=2000).scores
    assert min(scores["r2_z"], scores["r2_w"], scores["r2_w_clusters"]) > 0.999


def test_ctrl_c_while_rows_are_found_keeps_what_there_is(tmp_path, monkeypatch):
    process = replace(world(400), mixing=um.mixings.Linear(pool=10))
    model = um.Model(um.encoders.MLP((8,)), um.DIET())
    recipe = um.Recipe(3, 64, 1e-2, batches=EvenLabels(50), whitening_rows=500)
    found = left_out.rows_from_means
    monkeypatch.setattr(left_out, "BLOCK", 64)  # several blocks
    monkeypatch.setattr(left_out, "rows_from_means", lambda *_: signal.raise_signal(signal.SIGINT) or found(*_))
    with pytest.raises(
        um.Interrupted,
        match=r"^interrupted after 3 of 3 steps with the rows of 50 labels only; fitting .*goes on from here$",
    ) as stopped:
        um.fit(process, model, recipe, folder=tmp_path, progress=False)
    assert len(stopped.value.fit.network.loss.weight) == 50
    monkeypatch.setattr(left_out, "rows_from_means", found)
    assert len(um.fit(process, model, recipe, folder=tmp_path, progress=False).network.loss.weight) == 400


def test_as_many_labels_as_there_are_are_all_of_them():
    process = replace(world(60), mixing=um.mixings.Linear(pool=10))
    model = um.Model(um.encoders.MLP((8,)), um.DIET())
    some, every = (um.Recipe(3, 64, 1e-2, batches=EvenLabels(n), whitening_rows=500) for n in (60, None))
    fits = [um.fit(process, model, recipe, progress=False).network.loss.weight for recipe in (some, every)]
    assert torch.equal(*fits)


def test_rows_of_other_labels_are_not_taken_for_those_of_the_run():
    first, second = (EvenLabels(50).source(world(400), 64, um.stream(seed, "batches")) for seed in (0, 1))
    EvenLabels(50).source(world(400), 64, um.stream(0, "batches")).restore(first.state())
    with pytest.raises(ValueError, match="another draw of the labels"):
        second.restore(first.state())
