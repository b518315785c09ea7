"""What is trained: an encoder, where its output lies, and the objective."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.encoders import MLP, Encoder, Whitening
from unmix.encoders.outputs import Free, Output
from unmix.errors import require, require_kind
from unmix.objectives import InfoNCE, Objective
from unmix.processes import Process


@dataclass(frozen=True)
class Model:
    """A description without weights; `build` makes the network.

    Parameters
    ----------
    encoder : the network's body.
    objective : InfoNCE, cross-entropy, DIET or regression.
    output : the constraint on the encoder's output (`unmix.outputs`).
    dimension : the number of outputs; None is the process's latent dimension.
    whiten : whether observations are whitened before the encoder, by a sample of them.

    Examples
    --------
    >>> import unmix as um
    >>> print(um.Model(um.encoders.MLP(), um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere()))
    whitened MLP 64-64-64-64 to sphere of radius 1, trained by InfoNCE with dot product, τ = 0.1
    """

    encoder: Encoder = field(default_factory=MLP)
    objective: Objective = field(default_factory=InfoNCE)
    output: Output = field(default_factory=Free)
    dimension: int | None = None
    whiten: bool = True

    def __post_init__(self) -> None:
        require_kind(self.encoder, Encoder, "encoder", "um.encoders.MLP()")
        require_kind(self.objective, Objective, "objective", "um.InfoNCE(um.Dot(), temperature=0.1)")
        require_kind(self.output, Output, "output", "um.outputs.Sphere()")
        require(
            self.dimension is None or self.dimension >= 1,
            f"a model needs at least one output, not {self.dimension}.",
        )

    def outputs(self, process: Process) -> int:
        """The number of outputs for a process."""
        return self.dimension or process.dimension

    def check(self, process: Process, batch: int) -> None:
        """Raise `InputError` if the model cannot be trained on the process with so many rows a step."""
        missing = [name for name in self.objective.told if name not in process.gives]
        require(
            not missing,
            f"{self.objective} must be told {', '.join(self.objective.told)}, but a {type(process).__name__} gives no "
            f"{' and no '.join(missing)}: InfoNCE wants a PairProcess, cross-entropy and DIET a ClusterProcess.",
        )
        self.objective.check(process, batch, self.outputs(process))

    def build(self, process: Process, x: Float[Tensor, "n k"], generator: torch.Generator) -> Network:
        """The network for a process and for observations like `x` (a sample of them, for whitening)."""
        outputs = self.outputs(process)
        return Network(
            Whitening(x) if self.whiten else nn.Identity(),
            self.encoder.build(x.shape[1], outputs, generator),
            self.output.build(),
            self.objective.build(process, outputs, generator),
            self.objective.told,
        )

    def __str__(self) -> str:
        whitened = "whitened " if self.whiten else ""
        return f"{whitened}{self.encoder} to {self.output}, trained by {self.objective}"


class Network(nn.Module):
    """Whitening, encoder and output in a row, and the loss with what it learns (a temperature, a head)."""

    def __init__(
        self, whitening: nn.Module, body: nn.Module, output: nn.Module, loss: nn.Module, told: tuple[str, ...]
    ) -> None:
        super().__init__()
        self.whitening, self.body, self.output, self.loss = whitening, body, output, loss
        self.told = told

    def forward(self, x: Float[Tensor, "n ..."]) -> Float[Tensor, "n d"]:
        """The embedding f(x)."""
        h: Tensor = self.output(self.body(self.whitening(x)))
        return h

    def embed(self, x: Float[Tensor, "n ..."], batch: int = 65_536) -> Float[Tensor, "n d"]:
        """f(x) in batches, without gradients, by the statistics of training where the encoder has any."""
        before = self.training
        self.eval()
        try:
            with torch.no_grad():
                return torch.cat([self(part) for part in x.split(batch)])
        finally:
            self.train(before)

    def training_loss(self, batch: Any) -> Float[Tensor, ""]:
        """The objective on a batch, of which it is handed what it is told and no more."""
        loss: Tensor = self.loss(self, *(getattr(batch, name) for name in self.told))
        return loss
