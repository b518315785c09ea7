"""Rows in time: how alike neighbours are, how long a series remembers, and whether it drifts."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from jaxtyping import Float64, Num
from numpy import ndarray

from unmix.errors import require

ALIKE, RARE, NEIGHBOURS, FEWEST, CELLS = 0.15, 0.00135, 20_000, 3, 2**23
LEADING, SHARE, SOME_ROWS = 3, 0.9, 1000
LONG, STEEP, SHORT = 10, 2.8, 100
STEP = 2**14


@dataclass(frozen=True)
class SerialCorrelation:
    """How much the rows of a table tell of the next ones.

    Attributes
    ----------
    likeness : the largest correlation of a row with the next one, among the columns and their leading components. One
        column that is a series is enough for a p-value that is too small.
    alike : whether rows seem sorted, or recorded in time or from the same subjects: independent rows reach the bound,
        0.15 or as many standard errors as such a maximum needs, one time of 700.
    """

    likeness: float
    alike: bool

    @classmethod
    def of(cls, values: Num[ndarray, "n k"]) -> SerialCorrelation:
        """Of the first 20,000 rows or fewer.

        Examples
        --------
        >>> noise = np.random.default_rng(0).normal(size=(400, 9))
        >>> walk = np.cumsum(np.random.default_rng(1).normal(size=(400, 1)), axis=0)
        >>> SerialCorrelation.of(noise).alike, SerialCorrelation.of(np.hstack([noise, walk])).alike
        (False, True)
        """
        some = np.asarray(values[: min(NEIGHBOURS, max(SOME_ROWS, CELLS // values.shape[1]))], np.float64)
        some = some[np.isfinite(some).all(1)]
        if len(some) < FEWEST:
            return cls(0.0, False)
        some = some - some.mean(0)
        if some.shape[1] > 1:
            some = np.hstack([some, leading(some)])
        spread = (some**2).sum(0)
        moving = spread > 0
        found = (some[1:] * some[:-1]).sum(0)[moving] / spread[moving]
        errors = NormalDist().inv_cdf(1 - RARE / max(1, len(found)))
        likeness = float(max(found, default=0.0))
        return cls(likeness, bool(likeness > max(ALIKE, errors / np.sqrt(len(some)))))


def leading(table: Num[ndarray, "n k"]) -> Float64[ndarray, "n p"]:
    """The principal components of the z-scored columns that hold 90 % of the variance, at most three of them.

    Directions are found on at most 1,000 rows; the table is then read some rows at a time.
    """
    some = np.asarray(table[:: -(-len(table) // SOME_ROWS)], np.float64)
    middle, scale = some.mean(0), some.std(0)
    scale = np.where(scale > 0, scale, 1)
    _, size, directions = np.linalg.svd((some - middle) / scale, full_matrices=False)
    share = np.cumsum(size**2) / max((size**2).sum(), 1e-300)
    kept = directions[: min(LEADING, int(np.searchsorted(share, SHARE)) + 1)]
    blocks = (np.asarray(table[a : a + STEP], np.float64) for a in range(0, len(table), STEP))
    return np.concatenate([((block - middle) / scale) @ kept.T for block in blocks])


def memory(series: Float64[ndarray, "n p"]) -> int:
    """The largest over columns of the first lag at which the |autocorrelation| is below 2/√n; n if there is none.

    Each column has a lag of its own: one lag at which all are below by chance comes late (three columns of AR(.9) and
    1,000 rows remember more than 100 rows one time of six by it, and almost never by their own lags).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> memory(rng.normal(size=(1000, 1))), memory(np.cumsum(rng.normal(size=(1000, 1)), axis=0)) > 100
    (1, True)
    """
    n = len(series)
    spectrum = np.fft.rfft(series - series.mean(0), 2 * n, axis=0)
    products = np.fft.irfft(np.abs(spectrum) ** 2, axis=0)[:n]
    lags = [1]
    for column in products.T:
        low = np.abs(column[1:]) < 2 / np.sqrt(n) * column[0]
        lags.append(1 + int(low.argmax()) if low.any() else n if column[0] > 0 else 1)
    return max(lags)


def drifts(series: Float64[ndarray, "n p"]) -> bool:
    """Whether a series is plainly not stationary: shifted in time, it would not be what it might have been.

    It drifts if its memory is above n/10, or if a column, or how far it is from its mean, has a linear trend: |t| above
    2.8 with AR(1) errors. Trends of half a standard deviation are seen two times of three only.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(500, 1))
    >>> drifts(noise), drifts(noise + np.linspace(0, 3, 500)[:, None])
    (False, True)
    """
    far = np.abs(series - series.mean(0))
    return memory(series) > len(series) / LONG or any(
        abs(trend(column)) > STEEP for part in (series, far) for column in part.T
    )


def trend(values: Float64[ndarray, " n"]) -> float:
    """The t-value of a linear trend whose errors are an AR(1) process (Prais & Winsten 1954).

    The estimate of φ is about (2 + 4φ)/n too low next to a fitted trend; that is put back first.
    """
    n = len(values)
    design = np.column_stack([np.ones(n), np.linspace(-1, 1, n)])
    left = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    size = left @ left
    if size <= 1e-20 * (values @ values):
        return np.inf if np.ptp(values) > 0 else 0.0
    phi = float(np.clip((left[1:] @ left[:-1] / size + 2 / n) / (1 - 4 / n), -1 + 1 / n, 1 - 1 / n))
    first = np.sqrt(1 - phi**2)
    x, y = (np.concatenate([first * t[:1], t[1:] - phi * t[:-1]]) for t in (design, values))
    slope = np.linalg.lstsq(x, y, rcond=None)[0]
    error = y - x @ slope
    variance = error @ error / (n - 2) * np.linalg.inv(x.T @ x)[1, 1]
    return float(slope[1] / np.sqrt(variance)) if variance > 0 else np.inf


def gap_of(x: Num[ndarray, "n k"], y: Num[ndarray, "n d"], folds: int) -> int:
    """How many rows between folds belong to none: as many as the tables that do not drift remember, at most n/10.

    A longer memory is a drift: no p is then given if both have it, and a short series is refused.
    """
    n = len(x)
    both = [leading(table) for table in (x, y)]
    memories = [memory(series) for series in both]
    longest = n // LONG
    steady = [m for m, series in zip(memories, both, strict=True) if not drifts(series)]
    gap = min(max(steady or memories), longest)
    require(
        (min(memories) <= longest or n >= SHORT) and n - (folds - 1) * gap >= 4 * folds,
        f"a series of {n} rows is too short for its memory of {min(memories)} rows: give a longer one, take "
        "differences, take fewer folds, or give sessions as groups.",
    )
    return gap
