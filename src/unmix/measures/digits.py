"""How scores and p-values are printed, the same everywhere."""


def number(value: float) -> str:
    """Three digits, as everywhere.

    Examples
    --------
    >>> number(0.98765), number(-0.0001)
    ('0.988', '0.000')
    """
    return f"{value:.3f}".replace("-0.000", "0.000")


def shown_p(p: float, permutations: int) -> str:
    """p in three digits; below the smallest that so many permutations can give, that bound.

    Examples
    --------
    >>> shown_p(0.03, 199), shown_p(1 / 200, 199)
    ('0.030', '< 1/200')
    """
    return f"< 1/{permutations + 1}" if p * (permutations + 1) < 1.5 else number(p)


def equals(p: str) -> str:
    """What `shown_p` gave, behind a "p"."""
    return p if p.startswith("<") else f"= {p}"
