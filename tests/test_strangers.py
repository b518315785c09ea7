"""Folders that somebody else wrote: no name in them is imported, and what cannot be is a sentence."""

import contextlib
import dataclasses
import inspect
import itertools
import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import torch

import unmix as um
from unmix.activations import pretrained
from unmix.comparison.store import PairStore
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
    """That these tests name and nobody needs."""
    before = set(sys.modules)
    yield
    new = set(sys.modules) - before
    assert not {"antigravity", "this", "turtledemo", "turtledemo.__main__", "unmix.__main__"} & new


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


def test_any_wrong_value_in_a_kept_outcome_is_a_sentence(tmp_path):
    file = next(RESULTS.glob("zimmermann2021/table2.json"))
    kept = json.loads(file.read_text())
    kept["rows"], used = kept["rows"][:1], {}
    for cell in kept["rows"][0]["cells"].values():
        cell["runs"] = cell["runs"][:1]
        used |= {run["key"]: kept["runs"][run["key"]] for run in cell["runs"]}
    kept["runs"] = used
    table, seen = catalogue()["zimmermann2021/table2"], 0
    table = dataclasses.replace(table, rows=table.rows[:1])
    for place, wrong in zip(
        list(places(kept))[::4], itertools.cycle(("x", 10**400, ["x"], {"x": 1}, None)), strict=False
    ):
        (tmp_path / "table.json").write_text(json.dumps(changed(kept, place, wrong)))
        try:
            assert str(um.papers.read(tmp_path / "table.json", table))
        except um.RunFolderError:
            seen += 1
    assert seen > 10


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


def changed(tree, path, value):
    """A JSON tree with another value in one place."""
    if not path:
        return value
    copy = tree.copy()
    copy[path[0]] = changed(tree[path[0]], path[1:], value)
    return copy


def places(tree, path=()):
    """Where a JSON tree has values, without those inside long lists."""
    yield path
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree[:2]) if isinstance(tree, list) else ()
    for name, part in inside:
        yield from places(part, (*path, name))


def test_a_kept_pair_with_a_wrong_type_is_measured_anew(tmp_path):
    a = torch.randn(200, 3, generator=torch.Generator().manual_seed(0)).double().numpy()
    settings = {"measures": [um.measures.R2(), um.measures.CCA()], "bootstraps": 40, "permutations": 99}
    tables = {"a": a, "b": a**3}
    whole = um.compare(tables, folder=tmp_path, **settings).as_dict()
    (file,) = (tmp_path / "pairs").iterdir()
    kept = json.loads(file.read_text())
    store, path = PairStore(tmp_path, tuple(settings["measures"]), ""), file
    assert store.kept(path).as_dict() == whole["pairs"][0]
    tried = 0
    for place in places(kept):
        if place[:1] == ("verdict",):  # is not read, but said anew
            continue
        for wrong in ("x", 10**400, ["x"], {"x": 1}, None, True):
            file.write_text(json.dumps(changed(kept, place, wrong)))
            found = store.kept(path)
            tried += found is None
            if found is not None:
                assert isinstance(json.dumps(found.as_dict()), str)
                assert found.verdict
                str(um.Comparison(("a", "b"), store.measures, (found,), {}))
    assert tried > 150
    file.write_text(json.dumps(changed(kept, ("rows",), "many")))
    assert um.compare(tables, folder=tmp_path, **settings).as_dict() == whole


FREE = {"is": "unmix.encoders.outputs.Free"}  # has a `build` too, as an encoder has
HUGE = [10**6, 10**30, 10**400]


@pytest.mark.parametrize("size", HUGE)
@pytest.mark.parametrize(
    "place",
    ["process.space.dimension", "model.dimension", "model.encoder.widths", "recipe.whitening_rows"],
)
def test_a_config_of_a_run_that_no_machine_can_hold_is_refused_at_the_door(place, size, run, tmp_path, monkeypatch):
    monkeypatch.setattr("unmix.memory.machine", lambda: 2**24)  # so that a million is too many everywhere
    config = json.loads((run / "config.json").read_text())
    wrong = changed(config, place.split("."), [size] if place.endswith("widths") else size)
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / "config.json").write_text(json.dumps(wrong))
    with pytest.raises(um.InputError, match=r"at most 30,000 dimensions.*: take fewer|GB of memory .*: take "):
        um.load(tmp_path / "run")


def test_the_same_is_said_before_a_fit_and_of_clusters(tmp_path):
    wide = dataclasses.replace(MODEL, encoder=um.encoders.MLP((10**12,)))
    with pytest.raises(um.InputError, match=r"this run takes .* GB of memory and this machine has .*: take a smaller"):
        um.fit(PROCESS, wide, RECIPE, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(um.InputError, match=r"a vector for every cluster takes .*: take fewer clusters"):
        um.ClusterProcess(um.Sphere(3), um.Clusters(10**30), um.VonMisesFisher(10.0), um.mixings.Identity())


def test_any_wrong_value_in_a_config_is_a_sentence(run, tmp_path):
    config = json.loads((run / "config.json").read_text())
    shutil.copytree(run, tmp_path / "run")
    for place in places(config):
        for wrong in ("x", -1, 10**30, 1e308, ["x"], {"x": 1}, None, True):
            if place[-1:] == ("pool",) and wrong == 10**30:
                continue  # it is cut down by the dimension
            (tmp_path / "run" / "config.json").write_text(json.dumps(changed(config, place, wrong)))
            with contextlib.suppress(um.InputError, um.RunFolderError):
                assert isinstance(um.load(tmp_path / "run"), um.training.Fit)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_outputs", 10**12), ("shape_", [10**6]), ("shape_", "x"), ("shape_", [[3]]), ("seed_", "x"), ("encoder", FREE)],
)
def test_an_estimator_of_other_sizes_than_its_weights_is_refused(name, value, tmp_path):
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0)).numpy()
    um.estimators.DIETEncoder(2, max_steps=2, random_state=0).fit(x).save(tmp_path)
    tensors, facts = RunFolder(tmp_path).read_tensors(WEIGHTS)
    part = "fitted" if name.endswith("_") else "parameters"
    RunFolder(tmp_path).write_tensors(WEIGHTS, tensors, facts | {part: facts[part] | {name: value}})
    with pytest.raises(um.RunFolderError, match=r"is damaged|do not fit"):
        um.estimators.load(tmp_path)


def test_any_wrong_value_in_the_state_of_a_recording_is_a_sentence(tmp_path):
    with torch.random.fork_rng():
        model = torch.nn.Linear(3, 2)
    x = torch.arange(30.0).reshape(10, 3)
    um.activations.record(torch.nn.Sequential(model), x, ["0"], tmp_path, progress=False)
    state = json.loads((tmp_path / "activations.json").read_text())
    for place in places(state):
        for wrong in ("x", -1, 10**30, 1.5, ["x"], {"../x": 1}, None):
            (tmp_path / "activations.json").write_text(json.dumps(changed(state, place, wrong)))
            with contextlib.suppress(um.RunFolderError):
                assert um.activations.load(tmp_path)["0"].shape == (10, 2)
            with contextlib.suppress(um.RunFolderError):
                um.activations.record(torch.nn.Sequential(model), x, ["0"], tmp_path, progress=False)
