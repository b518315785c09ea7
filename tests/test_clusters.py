"""The cluster-centric process and its diversity conditions."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import unmix as um
from unmix.processes import diversity


def world(d=4, clusters=30, kappa=10.0, **options):
    clusters = um.Clusters(clusters) if isinstance(clusters, int) else clusters
    return um.ClusterProcess(um.Sphere(d), clusters, um.VonMisesFisher(kappa), um.mixings.Linear(pool=5), **options)


def test_latents_lie_around_the_cluster_vector_of_their_class(generator):
    process = world(clusters=3, kappa=20.0, instances=9)
    rows = process.sample(30_000, generator, torch.float64)
    # The mean of vMF(κ) in d dimensions has length I_{d/2}(κ)/I_{d/2-1}(κ).
    i = torch.special.i1e(torch.tensor(20.0, dtype=torch.float64)), torch.special.i0e(torch.tensor(20.0).double())
    length = i[1] / i[0] - 2 / 20.0  # I_2/I_1 by the recurrence I_2 = I_0 − (2/κ) I_1
    for c in range(3):
        mean = rows.z[rows.label == c].mean(0)
        assert torch.allclose(mean, length * process.vectors[c], atol=0.02)
    assert torch.equal(rows.x, process.observe(rows.z))
    assert torch.equal(rows.instance % 3, rows.label)


def test_instances_of_one_class_share_its_law(generator):
    rows = world(clusters=2, instances=4).sample(40_000, generator)
    means = [rows.z[rows.instance == i].mean(0) for i in range(4)]
    assert torch.allclose(means[0], means[2], atol=0.02)
    assert not torch.allclose(means[0], means[1], atol=0.1)


def test_labels_are_uniform_or_as_frequent_as_said(generator):
    assert world(clusters=4).sample(40_000, generator).label.bincount().float().std() < 200
    rows = world(clusters=3, instances=6, frequencies=(1, 1, 2)).sample(40_000, generator)
    shares = rows.label.bincount().float() / 40_000
    assert torch.allclose(shares, torch.tensor([0.25, 0.25, 0.5]), atol=0.01)
    assert torch.allclose(rows.instance.bincount().float() / 40_000, torch.tensor([1, 1, 2, 1, 1, 2]) / 8, atol=0.01)


def test_label_noise_replaces_labels_and_leaves_latents(generator):
    process = world(clusters=2, kappa=400.0, label_noise=0.6)
    rows = process.sample(40_000, generator)
    nearest = (rows.z.double() @ process.vectors.mT).argmax(1)
    wrong = (nearest != rows.label).float().mean()
    assert wrong.item() == pytest.approx(0.3, abs=0.01)  # half of the noise hits the right class


def test_nearly_uniform_is_not_uniform():
    """Probabilities of a million labels are small, and so are their differences."""
    uneven = world(clusters=10, instances=1_000_000, frequencies=(1,) * 9 + (1.01,))
    assert not uneven.uniform_instances
    assert not uneven.uniform_classes
    assert world(clusters=10, instances=1_000_000).uniform_instances


def test_some_labels_are_drawn_alone(generator):
    process = world(clusters=5, instances=20)
    among = torch.tensor([3, 11, 17])
    rows = process.sample(3000, generator, among=among)
    assert set(rows.instance.tolist()) == {0, 1, 2}
    assert torch.equal(rows.label, process.class_of[among[rows.instance]])


def test_rows_of_given_labels_have_the_law_of_their_class(generator):
    process = world(clusters=5, instances=20, label_noise=0.5)
    rows = process.sample_labels(torch.tensor([3, 13, 4]).repeat(8000), generator)
    assert torch.equal(rows.label, torch.tensor([3, 3, 4]).repeat(8000))
    assert torch.equal(rows.instance, torch.tensor([3, 13, 4]).repeat(8000))
    assert torch.allclose(rows.x, process.observe(rows.z))
    alone = replace(process, label_noise=0.0).sample(80_000, generator)
    for c in (3, 4):
        assert torch.allclose(rows.z[rows.label == c].mean(0), alone.z[alone.label == c].mean(0), atol=0.03)


@given(
    st.integers(1, 60),
    st.integers(1, 9),
    st.lists(st.integers(1, 9), min_size=2, max_size=5),
    st.booleans(),
    st.integers(0, 99),
)
def test_even_labels_are_as_many_as_their_probability_says(n, each, frequencies, some, seed):
    process = world(clusters=len(frequencies), instances=each * len(frequencies), frequencies=tuple(frequencies))
    g = torch.Generator().manual_seed(seed)
    among = torch.randperm(process.labels, generator=g)[: 1 + process.labels // 2] if some else None
    rows = process.sample(n, g, among=among, even=True)
    labels = torch.arange(process.labels) if among is None else among
    share = process.probabilities[labels] / process.probabilities[labels].sum()
    assert ((rows.instance.bincount(minlength=len(labels)) - n * share).abs() < 1).all()
    assert torch.equal(rows.label, process.class_of[labels[rows.instance]])


@pytest.mark.parametrize("frequencies", [None, (1, 1, 4)])
def test_even_labels_have_their_rows_in_expectation_and_latents_of_their_class(frequencies, generator):
    process = world(clusters=3, instances=7, frequencies=frequencies)
    draws = [process.sample(10, generator, even=True) for _ in range(4000)]
    counts = torch.cat([rows.instance for rows in draws]).bincount().double() / 4000
    assert torch.allclose(counts, 10 * process.probabilities, atol=0.04)
    z, labels = torch.cat([rows.z for rows in draws]), torch.cat([rows.label for rows in draws])
    alone = process.sample(40_000, generator)
    for c in range(3):
        assert torch.allclose(z[labels == c].mean(0), alone.z[alone.label == c].mean(0), atol=0.03)


def test_rows_left_over_do_not_all_fall_on_one_class(generator):
    """Every tenth label has a second row; in their own order, these would be the ten labels of one class."""
    rows = world(clusters=10, instances=100).sample(110, generator, even=True)
    assert int(rows.label.bincount().max()) < 18


def test_given_clusters_and_laws_of_clusters():
    vectors = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0))
    assert world(2, um.GivenClusters(vectors)).vectors.tolist() == [list(v) for v in vectors]
    normal = world(6, um.Clusters(2000, um.Normal(1.0))).vectors
    assert um.Sphere(6).contains(normal)
    assert normal.mean(0)[0] > 0.2  # around the first axis
    assert torch.equal(world(seed=3).vectors, world(seed=3).vectors)
    assert not torch.equal(world(seed=3).vectors, world(seed=4).vectors)


def test_a_process_says_which_of_its_assumptions_fail():
    assert world(4, 30).failing == ()
    few = world(4, 4).failing
    assert "affine generator" in few[0]
    assert "rank 2d" in few[1]
    assert "d(d+3)/2 = 14 (it has 4)" in few[2]
    assert world(4, 10).failing == (
        "the cluster vectors are diverse: [vech(vvᵀ), v] has rank d(d+3)/2 = 14 (it has 10)",
    )
    assert world(4, 30, label_noise=0.1).failing == ("no label is noise",)
    assert world(4, 30, instances=31).failing == ("classes are uniform",)  # one class has two labels
    assert world(4, 30, instances=31, frequencies=(1,) * 30).failing == ("instance labels are uniform",)


@pytest.mark.parametrize(("d", "clusters"), [(5, 10), (20, 100)])
def test_the_published_diversity_is_not_enough(d, clusters):
    """Unit rows w = Bv + ψ with B far from orthogonal, on cluster vectors for which [v∘v, v] has rank 2d.

    Differences of w are B times those of v, so p(c|z) is unchanged with f = κ B^{-T} z: the posterior is the same, the
    rows have unit length, and f is not a rotation of z.
    """
    process = world(d, clusters)
    v = process.vectors
    assert process.diverse_as_published
    assert not process.diverse
    # A direction (M, u) in the kernel of the equations vᵀMv + 2uᵀv = 0, M symmetric.
    table = diversity.corrected(v)
    kernel = torch.linalg.svd(table).Vh[torch.linalg.matrix_rank(table) :][0]
    i, j = torch.triu_indices(d, d)
    m = torch.zeros(d, d, dtype=torch.float64)
    m[i, j] = kernel[: len(i)]
    m, u = (m + m.mT) / 2, kernel[len(i) :] / 2
    # BᵀB = a I + t M and Bᵀψ = t u with ‖ψ‖² = 1 − a: grow t, and find the a that fits.
    t = 0.4 / torch.linalg.eigvalsh(m).abs().max()
    low, high = 0.5, 1.0
    for _ in range(200):
        a = (low + high) / 2
        gram = a * torch.eye(d, dtype=torch.float64) + t * m
        length = (t * u) @ torch.linalg.solve(gram, t * u)  # ψᵀψ = (Bᵀψ)ᵀ (BᵀB)⁻¹ (Bᵀψ)
        low, high = (a, high) if length < 1 - a else (low, a)
    b = torch.linalg.cholesky(gram).mT
    w = v @ b.mT + torch.linalg.solve(b.mT, t * u)
    assert torch.allclose(w.norm(dim=1), torch.ones(clusters, dtype=torch.float64), atol=1e-9)
    spread = torch.linalg.svdvals(b)
    assert spread.max() / spread.min() > 1.2
    z = um.Sphere(d).uniform(200, torch.Generator().manual_seed(1), torch.float64)
    f = 10.0 * torch.linalg.solve(b.mT, z.mT).mT
    assert torch.allclose(torch.softmax(f @ w.mT, 1), torch.softmax(10.0 * z @ v.mT, 1), atol=1e-9)


@given(d=st.integers(2, 6), seed=st.integers(0, 20))
def test_enough_random_clusters_are_diverse(d, seed):
    assert world(d, diversity.needed(d) + 1, seed=seed).diverse
    assert not world(d, diversity.needed(d) - 1, seed=seed).diverse


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: um.Clusters(1), "at least 2 clusters"),
        (lambda: um.GivenClusters(((1.0, 0.0), (0.0,))), "all of one length"),
        (lambda: um.GivenClusters(((1.0, math.nan), (0.0, 1.0))), "rows of finite numbers"),
        (lambda: world(3, um.GivenClusters(((1.0, 0.0), (0.0, 1.0)))), "every cluster vector must be"),
        (lambda: world(2, um.GivenClusters(((1.0, 0.0), (0.0, 2.0)))), "must lie in the space"),
        (lambda: world(instances=29), "at least 30 instances"),
        (lambda: world(label_noise=1.5), "between 0 and 1"),
        (lambda: world(frequencies=(1.0, 2.0)), "30 positive numbers"),
        (lambda: world().sample(0), "n must be a whole number"),
        (lambda: um.SectorProcess(classes=1), "at least 2 classes"),
        (lambda: um.SectorProcess(sharpness=math.inf), "positive and finite"),
        (lambda: world().sample(3, among=torch.tensor([-1, 2])), "from 0 to 29"),
        (lambda: world().sample(3, among=torch.tensor([30])), "from 0 to 29"),
        (lambda: world().sample_labels(torch.tensor([-1])), "`instance` must be a row of instance labels from 0 to 29"),
        (lambda: world().sample(3, among=torch.tensor([], dtype=torch.long)), "at least one"),
    ],
)
def test_bad_worlds_are_refused(make, words):
    with pytest.raises(um.InputError, match=words):
        make()


def test_drawn_sectors_follow_their_softmax(generator):
    process = um.SectorProcess(classes=5, scale=1.0, sharpness=2.0)
    rows = process.sample(200_000, generator, torch.float64)
    expected = torch.softmax(2.0 * rows.z @ process.directions.mT, 1).mean(0)
    found = rows.label.bincount().double() / len(rows.label)
    assert torch.allclose(found, expected, atol=0.005)
    here = rows.z[:, 0] > 1  # and not only on average
    expected = torch.softmax(2.0 * rows.z[here] @ process.directions.mT, 1).mean(0)
    assert torch.allclose(rows.label[here].bincount(minlength=5).double() / here.sum(), expected, atol=0.01)
