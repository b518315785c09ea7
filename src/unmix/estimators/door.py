"""What is asked of an estimator, checked before anything is done."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from unmix.callbacks import Callback
from unmix.encoders import Encoder
from unmix.encoders.outputs import Output
from unmix.errors import InputError, brief, require, require_kind

if TYPE_CHECKING:
    from unmix.estimators.base import EncoderEstimator


def plain(rows: Any) -> Any:
    """Tensors as arrays; anything else as it is."""
    if not isinstance(rows, Tensor):
        return rows
    rows = rows.detach().cpu()
    return (rows.float() if rows.dtype in (torch.bfloat16, torch.float16) else rows).numpy()


def check_parameters(e: EncoderEstimator) -> None:
    """Refuse what no estimator can work with."""
    for name, least in (("n_outputs", 1), ("max_steps", 1), ("batch_size", 2), ("patience", 1)):
        value = getattr(e, name)
        whole = isinstance(value, Integral) and int(value) >= least
        require(whole, f"{name} must be a whole number of at least {least}, not {brief(value)}.")
    unit = getattr(e.objective, "group_size", None) or 1
    require(e.batch_size >= unit, f"batch_size must be at least a group of negatives, {unit}, not {e.batch_size}.")
    rate, share = e.learning_rate, e.validation_fraction
    require(isinstance(rate, Real) and 0 < rate < math.inf, f"learning_rate must be positive, not {rate!r}.")
    shared = isinstance(share, Real) and 0 <= share < 1
    require(shared, f"validation_fraction is a share of the rows below 1, not {share!r}.")
    try:
        torch.zeros(1, device=e.device)
    except (RuntimeError, AssertionError, TypeError) as error:
        said = str(error).splitlines()[0][:200]
        raise InputError(f"the device {e.device!r} cannot be used ({said}): give one such as 'cpu'.") from error
    require(isinstance(e.callbacks, (list, tuple)), f"callbacks must be a list, not {e.callbacks!r}.")
    require(e.view is None or callable(e.view), f"view must be like um.estimators.Jitter(0.1), not {e.view!r}.")
    for callback in e.callbacks:
        require_kind(callback, Callback, "a callback", "um.callbacks.TensorBoard(folder)")
    if e.objective is not None:
        require_kind(e.objective, type(e._defaults()[0]), "objective", str(type(e._defaults()[0]).__name__) + "()")
    if e.output is not None:
        require_kind(e.output, Output, "output", "um.outputs.Sphere()")
    if e.encoder is not None:
        require_kind(e.encoder, nn.Module | Encoder, "encoder", "um.encoders.MLP() or a torch module")
