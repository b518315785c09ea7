"""Classification and DIET: the head, what objectives are told, and small worlds recovered."""

import math

import numpy as np
import pytest
import torch

import unmix as um
from unmix.measures.head import collapse, head_recovery, orthogonality_error
from unmix.training.batches import EvenLabels, Local


def world(d=3, clusters=40, kappa=10.0, mixing=None, **options):
    mixing = mixing or um.mixings.Linear(pool=10)
    return um.ClusterProcess(um.Sphere(d), um.Clusters(clusters), um.VonMisesFisher(kappa), mixing, **options)


def trained(process, objective, output=None, steps=600, **options):
    model = um.Model(um.encoders.MLP((16,)), objective, output or um.outputs.Free())
    return um.fit(process, model, um.Recipe(steps, 512, 4e-2, whitening_rows=5000, **options), progress=False)


def test_rows_are_normalised_inside_the_graph(generator):
    head = um.DIET(unit_rows=True).build(world(instances=80), 3, generator)
    assert torch.allclose(head.rows().norm(dim=1), torch.ones(80))
    loss = head(lambda x: x, torch.randn(20, 3, generator=generator), torch.arange(20))
    loss.backward()
    along = torch.linalg.vecdot(head.weight.grad, head.weight.detach())
    assert along.abs().max() < 1e-4 * head.weight.grad.norm()  # a length that does not matter has no gradient


@pytest.mark.parametrize(
    ("objective", "told"),
    [
        (um.CrossEntropy(), {"x", "label"}),
        (um.DIET(), {"x", "instance"}),
        (um.Regression(), {"x", "z"}),
        (um.InfoNCE(), {"x", "x_view"}),
    ],
    ids=["cross-entropy", "DIET", "regression", "InfoNCE"],  # a set prints in any order
)
def test_an_objective_is_handed_what_it_is_told_and_no_more(objective, told, generator):
    pairs = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.Linear(pool=5))
    process = pairs if isinstance(objective, um.InfoNCE) else world()
    asked = set()

    class Spy(type(process.sample(2, generator))):
        def __getattribute__(self, name):
            if name in process.gives:
                asked.add(name)
            return super().__getattribute__(name)

    rows = process.sample(100, generator)
    network = um.Model(um.encoders.MLP((8,)), objective).build(process, rows.x, generator)
    network.training_loss(Spy(*rows))
    assert asked == told


def test_objectives_refuse_processes_that_cannot_tell_them():
    pairs = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.Linear(pool=5))
    with pytest.raises(um.InputError, match=r"gives no instance.*ClusterProcess"):
        trained(pairs, um.DIET())
    with pytest.raises(um.InputError, match="gives no x_view"):
        trained(world(), um.InfoNCE())
    with pytest.raises(um.InputError, match="gives no instance"):
        trained(um.SectorProcess(), um.DIET())
    with pytest.raises(um.InputError, match=r"even labels among some must be like um\.DIET"):
        trained(world(), um.CrossEntropy(), batches=EvenLabels(10))
    with pytest.raises(um.InputError, match="cannot draw 100"):
        trained(world(), um.DIET(), batches=EvenLabels(100))
    with pytest.raises(um.InputError, match="with label noise or smoothing the optimum depends"):
        trained(world(label_noise=0.1), um.DIET(), batches=EvenLabels(10))
    with pytest.raises(um.InputError, match="with label noise or smoothing the optimum depends"):
        trained(world(), um.DIET(label_smoothing=0.1), batches=EvenLabels(10))
    with pytest.raises(um.InputError, match=r"local batches must be like um\.PairProcess"):
        trained(world(), um.DIET(), batches=Local(256, 2))
    with pytest.raises(um.InputError, match=r"even labels must be like um\.ClusterProcess"):
        trained(um.SectorProcess(), um.CrossEntropy(), batches=EvenLabels())


def test_a_process_of_ones_own_must_say_how_many_labels_it_has(generator):
    class Own(um.Process):
        gives = ("z", "x", "label")
        seed, space, mixing = 0, um.Sphere(3), um.mixings.Identity()

        def sample(self, n, generator=None, dtype=None):
            raise NotImplementedError

    own = Own()
    with pytest.raises(um.InputError, match="give it a whole number `classes`"):
        um.Model(objective=um.CrossEntropy()).check(own, 64)
    own.classes = 5
    um.Model(objective=um.CrossEntropy()).check(own, 64)
    assert um.CrossEntropy().build(own, 3, generator).rows().shape == (5, 3)


def test_rows_of_a_class_that_differ_cost_half_the_variance_of_their_logits(generator):
    """Why a head has to settle: Jensen's gap is felt by the encoder, as a penalty on long outputs. To second order it
    is ½ Σ_c p(c|x) Var⟨δ_c, f(x)⟩."""
    classes, each, n = 4, 2000, 300
    f = torch.randn(n, 3, generator=generator, dtype=torch.float64)
    label = torch.arange(n) % classes
    shared = torch.randn(classes, 3, generator=generator, dtype=torch.float64)
    jitter = torch.tensor([0.05, 0.1, 0.2, 0.3])[:, None] * torch.randn(
        each, classes, 3, generator=generator, dtype=torch.float64
    )
    jitter -= jitter.mean(0)
    rows = torch.cat([(shared + jitter).reshape(-1, 3), shared])  # and last, for each class, the mean of its rows
    told = um.objectives.cross_entropy(f, rows, classes * each + label) - math.log(each + 1)
    extra = told - um.objectives.cross_entropy(f, shared, label)
    variance = (jitter @ f.mT).var(0)  # of a class, for an output
    posterior = torch.softmax(shared @ f.mT, 0)
    assert extra.item() == pytest.approx((posterior * variance).sum(0).mean().item() / 2, rel=0.05)


def test_rows_of_unit_length_and_outputs_move_together_almost_for_free(generator):
    """w = (v + ψ)/|v + ψ| and f = κ(z + ψ) change the logit of v by κ⟨v, ψ⟩(1 − ⟨v, z⟩), beside what all classes share
    and O(ψ²); either move alone is felt far more."""
    kappa = 50.0
    process = world(5, 100, kappa)
    z, v = process.sample(4096, generator).z.double(), process.vectors.double()
    direction = torch.nn.functional.normalize(torch.randn(5, generator=generator, dtype=torch.float64), dim=0)

    def logits(of_rows, of_outputs):
        rows = torch.nn.functional.normalize(v + of_rows * direction, dim=1)
        return kappa * (z + of_outputs * direction) @ rows.mT

    def nats(found):
        true = torch.log_softmax(logits(0, 0), 1)
        return (true.exp() * (true - torch.log_softmax(found, 1))).sum(1).mean().item()

    small = 1e-5
    change = (logits(small, small) - logits(0, 0)) / small
    shared = kappa * (z @ direction)[:, None]
    assert torch.allclose(change, kappa * (v @ direction) * (1 - z @ v.mT) + shared, atol=kappa * 10 * small)
    both, rows, outputs = (nats(logits(*moved)) for moved in ((0.1, 0.1), (0.1, 0), (0, 0.1)))
    assert both < min(rows, outputs) / 20


CASES = {
    "C1": (um.DIET(unit_rows=True, learn_temperature=True), um.outputs.Sphere()),
    "C2": (um.DIET(), um.outputs.Sphere()),
    "C3": (um.DIET(unit_rows=True), um.outputs.Free()),
    "C4": (um.DIET(), um.outputs.Free()),
    "Theorem 2": (um.CrossEntropy(), um.outputs.Free()),
}


@pytest.mark.parametrize("case", CASES)
def test_every_case_recovers_a_linear_world(case):
    objective, output = CASES[case]
    process = world(kappa=4.0, instances=120)
    fit = trained(process, objective, output, steps=900)
    found = um.cluster_recovery(fit, rows=2048)
    scores = found.scores
    assert found.promise.theorem.name.endswith(case)
    assert scores["r2_z"] > 0.98
    assert scores["r2_w_clusters"] > 0.98
    assert ("collapse" in scores) == (case != "Theorem 2")  # there, a class has one row
    assert scores.get("collapse", 0) < 0.02
    if case == "C1":
        assert scores["beta"] == pytest.approx(4.0, rel=0.1)
    if case in ("C1", "C2", "C3"):
        assert scores["orthogonality_z"] < 0.06
        assert scores["orthogonality_w"] < 0.1
    else:
        assert "orthogonality_z" not in scores  # nothing is promised to be orthogonal


def test_where_c3_lacks_diversity_nothing_is_promised_but_the_scores_of_the_paper_are_there():
    fit = trained(world(clusters=7, instances=70), um.DIET(unit_rows=True), steps=20)
    found = um.cluster_recovery(fit, rows=500)
    assert not fit.process.diverse
    assert found.promise.head.scale is None
    assert {"orthogonality_z", "mae_z", "mae_w"} <= set(found.scores)
    free = trained(world(clusters=7, instances=70), um.DIET(), steps=20)
    assert "mae_z" not in um.cluster_recovery(free, rows=500).scores


def test_pure_noise_teaches_nothing():
    """With labels that know nothing of x the best head is one point, and its loss log |C|."""
    noisy = trained(world(label_noise=1.0), um.CrossEntropy(), steps=400)
    head = noisy.network.loss.rows().detach()
    x = noisy.process.sample(2000, um.stream(0, "evaluation")).x
    p = torch.softmax(noisy.embed(x) @ head.mT, 1)
    assert (p * 40 - 1).abs().mean() < 0.2  # nearly uniform over the 40 classes
    clean = trained(world(), um.CrossEntropy(), steps=400)
    p = torch.softmax(clean.embed(x) @ clean.network.loss.rows().detach().mT, 1)
    assert (p * 40 - 1).abs().mean() > 1


def test_batch_norm_uses_the_statistics_of_training_when_it_embeds(generator):
    process = world()
    model = um.Model(um.encoders.MLP.paper(3, batch_norm=True), um.CrossEntropy(), whiten=False)
    fit = um.fit(process, model, um.Recipe(20, 64, 1e-3, whitening_rows=100), progress=False)
    x = process.sample(10, generator).x
    assert torch.allclose(fit.embed(x)[:3], fit.embed(x[:3]), atol=1e-5)  # rows do not depend on each other
    assert fit.network.training
    assert sum(isinstance(m, torch.nn.BatchNorm1d) for m in fit.network.modules()) == 6


def test_collapse_is_the_share_within_classes():
    rng = np.random.default_rng(0)
    centres, classes = rng.normal(size=(5, 3)), np.arange(500) % 5
    noise = rng.normal(size=(500, 3))
    within = np.concatenate([noise[classes == c] - noise[classes == c].mean(0) for c in range(5)])
    w = centres[classes] + noise
    assert collapse(w, classes) == pytest.approx((within**2).sum() / ((w - w.mean(0)) ** 2).sum())
    assert collapse(centres[classes], classes) == pytest.approx(0, abs=1e-12)


def test_orthogonality_is_relative_to_the_predicted_scale():
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    assert orthogonality_error(0.02 * turn, 0.02) == pytest.approx((0, 0), abs=1e-12)
    relative, absolute = orthogonality_error(np.zeros((4, 4)), 0.02)  # the trap of the absolute score
    assert (relative, absolute) == (1.0, pytest.approx(0.02))


def test_rows_of_one_class_leak_and_clusters_do_not():
    """Rows that know their class but not where it lies: one bit a class, and nothing to generalise."""
    rng = np.random.default_rng(0)
    vectors, classes = rng.normal(size=(20, 15)), np.arange(2000) % 20
    names = rng.normal(size=(20, 15))
    found = head_recovery(names[classes], vectors, classes)
    assert found.rows.r2() > 0.7
    assert found.clusters.r2() < 0


def test_a_head_with_too_few_rows_says_why():
    found = head_recovery(np.eye(4), np.eye(4), np.arange(4))
    assert found.rows is None
    assert "too few" in found.refused


def test_a_learned_radius_leaves_the_scale_of_the_rows_open():
    fit = trained(world(instances=80), um.DIET(), um.outputs.Sphere(3.0, learnable=True), steps=20)
    scores = um.cluster_recovery(fit, rows=500).scores
    assert "orthogonality_w" not in scores
    assert "orthogonality_z" not in scores


def test_scores_of_other_fits_are_refused():
    pairs = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.Linear(pool=5))
    fit = um.fit(pairs, um.Model(), um.Recipe(2, 16, 1e-3, whitening_rows=100), progress=False)
    with pytest.raises(um.InputError, match=r"process must be like um\.ClusterProcess"):
        um.cluster_recovery(fit)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: um.CrossEntropy(label_smoothing=1.0), "a share below 1"),
        (lambda: um.DIET(temperature=0.0), "temperature must be positive"),
        (lambda: EvenLabels(1), "at least 2 labels"),
        (lambda: head_recovery(np.eye(4), np.eye(4), np.arange(4) - 1), "from 0 to 3"),
        (lambda: head_recovery(np.eye(4), np.eye(4), np.arange(4.0)), "whole numbers"),
        (lambda: um.guarantee(world(), um.Model(objective=um.DIET()), beta=0.0), "β must be positive"),
        (lambda: orthogonality_error(np.eye(2), -1.0), "predicted scale must be positive"),
        (lambda: collapse(np.ones((4, 2)), np.arange(4)), "all rows of the head are equal"),
        (lambda: collapse(np.ones((4, 2)), np.arange(3)), "one class a row"),
    ],
)
def test_bad_settings_are_refused(make, words):
    with pytest.raises(um.InputError, match=words):
        make()


def test_classes_of_the_plane_are_linearly_recovered():
    process = um.SectorProcess(classes=18, sharpness=1.0)
    fit = trained(process, um.CrossEntropy(), steps=600)
    rows = process.sample(4000, um.stream(0, "evaluation"))
    assert um.recovery(fit.embed(rows.x), rows.z).r2() > 0.98
    assert math.isclose(fit.network.loss.beta.item(), 1.0)
