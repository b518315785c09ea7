"""What is told of a training run while it runs: one small protocol, and two logs that speak it."""

from unmix.callbacks.callback import Callback
from unmix.callbacks.mlflow import MLflow
from unmix.callbacks.tensorboard import TensorBoard

__all__ = ["Callback", "MLflow", "TensorBoard"]
