"""Factors: every format gives the same columns; kinds are inferred and stated; what is wrong is one sentence."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file

import unmix as um
from unmix.factors import Categorical, Continuous, Ordinal, Periodic, inferred, prepared
from unmix.tables import Column, read_columns

RNG = np.random.default_rng(0)
SIZE, SHAPE = RNG.normal(size=60).round(6), RNG.choice(["disc", "ring"], 60)
SIZE[3] = np.nan


def written(path, kind):
    words = [None if np.isnan(v) else float(v) for v in SIZE]
    match kind:
        case "csv":
            text = "".join(f"{'' if v is None else v},{w}\n" for v, w in zip(words, SHAPE, strict=True))
            (path / "f.csv").write_text("size,shape\n" + text)
        case "tsv":
            text = "".join(f"{'NA' if v is None else v}\t {w} \n" for v, w in zip(words, SHAPE, strict=True))
            (path / "f.tsv").write_text("size\tshape\n" + text)
        case "parquet":
            pq.write_table(pa.table({"size": words, "shape": pa.array(SHAPE).dictionary_encode()}), path / "f.parquet")
    return next(path.iterdir())


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "mapping"])
def test_every_source_gives_the_same_columns(tmp_path, kind):
    source = {"size": SIZE, "shape": SHAPE} if kind == "mapping" else written(tmp_path, kind)
    size, shape = read_columns(source)
    np.testing.assert_array_equal(size.numbers, SIZE)
    assert shape.words.tolist() == SHAPE.tolist()
    assert (str(inferred(size)), str(inferred(shape))) == ("continuous", "categorical")


@pytest.mark.parametrize("kind", ["npy", "npz table", "npz columns", "safetensors", "tensor"])
def test_tables_without_words_have_numbered_or_named_columns(tmp_path, kind):
    table = RNG.normal(size=(20, 2))
    source, names = tmp_path / f"f.{kind.split()[0]}", ["factor 1", "factor 2"]
    match kind:
        case "npy":
            np.save(source, table)
        case "npz table":
            np.savez(source, table=table)
        case "npz columns":
            np.savez(source, a=table[:, 0], b=table[:, 1])
            names = ["a", "b"]
        case "safetensors":
            save_file({"a": torch.tensor(table[:, 0]), "b": torch.tensor(table[:, 1])}, source)
            names = ["a", "b"]
        case "tensor":
            source = torch.tensor(table)
    found = read_columns(source)
    assert [c.name for c in found] == names
    np.testing.assert_allclose(np.stack([c.numbers for c in found], 1), table)


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("a", np.linspace(0, 1, 50), "continuous"),
        ("a", np.arange(50) % 10, "categorical"),
        ("a", np.arange(50) % 11, "continuous"),
        ("a", np.arange(50) % 4 / 2, "continuous"),
        ("a", np.arange(50) % 2 == 0, "categorical"),
        ("a", ["x", "y"] * 25, "categorical"),
        ("a", ["1.5", "2", ""] * 20, "continuous"),
        ("angle", np.linspace(0, 6.28, 50), "periodic, 2π"),
        ("head direction", np.linspace(-180, 180, 50), "periodic, 360"),
        ("angle", np.linspace(0, 90, 50), "continuous"),
        ("triangle side", np.linspace(0, 350, 50), "continuous"),
    ],
)
def test_kinds_are_inferred(name, values, kind):
    assert str(inferred(Column.of(name, values))) == kind


@pytest.mark.parametrize(
    ("column", "kind", "message"),
    [
        (Column.of("age", ["1", "2", "old", "4"] * 10), None, "age is no number in 10 rows, such as 'old' in row 2"),
        (Column.of("age", ["1,5", "2,5", "3,25"] * 10), None, "decimal commas, such as '1,5': write decimal points"),
        (Column.of("age", ["a", "b"] * 20), Continuous(), "'a' in row 0: correct them, leave them empty, or say that"),
        (Column.of("dose", ["low", "big"] * 20), Ordinal(("low", "high")), "none of its levels (big)"),
        (Column.of("id", np.arange(3000) % 150), Categorical(), "150 classes, too many"),
        (Column.of("a", np.ones(40)), None, "one value only"),
        (Column.of("a", [None] * 40), None, "it has 0 values"),
        (Column.of("a", [f"id {i}" for i in range(40)]), None, "it has 40 different values and looks like an id"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_for_is_one_sentence(column, kind, message):
    with pytest.raises(um.InputError) as said:
        prepared([column], {column.name: kind} if kind else None)
    assert message in str(said.value)


def test_what_cannot_be_asked_for_is_left_out_beside_what_can():
    columns = [Column.of("a", np.arange(50.0)), Column.of("b", np.ones(50)), Column.of("c", np.arange(50).astype(str))]
    found, left = prepared([*columns[:2], Column.of("c", [f"id {i}" for i in range(50)])])
    assert ([f.name for f in found], [some.name for some in left]) == (["a"], ["b", "c"])


def test_rare_classes_are_missing_with_a_note():
    column = Column.of("shape", ["a"] * 30 + ["b"] * 30 + ["c"] * 3)
    (factor,), _ = prepared([column])
    assert factor.levels == ("a", "b")
    assert factor.present.sum() == 60
    assert factor.notes == ("1 classes of fewer than 10 rows are left out (3 rows)",)


@given(st.floats(-10, 10), st.integers(1, 5))
def test_an_angle_is_the_same_after_whole_turns(angle, turns):
    kind = Periodic(360)
    one, other = (kind.encode(Column.of("a", [v, 0.0]), 1)[0] for v in (angle, angle + 360 * turns))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_ranks_know_only_the_order():
    values = RNG.normal(size=30)
    one, other = (Ordinal().encode(Column.of("a", v), 1)[0] for v in (values, np.exp(values)))
    np.testing.assert_array_equal(one, other)


def test_labels_that_look_like_numbers_stay_words():
    ids = ["9007199254740993", "9007199254740992", "007"]
    (column,) = read_columns({"id": ids}, words=["id"])
    assert column.words.tolist() == ids
    (number,) = read_columns({"id": np.array([3.0, 12345678901.0])})
    assert number.words.tolist() == ["3", "12345678901"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"a": [1, 2], "b": [1]}, "columns of [1, 2] rows"),
        ({}, "no columns"),
        ({"a": []}, "no rows"),
        ({"a": [[1, 2], [3, 4]]}, "one value a row, not lists"),
        ({"a": [[1], [1, 2]]}, "one value a row"),
        ({"a": [1.0, np.inf]}, "infinite in 1 rows, the first of them row 1"),
        ({"a": np.array(["2020-01-01"], "datetime64[D]")}, "give numbers or words"),
        ({"a": [1 + 2j]}, "give numbers or words"),
        (np.zeros((2, 2, 2)), "two axes"),
    ],
)
def test_bad_columns_are_one_sentence(source, message):
    with pytest.raises(um.InputError) as said:
        read_columns(source)
    assert message in str(said.value)


def test_a_text_file_in_the_wrong_shape_is_told(tmp_path):
    for name, text, message in (
        ("spaces", "1.0 2.0\n3.0 4.0\n", "separated by spaces: separate them by commas"),
        ("ragged", "a,b\n1,2\n3\n", "give every line the same columns"),
        ("twice", "a,a\n1,2\n", "more than once"),
        ("empty", "", "is empty"),
    ):
        (tmp_path / f"{name}.csv").write_text(text)
        with pytest.raises(um.InputError) as said:
            read_columns(tmp_path / f"{name}.csv")
        assert message in str(said.value)
    (tmp_path / "latin.csv").write_bytes("größe\n1\n".encode("latin-1"))
    with pytest.raises(um.InputError, match="not UTF-8"):
        read_columns(tmp_path / "latin.csv")


def test_masked_values_are_missing():
    masked = np.ma.masked_array(np.array(["u", "v", "u"], object), mask=[False, True, False])
    assert read_columns({"a": masked})[0].words.tolist() == ["u", None, "u"]
    numbers = np.ma.masked_array([1.0, 2.0, 3.0], mask=[True, False, False])
    np.testing.assert_array_equal(read_columns({"a": numbers})[0].numbers, [np.nan, 2, 3])


def test_only_what_is_asked_for_is_read():
    table = {"a": [1.0, 2.0], "when": np.array(["2020-01-01"] * 2, "datetime64[D]")}
    assert [c.name for c in read_columns(table, only=["a"])] == ["a"]


def test_levels_are_in_the_order_of_their_numbers():
    (factor,), _ = prepared([Column.of("age", np.repeat([9, 10, 27], 20))])
    assert factor.levels == ("9", "10", "27")


def test_a_kind_is_no_word():
    with pytest.raises(um.InputError, match="the kind of a must be like"):
        prepared([Column.of("a", np.arange(50.0))], {"a": "continuous"})


@pytest.mark.parametrize("source", ["array", "objects", "file"])
def test_labels_that_are_floats_keep_all_their_digits(tmp_path, source):
    """Times in tenths of a second since 1970 were cut to 25 groups."""
    times = 1_760_000_000 + np.arange(240) / 10
    table = {"time": times if source == "array" else times.astype(object)}
    if source == "file":
        pq.write_table(pa.table({"time": times}), tmp_path / "f.parquet")
        table = tmp_path / "f.parquet"
    words = read_columns(table, words=["time"])[0].words.tolist()
    assert words[:2] == ["1760000000", "1760000000.1"]
    assert [float(word) for word in words] == times.tolist()
    assert len(read_columns(table)[0].worded.levels) == 240


def test_labels_of_single_precision_are_written_as_they_are():
    values = np.array([0.1, 0.2, 3.0], np.float32)
    assert read_columns({"a": values}, words=["a"])[0].words.tolist() == ["0.1", "0.2", "3"]
    assert read_columns({"a": values})[0].words.tolist() == ["0.1", "0.2", "3"]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_column_of_rounding_is_left_out(kind):
    noise = RNG.normal(size=60) * np.finfo(kind).eps * 4
    (_,), (left,) = prepared([Column.of("a", np.arange(60.0)), Column.of("b", (3 + noise).astype(kind))])
    assert (left.name, left.reason) == ("b", "it varies by no more than rounding: nothing can be told apart")
    kept = [Column.of("a", 3 + 100 * noise), Column.of("b", 1e15 + np.arange(60) % 2), Column.of("c", noise * 1e-9)]
    assert len(prepared(kept)[0]) == 3
