"""Batches: regions partition a cloud, local batches are true pairs, and sums over even labels vary less."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import unmix as um
from unmix.objectives import info_nce
from unmix.training.batches import EvenLabels, Fresh, Local
from unmix.training.regions import regions

PROCESS = um.PairProcess(um.Box(2), um.Uniform(), um.Normal(0.05), um.mixings.MLP(2, pool=50))


def identity(x):
    return x


@given(st.integers(0, 6), st.integers(1, 5), st.integers(1, 4), st.integers(0, 99))
def test_regions_hold_every_point_once_and_equally_many(depth, size, d, seed):
    g = torch.Generator().manual_seed(seed)
    found = regions(torch.randn(size << depth, d, generator=g), depth, g)
    assert found.shape == (1 << depth, size)
    assert sorted(found.flatten().tolist()) == list(range(size << depth))


def test_regions_are_separated_by_their_medians(generator):
    points = torch.randn(64, 1, generator=generator)
    low, high = sorted(points[r].flatten().sort().values.tolist() for r in regions(points, 1, generator))
    assert low[-1] < high[0]


def test_regions_of_a_square_are_as_small_as_their_share_of_it(generator):
    points = torch.rand(1 << 14, 2, generator=generator)
    spread = (
        points[regions(points, 6, generator)].var(1).sum(1).mean()
    )  # 64 regions of side 1/8: variance 1/64 as large
    assert spread.item() == pytest.approx((1 / 12 + 1 / 12) / 64, rel=0.5)


def test_points_that_cannot_be_halved_are_refused(generator):
    with pytest.raises(um.InputError, match="multiple of 8"):
        regions(torch.zeros(12, 2), 3, generator)


def test_local_batches_are_pairs_of_the_process_and_a_pool_serves_once(generator):
    source = Local(rows=8, depth=4).source(PROCESS, 32, generator)
    batches = [source.next(identity) for _ in range(4)]  # 4 × 32 rows: one pool of 128
    for pairs in batches:
        assert torch.allclose(PROCESS.observe(pairs.z), pairs.x)
        assert torch.allclose(PROCESS.observe(pairs.z_view), pairs.x_view)
        assert (pairs.z - pairs.z_view).std().item() == pytest.approx(0.05, rel=0.4)
    assert len(torch.cat([pairs.z for pairs in batches]).unique(dim=0)) == 128


def test_neighbours_are_near(generator):
    source = at_depth(Local(rows=64, depth=6), 6, 64, PROCESS, generator)
    fresh = Fresh().source(PROCESS, 64, generator)
    near, far = (torch.pdist(s.next(identity).x).median() for s in (source, fresh))
    assert near < far / 4


def at_depth(local, depth, batch, process, generator):
    source = local.source(process, batch, generator)
    for _ in range(depth * local.pool // batch):  # the pools that are cut less often
        source.next(identity)
    return source


def test_a_pool_is_cut_once_more_than_the_one_before(generator):
    source = Local(rows=64, depth=3).source(PROCESS, 512, generator)  # one step a pool
    depths = []
    for _ in range(5):
        source.next(identity)
        depths.append(source.depth)
    assert depths == [0, 1, 2, 3, 3]


@pytest.mark.parametrize(
    ("d", "depth", "law", "p"),
    [
        *((2, depth, law, p) for depth in (0, 4) for law, p in ((um.Normal(0.03), 2), (um.Laplace(0.02), 1))),
        (10, 10, um.Normal(0.05), 2),
    ],
)
def test_the_optimal_scale_is_the_laws_own_of_random_batches_and_of_neighbours(d, depth, law, p, generator):
    """For h = c z on a uniform box the loss is least where (c |d|)^p is the exponent of the conditional's density.

    Regions are wide against the conditional in 2 dimensions, and as `suited` has them in 10.
    """
    process = um.PairProcess(um.Box(d), um.Uniform(), law, um.mixings.Linear(pool=10))
    source = at_depth(Local(rows=256, depth=max(depth, 4)), depth, 1024, process, generator)
    drawn = [source.next(process.invert) for _ in range(40)]
    right = 1 / law.spread
    scales = [right * factor for factor in (0.6, 0.8, 1.0, 1.25, 1.6)]
    losses = [sum(info_nce(um.Lp(p), c * b.z, c * b.z_view).item() for b in drawn) for c in scales]
    assert scales[losses.index(min(losses))] == right


def bent(batches, conditional, **widened):
    """The e and c at which InfoNCE of h = c (z + e z³) is least, c in units of the conditional's own scale."""
    e, log_c = torch.zeros((), requires_grad=True), torch.zeros((), requires_grad=True)
    optimiser = torch.optim.Adam([e, log_c], lr=5e-3)
    for pairs in batches:
        a, b = ((z + e * z**3) * log_c.exp() / (conditional * 2**0.5) for z in (pairs.z, pairs.z_view))
        optimiser.zero_grad()
        info_nce(um.Lp(2), a, b, **widened).backward()
        optimiser.step()
    return e.item(), log_c.exp().item()


def test_a_marginal_that_is_not_uniform_does_not_bend_the_optimum_unless_one_width_is_for_all(generator):
    """A normal marginal on the line, and a conditional that is narrow against it and against the regions."""
    process = um.PairProcess(um.Euclidean(1), um.Normal(1.0), um.Normal(0.02), um.mixings.Identity())
    source = at_depth(Local(rows=256, depth=4), 4, 1024, process, generator)
    batches = {
        "fresh": [process.sample(1024, generator) for _ in range(150)],
        "local": [source.next(identity) for _ in range(150)],
        "few": [process.sample(64, generator) for _ in range(150)],
    }
    for name in ("fresh", "local"):
        e, c = bent(batches[name], 0.02)
        assert abs(e) < 0.02
        assert c == pytest.approx(1, rel=0.1)
    wide = replace(process, conditional=um.Normal(0.1))
    source = at_depth(Local(rows=256, depth=4), 4, 1024, wide, generator)
    assert bent([source.next(identity) for _ in range(150)], 0.1)[1] < 0.85  # positives leave their regions
    assert abs(bent(batches["few"], 0.02)[0]) < 0.05  # few negatives alone do not bend it
    assert bent(batches["few"], 0.02, widen=True)[0] > 0.1  # one width cannot suit the middle and the tails
    assert abs(bent(batches["few"], 0.02, widen=True, own_widths=True)[0]) < 0.05


def test_a_batch_that_is_no_whole_number_of_regions_is_refused():
    with pytest.raises(um.InputError, match="multiple of 256"):
        um.Recipe(steps=1, batch=1000, rate=1e-2, batches=Local())


def test_a_batch_that_is_more_than_a_pool_is_refused():
    with pytest.raises(um.InputError, match="more than a pool of 512"):
        um.Recipe(steps=1, batch=1024, rate=1e-2, batches=Local(depth=1))
    for bad in ({"rows": 1}, {"depth": -1}, {"depth": 25}):
        with pytest.raises(um.InputError, match=r"a whole number, to have a negative|halved 0 to 24 times"):
            Local(**bad)


@pytest.mark.parametrize(
    ("d", "batches"), [(1, Fresh()), (2, Fresh()), (3, Local(depth=3)), (10, Local(depth=10)), (30, Local(depth=10))]
)
def test_a_box_is_halved_along_each_axis_once_where_that_leaves_more_than_a_batch(d, batches):
    box = um.PairProcess(um.Box(d), um.Uniform(), um.Normal(0.05), um.mixings.MLP(2, pool=50))
    assert um.recipes.suited(box, um.Model(objective=um.InfoNCE(um.Lp(2)))).batches == batches


def test_the_scale_of_a_box_moves_at_its_own_rate():
    """The first step moves every weight by its rate."""
    model = um.Model(um.encoders.MLP((8,)), um.InfoNCE(um.Lp(2)), um.outputs.Box(extent=2.0))
    recipe = um.Recipe(1, 64, 1e-2, schedule=um.recipes.Constant(), scale_rate=0.25, whitening_rows=500)
    found = um.fit(PROCESS, model, recipe, progress=False).network
    assert abs(found.output.log_scale.item() - math.log(2)) == pytest.approx(0.25e-2, rel=1e-3)
    assert found.body.bent[-1].bias.abs().max().item() == pytest.approx(1e-2, rel=1e-3)


def test_the_recipe_suits_the_regime():
    free = um.Model(objective=um.InfoNCE(um.Lp(2)))
    box = um.PairProcess(um.Box(10), um.Uniform(), um.Normal(0.05), um.mixings.MLP())
    uneven = um.PairProcess(um.Box(10), um.Normal(0.3), um.Normal(0.05), um.mixings.MLP())
    assert (um.recipes.suited(box, free).batches, um.recipes.suited(box, free).widen) == (Local(), True)
    assert um.recipes.suited(uneven, free) == um.recipes.fast()
    wide = um.Laplace(0.08), um.Normal(0.11), um.GeneralisedNormal(0.5, 0.01)
    for law in (um.Laplace(0.07), um.Normal(0.1), um.GeneralisedNormal(0.5, 0.009), *wide):
        for width in (1.0, 2.0):
            found = um.recipes.suited(replace(box, space=um.Box(10, 0.0, width), conditional=law), free)
            assert (found.batches, found.widen) == (Fresh() if law in wide and width == 1 else Local(), True)
    for marginal, narrow in ((um.Normal(1.0), 0.35), (um.Laplace(1.0), 0.35 * math.sqrt(2)), (um.Normal(3.0), 1.05)):
        for scale, near in ((0.99 * narrow, True), (1.01 * narrow, False)):
            unbounded = replace(box, space=um.Euclidean(10), marginal=marginal, conditional=um.Normal(scale))
            own = replace(um.recipes.suited(box, free), own_widths=True)  # the marginal has tails
            assert um.recipes.suited(unbounded, free) == (own if near else um.recipes.fast())
    dots = um.Model(objective=um.InfoNCE(um.Dot()))
    assert um.recipes.suited(replace(box, space=um.Euclidean(10), marginal=um.Normal(1.0)), dots) == um.recipes.fast()
    sphere = um.PairProcess(um.Sphere(10), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.MLP())
    warm, matched = (um.Model(objective=um.InfoNCE(um.Dot(), t), output=um.outputs.Sphere()) for t in (1.0, 0.1))
    assert um.recipes.suited(sphere, matched) == um.recipes.fast()
    for d, groups in ((20, None), (21, 256)):  # r²/τ and κ are 10, half of 20 dimensions
        assert um.recipes.suited(replace(sphere, space=um.Sphere(d)), matched).group_size == groups
    assert um.recipes.suited(sphere, warm).group_size == 512
    for law, groups in ((um.VonMisesFisher(4.9), 256), (um.VonMisesFisher(5.0), 512), (um.Normal(9.0), 512)):
        assert um.recipes.suited(replace(sphere, conditional=law), warm).group_size == groups
    assert um.recipes.suited(box, um.Model(objective=um.Regression())) == um.recipes.fast()


def test_the_sum_of_latents_of_a_label_varies_as_they_do_and_not_as_their_number(generator):
    """Per draw, the variance is 1 − |Ez|² if their number is fixed; a number of draws that varies adds |Ez|² times its
    variance over its mean: 1 − 1/50 if rows are independent, r(1 − r)/8.2 for the rest r = 0.2 of 410 rows."""
    law = um.VonMisesFisher(20.0)
    process = um.ClusterProcess(um.Sphere(4), um.Clusters(50), law, um.mixings.Identity())

    def variance(batches, rows):
        source = batches.source(process, rows, generator)
        steps = [source.next(identity) for _ in range(200)]
        sums = torch.stack([torch.zeros(50, 4).index_add(0, step.instance, step.z) for step in steps])
        return sums.var(0).sum(1).mean().item() / (rows / 50)  # draws a label

    z = law.sample(um.Sphere(4), process.vectors[:1].expand(100_000, -1), generator)
    mean = z.mean(0).square().sum().item()
    assert variance(EvenLabels(), 400) == pytest.approx(1 - mean, rel=0.05)
    assert variance(EvenLabels(), 410) == pytest.approx(1 - mean + mean * 0.2 * 0.8 / 8.2, rel=0.05)
    assert variance(Fresh(), 400) == pytest.approx(1 - mean / 50, rel=0.05)


@pytest.mark.parametrize(
    ("classes", "instances", "among", "settles", "noisy_settles"),
    [
        (100, 100, None, 0.01, 0.01),
        (100, 1000, None, 0.01, 0.01),
        (100, 1001, 1000, 0.01, 0.01001**2 * 100),
        (100, 100_000, 1000, 0.01, 1.0),
        (200, 100_000, 1000, 0.01, 1.0),
        (400, 100_000, 2000, 0.04, 1.0),
        (400, 2000, None, 0.04, 0.04),
    ],
)
def test_of_many_labels_1000_are_trained_or_five_a_class_unless_they_are_noisy_and_more_rows_settle_later(
    classes, instances, among, settles, noisy_settles
):
    process = um.ClusterProcess(
        um.Sphere(5), um.Clusters(classes), um.VonMisesFisher(10.0), um.mixings.MLP(4), instances=instances
    )
    found = um.recipes.suited(process, um.Model(objective=um.DIET()))
    of_classes = um.recipes.suited(process, um.Model(objective=um.CrossEntropy()))
    assert of_classes == um.Recipe(6000, 4096, 3e-2)
    assert found == replace(of_classes, batches=EvenLabels(among), head_settles=settles)
    noisy = um.recipes.suited(replace(process, label_noise=0.1), um.Model(objective=um.DIET()))
    smoothed = um.recipes.suited(process, um.Model(objective=um.DIET(label_smoothing=0.1)))
    assert noisy == smoothed == replace(found, batches=EvenLabels(), head_settles=noisy.head_settles)
    assert noisy.head_settles == pytest.approx(noisy_settles)
