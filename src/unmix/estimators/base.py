"""What the estimators share: parameters, the door, training, transform and score."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy import ndarray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from unmix.callbacks import Callback
from unmix.encoders import MLP, Encoder
from unmix.encoders.outputs import Output
from unmix.errors import require
from unmix.estimators.door import check_parameters, plain
from unmix.estimators.entry import Entry, outputs_of
from unmix.estimators.rows import Rows
from unmix.estimators.train import Plan, mean_loss, train
from unmix.estimators.views import View
from unmix.model import Network
from unmix.objectives import Objective
from unmix.randomness import stream


class EncoderEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """An encoder trained on fixed rows, as scikit-learn has it: `fit`, `transform`, `score`.

    `score` is the negative objective on the rows it is given: on held-out rows, the larger the better. It compares
    settings of one objective on the same rows, not objectives with each other.

    Parameters
    ----------
    n_outputs : the width of the representation; a module of one's own has its own.
    view : makes another view of rows, `view(x, generator)`, tensor to tensor of the same shape.
    objective, output : as in `um.Model`; None is the class's own default.
    encoder : None is `um.encoders.MLP()`; a description like it; or any torch module, which is copied, and trained
        further from the weights it has. With a module, rows may be images or anything else it takes.
    whiten : whether rows are whitened before the encoder, by the rows of `fit`; never for a module of one's own.
    max_steps, batch_size, learning_rate : Adam, one cycle of the rate.
    validation_fraction, patience : the share of rows that is held out to stop by and to choose the weights by, and
        after how many of the (at most 50) looks at it without a new best to stop. 0 trains on all rows to the end;
        of labelled rows only those are held out whose label is trained too.
    random_state : fixes weights, order, views and the validation rows.
    device : where to train, such as "cpu" or "cuda".
    callbacks : called with step and losses (`um.callbacks`).
    verbose : whether to show progress on stderr.

    Attributes
    ----------
    network_ : the trained network, a torch module.
    history_ : losses by step.
    n_features_in_, feature_names_in_ : of the table seen in `fit`.
    """

    def __init__(
        self,
        n_outputs: int = 8,
        *,
        view: View | None = None,
        objective: Objective | None = None,
        output: Output | None = None,
        encoder: Encoder | nn.Module | None = None,
        whiten: bool = True,
        max_steps: int = 2000,
        batch_size: int = 512,
        learning_rate: float = 1e-2,
        validation_fraction: float = 0.1,
        patience: int = 10,
        random_state: int | np.random.RandomState | None = None,
        device: str = "cpu",
        callbacks: Sequence[Callback] = (),
        verbose: bool = False,
    ) -> None:
        self.n_outputs = n_outputs
        self.view = view
        self.objective = objective
        self.output = output
        self.encoder = encoder
        self.whiten = whiten
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.random_state = random_state
        self.device = device
        self.callbacks = callbacks
        self.verbose = verbose

    @abstractmethod
    def _defaults(self) -> tuple[Objective, Output]:
        """The objective and the output where none is given."""

    @abstractmethod
    def _rows(self, x: Tensor, y: Any, fitting: bool) -> Rows:
        """The rows with what the objective is told of them; `fitting` learns the labels, else they must be known."""

    def fit(self, X: Any, y: Any = None) -> EncoderEstimator:
        """Train on rows X and, as the class says, on second views or labels y."""
        check_parameters(self)
        before = dict(self.__dict__)
        try:
            x = self._door(X, fitting=True)
            self.shape_ = tuple(x.shape[1:])
            self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
            rows = self._rows(x, y, fitting=True)
            train_rows, held_out = self._split(rows)
            labels = 0 if rows.label is None else int(rows.label.max()) + 1
            network = self._network(x, labels).to(self.device)
            self._check_objective(min(self.batch_size, len(train_rows)) // self._unit() * self._unit(), labels)
            self.history_ = train(network, train_rows, held_out, self._plan())
            self.network_ = network.eval()
        except BaseException:  # a fit that failed leaves no estimator that looks fitted, nor spoils one that was
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def transform(self, X: Any) -> ndarray:
        """The representation of each row, (n, outputs), in batches; float32 for X of float32, else float64."""
        check_is_fitted(self, "network_")
        x = self._door(X, fitting=False)
        parts = (self.network_.embed(part.to(self.device)).cpu() for part in x.split(max(self.batch_size, 1024)))
        return torch.cat(list(parts)).numpy().astype(self._precision(X), copy=False)

    def score(self, X: Any, y: Any = None) -> float:
        """The negative objective on these rows, in batches of `batch_size`, with the same views every time."""
        check_is_fitted(self, "network_")
        rows = self._rows(self._door(X, fitting=False), y, fitting=False)
        return -mean_loss(self.network_, rows, self._plan())

    def save(self, folder: str | Path) -> None:
        """Keep it in a folder, as JSON and safetensors; `um.estimators.load` reads it back."""
        from unmix.estimators.store import save

        check_is_fitted(self, "network_")
        save(self, Path(folder))

    def _door(self, X: Any, fitting: bool) -> Tensor:
        asked = {"dtype": [np.float64, np.float32], "allow_nd": isinstance(self.encoder, nn.Module)}
        array = validate_data(self, plain(X), reset=fitting, ensure_min_samples=2 if fitting else 1, **asked)
        known = fitting or array.shape[1:] == self.shape_
        require(known, f"rows had the shape {getattr(self, 'shape_', ())} in fit and have {array.shape[1:]} now.")
        x = torch.tensor(np.ascontiguousarray(array))
        require(bool(x.float().isfinite().all()), "X has values too large for single precision: rescale them.")
        return x

    def _precision(self, X: Any) -> type:
        return np.float32 if str(getattr(X, "dtype", "")).endswith("float32") else np.float64

    def _split(self, rows: Rows) -> tuple[Rows, Rows | None]:
        """Rows to train on and rows to stop by, of labels that are trained; fewer than two are not held out."""
        held = round(self.validation_fraction * len(rows))
        least = max(2, self._unit())
        require(len(rows) - held >= least, f"validation_fraction leaves {len(rows) - held} rows to train on: lower it.")
        order = torch.randperm(len(rows), generator=stream(self.seed_, "validation"))
        taken = torch.zeros(len(rows), dtype=torch.bool)
        taken[order[:held]] = True
        if rows.label is not None:
            taken &= torch.isin(rows.label, rows.label[~taken])
        if int(taken.sum()) < least:
            return rows, None
        return rows.some((~taken).nonzero()[:, 0]), rows.some(taken.nonzero()[:, 0])

    def _plan(self) -> Plan:
        how = self.max_steps, self.batch_size, self._unit(), self.learning_rate, self.patience
        return Plan(*how, self.seed_, str(self.device), self.verbose, self.callbacks)

    def _unit(self) -> int:
        """Rows of a group of negatives, of which a batch is a multiple."""
        return getattr(self.objective, "group_size", None) or 1

    def _check_objective(self, batch: int, labels: int) -> None:
        (self.objective or self._defaults()[0]).check(_counts(labels), batch, self._n_features_out)

    def _network(self, x: Tensor, labels: int) -> Network:
        """The network before training, for rows like x and so many labels."""
        default_objective, default_output = self._defaults()
        objective = default_objective if self.objective is None else self.objective
        output = default_output if self.output is None else self.output
        generator, body = stream(self.seed_, "init"), self.encoder
        if isinstance(body, nn.Module):
            body, outputs = copy.deepcopy(body), outputs_of(body, x[:2].float(), self.device)
        else:
            outputs = int(self.n_outputs)
            body = (MLP() if body is None else body).build(x.shape[1], outputs, generator)
        loss = objective.build(_counts(labels), outputs, generator)
        table = self.whiten and not isinstance(self.encoder, nn.Module)
        require(
            not table or len(x) > x.shape[1],
            f"{len(x)} rows of {x.shape[1]} columns cannot be whitened: give more rows, fewer columns (leading "
            "principal components) or whiten=False.",
        )
        self._n_features_out = outputs
        network = Network(Entry(x if table else None), body, output.build(), loss, objective.told)
        learned = any(p.requires_grad for p in network.parameters())
        require(learned, "the encoder has nothing to learn: give one with parameters that require gradients.")
        return network


def _counts(labels: int) -> Any:
    """All that an objective asks of a process."""
    return SimpleNamespace(classes=labels, labels=labels)
