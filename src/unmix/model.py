"""What is trained: an encoder, where its output lies, and the objective."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.encoders import MLP, Encoder, Whitening
from unmix.encoders.outputs import Free, Output
from unmix.errors import require, require_kind
from unmix.objectives import InfoNCE, Objective


@dataclass(frozen=True)
class Model:
    """A description without weights; `build` makes the network.

    Parameters
    ----------
    encoder : the network's body.
    objective : InfoNCE or regression.
    output : the constraint on the encoder's output (`unmix.outputs`).
    dimension : the number of outputs; None is the process's latent dimension.
    whiten : whether observations are whitened before the encoder, by a sample of them.

    Examples
    --------
    >>> import unmix as um
    >>> print(um.Model(um.encoders.MLP(), um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere()))
    whitened MLP 64-64-64 to sphere of radius 1, trained by InfoNCE with dot product, τ = 0.1
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

    def build(self, x: Float[Tensor, "n k"], dimension: int, generator: torch.Generator) -> Network:
        """The network for observations like `x` (a sample, for whitening) and this many latents."""
        return Network(
            Whitening(x) if self.whiten else nn.Identity(),
            self.encoder.build(x.shape[1], self.dimension or dimension, generator),
            self.output.build(),
            self.objective.build(),
        )

    def __str__(self) -> str:
        whitened = "whitened " if self.whiten else ""
        return f"{whitened}{self.encoder} to {self.output}, trained by {self.objective}"


class Network(nn.Module):
    """Whitening, encoder and output in a row, and the loss with what it learns (a temperature)."""

    def __init__(self, whitening: nn.Module, body: nn.Module, output: nn.Module, loss: nn.Module) -> None:
        super().__init__()
        self.whitening, self.body, self.output, self.loss = whitening, body, output, loss

    def forward(self, x: Float[Tensor, "n k"]) -> Float[Tensor, "n d"]:
        """The embedding f(x)."""
        h: Tensor = self.output(self.body(self.whitening(x)))
        return h

    def embed(self, x: Float[Tensor, "n k"], batch: int = 65_536) -> Float[Tensor, "n d"]:
        """f(x) in batches, without gradients."""
        with torch.no_grad():
            return torch.cat([self(part) for part in x.split(batch)])

    def training_loss(self, x: Tensor, x_view: Tensor, truth: Tensor | None) -> Float[Tensor, ""]:
        """The objective on a batch; `truth` is None unless the objective is told it."""
        loss: Tensor = self.loss(self, x, x_view, truth)
        return loss
