"""What a step of the official code costs on this machine, measured with plain torch operations.

The official setting is a batch of 6144 with the batch as negatives, an encoder of 854,210 weights, Adam, and a loss
that holds all B × B similarities (for Lp: all B × B × d differences). To stay within an ordinary machine's memory the
loss is taken for a part of the anchors against all negatives and multiplied: it is a sum over anchors.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn

from unmix.encoders import MLP
from unmix.similarities import Dot, Similarity

DIMENSION = 10


@dataclass(frozen=True)
class OfficialStep:
    """CPU seconds of one unsupervised step with one thread, the median of a few.

    Examples
    --------
    >>> cost = OfficialStep(Dot(), batch=64, anchors=32, repeats=1).run(Path())
    >>> 0 < cost["seconds_a_step"] < 60
    True
    """

    similarity: Similarity
    batch: int = 6144
    anchors: int = 512
    repeats: int = 3

    def run(self, folder: Path) -> dict[str, Any]:
        g = torch.Generator().manual_seed(0)
        encoder = MLP.paper(DIMENSION).build(DIMENSION, DIMENSION, g)
        optimiser = torch.optim.Adam(encoder.parameters(), lr=1e-4)
        x = torch.randn(2 * self.batch, DIMENSION, generator=g)  # anchors, which are the negatives too, and positives
        loss, rest = [], []
        for _ in range(self.repeats + 1):  # the first warms up
            began = time.process_time()
            h = encoder(x)
            spent = time.process_time() - began
            leaf = h.detach().requires_grad_()
            began = time.process_time()
            self._loss(leaf).backward()
            loss.append(time.process_time() - began)
            began = time.process_time()
            optimiser.zero_grad()
            h.backward(leaf.grad)
            optimiser.step()
            rest.append(spent + time.process_time() - began)
        seconds = median(rest[1:]) + self.batch / self.anchors * median(loss[1:])
        return {"seconds_a_step": seconds}

    def _loss(self, h: Tensor) -> Tensor:
        """InfoNCE of the first anchors, with nothing saved: similarities by broadcasting, then log-sum-exp."""
        if isinstance(self.similarity, Dot):
            h = nn.functional.normalize(h)
        n, p = h.split(self.batch)
        a, p = n[: self.anchors], p[: self.anchors]
        positive, negative = self.similarity.rows(a, p), self.similarity.matrix(a, n)
        return (torch.logsumexp(torch.cat([positive[:, None], negative], 1), 1) - positive).sum()

    def __str__(self) -> str:
        return f"official step: {self.similarity}"

    def progress(self, folder: Path) -> None:
        return None
