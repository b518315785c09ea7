"""A disk that is full: one sentence with the remedy, what was said to be kept is kept, and the same call goes on.

The limit on the size of files stands for the disk: the system refuses what is beyond it, wherever that is flushed.
"""

import resource
import sys
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from torch import nn

import unmix as um
from unmix.activations import head, load, record
from unmix.activations.growing import GrowingFile

X = torch.arange(1200.0).reshape(300, 4)
REMEDY = r"cannot use .*; raise the limit on file sizes, or choose a folder on another disk"


@contextmanager
def files_up_to(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def network():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


def recorded(folder):
    model = network()
    return record(model, X, ["0"], folder, head=head(model), batch=10, progress=False)


def files(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.suffix in (".npy", ".txt")}


@pytest.mark.parametrize("size", [0, 500, 2_000, 9_000, 9_728])  # f.npy takes 9,728 bytes, and model.npz more
def test_a_recording_says_so_keeps_what_it_had_and_goes_on(size, tmp_path, monkeypatch):
    if size == 2_000:
        monkeypatch.setattr(sys.modules["unmix.activations.record"], "SECONDS", 0.0)
    whole = files(recorded(tmp_path / "whole").folder)
    with files_up_to(size), pytest.raises(um.RunFolderError, match=REMEDY):
        recorded(tmp_path / "run")
    assert not list((tmp_path / "run").glob(".unmix-*"))
    with pytest.raises(um.RunFolderError, match="record them"):
        load(tmp_path / "run")
    found = recorded(tmp_path / "run")
    assert files(tmp_path / "run") == whole
    np.testing.assert_array_equal(found.model().f, load(tmp_path / "whole").model().f)


def test_a_disk_that_is_full_at_the_close_alone_loses_what_was_not_promised(tmp_path):
    growing = GrowingFile(tmp_path / "x.npy", 0, b"start")
    kept = growing.sync()
    growing.append(b"more")  # in memory so far
    with files_up_to(kept):
        growing.close()
    assert (tmp_path / "x.npy.part").read_bytes() == b"start"
    again = GrowingFile(tmp_path / "x.npy", kept)
    again.append(b" and the rest")
    again.finish(b"START")
    assert (tmp_path / "x.npy").read_bytes() == b"START and the rest"


def test_a_comparison_keeps_the_pairs_that_fit_and_goes_on(tmp_path):
    a = np.random.default_rng(0).normal(size=(200, 3))
    tables, settings = {"a": a, "b": a**3, "c": a[:, :2]}, {"measures": [um.measures.R2()], "bootstraps": 40}
    whole = um.compare(tables, **settings, permutations=99)
    with files_up_to(100), pytest.raises(um.RunFolderError, match=REMEDY):
        um.compare(tables, **settings, permutations=99, folder=tmp_path)
    assert list((tmp_path / "pairs").iterdir()) == []
    again = um.compare(tables, **settings, permutations=99, folder=tmp_path)
    assert again.as_dict() == whole.as_dict()
