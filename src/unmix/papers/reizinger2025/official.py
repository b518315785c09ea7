"""What a step of the official code costs on this machine, measured with plain torch operations."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from unmix.encoders import MLP


@dataclass(frozen=True)
class ClassifierStep:
    """CPU seconds of one step with one thread: encoder with batch norm, head, cross-entropy, Adam.

    The fastest of all steps that fit into a few seconds, because other work on the machine can only lengthen them.

    Examples
    --------
    >>> cost = ClassifierStep(3, 50, batch=64, seconds=0.1).run(Path())
    >>> 0 < cost["seconds_a_step"] < 60
    True
    """

    dimension: int
    labels: int
    batch: int = 1024
    seconds: float = 5.0

    def run(self, folder: Path) -> dict[str, Any]:
        g = torch.Generator().manual_seed(0)
        encoder = MLP.paper(self.dimension, batch_norm=True).build(self.dimension, self.dimension, g)
        head = nn.Parameter(torch.randn(self.labels, self.dimension, generator=g))
        optimiser = torch.optim.Adam([*encoder.parameters(), head], lr=1e-3)
        x = torch.randn(self.batch, self.dimension, generator=g)
        y = torch.randint(self.labels, (self.batch,), generator=g)
        spent: list[float] = []
        while len(spent) < 2 or sum(spent) < self.seconds:  # the first warms up
            began = time.process_time()
            optimiser.zero_grad()
            nn.functional.cross_entropy(encoder(x) @ head.mT, y).backward()
            optimiser.step()
            spent.append(time.process_time() - began)
        return {"seconds_a_step": min(spent[1:])}

    def __str__(self) -> str:
        return f"official step: {self.dimension} dimensions, {self.labels:,} labels"

    def progress(self, folder: Path) -> None:
        return None
