"""Training: it learns, it repeats, it survives kill -9 and Ctrl-C, and it never damages what is written."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import safetensors.torch
import torch

import unmix as um
from unmix.configuration import from_config, to_config
from unmix.indeterminacy import AFFINE, Orthogonal
from unmix.training import recipes
from unmix.training.descriptions import DESCRIPTIONS
from unmix.training.folder import RunFolder
from unmix.training.optimisers import optimiser_of, set_rates
from unmix.training.progress import FitProgress

_config = sys.modules["unmix.training.fit"]._config  # `um.fit` the function hides the module
PROCESS = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.MLP(2, pool=200))
MODEL = um.Model(um.encoders.MLP((16, 16)), um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere())
RECIPE = um.Recipe(steps=60, batch=64, rate=1e-2, whitening_rows=2000, checkpoint_every=10, log_every=5)

CONFIG = _config(PROCESS, MODEL, RECIPE, 0)


def fit(recipe=RECIPE, model=MODEL, process=PROCESS, **options):
    return um.fit(process, model, recipe, progress=False, **options)


def weights(result):
    return torch.cat([p.detach().flatten() for p in result.network.parameters()])


def score(result, up_to=AFFINE):
    pairs = result.process.sample(4000, um.stream(9, "evaluation"))
    return um.recovery(result.embed(pairs.x), pairs.z, permutations=99, bootstraps=40).r2(up_to)


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_sphere_is_recovered_up_to_a_rotation_and_never_folded(d, seed):
    process = replace(PROCESS, space=um.Sphere(d), seed=seed)
    result = fit(replace(RECIPE, steps=600, batch=256), process=process, seed=seed)
    assert score(result, Orthogonal()) > 0.99


def test_the_mixing_alone_is_not_linear():
    pairs = PROCESS.sample(4000, um.stream(9, "evaluation"))
    assert um.recovery(pairs.x, pairs.z, permutations=99, bootstraps=40).r2() < 0.95


def test_the_box_is_recovered_up_to_a_permutation_which_the_rotation_is_not():
    process = um.PairProcess(um.Box(2), um.Uniform(), um.Laplace(0.1), um.mixings.MLP(2, pool=200))
    model = um.Model(um.encoders.MLP((32, 32)), um.InfoNCE(um.Lp(1)), um.outputs.Box())
    result = fit(replace(RECIPE, steps=1500, batch=256), model, process)
    pairs = process.sample(4000, um.stream(9, "evaluation"))
    assert um.mcc(result.embed(pairs.x), pairs.z) > 0.98
    assert um.mcc(pairs.x, pairs.z) < 0.95
    assert result.network.output.log_scale.exp().item() == pytest.approx(10, rel=0.35)  # 1/0.1


def test_regression_recovers_the_latents_themselves():
    result = fit(replace(RECIPE, steps=600, batch=256), um.Model(um.encoders.MLP((32, 32)), um.Regression()))
    assert score(result, um.indeterminacy.Identity()) > 0.98


def test_the_loss_falls_and_is_logged():
    losses = dict(fit(replace(RECIPE, steps=300)).losses)
    assert losses[300] < losses[5] - 0.3
    assert list(losses) == list(range(5, 301, 5))


def test_the_same_seed_gives_the_same_numbers_in_another_process(tmp_path):
    script = (
        "import torch; torch.set_num_threads(1); torch.manual_seed(123)\n"
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_training import fit, weights\n"
        "print(repr(weights(fit(seed=4)).double().sum().item()))\n"
    )
    here = weights(fit(seed=4)).double().sum().item()
    out = subprocess.run(
        [sys.executable, "-c", script, str(Path(__file__).parent)], capture_output=True, text=True, check=True
    )
    assert float(out.stdout) == here
    assert weights(fit(seed=5)).double().sum().item() != here


LOCAL = replace(RECIPE, batches=um.recipes.Local(rows=16, depth=5))  # 8 steps a pool


@pytest.mark.parametrize("recipe", [RECIPE, LOCAL], ids=["fresh", "local"])
def test_a_stopped_and_resumed_run_ends_in_the_same_numbers(tmp_path, recipe):
    whole = fit(recipe)
    first = fit(recipe, folder=tmp_path / "whole")
    assert torch.equal(weights(whole), weights(first))
    # Put the folder back to an earlier checkpoint by training a copy and killing it in between.
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import torch; torch.set_num_threads(1)\n"
        "from test_training import *\n"
        "from unmix.training import checkpoint\n"
        "save = checkpoint.save\n"
        "def save_then_die(run, *rest):\n"
        "    save(run, *rest)\n"
        "    if rest[3] == 30: os.kill(os.getpid(), signal.SIGKILL)\n"
        "checkpoint.save = save_then_die\n"
        "fit({'RECIPE': RECIPE, 'LOCAL': LOCAL}[sys.argv[3]], folder=sys.argv[2])\n"
    )
    folder = tmp_path / "killed"
    which = "LOCAL" if recipe is LOCAL else "RECIPE"
    done = subprocess.run([sys.executable, "-c", script, str(Path(__file__).parent), str(folder), which], check=False)
    assert done.returncode == -signal.SIGKILL
    interim = um.load(folder)
    assert (interim.steps, interim.finished) == (30, False)
    resumed = fit(recipe, folder=folder)
    assert resumed.finished
    assert torch.equal(weights(whole), weights(resumed))
    assert resumed.losses == whole.losses


def test_kill_9_at_any_moment_leaves_a_folder_that_goes_on(tmp_path):
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import torch; torch.set_num_threads(1)\n"
        "from test_training import *\n"
        "fit(replace(RECIPE, steps=4000, checkpoint_every=1, log_every=1), folder=sys.argv[2])\n"
    )
    for moment in range(3):
        child = subprocess.Popen([sys.executable, "-c", script, str(Path(__file__).parent), str(tmp_path / "run")])
        before = um.load(tmp_path / "run").steps if moment else 0
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            time.sleep(0.05)
            lines = tmp_path / "run" / "metrics.jsonl"
            if lines.exists() and len(lines.read_text().splitlines()) > before + 20:
                break
        child.kill()
        child.wait()
        so_far = um.load(tmp_path / "run")
        assert so_far.steps > before
        # At most the step under way is lost: with a checkpoint a step, the log is at most one ahead.
        logged = RunFolder(tmp_path / "run").metrics()
        assert logged[-1]["step"] - so_far.steps <= 1


def test_ctrl_c_ends_cleanly_with_what_there_is(tmp_path):
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import torch; torch.set_num_threads(1)\n"
        "from test_training import *\n"
        "try: fit(replace(RECIPE, steps=10**6, checkpoint_every=10**6), folder=sys.argv[2])\n"
        "except um.Interrupted as stop: r = stop.fit\n"
        "print(r.steps, r.finished, bool(r.embed(PROCESS.sample(5, um.stream(0, 'x')).x).isfinite().all()))\n"
    )
    folder = tmp_path / "run"
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(Path(__file__).parent), str(folder)], stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 100
    while not (folder / "metrics.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    steps, finished, usable = out.split()
    assert (finished, usable) == ("False", "True")
    assert um.load(folder).steps == int(steps)


@pytest.mark.parametrize(("last", "again"), [(13, "goes on from here"), (60, "reads it back")])
def test_ctrl_c_stops_a_loop_over_fits_and_leaves_no_trace_in_the_log(last, again, tmp_path, monkeypatch):
    training_loss, calls = um.model.Network.training_loss, []

    def interrupted(self, *batch):
        calls.append(1)
        if len(calls) == last:
            os.kill(os.getpid(), signal.SIGINT)
        return training_loss(self, *batch)

    monkeypatch.setattr(um.model.Network, "training_loss", interrupted)

    def sweep():
        for seed in range(3):
            fit(seed=seed, folder=tmp_path / str(seed))

    with pytest.raises(KeyboardInterrupt, match=f"interrupted after {last} of 60 steps; fitting again .* {again}"):
        sweep()
    assert len(calls) == last
    assert not (tmp_path / "1").exists()
    assert fit(folder=tmp_path / "0").losses == fit().losses


def test_two_processes_do_not_train_in_one_folder(tmp_path):
    run = RunFolder(tmp_path / "run")
    with run.claimed(CONFIG), pytest.raises(um.RunFolderError, match="another process is working"):
        fit(folder=tmp_path / "run")
    assert fit(folder=tmp_path / "run").finished  # let go of at the end


def test_a_kill_before_the_first_checkpoint_leaves_a_folder_that_can_be_trained(tmp_path):
    with RunFolder(tmp_path / "run").claimed(CONFIG):
        (tmp_path / "run" / "versions.json").unlink()
    with pytest.raises(um.RunFolderError, match="has no checkpoint yet"):
        um.load(tmp_path / "run")
    assert fit(folder=tmp_path / "run").finished
    assert (tmp_path / "run" / "versions.json").exists()


def test_a_run_that_goes_on_with_other_versions_says_so(tmp_path):
    file = tmp_path / "run" / "versions.json"
    for note in (None, "{", "[]", '{"torch": "0"}'):  # none, damaged, and of a run that did nothing yet
        if note is not None:
            file.write_text(note)
        with RunFolder(tmp_path / "run").claimed(CONFIG):
            made = json.loads(file.read_text())
        assert made["torch"] == torch.__version__
        assert "before" not in made
    (tmp_path / "run" / "checkpoint.safetensors").touch()
    for earlier in ("1.0", "2.0"):
        then = json.loads(file.read_text()) | {"torch": earlier}
        file.write_text(json.dumps(then))
        with RunFolder(tmp_path / "run").claimed(CONFIG):
            found = json.loads(file.read_text())
        with RunFolder(tmp_path / "run").claimed(CONFIG):  # once more with the same
            assert json.loads(file.read_text()) == found
    assert found == made | {"before": [made | {"torch": "1.0"}, made | {"torch": "2.0"}]}


def test_what_stops_a_run_can_be_handed_from_process_to_process():
    diverged = um.TrainingDiverged(7, "the rate is too high", "runs/a")
    for error in (diverged, um.Interrupted(fit(replace(RECIPE, steps=2)))):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))
    assert "at step 7; likely cause: the rate is too high; the last good checkpoint is runs/a." in str(diverged)


def test_a_finished_run_loads_without_its_checkpoint(tmp_path):
    result = fit(folder=tmp_path / "run")
    (tmp_path / "run" / "checkpoint.safetensors").unlink()
    for again in (um.load(tmp_path / "run"), fit(folder=tmp_path / "run")):
        assert torch.equal(weights(result), weights(again))
        assert again.finished
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()


def test_ctrl_c_after_the_last_look_keeps_the_step_it_names(tmp_path, monkeypatch):
    update = FitProgress.update

    def late(self, step, loss):
        if step == 37:
            os.kill(os.getpid(), signal.SIGINT)
        update(self, step, loss)

    monkeypatch.setattr(FitProgress, "update", late)
    with pytest.raises(um.Interrupted) as stop:
        fit(replace(RECIPE, checkpoint_every=20), folder=tmp_path / "run")
    assert um.load(tmp_path / "run").steps == stop.value.fit.steps == 38


def test_processes_that_start_together_get_the_folder_one_at_a_time(tmp_path):
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import torch; torch.set_num_threads(1)\n"
        "from test_training import *\n"
        "Path(sys.argv[3] + str(os.getpid())).touch()\n"
        "while not os.path.exists(sys.argv[3]): time.sleep(0.001)\n"
        "try: fit(replace(RECIPE, steps=1000), folder=sys.argv[2])\n"
        "except um.RunFolderError as error: print(error)\n"
    )
    start, folder = tmp_path / "start", tmp_path / "run"
    command = [sys.executable, "-c", script, str(Path(__file__).parent), str(folder), str(start)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    deadline = time.monotonic() + 100
    while len(list(tmp_path.glob("start*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    start.touch()
    said = sorted(child.communicate(timeout=100)[0] for child in children)
    assert said[0] == ""
    assert "another process is working" in said[1]


def test_nothing_is_written_when_arguments_are_refused(tmp_path):
    wide = um.Model(um.encoders.MLP((8,)), um.Regression(), dimension=5)
    for bad in ({"seed": -1}, {"model": wide}, {"recipe": replace(RECIPE, batch=1)}):
        with pytest.raises(um.InputError):
            fit(folder=tmp_path / "run", **bad)
    assert not (tmp_path / "run").exists()


def test_a_finished_run_is_read_back_not_repeated(tmp_path, monkeypatch):
    first = fit(folder=tmp_path / "run")
    monkeypatch.setattr(um.model.Network, "training_loss", lambda *_: pytest.fail("trained again"))
    again = fit(folder=tmp_path / "run")
    assert torch.equal(weights(first), weights(again))
    assert again.seconds == pytest.approx(first.seconds, abs=0.05)
    assert again.losses == first.losses
    loaded = um.load(tmp_path / "run")
    assert (loaded.process, loaded.model, loaded.recipe, loaded.seed) == (PROCESS, MODEL, RECIPE, 0)
    assert torch.equal(weights(first), weights(loaded))


def test_a_run_is_a_folder_without_pickles(tmp_path):
    fit(folder=tmp_path / "run")
    names = {p.name for p in (tmp_path / "run").iterdir()}
    assert names == {
        "config.json",
        "versions.json",
        "metrics.jsonl",
        "checkpoint.safetensors",
        "encoder.safetensors",
        ".lock",
    }
    versions = json.loads((tmp_path / "run" / "versions.json").read_text())
    assert versions["torch"] == torch.__version__
    assert versions["unmix"] == um.__version__


def test_a_folder_of_another_config_is_refused_and_left_alone(tmp_path):
    fit(folder=tmp_path / "run")
    before = {p: p.read_bytes() for p in (tmp_path / "run").iterdir()}
    for other in ({"seed": 1}, {"recipe": replace(RECIPE, rate=1e-3)}, {"process": PROCESS.with_seed(3)}):
        with pytest.raises(um.RunFolderError, match=r"another config \(its .* is .*, not .*\)"):
            fit(folder=tmp_path / "run", **other)
    assert before == {p: p.read_bytes() for p in (tmp_path / "run").iterdir()}


def test_a_folder_with_other_things_in_it_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(um.RunFolderError, match="not empty and holds no run"):
        fit(folder=tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_nan_stops_the_run_with_the_step_the_cause_and_the_last_good_checkpoint(tmp_path, monkeypatch):
    training_loss, calls = um.model.Network.training_loss, []

    def poisoned(self, *batch):
        calls.append(1)
        return training_loss(self, *batch) * (float("nan") if len(calls) == 25 else 1.0)

    monkeypatch.setattr(um.model.Network, "training_loss", poisoned)
    with pytest.raises(um.TrainingDiverged, match="step 25; likely cause: the learning rate") as caught:
        fit(folder=tmp_path / "run")
    assert caught.value.step == 25
    assert caught.value.checkpoint == str(tmp_path / "run" / "checkpoint.safetensors")
    monkeypatch.setattr(um.model.Network, "training_loss", training_loss)
    kept = um.load(tmp_path / "run")
    assert kept.steps == 20
    assert weights(kept).isfinite().all()


def test_weights_that_are_not_finite_are_never_checkpointed(tmp_path, monkeypatch):
    class Poison(torch.optim.Adam):
        def step(self, closure=None):
            for group in self.param_groups:
                group["params"][0].data[:] = float("inf")

    monkeypatch.setattr(torch.optim, "Adam", Poison)
    with pytest.raises(um.TrainingDiverged, match="no checkpoint was kept"):
        fit(replace(RECIPE, checkpoint_every=1, optimiser=um.recipes.Adam()), folder=tmp_path / "run")
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()


def test_infinite_observations_are_named_as_the_cause():
    class Broken(um.mixings.Linear):
        def draw(self, dimension, generator):
            calls = []

            class Map(um.mixings.LayeredMap):
                def __call__(self, z):
                    calls.append(1)
                    x = super().__call__(z)
                    return x if len(calls) < 3 else x / 0

            g = um.mixings.Linear(pool=5).draw(dimension, generator)
            return Map(g.weights, g.bend)

    with pytest.raises(um.TrainingDiverged, match="observations that are NaN or infinite"):
        fit(process=replace(PROCESS, mixing=Broken()))


def test_a_disk_that_fills_up_during_training_keeps_the_last_checkpoint(tmp_path, monkeypatch):
    writes = []
    fsync = os.fsync

    def full_after_a_while(handle):
        writes.append(1)
        if len(writes) > 10:  # a file and its folder each time
            raise OSError(28, "No space left on device")
        return fsync(handle)

    monkeypatch.setattr(os, "fsync", full_after_a_while)
    with pytest.raises(um.RunFolderError, match="No space left"):
        fit(folder=tmp_path / "run")
    monkeypatch.undo()
    assert um.load(tmp_path / "run").steps == 30  # versions, config, then checkpoints at 10, 20, 30
    assert torch.equal(weights(fit(folder=tmp_path / "run")), weights(fit()))


@pytest.mark.parametrize("place", ["file/run", "/proc/nothing/run"])
def test_a_folder_that_cannot_be_written_is_one_sentence(place, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(um.RunFolderError, match=r"cannot use .*choose a folder that you may write to"):
        fit(folder=tmp_path / place)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("encoder.safetensors", b"\x80 not this", "is damaged"),
        ("encoder.safetensors", safetensors.torch.save({"a": torch.ones(2)}, {"facts": "{}"}), "does not fit"),
        ("metrics.jsonl", b'{"step": "x", "loss": 1.0}\n{"step": 5, "loss": 1.0}\n', "line 1 of .* is damaged"),
        ("config.json", b"\x80 not this", "is damaged"),
        ("config.json", b"[]", "is damaged"),
        ("metrics.jsonl", b'[1]\n{"step": 5, "loss": 1.0}\n', "line 1 of .* is damaged"),
        ("metrics.jsonl", b'\xff\xfe\n{"step": 5, "loss": 1.0}\n', "line 1 of .* is damaged"),
    ],
)
def test_damaged_files_are_named(name, content, words, tmp_path):
    fit(folder=tmp_path / "run")
    (tmp_path / "run" / name).write_bytes(content)
    with pytest.raises(um.RunFolderError, match=words):
        um.load(tmp_path / "run")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x80 not this", "is damaged"),
        (safetensors.torch.save({"a": torch.ones(2)}, {"facts": "{}"}), "does not fit"),
    ],
)
def test_a_damaged_checkpoint_is_named(content, words, tmp_path):
    fit(folder=tmp_path / "run")
    (tmp_path / "run" / "encoder.safetensors").unlink()
    (tmp_path / "run" / "checkpoint.safetensors").write_bytes(content)
    for read in (lambda: um.load(tmp_path / "run"), lambda: fit(folder=tmp_path / "run")):
        with pytest.raises(um.RunFolderError, match=words):
            read()


def test_a_config_of_other_things_is_refused(tmp_path):
    fit(folder=tmp_path / "run")
    (tmp_path / "run" / "config.json").write_text('{"process": 1, "model": 2, "recipe": 3, "seed": 4}')
    with pytest.raises(um.InputError, match=r"the process in config.json must be like"):
        um.load(tmp_path / "run")


def test_a_line_cut_off_by_a_kill_is_forgotten(tmp_path):
    whole = fit(folder=tmp_path / "run")
    with open(tmp_path / "run" / "metrics.jsonl", "a") as file:
        file.write('{"step": 6')
    assert um.load(tmp_path / "run").losses == whole.losses


def test_config_files_bring_back_equal_objects_and_nothing_foreign():
    for thing in (
        PROCESS,
        MODEL,
        RECIPE,
        recipes.paper(PROCESS, MODEL),
        um.Model(um.encoders.MLP.paper(5), um.Regression()),
    ):
        assert from_config(json.loads(json.dumps(to_config(thing))), DESCRIPTIONS) == thing
    for foreign in ("os.system", "unmix.nothing.Here", "unmix.errors.InputError", "subprocess.Popen"):
        with pytest.raises(um.InputError, match="does not define"):
            from_config({"is": foreign, "args": "true"}, DESCRIPTIONS)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (torch.zeros(3, 4), "3 columns"),
        (torch.zeros(3), "3 columns"),
        (torch.full((2, 3), torch.nan), "NaN or infinite"),
        (torch.zeros(0, 3), "3 columns"),
        ([["a", "b", "c"]], "table of numbers"),
        (None, "two axes"),
        (torch.zeros(2, 3) + 1j, "real numbers"),
    ],
)
def test_bad_observations_are_not_embedded(x, words):
    with pytest.raises(um.InputError, match=words):
        fit(replace(RECIPE, steps=1)).embed(x)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": 0}, "steps must be"),
        ({"batch": -5}, "batch must be"),
        ({"rate": -1.0}, "rate must be positive"),
        ({"rate": float("nan")}, "rate must be positive"),
        ({"head_settles": 0.0}, "a share of the run above 0"),
    ],
)
def test_bad_recipes_are_refused(change, words):
    with pytest.raises(um.InputError, match=words):
        replace(RECIPE, **change)


def test_what_has_no_head_cannot_have_one_that_settles():
    with pytest.raises(um.InputError, match=r"a recipe with head_settles must be like um\.DIET"):
        fit(replace(RECIPE, head_settles=0.1))


def test_the_batch_must_suit_the_objective():
    with pytest.raises(um.InputError, match="does not divide"):
        fit(model=replace(MODEL, objective=um.InfoNCE(um.Dot(), 0.1, group_size=48)))


def test_the_published_recipe_is_as_published():
    contrastive, supervised = (recipes.paper(PROCESS, um.Model(objective=o)) for o in (um.InfoNCE(), um.Regression()))
    assert (contrastive.steps, supervised.steps) == (300_003, 100_001)
    assert (contrastive.batch, contrastive.rate) == (6144, 1e-4)
    assert contrastive.schedule.factor(0.7) == 1


def test_one_cycle_rises_to_its_peak_and_falls_to_zero():
    cycle = recipes.OneCycle(0.25)
    factors = [cycle.factor(t / 100) for t in range(101)]
    assert factors[:26] == sorted(factors[:26])
    assert factors[25:] == sorted(factors[25:], reverse=True)
    assert (factors[0], factors[25]) == (pytest.approx(0.04), pytest.approx(1))
    assert factors[100] == pytest.approx(0)


def test_progress_is_plain_lines_when_not_on_a_terminal(capfd):
    um.fit(PROCESS, MODEL, RECIPE)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith("step 60/60  loss ")
    assert "left" in lines[0]


def test_scales_and_temperature_have_a_rate_of_their_own(generator):
    process = um.ClusterProcess(um.Sphere(3), um.Clusters(8), um.VonMisesFisher(4.0), um.mixings.Linear(pool=10))
    model = um.Model(um.encoders.MLP((8,)), um.DIET(learn_temperature=True), um.outputs.Sphere(learnable=True))
    network = model.build(process, process.sample(64, generator).x, generator)
    for optimiser in (recipes.SOAP(), recipes.Adam()):
        built = optimiser_of(network, 1e-2, optimiser, scale_rate=0.5)
        set_rates(built, recipes.Constant(), 0.5)
        rates = {id(p): group["lr"] for group in built.param_groups for p in group["params"]}
        assert rates[id(network.loss.weight)] == rates[id(network.body.rotation)] == 1e-2
        assert rates[id(network.loss.log_beta)] == rates[id(network.output.log_scale)] == 5e-3


def test_the_head_of_a_run_settles_when_its_recipe_says(monkeypatch):
    told, loop = [], sys.modules["unmix.training.fit"]
    monkeypatch.setattr(loop, "settle", lambda network, own: told.append((len(network.loss.weight), own)))
    process = um.ClusterProcess(um.Sphere(3), um.Clusters(8), um.VonMisesFisher(4.0), um.mixings.Linear(pool=10))
    recipe = um.Recipe(10, 32, 1e-2, batches=recipes.EvenLabels(4), head_settles=0.2, whitening_rows=500)
    um.fit(process, um.Model(um.encoders.MLP((8,)), um.DIET()), recipe, progress=False)
    assert [own for _, own in told] == pytest.approx([1, 1, 1, *(0.2 / (t / 10) for t in range(3, 10))])
    assert {rows for rows, _ in told} == {4}
