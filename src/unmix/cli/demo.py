"""`unmix demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmix import recipes
from unmix.cli.run import run
from unmix.encoders import MLP, outputs
from unmix.laws import Uniform, VonMisesFisher
from unmix.mixings import MLP as MLPMixing
from unmix.model import Model
from unmix.objectives import InfoNCE
from unmix.processes import PairProcess
from unmix.similarities import Dot
from unmix.spaces import Sphere


def demo(
    seed: Annotated[int, typer.Option(help="Which world and which training run.", min=0)] = 0,
    out: Annotated[Path | None, typer.Option(help="The run folder; by default runs/demo-SEED.")] = None,
) -> None:
    """Recover the latents of a small simulated world in about a minute.

    Ten latents on a sphere are mixed by a three-layer network; a small encoder that sees only pairs of
    observations is trained by InfoNCE. Theory promises the latents up to a rotation: see whether it holds.
    """
    process, model = setting(seed)
    run(process, model, recipes.fast(), seed, out or Path("runs") / f"demo-{seed}")


def setting(seed: int) -> tuple[PairProcess, Model]:
    """The demo's world and model, for which Theorem 2 holds."""
    process = PairProcess(Sphere(10), Uniform(), VonMisesFisher(10.0), MLPMixing(3), seed)
    return process, Model(MLP(), InfoNCE(Dot(), temperature=0.1), outputs.Sphere())
