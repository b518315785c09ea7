"""TensorBoard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from unmix.errors import InputError


@dataclass(frozen=True)
class TensorBoard:
    """Writes scalars that `tensorboard --logdir FOLDER` shows; needs `pip install 'unmix[tensorboard]'`.

    Parameters
    ----------
    folder : where to write; one for each run.

    Examples
    --------
    >>> print(TensorBoard("runs/board").folder)
    runs/board
    """

    folder: str | Path

    @cached_property
    def _writer(self) -> Any:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise InputError("TensorBoard is not installed: pip install 'unmix[tensorboard]'.") from None
        return SummaryWriter(str(self.folder))

    def __getstate__(self) -> dict[str, Any]:
        """A copy, such as scikit-learn's, writes by itself."""
        return {"folder": self.folder}

    def __call__(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()  # what was told is kept, whatever happens next
