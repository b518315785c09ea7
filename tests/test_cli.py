"""The command line: every space, law and objective by flag or file; wrong input is a sentence and an exit code."""

import html
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import unmix as um
from unmix.audit.promise import promised
from unmix.cli import main, naming
from unmix.cli.settings import Settings, settle
from unmix.indeterminacy import GeneralisedPermutation, ScaledPermutation

SMALL = ["--steps", "3", "--batch", "32", "--mixing", "linear", "--widths", "8"]


@pytest.fixture
def unmix(monkeypatch, capfd):
    """Run the command in this process: exit code, stdout, stderr."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["unmix", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize(
    "flags",
    [
        ["--space", "sphere", "--dimension", "3"],
        ["--space", "sphere", "--dimension", "3", "--conditional", "laplace:0.05", "--output", "learned-sphere"],
        ["--space", "sphere", "--dimension", "3", "--marginal", "vmf:3", "--conditional", "gennorm:3:0.1"],
        ["--space", "box", "--dimension", "3", "--conditional", "laplace:0.05"],
        ["--space", "box", "--dimension", "3", "--conditional", "gennorm:3:0.05", "--similarity", "lp:1"],
        [
            "--space",
            "box",
            "--dimension",
            "3",
            "--marginal",
            "normal:0.3",
            "--conditional",
            "normal:0.05",
            "--output",
            "free",
        ],
        ["--space", "euclidean", "--dimension", "3", "--marginal", "laplace:1", "--conditional", "normal:1"],
        ["--space", "euclidean", "--dimension", "2", "--objective", "regression"],
        ["--space", "box", "--dimension", "3", "--similarity", "norm:2", "--learn-temperature", "--two-sided"],
        ["--dimension", "3", "--group-size", "8", "--no-whiten", "--output-dimension", "5", "--mixing", "smooth:2"],
        ["--dimension", "3", "--objective", "diet", "--unit-rows", "--clusters", "30", "--instances", "60"],
        ["--dimension", "3", "--objective", "cross-entropy", "--cluster-law", "normal:1", "--label-noise", "0.2"],
        ["--dimension", "3", "--objective", "regression", "--clusters", "30"],
    ],
    ids=" ".join,
)
def test_fit_runs_for_every_space_law_and_objective(flags, unmix, tmp_path):
    code, out, err = unmix("fit", "--out", tmp_path / "run", *SMALL, *flags)
    assert code == 0, err
    assert "Verdict" in out
    kept = json.loads((tmp_path / "run" / "recovery.json").read_text())
    assert set(kept) - {"head"} == {"before", "after", "theory", "steps", "finished", "loss"}
    assert kept["finished"]
    assert ("head" in kept) == ("Head" in out) == ("cross-entropy" in flags or "diet" in flags)
    assert (tmp_path / "run" / "recovery.png").read_bytes().startswith(b"\x89PNG")


def test_demo_states_promises_trains_and_measures(unmix, tmp_path, monkeypatch):
    short = um.Recipe(steps=5, batch=64, rate=1e-2, whitening_rows=500)
    monkeypatch.setattr(um.recipes, "fast", lambda: short)
    code, out, err = unmix("demo", "--out", tmp_path / "demo", "--seed", "1")
    assert code == 0, err
    for words in ("sphere in 10 dimensions", "Promised", "Theorem 2", "before", "after", "not met yet", "recovery.png"):
        assert words in out
    assert um.load(tmp_path / "demo").process.seed == 1
    again, out, _ = unmix("demo", "--out", tmp_path / "demo", "--seed", "1")
    assert again == 0


def test_what_is_left_out_is_chosen_to_match_the_process():
    for told, expected in [
        ({}, (um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere())),
        ({"space": "box"}, (um.InfoNCE(um.Lp(1), 1.0), um.outputs.Box())),
        ({"space": "box", "conditional": "gennorm:3:0.05"}, (um.InfoNCE(um.Lp(3), 1.0), um.outputs.Box())),
        ({"space": "euclidean"}, (um.InfoNCE(um.Lp(2), 1.0), um.outputs.Free())),
        ({"conditional": "normal:0.05"}, (um.InfoNCE(um.Dot(), 1.0), um.outputs.Sphere())),
        ({"objective": "regression"}, (um.Regression(), um.outputs.Free())),
        ({"output": "sphere:2", "conditional": "vMF:8"}, (um.InfoNCE(um.Dot(), 0.5), um.outputs.Sphere(2.0))),
        ({"output": "fixed-box:20", "space": "box"}, (um.InfoNCE(um.Lp(1)), um.outputs.Box(20.0, learnable=False))),
        ({"objective": "diet", "unit_rows": True}, (um.DIET(unit_rows=True), um.outputs.Free())),
        ({"objective": "cross-entropy", "temperature": 0.5}, (um.CrossEntropy(temperature=0.5), um.outputs.Free())),
    ]:
        settings = Settings(**told)
        model = settings.model(settings.process())
        assert (model.objective, model.output) == expected, told
    for told in ({"space": "sphere"}, {"space": "box"}, {"objective": "diet"}, {"objective": "cross-entropy"}):
        settings = Settings(**told)  # so that theory promises something by default
        assert um.guarantee(settings.process(), settings.model(settings.process()))


def test_spaces_take_their_size():
    assert Settings(space="sphere:2").process().space == um.Sphere(10, radius=2.0)
    assert Settings(space="box:-1:1").process().space == um.Box(10, -1.0, 1.0)


def test_the_end_says_whether_the_promise_was_kept():
    settings = Settings()
    process = settings.process()
    model = settings.model(process)
    promise = promised(process, model, settings.training_recipe(process, model))
    z = um.Sphere(10).uniform(1000, um.stream(0, "z"))
    rotation = torch.linalg.qr(torch.randn(10, 10, generator=um.stream(0, "r"))).Q
    for embedding, words in ((z @ rotation, "promise is kept"), (z * torch.linspace(1, 3, 10), "not met yet")):
        assert words in promise.outcome(um.recovery(embedding, z), embedding, z)
    constant = torch.cat([z[:, :9] @ rotation[:9, :9], torch.ones(1000, 1)], 1)
    said = promise.outcome(um.recovery(constant, z), constant, z)
    assert "not met yet" in said
    assert "an output of the encoder is constant" in said


def box_promise(**options):
    settings = Settings(space="box", dimension=3, **options)
    process = settings.process()
    model = settings.model(process)
    return promised(process, model, settings.training_recipe(process, model))


def test_what_is_promised_is_of_what_is_trained_and_the_rest_is_said_apart():
    """In a box the recipe trains through a wider kernel, which no theorem is about."""
    promise = box_promise()
    assert promise.trained.promise is None
    assert promise.described.promise == ScaledPermutation(offset=True)
    assert promise.shown == GeneralisedPermutation(offset=True)
    assert "✗ negatives are seen through the model's own kernel" in str(promise)
    assert "✓ negatives are seen" not in str(promise)
    z = um.Box(3).uniform(1000, um.stream(0, "z"))
    lies = {
        "lies within what would be promised of the model as described": 2 - 3 * z[:, [1, 2, 0]],
        "does not lie within": z * torch.tensor([1.0, 2.0, 3.0]),  # one scale each, and not one for all
    }
    for words, embedding in lies.items():
        said = promise.outcome(um.recovery(embedding, z), embedding, z)
        assert said.startswith("Nothing is promised of what is trained, so no promise is kept or broken. The outcome ")
        assert words in said
        assert "The promise is kept" not in said
    plain = box_promise(recipe="paper")
    assert (plain.described, plain.trained.promise) == (None, ScaledPermutation(offset=True))
    assert "promise is kept" in plain.outcome(um.recovery(2 * z, z), 2 * z, z)


def test_terminal_page_and_json_say_the_same_of_what_is_trained(unmix, tmp_path):
    code, out, err = unmix("fit", "--space", "box", "--dimension", "3", *SMALL, "--out", tmp_path / "box")
    assert code == 0, err
    kept = json.loads((tmp_path / "box" / "recovery.json").read_text())["theory"]
    page = html.unescape((tmp_path / "box" / "report.html").read_text())
    for sentence in (*kept["trained"].split(". "), *kept["described"].split(". "), kept["outcome"]):
        assert " ".join(sentence.split()) in " ".join(out.split())
        assert sentence in page
    assert kept["trained"].startswith("Nothing is promised. The nearest theorem is Zimmermann et al. 2021, Theorem 6.")
    assert kept["outcome"].startswith("Nothing is promised of what is trained")
    assert "The promise is kept" not in out + page
    assert "✗ negatives are seen through the model's own kernel" in out


def test_a_condition_of_a_promise_is_said_at_the_end_too():
    @dataclass(frozen=True)
    class Bent:
        def draw(self, dimension, generator):
            return torch.exp

    process = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), Bent())
    model = um.Model(objective=um.InfoNCE(um.Dot(), 0.1), output=um.outputs.Sphere())
    promise = promised(process, model, um.recipes.fast())
    z = um.Sphere(3).uniform(1000, um.stream(0, "z"))
    said = promise.outcome(um.recovery(-z, z), -z, z)
    assert said.startswith("The promise, which is made on the condition that the mixing is injective, is kept: ")


def test_a_folder_named_like_markup_is_printed_as_it_is(unmix, tmp_path):
    code, out, _ = unmix("fit", "--out", tmp_path / "[bold]x[", *SMALL, "--dimension", "3")
    assert code == 0
    assert "[bold]x[/recovery.png" in out


def test_a_terminal_without_unicode_shows_something():
    command = [sys.executable, "-m", "unmix", "fit", "--out", "/proc/none", "--conditional", "vmf:-1"]
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=env, check=False)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_version(unmix):
    assert unmix("--version")[1].strip() == f"unmix {um.__version__}"


def test_the_paper_recipe_of_a_classifier_has_batch_norm_and_epochs_of_labels():
    settings = Settings(objective="diet", recipe="paper", dimension=5, instances=100_000)
    process = settings.process()
    model = settings.model(process)
    assert model.encoder == um.encoders.MLP.paper(5, batch_norm=True)
    assert settings.training_recipe(process, model).steps == 50_000 * 97


def test_the_paper_recipe_brings_the_papers_encoder():
    settings = Settings(recipe="paper")
    process = settings.process()
    model = settings.model(process)
    assert (model.encoder, model.whiten) == (um.encoders.MLP.paper(10), False)
    assert settings.training_recipe(process, model) == um.recipes.paper(process, model)
    assert settings.training_recipe(process, model).steps == 300_003


def test_the_fast_recipe_suits_the_process_and_takes_a_batch_of_any_size():
    for batch, rows in ((None, 256), (2048, 256), (32, 32), (50, 50), (100_000, 100_000)):
        settings = Settings(space="box", batch=batch)
        process = settings.process()
        found = settings.training_recipe(process, settings.model(process))
        assert (found.batch, found.batches.rows) == (batch or 1024, rows)
        assert found.batches.pool <= 2**18


def test_reproduce_lists_what_there_is_and_refuses_what_there_is_not(unmix, tmp_path):
    code, out, _ = unmix("reproduce")
    assert code == 0
    assert all(f"zimmermann2021/{name}" in out for name in ("table1", "table2", "figure2"))
    refused = {
        "choose from reizinger2025/figure_batch, ": ("zimmermann2021/table9",),
        "it has 1, 2, 3, 4": ("zimmermann2021/table1", "--rows", "99"),
        "whole numbers and ranges such as 1,3,5-8, not '1;2'": ("zimmermann2021/table1", "--rows", "1;2"),
        "whole numbers and ranges such as 1,3,5-8, not '2,7-5'": ("zimmermann2021/table1", "--rows", "2,7-5"),
        "choose from fast, paper": ("zimmermann2021/table1", "--recipe", "quick"),
        "at least 1 worker": ("zimmermann2021/table1", "--workers", "0"),
    }
    for why, arguments in refused.items():
        code, _, err = unmix("reproduce", *arguments, "--out", tmp_path / "runs")
        assert (code, "Traceback" in err) == (2, False)
        assert why in err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_a_config_file_says_the_same_as_flags_and_flags_win(suffix, tmp_path):
    told = {"space": "box", "dimension": 4, "widths": [8, 9], "learn-temperature": True, "rate": 1}
    file = tmp_path / f"fit.{suffix}"
    lines = "\n".join(f"{k} = {json.dumps(v)}" for k, v in told.items())
    file.write_text(json.dumps(told) if suffix == "json" else lines)
    expected = Settings(space="box", dimension=4, widths="8,9", learn_temperature=True, rate=1.0)
    assert settle({"dimension": None}, file) == expected
    assert settle({"dimension": 7}, file).dimension == 7


def test_a_config_file_runs(unmix, tmp_path):
    (tmp_path / "fit.toml").write_text('space = "box"\ndimension = 2\nsteps = 2\nbatch = 16\nmixing = "linear"\n')
    code, _, err = unmix("fit", "--out", tmp_path / "run", "--config", tmp_path / "fit.toml")
    assert code == 0, err
    assert um.load(tmp_path / "run").process.space == um.Box(2)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--space", "torus"], "there is no space 'torus': write for example sphere, box, euclidean"),
        (["--marginal", "cauchy:1"], "there is no law 'cauchy': write for example uniform, vmf:10"),
        (["--mixing", "quantum"], "there is no mixing 'quantum'"),
        (["--similarity", "cosine"], "there is no similarity 'cosine'"),
        (["--output", "torus"], "there is no output 'torus'"),
        (["--objective", "vae"], "there is no objective 'vae'"),
        (["--recipe", "slow"], "there is no recipe 'slow'"),
        (["--conditional", "vmf"], "write for example vmf:10"),
        (["--conditional", "vmf:many"], "write for example vmf:10"),
        (["--conditional", "vmf:1:2"], "write for example vmf:10"),
        (["--mixing", "mlp:2.5"], "write for example mlp:3"),
        (["--mixing", "mlp:inf"], "write for example mlp:3"),
        (["--objective", "regression", "--temperature", "3"], "regression has no temperature"),
        (["--objective", "regression", "--two-sided"], "regression has no two sided"),
        (["--clusters", "30"], "a process of pairs, which infonce trains on, has no clusters"),
        (["--unit-rows"], "InfoNCE has no unit rows"),
        (["--objective", "diet", "--similarity", "dot"], "diet has no similarity"),
        (["--objective", "diet", "--marginal", "uniform"], "a process of clusters has no marginal"),
        (["--objective", "diet", "--clusters", "0"], "at least 2 clusters"),
        (["--objective", "diet", "--instances", "50"], "at least 100 instances"),
        (["--objective", "diet", "--temperature", "0"], "temperature must be positive"),
        (["--objective", "cross-entropy", "--label-smoothing", "1"], "a share below 1"),
        (["--objective", "cross-entropy", "--label-noise", "2"], "between 0 and 1"),
        (["--objective", "regression", "--output-dimension", "3"], "one output a latent"),
        (["--output", "fixed-box"], "write for example fixed-box:20"),
        (["--conditional", "vmf:-1"], "κ ≥ 0"),
        (["--conditional", "vmf:nan"], "κ ≥ 0"),
        (["--conditional", "vmf:inf"], "κ ≥ 0"),
        (["--dimension", "1"], "dimension 2 or more"),
        (["--space", "box", "--conditional", "vmf:1"], "not defined on"),
        (["--space", "euclidean", "--marginal", "uniform"], "not defined on"),
        (["--similarity", "lp:0.5"], "p ≥ 1"),
        (["--temperature", "0"], "temperature must be positive"),
        (["--temperature", "nan"], "temperature must be positive"),
        (["--widths", "64;64"], "write whole numbers with commas"),
        (["--batch", "1"], "at least 2 rows"),
        (["--batch", "10", "--group-size", "4"], "does not divide"),
        (["--steps", "0"], "steps must be"),
        (["--rate", "-1"], "rate must be positive"),
        (["--seed", "-1"], "seed must be"),
        (["--threads", "0"], "--threads must be"),
        (["--config", "no/such/file.toml"], "cannot read the config file"),
        (["--dimension", "ten"], "--dimension"),
        (["--nonsense"], "--nonsense"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else None,
)
def test_wrong_input_is_a_sentence_an_exit_code_and_no_traceback(flags, words, unmix, tmp_path):
    code, _, err = unmix("fit", "--out", tmp_path / "run", *flags)
    assert code == 2
    assert words in err
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()  # refused at the door


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("space = box", "write TOML, or JSON"),
        ('spaec = "box"', "sets 'spaec', which is unknown"),
        ('dimension = "ten"', "sets dimension to 'ten'"),
        ("dimension = true", "sets dimension to True"),
        ("two_sided = 1", "sets two_sided to 1"),
        ("\udc80", "is not valid"),
    ],
)
def test_a_wrong_config_file_is_a_sentence(content, words, unmix, tmp_path):
    (tmp_path / "fit.toml").write_bytes(content.encode(errors="surrogateescape"))
    code, _, err = unmix("fit", "--out", tmp_path / "run", "--config", tmp_path / "fit.toml")
    assert (code, "Traceback" in err) == (2, False)
    assert words in err


def test_a_folder_of_another_run_is_refused_with_an_exit_code(unmix, tmp_path):
    flags = ("fit", "--out", tmp_path / "run", *SMALL, "--dimension", "3")
    assert unmix(*flags)[0] == 0
    code, _, err = unmix(*flags, "--seed", "1")
    assert code == 1
    assert "holds a run of another config" in err


def test_ctrl_c_prints_what_there_is_and_the_same_command_goes_on(tmp_path):
    command = [
        sys.executable,
        "-c",
        "from unmix.cli import main; main()",
        "fit",
        "--out",
        str(tmp_path / "run"),
        *SMALL,
    ]
    child = subprocess.Popen(
        [*command, "--steps", "1000000", "--dimension", "3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    deadline = time.monotonic() + 100
    while not (tmp_path / "run" / "metrics.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=100)
    assert child.returncode == 130, err
    assert "interrupted after" in out
    assert "Verdict" in out
    assert "Run the same command again" in out
    assert "Traceback" not in err
    assert not json.loads((tmp_path / "run" / "recovery.json").read_text())["finished"]


def test_help_names_every_choice(unmix, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    code, out, _ = unmix("fit", "--help")
    assert code == 0
    for name in (*naming.LAWS, *naming.MIXINGS, *naming.SIMILARITIES, *naming.OUTPUTS, *naming.SPACES):
        assert name in out
    assert "demo" in unmix("--help")[1]


def test_importing_unmix_stays_light():
    heavy = "matplotlib", "numba", "typer", "sklearn"
    script = f"import unmix, sys; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


@pytest.fixture
def three_files(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(300, 3))
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", (a @ rng.normal(size=(3, 3))).astype(np.float32))
    np.save(tmp_path / "c.npy", rng.normal(size=(300, 2)))
    return [tmp_path / f"{name}.npy" for name in "abc"]


QUICK = ["--bootstraps", "40", "--permutations", "99"]


def test_compare_prints_a_table_and_a_verdict_and_keeps_its_files(unmix, three_files, tmp_path):
    code, out, _ = unmix("compare", *three_files, "--measures", "r2,r2-back,cka", "--out", tmp_path / "[out]", *QUICK)
    assert code == 0
    assert "a and b are the same up to a map of the class linear" in out
    assert "No linear relation of a and c is shown with 300 rows" in out
    kept = {p.suffix for p in (tmp_path / "[out]").iterdir() if p.is_file()}
    assert kept == {".html", ".json", ".csv", ".tex", ".png"}


def test_compare_joins_by_a_column_or_by_files_of_ids(unmix, tmp_path):
    rng = np.random.default_rng(0)
    values, order = rng.normal(size=(100, 2)), rng.permutation(100)
    for name, rows in (("a", range(100)), ("b", order)):
        lines = [f"p{i},{i % 20},{values[i, 0]},{values[i, 1]}" for i in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join(["who,group,u,v", *lines]))
    code, out, _ = unmix(
        "compare",
        tmp_path / "a.csv",
        tmp_path / "b.csv",
        "--ids",
        "who",
        "--groups",
        "group",
        "--measures",
        "r2",
        *QUICK,
    )
    assert (code, "1.000" in out) == (0, True)
    np.save(tmp_path / "a.npy", values)
    np.save(tmp_path / "b.npy", values[order])
    (tmp_path / "a.txt").write_text("\n".join(map(str, range(100))))
    np.save(tmp_path / "ids.npy", order)
    ids = ["--ids", tmp_path / "a.txt", "--ids", tmp_path / "ids.npy"]
    code, out, _ = unmix("compare", tmp_path / "a.npy", tmp_path / "b.npy", *ids, "--measures", "r2", *QUICK)
    assert (code, "1.000" in out) == (0, True)
    np.save(tmp_path / "ids.npy", order + 1)
    code, _, err = unmix("compare", tmp_path / "a.npy", tmp_path / "b.npy", *ids, "--measures", "r2", *QUICK)
    assert code == 2
    assert "1 ids of a are not in b" in err


def test_compare_layers_and_models(unmix, tmp_path):
    rng = np.random.default_rng(0)
    f, g, a = rng.normal(size=(200, 3)), rng.normal(size=(9, 3)), rng.normal(size=(3, 3))
    np.savez(tmp_path / "one.npz", low=f, high=rng.normal(size=(200, 2)))
    np.savez(tmp_path / "two.npz", low=2 * f, high=rng.normal(size=(200, 2)))
    code, out, _ = unmix("compare", tmp_path / "one.npz", tmp_path / "two.npz", "--layers", *QUICK)
    assert (code, "low is most like low" in out) == (0, True)
    np.savez(tmp_path / "m1.npz", f=f, g=g)
    np.savez(tmp_path / "m2.npz", f=f @ a.T, g=g @ np.linalg.inv(a), bias=np.zeros(9))
    code, out, _ = unmix(
        "compare", tmp_path / "m1.npz", tmp_path / "m2.npz", "--models", "--out", tmp_path / "o", *QUICK
    )
    assert (code, "The distributions are equal" in out) == (0, True)
    assert (tmp_path / "o" / "comparison.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.npy"], "two or more"),
        (["a.npy", "b.npy", "--measures", "nope"], "there is no measure 'nope'"),
        (["a.npy", "b.npy", "--measures", "svcca:x"], "needs a number"),
        (["a.npy", "b.npy", "--measures", "neighbours:0"], "k must be"),
        (["a.npy", "b.npy", "--measures", "neighbours:2.7"], "whole number"),
        (["a.npy", "b.npy", "--groups", "nowhere.txt"], "no file nowhere.txt"),
        (["a.npy", "b.npy", "--models", "--ids", "who"], "--ids does not go with --models"),
        (["a.npy", "b.npy", "--names", "one"], "--names must name every file"),
        (["a.npy", "absent.npy"], "no file"),
        (["a.npy", "b.npy", "--layers"], "holds one table"),
        (["a.npy", "b.npy", "--ids", "who"], "no named columns"),
        (["a.npy", "b.npy", "--permutations", "5"], "take 99 or more"),
        (["a.npy", "b.npy", "--layers", "--models"], "exclude each other"),
    ],
)
def test_a_mistake_in_compare_is_a_sentence_and_exit_code_2(unmix, three_files, monkeypatch, arguments, words):
    monkeypatch.chdir(three_files[0].parent)
    code, _, err = unmix("compare", *arguments)
    assert code == 2
    assert words in err
    assert "Traceback" not in err


def test_the_docs_are_shown_without_a_network(unmix):
    code, listed, _ = unmix("docs")
    assert (code, "Audit" in listed, "auditing" in listed) == (0, True, True)
    code, page, _ = unmix("docs", "faq")
    assert (code, page.startswith("# Questions")) == (0, True)
    code, _, err = unmix("docs", "fqa")
    assert (code, "no page 'fqa': choose from activations" in err) == (2, True)
