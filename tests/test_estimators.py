"""Estimators on fixed rows: the objectives of the library, as scikit-learn has it."""

import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from torch import nn

import unmix as um
from unmix.estimators import ContrastiveEncoder, CrossEntropyEncoder, DIETEncoder, Jitter, load
from unmix.estimators.train import mean_loss

PAIRS = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(20.0), um.mixings.MLP()).sample(3000)
CLUSTERED = um.ClusterProcess(um.Sphere(3), um.Clusters(40), um.VonMisesFisher(20.0), um.mixings.MLP()).sample(3000)
FEW = {"bootstraps": 40, "permutations": 99}
EVERY = [ContrastiveEncoder, CrossEntropyEncoder, DIETEncoder]
CANNOT_APPLY = {
    "check_methods_subset_invariance": "rows are encoded in single precision, whose rounding depends on the batch"
}


def linear(inputs: int, outputs: int) -> nn.Module:
    """A layer that leaves torch's global state as it was."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Linear(inputs, outputs)


@pytest.mark.parametrize("kind", EVERY)
def test_scikit_learn_takes_it_for_one_of_its_own(kind):
    found = check_estimator(kind(2, max_steps=8, random_state=0), on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in found if r["status"] == "failed"}
    assert set(failed) <= set(CANNOT_APPLY), failed
    assert len(found) > 40


def test_latents_are_recovered_from_given_pairs():
    model = ContrastiveEncoder(3, max_steps=300, random_state=0).fit(PAIRS.x, PAIRS.x_view)
    assert um.recovery(model.transform(PAIRS.x), PAIRS.z, **FEW).r2() > 0.97
    shuffled = PAIRS.x_view[torch.randperm(3000, generator=torch.Generator().manual_seed(0))]
    wrong = ContrastiveEncoder(3, max_steps=100, random_state=0).fit(PAIRS.x, shuffled)
    assert um.recovery(wrong.transform(PAIRS.x), PAIRS.z, **FEW).r2() < 0.9


@pytest.mark.parametrize(("kind", "objective"), [(CrossEntropyEncoder, um.CrossEntropy), (DIETEncoder, um.DIET)])
def test_latents_are_recovered_from_the_labels_of_clusters(kind, objective):
    cosine = objective(unit_rows=True, temperature=0.1, learn_temperature=True)
    model = kind(3, max_steps=800, random_state=0, objective=cosine, output=um.outputs.Sphere())
    model.fit(CLUSTERED.x, CLUSTERED.label)
    assert um.recovery(model.transform(CLUSTERED.x), CLUSTERED.z, **FEW).r2() > 0.97


def test_the_score_is_the_negative_objective_on_the_rows():
    model = ContrastiveEncoder(3, max_steps=20, random_state=0, batch_size=200).fit(PAIRS.x[:400], PAIRS.x_view[:400])
    f, g = (torch.from_numpy(model.transform(side)) for side in (PAIRS.x[400:600], PAIRS.x_view[400:600]))
    near, far = (f * g).sum(1) / 0.1, f @ f.T / 0.1
    far.fill_diagonal_(-torch.inf)
    naive = (near - torch.logsumexp(torch.cat([near[:, None], far], 1), 1)).mean()
    assert model.score(PAIRS.x[400:600], PAIRS.x_view[400:600]) == pytest.approx(naive.item(), abs=1e-4)

    labelled = CrossEntropyEncoder(3, max_steps=20, random_state=0).fit(CLUSTERED.x[:400], CLUSTERED.label[:400])
    logits = torch.from_numpy(labelled.transform(CLUSTERED.x[:400])).float() @ labelled.network_.loss.rows().T
    code = torch.from_numpy(np.searchsorted(labelled.classes_, CLUSTERED.label[:400].numpy()))
    naive = logits.log_softmax(1)[torch.arange(400), code].mean()
    assert labelled.score(CLUSTERED.x[:400], CLUSTERED.label[:400]) == pytest.approx(naive.item(), abs=1e-4)


def test_new_rows_are_instances_of_their_own():
    view = Jitter(0.05)
    model = DIETEncoder(3, view=view, max_steps=300, random_state=0, batch_size=100).fit(CLUSTERED.x[:200])
    new = CLUSTERED.x[200:300][torch.randperm(100, generator=um.stream(model.seed_, "held-out order"))]
    seen = torch.from_numpy(model.transform(view(new, um.stream(model.seed_, "held-out views"))))
    logits = model.network_.loss.beta.item() * seen @ torch.from_numpy(model.transform(new)).T
    naive = logits.log_softmax(1).diagonal().mean()
    assert model.score(CLUSTERED.x[200:300]) == pytest.approx(naive.item(), abs=1e-4)
    assert model.score(new) > -np.log(100) + 1  # far above chance
    with pytest.raises(um.InputError, match="was not there in fit"):
        model.score(new, np.full(100, 999))

    free = DIETEncoder(3, objective=um.DIET(), max_steps=100, random_state=0, batch_size=100).fit(CLUSTERED.x[:200])
    length = free.network_.loss.rows().norm(dim=1).mean().item()
    f = torch.from_numpy(free.transform(new))
    naive = (length * f @ f.T).log_softmax(1).diagonal().mean()
    assert free.score(new) == pytest.approx(naive.item(), abs=1e-4)


@pytest.mark.parametrize("kind", EVERY)
def test_views_are_made_anew_at_every_step(kind):
    seen = []

    def view(x, generator):
        seen.append(torch.rand(1, generator=generator).item())
        return x

    kind(2, view=view, max_steps=9, validation_fraction=0.0, random_state=0).fit(CLUSTERED.x[:50], CLUSTERED.label[:50])
    assert len(seen) == len(set(seen)) == 9


def test_a_pipeline_and_a_search_with_two_jobs():
    X, held, y, held_y = train_test_split(CLUSTERED.x.numpy(), CLUSTERED.label.numpy() % 4, random_state=0)
    pipe = make_pipeline(StandardScaler(), CrossEntropyEncoder(2, max_steps=40, random_state=0))
    search = GridSearchCV(pipe, {"crossentropyencoder__learning_rate": [1e-6, 3e-2]}, cv=2, n_jobs=2).fit(X, y)
    assert search.best_params_ == {"crossentropyencoder__learning_rate": 3e-2}
    assert search.score(held, held_y) == pytest.approx(search.best_estimator_.score(held, held_y))
    assert search.best_estimator_.transform(held).shape == (len(held), 2)
    names = search.best_estimator_[-1].get_feature_names_out().tolist()
    assert names == ["crossentropyencoder0", "crossentropyencoder1"]


@pytest.mark.parametrize("kind", EVERY)
def test_a_random_state_fixes_everything(kind):
    X, y = CLUSTERED.x[:200], CLUSTERED.label[:200]

    def fitted(state):
        net = nn.Sequential(nn.Dropout(0.2), linear(3, 2))
        return kind(2, max_steps=15, validation_fraction=0.0, random_state=state, encoder=net)

    a, c = (fitted(state).fit(X, y).transform(X) for state in (0, 1))
    with torch.random.fork_rng():
        other = torch.random.get_rng_state()
        model = fitted(0)
        torch.manual_seed(123)  # whatever torch's global state is
        b = model.fit(X, y).transform(X)
        torch.random.set_rng_state(other)
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_any_module_encodes_and_keeps_its_own_weights():
    images = np.random.default_rng(0).normal(size=(64, 1, 6, 6)).astype(np.float32)
    with torch.random.fork_rng():
        conv = nn.Conv2d(1, 4, 3)
    net = nn.Sequential(conv, nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), linear(64, 5))
    before = {k: v.clone() for k, v in net.state_dict().items()}
    flip = ContrastiveEncoder(encoder=net, view=lambda x, generator: x.flip(-1), max_steps=20, random_state=0)
    out = flip.fit(images).transform(images)
    assert out.shape == (64, 5)
    assert out.dtype == np.float32
    assert all(torch.equal(before[k], v) for k, v in net.state_dict().items())
    np.testing.assert_allclose(out, flip.set_params(batch_size=7).transform(images), atol=1e-5)
    assert clone(flip).encoder is not net
    expected = nn.functional.normalize(flip.network_.body(torch.from_numpy(images)), dim=1)
    np.testing.assert_allclose(out, expected.detach().numpy(), atol=1e-5)


def test_training_stops_by_held_out_rows_and_keeps_the_best_weights():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 20)), rng.integers(0, 2, 200)  # nothing to learn but noise
    model = CrossEntropyEncoder(4, max_steps=1000, validation_fraction=0.3, patience=3, random_state=0).fit(X, y)
    last, validation = model.history_[-1]["step"], [line["validation"] for line in model.history_]
    assert last < 1000
    assert len(validation) - 1 - int(np.argmin(validation)) == 3
    _, held_out = model._split(model._rows(torch.tensor(X).float(), y, fitting=False))
    assert mean_loss(model.network_, held_out, model._plan()) == pytest.approx(min(validation))
    longer = CrossEntropyEncoder(4, max_steps=600, validation_fraction=0.0, random_state=0).fit(X, y)
    assert longer.history_[-1]["step"] == 600
    assert "validation" not in longer.history_[-1]
    assert longer.score(X, y) > -0.05  # every label is learned by heart
    new, labels = rng.normal(size=(500, 20)), rng.integers(0, 2, 500)
    assert model.score(new, labels) > longer.score(new, labels)


def test_it_is_kept_and_read_back(tmp_path):
    X, y = CLUSTERED.x.numpy()[:200], np.array(["cat", "dog"])[CLUSTERED.label.numpy()[:200] % 2]
    model = CrossEntropyEncoder(2, max_steps=20, random_state=0, objective=um.CrossEntropy(unit_rows=True)).fit(X, y)
    model.save(tmp_path / "kept")
    again = load(tmp_path / "kept", device="cpu")
    assert np.array_equal(again.transform(X), model.transform(X))
    assert again.score(X, y) == model.score(X, y)
    assert again.get_params()["objective"] == um.CrossEntropy(unit_rows=True)
    assert again.history_ == model.history_
    assert np.array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))
    with pytest.raises(ValueError, match="features"):
        again.transform(X[:, :2])

    own = DIETEncoder(encoder=linear(3, 2), view=lambda x, generator: x, max_steps=5, random_state=0).fit(X)
    own.save(tmp_path / "own")
    with pytest.raises(um.InputError, match="the encoder and the view of this estimator were code of your own"):
        load(tmp_path / "own")
    assert np.array_equal(load(tmp_path / "own", encoder=linear(3, 2), view=None).transform(X), own.transform(X))
    with pytest.raises(um.RunFolderError, match="do not fit"):
        load(tmp_path / "own", encoder=linear(3, 4), view=None)
    file = tmp_path / "kept" / "estimator.safetensors"
    for damage in (b'CrossEntropyEncoder"', b'"seed_', b'"parameters'):
        content = file.read_bytes()
        assert damage[1:-1] in content
        file.write_bytes(content.replace(damage[1:-1], b"x" * (len(damage) - 2)))
        with pytest.raises(um.RunFolderError, match="damaged"):
            load(tmp_path / "kept")
        file.write_bytes(content)


def test_an_offset_costs_no_digits():
    x = CLUSTERED.x.double().numpy()
    near, far = (
        CrossEntropyEncoder(2, max_steps=60, random_state=0).fit(x + shift, CLUSTERED.label.numpy() % 3)
        for shift in (0, 1e8)
    )
    labels = CLUSTERED.label.numpy() % 3
    assert far.score(x + 1e8, labels) == pytest.approx(near.score(x, labels), abs=0.02)


def test_the_score_does_not_know_the_order_of_rows():
    x = np.repeat(10 * np.eye(4), 60, 0) + np.random.default_rng(0).normal(size=(240, 4))
    model = ContrastiveEncoder(2, max_steps=60, random_state=0, batch_size=60).fit(x)
    mixed = x[np.random.default_rng(1).permutation(240)]
    assert model.score(x) == pytest.approx(model.score(mixed), abs=0.1)  # sorted batches would differ by more than 1


def test_rows_are_held_out_only_of_labels_that_are_trained():
    labels = np.concatenate([np.repeat(np.arange(5), 30), np.arange(5, 55)])
    rows = CLUSTERED.x[: len(labels)]
    for kind in (CrossEntropyEncoder, DIETEncoder):
        model = kind(2, max_steps=5, random_state=0, validation_fraction=0.3).fit(rows, labels)
        trained, held = model._split(model._rows(rows, labels, fitting=False))
        assert set(held.label.tolist()) <= set(trained.label.tolist())
        assert len(trained) + len(held) == len(rows)


def test_a_fit_that_fails_leaves_things_as_they_were():
    X, y = CLUSTERED.x[:200], CLUSTERED.label[:200]
    model = CrossEntropyEncoder(2, max_steps=10, random_state=0).fit(X, y % 3)
    before = model.transform(X)

    def stop(step, values):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.set_params(callbacks=[stop]).fit(X, y % 2)
    assert np.array_equal(model.transform(X), before)
    assert len(model.classes_) == 3
    unfitted = CrossEntropyEncoder(learning_rate=1e41, max_steps=1, validation_fraction=0)
    with pytest.raises(um.TrainingDiverged):
        unfitted.fit(X, y)
    with pytest.raises(NotFittedError):
        unfitted.transform(X)


def test_a_module_gets_rows_as_they_are():
    net = linear(3, 2)
    rows = 5 + PAIRS.x[:100]
    model = ContrastiveEncoder(encoder=net, output=um.outputs.Free(), learning_rate=1e-12, max_steps=1, random_state=0)
    np.testing.assert_allclose(model.fit(rows).transform(rows), net(rows).detach().numpy(), atol=1e-5)


def test_groups_of_negatives_train_score_and_load(tmp_path):
    grouped = ContrastiveEncoder(
        2, objective=um.InfoNCE(um.Dot(), 0.1, group_size=16), batch_size=50, max_steps=5, random_state=0
    ).fit(PAIRS.x[:333], PAIRS.x_view[:333])
    grouped.save(tmp_path)
    assert load(tmp_path).score(PAIRS.x[:100], PAIRS.x_view[:100]) == grouped.score(PAIRS.x[:100], PAIRS.x_view[:100])
    small = ContrastiveEncoder(2, batch_size=2, max_steps=5, validation_fraction=0.3, random_state=0)
    assert np.isfinite(small.fit(PAIRS.x[:11]).score(PAIRS.x[:3]))


def test_odd_but_honest_inputs_work(tmp_path):
    X = PAIRS.x.double().numpy()[:60]
    flipped = ContrastiveEncoder(2, max_steps=3, random_state=0).fit(X, X[:, ::-1])
    assert flipped.transform(X[::-1]).shape == (60, 2)
    flipped.set_params(n_outputs=np.int64(2), device=torch.device("cpu")).fit(PAIRS.x[:60].bfloat16()).save(tmp_path)
    assert load(tmp_path).n_outputs == 2
    board = ContrastiveEncoder(2, max_steps=3, callbacks=[um.callbacks.TensorBoard(tmp_path / "b")]).fit(X)
    clone(board).fit(pickle.loads(pickle.dumps(X)))


@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        (ContrastiveEncoder(), (PAIRS.x, PAIRS.x_view[:, :2]), "shape of X"),
        (ContrastiveEncoder(max_steps=0), (PAIRS.x,), "max_steps must be a whole number of at least 1"),
        (ContrastiveEncoder(objective=um.DIET()), (PAIRS.x,), "objective must be like InfoNCE()"),
        (ContrastiveEncoder(view=lambda x, generator: x[:2]), (PAIRS.x,), "shape of its rows"),
        (ContrastiveEncoder(encoder=linear(4, 2)), (PAIRS.x,), "cannot take rows of shape (3,)"),
        (ContrastiveEncoder(encoder=nn.Unflatten(1, (3, 1))), (PAIRS.x,), "end it with nn.Flatten()"),
        (ContrastiveEncoder(), (np.ones((5, 9)),), "cannot be whitened"),
        (CrossEntropyEncoder(), (PAIRS.x,), "give a label for each row"),
        (CrossEntropyEncoder(), (PAIRS.x, np.zeros(3000, int)), "only one class"),
        (DIETEncoder(), (PAIRS.x, np.zeros(7, int)), "3000 rows and 7 labels"),
        (CrossEntropyEncoder(learning_rate=1e30), (CLUSTERED.x, CLUSTERED.label), "NaN or infinite at step"),
        (DIETEncoder(callbacks=["tensorboard"]), (PAIRS.x,), "a callback must be like"),
        (DIETEncoder(callbacks=None), (PAIRS.x,), "callbacks must be a list"),
        (DIETEncoder(device="gpu"), (PAIRS.x,), "the device 'gpu' cannot be used"),
        (DIETEncoder(learning_rate="x"), (PAIRS.x,), "learning_rate must be positive"),
        (DIETEncoder(validation_fraction=0.999), (PAIRS.x[:200], np.arange(200) % 3), "lower it"),
        (DIETEncoder(), (PAIRS.x[:3], np.array([0, 1, np.nan])), "NaN labels"),
        (ContrastiveEncoder(encoder=nn.Identity()), (PAIRS.x,), "nothing to learn"),
        (ContrastiveEncoder(), (PAIRS.x[:2], [["a"] * 3] * 2), "a table of numbers"),
    ],
)
def test_bad_input_is_one_sentence(model, data, message):
    with pytest.raises((um.InputError, um.TrainingDiverged)) as caught:
        model.fit(*data)
    assert message in str(caught.value)


def test_callbacks_hear_the_losses(tmp_path):
    heard = []
    model = ContrastiveEncoder(
        2, max_steps=50, random_state=0, callbacks=[lambda step, values: heard.append((step, values))]
    )
    model.fit(PAIRS.x[:200])
    assert [{"step": step, **values} for step, values in heard] == model.history_

    process = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.Linear(pool=10))
    recipe = um.Recipe(steps=6, batch=16, rate=1e-2, log_every=2, whitening_rows=100)
    told = []
    fit = um.fit(
        process, um.Model(), recipe, progress=False, callbacks=[lambda step, values: told.append((step, values))]
    )
    assert [(step, values["loss"]) for step, values in told] == list(fit.losses)


def test_tensorboard_reads_what_was_told(tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    model = ContrastiveEncoder(2, max_steps=50, random_state=0, callbacks=[um.callbacks.TensorBoard(tmp_path)])
    model.fit(PAIRS.x[:200])
    board = reader.EventAccumulator(str(tmp_path)).Reload()
    assert [s.step for s in board.Scalars("loss")] == [line["step"] for line in model.history_]
    assert [s.value for s in board.Scalars("validation")] == pytest.approx([h["validation"] for h in model.history_])


def test_mlflow_reads_what_was_told(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        model = ContrastiveEncoder(2, max_steps=50, random_state=0, callbacks=[um.callbacks.MLflow("train/")])
        model.fit(PAIRS.x[:200])
    kept = mlflow.MlflowClient().get_metric_history(run.info.run_id, "train/loss")
    assert [m.value for m in kept] == pytest.approx([line["loss"] for line in model.history_])
