"""Directions of the truth, and the worst of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.moments.whitening import RANK_CUT

UNJUDGED = 0.01  # an eigenvalue of the truth's correlation matrix below which a direction hardly varies by itself
SMALL_WEIGHT, MOST_NAMES = 0.1, 3


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction a of the truth, as weights of its columns in units of their standard deviations, and R²(a)."""

    weights: Float64[ndarray, " d"]
    r2: float

    def named(self, columns: Sequence[str]) -> str:
        """The columns with the largest weights.

        Examples
        --------
        >>> Direction(np.array([-0.6, 0.0, 0.8]), 0.3).named(["speed", "hue", "size"])
        '0.80 size − 0.60 speed'
        """
        return in_words(self.weights, columns)


def in_words(weights: Float64[ndarray, " d"], columns: Sequence[str]) -> str:
    """Weighted columns as a sum, the largest weight first and positive; a single column by its name alone."""
    largest_first = np.argsort(-np.abs(weights), kind="stable").tolist()
    unit = weights / np.linalg.norm(weights) * (-1 if weights[largest_first[0]] < 0 else 1)
    order = [i for i in largest_first if abs(unit[i]) >= SMALL_WEIGHT]
    if len(order) == 1:
        return columns[order[0]]
    terms = [f"{'−' if unit[i] < 0 else '+'} {abs(unit[i]):.2f} {columns[i]}" for i in order[:MOST_NAMES]]
    return " ".join(terms)[2:] + (" …" if len(order) > MOST_NAMES else "")


@dataclass(frozen=True, eq=False)
class Directions:
    """All directions a of the truth in which it varies, and the spread aᵀSa of each fold's rows in them.

    Attributes
    ----------
    spread : Σ (z − z̄)(z − z̄)ᵀ of each fold, about the train mean.
    whole, others : bases with aᵀSa = 1 in all folds, and in all but each in turn.
    deviation : of each column of the truth.
    unjudged : directions whose eigenvalue of the correlation matrix is below 0.01, as weights of standardised columns.
    """

    spread: Float64[ndarray, "folds d d"]
    whole: Float64[ndarray, "d r"]
    others: tuple[Float64[ndarray, "d s"], ...]
    deviation: Float64[ndarray, " d"]
    unjudged: tuple[Float64[ndarray, " d"], ...]

    @classmethod
    def of(cls, spread: Float64[ndarray, "folds d d"], gram: Float64[ndarray, "d d"]) -> Directions:
        """From the spread of each fold, and of all rows about their mean."""
        deviation = np.sqrt(np.diag(gram))
        values, vectors = np.linalg.eigh(gram / np.outer(deviation, deviation))
        judged, every = values >= UNJUDGED, spread.sum(0)
        basis = vectors[:, judged] / deviation[:, None]
        others = tuple(_whitened(basis, every - here) for here in spread)
        return cls(spread, _whitened(basis, every), others, deviation, tuple(vectors[:, ~judged].T))

    def largest(self, missed: Float64[ndarray, "folds d d"]) -> tuple[float, float]:
        """max_a aᵀMa/aᵀSa, with M the sum over folds: cross-fitted, and in sample.

        Cross-fitted, the direction is found in the other folds and scored in this one; numerators and denominators are
        summed over folds. In sample it is found and scored in all.
        """
        everywhere = missed.sum(0)
        lost = total = 0.0
        for here, spread, basis in zip(missed, self.spread, self.others, strict=True):
            a = _top(everywhere - here, basis)
            lost, total = lost + a @ here @ a, total + a @ spread @ a
        a = _top(everywhere, self.whole)
        return float(lost / total), float(a @ everywhere @ a)

    def weakest(self, missed: Float64[ndarray, "folds d d"]) -> Direction:
        """The direction with the smallest R²(a) = 1 − aᵀMa/aᵀSa, which is cross-fitted.

        In sample it would be too low: with 60 columns and 500 rows by 0.06.
        """
        weights = _top(missed.sum(0), self.whole) * self.deviation
        return Direction(weights / np.linalg.norm(weights), 1 - self.largest(missed)[0])


def _whitened(basis: Float64[ndarray, "d r"], spread: Float64[ndarray, "d d"]) -> Float64[ndarray, "d s"]:
    """Combinations of the basis with aᵀSa = 1, orthogonal in S; directions in which no row varies are left out."""
    values, vectors = np.linalg.eigh(basis.T @ spread @ basis)
    there = values > values[-1] * RANK_CUT
    return basis @ vectors[:, there] / np.sqrt(values[there])


def _top(missed: Float64[ndarray, "d d"], basis: Float64[ndarray, "d s"]) -> Float64[ndarray, " d"]:
    """The combination of the basis with the largest aᵀMa."""
    # Not scipy's eigh for the last one only: where all eigenvalues are equal, as of z and 2z, it may give none.
    return basis @ np.linalg.eigh(basis.T @ missed @ basis)[1][:, -1]
