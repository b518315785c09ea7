"""Many calls on one folder at once: each ends well or is refused before the work, and no work is done twice."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch
from processes import Noted, in_processes
from test_papers import COLUMN, MODEL, SEEN, WORLD

import unmix as um
from unmix.activations import load, record
from unmix.indeterminacy import AFFINE
from unmix.lock import is_locked
from unmix.papers import Exhibit, Row, dots
from unmix.sweeps import JobStore, Pool
from unmix.sweeps.store import LOCK

REFUSED = (
    "another process is working in",
    "another process went on with",
)
RNG = np.random.default_rng(0)
A = RNG.normal(size=(200, 3))


def fitted(folder):
    recipe = um.Recipe(steps=300, batch=32, rate=1e-2, whitening_rows=200, log_every=5, checkpoint_every=20)
    return um.fit(WORLD, MODEL, recipe, folder=folder, progress=False).losses


class Slow(torch.nn.Module):
    """A network that takes its time, so that calls meet."""

    def __init__(self):
        super().__init__()
        self.twice = torch.nn.Identity()

    def forward(self, x):
        time.sleep(0.01)
        return self.twice(2 * x)


def recorded(folder):
    x = torch.arange(600.0).reshape(200, 3)
    return np.array(record(Slow(), x, ["twice"], folder, batch=10, progress=False)["twice"]).tolist()


def outcomes(call, folder, threads=6, processes=2):
    """What the calls give that ended well, all of them in threads and processes at once; the others were refused."""
    with ThreadPoolExecutor(threads + 1) as pool:
        elsewhere = pool.submit(in_processes, call, [folder] * processes)
        here = [pool.submit(call, folder) for _ in range(threads)]
        found = [*(f.exception() or f.result() for f in here), *elsewhere.result()]
    well = [f for f in found if not isinstance(f, Exception)]
    refused = [f for f in found if isinstance(f, Exception)]
    assert all(isinstance(f, um.RunFolderError) and str(f).startswith(REFUSED) for f in refused), refused
    return well


@pytest.mark.parametrize("call", [fitted, recorded])
def test_one_call_works_and_the_others_are_refused_or_read_what_it_made(call, tmp_path):
    alone = call(tmp_path / "alone")
    found = outcomes(call, tmp_path / "run")
    assert found
    assert all(one == alone for one in found)
    assert call(tmp_path / "run") == alone
    assert not list((tmp_path / "run").glob("*.tmp")) + list((tmp_path / "run").glob("*.part"))


def test_a_call_that_is_refused_is_refused_at_once(tmp_path):
    calls, first, second, x = [], Slow(), Slow(), torch.zeros(2000, 3)
    worker = threading.Thread(target=lambda: record(first, x, ["twice"], tmp_path, batch=10, progress=False))
    worker.start()
    while not is_locked(tmp_path / LOCK):
        time.sleep(0.01)
    second.register_forward_pre_hook(lambda *_: calls.append(1))
    with pytest.raises(um.RunFolderError, match="another process is working in"):
        record(second, x, ["twice"], tmp_path, batch=10, progress=False)
    assert calls == []
    worker.join()
    assert load(tmp_path).rows == 2000


def compared(folder):
    tables = {"a": A, "b": A @ np.ones((3, 2)), "c": A**3}
    found = um.compare(tables, folder=folder, measures=[um.measures.R2()], bootstraps=40, permutations=99)
    for kind in (".json", ".csv", ".tex"):
        found.save(folder / f"comparison{kind}")
    return found.as_dict()


def audited(folder):
    folder.mkdir(exist_ok=True)
    found = um.audit(A, {"u": A[:, 0], "v": A[:, 1] ** 2}, probe=False, bootstraps=40, permutations=99)
    for kind in (".json", ".html", ".csv", ".tex"):
        found.save(folder / f"audit{kind}")
    return found.as_dict()


def saved(folder):
    model = um.estimators.DIETEncoder(2, max_steps=2, random_state=0).fit(A)
    model.save(folder)
    return um.estimators.load(folder).transform(A).tolist()


@pytest.mark.parametrize(("call", "threads", "processes"), [(compared, 6, 2), (audited, 4, 2), (saved, 0, 4)])
def test_calls_that_only_write_results_all_end_well(call, threads, processes, tmp_path):
    """Estimators not in threads: a module of one's own draws from the generator that all threads share."""
    found = outcomes(call, tmp_path / "run", threads, processes)
    assert len(found) == threads + processes
    assert all(one == found[0] for one in found)
    assert not list((tmp_path / "run").glob("*.tmp"))


def tiny(process, model):
    return model, um.Recipe(steps=20, batch=32, rate=1e-2, whitening_rows=200, log_every=5)


def test_a_finished_recording_that_may_not_be_written_is_read_back(tmp_path):
    made = recorded(tmp_path)
    (tmp_path / LOCK).chmod(0o400)
    assert recorded(tmp_path) == made
    (tmp_path / LOCK).unlink()
    assert recorded(tmp_path) == made
    assert not (tmp_path / LOCK).exists()


EXHIBIT = Exhibit(
    "own/table1", "two rows", "me", ("setting",), (SEEN, COLUMN),
    (Row(1, ("one",), WORLD, MODEL), Row(2, ("two",), replace(WORLD, mixing=um.mixings.Linear(pool=10)), MODEL)),
    AFFINE, dots,
)  # fmt: skip


def test_a_table_that_is_reproduced_twice_at_once_shares_its_runs(tmp_path, monkeypatch):
    started, start = [], Pool._start
    monkeypatch.setattr(Pool, "_start", lambda self, job: started.append(job) or start(self, job))

    def whole(_):
        return um.reproduce(EXHIBIT, seeds=[1], recipe=tiny, workers=2, folder=tmp_path, progress=False)

    with ThreadPoolExecutor(2) as pool:
        first, second = (found.as_dict() for found in pool.map(whole, range(2)))
    assert first == second  # with the time at which each run was made
    assert len(first["runs"]) == 4
    assert all(cell["runs"] for row in first["rows"] for cell in row["cells"].values())
    assert um.papers.read(tmp_path / "own/table1.json", EXHIBIT).as_dict()["runs"] == first["runs"]


def test_two_pools_take_different_jobs_and_run_none_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # where workers find the class of the job
    jobs, stores = [Noted(n) for n in range(4)], [JobStore(tmp_path) for _ in range(2)]
    ended = {0: [], 1: []}
    with Pool(jobs, stores[0], 1) as a, Pool(jobs, stores[1], 1) as b:
        list(a.finished())
        deadline = time.monotonic() + 100
        while not (stores[0].path(jobs[0]) / "runs").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert stores[1].taken(jobs[0])
        list(b.finished())
        assert list(b.running) == [jobs[1]]
        while a.busy or b.busy:
            ended[0] += a.finished()
            ended[1] += b.finished()
            time.sleep(0.02)
    assert set(ended[0]) == set(ended[1]) == set(jobs)  # each is told of all
    assert [(stores[0].path(job) / "runs").read_text() for job in jobs] == ["run\n"] * 4
    assert not any(stores[0].taken(job) for job in jobs)
    assert (stores[0].path(jobs[0]) / LOCK).exists()


SCRIPT = """
import sys, time
from pathlib import Path
from processes import Noted
from unmix.sweeps import JobStore, Pool
with Pool([Noted(1, 100)], JobStore(sys.argv[1]), 1) as pool:
    list(pool.finished())
    time.sleep(100)
"""


def test_a_pool_takes_over_what_a_killed_one_was_at(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    job, store = Noted(1, 100), JobStore(tmp_path)
    other = subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path)])
    deadline = time.monotonic() + 100
    while not (store.path(job) / "runs").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    with Pool([job], store, 1) as pool:
        assert list(pool.finished()) == []
        assert (pool.waiting, pool.running) == ([job], {})  # the other one's worker is at it
        other.kill()
        other.wait()
        while pool.busy and time.monotonic() < deadline:
            list(pool.finished())
            time.sleep(0.02)
    assert store.result(job)["number"] == 1
    assert (store.path(job) / "runs").read_text() == "run\n" * 2
