"""One known variable as it came: numbers or words, with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64, Shaped
from numpy import ndarray

from unmix.errors import InputError, require
from unmix.tables.formats import MISSING
from unmix.tables.labels import is_gap
from unmix.tables.table import NUMBERS
from unmix.tables.tensor import array_of

GAPS = {*MISSING, "nan", "<na>"} - {"none"}  # "none" is a word that people mean


@dataclass(frozen=True, eq=False)
class Column:
    """A column of numbers, or of words.

    Attributes
    ----------
    numbers : (n,) NaN where missing, or where a word is no number.
    codes : (n,) of words, which of the levels each row has, −1 where missing; None of numbers.
    levels : the different words.

    Examples
    --------
    >>> column = Column.of("size", ["1", "2.5", "", "big"])
    >>> column.numbers.tolist(), column.present.tolist(), column.wrong.tolist()
    ([1.0, 2.5, nan, nan], [True, True, False, True], [3])
    """

    name: str
    numbers: Float64[ndarray, " n"]
    codes: Int64[ndarray, " n"] | None = None
    levels: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, raw: Any, words: bool = False) -> Column:
        """From a sequence, one value a row; what stands for a gap becomes one.

        Parameters
        ----------
        words : keep them as words, even where they look like numbers: ids and groups.
        """
        if isinstance(raw, torch.Tensor):
            raw = array_of(raw, f"column {name}")
        lists = f"column {name} must hold one value a row, not lists: give one column each."
        try:
            values = np.asarray(raw)
        except ValueError:
            raise InputError(lists) from None
        except (TypeError, RuntimeError) as error:  # such as a list of tensors that numpy has no numbers for
            raise InputError(f"column {name} cannot be read ({error}): give an array, or one tensor.") from error
        require(values.ndim == 1, lists)
        if isinstance(raw, np.ma.MaskedArray):
            values = values.astype(object)
            values[np.ma.getmaskarray(raw)] = None
        if values.dtype.kind in NUMBERS and values.dtype.kind != "b" and not words:
            return cls(name, _finite(np.asarray(values, np.float64), name))
        plain = values.dtype.kind in NUMBERS or values.dtype.kind in "USO"
        require(plain, f"column {name} is {values.dtype}: give numbers or words, or leave it out.")
        plain_values = values.tolist()
        # 1 is not True: what is not a word is looked up with its type.
        unlike = plain_values if set(map(type, plain_values)) == {str} else [(type(v), v) for v in plain_values]
        try:
            place = {v: i for i, v in enumerate(dict.fromkeys(unlike))}
        except TypeError:
            raise InputError(lists) from None
        codes = np.fromiter(map(place.__getitem__, unlike), np.int64, len(unlike))
        return cls.of_levels(name, [v if isinstance(v, str) else v[1] for v in place], codes, words)

    @classmethod
    def of_levels(cls, name: str, values: Sequence[Any], codes: Int64[ndarray, " n"], words: bool = False) -> Column:
        """From the different values, and which of them each row has; −1 is missing."""
        plain = [_plain(v) for v in [*values, None]]
        kinds = {type(v) for v in plain if v is not None}
        odd = ", ".join(sorted(k.__name__ for k in kinds - {bool, int, float, str}))
        require(not odd, f"column {name} holds values of type {odd}: give numbers or words.")
        if kinds and kinds <= {int, float} and not words:
            return cls(name, _finite(np.array([_float(v) for v in plain])[codes], name))
        written = _written(plain)
        levels = list(dict.fromkeys(w for w in written if w is not None))
        number = {level: i for i, level in enumerate(levels)}
        codes = np.array([-1 if w is None else number[w] for w in written], np.int64)[codes]
        numbers = np.array([*map(_number, levels), np.nan])[codes]
        column = cls(name, numbers, codes, tuple(levels))
        if kinds == {str} and not words and not len(column.wrong) and column.present.any():
            return cls(name, _finite(numbers, name))
        return column

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def present(self) -> Bool[ndarray, " n"]:
        """Where there is a value."""
        return ~np.isnan(self.numbers) if self.codes is None else self.codes >= 0

    @property
    def wrong(self) -> Int64[ndarray, " w"]:
        """The rows whose value is there but is no number."""
        return np.flatnonzero(self.present & np.isnan(self.numbers))

    @property
    def worded(self) -> Column:
        """The same with its values as words."""
        if self.codes is not None:
            return self
        values, place = np.unique(self.numbers, return_inverse=True)
        known = values[~np.isnan(values)]
        levels = tuple(word or "" for word in _written(known.tolist()))
        return replace(self, codes=np.where(place < len(known), place, -1), levels=levels)

    @property
    def words(self) -> Shaped[ndarray, " n"]:
        """Every value as it is written, None where missing."""
        worded = self.worded
        assert worded.codes is not None
        return np.array([*worded.levels, None], object)[worded.codes]

    def rows(self, order: Int64[ndarray, " m"]) -> Column:
        """Some rows, in an order."""
        return replace(self, numbers=self.numbers[order], codes=None if self.codes is None else self.codes[order])


def _written(values: Sequence[Any]) -> list[str | None]:
    """Values as text, unlike for unlike numbers: whole ones without a point, others with as many digits as they need.

    Where all are numbers of single precision, these are the digits that such numbers need: 0.1, not 0.10000000149.
    """
    floats = np.array([v for v in values if isinstance(v, float)])
    with np.errstate(over="ignore"):
        single = bool((floats == floats.astype(np.float32)).all())

    def one(value: Any) -> str | None:
        if value is None:
            return None
        if not isinstance(value, float):
            return str(value).strip()
        if value.is_integer():
            return str(int(value))
        return str(np.float32(value)) if single else repr(value)

    return [one(value) for value in values]


def _plain(value: Any) -> Any:
    """The value, or None where it stands for a gap."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if value is None or (isinstance(value, str) and value.strip().lower() in GAPS):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return None if is_gap(value) else value


def _float(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except OverflowError:
        return np.inf


def _number(word: str) -> float:
    try:
        return float("nan") if "_" in word else float(word)
    except ValueError:
        return float("nan")


def _finite(values: Float64[ndarray, " n"], name: str) -> Float64[ndarray, " n"]:
    bad = np.flatnonzero(np.isinf(values))
    require(
        not len(bad),
        f"column {name} is infinite in {len(bad)} rows, the first of them row {min(bad, default=0)}: correct them, or "
        "leave them empty.",
    )
    return values
