"""Tables: every format gives the same rows; what is damaged, ragged or not a number is one sentence."""

import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

import unmix as um
from unmix.measures.rows import as_matrix
from unmix.tables import index_of, joined, matching, members, read, read_columns, read_labels

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(50, 3))
IDS = np.array([f"row {i}" for i in range(50)])


class Frame:
    """As much of a data frame as is used, so that neither pandas nor polars is needed."""

    def __init__(self, **columns):
        self.data = columns
        self.columns = list(columns)

    def __getitem__(self, key):
        return Frame(**{k: self.data[k] for k in key}) if isinstance(key, list) else self.data[key]

    def to_numpy(self):
        return np.column_stack(list(self.data.values()))


def csv_text(values=VALUES, header="a,b,c\n", mark=","):
    return header.replace(",", mark) + "".join(mark.join(map(repr, row)) + "\n" for row in values.tolist())


def written(path, kind):
    match kind:
        case "npy":
            np.save(path / "t.npy", VALUES)
        case "npz":
            np.savez(path / "t.npz", only=VALUES)
        case "compressed":
            np.savez_compressed(path / "t.npz", other=np.arange(50), only=VALUES)
        case "fortran":
            np.savez(path / "t.npz", only=np.asfortranarray(VALUES))
        case "safetensors":
            save_file({"only": torch.tensor(VALUES)}, path / "t.safetensors")
        case "parquet":
            pq.write_table(pa.table(dict(zip("abc", VALUES.T, strict=True))), path / "t.parquet", row_group_size=7)
        case "lists":
            pq.write_table(pa.table({"embedding": pa.array(list(VALUES))}), path / "t.parquet")
        case "csv":
            (path / "t.csv").write_text(csv_text())
        case "no header":
            (path / "t.csv").write_text(csv_text(header=""))
        case "semicolons":
            (path / "t.csv").write_text("\ufeff" + csv_text(mark=";"), encoding="utf-8")
        case "tsv":
            (path / "t.tsv").write_text(csv_text(mark="\t"))
    return next(path.iterdir())


KINDS = [
    "npy",
    "npz",
    "compressed",
    "fortran",
    "safetensors",
    "parquet",
    "lists",
    "csv",
    "no header",
    "semicolons",
    "tsv",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_same_rows(tmp_path, kind):
    file = written(tmp_path, kind)
    table = read(file)
    np.testing.assert_array_equal(table.values, VALUES)
    assert table.name == "t"
    assert isinstance(table.values, np.memmap) or kind == "fortran"
    assert table.columns == (("a", "b", "c") if kind in ("parquet", "csv", "semicolons", "tsv") else ("0", "1", "2"))


@pytest.mark.parametrize(
    "source",
    [
        torch.tensor(VALUES, requires_grad=True),
        VALUES.tolist(),
        (VALUES[a : a + 7] for a in range(0, 50, 7)),
        (torch.tensor(VALUES[a : a + 7]) for a in range(0, 50, 7)),
        np.asfortranarray(VALUES),
    ],
    ids=["tensor", "lists", "iterator", "iterator of tensors", "fortran"],
)
def test_what_is_in_memory_gives_the_same_rows(source):
    np.testing.assert_allclose(read(source).values, VALUES, rtol=1e-6)


def test_single_precision_stays_single_in_the_spool(tmp_path):
    np.savez(tmp_path / "t.npz", only=VALUES.astype(np.float32))
    assert read(tmp_path / "t.npz").values.dtype == np.float32
    assert read(torch.tensor(VALUES).bfloat16()).values.dtype == np.float32


def test_whole_numbers_of_safetensors_stay_exact(tmp_path):
    save_file({"only": torch.tensor([[16777217], [3]], dtype=torch.int32)}, tmp_path / "t.safetensors")
    assert read(tmp_path / "t.safetensors").values[0, 0] == 16777217


def test_a_member_is_named_after_two_colons(tmp_path):
    np.savez(tmp_path / "t.npz", one=VALUES, two=2 * VALUES)
    np.testing.assert_array_equal(read(f"{tmp_path / 't.npz'}::two").values, 2 * VALUES)
    assert members(tmp_path / "t.npz") == {"one": True, "two": True}
    with pytest.raises(um.InputError, match=r"2 tables \(one, two\): name one"):
        read(tmp_path / "t.npz")
    with pytest.raises(um.InputError, match="has no three: it has one, two"):
        read(f"{tmp_path / 't.npz'}::three")
    np.save(tmp_path / "t.npy", VALUES)
    with pytest.raises(um.InputError, match="holds one table"):
        read(f"{tmp_path / 't.npy'}::one")


def test_labels_are_columns_by_name(tmp_path):
    (tmp_path / "t.csv").write_text(
        "id,a,b\n" + "".join(f"{i},{x},{y}\n" for i, (x, y, _) in zip(IDS, VALUES, strict=True))
    )
    table = read(tmp_path / "t.csv", labels=["id"])
    assert table.labels["id"].tolist() == IDS.tolist()
    assert table.columns == ("a", "b")
    pq.write_table(pa.table({"id": IDS, "a": VALUES[:, 0]}), tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet", labels=["id"]).labels["id"].tolist() == IDS.tolist()
    np.savez(tmp_path / "t.npz", z=VALUES, id=IDS)
    assert read(tmp_path / "t.npz", labels=["id"]).labels["id"].tolist() == IDS.tolist()
    with pytest.raises(um.InputError, match="no column who: it has id, a"):
        read(tmp_path / "t.parquet", labels=["who"])


def test_files_of_labels(tmp_path):
    (tmp_path / "ids.txt").write_text("\n".join(IDS) + "\n")
    np.save(tmp_path / "ids.npy", IDS)
    assert read_labels(tmp_path / "ids.txt").tolist() == read_labels(tmp_path / "ids.npy").tolist() == IDS.tolist()
    np.save(tmp_path / "table.npy", VALUES)
    with pytest.raises(um.InputError, match="one label a row"):
        read_labels(tmp_path / "table.npy")
    with pytest.raises(um.InputError, match="no file"):
        read_labels(tmp_path / "absent.txt")


@given(st.permutations(range(12)), st.permutations(range(12)))
def test_joining_brings_equal_ids_to_equal_rows(a, b):
    orders = matching([a, b], ["a", "b"])
    assert np.array(a)[orders[0]].tolist() == list(a)
    assert np.array(b)[orders[1]].tolist() == list(a)
    table = read(np.array(b, float), "b")
    assert joined(table, orders[1]).values[:, 0].tolist() == list(a)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([["a", "b"], ["a", "c"]], "1 ids of one are not in two, such as b"),
        ([["a", "b"], ["a", "b", "c"]], "1 ids of two are not in one, such as c"),
        ([["a", "a"], ["a", "b"]], "more than once"),
        ([[["a"]], ["a"]], "one a row"),
        ([["a", None], ["a", "b"]], "the ids of one are missing in 1 rows"),
        ([[1.0, 2.0], [1.0, float("nan")]], "the ids of two are missing"),
    ],
)
def test_ids_that_differ_fail_loudly(ids, words):
    with pytest.raises(um.InputError, match=words):
        matching(ids, ["one", "two"])


def test_a_number_in_one_file_is_the_same_id_as_text_in_the_other():
    assert [o.tolist() for o in matching([np.array([1, 2]), np.array(["2", "1"])], ["one", "two"])] == [[0, 1], [1, 0]]


def test_columns_named_by_their_numbers_are_a_header(tmp_path):
    (tmp_path / "t.csv").write_text(csv_text(header="0,1,2\n"))
    np.testing.assert_array_equal(read(tmp_path / "t.csv").values, VALUES)
    (tmp_path / "t.csv").write_text("1,2,3\n4,5,6\n")
    assert len(read(tmp_path / "t.csv")) == 2
    (tmp_path / "t.csv").write_text(csv_text(header="id,0,1\n"))
    assert read(tmp_path / "t.csv").columns == ("id", "0", "1")


def test_tensors_of_double_precision_stay_double():
    batches = [torch.tensor([[1e9], [1e9 + 1]], dtype=torch.float64), torch.tensor([[1e9 + 2]], dtype=torch.float64)]
    assert read(iter(batches)).values[:, 0].tolist() == [1e9, 1e9 + 1, 1e9 + 2]


def test_an_empty_line_is_a_missing_row_and_not_skipped(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n\n3\n")
    assert np.isnan(read(tmp_path / "t.csv").values[1, 0])


def test_an_empty_batch_is_skipped():
    assert read(iter([VALUES[:30], VALUES[:0], VALUES[30:]])).values.shape == (50, 3)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.npy", b"", "cannot be read as .npy"),
        ("t.npy", b"\x93NUMPY garbage", "cannot be read as .npy"),
        ("t.npz", b"PK not a zip", "cannot be read as .npz"),
        ("t.safetensors", b"\xff" * 64, "cannot be read as .safetensors"),
        ("t.parquet", b"PAR1 but not", "cannot be read as .parquet"),
        ("t.csv", b"", "is empty"),
        ("t.csv", b"a,b\n", "is empty"),
        ("t.csv", b"a,b\n1,2\n3\n", "not a table of numbers"),
        ("t.csv", b"a,b\n1,two\n", "column b of t.csv has 'two' where a number is due"),
        ("t.csv", b"a,a\n1,2\n", "more than once"),
        ("t.csv", b"1.5,NA\n2,3\n", "first line of t.csv has a missing value"),
        ("t.csv", b"0,1\n1,0\n", "may be names or numbers"),
        ("t.csv", b",a\n0,2\n", "an index that pandas wrote"),
        ("t.csv", "a,b\nä,ö\n".encode("latin-1"), "UTF-8"),
        ("t.csv", b"\x00\x01\x02", "not a table of numbers"),
        ("t.doc", b"", "of no kind that unmix reads"),
    ],
)
def test_damaged_files_are_one_sentence(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(um.InputError, match=words):
        read(tmp_path / name)


@pytest.mark.parametrize("kind", ["npy", "npz", "safetensors", "parquet", "csv"])
@settings(max_examples=25)
@given(data=st.data())
def test_a_damaged_byte_never_gives_a_traceback(tmp_path_factory, kind, data):
    file = written(tmp_path_factory.mktemp("damaged"), kind)
    content = bytearray(file.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content = content[:at]
    else:
        content[at] ^= data.draw(st.integers(1, 255))
    file.write_bytes(bytes(content))
    try:
        table = read(file)
    except um.InputError:
        return
    assert table.values.ndim == 2


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (np.array([["a"]]), "real numbers"),
        (np.ones((2, 2, 2)), "two axes"),
        (np.empty((0, 3)), "is empty"),
        (VALUES + 1j, "real numbers"),
        (np.ma.masked_less(VALUES, 0), "mask"),
        ([[1.0], [2.0, 3.0]], "rows of equal length"),
        (iter([np.ones((2, 2)), np.ones((2, 3))]), "blocks of equal width"),
        (iter([]), "is empty"),
        (iter([VALUES.astype(np.float32), VALUES]), "blocks of one kind"),
        (Frame(a=IDS), "real numbers"),
        ([["x", None]], "real numbers"),
        ("nowhere.npy", "no file nowhere.npy"),
    ],
)
def test_what_is_not_a_table_is_refused(source, words):
    with pytest.raises(um.InputError, match=words):
        read(source)


def test_objects_in_a_file_are_not_unpickled(tmp_path):
    np.save(tmp_path / "t.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(um.InputError, match="cannot be read"):
        read(tmp_path / "t.npy")


def test_an_archive_of_something_else_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(um.InputError, match="cannot be read as"):
        read(tmp_path / "t.npz")


def test_a_data_frame_keeps_its_names():
    table = read(Frame(id=IDS, a=VALUES[:, 0], b=VALUES[:, 1]), "frame", labels=["id"])
    assert table.columns == ("a", "b")
    assert table.labels["id"].tolist() == IDS.tolist()
    np.testing.assert_array_equal(table.values, VALUES[:, :2])
    with pytest.raises(um.InputError, match="no column who"):
        read(Frame(a=VALUES[:, 0]), "frame", labels=["who"])


@pytest.mark.parametrize("kind", ["file", "tensor", "array"])
def test_complex_numbers_are_refused_and_never_halved(tmp_path, kind):
    values = torch.tensor(VALUES) + 1j
    source = values if kind == "tensor" else values.numpy()
    if kind == "file":
        source = tmp_path / "t.safetensors"
        save_file({"only": values.to(torch.complex64)}, source)
    with pytest.raises(um.InputError, match=r"real numbers, not of (C64|complex)"):
        read(source)
    with pytest.raises(um.InputError, match=r"real numbers, not of C64|is complex128: give numbers or words"):
        read_columns(source)


@pytest.mark.filterwarnings("ignore:Sparse CSR")
@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.int8, "sparse", "view"])
def test_tensors_of_every_kind_give_their_numbers(kind):
    values = torch.tensor([[0.0, 1.0], [2.0, 0.5], [1.0, 0.0]])
    if kind == "sparse":
        tensors = [values.to_sparse(), values.to_sparse_csr()]
    elif kind == "view":
        tensors = [torch.view_as_complex(torch.stack([values, values], -1)).conj().imag.neg()]
    else:
        values = values.to(kind)
        tensors = [values]
    for tensor in tensors:
        np.testing.assert_array_equal(read(tensor).values, values.double())
        np.testing.assert_array_equal(as_matrix(tensor, "x"), values.double())
        np.testing.assert_array_equal([c.numbers for c in read_columns(tensor)], values.double().T)
    (column,) = read_columns({"a": values[:, 1]})
    np.testing.assert_array_equal(column.numbers, values[:, 1].double())


def test_booleans_are_numbers_of_a_table_and_classes_of_a_factor():
    yes = torch.tensor([[True, False], [False, False]])
    for source in (yes, yes.numpy()):
        np.testing.assert_array_equal(read(source).values, [[1, 0], [0, 0]])
        assert read_columns(source)[0].words.tolist() == ["True", "False"]


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested")
def test_a_tensor_without_numbers_is_one_sentence():
    for tensor in (torch.empty(4, 2, device="meta"), torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])):
        for call in (read, read_columns, lambda t: read_columns({"a": t})):
            with pytest.raises(um.InputError, match="is a tensor that has no plain numbers"):
                call(tensor)


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (10,)",
        b"{'descr': '<f8', 'shape': (0x, ), }",
        b"{'descr': '<z8', 'fortran_order': False, 'shape': (10,), }",
        b"{'descr': '|O', 'fortran_order': False, 'shape': (10,), }",
        b"\xff\xfe(((((((((",
        b"",
    ],
    ids=["large", "open", "syntax", "kind", "objects", "bytes", "none"],
)
def test_a_damaged_file_of_labels_is_one_sentence(tmp_path, header):
    file = tmp_path / "ids.npy"
    file.write_bytes(b"\x93NUMPY\x01\x00" + len(header + b"\n").to_bytes(2, "little") + header + b"\n" + bytes(80))
    with pytest.raises(um.InputError, match="is not a list of labels: give a"):
        read_labels(file)


def test_an_archive_that_is_called_a_list_of_labels_is_one_sentence(tmp_path):
    with (tmp_path / "ids.npy").open("wb") as file:
        np.savez(file, ids=IDS)
    with pytest.raises(um.InputError, match="is not a list of labels"):
        read_labels(tmp_path / "ids.npy")


def test_labels_may_be_tensors_of_any_kind_and_complex_ones_are_refused(tmp_path):
    labels = torch.arange(20) // 4
    plain = um.recovery(VALUES[:20], VALUES[:20, :1], groups=labels.numpy(), folds=2, permutations=99, bootstraps=40)
    for given_labels in (labels.bfloat16(), labels.to_sparse()):
        found = um.recovery(VALUES[:20], VALUES[:20, :1], groups=given_labels, folds=2, permutations=99, bootstraps=40)
        assert found.as_dict() == plain.as_dict()
    np.save(tmp_path / "ids.npy", labels.numpy() * 1j)
    with pytest.raises(um.InputError, match="holds complex128: give words or real numbers"):
        read_labels(tmp_path / "ids.npy")


def test_a_missing_label_of_pandas_is_told():
    pd = pytest.importorskip("pandas")
    for labels in (pd.Series([1, None], dtype="Int64"), pd.Series(["a", pd.NA]), pd.Series([pd.NaT, pd.Timestamp(0)])):
        with pytest.raises(um.InputError, match="the ids of one are missing in 1 rows"):
            matching([labels, ["a", "b"]], ["one", "two"])
        index = index_of(pd.Series([1, 2], labels))
        assert [label is None for label in index] == labels.isna().tolist()
    assert index_of(pd.Series([1, 2], ["", "nan"])).tolist() == ["", "nan"]
