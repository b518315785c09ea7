"""Injectivity of a mixing: what confuses latents is found and promised nothing, what is not known is a condition."""

from dataclasses import dataclass, replace

import pytest
import torch

import unmix as um
from unmix.mixings import LayeredMap
from unmix.mixings.injectivity import check_injectivity
from unmix.mixings.mlp import LeakyReLU
from unmix.theory import Mark
from unmix.theory.zimmermann2021 import INJECTIVE

BOX, SPHERE = um.Box(3), um.Sphere(3)
DOUBLE = torch.float64


@dataclass(frozen=True)
class Own:
    """A mixing of one's own: any map, with whatever it says of itself."""

    make: object
    injective: bool | None = None

    def draw(self, dimension, generator):
        weight = torch.randn(dimension, dimension, generator=generator, dtype=DOUBLE)
        return self.make(weight)


def world(make, space=BOX, **options):
    law = um.Laplace(0.05) if isinstance(space, um.Box) else um.VonMisesFisher(10.0)
    return um.PairProcess(space, um.Uniform(), law, Own(make, **options))


def model(space):
    if isinstance(space, um.Box):
        return um.Model(objective=um.InfoNCE(um.Lp(1)), output=um.outputs.Box())
    return um.Model(objective=um.InfoNCE(um.Dot(), 0.1), output=um.outputs.Sphere())


def singular(w):
    return torch.cat([w[:1], w[:1], w[2:]])


class Fold:
    def __call__(self, u):
        return u.abs()

    def inverse(self, y):
        return y

    def derivative(self, u):
        return u.sign()


class WithInverse:
    def __init__(self, forward, inverse):
        self.forward, self.inverse = forward, inverse

    def __call__(self, z):
        return self.forward(z)


CONFUSING = {
    "a singular layer": (lambda w: LayeredMap((w, singular(w)), LeakyReLU(0.2)), "layer 2 is singular"),
    "|·| between layers": (lambda w: LayeredMap((w, w), Fold()), "after layer 1 is not strictly monotone"),
    "a slope below 0": (lambda w: LayeredMap((w, w), LeakyReLU(-0.2)), "not strictly monotone"),
    "ReLU between layers": (lambda w: LayeredMap((w, w), LeakyReLU(0.0)), "not strictly monotone"),
    "a singular matrix": (lambda w: lambda z: z @ singular(w).mT.to(z.dtype), ""),
    "|Wz|": (lambda w: lambda z: (z @ w.mT.to(z.dtype)).abs(), ""),
    "W relu(Wz)": (lambda w: lambda z: torch.relu(z @ w.mT.to(z.dtype)) @ w.mT.to(z.dtype), ""),
    "a latent left out": (lambda w: lambda z: z[:, [1, 1, 2]], "latent 1 and its negative"),
    "a symmetric map": (lambda w: lambda z: torch.stack([z.sum(1), z.prod(1), z.square().sum(1)], 1), "exchange"),
}


@pytest.mark.parametrize("space", [BOX, SPHERE], ids=str)
@pytest.mark.parametrize("name", CONFUSING)
def test_a_mixing_that_confuses_latents_is_promised_nothing(name, space):
    make, why = CONFUSING[name]
    process = world(make, space)
    assert process.injectivity.holds is False
    assert why in process.injectivity.seen
    found = um.guarantee(process, model(space))
    assert (found.promise, bool(found)) == (None, False)
    assert [a.statement for a in found.violated[found.nearest]] == ["the mixing is injective"]
    assert f"✗ the mixing is injective ({process.injectivity.seen})" in str(found)


def test_a_fold_is_seen_where_it_is_and_only_there():
    """|z| confuses z and −z on a sphere and nothing in [0, 1]³; |z − 0.3| folds the latter."""
    assert world(lambda w: torch.abs, SPHERE).injectivity.holds is False
    assert world(lambda w: torch.abs).injectivity.holds is None
    assert "it folds" in world(lambda w: lambda z: (z - 0.3).abs()).injectivity.seen
    assert world(lambda w: lambda z: z * z, um.Box(3, -1.0, 1.0)).injectivity.holds is False
    positive = LayeredMap((torch.eye(3, dtype=DOUBLE) + 1, torch.eye(3, dtype=DOUBLE)), Fold())
    assert world(lambda w: positive).injectivity.holds is True  # |·| of what is positive


def test_the_mixings_of_unmix_are_injective_by_construction_and_a_class_that_inherits_is_looked_at():
    class Bent(um.mixings.MLP):
        def draw(self, dimension, generator):
            return torch.abs

    class Folded(um.PairProcess):
        def observe(self, z):
            return super().observe(z).abs()

    for mixing in (um.mixings.MLP(), um.mixings.Linear(), um.mixings.Smooth(), um.mixings.Identity()):
        ours = um.PairProcess(SPHERE, um.Uniform(), um.VonMisesFisher(10.0), mixing)
        assert ours.injectivity == (found := replace(ours.injectivity, holds=True, seen="by construction")), found
        assert um.guarantee(ours, model(SPHERE))
        folded = Folded(SPHERE, um.Uniform(), um.VonMisesFisher(10.0), mixing)
        assert folded.injectivity.holds is False
    assert um.PairProcess(SPHERE, um.Uniform(), um.VonMisesFisher(10.0), Bent()).injectivity.holds is False


@pytest.mark.parametrize("space", [BOX, SPHERE], ids=str)
def test_what_is_not_known_makes_the_promise_conditional(space):
    process = world(lambda w: lambda z: torch.exp(z @ w.mT.to(z.dtype)), space)
    found = um.guarantee(process, model(space))
    assert found.promise is not None
    assert (bool(found), found.within(um.indeterminacy.AFFINE), found.conditions) == (False, False, (INJECTIVE,))
    assert found.answers[found.theorem][INJECTIVE].mark is Mark.UNKNOWN
    assert "Promised on the condition, which is not known to hold, that the mixing is injective" in str(found)
    assert "? the mixing is injective (" in str(found)


def test_the_word_of_a_mixing_counts_unless_it_is_seen_to_be_wrong():
    def bend(w):
        return lambda z: torch.exp(z @ w.mT.to(z.dtype))

    assert um.guarantee(world(bend, injective=True), model(BOX))
    assert um.guarantee(world(bend, injective=False), model(BOX)).promise is None
    assert um.guarantee(world(CONFUSING["|Wz|"][0], injective=True), model(BOX)).promise is None
    assert um.guarantee(world(CONFUSING["a singular layer"][0], injective=True), model(BOX)).promise is None


def test_an_inverse_that_undoes_it_is_a_check_and_one_that_does_not_is_none():
    right, wrong = WithInverse(torch.exp, torch.log), WithInverse(torch.exp, lambda x: x)
    assert world(lambda w: right).injectivity.holds is True
    assert "undoes it at all of 1,024 latents" in world(lambda w: right).injectivity.seen
    assert world(lambda w: wrong).injectivity.holds is None
    assert world(lambda w: WithInverse(torch.abs, lambda x: x), SPHERE).injectivity.holds is False


def test_a_layer_that_is_nearly_singular_is_told_of():
    nearly = torch.diag(torch.tensor([1.0, 1.0, 1e-9], dtype=DOUBLE))
    process = world(lambda w: LayeredMap((nearly,), LeakyReLU(0.2)))
    found = um.guarantee(process, model(BOX))
    assert found
    assert "only just, the smallest singular value of a layer is 1e-09 of its largest" in str(found)


def test_single_precision_refutes_nothing_by_rounding():
    """An ill-conditioned network in float32 and a map without gradients are not known, |·| is seen in any precision."""
    with torch.random.fork_rng(), torch.no_grad():
        net = torch.nn.Linear(3, 3)
        net.weight.copy_(torch.diag(torch.tensor([1.0, 1.0, 1e-5])))
    assert world(lambda w: net).injectivity.holds is None
    assert world(lambda w: lambda z: torch.from_numpy(z.detach().numpy() ** 3)).injectivity.holds is None
    z = SPHERE.uniform(200, um.stream(0, "z"))
    assert check_injectivity(lambda u: (u @ torch.ones(3, 3)).abs(), z, SPHERE).holds is False


def test_a_cluster_process_names_it_among_what_fails():
    def clusters(mixing):
        return um.ClusterProcess(SPHERE, um.Clusters(50), um.VonMisesFisher(10.0), mixing)

    assert clusters(um.mixings.MLP(4)).failing == ()
    assert clusters(Own(CONFUSING["|Wz|"][0])).failing == ("the mixing is injective",)
    assert um.guarantee(clusters(Own(CONFUSING["|Wz|"][0])), um.Model(objective=um.DIET())).promise is None
