"""All that a run needs to go on as if it had never stopped, in one file."""

from __future__ import annotations

import torch
from torch import Tensor

from unmix.errors import RunFolderError
from unmix.model import Network
from unmix.training.folder import CHECKPOINT, RunFolder
from unmix.training.sources import Source


def save(
    run: RunFolder,
    network: Network,
    optimiser: torch.optim.Optimizer,
    batches: Source,
    step: int,
    seconds: float,
) -> None:
    """Weights, the optimiser's state and the stream of batches after `step` updates."""
    tensors: dict[str, Tensor] = {f"network/{k}": v for k, v in network.state_dict().items()}
    for index, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser/{index}/{k}": v for k, v in state.items()}
    tensors |= {f"batches/{k}": v for k, v in batches.state().items()}
    run.write_tensors(CHECKPOINT, tensors, {"step": step, "seconds": seconds})


def restore(run: RunFolder, network: Network, optimiser: torch.optim.Optimizer, batches: Source) -> tuple[int, float]:
    """Put everything back as saved; the step and the seconds spent, zero if there is no checkpoint."""
    saved = run.read_tensors(CHECKPOINT)
    if saved is None:
        return 0, 0.0
    tensors, facts = saved
    try:
        _put_back(tensors, network, optimiser)
        batches.restore({k.removeprefix("batches/"): v for k, v in tensors.items() if k.startswith("batches/")})
        return int(facts["step"]), float(facts["seconds"])
    except (RuntimeError, KeyError, ValueError, IndexError, TypeError):
        raise RunFolderError(
            f"{run.path / CHECKPOINT} does not fit this run's model: delete it to start again."
        ) from None


def _put_back(tensors: dict[str, Tensor], network: Network, optimiser: torch.optim.Optimizer) -> None:
    network.load_state_dict({k.removeprefix("network/"): v for k, v in tensors.items() if k.startswith("network/")})
    state: dict[int, dict[str, Tensor]] = {}
    parameters = [p for group in optimiser.param_groups for p in group["params"]]
    for name, tensor in tensors.items():
        if name.startswith("optimiser/"):
            _, index, key = name.split("/")
            parameter = parameters[int(index)]
            if tensor.shape == parameter.shape:  # fused Adam walks memory: the layout must be the parameter's
                tensor = torch.empty_like(parameter, requires_grad=False).copy_(tensor)
            state.setdefault(int(index), {})[key] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
