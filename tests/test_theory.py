"""Theorems: computed ticks equal the published ones, and what fails is named."""

import pytest

import unmix as um
from unmix import Dot, GeneralisedNormal, InfoNCE, Laplace, Lp, LpNorm, Normal, Uniform, VonMisesFisher, outputs
from unmix.indeterminacy import AFFINE, GeneralisedPermutation, Linear, Orthogonal, ScaledOrthogonal
from unmix.theory import THEOREM_2, THEOREM_5, THEOREM_6, reizinger2025

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


def test_theorem_5_promises_affine_for_p_2_and_theorem_6_more_for_other_p():
    assert ask(BOX, Uniform(), Normal(0.05), IN_BOX, Lp(2)).theorem is THEOREM_5
    assert ask(BOX, Uniform(), Normal(0.05), IN_BOX, Lp(2)).promise == Linear(offset=True)
    assert ask(BOX, Uniform(), Laplace(0.05), IN_BOX, Lp(1)).theorem is THEOREM_6
    assert ask(BOX, Uniform(), GeneralisedNormal(1.5, 0.05), IN_BOX, Lp(1.5)).theorem is THEOREM_6


@pytest.mark.parametrize(
    ("setting", "theorem", "words"),
    [
        ((SPHERE, Uniform(), VonMisesFisher(10.0), ON_SPHERE, Dot()), THEOREM_2, "r²/τ equals κ"),
        ((um.Sphere(10, 2.0), Uniform(), VonMisesFisher(1.0), ON_SPHERE, Dot()), THEOREM_2, "unit sphere"),
        ((SPHERE, Normal(1.0), VonMisesFisher(1.0), ON_SPHERE, Dot()), THEOREM_2, "marginal is uniform"),
        ((SPHERE, Uniform(), VonMisesFisher(1.0), ON_SPHERE, Lp(2)), THEOREM_2, "dot product"),
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
