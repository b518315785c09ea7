"""The canonical form of a discriminative model."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.errors import require
from unmix.measures.rows import as_matrix
from unmix.tables import in_one_order, index_of

RANK_CUT = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class CanonicalModel:
    """p(y|x) ∝ exp(f(x)ᵀg(y) + b(y)) on n inputs and K labels, f and g into R^M.

    A classifier: f is the layer before the logits, g the columns of the last linear layer, b its bias. A language
    model: f the features before the unembedding, g its rows.

    Parameters
    ----------
    f : (n, M) of the inputs.
    g : (K, M) of the labels.
    bias : (K,), if the model has one.

    Attributes
    ----------
    input_names, label_names : the index of f and of g where they are pandas tables; `compare_models` joins by them.

    References
    ----------
    Roeder, Metz & Kingma 2021.

    Examples
    --------
    >>> model = CanonicalModel(f=np.eye(3), g=2 * np.eye(3))
    >>> model.inputs, model.labels, model.width, model.rank
    (3, 3, 3, 2)
    """

    f: Any
    g: Any
    bias: Any = None
    name: str = "the model"
    input_names: Any = field(default=None, init=False)
    label_names: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "input_names", index_of(self.f))
        object.__setattr__(self, "label_names", index_of(self.g))
        object.__setattr__(
            self, "bias", in_one_order([self.g, self.bias], [f"{w} of {self.name}" for w in ("g", "bias")])[0][1]
        )
        f, g = as_matrix(self.f, f"f of {self.name}"), as_matrix(self.g, f"g of {self.name}")
        require(
            f.shape[1] == g.shape[1],
            f"f of {self.name} has {f.shape[1]} columns and g {g.shape[1]}: give g as (labels, columns of f).",
        )
        require(len(g) >= 2, f"g of {self.name} has one label: a softmax needs two or more.")
        object.__setattr__(self, "f", f)
        object.__setattr__(self, "g", g)
        if self.bias is not None:
            bias = as_matrix(self.bias, f"bias of {self.name}")[:, 0]
            require(len(bias) == len(g), f"bias of {self.name} must be one number a label: {len(g)}, not {len(bias)}.")
            object.__setattr__(self, "bias", bias)

    @property
    def inputs(self) -> int:
        return len(self.f)

    @property
    def labels(self) -> int:
        return len(self.g)

    @property
    def width(self) -> int:
        """M."""
        return int(self.g.shape[1])

    @cached_property
    def centred_g(self) -> Float64[ndarray, "labels width"]:
        """g minus its mean over labels, which the softmax does not see."""
        return self.g - self.g.mean(0)

    @property
    def centred_bias(self) -> Float64[ndarray, " labels"]:
        return np.zeros(self.labels) if self.bias is None else self.bias - self.bias.mean()

    @cached_property
    def spectrum(self) -> Float64[ndarray, " s"]:
        """The singular values of centred g."""
        return np.linalg.svd(self.centred_g, compute_uv=False)

    @property
    def rank(self) -> int:
        """The dimension of the span of the differences g(y) − g(y′): as much of f as the distribution can see."""
        return int((self.spectrum > RANK_CUT * max(self.spectrum[0], np.finfo(float).tiny)).sum())

    def seen(self) -> CanonicalModel:
        """The model in coordinates of the part of f that its distribution sees; itself if that is all."""
        if self.rank in (self.width, 0):
            return self
        basis = np.linalg.svd(self.centred_g, full_matrices=False)[2][: self.rank].T
        return CanonicalModel(self.f @ basis, self.centred_g @ basis, self.bias, self.name)

    def reordered(self, inputs: Int64[ndarray, " n"] | None, labels: Int64[ndarray, " k"] | None) -> CanonicalModel:
        """The model with its inputs and labels in another order; None leaves them as they are."""
        rows, columns = (slice(None) if order is None else order for order in (inputs, labels))
        bias = None if self.bias is None else self.bias[columns]
        return CanonicalModel(self.f[rows], self.g[columns], bias, self.name)

    def logits(self, rows: slice | Int64[ndarray, " m"]) -> Float64[ndarray, "m labels"]:
        """The logits of some inputs, centred over labels."""
        return self.f[rows] @ self.centred_g.T + self.centred_bias

    def __repr__(self) -> str:
        return f"CanonicalModel({self.name}: {self.inputs} inputs, {self.labels} labels, M = {self.width})"
