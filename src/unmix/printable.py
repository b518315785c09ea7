"""Names of other people's making, for a terminal and for paper: only the characters that one sees."""

from __future__ import annotations

from unicodedata import category

from rich import markup

# Control characters can move a terminal's cursor and set its title; format characters turn the direction of the text
# around them, so that it reads as another. Of the latter, the two that join and part letters are part of words.
UNSEEN, KEPT = {"Cc", "Cf", "Cs", "Zl", "Zp"}, "\n\t\u200c\u200d"


def printable(text: str) -> str:
    """The text without characters that nobody sees.

    Examples
    --------
    >>> printable("a\\x1b[31mb\\u202ec")
    'a[31mbc'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter for letter in text if letter in KEPT or category(letter) not in UNSEEN)


def escape(text: str) -> str:
    """The printable text with its brackets as they are, for what rich prints."""
    return markup.escape(printable(text))
