"""Did it train? The floor of a loss, the loss of the true inverse, and what the attained loss says next to both."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import unmix as um
from unmix.objectives import info_nce
from unmix.objectives.cross_entropy import cross_entropy
from unmix.optimality.contrastive import Bayes, exchangeable, logits, losses_of
from unmix.optimality.labels import Labels, posterior
from unmix.optimality.losses import Loss, Losses, best_scale
from unmix.optimality.optimality import Optimality
from unmix.training.load import start

SPHERE, LINEAR = um.Sphere(4), um.mixings.Linear(pool=10)
SMALL = um.encoders.MLP((8,))


def fitted(process, objective, output=um.outputs.Free(), steps=1, batch=256, **recipe):  # noqa: B008  # frozen
    recipe = um.Recipe(steps, batch, 1e-2, whitening_rows=500, **recipe)
    return um.fit(process, um.Model(SMALL, objective, output), recipe, progress=False)


def vmf(kappa=10.0, d=4):
    return um.PairProcess(um.Sphere(d), um.Uniform(), um.VonMisesFisher(kappa), LINEAR)


def test_a_model_that_cannot_express_the_law_has_its_inverse_above_the_floor():
    """The unit sphere, vMF(10) and τ = 1: 3.81 by Bayes and 5.50 at the inverse, with 499 negatives in 5 dimensions."""
    found = fitted(vmf(d=5), um.InfoNCE(um.Dot(), 1.0), um.outputs.Sphere(), batch=500).optimality
    assert found.floor.value == pytest.approx(3.81, abs=0.06)
    assert 0.01 < found.floor.error < 0.03
    assert found.at_inverse.value == pytest.approx(5.50, abs=0.01)


@pytest.mark.parametrize("kappa", [2.0, 10.0])
def test_where_model_and_law_match_the_true_inverse_is_the_floor(kappa):
    found = fitted(vmf(kappa), um.InfoNCE(um.Dot(), 1 / kappa), um.outputs.Sphere()).optimality
    assert found.at_inverse.value == pytest.approx(found.floor.value, abs=1e-5)
    two = fitted(vmf(kappa), um.InfoNCE(um.Dot(), 1 / kappa, two_sided=True), um.outputs.Sphere()).optimality
    assert two.at_inverse.value == pytest.approx(two.floor.value, abs=1e-5)
    learned = fitted(vmf(kappa), um.InfoNCE(um.Dot()), um.outputs.Sphere(learnable=True)).optimality
    assert learned.at_inverse.value == pytest.approx(learned.floor.value, abs=1e-2)  # the best scale is κ


def test_the_floor_of_one_negative_is_the_integral():
    """z̃ or another draw? Two candidates, on a circle: −E log p(z̃|z) / (p(z̃|z) + p(z')) by quadrature."""
    law, circle = um.VonMisesFisher(3.0), um.Sphere(2)
    angle = torch.arange(2000, dtype=torch.float64) * (2 * math.pi / 2000)
    points = torch.stack([angle.cos(), angle.sin()], 1)
    density = law.log_prob(circle, points, points[:1].expand(2000, -1)).exp() * 2 * math.pi / 2000
    log_odds = density.log()[:, None] - density.log()  # of a positive at one angle against a negative at another
    exact = (density @ torch.nn.functional.softplus(-log_odds).mean(1)).item()
    process = um.PairProcess(circle, um.Uniform(), law, LINEAR)
    found = fitted(process, um.InfoNCE(um.Dot(), group_size=2), um.outputs.Sphere(), batch=8192).optimality
    assert found.uninformed == math.log(2)
    many = [fitted(process.with_seed(s), um.InfoNCE(um.Dot(), group_size=2)).optimality.floor.value for s in range(3)]
    assert found.floor.value == pytest.approx(exact, abs=4 * found.floor.error)
    assert sum(many) / 3 == pytest.approx(exact, abs=4 * found.floor.error)


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 99), st.booleans())
def test_the_logits_are_those_of_info_nce(n, d, seed, dot):
    similarity = um.Dot() if dot else um.Lp(1)
    a, b = (torch.randn(n, d, generator=torch.Generator().manual_seed(seed + k), dtype=torch.float64) for k in (0, 1))
    naive = info_nce(similarity, a, b, 0.5).item()
    assert losses_of(2.0 * logits(a, b, similarity, n)[None, None]).item() == pytest.approx(naive, abs=1e-9)


WORLDS = [
    (um.Box(3), um.Uniform(), um.Laplace(0.2), um.Lp(1)),
    (um.Box(3), um.Uniform(), um.Normal(0.1), um.Lp(2)),
    (um.Euclidean(3), um.Normal(1.0), um.Normal(0.5), um.Lp(2)),
    (um.Euclidean(3), um.Laplace(1.0), um.Normal(1.0), um.Lp(2)),
    (SPHERE, um.Normal(1.0), um.Laplace(0.3), um.Dot()),
    (SPHERE, um.Uniform(), um.Normal(0.3), um.Dot()),
]


@pytest.mark.parametrize(("space", "marginal", "conditional", "similarity"), WORLDS, ids=str)
def test_no_loss_is_below_the_floor(space, marginal, conditional, similarity):
    """Nor that of a critic of the same densities that is a little wrong."""
    process = um.PairProcess(space, marginal, conditional, LINEAR)
    found = fitted(process, um.InfoNCE(similarity), steps=30, batch=16).optimality
    assert found.above_floor.value > 3 * found.above_floor.error
    if found.at_inverse is not None:
        paired = (found.above_floor.error**2 + found.above_inverse.error**2) ** 0.5
        assert found.at_inverse.value - found.floor.value > -3 * paired
        assert found.above_inverse.value == pytest.approx(found.attained.value - found.at_inverse.value)
    assert found.above_floor.value == pytest.approx(found.attained.value - found.floor.value)
    assert found.attained.value < found.uninformed


def test_bayes_needs_the_law_that_negatives_are_drawn_from():
    """A critic of the conditional alone is the floor only where the marginal is uniform."""
    process, size = um.PairProcess(um.Euclidean(2), um.Normal(1.0), um.Normal(1.0), LINEAR), 64
    pairs = process.sample(4096, torch.Generator().manual_seed(0), torch.float64)

    class Tempered(Bayes):
        def _marginal(self, b):
            return share * super()._marginal(b)

    losses = {}
    for share in (1.0, 0.5, 0.0):
        groups = zip(pairs.z.split(size), pairs.z_view.split(size), strict=True)
        losses[share] = (
            sum(losses_of(logits(z, view, Tempered(process), size)[None, None]).item() for z, view in groups) / 64
        )
    found = fitted(process, um.InfoNCE(um.Lp(2), group_size=size)).optimality
    assert losses[1.0] == pytest.approx(found.floor.value, abs=4 * found.floor.error)
    assert losses[0.0] > losses[0.5] > losses[1.0]


def test_a_loss_below_that_of_the_inverse_has_another_optimum_than_the_latents():
    """Rows 11 and 12 of Table 1 of Zimmermann et al. 2021 with the printed scales."""
    process = um.PairProcess(um.Euclidean(3), um.Normal(1.0), um.Normal(1.0), LINEAR)
    found = fitted(process, um.InfoNCE(um.Lp(2)), steps=300).optimality
    assert found.above_inverse.value < -0.1
    assert "below that of the true inverse, so the latents are not its optimum. It is " in found.verdict


def test_an_untrained_network_is_not_optimised_and_a_trained_one_is():
    objective = um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere()
    bent = replace(vmf(), mixing=um.mixings.MLP(3, pool=50))
    start, end = (fitted(bent, *objective, steps=1).optimality, fitted(vmf(), *objective, steps=300).optimality)
    assert start.verdict.startswith("Not optimised: the loss is ")
    assert end.verdict.startswith("Optimised: the loss is that of the true inverse, to 0.0")
    assert "floor (Bayes)" in str(end)


def verdict(attained, floor, inverse, spread=0.001, uninformed=6.0):
    noise = spread * torch.linspace(-1, 1, 32, dtype=torch.float64)
    one = torch.ones(32, dtype=torch.float64)
    known = [value if isinstance(value, str) else value * one for value in (floor, inverse)]
    return Optimality.of(Losses(attained * one + noise, *known, uninformed, "a loss")).verdict


def test_the_verdict_says_no_more_than_its_error_allows():
    assert verdict(3.3, 2.9, 3.0).startswith("Not optimised: the loss is 0.300 ± 0.000 above")
    assert verdict(3.001, 2.9, 3.0).startswith("Optimised: the loss is that of the true inverse")
    assert verdict(2.5, 2.4, 3.0).startswith("The loss is 0.500 ± 0.000 below that of the true inverse")
    assert verdict(2.5, 2.4, 3.0).endswith("It is 0.100 ± 0.000 above the floor.")
    assert verdict(3.1, 2.9, 3.0, spread=2.0).startswith("Whether it is optimised cannot be told")
    assert verdict(3.0, 2.9, 3.0, spread=2.0).startswith("Whether it is optimised cannot be told")
    assert verdict(0.0, 0.0, 0.0, spread=1e-4).startswith("Saturated")
    assert verdict(0.5, 0.0, 0.0).startswith("Not optimised")
    assert "or the model cannot express the law" in verdict(3.3, 3.0, "no")
    assert verdict(3.0, 3.0, "no").startswith("Optimised: the loss is the floor")
    assert verdict(3.1, 3.0, "no", spread=2.0).startswith("Whether it is optimised cannot be told")
    with pytest.raises(um.InputError, match="loss is not finite"):
        verdict(math.nan, 3.0, 3.0)


@pytest.mark.parametrize("size", [2, 8])
def test_few_negatives_tell_nothing_of_an_untrained_network(size):
    bent = um.PairProcess(um.Sphere(10), um.Uniform(), um.VonMisesFisher(1.0), um.mixings.MLP(3, pool=50))
    found = fitted(bent, um.InfoNCE(um.Dot(), group_size=size), um.outputs.Sphere()).optimality
    assert not found.verdict.startswith("Optimised")


@pytest.mark.parametrize(("conditional", "p"), [(um.Laplace(0.01), 1), (um.Laplace(0.002), 1), (um.Normal(0.01), 2)])
@pytest.mark.parametrize("seed", [0, 3])
def test_where_hardly_a_draw_is_confused_the_best_scale_is_known_all_the_same(conditional, p, seed):
    """By draws alone half of the batches would be told apart at any scale, and the other half would pay for it."""
    process = um.PairProcess(um.Box(3), um.Uniform(), conditional, LINEAR, seed)
    found = fitted(process, um.InfoNCE(um.Lp(p)), batch=64).optimality
    assert found.at_inverse.value == pytest.approx(found.floor.value, abs=0.02)


def test_only_the_positive_is_possible_where_negatives_cannot_be():
    """A marginal of bounded support, which a wide conditional leaves: where it does, p(z̃) is 0."""
    process = um.PairProcess(um.Euclidean(3), um.Truncated(um.Normal(1.0), 1.0), um.Normal(0.5), LINEAR)
    found = fitted(process, um.InfoNCE(um.Lp(2))).optimality
    assert 0 < found.floor.value < found.at_inverse.value < found.uninformed


def test_a_run_that_is_not_finished_has_the_loss_of_the_labels_that_it_has():
    process = um.ClusterProcess(SPHERE, um.Clusters(6), um.VonMisesFisher(8.0), LINEAR, instances=64)
    model = um.Model(SMALL, um.DIET())
    recipe = um.Recipe(2, 64, 1e-2, batches=um.recipes.EvenLabels(among=10), whitening_rows=500)
    network, *_ = start(process, model, recipe, 0)
    unfinished = um.Fit(process, model, recipe, 0, network, (), 1, 0.0, None)
    assert network.loss.among is not None
    found = unfinished.optimality
    assert found.attained.value == pytest.approx(math.log(10), abs=0.2)
    assert "rows of some labels only" in found.unknown[0]


def test_a_wider_kernel_has_no_floor_but_the_loss_without_it_has():
    process = um.PairProcess(um.Box(2), um.Uniform(), um.Laplace(0.05), LINEAR)
    plain = fitted(process, um.InfoNCE(um.Lp(1)), um.outputs.Box())
    wide = um.Fit(process, plain.model, replace(plain.recipe, widen=True), 0, plain.network, (), 1, 0.0, None)
    assert wide.optimality.told.endswith("without the wider kernel of training")
    assert wide.optimality.attained == plain.optimality.attained
    assert wide.optimality.floor == plain.optimality.floor


def test_what_is_not_known_is_said_and_gives_no_number():
    two_sided = um.PairProcess(um.Box(2), um.Uniform(), um.Laplace(0.1), LINEAR)
    found = fitted(two_sided, um.InfoNCE(um.Lp(1), two_sided=True)).optimality
    assert (found.floor, found.at_inverse) == (None, None)
    assert all("the law of the second view" in why for why in found.unknown)
    truncated = um.PairProcess(SPHERE, um.Uniform(), um.Truncated(um.Normal(0.5), 0.5), LINEAR)
    assert "truncated law on a sphere is not available" in fitted(truncated, um.InfoNCE(um.Dot())).optimality.unknown[0]
    dot = um.PairProcess(um.Box(3), um.Uniform(), um.Normal(0.2), LINEAR)
    assert "depends on the origin" in fitted(dot, um.InfoNCE(um.Dot())).optimality.unknown[0]
    edge = um.PairProcess(um.Euclidean(2), um.Normal(1e4), um.Truncated(um.Normal(9.0), 0.01), LINEAR)
    found = fitted(edge, um.InfoNCE(um.Lp(2))).optimality  # at 10,000 single precision is coarser than a tenth of that
    assert found.floor is None
    assert "outside the support" in found.unknown[0]
    wide = um.Model(SMALL, um.InfoNCE(um.Dot(), 0.1), dimension=6)
    found = um.fit(vmf(), wide, um.Recipe(1, 64, 1e-2, whitening_rows=500), progress=False).optimality
    assert found.at_inverse is None
    assert "6 outputs cannot be 4 latents" in found.unknown[0]
    assert found.verdict.startswith("The loss is ")
    assert "outputs in a box" in fitted(vmf(), um.InfoNCE(um.Dot()), um.outputs.Box()).optimality.unknown[0]

    class Twice(um.PairProcess):
        def sample(self, n, generator=None, dtype=torch.float32):
            return super().sample(n, generator, dtype)

    found = fitted(Twice(SPHERE, um.Uniform(), um.VonMisesFisher(9.0), LINEAR), um.InfoNCE(um.Dot())).optimality
    assert (found.floor, found.at_inverse, found.uninformed) == (None, None, None)
    assert found.verdict == "Whether it is optimised is not known."
    assert found.as_dict()["floor"] is None


def test_pairs_are_exchangeable_where_the_law_depends_on_the_angle_alone():
    assert exchangeable(vmf())
    assert exchangeable(um.PairProcess(SPHERE, um.Uniform(), um.Normal(0.1), LINEAR))
    assert not exchangeable(um.PairProcess(SPHERE, um.Uniform(), um.Laplace(0.1), LINEAR))
    assert not exchangeable(um.PairProcess(um.Box(2), um.Uniform(), um.Normal(0.1), LINEAR))
    assert not exchangeable(um.PairProcess(SPHERE, um.Normal(1.0), um.Normal(0.1), LINEAR))


def clusters(**options):
    return um.ClusterProcess(SPHERE, um.Clusters(6), um.VonMisesFisher(8.0), LINEAR, **options)


CASES = [
    (clusters(), um.CrossEntropy()),
    (clusters(instances=20), um.CrossEntropy(label_smoothing=0.1)),
    (clusters(instances=20), um.DIET()),
    (clusters(instances=20, label_noise=0.3), um.DIET(label_smoothing=0.2)),
    (clusters(instances=20, label_noise=0.3), um.CrossEntropy()),
    (clusters(instances=12, frequencies=(1, 2, 3, 1, 1, 4)), um.DIET()),
    (um.SectorProcess(6, sharpness=0.7), um.CrossEntropy(label_smoothing=0.1)),
]


@pytest.mark.parametrize(("process", "objective"), CASES, ids=str)
def test_bayes_is_the_best_table_of_probabilities(process, objective):
    """By brute force: label by label, with targets drawn from the process itself."""
    labels, rows = Labels(process, objective), process.sample(40_000, torch.Generator().manual_seed(0))
    given = posterior(process, labels.shares, rows.z.double())
    log_q = labels.best(given)
    count = objective.labels(process)
    full = log_q[:, torch.arange(count) % process.classes]  # label by label
    assert torch.allclose(full.exp().sum(1), torch.ones(len(full)).double())
    told = getattr(rows, objective.told[-1])
    smoothing = objective.label_smoothing
    own = full.gather(1, told[:, None])[:, 0]
    brute = -((1 - smoothing) * own + smoothing * full.mean(1)).mean().item()
    assert labels.loss(log_q, told % process.classes).item() == pytest.approx(brute)
    # Its own entropy, were it right: what it predicts is what is drawn.
    target = (full.exp() - smoothing / count) / (1 - smoothing)
    entropy = -((1 - smoothing) * (target * full).sum(1) + smoothing * full.mean(1)).mean().item()
    assert brute == pytest.approx(entropy, abs=0.02)
    flat = Labels(process, objective).uninformed
    shares = torch.bincount(told, minlength=count).double() / len(told)
    drawn = (1 - smoothing) * shares + smoothing / count
    assert flat == pytest.approx(-(drawn * drawn.log()).sum().item(), abs=0.01)
    assert brute < flat


@pytest.mark.parametrize(("process", "objective"), CASES, ids=str)
def test_no_classifier_is_below_the_floor(process, objective):
    found = fitted(process, objective, steps=100).optimality
    assert found.above_floor.value > -3 * found.above_floor.error
    assert found.attained.value < found.uninformed


def test_a_head_along_the_cluster_vectors_is_the_floor_where_classes_are_uniform():
    found = fitted(clusters(), um.CrossEntropy()).optimality
    assert found.at_inverse.value == pytest.approx(found.floor.value, abs=0.01)
    unit = fitted(clusters(), um.CrossEntropy(unit_rows=True), um.outputs.Sphere()).optimality
    assert unit.at_inverse.value > unit.floor.value + 0.1  # β = 1 where κ = 8
    matched = um.CrossEntropy(unit_rows=True, temperature=1 / 8)
    assert fitted(clusters(), matched, um.outputs.Sphere()).optimality.at_inverse.value == pytest.approx(
        found.floor.value, abs=1e-5
    )


def test_the_attained_loss_of_a_classifier_is_that_of_its_own_softmax():
    fit = fitted(clusters(instances=20), um.DIET(label_smoothing=0.1), steps=50)
    generator, head = um.stream(0, "optimality"), fit.network.loss
    drawn = [fit.process.sample(512, generator) for _ in range(32)]
    w, beta = head.rows().detach(), head.beta.item()
    by_hand = [cross_entropy(fit.embed(rows.x), w, rows.instance, beta, 0.1).item() for rows in drawn]
    assert fit.optimality.attained.value == pytest.approx(sum(by_hand) / 32, abs=1e-6)


def test_where_another_head_is_better_than_the_cluster_vectors_the_inverse_is_not_known():
    for world, objective in ((clusters(instances=12, frequencies=(1, 2, 3, 1, 1, 4)), um.CrossEntropy()),
                             (clusters(label_noise=0.3), um.CrossEntropy()),
                             (clusters(), um.CrossEntropy(label_smoothing=0.1))):  # fmt: skip
        found = fitted(world, objective).optimality
        assert found.floor is not None
        assert found.at_inverse is None
        assert "the best head is only known for" in found.unknown[0]


def test_labels_that_the_latent_decides_have_a_floor_of_zero_and_no_best_logits():
    found = fitted(um.SectorProcess(4), um.CrossEntropy(), steps=20).optimality
    assert found.floor == Loss(0.0, 0.0)
    assert "have another best head" in found.unknown[0]


def test_regression_on_the_truth_has_a_floor_of_zero():
    found = fitted(vmf(), um.Regression(), steps=50).optimality
    assert found.floor.value == found.at_inverse.value == 0.0
    assert found.uninformed == pytest.approx(1 / 4, abs=0.02)  # the variance of a coordinate
    assert fitted(vmf(), um.Regression(), um.outputs.Sphere()).optimality.at_inverse.value == 0.0
    double = fitted(vmf(), um.Regression(), um.outputs.Sphere(radius=2.0)).optimality
    assert (double.at_inverse, double.floor.value) == (None, 0.0)


def test_the_best_scale_is_where_the_expected_loss_is_least():
    assert best_scale(lambda scale: (math.log(scale) - 2.0) ** 2) == pytest.approx(math.exp(2.0), rel=1e-4)


def test_it_is_found_once_and_from_the_seed():
    fit = fitted(vmf(), um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere())
    assert fit.optimality is fit.optimality
    again = fitted(vmf(), um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere())
    assert again.optimality == fit.optimality
