"""The classes of the ladder, each with its least-squares fit."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.indeterminacy.indeterminacy import Indeterminacy
from unmix.indeterminacy.matching import matched, signed_mean
from unmix.moments import Moments
from unmix.moments.whitening import whitening


class Linear(Indeterminacy):
    """Any matrix; with offset, any affine map. Directions of x without variance are left out."""

    name: ClassVar[str] = "linear"

    def _matrix(self, m: Moments) -> Float64[ndarray, "d k"]:
        return m.solution.T

    def __str__(self) -> str:
        return "affine" if self.offset else "linear"


class ScaledOrthogonal(Indeterminacy):
    """A rotation or reflection times one positive constant."""

    name: ClassVar[str] = "scaled orthogonal"
    contained_in: ClassVar = (Linear,)
    needs_equal_widths: ClassVar[bool] = True

    def _matrix(self, m: Moments) -> Float64[ndarray, "d d"]:
        rotation, strength = procrustes(m)
        return rotation * strength / np.trace(m.xx)


class Orthogonal(Indeterminacy):
    """A rotation or reflection (the Procrustes problem)."""

    name: ClassVar[str] = "orthogonal"
    contained_in: ClassVar = (ScaledOrthogonal,)
    needs_equal_widths: ClassVar[bool] = True

    def _matrix(self, m: Moments) -> Float64[ndarray, "d d"]:
        return procrustes(m)[0]


class GeneralisedPermutation(Indeterminacy):
    """Each target is one output times a constant, no output used twice; copies of an output count as that output."""

    name: ClassVar[str] = "generalised permutation"
    contained_in: ClassVar = (Linear,)

    def _matrix(self, m: Moments) -> Float64[ndarray, "d k"]:
        # The best constant for a pair explains (xᵀy)²/‖x‖² of the target's sum of squares.
        squares = np.diag(m.xx)
        safe = np.where(squares > 0, squares, 1)  # a constant output explains nothing: its xᵀy is 0
        a = np.zeros(m.xy.T.shape)
        for target, outputs in matched(m, m.xy**2 / safe[:, None]):
            root = whitening(m.xx[np.ix_(outputs, outputs)])
            a[target, outputs] = root @ (root.T @ m.xy[outputs, target])
        return a


class ScaledPermutation(Indeterminacy):
    """Each target is one output or its negative, no output used twice, all times one positive constant.

    It is not among the rungs of `LADDER`: a theorem can promise it, and a verdict names it where a generalised
    permutation and a scaled rotation would both do.
    """

    name: ClassVar[str] = "permutation with one common scale"
    contained_in: ClassVar = (GeneralisedPermutation, ScaledOrthogonal)

    def _matrix(self, m: Moments) -> Float64[ndarray, "d k"]:
        a, scale = np.zeros(m.xy.T.shape), float(np.sqrt(np.trace(m.yy) / max(np.trace(m.xx), TINY)))
        for _ in range(ROUNDS):  # the best outputs for a scale, and the best scale for them
            a = signed_permutation(m, scale)
            explained, squares = np.sum(a * m.xy.T), np.sum((a @ m.xx) * a)
            before, scale = scale, float(scale * explained / max(squares, TINY))
            if np.isclose(scale, before, rtol=1e-12):
                break
        return a


class SignedPermutation(Indeterminacy):
    """Each target is one output or its negative, no output used twice."""

    name: ClassVar[str] = "signed permutation"
    contained_in: ClassVar = (ScaledPermutation, Orthogonal)

    def _matrix(self, m: Moments) -> Float64[ndarray, "d k"]:
        return signed_permutation(m, 1.0)


class Identity(Indeterminacy):
    """The map that does nothing; with offset, a translation."""

    name: ClassVar[str] = "identity"
    contained_in: ClassVar = (SignedPermutation,)
    needs_equal_widths: ClassVar[bool] = True

    def _matrix(self, m: Moments) -> Float64[ndarray, "d d"]:
        return np.eye(len(m.mean_x))


ROUNDS, TINY = 10, 1e-300


def signed_permutation(m: Moments, scale: float) -> Float64[ndarray, "d k"]:
    """The signed permutation, times a scale, of least squares: ‖y − σsx‖² = ‖y‖² + s²‖x‖² − 2s|xᵀy|."""
    return signed_mean(m, matched(m, 2 * scale * np.abs(m.xy) - scale**2 * np.diag(m.xx)[:, None]), scale)


LADDER: tuple[Indeterminacy, ...] = tuple(
    kind(offset)
    for kind in (Identity, SignedPermutation, GeneralisedPermutation, Orthogonal, ScaledOrthogonal, Linear)
    for offset in (False, True)
)
"""Every class, smaller before larger."""


def procrustes(m: Moments) -> tuple[Float64[ndarray, "d k"], float]:
    """The orthogonal A that maximises tr(A Σ x yᵀ), and that maximum; of different widths, the narrower is padded."""
    u, s, vt = np.linalg.svd(m.xy, full_matrices=False)
    return (u @ vt).T, float(s.sum())
