"""Activations: files equal the modules' own outputs, f·gᵀ + b the logits, and a kill changes no bit."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import unmix as um
from unmix.activations import EachToken, LastToken, Mean, head, layers_of, load, record, shapes_of
from unmix.activations.pretrained import Texts, pretrained
from unmix.cli import main

# The user's own module of the tests of the command line, and ours.
NETS = """
import time
import torch
from torch import nn


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3)
        self.relu = nn.ReLU(inplace=True)
        self.norm = nn.BatchNorm2d(3)
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(3 * 16, 5)
        self.logits = nn.Linear(5, 10)
        self.wait = 0.0

    def forward(self, x):
        time.sleep(self.wait)
        return self.logits(torch.tanh(self.fc(self.drop(self.norm(self.relu(self.conv(x)))).flatten(1))))


def conv(seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Conv()


def rotated(seed=0):
    # The same distribution by another f: tanh is odd, so signs of f and of g can change together.
    model = conv(seed)
    with torch.no_grad():
        for weights in (model.fc.weight, model.fc.bias, model.logits.weight.T):
            weights[:2] *= -1
    return model


def broken():
    return "conv" + 3


nothing = 3
"""
nets = {}
exec(NETS, nets)
conv = nets["conv"]


@pytest.fixture
def images(generator):
    return torch.randn(50, 2, 6, 6, generator=generator)


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


def quietly(model, inputs, layers, folder, **how):
    return record(model, inputs, layers, folder, progress=False, **how)


def by_hand(model, images):
    """What each layer gives, in evaluation mode, by calling the layers one after the other."""
    model.eval()
    with torch.no_grad():
        conv = model.conv(images)
        fc = model.fc(model.norm(conv.clamp(min=0)).flatten(1))
        return {"conv": conv, "fc": fc, "f": torch.tanh(fc), "logits": model.logits(torch.tanh(fc))}


def files(folder):
    return {p.name: p.read_bytes() for p in Path(folder).iterdir() if p.suffix in (".npy", ".txt")}


def test_files_hold_what_the_layers_give(images, tmp_path):
    model = conv()
    found = quietly(model, images, ["conv", "fc"], tmp_path / "run", head=head(model), batch=7)
    truth = by_hand(model, images)
    assert list(found) == ["conv", "fc", "f"]
    for name in found:  # of conv before the next layer, which works in place, has cut it at 0
        np.testing.assert_allclose(found[name], truth[name].flatten(1), atol=1e-6)
        assert found[name].dtype == np.float32
        assert isinstance(found[name], np.memmap)
        np.testing.assert_array_equal(found[name], um.tables.read(tmp_path / "run" / f"{name}.npy").values)
    assert found.ids.tolist() == list(map(str, range(50)))
    assert found.groups is None
    mean = quietly(model, images, ["conv"], tmp_path / "mean", rows=Mean())
    np.testing.assert_allclose(mean["conv"], truth["conv"].mean((2, 3)), atol=1e-6)


def test_f_times_g_plus_bias_is_the_logits(images, tmp_path):
    model = conv()
    found = quietly(model, images, [], tmp_path / "run", head=head(model))
    canonical, logits = found.model("m"), by_hand(model, images)["logits"].numpy()
    np.testing.assert_allclose(canonical.f @ canonical.g.T + canonical.bias, logits, atol=1e-5)
    named = head(model, "fc")
    assert (named.g.shape, named.bias.shape) == ((5, 48), (5,))
    assert head(nn.Sequential(made(nn.Linear, 3, 2, False))).bias is None


def test_the_model_is_left_as_it_was(images, tmp_path):
    model = conv()
    model.train()
    model.norm.eval()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    loader = DataLoader(TensorDataset(images), batch_size=8)  # which draws from the global generator
    quietly(model, loader, ["fc"], tmp_path / "run")
    assert (model.training, model.norm.training, model.drop.training) == (True, False, True)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    with pytest.raises(um.InputError):
        quietly(model, images[:, :1], ["fc"], tmp_path / "other")
    assert model.training
    assert not any(m._forward_hooks for m in model.modules())


def test_kinds_of_inputs_and_sizes_of_batches_give_the_same(images, tmp_path):
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = conv()

        def forward(self, *, pixels, scale):
            return self.inner(pixels * scale[:, None, None, None])

    labels, ones = torch.arange(50), torch.ones(50)
    kinds = {
        "tensor": images,
        "array": images.double().numpy(),
        "dataset": TensorDataset(images, labels),
        "loader": DataLoader(TensorDataset(images, labels), batch_size=11),
        "generator": (images[a : a + 9].numpy() for a in range(0, 50, 9)),
    }
    truth = by_hand(conv(), images)["fc"]
    for kind, inputs in kinds.items():
        found = quietly(conv(), inputs, ["fc"], tmp_path / kind)
        np.testing.assert_allclose(found["fc"], truth, atol=1e-6)
    named = {"pixels": images, "scale": ones}
    by_name = quietly(Named(), named, ["inner.fc"], tmp_path / "named", batch=6)["inner.fc"]
    np.testing.assert_allclose(by_name, truth, atol=1e-6)
    called = quietly(
        conv(), TensorDataset(labels, images), ["fc"], tmp_path / "call", call=lambda model, batch: model(batch[1])
    )
    np.testing.assert_allclose(called["fc"], truth, atol=1e-6)
    for size in (1, 50, 1000):
        np.testing.assert_allclose(
            quietly(conv(), images, ["fc"], tmp_path / f"{size}", batch=size)["fc"], truth, atol=1e-6
        )


def test_half_and_double_files(images, tmp_path):
    model = conv().double()
    double = quietly(model, images, ["fc"], tmp_path / "double", dtype=np.float64)["fc"]
    np.testing.assert_allclose(double, by_hand(model, images.double())["fc"], atol=1e-14)
    half = quietly(model, images, ["fc"], tmp_path / "half", dtype="float16")["fc"]
    np.testing.assert_array_equal(half, double.astype(np.float16))


def test_a_kill_at_any_time_and_again_is_as_if_there_had_been_none(images, tmp_path, monkeypatch):
    model = conv()
    settings = {"layers": ["conv", "fc"], "head": head(model), "batch": 4}
    whole = quietly(model, images, folder=tmp_path / "whole", **settings)
    run = tmp_path / "run"
    (tmp_path / "nets.py").write_text(NETS)
    script = f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import nets, torch
        from unmix.activations import head, record
        import unmix.activations.record
        sys.modules["unmix.activations.record"].SECONDS = 0.0
        model = nets.conv()
        model.wait = 0.1
        images = torch.randn(50, 2, 6, 6, generator=torch.Generator().manual_seed(0))
        record(model, images, ["conv", "fc"], {str(run)!r}, head=head(model), batch=4, progress=False)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)])
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and batches_of(run) < 4:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    assert 4 <= batches_of(run) < 13
    assert not list(run.glob("*.npy"))  # a part cannot be taken for the whole
    with pytest.raises(um.RunFolderError, match="not all"):
        load(run)
    for part in run.glob("*.part"):  # what was written after the last word on it
        part.write_bytes(part.read_bytes() + b"torn" * 10_000)
    calls = counted(model)
    again = quietly(model, images, folder=run, **settings)
    assert len(calls) <= 13 - 4 + 1  # the first batch is run again, to see that the model is the same
    assert files(run) == files(tmp_path / "whole")
    assert again.rows == whole.rows == 50


def test_stopped_while_files_get_their_names(images, tmp_path, monkeypatch):
    model = conv()
    quietly(model, images, ["conv", "fc"], tmp_path / "whole", head=head(model))
    renamed = os.replace

    def stopping(source, target):
        if Path(target).name == "fc.npy":
            raise KeyboardInterrupt
        renamed(source, target)

    monkeypatch.setattr(os, "replace", stopping)
    with pytest.raises(KeyboardInterrupt):
        quietly(model, images, ["conv", "fc"], tmp_path / "run", head=head(model))
    monkeypatch.undo()
    calls = counted(model)
    quietly(model, images, ["conv", "fc"], tmp_path / "run", head=head(model))
    assert files(tmp_path / "run") == files(tmp_path / "whole")
    assert len(calls) == 1
    assert not list((tmp_path / "run").glob("*.part"))


def batches_of(folder):
    state = folder / "activations.json"
    return json.loads(state.read_text())["batches"] if state.exists() else 0


def counted(model):
    """A list that grows when the model is called."""
    calls = []
    model.register_forward_pre_hook(lambda *_: calls.append(1))
    return calls


def test_a_finished_folder_is_read_back_and_another_is_refused(images, tmp_path):
    model, run = conv(), tmp_path / "run"
    first = quietly(model, images, ["fc"], run, batch=10)
    calls = counted(model)
    again = quietly(model, images, ["fc"], run, batch=10)
    assert len(calls) == 1
    np.testing.assert_array_equal(first["fc"], again["fc"])
    assert load(run) == again
    kept = files(run)
    changed = conv()
    with torch.no_grad():
        changed.conv.bias[0] += 1e-6
    asked = {"model": model, "inputs": images, "layers": ["fc"], "folder": run, "batch": 10}
    others = {
        "its model is": {"model": changed},
        "its layers": {"layers": ["conv"]},
        "its batch": {"batch": 3},
        "its rows": {"rows": Mean()},
        "its ids": {"ids": range(50)},
        "its head": {"head": head(model)},
        "for other inputs": {"inputs": images + 1e-6},
        "holds activations for other inputs": {"inputs": torch.cat([images, images])},
        "or inputs that are drawn anew": {"inputs": images[:30]},
    }
    for why, other in others.items():
        with pytest.raises(um.RunFolderError, match=why):
            quietly(**(asked | other))
    assert files(run) == kept


def scaled(scale):
    """A way to call a model that has the same name for any scale."""
    return lambda model, batch: model(batch * scale)


def test_another_call_or_plain_attribute_is_refused(images, tmp_path):
    class Scaled(nn.Module):
        def __init__(self, scale):
            super().__init__()
            self.inner, self.scale = conv(), scale

        def forward(self, x):
            return self.inner(x * self.scale)

    for dtype in (np.float16, np.float32, np.float64):
        run = tmp_path / np.dtype(dtype).name
        settings = {"layers": ["inner.conv"], "folder": run, "batch": 20, "dtype": dtype, "call": scaled(1)}
        whole = quietly(Scaled(2), images, **settings)
        kept = files(run)
        assert quietly(Scaled(2 + 1e-7), images, **settings) == whole  # rounding
        for model, call in ((Scaled(2.5), scaled(1)), (Scaled(2), scaled(2))):
            with pytest.raises(um.RunFolderError, match=r"holds other rows of layer inner\.conv .* choose another"):
                quietly(model, images, **settings | {"call": call})
        assert files(run) == kept
    stopping = (images[a : a + 10] if a < 30 else pytest.fail("stopped") for a in range(0, 50, 10))
    with pytest.raises(pytest.fail.Exception):
        quietly(Scaled(2), stopping, ["inner.conv"], tmp_path / "part")
    whole = [images[a : a + 10] for a in range(0, 50, 10)]
    with pytest.raises(um.RunFolderError, match="holds other rows"):
        quietly(Scaled(3), whole, ["inner.conv"], tmp_path / "part")
    assert quietly(Scaled(2), whole, ["inner.conv"], tmp_path / "part").rows == 50


def test_a_process_that_went_on_meanwhile_is_noticed(images, tmp_path):
    def inputs(other):
        if other:  # after the folder was looked at, and before it is taken
            quietly(conv(), inputs(False), ["fc"], tmp_path / "run")
        yield images

    with pytest.raises(um.RunFolderError, match=r"went on with .* meanwhile: call again"):
        quietly(conv(), inputs(True), ["fc"], tmp_path / "run")
    assert load(tmp_path / "run").rows == 50


@pytest.mark.parametrize("file", ["fc.npy", "ids.txt"])
def test_a_finished_folder_without_its_files_is_damaged(file, images, tmp_path):
    run = tmp_path / "run"
    quietly(conv(), images, ["fc"], run)
    (run / file).write_bytes((run / file).read_bytes()[:-4])
    with pytest.raises(um.RunFolderError, match=f"{file} is damaged: delete"):
        load(run)
    (run / file).unlink()
    with pytest.raises(um.RunFolderError, match=f"{file} is damaged: delete"):
        load(run)
    with pytest.raises(um.RunFolderError, match=f"{file} is damaged"):
        quietly(conv(), images, ["fc"], run)


def test_numbers_that_are_none_are_refused_by_row_and_layer(images, tmp_path):
    images[37] = torch.nan
    names = [f"image {i}" for i in range(50)]
    with pytest.raises(um.InputError, match="layer conv is NaN or infinite as float32 in row image 37"):
        quietly(conv(), images, ["conv"], tmp_path / "run", batch=10, ids=names)
    images[37] = 1e6
    with pytest.raises(um.InputError, match="as float16 in row image 37"):
        quietly(conv(), images, ["conv"], tmp_path / "half", batch=10, ids=names, dtype=np.float16)


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared, self.unused, self.bag = nn.Linear(3, 3), nn.Linear(3, 3), nn.Identity()

    def forward(self, x):
        self.bag("text")
        return self.shared(self.shared(x))


def scripted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch is about to give it up
        return torch.jit.trace(nn.Sequential(nn.Flatten()), torch.zeros(1, 2, 6, 6))


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("no layer 'con': it has conv", {"layers": ["con"]}),
        ("such as \\['conv'\\]", {"layers": "conv"}),
        ("nothing to record", {"layers": []}),
        ("fc would be recorded twice", {"layers": ["fc", "fc"]}),
        ("at least 1 row", {"batch": 0}),
        ("float16, float32 or float64", {"dtype": np.int32}),
        ("3 ids for 50 inputs", {"ids": [1, 2, 3]}),
        ("more than once", {"ids": [1] * 50}),
        ("one line of text", {"ids": ["a\nb", *range(49)]}),
        ("one line of text", {"ids": ["a\x0b", *range(49)]}),
        ("one line of text", {"ids": ["\ufeffa", *range(49)]}),
        ("float16, float32 or float64, not bf", {"dtype": "bf"}),
        ("TorchScript cannot be listened to: give the torch.nn.Module", {"model": scripted, "layers": ["0"]}),
        ("cannot be called with a batch of float32 \\(50, 3\\)", {"inputs": torch.zeros(50, 3)}),
        ("empty", {"inputs": torch.zeros(0, 2, 6, 6)}),
        ("inputs must be a tensor", {"inputs": 3}),
        ("a batch must be a tensor", {"inputs": ["a", "b"]}),
        ("build it with shuffle=False", {"inputs": DataLoader(TensorDataset(torch.zeros(4, 3)), shuffle=True)}),
        ("batches of their own", {"inputs": iter([]), "batch": 3}),
        ("equally many rows", {"inputs": {"x": torch.zeros(3), "y": torch.zeros(4)}}),
        ("has no named layers", {"model": nn.Linear(3, 2)}),
        ("calls shared more than once", {"model": Twice, "layers": ["shared"]}),
        ("did not call unused", {"model": Twice, "layers": ["unused"]}),
        ("gives no table of numbers", {"model": Twice, "layers": ["bag"]}),
        ("without an axis of tokens", {"rows": EachToken()}),
        ("without an axis of tokens", {"layers": ["conv"], "rows": LastToken()}),
        ("no axis 4", {"layers": ["conv"], "rows": Mean((4,))}),
    ],
)
def test_a_mistake_is_a_sentence_and_leaves_no_folder(words, arguments, images, tmp_path):
    model = arguments.pop("model", conv)
    model = model if isinstance(model, nn.Module) else made(model)
    inputs = torch.zeros(5, 3) if isinstance(model, Twice) else images
    given = {"inputs": inputs, "layers": ["fc"], "folder": tmp_path / "run"} | arguments
    with pytest.raises(um.InputError, match=words) as said:
        quietly(model, **given)
    assert "\n" not in str(said.value)
    assert not (tmp_path / "run").exists()


def test_arguments_of_another_kind_are_refused_in_words(tmp_path):
    # In a process of its own: here the checks of shapes, which users do not have, would refuse them first.
    words = {
        "batch=2.5": "batch must be a whole number, of at least 1 row, not 2.5",
        "head='0'": "head=um.activations.head(model, '0')",
        "layers=None": "layers must be a list of names, such as ['conv2'], not None",
        "layers=[0]": "layers must be a list of names, such as ['conv2'], not [0]",
    }
    script = f"""
        import torch, unmix as um
        model, inputs = torch.nn.Sequential(torch.nn.Linear(3, 2)), torch.zeros(5, 3)
        for arguments in {list(words)}:
            try:
                given = dict(layers=["0"]) | eval(f"dict({{arguments}})")
                um.activations.record(model, inputs, folder={str(tmp_path / "run")!r}, **given)
            except um.InputError as error:
                print(error)
    """
    told = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    for said, due in zip(told.stdout.splitlines(), words.values(), strict=True):
        assert due in said


def made(maker, *sizes):
    with torch.random.fork_rng():
        return maker(*sizes)


def test_heads_that_are_none_are_refused(images, tmp_path):
    with pytest.raises(um.InputError, match="conv is a Conv2d: name"):
        head(conv(), "conv")
    with pytest.raises(um.InputError, match=r"no torch\.nn\.Linear"):
        head(nn.Sequential(nn.ReLU()))
    other = nn.Sequential(made(nn.Linear, 9, 2))
    with pytest.raises(um.InputError, match="another model"):
        quietly(nn.Sequential(conv(), nn.Identity()), images, [], tmp_path, head=head(other))
    model = conv()
    stale = head(model)
    with torch.no_grad():
        model.logits.bias[0] += 1
    for wrong in (head(conv(1)), stale, replace(head(model), g=stale.g + 1)):
        with pytest.raises(um.InputError, match="of another model, or its weights have changed"):
            quietly(model, images, [], tmp_path / "wrong", head=wrong)
    found = quietly(conv(), images, ["fc"], tmp_path / "run")
    with pytest.raises(um.InputError, match="no f and g"):
        found.model()


def test_layers_and_their_shapes(images):
    model = conv()
    assert list(layers_of(model)) == ["conv", "relu", "norm", "drop", "fc", "logits"]
    assert shapes_of(model, images)["conv"] == (2, 3, 4, 4)
    assert shapes_of(model, DataLoader(TensorDataset(images), batch_size=5))["logits"] == (5, 10)
    with pytest.raises(um.InputError, match="record would miss it: give that batch, or a list of batches"):
        shapes_of(model, iter([images]))
    assert shapes_of(model, [images])["logits"] == (50, 10)


def test_arrays_of_another_byte_order(images, tmp_path):
    swapped = images.numpy().astype(">f4")
    found = quietly(conv(), swapped, ["fc"], tmp_path / "run", dtype=">f4")["fc"]
    np.testing.assert_allclose(found, by_hand(conv(), images)["fc"], atol=1e-6)


class Backwards(torch.utils.data.Sampler):
    def __iter__(self):
        return iter(range(49, -1, -1))

    def __len__(self):
        return 50


def test_loaders_with_an_order_of_their_own_need_ids(images, tmp_path):
    data, model = TensorDataset(images), conv()
    shuffled = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(data), 5, False)
    for ids in (None, range(50)):
        with pytest.raises(um.InputError, match="shuffles its rows"):
            quietly(model, DataLoader(data, batch_sampler=shuffled), ["fc"], tmp_path / "run", ids=ids)
    own = [DataLoader(data, 5, sampler=Backwards()), DataLoader(data, batch_sampler=[[2, 1], [0]])]
    for loader, named in zip(own, (range(49, -1, -1), (2, 1, 0)), strict=True):
        with pytest.raises(um.InputError, match=r"order of its own \((Backwards|list)\).*: give ids in that order"):
            quietly(model, loader, ["fc"], tmp_path / "run")
        found = quietly(model, loader, ["fc"], tmp_path / f"{len(named)}", ids=named)
        truth = by_hand(model, images)["fc"]
        np.testing.assert_allclose(found["fc"], truth[list(map(int, found.ids))], atol=1e-6)
    assert quietly(model, DataLoader(data, batch_size=None), ["fc"], tmp_path / "rows", call=alone_in_batch).rows == 100


def alone_in_batch(model, batch):
    return model(batch[0][None].expand(2, -1, -1, -1))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(3, 4)

    def forward(self, x):
        return self.rnn(x.transpose(0, 1))


@pytest.mark.parametrize("rows", [EachToken(), Mean(), LastToken()])
def test_a_layer_with_tokens_first_is_refused(rows, tmp_path):
    with pytest.raises(um.InputError, match=r"rnn gives 7×5×4 for 5 inputs, .*batch_first=True"):
        quietly(made(Recurrent), torch.zeros(5, 7, 3), ["rnn"], tmp_path / "run", rows=rows)


def test_three_axes_without_a_mask_are_not_guessed(tmp_path):
    conv = made(lambda: nn.Sequential(nn.Conv1d(2, 4, 3)))
    x = torch.arange(60.0).reshape(3, 2, 10)
    with pytest.raises(um.InputError, match=r"Mean\(axes=\(2,\)\)"):
        quietly(conv, x, ["0"], tmp_path / "guess", rows=Mean())
    found = quietly(conv, x, ["0"], tmp_path / "said", rows=Mean((2,)))["0"]
    np.testing.assert_allclose(found, conv(x).mean(2).detach(), atol=1e-5)


# Language models

CODES = [[5, 3, 9, 2, 7], [4, 8], [1, 6, 2, 8], [11], [3, 1, 4, 1, 5, 9, 2]]


def padded(codes, length=None, left=False):
    """The codes in one table, with a mask."""
    length = length or max(map(len, codes))
    table, mask = torch.full((len(codes), length), 10), torch.zeros(len(codes), length, dtype=torch.long)
    for i, code in enumerate(codes):
        place = slice(length - len(code), length) if left else slice(len(code))
        table[i, place], mask[i, place] = torch.tensor(code), 1
    return {"input_ids": table, "attention_mask": mask}


@pytest.fixture(scope="module")
def gpt2():
    transformers = pytest.importorskip("transformers")
    sizes = {"vocab_size": 12, "n_positions": 16, "n_embd": 8, "n_layer": 2, "n_head": 2}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))


def alone(model, codes):
    """Logits and features of each sentence in a batch of its own, without padding."""
    with torch.no_grad():
        found = [model.eval()(torch.tensor([c]), output_hidden_states=True) for c in codes]
    return [f.logits[0] for f in found], [f.hidden_states[-1][0] for f in found]


def test_each_token_of_a_language_model_with_its_f_and_g(gpt2, tmp_path):
    layers = ["transformer.h.0", "transformer.ln_f"]
    found = quietly(gpt2, padded(CODES), layers, tmp_path / "run", head=head(gpt2), rows=EachToken(), batch=2)
    logits, features = alone(gpt2, CODES)
    assert head(gpt2).name == "lm_head"
    np.testing.assert_allclose(found["f"], torch.cat(features), atol=1e-5)
    np.testing.assert_array_equal(found["f"], found["transformer.ln_f"])
    canonical = found.model()
    np.testing.assert_allclose(canonical.f @ canonical.g.T, torch.cat(logits), atol=1e-5)
    assert found.ids.tolist() == [f"{i}/{t}" for i, code in enumerate(CODES) for t in range(len(code))]
    assert found.groups.tolist() == [str(i) for i, code in enumerate(CODES) for _ in code]


def test_padding_changes_no_row_and_no_id(gpt2, tmp_path):
    runs = {length: padded(CODES, length) for length in (7, 16)}
    short, long = (
        quietly(gpt2, runs[n], ["transformer.h.1"], tmp_path / f"{n}", rows=EachToken(), ids=list("abcde"))
        for n in runs
    )
    np.testing.assert_allclose(short["transformer.h.1"], long["transformer.h.1"], atol=1e-5)
    assert short.ids.tolist() == long.ids.tolist()
    assert short.ids[5] == "b/0"


def test_masks_and_inputs_inside_a_tuple_count(gpt2, tmp_path):
    def call(model, batch):
        return model(**batch[0])

    settings = {"layers": ["transformer.h.1"], "folder": tmp_path / "run", "rows": EachToken(), "call": call}
    found = quietly(gpt2, [(padded(CODES), torch.zeros(5))], **settings)
    by_name = quietly(gpt2, padded(CODES), ["transformer.h.1"], tmp_path / "named", rows=EachToken())
    assert found.ids.tolist() == by_name.ids.tolist()
    np.testing.assert_allclose(found["transformer.h.1"], by_name["transformer.h.1"], atol=1e-6)
    with pytest.raises(um.RunFolderError, match="for other inputs"):
        quietly(gpt2, [(padded([[6, *CODES[0][1:]], *CODES[1:]]), torch.zeros(5))], **settings)


@pytest.mark.parametrize("left", [False, True])
def test_means_and_last_tokens_leave_out_padding(gpt2, left, tmp_path):
    embedded = padded(CODES, 9, left)
    weights = gpt2.transformer.wte.weight.detach().numpy()
    mean = quietly(gpt2, embedded, ["transformer.wte"], tmp_path / "mean", rows=Mean())["transformer.wte"]
    np.testing.assert_allclose(mean, [weights[code].mean(0) for code in CODES], atol=1e-6)
    last = quietly(gpt2, embedded, ["transformer.wte"], tmp_path / "last", rows=LastToken())["transformer.wte"]
    np.testing.assert_array_equal(last, weights[[code[-1] for code in CODES]])


def test_what_has_no_rows_of_tokens_is_told(gpt2, tmp_path):
    for words, arguments in {
        "each has logits of its own": {"layers": [], "head": head(gpt2), "rows": Mean()},
        "no token that is not padding": {"inputs": padded([[1], []]), "rows": EachToken()},
        "24 columns after 32: for inputs of different lengths": {
            "inputs": [padded([[1, 2, 3, 4]])["input_ids"], padded([[1, 2, 3]])["input_ids"]]
        },
    }.items():
        given = {"inputs": padded(CODES), "layers": ["transformer.wte"], "folder": tmp_path / words[:4]} | arguments
        with pytest.raises(um.InputError, match=words):
            quietly(gpt2, **given)


# The command line

QUICK = ["--bootstraps", "40", "--permutations", "99"]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "images.npy", rng.normal(size=(300, 2, 6, 6)).astype(np.float32))
    (tmp_path / "own_nets.py").write_text(NETS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("own_nets", None)


def test_from_two_models_to_the_verdict_that_they_are_one(unmix, workplace):
    for name in ("conv", "rotated"):
        told = unmix("activations", f"own_nets:{name}", "--data", "images.npy", "--layers", "fc,f", "--out", name)
        assert told[0] == 0, told
        assert "300 × 5, the input of logits, with g of 10 labels" in told[1]
    joined = ["--ids", "conv/ids.txt", "--ids", "rotated/ids.txt", "--names", "one,two", "--measures", "r2,r2-back,cka"]
    code, out, err = unmix("compare", "conv/f.npy", "rotated/f.npy", *joined, *QUICK)
    assert code == 0, err
    assert "one and two are the same up to a map of the class" in out
    code, out, err = unmix("compare", "conv/model.npz", "rotated/model.npz", "--models", *QUICK)
    assert code == 0, err
    assert "The distributions are equal" in out
    assert "f′ of rotated is a linear map of f of conv" in out
    layers = um.compare_layers(load("conv"), load("rotated"), bootstraps=40, permutations=99)
    assert layers.best == {"fc": "fc", "f": "f"}


def test_layers_are_listed(unmix, workplace):
    code, out, _ = unmix("activations", "own_nets:conv", "--list", "--data", "images.npy")
    assert code == 0
    assert ["conv", "Conv2d", "2×3×4×4"] in [line.split() for line in out.splitlines()]
    assert "Conv2d" in unmix("activations", "own_nets:conv", "--list")[1]


def test_keywords_and_ids_by_file(unmix, workplace):
    np.savez("images.npz", x=np.load("images.npy"))
    Path("ids.txt").write_text("\n".join(f"n{i}" for i in range(300)))
    flags = ["--layers", "fc", "--ids", "ids.txt", "--batch", "100"]
    assert unmix("activations", "own_nets:conv", "--data", "images.npz", *flags, "--out", "run")[0] == 0
    assert load("run").ids[17] == "n17"
    assert json.loads(Path("run/config.json").read_text())["batch"] == 100


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("no module nowhere here", ["nowhere:conv"]),
        ("own_nets has no net", ["own_nets:net"]),
        ("gives a int, not a torch.nn.Module", ["own_nets:nothing"]),
        ("without arguments", ["own_nets:nn.Linear"]),
        ("broken of own_nets gives no model, it stops with: can only concatenate str", ["own_nets:broken"]),
        ("give one, or MODULE:CALLABLE", [".own_nets:conv"]),
        ("torn.npz cannot be read as .npz", ["own_nets:conv", "--data", "torn.npz"]),
        ("give one, or MODULE:CALLABLE", ["conv"]),
        ("--text is for a Hugging Face", ["own_nets:conv", "--text", "own_nets.py"]),
        ("exclude each other", ["own_nets:conv", "--text", "own_nets.py", "--data", "images.npy"]),
        ("no file none.npy", ["own_nets:conv", "--data", "none.npy"]),
        ("give .npy or .npz", ["own_nets:conv", "--data", "own_nets.py"]),
        ("give --data or --text", ["own_nets:conv", "--layers", "fc"]),
        ("name --layers", ["own_nets:conv", "--data", "images.npy", "--out", "o"]),
        ("there are no rows 'all'", ["own_nets:conv", "--data", "images.npy", "--layers", "fc", "--rows", "all"]),
        (
            "they are what layer logits gives: name it",
            ["own_nets:conv", "--data", "images.npy", "--layers", "f", "--head", "fc"],
        ),
        ("--head is for f", ["own_nets:conv", "--data", "images.npy", "--layers", "fc", "--head", "fc"]),
        ("no layer 'fd': it has fc", ["own_nets:conv", "--data", "images.npy", "--layers", "fd"]),
    ],
)
def test_a_mistake_on_the_command_line_is_a_sentence(words, arguments, unmix, workplace):
    out = [] if "--out" in arguments or words == "name --layers" else ["--out", "run"]
    np.savez("torn.npz", x=np.zeros(1000))
    Path("torn.npz").write_bytes(Path("torn.npz").read_bytes()[:4000])
    code, _, err = unmix("activations", *arguments, *out)
    assert (code, "Traceback" in err) == (2, False)
    assert words in err
    assert not (workplace / "run").exists()


def test_a_hugging_face_folder_and_texts(gpt2, unmix, workplace):
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["<pad>", "the", "cat", "sat", "on", "a", "mat"]
    plain = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<pad>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    gpt2.save_pretrained("lm")
    # Left padding would move the positions of the shorter text of a batch.
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<pad>", padding_side="left")
    tokenizer.save_pretrained("lm")
    Path("text.txt").write_text("the cat sat\n\non a\nthe mat sat on the cat\n")
    told = unmix(
        "activations", "lm", "--text", "text.txt", "--layers", "transformer.h.0,f", "--out", "run", "--batch", "2"
    )
    assert told[0] == 0, told
    found = load("run")
    assert found.ids.tolist()[2:5] == ["1/2", "3/0", "3/1"]
    assert sorted(set(found.groups)) == ["1", "3", "4"]
    logits, _ = alone(gpt2, [[1, 2, 3], [4, 5], [1, 6, 3, 4, 1, 2]])
    canonical = found.model()
    np.testing.assert_allclose(canonical.f @ canonical.g.T, torch.cat(logits), atol=1e-5)
    Path("long.txt").write_text("cat " * 17)
    code, _, err = unmix("activations", "lm", "--text", "long.txt", "--layers", "f", "--out", "long")
    assert code == 2
    assert "17 tokens and the model takes 16: split it" in err
    Path("lm/model.safetensors").rename("lm/other")
    code, _, err = unmix("activations", "lm", "--list")
    assert (code, "cannot be read as a Hugging Face model" in err, "Traceback" in err) == (2, True, False)


def test_token_types_that_are_all_zero_reach_no_model(gpt2):
    """GPT-2 looks them up among its words: with them its logits are off by the embedding of word 0."""

    def tokenizer(texts, **how):
        tokens = torch.tensor([[1, 2, 3] for _ in texts])
        return {"input_ids": tokens, "token_type_ids": torch.zeros_like(tokens)}

    (tokens,) = Texts(["the cat sat"], tokenizer)
    (logits,), _ = alone(gpt2, [[1, 2, 3]])
    np.testing.assert_allclose(gpt2(**tokens).logits[0].detach(), logits, atol=1e-6)
    pairs = {"input_ids": torch.ones(1, 2), "token_type_ids": torch.tensor([[0, 1]])}
    (kept,) = Texts(["two parts"], lambda *_, **__: dict(pairs))
    assert kept["token_type_ids"].tolist() == [[0, 1]]


def test_a_config_names_no_function_of_the_package(gpt2, tmp_path):
    gpt2.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    for named in ("pipeline", "logging", "GPT2Tokenizer"):
        (tmp_path / "config.json").write_text(json.dumps(config | {"architectures": [named]}))
        with pytest.raises(um.errors.InputError, match="of no model of transformers"):
            pretrained(tmp_path)


def test_without_transformers_it_says_what_to_install(unmix, workplace, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    (workplace / "lm").mkdir()
    code, _, err = unmix("activations", "lm", "--list")
    assert (code, "pip install 'unmix[hf]'" in err) == (2, True)


# A trained model

TINYLLAMAS = Path(os.environ.get("UNMIX_TINYLLAMAS", "none"))
SHAPES = {
    "input_layernorm": lambda d, h, kv: (d,),
    "self_attn.q_proj": lambda d, h, kv: (d, d),
    "self_attn.k_proj": lambda d, h, kv: (kv, d),
    "self_attn.v_proj": lambda d, h, kv: (kv, d),
    "self_attn.o_proj": lambda d, h, kv: (d, d),
    "post_attention_layernorm": lambda d, h, kv: (d,),
    "mlp.gate_proj": lambda d, h, kv: (h, d),
    "mlp.down_proj": lambda d, h, kv: (d, h),
    "mlp.up_proj": lambda d, h, kv: (h, d),
}  # in the order of the file


def stories(path):
    """The Llama of a file of llama2.c: seven whole numbers, then its weights."""
    transformers = pytest.importorskip("transformers")
    d, h, layers, heads, kv_heads, vocabulary, length = map(int, np.fromfile(path, np.int32, 7))
    weights = torch.from_numpy(np.fromfile(path, np.float32, offset=28))
    sizes = {"hidden_size": d, "intermediate_size": h, "num_hidden_layers": layers, "num_attention_heads": heads}
    sizes |= {"num_key_value_heads": kv_heads, "vocab_size": vocabulary, "max_position_embeddings": length}
    config = transformers.LlamaConfig(**sizes, rms_norm_eps=1e-5, tie_word_embeddings=True)
    with torch.random.fork_rng():
        model = transformers.LlamaForCausalLM(config)
    at = 0

    def take(*shape):
        nonlocal at
        at += int(np.prod(shape))
        return weights[at - int(np.prod(shape)) : at].reshape(shape)

    found = {"model.embed_tokens.weight": take(vocabulary, d)}
    for part, shape in SHAPES.items():
        for i, values in enumerate(take(layers, *shape(d, h, d // heads * kv_heads))):
            if part.endswith(("q_proj", "k_proj")):  # pairs of neighbours are rotated there, here halves
                values = values.reshape(-1, d // heads // 2, 2, d).transpose(1, 2).reshape(-1, d)
            found[f"model.layers.{i}.{part}.weight"] = values
    found["model.norm.weight"] = take(d)
    model.load_state_dict(found | {"lm_head.weight": found["model.embed_tokens.weight"]})
    return model


@pytest.mark.skipif(not TINYLLAMAS.is_dir(), reason="the trained model is not here (UNMIX_TINYLLAMAS names its folder)")
def test_f_and_g_of_a_trained_language_model_say_how_its_story_goes_on(tmp_path):
    model = stories(TINYLLAMAS / "stories260K.bin")
    story = model.generate(torch.tensor([[1]]), max_new_tokens=60, do_sample=False, pad_token_id=0, eos_token_id=None)
    data = (TINYLLAMAS / "tok512.bin").read_bytes()
    pieces, at = [], 4
    while at < len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        pieces.append(data[at + 8 : at + 8 + size].decode(errors="replace"))
        at += 8 + size
    assert "Once upon a time" in "".join(pieces[i] for i in story[0].tolist())
    found = quietly(model, story, ["model.layers.2"], tmp_path, head=head(model), rows=EachToken())
    canonical = found.model("stories")
    assert (canonical.width, canonical.labels, canonical.inputs) == (64, 512, story.shape[1])
    assert (canonical.f @ canonical.g.T).argmax(1)[:-1].tolist() == story[0, 1:].tolist()
