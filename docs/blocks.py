"""Parts of a page that a script writes: what stands between <!-- name --> and <!-- /name -->."""

import re


def with_block(text: str, name: str, block: str) -> str:
    """The text with what stands between two marks replaced."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    made, count = pattern.subn(lambda m: m[1] + block + m[2], text)
    assert count == 1, f"there must be one block {name}, not {count}"
    return made
