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
    """p in three digits; of the smallest that so many permutations can give, and of what would be 0.000, a bound.

    Examples
    --------
    >>> shown_p(0.03, 199), shown_p(1 / 200, 199), shown_p(2 / 5000, 4999)
    ('0.030', '< 1/200', '< 0.001')
    """
    if p * (permutations + 1) < 1.5:
        return f"< 1/{permutations + 1}"
    return number(p) if p >= 0.0005 else "< 0.001"


def equals(p: str) -> str:
    """What `shown_p` gave, behind a "p"."""
    return p if p.startswith("<") else f"= {p}"
