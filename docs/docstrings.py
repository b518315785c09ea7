"""For the API page: `name : what it is` in a docstring is a name and its description, not a name and its type.

Types stand in the signature; the docstrings of unmix say in one line what a parameter is.
"""

import re
from typing import Any

from griffe import Extension, Object

SECTION = re.compile(r"^(Parameters|Attributes|Raises)\n-+\n((?:.+\n?)*)", re.MULTILINE)
ENTRY = re.compile(r"^(\S[^:\n]*?) : (.*)$", re.MULTILINE)


def described(docstring: str) -> str:
    """The docstring with every description on a line of its own, as numpydoc has it.

    Lines that continue a description are indented already.
    """
    return SECTION.sub(lambda m: f"{m[1]}\n{'-' * len(m[1])}\n" + ENTRY.sub(r"\1\n    \2", m[2]), docstring)


class Described(Extension):
    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = described(obj.docstring.value)
