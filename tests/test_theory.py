"""Theorems: computed ticks equal the published ones, and what fails is named."""

import pytest
import torch

import unmix as um
from unmix import Dot, GeneralisedNormal, InfoNCE, Laplace, Lp, LpNorm, Normal, Uniform, VonMisesFisher, outputs
from unmix.indeterminacy import (
    AFFINE,
    GeneralisedPermutation,
    Identity,
    Linear,
    Orthogonal,
    ScaledOrthogonal,
    ScaledPermutation,
    SignedPermutation,
)
from unmix.theory import THEOREM_2, THEOREM_5, THEOREM_6, Assumption, Mark, Theorem, corollaries, reizinger2025
from unmix.theory.corollaries import DISTANCE_ON_A_SPHERE

SPHERE, BOX, UNBOUNDED = um.Sphere(10), um.Box(10), um.Euclidean(10)
GN3 = GeneralisedNormal(3.0, 0.05)
ON_SPHERE, IN_BOX, FREE = outputs.Sphere(), outputs.Box(), outputs.Free()

# Zimmermann et al. 2021: space, marginal, conditional, output, similarity, published tick.
TABLE_1 = [
    (SPHERE, Uniform(), VonMisesFisher(1.0), ON_SPHERE, Dot(), True),
    (SPHERE, Uniform(), VonMisesFisher(10.0), ON_SPHERE, Dot(), False),
    (SPHERE, Uniform(), Laplace(0.05), ON_SPHERE, Dot(), False),
    (SPHERE, Uniform(), Normal(0.05), ON_SPHERE, Dot(), False),
    (BOX, Uniform(), Normal(0.05), FREE, Lp(2), False),
    (BOX, Uniform(), Laplace(0.05), FREE, Lp(2), False),
    (BOX, Uniform(), Laplace(0.05), FREE, Lp(3), False),
    (BOX, Uniform(), Normal(0.05), FREE, Lp(3), False),
    (SPHERE, Normal(1.0), Laplace(0.05), ON_SPHERE, Dot(), False),
    (SPHERE, Normal(1.0), Normal(0.05), ON_SPHERE, Dot(), False),
    (UNBOUNDED, Laplace(1.0), Normal(1.0), FREE, Lp(2), False),
    (UNBOUNDED, Normal(1.0), Normal(1.0), FREE, Lp(2), False),
]
TABLE_2 = [
    (BOX, Uniform(), Laplace(0.05), IN_BOX, Lp(1), True),
    (BOX, Uniform(), GN3, IN_BOX, Lp(3), True),
    (BOX, Uniform(), Normal(0.05), IN_BOX, Lp(2), False),
    (BOX, Uniform(), Laplace(0.05), IN_BOX, Lp(2), False),
    (BOX, Uniform(), GN3, IN_BOX, Lp(1), False),
    (BOX, Uniform(), Laplace(0.05), FREE, Lp(1), False),
    (BOX, Uniform(), GN3, FREE, Lp(3), False),
    (BOX, Uniform(), Normal(0.05), FREE, Lp(2), False),
    (BOX, Uniform(), Laplace(0.05), FREE, Lp(2), False),
    (BOX, Uniform(), Normal(0.05), FREE, Lp(3), False),
]
TESTED = {"1": AFFINE, "2": GeneralisedPermutation(offset=True)}
ROWS = [(f"{t}.{i}", TESTED[t], row) for t, rows in (("1", TABLE_1), ("2", TABLE_2)) for i, row in enumerate(rows, 1)]


def ask(space, marginal, conditional, output, similarity, temperature=1.0, **options):
    process = um.PairProcess(space, marginal, conditional, um.mixings.MLP(3))
    return um.guarantee(process, um.Model(objective=InfoNCE(similarity, temperature, **options), output=output))


@pytest.mark.parametrize(("tested", "row"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_computed_ticks_are_the_published_ones(tested, row):
    *setting, tick = row
    assert ask(*setting).within(tested) is tick


def test_theorem_2_promises_an_orthogonal_map_when_the_concentration_fits():
    assert ask(SPHERE, Uniform(), VonMisesFisher(10.0), ON_SPHERE, Dot(), 0.1).promise == Orthogonal()
    learned = ask(SPHERE, Uniform(), VonMisesFisher(10.0), ON_SPHERE, Dot(), 1.0, learn_temperature=True)
    assert learned.promise == Orthogonal()
    radius = ask(SPHERE, Uniform(), VonMisesFisher(10.0), outputs.Sphere(learnable=True), Dot())
    assert radius.promise == ScaledOrthogonal()
    assert ask(SPHERE, Uniform(), VonMisesFisher(10.0), outputs.Sphere(10**0.5), Dot()).promise == ScaledOrthogonal()


def test_theorem_5_promises_affine_and_theorem_6_more_where_the_exponent_is_not_2():
    normal = ask(BOX, Uniform(), Normal(0.05), IN_BOX, Lp(2))
    assert (normal.promises[THEOREM_5], THEOREM_6 in normal.promises) == (AFFINE, False)
    for law, p in ((Laplace(0.05), 1), (GeneralisedNormal(1.5, 0.05), 1.5)):
        found = ask(BOX, Uniform(), law, IN_BOX, Lp(p))
        assert (found.promises[THEOREM_5], found.promises[THEOREM_6]) == (AFFINE, GeneralisedPermutation(offset=True))


def test_in_a_box_one_scale_is_promised_as_our_own():
    normal = ask(BOX, Uniform(), Normal(0.05), IN_BOX, Lp(2))
    assert (normal.theorem, normal.promise) == (corollaries.ONE_SCALE, ScaledOrthogonal(offset=True))
    assert not normal.within(GeneralisedPermutation(offset=True))  # Table 2, row 3
    laplace = ask(BOX, Uniform(), Laplace(0.05), IN_BOX, Lp(1))
    assert (laplace.theorem, laplace.promise) == (corollaries.ONE_SCALE, ScaledPermutation(offset=True))
    for found in (normal, laplace):
        assert "by unmix, a corollary of Zimmermann et al. 2021" in str(found)
    assert "Zimmermann et al. 2021, Theorem 6: generalised permutation + offset" in str(laplace)


def test_for_p_2_a_fixed_extent_that_fits_shows_the_axes_and_a_learned_scale_does_not():
    fixed = outputs.Box(200**0.5, learnable=False)  # e²/τ = (1/(√2 · 0.05))²
    assert ask(BOX, Uniform(), Normal(0.05), fixed, Lp(2)).promise == ScaledPermutation(offset=True)
    learned = ask(BOX, Uniform(), Normal(0.05), fixed, Lp(2), learn_temperature=True)
    assert learned.promise == ScaledOrthogonal(offset=True)  # a small cube lies in a larger one at any angle
    unit = outputs.Box(1.0, learnable=False)  # as wide as the latents' own box
    assert ask(BOX, Uniform(), Normal(0.05), unit, Lp(2), 0.005).promise == SignedPermutation(offset=True)
    assert ask(BOX, Uniform(), Normal(0.05), outputs.Box(30.0, learnable=False), Lp(2)).promise is None


def test_on_a_sphere_the_squared_distance_is_a_dot_product():
    """−‖a − b‖²/τ = 2⟨a, b⟩/τ − 2r²/τ: κ = 2r²/τ, and of no other distance."""
    for radius, temperature, kappa in ((1.0, 0.2, 10.0), (2.0, 0.5, 16.0)):
        setting = (SPHERE, Uniform(), VonMisesFisher(kappa), outputs.Sphere(radius))
        found = ask(*setting, Lp(2), temperature)
        assert found.theorem is corollaries.DISTANCE_ON_A_SPHERE
        assert found.promise == ask(*setting, Dot(), temperature / 2).promise
        assert not ask(*setting, Lp(2), temperature / 2)
        assert not ask(*setting, Dot(), temperature)
        assert not any(ask(*setting, s, temperature) for s in (Lp(1), Lp(3), LpNorm(2)))
    learned = ask(SPHERE, Uniform(), VonMisesFisher(10.0), ON_SPHERE, Lp(2), learn_temperature=True)
    assert learned.promise == Orthogonal()
    assert not ask(SPHERE, Uniform(), VonMisesFisher(10.0), ON_SPHERE, Lp(2), 0.2, widen=True)
    a, b = (um.Sphere(3, 2.0).uniform(50, um.stream(s, "points"), torch.float64) for s in (0, 1))
    difference = Lp(2).matrix(a, b) / 0.5 - Dot().matrix(a, b) / 0.25
    assert torch.allclose(difference, torch.tensor(-2 * 2.0**2 / 0.5, dtype=torch.float64))


@pytest.mark.parametrize(
    ("setting", "theorem", "words"),
    [
        ((SPHERE, Uniform(), VonMisesFisher(10.0), ON_SPHERE, Dot()), THEOREM_2, "r²/τ equals κ"),
        ((um.Sphere(10, 2.0), Uniform(), VonMisesFisher(1.0), ON_SPHERE, Dot()), THEOREM_2, "unit sphere"),
        ((SPHERE, Normal(1.0), VonMisesFisher(1.0), ON_SPHERE, Dot()), THEOREM_2, "marginal is uniform"),
        ((SPHERE, Uniform(), VonMisesFisher(1.0), ON_SPHERE, Lp(1)), THEOREM_2, "dot product"),
        ((SPHERE, Uniform(), VonMisesFisher(1.0), ON_SPHERE, Lp(2)), DISTANCE_ON_A_SPHERE, "2r²/τ equals κ"),
        ((BOX, Uniform(), Laplace(0.05), FREE, Lp(1)), THEOREM_6, "output lies in a convex body"),
        ((BOX, Uniform(), GeneralisedNormal(0.5, 0.05), IN_BOX, Lp(1)), THEOREM_5, "a norm or its power"),
        ((BOX, Uniform(), Laplace(0.05), IN_BOX, Lp(2)), THEOREM_5, "conditional's exponent"),
        ((BOX, Uniform(), Normal(0.05), IN_BOX, LpNorm(2)), THEOREM_5, "conditional's exponent"),
        ((BOX, Uniform(), Normal(0.05), IN_BOX, Lp(2)), THEOREM_6, "exponent is not 2"),
        ((BOX, Uniform(), Laplace(0.05), outputs.Box(3.0, learnable=False), Lp(1)), THEOREM_6, "extent fits"),
    ],
)
def test_a_violated_assumption_is_named(setting, theorem, words):
    answer = ask(*setting)
    assert any(words in a.statement for a in answer.violated[theorem])
    if not answer:
        assert words in str(answer)


def test_nothing_is_promised_when_assumptions_fail_and_the_answer_says_so():
    answer = ask(BOX, Uniform(), Laplace(0.05), FREE, Lp(1))
    assert not answer
    assert answer.promise is None
    assert "Nothing is promised" in str(answer)


def test_a_fixed_extent_that_fits_is_as_good_as_a_learned_one():
    # exp(−e u/τ) on u in [0, 1] is Laplace(0.05) for e/τ = 20, and Normal(0.05) for e²/τ = 200.
    assert ask(BOX, Uniform(), Laplace(0.05), outputs.Box(20.0, learnable=False), Lp(1)).promise
    assert ask(BOX, Uniform(), Laplace(0.05), outputs.Box(2.0, learnable=False), Lp(1), 0.1).promise
    assert ask(BOX, Uniform(), Normal(0.05), outputs.Box(200**0.5, learnable=False), Lp(2)).promise
    assert ask(um.Box(10, -1.0, 1.0), Uniform(), Laplace(0.05), outputs.Box(40.0, learnable=False), Lp(1)).promise


def test_both_sides_on_a_box_break_the_law_of_the_negatives():
    assert not ask(BOX, Uniform(), Laplace(0.05), IN_BOX, Lp(1), two_sided=True)
    assert ask(SPHERE, Uniform(), VonMisesFisher(1.0), ON_SPHERE, Dot(), two_sided=True)


def test_another_number_of_outputs_is_not_covered():
    process = um.PairProcess(SPHERE, Uniform(), VonMisesFisher(1.0), um.mixings.MLP(3))
    assert not um.guarantee(process, um.Model(objective=InfoNCE(Dot()), output=ON_SPHERE, dimension=12))


def test_regression_is_promised_nothing_by_these_theorems():
    process = um.PairProcess(SPHERE, Uniform(), VonMisesFisher(1.0), um.mixings.MLP(3))
    answer = um.guarantee(process, um.Model(objective=um.Regression()))
    assert not answer
    assert "InfoNCE" in str(answer)


def test_only_the_assumption_that_fails_is_named():
    # README's example: a Laplace conditional breaks one assumption of Theorem 2, not those that rest on it.
    answer = ask(SPHERE, Uniform(), Laplace(0.05), ON_SPHERE, Dot(), 0.1)
    assert [a.statement for a in answer.violated[THEOREM_2]] == ["the conditional is von Mises-Fisher with κ > 0"]
    assert str(answer).count("✗") == 1
    flat = ask(SPHERE, Uniform(), VonMisesFisher(0.0), ON_SPHERE, Dot())
    assert [a.statement for a in flat.violated[THEOREM_2]] == ["the conditional is von Mises-Fisher with κ > 0"]
    spiky = ask(BOX, Uniform(), GeneralisedNormal(0.5, 0.05), IN_BOX, Lp(1))
    assert [a.statement for a in spiky.violated[THEOREM_5]] == [
        "the conditional is ∝ exp(−δ) with δ a norm or its power"
    ]


def test_words_and_value_agree():
    answer = ask(SPHERE, Uniform(), VonMisesFisher(10.0), ON_SPHERE, Dot(), 0.1)
    assert answer.theorem is THEOREM_2
    assert answer.holds == THEOREM_2.assumptions
    assert "orthogonal" in str(answer)
    assert "Theorem 2" in str(answer)


def clusters(kappa=10.0, n=100, d=5, law=None, **options):
    conditional = law or VonMisesFisher(kappa)
    return um.ClusterProcess(um.Sphere(d), um.Clusters(n), conditional, um.mixings.MLP(4), **options)


def case(process, output, **options):
    return um.guarantee(process, um.Model(objective=um.DIET(**options), output=output))


def test_the_four_cases_of_diet_and_their_scales():
    found = case(clusters(), ON_SPHERE, unit_rows=True, learn_temperature=True)
    assert (found.theorem, found.promise) == (reizinger2025.C1, Orthogonal())
    assert (found.head.up_to, found.head.scale, found.head.row_scale) == (Orthogonal(), 1.0, 1.0)
    found = case(clusters(), ON_SPHERE, temperature=0.5)
    assert (found.theorem, found.promise) == (reizinger2025.C2, Orthogonal())
    assert (found.head.up_to, found.head.row_scale) == (ScaledOrthogonal(offset=True), 5.0)  # κ/β
    found = case(clusters(), FREE, unit_rows=True, temperature=0.5)
    assert (found.theorem, found.promise) == (reizinger2025.C3, ScaledOrthogonal())
    assert (found.head.up_to, found.head.scale) == (Orthogonal(), 5.0)
    found = case(clusters(), FREE)
    assert (found.theorem, found.promise, found.head.up_to) == (reizinger2025.C4, Linear(), Linear(offset=True))
    found = um.guarantee(clusters(), um.Model(objective=um.CrossEntropy()))
    assert (found.theorem, found.promise, found.head) == (reizinger2025.SUPERVISED, Linear(), None)


SETTINGS = [
    (ON_SPHERE, {"unit_rows": True, "learn_temperature": True}),
    (ON_SPHERE, {"temperature": 0.5}),
    (FREE, {"unit_rows": True, "temperature": 0.5}),
    (ON_SPHERE, {"unit_rows": True}),  # β = 1 and κ = 10
]


@pytest.mark.parametrize(("output", "options"), SETTINGS, ids=str)
@pytest.mark.parametrize("n", [100, 10])  # 10 clusters are not diverse enough for C3
def test_class_labels_are_promised_what_diet_is_with_one_instance_a_class(output, options, n):
    diet = case(clusters(n=n), output, **options)
    found = um.guarantee(clusters(n=n), um.Model(objective=um.CrossEntropy(**options), output=output))
    assert (found.promise, found.head) == (diet.promise, diet.head)
    assert found.nearest.name == f"{diet.nearest.name}, for class labels"
    assert found.nearest.reference.startswith("unmix, a corollary of")
    uneven = clusters(n=n, frequencies=(2, *[1] * (n - 1)))
    assert not um.guarantee(uneven, um.Model(objective=um.CrossEntropy(**options), output=output))


def test_a_kind_of_cross_entropy_whose_labels_are_not_known_is_promised_nothing():
    class Coarse(um.CrossEntropy):
        """Of every two classes one label."""

        def labels(self, process):
            return process.classes // 2

    assert not um.guarantee(clusters(), um.Model(objective=Coarse()))


def test_the_scale_of_a_learned_beta_is_known_once_it_is():
    model = um.Model(objective=um.DIET(unit_rows=True, learn_temperature=True))
    assert um.guarantee(clusters(), model).head.scale is None
    assert um.guarantee(clusters(), model, beta=4.0).head.scale == 2.5


def test_unit_lengths_everywhere_need_a_fitting_beta():
    assert case(clusters(), ON_SPHERE, unit_rows=True, temperature=0.1).theorem == reizinger2025.C1
    wrong = case(clusters(), ON_SPHERE, unit_rows=True)
    assert not wrong
    assert [a.statement for a in wrong.violated[reizinger2025.C1]] == [
        "β, times the length of f(x), is learned or equals κ"
    ]
    assert case(clusters(), outputs.Sphere(radius=10.0), unit_rows=True).promise == ScaledOrthogonal()  # rβ = κ


def test_without_diversity_unit_rows_promise_a_linear_map_only():
    found = case(clusters(n=10), FREE, unit_rows=True)
    assert (found.theorem, found.promise) == (reizinger2025.LINEAR_PART, Linear())
    assert reizinger2025.C3_AS_PUBLISHED.violated(clusters(n=10), um.Model(objective=um.DIET(unit_rows=True))) == ()


@pytest.mark.parametrize(
    ("process", "statement"),
    [
        (clusters(law=Laplace(1.0)), "the conditional is von Mises-Fisher with κ > 0"),
        (clusters(n=5), "the cluster vectors are an affine generator system of R^d"),
        (clusters(label_noise=0.5), "no label is noise"),
        (clusters(instances=200, frequencies=(1,) * 99 + (2,)), "instance labels are uniform"),
    ],
    ids=str,
)
def test_what_fails_for_diet_is_named(process, statement):
    found = case(process, FREE)
    assert not found
    assert [a.statement for a in found.violated[reizinger2025.C4]] == [statement]


def test_classes_must_be_uniform_for_class_labels_and_need_not_for_diet():
    process = clusters(instances=150)  # half of the classes have two instances
    assert case(process, FREE)
    found = um.guarantee(process, um.Model(objective=um.CrossEntropy()))
    assert [a.statement for a in found.violated[reizinger2025.SUPERVISED]] == ["classes are uniform"]


def test_smoothed_labels_are_promised_nothing():
    assert not case(clusters(), FREE, label_smoothing=0.1)


def test_a_classifier_of_drawn_labels_is_promised_a_linear_map():
    model = um.Model(objective=um.CrossEntropy())
    assert um.guarantee(um.SectorProcess(sharpness=1.0), model).promise == Linear()
    assert not um.guarantee(um.SectorProcess(sharpness=1.0), um.Model(objective=um.DIET()))
    hard = um.guarantee(um.SectorProcess(), model)
    (failed,) = hard.violated.values()
    assert "the mixing is injective" in [a.statement for a in hard.holds]
    assert [a.statement for a in failed] == ["labels are drawn from a member of the model class"]


def test_a_process_that_no_theorem_is_about():
    class Own(um.Process):
        gives = ("z", "x")
        seed, space, mixing = 0, um.Sphere(3), um.mixings.Identity()

        def sample(self, n, generator=None, dtype=None):
            raise NotImplementedError

    found = um.guarantee(Own(), um.Model(objective=um.Regression()))
    assert str(found) == "Nothing is promised: no theorem is about such a process."
    assert found.holds == ()


# What fails is named by the theorem that is meant: process, model, the nearest theorem, and what it lacks.
BOX_WORLD = um.PairProcess(BOX, Uniform(), Laplace(0.05), um.mixings.MLP(3))
NORMAL_WORLD = um.PairProcess(BOX, Uniform(), Normal(0.05), um.mixings.MLP(3))
SPHERE_WORLD = um.PairProcess(SPHERE, Uniform(), VonMisesFisher(10.0), um.mixings.MLP(3))
PLANE_WORLD = um.PairProcess(UNBOUNDED, Normal(1.0), Normal(1.0), um.mixings.MLP(3))


def nce(similarity, output, temperature=1.0, **options):
    return um.Model(objective=InfoNCE(similarity, temperature, **options), output=output)


def head(kind, output=FREE, **options):
    return um.Model(objective=kind(**options), output=output)


NEAREST = [
    (SPHERE_WORLD, nce(Dot(), ON_SPHERE), "Theorem 2", ["r²/τ equals κ"]),
    (SPHERE_WORLD, nce(Lp(1), ON_SPHERE), "Theorem 2", ["dot product"]),
    (SPHERE_WORLD, nce(Dot(), FREE, 0.1), "Theorem 2", ["lies on a sphere"]),
    (SPHERE_WORLD, nce(Lp(1), IN_BOX), "Theorem 2", ["lies on a sphere", "dot product"]),  # a box output, a sphere of z
    (SPHERE_WORLD, um.Model(objective=um.Regression(), output=ON_SPHERE), "Theorem 2", ["InfoNCE"]),
    (SPHERE_WORLD, nce(Lp(2), ON_SPHERE), "Theorem 2 for −L2²", ["2r²/τ equals κ"]),
    (BOX_WORLD, nce(Lp(1), FREE), "Theorem 6", ["lies in a convex body"]),
    (BOX_WORLD, nce(Lp(1), IN_BOX, widen=True), "Theorem 6", ["own kernel"]),
    (BOX_WORLD, nce(Lp(3), IN_BOX), "Theorem 6", ["conditional's exponent"]),
    (BOX_WORLD, nce(Dot(), ON_SPHERE), "Theorem 6", ["lies in a convex body", "conditional's exponent"]),
    (NORMAL_WORLD, nce(Lp(2), FREE), "Theorem 5", ["lies in a convex body"]),
    (NORMAL_WORLD, nce(Lp(2), IN_BOX, two_sided=True), "Theorem 5", ["follow the marginal"]),
    (PLANE_WORLD, nce(Lp(2), FREE), "Theorem 5", ["live in a convex body", "is uniform", "output lies in"]),
    (clusters(), head(um.DIET, ON_SPHERE, unit_rows=True), "Theorem 1, case C1", ["β, times"]),
    (clusters(label_noise=0.5), head(um.DIET, ON_SPHERE), "Theorem 1, case C2", ["noise"]),
    (clusters(label_noise=0.5), head(um.DIET, unit_rows=True), "Theorem 1, case C3", ["noise"]),
    (clusters(), head(um.DIET, label_smoothing=0.1), "Theorem 1, case C4", ["not smoothed"]),
    (clusters(), head(um.CrossEntropy, label_smoothing=0.1), "Theorem 2", ["not smoothed"]),
    (clusters(law=Laplace(1.0)), head(um.CrossEntropy), "Theorem 2", ["von Mises"]),
    (clusters(), head(um.DIET, IN_BOX), "the linear part of Theorem 1", ["free or lies on a sphere"]),
]


@pytest.mark.parametrize(("process", "model", "name", "lacks"), NEAREST, ids=lambda v: str(v)[:60])
def test_the_nearest_theorem_is_the_one_that_is_meant(process, model, name, lacks):
    found = um.guarantee(process, model)
    assert not found
    assert found.nearest.name == name
    failed = [a.statement for a in found.violated[found.nearest]]
    assert len(failed) == len(lacks)
    assert all(words in statement for words, statement in zip(lacks, failed, strict=True))


@pytest.mark.parametrize(("process", "model", "name", "lacks"), NEAREST, ids=lambda v: str(v)[:60])
def test_what_is_about_something_that_is_not_there_has_no_tick(process, model, name, lacks):
    found = um.guarantee(process, model)
    for theorem, answers in found.answers.items():
        for assumption, answer in answers.items():
            if any(premise.check(process, model).mark is not Mark.HOLDS for premise in assumption.rests_on):
                assert answer.mark is Mark.ABSENT, (theorem.name, assumption.statement)
    assert all(line[2] in "✓✗?–" for line in str(found).splitlines()[1:])


def test_the_exponent_of_a_law_that_has_none_is_neither_met_nor_failed():
    answer = ask(BOX, Uniform(), Uniform(), IN_BOX, Lp(1))
    marks = {a.statement: answer.answers[THEOREM_6][a].mark.value for a in THEOREM_6.assumptions}
    assert marks["the conditional is ∝ exp(−δ) with δ a norm or its power"] == "✗"
    assert marks["the exponent is not 2 (rotations keep the L2 distance)"] == "–"
    assert marks["the similarity is −δ with the conditional's exponent"] == "–"
    assert "\n  – the similarity is −δ" in str(answer)
    assert answer.nearest is THEOREM_5


def test_an_assumption_that_holds_only_just_says_by_how_much():
    def near(thickness):
        v = torch.randn(30, 3, generator=um.stream(0, "vectors"), dtype=torch.float64)
        v[:, 2] *= thickness
        given = um.GivenClusters(tuple(map(tuple, (v / v.norm(dim=1, keepdim=True)).tolist())))
        return um.ClusterProcess(um.Sphere(3), given, VonMisesFisher(10.0), um.mixings.MLP(4))

    flat = case(near(1e-9), FREE)
    assert flat.promise == Linear()
    (seen,) = {answer.seen for answer in flat.answers[reizinger2025.C4].values() if "only just" in answer.seen}
    margin = float(seen.split(" is ")[1].split(" of ")[0])
    assert 1e-10 < margin < 1e-8
    assert seen in str(flat)
    assert "only just" not in str(case(near(1.0), FREE))
    assert not case(near(0.0), FREE)


def conjecture(promise, *assumptions):
    return Theorem("a conjecture", "this test", assumptions, lambda process, model: promise)


def test_a_theorem_of_ones_own_is_asked_too():
    wide = Assumption("the box is wide", lambda process, model: process.space.width > 0.5)
    mine = conjecture(Identity(offset=True), wide)
    model = nce(Lp(1), IN_BOX, widen=True)
    assert um.guarantee(BOX_WORLD, model).promise is None
    found = um.guarantee(BOX_WORLD, model, theorems=[mine])
    assert (found.theorem, found.promise, bool(found)) == (mine, Identity(offset=True), True)
    narrow = um.PairProcess(um.Box(3, 0.0, 0.1), Uniform(), Laplace(0.05), um.mixings.MLP(3))
    assert um.guarantee(narrow, model, theorems=[mine]).promise is None
    larger = conjecture(AFFINE, wide)
    assert um.guarantee(BOX_WORLD, nce(Lp(1), IN_BOX), theorems=[larger]).theorem is corollaries.ONE_SCALE


def test_what_is_not_known_makes_a_promise_conditional_and_never_a_tick():
    """And what is certain comes before what is smaller but not."""
    open_question = Assumption("the question is settled", lambda process, model: None)
    rests = Assumption("its consequence holds", lambda process, model: True, rests_on=(open_question,))
    found = um.guarantee(BOX_WORLD, nce(Lp(1), FREE), theorems=[conjecture(Identity(), open_question, rests)])
    assert (found.promise, bool(found), found.within(AFFINE)) == (Identity(), False, False)
    assert found.conditions == (open_question, rests)
    assert "on the condition, which is not known to hold, that the question is settled" in str(found)
    assert "\n  ? the question is settled" in str(found)
    known = um.guarantee(BOX_WORLD, nce(Lp(1), IN_BOX), theorems=[conjecture(Identity(), open_question)])
    assert (known.promise, bool(known)) == (ScaledPermutation(offset=True), True)
