"""MLflow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unmix.errors import InputError


@dataclass(frozen=True)
class MLflow:
    """Logs metrics to the active MLflow run, or to one that MLflow starts; needs `pip install 'unmix[mlflow]'`.

    Where runs are kept is MLflow's own setting (`mlflow.set_tracking_uri`).

    Examples
    --------
    >>> MLflow("training/").prefix
    'training/'
    """

    prefix: str = ""

    def __call__(self, step: int, values: Mapping[str, float]) -> None:
        try:
            import mlflow
        except ImportError:
            raise InputError("MLflow is not installed: pip install 'unmix[mlflow]'.") from None
        mlflow.log_metrics({self.prefix + name: value for name, value in values.items()}, step=step)
