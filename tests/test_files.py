"""Files are whole or not there, whoever else writes them, and nothing is written through a link."""

import errno
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from processes import in_processes

import unmix as um
from unmix.activations.growing import GrowingFile
from unmix.files import ABANDONED, read_json, replacing, write_atomically, write_json
from unmix.lock import is_locked, locked
from unmix.training.folder import RunFolder


def write_often(file, name):
    def write(thread):
        for i in range(40):
            write_json(file, {"again": [f"{name}.{thread} {i}"] * 2000})

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, range(3)))


def test_many_writers_of_one_file_and_no_reader_sees_a_part(tmp_path):
    file = tmp_path / "facts.json"
    write_json(file, {"again": ["first"]})
    ended, seen = threading.Event(), set()

    def read():
        while not ended.is_set():
            found = read_json(file)["again"]  # refuses what is torn
            assert len(set(found)) == 1
            seen.add(found[0])

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read)
        assert in_processes(write_often, [file] * 4, range(4)) == [None] * 4
        ended.set()
        reader.result()
    assert len(seen) > 3
    assert [p.name for p in tmp_path.iterdir()] == ["facts.json"]


def test_no_name_that_can_be_guessed_is_written_to(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("years of work")
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("audit.html.tmp", ".audit.html.tmp", "audit.html", "x.npy.part", ".lock", "metrics.jsonl"):
        (folder / name).symlink_to(precious)
    write_atomically(folder / "audit.html", b"new")
    growing = GrowingFile(folder / "x.npy", 0, b"new")
    growing.sync(), growing.close()
    for write in (lambda: RunFolder(folder).append_metrics({"step": 1}), lambda: locked(folder / ".lock").__enter__()):
        with pytest.raises(um.RunFolderError, match="it is a link to somewhere else: delete it"):
            write()
    (folder / "x.npy.part").unlink()
    (folder / "x.npy.part").symlink_to(precious)
    with pytest.raises(um.RunFolderError, match="a link"):
        GrowingFile(folder / "x.npy", 3)
    assert precious.read_text() == "years of work"
    assert (folder / "audit.html").read_bytes() == b"new"


def test_a_full_disk_is_one_sentence_and_leaves_what_was_there(tmp_path, monkeypatch):
    file = tmp_path / "kept.json"
    write_atomically(file, b"old")
    monkeypatch.setattr(os, "fsync", lambda handle: full())
    with pytest.raises(um.RunFolderError, match="No space left on device; free some space"):
        write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["kept.json"]


def full():
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_writer_that_is_stopped_leaves_no_file_behind(tmp_path):
    def stopped():
        with replacing(tmp_path / "facts.json") as file:
            file.write(b"half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert list(tmp_path.iterdir()) == []


def test_what_killed_writers_left_is_removed_after_a_day(tmp_path):
    names = [f".unmix-{n:016x}.tmp" for n in range(2)]
    for name in [*names, "thesis.tmp"]:
        (tmp_path / name).write_text("half of")
    long_ago = time.time() - ABANDONED - 60
    for name in (names[0], "thesis.tmp"):
        os.utime(tmp_path / name, (long_ago, long_ago))
    write_json(tmp_path / "facts.json", 1)
    assert {p.name for p in tmp_path.iterdir()} == {names[1], "thesis.tmp", "facts.json"}  # only ours, and only old


def test_a_lock_has_one_holder_and_outlives_none(tmp_path):
    held, count = tmp_path / ".lock", []
    assert not is_locked(held)

    def hold(_):
        with locked(held, wait=True):
            count.append(1)
            assert len(count) == 1
            time.sleep(0.01)
            count.pop()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(hold, range(8)))
    script = f"""
        import time
        from pathlib import Path
        from unmix.lock import locked
        with locked(Path({str(held)!r})):
            print("held", flush=True)
            time.sleep(100)
    """
    holder = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(um.RunFolderError, match=r"another process is working in .*: wait for it"), locked(held):
        pass
    assert is_locked(held)
    holder.kill()
    holder.wait()
    assert not is_locked(held)


def compare_into(folder):
    a = np.random.default_rng(0).normal(size=(200, 3))
    tables = {"a": a, "b": a @ np.ones((3, 2)), "c": a**3}
    found = um.compare(tables, folder=folder, measures=[um.measures.R2()], bootstraps=40, permutations=99)
    found.save(folder / "comparison.json")
    return found.as_dict()


def test_eight_processes_compare_into_one_folder(tmp_path):
    found = in_processes(compare_into, [tmp_path] * 8)
    assert found == [found[0]] * 8
    assert len(list((tmp_path / "pairs").iterdir())) == 3
    assert json.loads((tmp_path / "comparison.json").read_text()) == found[0]
