"""Tables of other packages: the same rows, or one sentence that names the type and says what to give instead."""

import numpy as np
import pyarrow as pa
import pytest
import torch
from scipy import sparse
from torch.utils.data import DataLoader, TensorDataset

import unmix as um
from unmix.audit.inputs import inputs
from unmix.measures.rows import as_matrix
from unmix.tables import read, read_columns

RNG = np.random.default_rng(0)
VALUES = RNG.integers(-3, 4, size=(60, 4)) / 2
VALUES[VALUES == 0.5] = 0
WORDS = RNG.choice(["disc", "ring"], 60).tolist()


def audited(embedding, factors, **asked):
    given = {"kinds": None, "only": None, "ids": None, "groups": None, "name": None, "folds": 3} | asked
    return inputs(embedding, factors, **given)


def sparse_of(kind):
    match kind:
        case "coo" | "csr" | "csc":
            return getattr(torch.tensor(VALUES), f"to_sparse_{kind}")()
        case "bsr":
            return torch.tensor(VALUES).to_sparse_bsr((2, 2))
        case "half":
            return torch.tensor(VALUES).bfloat16().to_sparse()
        case _:
            return getattr(sparse, kind)(VALUES)


KINDS = ["coo", "csr", "csc", "bsr", "half", "csr_matrix", "csc_array", "coo_array", "dok_array", "bsr_array"]


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("kind", KINDS)
def test_sparse_tables_are_filled(kind, monkeypatch):
    monkeypatch.setattr("unmix.tables.foreign.BLOCK_BYTES", 7 * 8 * 4)
    source = sparse_of(kind)
    np.testing.assert_array_equal(read(source).values, VALUES)
    np.testing.assert_array_equal(as_matrix(source, "x"), VALUES)
    np.testing.assert_array_equal([c.numbers for c in read_columns(source)], VALUES.T)


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas")


@pytest.fixture
def polars():
    return pytest.importorskip("polars")


@pytest.mark.parametrize("kind", ["Float64", "Float32", "double[pyarrow]", "float64", "Int64"])
def test_pandas_has_numbers_of_its_own(pandas, kind):
    values = np.round(VALUES) if kind == "Int64" else VALUES
    frame = pandas.DataFrame(values, columns=list("abcd")).astype(kind)
    table = read(frame)
    np.testing.assert_array_equal(table.values, values)
    assert table.columns == tuple("abcd")
    frame.loc[7, "b"] = pandas.NA if kind != "float64" else np.nan
    assert np.isnan(read(frame).values[7, 1])
    assert np.isnan(read_columns(frame)[1].numbers[7])
    np.testing.assert_array_equal(read_columns(frame)[0].numbers, values[:, 0])


def test_a_column_of_rows_is_a_table(pandas):
    for rows in (list(VALUES), VALUES.tolist(), [torch.tensor(row) for row in VALUES]):
        series = pandas.Series(rows)
        for source in (series, pandas.DataFrame({"embedding": series}), rows):
            np.testing.assert_array_equal(read(source).values, VALUES)
    two = pandas.DataFrame({"size": VALUES[:, 0], "rest": list(VALUES[:, 1:])})
    np.testing.assert_array_equal(read(two).values, VALUES)
    for wrong in ([[1.0], [1.0, 2.0]], ["a", "b"], [1.0, "b"]):
        with pytest.raises(um.InputError, match="table of real numbers: column a is"):
            read(pandas.DataFrame({"a": wrong}))
    tensors = [torch.tensor(row).bfloat16().requires_grad_() for row in VALUES]
    np.testing.assert_array_equal(read(tensors).values, VALUES)


@pytest.mark.parametrize("lazy", [False, True])
def test_polars_gives_its_rows(polars, lazy):
    frame = polars.DataFrame({"size": VALUES[:, 0], "shape": WORDS, "rest": VALUES[:, 1:]})
    lists = frame.with_columns(polars.col("rest").arr.to_list())
    for some in (frame, lists):
        source = some.lazy() if lazy else some
        table = read(source, labels=["shape"])
        np.testing.assert_array_equal(table.values, VALUES)
        assert table.labels["shape"].tolist() == WORDS
        with pytest.raises(um.InputError, match="column shape of the table is string"):
            read(source)
    flat = polars.DataFrame(VALUES, schema=list("abcd")).with_columns(
        polars.Series("e", [True, None] * 30), polars.Series("f", [1, None] * 30)
    )
    table = read(flat.lazy() if lazy else flat)
    np.testing.assert_array_equal(table.values[:, :4], VALUES)
    np.testing.assert_array_equal(table.values[:2, 4:], [[1, 1], [np.nan, np.nan]])
    assert table.columns == tuple("abcdef")
    numbers = flat.select("a", "b", "c", "d")
    np.testing.assert_array_equal(as_matrix(numbers.lazy() if lazy else numbers, "x"), VALUES)
    uneven = polars.DataFrame({"a": [[1.0], [1.0, 2.0]]})
    with pytest.raises(um.InputError, match="column a of the table has lists of different lengths"):
        read(uneven.lazy() if lazy else uneven)


def test_factors_of_polars(polars):
    frame = polars.DataFrame({"size": [None, *VALUES[1:, 0]], "shape": WORDS})
    frame = frame.with_columns(shape=polars.col("shape").cast(polars.Categorical), word=polars.col("shape"))
    for source in (frame, frame.lazy(), frame.to_arrow()):
        size, shape, word = read_columns(source)
        np.testing.assert_array_equal(size.numbers[1:], VALUES[1:, 0])
        assert np.isnan(size.numbers[0])
        assert shape.words.tolist() == word.words.tolist() == WORDS
    with pytest.raises(um.InputError, match="column rest must hold one value a row"):
        read_columns(polars.DataFrame({"rest": VALUES}).lazy())


def test_a_lazy_frame_is_joined_by_its_ids_like_any_other(polars):
    ids = [f"row {i}" for i in range(60)]
    order = RNG.permutation(60)
    x = polars.DataFrame(VALUES, schema=list("abcd")).with_columns(polars.Series("id", ids))
    z = x.select("id", size="a")[order.tolist()]
    with pytest.raises(um.InputError, match="both name their rows in the column id"):
        audited(x.lazy(), z.lazy())
    given = audited(x.lazy(), z.lazy(), ids="id")
    np.testing.assert_array_equal(given.factors[0].targets[:, 0], VALUES[:, 0])
    with pytest.raises(um.InputError, match="both name their rows in the column id"):
        um.compare(x.lazy(), z.lazy())


def test_a_table_of_arrow_is_rows_and_factors():
    table = pa.table({"a": VALUES[:, 0], "rest": pa.FixedSizeListArray.from_arrays(VALUES[:, 1:].ravel(), 3)})
    np.testing.assert_array_equal(read(table).values, VALUES)
    np.testing.assert_array_equal(read(table.to_batches()[0]).values, VALUES)
    np.testing.assert_array_equal(as_matrix(table, "x"), VALUES)
    factors = pa.table(
        {"size": pa.array([None, *VALUES[1:, 0]]), "shape": WORDS, "day": pa.array(WORDS).dictionary_encode()}
    )
    size, shape, day = read_columns(factors)
    np.testing.assert_array_equal(size.numbers[1:], VALUES[1:, 0])
    assert shape.words.tolist() == day.words.tolist() == WORDS
    assert len(audited(table, factors).factors) == 3


@pytest.mark.filterwarnings("ignore:The 'mode.chained")
def test_annotated_data(pandas):
    anndata = pytest.importorskip("anndata")
    obs = pandas.DataFrame({"type": pandas.Categorical(WORDS), "size": VALUES[:, 0]}, [f"c{i}" for i in range(60)])
    data = anndata.AnnData(sparse.csr_matrix(VALUES), obs, obsm={"X_pca": VALUES[:, :2]})
    np.testing.assert_array_equal(read(data.X).values, VALUES)
    np.testing.assert_array_equal(read(data[10:].X).values, VALUES[10:])
    given = audited(data.obsm["X_pca"], data.obs)
    assert [f.name for f in given.factors] == ["type", "size"]
    with pytest.raises(
        um.InputError,
        match=r"an AnnData holds several tables: for the embedding give one of them, adata.obsm\['X_pca'\]",
    ):
        audited(data, data.obs)
    with pytest.raises(um.InputError, match=r"for the factors give adata\.obs\."):
        audited(data.X, data)


@pytest.mark.parametrize("kind", ["loader", "dataset"])
def test_what_may_hold_more_than_rows_is_one_sentence(kind):
    rows = TensorDataset(torch.tensor(VALUES), torch.tensor(VALUES[:, 0]))
    source = DataLoader(rows, batch_size=7, generator=torch.Generator()) if kind == "loader" else rows
    remedy = (
        "a DataLoader may shuffle.*batch.0. for batch"
        if kind == "loader"
        else "of a TensorDataset may.*item.0. for item"
    )
    for call in (read, read_columns, lambda s: um.recovery(s, VALUES), lambda s: um.compare(s, VALUES)):
        with pytest.raises(um.InputError, match=remedy):
            call(source)
    loader = DataLoader(rows, batch_size=7, generator=torch.Generator())
    np.testing.assert_array_equal(read(batch[0] for batch in loader).values, VALUES)


def test_what_is_no_table_is_named():
    for call in (read, read_columns):
        with pytest.raises(um.InputError, match=r"a torch\.Identity is no table: for the \w+ give an array"):
            call(torch.nn.Identity())
