"""Rows that are named are joined by their names: shuffling a table together with its index changes no score."""

import warnings

import numpy as np
import pytest

import unmix as um
from unmix.audit.inputs import inputs
from unmix.measures.head import collapse, head_recovery
from unmix.tables import in_one_order

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
ROWS = 200
Z = RNG.normal(size=(ROWS, 3))
X = Z @ RNG.normal(size=(3, 3)) + 0.1 * RNG.normal(size=(ROWS, 3))
GROUPS = np.repeat(np.arange(40), 5)
NAMES = [f"subject {i}" for i in range(ROWS)]
QUICK = {"bootstraps": 40, "permutations": 99}
PAIRS = pd.MultiIndex.from_arrays([GROUPS, np.arange(ROWS) % 5])
FAST = {"measures": [um.measures.R2(), um.measures.CKA()], **QUICK}


def frame(values, index=NAMES):
    return pd.DataFrame(values, index, list("abcdef"[: values.shape[1]]))


def shuffled(table, seed=0):
    return table.sample(frac=1, random_state=seed)


def audited(x, z, **more):
    """The rows that an audit would go by: of the embedding next to those of the factors."""
    return inputs(x, z, **{"kinds": None, "only": None, "ids": None, "groups": None, "name": None, "folds": 5} | more)


def rows_of(given):
    """The same for all orders in which rows of one table stay by those of the other."""
    parts = [np.asarray(given.table.values, float), *(f.targets for f in given.factors)]
    table = np.column_stack(parts if given.groups is None else [*parts, given.groups.astype(float)])
    return table[np.lexsort(table.T)]


WHOLE = np.column_stack([X, Z])
WHOLE = WHOLE[np.lexsort(WHOLE.T)]
JOINED = "were joined to those of the embedding by their index"


def test_an_audit_of_a_shuffled_table_is_the_same():
    x, z = frame(X), frame(Z)[["a"]]
    report = um.audit(x, shuffled(z), probe=False, **QUICK)
    ours, theirs = (r.findings[0].score for r in (report, um.audit(X, {"a": Z[:, 0]}, probe=False, **QUICK)))
    assert ours.value > 0.9
    assert (ours.value, ours.low, ours.p_value) == (theirs.value, theirs.low, theirs.p_value)
    assert report.notes == (f"the rows of the factors {JOINED}",)
    assert f"Note: the rows of the factors {JOINED}." in str(report)


@pytest.mark.parametrize("index", [NAMES, range(ROWS), pd.date_range("2020-01-01", periods=ROWS), PAIRS])
def test_an_audit_joins_factors_and_groups_by_their_index(index):
    """Even by the default index, 0, 1, 2, …, if the shuffled one has the same labels."""
    x, z, groups = frame(X, index), frame(Z, index), pd.Series(GROUPS, index)
    assert audited(x, z).notes == ()
    for embedding, factors, of in (
        (x, shuffled(z), groups),
        (shuffled(x), z, shuffled(groups, 1)),
        (X, z, shuffled(groups)),
    ):
        given = audited(embedding, factors, groups=of)
        np.testing.assert_array_equal(given.table.values, np.asarray(embedding))  # which stays as it is
        table = np.column_stack([X, Z, GROUPS])
        np.testing.assert_array_equal(rows_of(given), table[np.lexsort(table.T)])
        assert all(JOINED in note.replace("of the factors by", "of the embedding by") for note in given.notes)
    columns = {name: shuffled(z[name], seed) for seed, name in enumerate("abc")}
    np.testing.assert_array_equal(rows_of(audited(x, columns)), WHOLE)


def test_plain_tables_and_default_indexes_go_by_place():
    numbered, columns = pd.DataFrame(Z), {"a": Z[:, 0], "b": Z[:, 1], "c": Z[:, 2]}
    for x, z in ((X, frame(Z)), (pd.DataFrame(X), numbered), (X, numbered), (frame(X), columns)):
        given = audited(x, z)
        np.testing.assert_array_equal(rows_of(given), WHOLE)
        assert given.notes == ()
    given = audited(frame(X), numbered)
    np.testing.assert_array_equal(rows_of(given), WHOLE)
    assert given.notes == (
        "the rows of the factors were taken by their places: its index 0, 1, 2, … does not name those of the embedding",
    )


def test_tables_keep_the_index_of_their_frames():
    named = audited(um.tables.read(frame(X), "x"), shuffled(frame(Z)))
    np.testing.assert_array_equal(rows_of(named), WHOLE)
    moved = um.tables.read(shuffled(frame(X)), "x")
    (_, table), notes = in_one_order([frame(Z), moved], ["z", "x"])
    np.testing.assert_array_equal(table.values, X)
    assert table.index.tolist() == NAMES
    assert list(notes) == ["x"]


def test_an_index_that_pandas_wrote_to_a_file_is_no_output(tmp_path):
    file = tmp_path / "x.parquet"
    shuffled(frame(X)).to_parquet(file)
    with pytest.raises(um.InputError, match=r"index that pandas wrote, __index_level_0__, .*ids='__index_level_0__'"):
        um.tables.read(file)
    assert um.tables.read(file, labels=["__index_level_0__"]).values.shape == X.shape
    frame(X).reset_index(drop=True).to_parquet(file)
    assert um.tables.read(file).values.shape == X.shape


def test_recovery_and_mcc_join_by_index():
    x, z, groups = frame(X), frame(Z), pd.Series(GROUPS, NAMES)
    whole = um.recovery(X, Z, groups=GROUPS, **QUICK)
    again = um.recovery(x, shuffled(z), groups=shuffled(groups, 1), **QUICK)
    assert again.r2() == whole.r2()
    assert again.notes[:2] == (f"the rows of the truth {JOINED}", f"the rows of groups {JOINED}")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert um.measures.mcc(x, shuffled(z)) == um.measures.mcc(X, Z)
    assert [str(w.message) for w in told] == [f"the rows of the truth {JOINED}"]


def test_compare_joins_any_number_of_tables():
    tables = {"x": frame(X), "z": frame(Z), "both": frame(X + Z)}
    plain = um.compare({name: table.to_numpy() for name, table in tables.items()}, groups=GROUPS, **FAST)
    moved = {name: shuffled(table, seed) if seed else table for seed, (name, table) in enumerate(tables.items())}
    found = um.compare(moved, groups=shuffled(pd.Series(GROUPS, NAMES), 9), **FAST)
    for ours, theirs in zip(found.pairs, plain.pairs, strict=True):
        assert [s.value for s in ours.scores] == [s.value for s in theirs.scores]
    assert found.pair("x", "z").notes[:2] == (
        "the rows of z were joined to those of x by their index",
        "the rows of groups were joined to those of x by their index",
    )
    assert len(found.pair("z", "both").notes) >= 3
    layers = um.compare_layers({"f": tables["x"], "g": X}, {"f": moved["z"]}, **QUICK)
    by_place = um.compare_layers({"f": X, "g": X}, {"f": Z}, **QUICK)
    np.testing.assert_array_equal(layers.values, by_place.values)
    said = "the rows of f of the second model were joined to those of f of the first model by their index"
    assert layers.notes == (said,)
    assert said in str(layers)


def test_an_array_stays_next_to_the_first_table():
    """The first table with an index keeps its order, so that arrays and groups, which have no names, stay by it."""
    first, second = pd.DataFrame(Z), shuffled(pd.DataFrame(X))
    (_, kept, moved), notes = in_one_order([GROUPS, first, second], ["groups", "z", "x"])
    assert kept is first
    np.testing.assert_array_equal(moved, X)
    assert list(notes) == ["x"]


def test_models_join_inputs_and_labels():
    labels = [f"label {k}" for k in range(9)]
    g, b, a = RNG.normal(size=(9, 3)), RNG.normal(size=9), RNG.normal(size=(3, 3))
    f2, g2 = X @ a.T, g @ np.linalg.inv(a)
    plain = um.compare_models(um.CanonicalModel(X, g, b), um.CanonicalModel(f2, g2, b), **QUICK)
    first = um.CanonicalModel(frame(X), frame(g, labels), shuffled(pd.Series(b, labels)))
    second = um.CanonicalModel(shuffled(frame(f2)), shuffled(frame(g2, labels)), shuffled(pd.Series(b, labels), 3))
    found = um.compare_models(first, second, **QUICK)
    assert plain.equal_logits > 1 - 1e-9
    assert found.equal_logits == pytest.approx(plain.equal_logits, abs=1e-12)
    assert found.scores[0].value == pytest.approx(plain.scores[0].value, abs=1e-12)
    assert [note.split(" were ")[0] for note in found.notes] == [
        "the rows of f of the model (2)",
        "the rows of g of the model (2)",
    ]


def test_heads_join_rows_and_classes():
    names = NAMES[:60]
    classes = pd.Series(np.arange(60) % 12, names)
    vectors = RNG.normal(size=(12, 2))
    rows = frame(vectors[classes], names)
    assert collapse(rows, shuffled(classes)) == pytest.approx(0, abs=1e-20)
    assert head_recovery(rows, vectors, shuffled(classes)).rows.r2() > 0.99


TWICE = [*NAMES[:-1], NAMES[0]]
OTHERS = [*NAMES[:-2], "one", "two"]


@pytest.mark.parametrize(
    ("words", "x", "z"),
    [
        ("2 index labels of the embedding are not in the factors, such as subject 198, subject 199", NAMES, OTHERS),
        ("subject 0 is there more than once among the index labels of the factors: make them unique", NAMES, TWICE),
        ("subject 0 is there more than once among the index labels of the embedding", TWICE, range(ROWS)),
        ("index labels of the factors are missing in 1 rows", NAMES, [*NAMES[:-1], None]),
    ],
)
def test_labels_that_name_no_common_rows_are_refused(words, x, z):
    for verb in (audited, lambda x, z: um.recovery(x, z, **QUICK), lambda x, z: um.compare(x, z, names=NAME, **FAST)):
        with pytest.raises(um.InputError, match=words.replace("the factors", "(the factors|the truth)")) as said:
            verb(frame(X, x), frame(Z, z))
        assert "\n" not in str(said.value)
    if "missing" not in words:
        assert r"reset_index(drop=True) all to take rows by their places" in str(said.value)


NAME = ["the embedding", "the factors"]


def test_the_same_index_may_repeat_a_label():
    """Rows of subjects, in the same order on both sides: nothing has to be joined."""
    index = [NAMES[g] for g in GROUPS]
    np.testing.assert_array_equal(rows_of(audited(frame(X, index), frame(Z, index))), WHOLE)


def test_ids_join_whatever_the_index_unless_it_says_otherwise():
    ids = RNG.permutation(ROWS)
    x, z = frame(X).assign(id=ids), frame(Z).assign(id=ids)
    for factors in (z, shuffled(z), shuffled(z).reset_index(drop=True)):
        np.testing.assert_array_equal(rows_of(audited(x, factors, ids="id")), WHOLE)
    by_list = audited(X, shuffled(frame(Z)), ids=[NAMES, shuffled(frame(Z)).index])
    np.testing.assert_array_equal(rows_of(by_list), WHOLE)
    wrong = z.assign(id=RNG.permutation(ids))
    with pytest.raises(um.InputError, match=r"ids join the row subject 0 of the embedding to the row subject \d+ of"):
        audited(x, wrong, ids="id")
    with pytest.raises(um.InputError, match=r"ids join the row subject 0 of one to the row subject \d+ of two"):
        um.compare(x, wrong, names=["one", "two"], ids="id", **FAST)
    pairs = um.compare(x, shuffled(z), names=["one", "two"], ids="id", **FAST).pairs
    assert pairs[0].scores[0].value > 0.9


def test_a_column_of_ids_that_nobody_told_is_refused():
    """Polars has no index: ids are a column, which would be one of the outputs."""
    ids = RNG.permutation(ROWS) + 1000
    x, z = (pd.DataFrame(values).rename(columns=str).assign(id=ids) for values in (X, Z))
    words = "both name their rows in the column id: "
    with pytest.raises(um.InputError, match=f"the embedding and the factors {words}give ids= its name"):
        audited(x, shuffled(z).reset_index(drop=True))
    for verb in (um.compare, um.recovery, um.measures.mcc):
        with pytest.raises(um.InputError, match=words):
            verb(x, z)
    ranks = [pd.DataFrame(values).rank().astype(int) for values in (X, Z)]  # whole numbers, each once, and no names
    assert um.compare(*ranks, **FAST).pairs[0].scores[0].value > 0.8


def test_ids_beside_other_names_of_which_some_differ_or_are_floats_are_refused_too():
    ids = np.arange(ROWS) + 1000
    x, z = (pd.DataFrame(values).rename(columns=str) for values in (X, Z))
    both, words = {"id": ids, "row": ids * 2}, "both name their rows in the column id"
    moved = [x.assign(**both), shuffled(z.assign(**both)).reset_index(drop=True)]
    some = [x.assign(id=ids), shuffled(z.assign(id=ids + ROWS // 4)).reset_index(drop=True)]
    for one, other in (moved, some, [frame.astype(float) for frame in some]):
        with pytest.raises(um.InputError, match=words):
            um.compare(one, other)
    same = [x.assign(**both), z.assign(**both)]  # in one order, so that nothing is wrong
    assert um.compare(*same, **FAST).pairs[0].scores[0].value > 0.8
