"""Estimators on disk: parameters as JSON, weights as safetensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from unmix import estimators
from unmix.configuration import from_config, to_config
from unmix.errors import InputError, RunFolderError, require
from unmix.estimators.base import EncoderEstimator
from unmix.files import read_json, told_about, write_json
from unmix.training.folder import RunFolder, versions

FACTS, WEIGHTS = "estimator.json", "network.safetensors"
OWN = ("encoder", "view", "callbacks", "random_state")  # may be objects that JSON cannot hold
LABELS = ("classes_", "instances_")


def save(estimator: EncoderEstimator, folder: Path) -> None:
    """Write both files; what is the user's own code (a module, a view) is named, and must be handed to `load`."""
    with told_about(folder):
        folder.mkdir(parents=True, exist_ok=True)
    parameters, own = {}, []
    for name, value in estimator.get_params(deep=False).items():
        try:
            parameters[name] = to_config(value)
        except InputError:
            require(name in OWN, f"{name} = {value!r} cannot be saved: give plain values.")
            own.append(name)
    facts: dict[str, Any] = {"is": type(estimator).__name__, "parameters": parameters, "own": own}
    facts["fitted"] = {
        "n_features_in_": estimator.n_features_in_,
        "feature_names_in_": getattr(estimator, "feature_names_in_", np.array([])).tolist() or None,
        "seed_": estimator.seed_,
        "history_": estimator.history_,
        "labels": {name: getattr(estimator, name).tolist() for name in LABELS if hasattr(estimator, name)},
        "shape": list(estimator.shape_),
    }
    RunFolder(folder).write_tensors(WEIGHTS, estimator.network_.state_dict(), {})
    write_json(folder / FACTS, facts | {"versions": versions()})


def load(folder: str | Path, *, device: str = "cpu", **own: Any) -> EncoderEstimator:
    """A fitted estimator as `save` kept it, on any device.

    Parameters
    ----------
    own : what files cannot hold: the torch module that was the encoder (weights are filled in), a view for more
        `fit` or `score`, callbacks.

    Examples
    --------
    >>> load("no/such/folder")
    Traceback (most recent call last):
    unmix.errors.RunFolderError: no/such/folder holds no estimator: give the folder that `save` wrote.
    """
    path = Path(folder)
    if not (path / FACTS).exists() or not (path / WEIGHTS).exists():
        raise RunFolderError(f"{folder} holds no estimator: give the folder that `save` wrote.")
    facts = read_json(path / FACTS)
    try:
        kind = getattr(estimators, str(facts["is"]), None)
        if not (isinstance(kind, type) and issubclass(kind, EncoderEstimator)):
            raise KeyError("is")
        parameters = {name: from_config(value) for name, value in facts["parameters"].items()}
        fitted, labels = facts["fitted"], facts["fitted"]["labels"]
    except (KeyError, TypeError, AttributeError):
        raise RunFolderError(f"{path / FACTS} is damaged: save the estimator anew.") from None
    require(
        "encoder" in own or "encoder" not in facts["own"],
        "the encoder was a torch module of your own: give one like it, as in load(folder, encoder=MyNet()).",
    )
    found: EncoderEstimator = kind(**(parameters | own | {"device": device}))
    for name in ("n_features_in_", "seed_", "history_"):
        setattr(found, name, fitted[name])
    if fitted["feature_names_in_"]:
        found.feature_names_in_ = np.array(fitted["feature_names_in_"], object)
    for name, values in labels.items():
        setattr(found, name, np.array(values))
    found.shape_ = tuple(fitted["shape"])
    saved = RunFolder(path).read_tensors(WEIGHTS)
    assert saved is not None
    count = max((len(values) for values in labels.values()), default=0)
    try:
        network = found._network(_like(found.shape_), count)
        network.load_state_dict(saved[0])
    except RuntimeError as error:
        raise RunFolderError(
            f"the weights in {path} do not fit this encoder: give the one it was fitted with."
        ) from error
    found.network_ = network.to(device).eval()
    return found


def _like(shape: tuple[int, ...]) -> torch.Tensor:
    """Rows of this shape, enough of them to whiten; the weights that come of them are overwritten."""
    return torch.eye(shape[0] + 1, shape[0]) if len(shape) == 1 else torch.zeros(2, *shape)
