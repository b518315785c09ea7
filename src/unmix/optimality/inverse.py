"""The encoder that is the true inverse: where it puts a latent, and on what scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from unmix.encoders import outputs
from unmix.model import Model
from unmix.processes import Process
from unmix.spaces import Box, Sphere


@dataclass(frozen=True)
class Inverse:
    """h(x) = scale · place(g⁻¹(x)).

    Attributes
    ----------
    place : of a latent, up to the scale.
    scale : that the model's output imposes; None if it is free, or learned.
    """

    place: Callable[[Tensor], Tensor]
    scale: float | None


def true_inverse(process: Process, model: Model) -> Inverse | str:
    """The latents themselves as outputs of the model; or why they cannot be.

    Examples
    --------
    >>> import unmix as um
    >>> world = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.MLP())
    >>> true_inverse(world, um.Model(output=um.outputs.Sphere(radius=2.0))).scale
    2.0
    """
    space, output = process.space, model.output
    if model.outputs(process) != process.dimension:
        return f"{model.outputs(process)} outputs cannot be {process.dimension} latents"
    if process.injectivity.holds is False:
        return "the mixing is not injective, so it has no inverse"
    if isinstance(output, outputs.Free):
        return Inverse(lambda z: z, None)
    if isinstance(output, outputs.Sphere) and isinstance(space, Sphere):
        return Inverse(lambda z: z, None if output.learnable else output.radius / space.radius)
    if isinstance(output, outputs.Box) and isinstance(space, Box):
        low, width = space.low, space.width
        return Inverse(lambda z: z - low, None if output.learnable else output.extent / width)
    return f"outputs in a {output} cannot be latents in a {space}"
