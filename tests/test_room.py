"""What a file unpacks to is weighed before it is unpacked; archives of many arrays are opened once."""

import io
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import save_file

import unmix as um
from unmix.tables import members, read, read_columns
from unmix.tables.spool import spool

ROWS, WIDTH = 2000, 50
ZEROS = np.zeros((ROWS, WIDTH))


@pytest.fixture
def little_disk(monkeypatch):
    monkeypatch.setattr("unmix.tables.spool.disk", lambda: 10**5)
    monkeypatch.setattr("unmix.tables.room.disk", lambda: 10**5)


def packed(path, kind):
    match kind:
        case "npz":
            np.savez_compressed(path, t=ZEROS)
        case "fortran":
            np.savez_compressed(path, t=np.asfortranarray(ZEROS))
        case "column":
            np.savez_compressed(path, t=np.zeros(ROWS * WIDTH), u=np.zeros((2, 2)))
        case "parquet":
            pq.write_table(pa.table({f"c{i}": ZEROS[:, i] for i in range(WIDTH)}), path)
        case "safetensors":
            save_file({"t": torch.tensor(ZEROS)}, path)
    return f"{path}::t" if kind == "column" else path


@pytest.mark.parametrize("kind", ["npz", "fortran", "column", "parquet", "safetensors"])
def test_a_file_that_unpacks_to_more_than_the_disk_has_is_refused_before(tmp_path, little_disk, monkeypatch, kind):
    source = packed(tmp_path / f"t.{kind if kind in ('parquet', 'safetensors') else 'npz'}", kind)
    monkeypatch.setattr("unmix.tables.table.as_rows", lambda *_: pytest.fail("a row was read"))
    with pytest.raises(
        um.InputError, match=r"unpacks to 800,000 bytes or more and .* has room for 100,000 bytes: point"
    ):
        read(source)


def test_what_does_not_say_how_large_it_is_stops_where_the_room_ends(tmp_path, little_disk):
    given = []
    with pytest.raises(um.InputError, match="unpacks to 120,000 bytes or more"):
        read(given.append(i) or np.zeros((100, 50)) for i in range(10**6))
    assert len(given) == 3
    lists = pa.table({"embedding": pa.array(list(ZEROS))})
    pq.write_table(lists, tmp_path / "t.parquet")
    for source in (tmp_path / "t.parquet", lists, torch.tensor(ZEROS).to_sparse()):
        with pytest.raises(um.InputError, match="the temporary folder has room for 100,000 bytes"):
            read(source)


@pytest.mark.parametrize("shape", [(10**12,), (10**12, 2), (10**6, 10**6)])
def test_a_header_that_promises_more_than_there_is(tmp_path, shape):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("t.npy", header.getvalue() + bytes(80))
    for call in (lambda: read(f"{tmp_path / 't.npz'}::t"), lambda: read_columns(tmp_path / "t.npz")):
        with pytest.raises(um.InputError, match=r"(unpacks to|takes) [\d.]+ TB or more"):
            call()


def test_tables_whose_columns_come_first_are_mapped(tmp_path):
    values = np.random.default_rng(0).normal(size=(300, 7))
    np.savez_compressed(tmp_path / "t.npz", t=np.asfortranarray(values))
    found = read(tmp_path / "t.npz").values
    np.testing.assert_array_equal(found, values)
    assert isinstance(found, np.memmap)


@pytest.mark.parametrize("kind", ["npz", "parquet", "safetensors"])
def test_factors_that_memory_cannot_hold_are_refused(tmp_path, monkeypatch, kind):
    monkeypatch.setattr("unmix.tables.room.memory", lambda: 10**4)
    path = tmp_path / f"t.{kind}"
    match kind:
        case "npz":
            np.savez_compressed(path, a=np.zeros(5000), b=np.zeros(5000))
        case "parquet":
            pq.write_table(pa.table({"a": np.zeros(5000)}), path)
        case "safetensors":
            save_file({"a": torch.zeros(5000), "b": torch.zeros(5000)}, path)
    with pytest.raises(um.InputError, match=rf"t\.{kind} takes .* of memory and there is room for 10,000 bytes: give"):
        read_columns(path)


@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_an_archive_of_thousands_of_arrays_is_opened_once(tmp_path, monkeypatch, kind):
    path = tmp_path / f"t.{kind}"
    arrays = {f"a{i}": np.arange(10.0) + i for i in range(1100)}  # more than files that may be open
    if kind == "npz":
        np.savez(path, **arrays)
    else:
        save_file({key: torch.tensor(values) for key, values in arrays.items()}, path)
    opened = []
    start = zipfile.ZipFile.__init__
    monkeypatch.setattr(zipfile.ZipFile, "__init__", lambda *a, **k: opened.append(1) or start(*a, **k))
    found = read_columns(path)
    assert [c.name for c in found] == list(members(path))
    assert {c.name: c.numbers.tolist() for c in found} == {key: values.tolist() for key, values in arrays.items()}
    assert len(opened) <= 3  # also once to list them, and once by `members` here


def test_what_fits_is_kept(little_disk):
    assert spool(iter([np.zeros((10, 3))]), "t", 240).shape == (10, 3)
