"""Why the logits of a model are not what a linear layer gives, as well as it can be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

Logits = Float[Tensor, "rows labels"]
LAYERS = "record layers instead of f"


def reason(ours: Float[Tensor, "rows ours"], theirs: Logits, others: Mapping[str, Logits], config: Any = None) -> str:
    """What the model makes of the layer's logits, with the remedy.

    Parameters
    ----------
    ours, theirs : what the layer gives, and the model's logits.
    others : what other linear layers give, as many numbers as there are logits.
    config : of a Hugging Face model, whose numbers may be the scale or the cap.

    Examples
    --------
    >>> a = torch.tensor([[1.0, -2.0], [3.0, 0.5]])
    >>> reason(a, 5 * a, {}).partition(":")[0]
    'they are 5 times what it gives'
    >>> reason(a, -a, {"first": -a})
    "they are what layer first gives: name it, head(model, 'first') or --head first"
    """
    for name, gives in others.items():
        if _near(gives, theirs):
            return f"they are what layer {name} gives: name it, head(model, {name!r}) or --head {name}"
    if ours.shape != theirs.shape:
        return (
            f"there are {theirs.shape[1]} of them a row and the layer gives {ours.shape[1]}: name the layer of the "
            f"model's head, let call= return the logits that the layer gives, or {LAYERS}"
        )
    if bool((masked := ~theirs.isfinite()).any()):
        count = int(masked.any(0).sum())
        return f"those of {count} of {theirs.shape[1]} labels are infinite or NaN, which no f·g + bias is: {LAYERS}"
    pair = {name: gives for name, gives in others.items() if gives.shape == theirs.shape}
    if pair and _near(torch.stack([ours, *pair.values()]).mean(0), theirs):
        return (
            f"they are the mean of what it and {', '.join(pair)} give: let call= return the logits of one of them, and "
            "name its layer"
        )
    numbers = _numbers(config)
    for name, cap in numbers.items():
        if "cap" in name and cap > 0 and _near(cap * torch.tanh(ours / cap), theirs):
            return f"they are soft-capped at ±{cap:g} ({name} of its config), which no f·g + bias is: {LAYERS}"
    scale = float((ours.double() * theirs.double()).sum() / ours.double().square().sum().clamp(min=1e-300))
    if scale != 0 and _near(scale * ours, theirs) and not _near(ours, theirs):
        named = [
            name
            for name, n in numbers.items()
            if "logit" in name and any(abs(r - 1) < 1e-3 for r in (n / scale, n * scale))
        ]
        why = f" ({named[0]} of its config)" if named else ""
        return (
            f"they are {scale:.6g} times what it gives{why}: record the layer before it, and put its rows and "
            f"{scale:.6g} times the head's g and bias into a CanonicalModel"
        )
    for name, function in {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "ReLU": torch.relu}.items():
        if _near(function(ours), theirs):
            return f"they are the {name} of what it gives: let call= return the logits themselves, or {LAYERS}"
    if len(ours) > 1 and _near(ours + (theirs - ours)[:1], theirs):
        return (
            "they differ by the same numbers in every row, a bias that is added as none of the model's parameters or "
            f"buffers: register it as a buffer, or {LAYERS}"
        )
    off = float((ours.double() - theirs.double()).abs().max())
    return (
        f"they differ by up to {off:.3g}, where the largest is {float(theirs.abs().max()):.3g}, so the model changes "
        f"them, or another layer gives them: name the layer of its head, let call= return what it gives, or {LAYERS}"
    )


def _near(ours: Tensor, theirs: Tensor) -> bool:
    """To a few roundings of the largest: enough to name what is refused anyway."""
    if ours.shape != theirs.shape:
        return False
    eps = max(torch.finfo(t.dtype).eps for t in (ours, theirs))
    ours, theirs = ours.double(), theirs.double().to(ours.device)
    return bool(((ours - theirs).abs() <= 16 * eps * theirs.abs().max()).all())


def _numbers(config: Any) -> dict[str, float]:
    """The numbers of a model's settings, those of its parts among them."""
    settings = config.to_dict() if hasattr(config, "to_dict") else {}
    parts = [settings, *(part for part in settings.values() if isinstance(part, dict))]
    return {
        str(key): float(value)
        for part in reversed(parts)
        for key, value in part.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
