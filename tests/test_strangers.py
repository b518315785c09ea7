"""Folders that somebody else wrote: no name in them is imported, and what cannot be is a sentence."""

import dataclasses
import inspect
import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import torch

import unmix as um
from unmix.activations import pretrained
from unmix.configuration import from_config, to_config
from unmix.estimators.store import KNOWN as OF_ESTIMATORS
from unmix.estimators.store import WEIGHTS
from unmix.papers import catalogue
from unmix.papers.descriptions import JOBS, KNOWN
from unmix.papers.effort import fast
from unmix.sweeps import JobStore, Pool
from unmix.sweeps.store import JOB
from unmix.training.descriptions import DESCRIPTIONS
from unmix.training.folder import RunFolder

RESULTS = Path(__file__).parent.parent / "results"
NAMES = [
    "unmix.__main__.X", "unmix.cli.app.main", "unmix.papers.reizinger2025.table2.EXHIBIT", "unmix.mixings.Nothing",
    "os.system", "subprocess.Popen", "antigravity.X", "this.s", "turtledemo.__main__.X", "", "X",
    "unmix.audit.report.AuditReport", "unmix.files.write_json", "unmix.training.recipe.Recipe.__init__",
]  # fmt: skip
PROCESS = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.Linear(pool=10))
MODEL = um.Model(um.encoders.MLP((8,)), um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere())
RECIPE = um.Recipe(steps=2, batch=16, rate=1e-2, whitening_rows=50)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strangers") / "run"
    um.fit(PROCESS, MODEL, RECIPE, folder=folder, progress=False)
    return folder


@pytest.fixture(autouse=True)
def nothing_is_imported():
    """By any of these tests, but for what another name of the house needs."""
    before = set(sys.modules)
    yield
    new = {name for name in set(sys.modules) - before if name.split(".")[0] in ("antigravity", "this", "turtledemo")}
    assert not new
    assert "unmix.__main__" not in sys.modules


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_a_config_is_never_imported(name, run, tmp_path):
    config = json.loads((run / "config.json").read_text())
    for place in ("process", "model", "recipe", "seed"):
        foreign = config | {place: {"is": name, "args": "true"}}
        shutil.copytree(run, tmp_path / place)
        (tmp_path / place / "config.json").write_text(json.dumps(foreign))
        before = set(sys.modules)
        with pytest.raises(um.InputError, match="unmix does not define"):
            um.load(tmp_path / place)
        assert set(sys.modules) == before
    inside = config | {"process": config["process"] | {"mixing": {"is": name}}}
    (tmp_path / "seed" / "config.json").write_text(json.dumps(inside))
    with pytest.raises(um.InputError, match="unmix does not define"):
        um.load(tmp_path / "seed")


@pytest.mark.parametrize("name", [*NAMES, "load", "EncoderEstimator", "store", "np"])
def test_nor_one_in_the_folder_of_an_estimator(name, tmp_path):
    model = um.estimators.DIETEncoder(2, max_steps=2, random_state=0, objective=um.DIET())
    model.fit(torch.randn(40, 3, generator=torch.Generator().manual_seed(0)).numpy()).save(tmp_path)
    tensors, facts = RunFolder(tmp_path).read_tensors(WEIGHTS)
    objective = facts | {"parameters": facts["parameters"] | {"objective": {"is": name}}}
    arrays = facts | {"arrays": facts["arrays"] | {"transform": [1.0]}}
    before = set(sys.modules)
    for foreign in (facts | {"is": name}, objective):
        RunFolder(tmp_path).write_tensors(WEIGHTS, tensors, foreign)
        with pytest.raises(um.RunFolderError, match="is damaged, or of a class that unmix does not define"):
            um.estimators.load(tmp_path)
    RunFolder(tmp_path).write_tensors(WEIGHTS, tensors, arrays)
    assert callable(um.estimators.load(tmp_path).transform)  # a file sets the attributes of a fit, and no others
    assert set(sys.modules) == before


def test_nor_one_in_a_kept_result(tmp_path):
    table = catalogue()["zimmermann2021/table1"]
    table = dataclasses.replace(table, rows=table.rows[:1])
    (column, *_) = table.columns
    result = {"scores": {column.score: 1.0}, "job": {"is": "unmix.__main__.X"}, "versions": {"unmix": um.__version__}}
    cell = um.papers.Cell(table.rows[0], column, (um.papers.cell.Run("k", 1, result),))
    um.Reproduction(table, {1: {column.title: cell}}, "fast").save(tmp_path / "table.json")
    (found,) = um.papers.read(tmp_path / "table.json", table).cell(1, column.title).runs
    assert found.job is None


def test_a_worker_runs_a_job_of_the_class_that_it_was_started_for(tmp_path, monkeypatch):
    job, store = JOBS[0](PROCESS, 1, 100), JobStore(tmp_path)
    prepare = store.prepare

    def swapped(job):
        folder = prepare(job)
        (folder / JOB).write_text('{"is": "unmix.__main__.X"}')
        return folder

    monkeypatch.setattr(store, "prepare", swapped)
    with Pool([job], store, 1) as pool:
        while pool.busy:
            list(pool.finished())
    assert "unmix does not define" in store.failure(job)


def test_what_is_nested_too_deeply_or_does_not_fit_is_a_sentence():
    deep = [1]
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(um.InputError, match="nested too deeply"):
        from_config(deep, DESCRIPTIONS)
    box = {"is": "unmix.spaces.box.Box"}
    for wrong in ({}, {"dimension": 3, "other": 1}, {"dimension": 3, "low": "a"}, {"dimension": [1]}):
        with pytest.raises(um.InputError):
            from_config(box | wrong, DESCRIPTIONS)


def test_every_public_description_is_on_the_list():
    """A new one is not read back until somebody puts it there."""
    places = (um.spaces, um.laws, um.mixings, um.processes, um.similarities, um.objectives, um.encoders, um.outputs)
    found = [getattr(place, name) for place in (*places, um.recipes) for name in getattr(place, "__all__", vars(place))]
    public = {
        kind
        for kind in found
        if inspect.isclass(kind)
        and dataclasses.is_dataclass(kind)
        and not kind.__name__.startswith("_")
        and not inspect.isabstract(kind)
    }
    no_description = {um.mixings.LayeredMap, um.laws.AdditiveLaw}
    assert public - no_description == set(DESCRIPTIONS) - {um.Model}
    assert all(kind.__dataclass_params__.frozen for kind in (*KNOWN, *OF_ESTIMATORS))


def test_every_job_of_the_papers_is_on_the_list():
    for exhibit in catalogue().values():
        for column in exhibit.columns:
            jobs = [column.job(exhibit.rows[0], fast, 1)]
            jobs += [column.official(exhibit.rows[0])[0]] if column.official else []
            assert all(from_config(to_config(job), KNOWN) == job for job in jobs)


def test_every_name_in_the_committed_results_is_on_the_list():
    written = "".join(file.read_text() for file in RESULTS.rglob("*.json"))
    names = set(re.findall('"is": "([^"]+)"', written))
    assert len(names) > 30
    assert names <= {f"{kind.__module__}.{kind.__qualname__}" for kind in KNOWN}


@dataclasses.dataclass(frozen=True)
class OwnMixing:
    size: float = 2.0

    def draw(self, dimension, generator):
        return um.mixings.Identity().draw(dimension, generator)


def test_what_is_the_callers_own_is_compared_with_the_file(tmp_path):
    own = dataclasses.replace(PROCESS, mixing=OwnMixing())
    first = um.fit(own, MODEL, RECIPE, folder=tmp_path / "run", progress=False)
    assert um.fit(own, MODEL, RECIPE, folder=tmp_path / "run", progress=False).losses == first.losses
    other = dataclasses.replace(PROCESS, mixing=OwnMixing(3.0))
    with pytest.raises(um.RunFolderError, match=r"mixing\.size"):
        um.fit(other, MODEL, RECIPE, folder=tmp_path / "run", progress=False)
    with pytest.raises(um.InputError, match="call `fit` with the same arguments"):
        um.load(tmp_path / "run")


@pytest.mark.parametrize("change", [{"architectures": ["pipeline"]}, {"auto_map": {"AutoConfig": "own.Config"}}])
def test_a_hugging_face_folder_runs_no_code_of_its_own(change, tmp_path):
    pytest.importorskip("transformers")
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    config = {"model_type": "gpt2" if "architectures" in change else "own", "n_layer": 1, "n_embd": 4, "n_head": 1}
    (tmp_path / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(um.InputError):
        pretrained(tmp_path)
    assert not (tmp_path / "ran").exists()
