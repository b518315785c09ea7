"""The parts of a page, and the page as text."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Text:
    """Paragraphs; `tone` is "" or "warning"."""

    paragraphs: tuple[str, ...]
    tone: str = ""


@dataclass(frozen=True)
class Figure:
    """A PNG and the sentence that says what to see in it, which is also what is read aloud."""

    png: bytes
    caption: str

    @property
    def data(self) -> str:
        return b64encode(self.png).decode()


@dataclass(frozen=True)
class Drawing:
    """An SVG element that takes the page's colours, and the sentence that says what to see in it."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Spot:
    """A cell of a grid: a line, smaller lines below it, and a tone ("reached", "near", "below" or "")."""

    text: str
    below: tuple[str, ...] = ()
    tone: str = ""


@dataclass(frozen=True)
class Grid:
    """A table with a caption, and what its tones mean."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Spot, ...], ...]
    legend: tuple[Spot, ...] = ()


@dataclass(frozen=True)
class Code:
    """Lines to be copied as they are."""

    text: str


Part = Text | Figure | Drawing | Grid | Code


@dataclass(frozen=True)
class Page:
    """A title, a sentence below it, sections of parts under headings, and lines at the foot."""

    title: str
    lead: str
    sections: tuple[tuple[str, tuple[Part, ...]], ...]
    foot: tuple[str, ...] = field(default=())


def rendered(page: Page) -> str:
    """The page as HTML, with everything inside it; whatever it says is escaped.

    Examples
    --------
    >>> "&lt;b&gt;" in rendered(Page("<b>", "", ()))
    True
    """
    return str(_template().render(page=page))


@cache
def _template() -> Any:
    import jinja2  # slow to import

    folder = files("unmix.report")
    text, script = (folder.joinpath(name).read_text(encoding="utf-8") for name in ("page.html", "page.js"))
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.tests["kind"] = lambda part, name: type(part).__name__ == name
    # Only this script may run in the page, whatever names it shows.
    environment.globals |= {"script": script, "hash": b64encode(sha256(script.encode()).digest()).decode()}
    return environment.from_string(text)
