"""Estimators on disk: parameters as JSON, weights as safetensors."""

from __future__ import annotations

from operator import index
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unmix.callbacks import MLflow, TensorBoard
from unmix.configuration import from_config, to_config
from unmix.encoders import MLP
from unmix.errors import InputError, RunFolderError, require
from unmix.estimators.base import EncoderEstimator
from unmix.estimators.contrastive import ContrastiveEncoder
from unmix.estimators.cross_entropy import CrossEntropyEncoder
from unmix.estimators.diet import DIETEncoder
from unmix.estimators.door import check_parameters
from unmix.estimators.views import Jitter
from unmix.files import told_about, write_json
from unmix.training.descriptions import DESCRIPTIONS
from unmix.training.folder import RunFolder, versions

FACTS, WEIGHTS = "estimator.json", "estimator.safetensors"
FITTED = ("n_features_in_", "seed_", "history_", "shape_")
ARRAYS = ("feature_names_in_", "classes_", "instances_")
KINDS = {kind.__name__: kind for kind in (ContrastiveEncoder, CrossEntropyEncoder, DIETEncoder)}
KNOWN = (*DESCRIPTIONS, Jitter, TensorBoard, MLflow)  # what a file may name beside them
OWN = ("encoder", "view", "callbacks", "random_state")  # may be objects that JSON cannot hold


def save(estimator: EncoderEstimator, folder: Path) -> None:
    """Write weights and, in the header of the same file, all facts, so that one renaming replaces both.

    What is the user's own code (a module, a view) is named, and must be handed to `load`. The facts also stand in a
    file of their own, for people to read.
    """
    parameters, own = {}, []
    for name, value in estimator.get_params(deep=False).items():
        value = value.item() if isinstance(value, np.generic) else str(value) if name == "device" else value
        try:
            parameters[name] = to_config(value)
        except InputError:
            require(name in OWN, f"{name} = {value!r} cannot be saved: give plain values.")
            own.append(name)
    facts: dict[str, Any] = {"is": type(estimator).__name__, "parameters": parameters, "own": own}
    facts["fitted"] = {name: getattr(estimator, name) for name in FITTED}
    facts["arrays"] = {name: getattr(estimator, name).tolist() for name in ARRAYS if hasattr(estimator, name)}
    facts["versions"] = versions()
    with told_about(folder):
        folder.mkdir(parents=True, exist_ok=True)
    RunFolder(folder).write_tensors(WEIGHTS, estimator.network_.state_dict(), facts)
    write_json(folder / FACTS, facts)


def load(folder: str | Path, *, device: str = "cpu", **own: Any) -> EncoderEstimator:
    """A fitted estimator as `save` kept it, on any device.

    Parameters
    ----------
    own : what files cannot hold: the torch module that was the encoder (its weights are filled in) and the view; also
        callbacks and a random state, if it is to be fitted again.

    Examples
    --------
    >>> load("no/such/folder")
    Traceback (most recent call last):
    unmix.errors.RunFolderError: no/such/folder holds no estimator: give the folder that `save` wrote.
    """
    path = Path(folder)
    saved = RunFolder(path).read_tensors(WEIGHTS)
    if saved is None:
        raise RunFolderError(f"{folder} holds no estimator: give the folder that `save` wrote.")
    weights, facts = saved
    try:
        kind = KINDS[facts["is"]]
        parameters = {name: from_config(value, KNOWN) for name, value in facts["parameters"].items()}
        needed = [name for name in facts["own"] if name in ("encoder", "view") and name not in own]
        given = parameters | own | {"device": device}
        found: EncoderEstimator = kind(**given)
        found.__dict__.update({name: facts["fitted"][name] for name in FITTED})
        found.shape_ = tuple(map(index, found.shape_))
        arrays = {name: np.array(facts["arrays"][name]) for name in ARRAYS if name in facts["arrays"]}
        found.__dict__.update(arrays)
        labels = max((len(arrays.get(name, ())) for name in ("classes_", "instances_")), default=0)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise RunFolderError(
            f"{path / WEIGHTS} is damaged, or of a class that unmix does not define: save the estimator anew."
        ) from None
    require(
        not needed,
        f"the {' and the '.join(needed)} of this estimator were code of your own: give them to load too, as in "
        f"load(folder, {', '.join(f'{name}=…' for name in needed)}).",
    )
    check_parameters(found)
    if not _holds(weights, found):
        raise RunFolderError(f"{path / WEIGHTS} is damaged: its weights are of other sizes than it says.")
    try:
        network = found._network(_like(found.shape_), labels)
        network.load_state_dict(weights)
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        said = f"the weights in {path} do not fit this encoder: give the one it was fitted with."
        raise RunFolderError(said) from error
    found.network_ = network.to(device).eval()
    return found


def _holds(weights: dict[str, torch.Tensor], estimator: EncoderEstimator) -> bool:
    """Whether every width that the file says is that of some weights in it: what is not there is not made room for."""
    encoder = MLP() if estimator.encoder is None else estimator.encoder
    if not isinstance(encoder, MLP):
        return True  # a module that the caller gave
    sizes = {size for tensor in weights.values() for size in tensor.shape}
    return {*estimator.shape_, estimator.n_outputs, *encoder.widths} <= sizes


def _like(shape: tuple[int, ...]) -> torch.Tensor:
    """Rows of this shape, enough of them to whiten; the weights that come of them are overwritten."""
    return torch.eye(shape[0] + 1, shape[0]) if len(shape) == 1 else torch.zeros(2, *shape)
