"""Many runs: side by side, never repeated, and none of them lost to a failure, a Ctrl-C or kill -9."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import unmix as um
from unmix.configuration import from_config, to_config
from unmix.papers.jobs import RUN, Trained, Untrained
from unmix.sweeps import Job, JobStore, Pool
from unmix.sweeps.job import key
from unmix.sweeps.pool import LOG
from unmix.sweeps.store import RESULT
from unmix.training.descriptions import DESCRIPTIONS

WORLD = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.MLP(2, pool=50))
MODEL = um.Model(um.encoders.MLP((8,)), um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere())
SHORT = um.Recipe(steps=20, batch=32, rate=1e-2, whitening_rows=200, log_every=5)
LONG = um.Recipe(steps=2000, batch=32, rate=1e-2, whitening_rows=200, log_every=5, checkpoint_every=50)
GOOD, TOO_FEW_ROWS = Trained(WORLD, MODEL, SHORT, rows=400), Untrained(WORLD, rows=3)


def run_all(jobs, store, workers=2):
    ended = []
    with Pool(jobs, store, workers) as pool:
        while pool.busy:
            ended += pool.finished()
            time.sleep(0.02)
    return ended


def test_a_job_is_a_description_that_survives_a_file():
    for job in (GOOD, TOO_FEW_ROWS):
        assert isinstance(job, Job)
        assert from_config(json.loads(json.dumps(to_config(job))), (*DESCRIPTIONS, type(job))) == job
    assert len({key(j) for j in (GOOD, TOO_FEW_ROWS, Trained(WORLD, MODEL, SHORT, seed=1, rows=400))}) == 3


def test_a_failure_stops_nothing_and_what_is_finished_is_never_repeated(tmp_path):
    store = JobStore(tmp_path)
    assert set(run_all([TOO_FEW_ROWS, GOOD, GOOD], store)) == {GOOD, TOO_FEW_ROWS}
    assert "rows" in store.failure(TOO_FEW_ROWS)
    assert store.result(TOO_FEW_ROWS) is None
    found = store.result(GOOD)
    assert 0 < found["scores"]["r2"] <= 1
    assert (found["steps"], found["versions"]["threads"]) == (20, "1")
    assert 0 < found["memory_bytes"] < 1.5 * 2**30
    assert (store.path(GOOD) / LOG).read_text() == ""
    written = (store.path(GOOD) / RESULT).stat().st_mtime_ns
    assert run_all([GOOD, TOO_FEW_ROWS], store) == [TOO_FEW_ROWS]  # a failed one is tried again
    assert (store.path(GOOD) / RESULT).stat().st_mtime_ns == written


def test_the_worker_gets_the_numbers_that_this_process_gets(tmp_path):
    store = JobStore(tmp_path / "store")
    run_all([GOOD], store)
    here = GOOD.run(tmp_path / "here")
    assert here["scores"] == store.result(GOOD)["scores"]


def test_equal_jobs_of_different_files_both_run(tmp_path):
    """1 == 1.0, but a file tells them apart."""
    jobs = [replace(GOOD, process=replace(WORLD, conditional=um.VonMisesFisher(k))) for k in (10, 10.0)]
    assert jobs[0] == jobs[1]
    store = JobStore(tmp_path)
    run_all(jobs, store)
    assert all(store.result(job) is not None for job in jobs)


def test_two_pools_in_one_folder_share_the_work(tmp_path):
    first, second = (JobStore(tmp_path) for _ in range(2))
    with Pool([GOOD], first, 1) as a, Pool([GOOD], second, 1) as b:
        while a.busy or b.busy:
            list(a.finished()), list(b.finished())
            time.sleep(0.02)
    assert first.result(GOOD)["steps"] == 20
    assert first.failure(GOOD) is None


def test_a_worker_that_is_killed_has_failed(tmp_path):
    job, store = Trained(WORLD, MODEL, LONG, rows=400), JobStore(tmp_path)
    with Pool([job], store, workers=1) as pool:
        list(pool.finished())
        (process,) = pool.running.values()
        process.kill()
        process.wait()
        assert list(pool.finished()) == [job]
    assert "killed by signal 9" in store.failure(job)


SCRIPT = """
import sys, time
sys.path.insert(0, sys.argv[1])
from test_sweeps import LONG, MODEL, WORLD, JobStore, Pool, Trained
with Pool([Trained(WORLD, MODEL, LONG, rows=400)], JobStore(sys.argv[2]), workers=1) as pool:
    while pool.busy:
        list(pool.finished())
        time.sleep(0.02)
"""


def wait_for(condition, seconds=100):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("it did not happen in time")


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_when_the_parent_ends_its_workers_do_and_the_next_one_goes_on(tmp_path, end):
    job, store = Trained(WORLD, MODEL, LONG, rows=400), JobStore(tmp_path)
    run = store.path(job) / RUN
    parent = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(tmp_path)], stderr=subprocess.DEVNULL
    )
    wait_for((run / "checkpoint.safetensors").exists)
    worker = next(int(p) for p in os.listdir("/proc") if p.isdigit() and _runs_in(p, store.path(job)))
    parent.send_signal(end)
    parent.wait()
    wait_for(lambda: not _runs_in(str(worker), store.path(job)))
    before = um.load(run).steps
    assert 0 < before < LONG.steps
    run_all([job], store, workers=1)
    assert store.result(job)["steps"] == LONG.steps
    steps = [json.loads(line)["step"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert steps == list(range(5, LONG.steps + 1, 5))
    assert (store.path(job) / LOG).read_text() == ""


def _runs_in(pid, folder):
    try:
        return str(folder).encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def test_progress_is_read_from_the_metrics(tmp_path):
    assert GOOD.progress(tmp_path) is None
    (tmp_path / RUN).mkdir()
    (tmp_path / RUN / "metrics.jsonl").write_text('{"step": 5, "loss": 1.5}\n{"step": 10, "lo')
    assert GOOD.progress(tmp_path) is None  # a line is being written
    (tmp_path / RUN / "metrics.jsonl").write_text('{"step": 5, "loss": 1.5}\n')
    assert GOOD.progress(tmp_path) == (5, 20, 1.5)


def test_no_workers_are_refused(tmp_path):
    with pytest.raises(um.InputError, match="at least 1 worker"):
        Pool([], JobStore(tmp_path), workers=0)
