"""The names of the measures on the command line."""

from __future__ import annotations

from collections.abc import Callable

from unmix.comparison.compare import DEFAULT
from unmix.errors import InputError, require
from unmix.measures import (
    CCA,
    CKA,
    ICA,
    MCC,
    PWCCA,
    R2,
    RSA,
    SVCCA,
    DistanceCorrelation,
    KernelCKA,
    Measure,
    Neighbours,
    Procrustes,
)

PLAIN: dict[str, Measure] = {
    "r2": R2(),
    "r2-back": R2(reverse=True),
    "linear": R2(offset=False),
    "linear-back": R2(reverse=True, offset=False),
    "cca": CCA(),
    "cca2": CCA(squared=True),
    "pwcca": PWCCA(),
    "pwcca-back": PWCCA(reverse=True),
    "procrustes": Procrustes(),
    "rotation": Procrustes(scaled=False),
    "cka": CKA(),
    "cka-biased": CKA(debiased=False),
    "mcc": MCC(),
    "ica": ICA(),
    "rsa": RSA(),
    "dcor": DistanceCorrelation(),
}
WITH_NUMBER: dict[str, Callable[[float], Measure]] = {
    "ridge": lambda alpha: R2(ridge=alpha),
    "ridge-back": lambda alpha: R2(reverse=True, ridge=alpha),
    "svcca": lambda size: SVCCA(components=_whole(size)) if size >= 1 else SVCCA(variance=size),
    "neighbours": lambda k: Neighbours(_whole(k)),
    "rbf-cka": KernelCKA,
}
CHOICES = ", ".join([*PLAIN, "ridge:ALPHA", "ridge-back:ALPHA", "svcca:K or svcca:SHARE", "neighbours:K",
                     "rbf-cka:WIDTH"])  # fmt: skip


def measures_named(text: str | None) -> tuple[Measure, ...]:
    """The measures of a comma-separated list; `default` and `all` stand for several.

    Examples
    --------
    >>> [m.name for m in measures_named("cca,svcca:16")]
    ['CCA ρ', 'SVCCA 16']
    """
    found: list[Measure] = []
    for name in (text or "default").split(","):
        found += [m for m in _named(name.strip().lower()) if m not in found]
    return tuple(found)


def _whole(number: float) -> int:
    require(number == int(number), f"{number:g} must be a whole number.")
    return int(number)


def _named(name: str) -> tuple[Measure, ...]:
    if name == "default":
        return DEFAULT
    if name == "all":
        return (*PLAIN.values(), R2(ridge=1.0), SVCCA(variance=0.99), Neighbours(), KernelCKA())
    if name in PLAIN:
        return (PLAIN[name],)
    kind, _, number = name.partition(":")
    require(kind in WITH_NUMBER, f"there is no measure {name!r}: take some of default, all, {CHOICES}.")
    try:
        return (WITH_NUMBER[kind](float(number)),)
    except (ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name!r} needs a number after the colon, such as {kind}:10.") from None
