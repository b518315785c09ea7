"""Notebooks from the scripts: `python examples/notebooks.py` writes a .ipynb beside each. Outputs are not stored."""

import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

FOLDER = Path(__file__).parent
SCRIPTS = sorted(path for path in FOLDER.glob("*.py") if path.name != Path(__file__).name)
CELL = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)


def notebook(script: str) -> str:
    """The notebook of a script with percent cells, as text; the same script gives the same text."""
    before, *parts = CELL.split(script)
    assert not before.strip(), "a script begins with a cell"
    cells = []
    for number, (markdown, text) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        if markdown:
            source = re.sub(r"^# ?", "", text.strip(), flags=re.MULTILINE)
            cells.append(new_markdown_cell(source, id=f"cell-{number}"))
        else:
            cells.append(new_code_cell(text.strip(), id=f"cell-{number}"))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})
    nbformat.validate(made)
    return nbformat.writes(made) + "\n"


if __name__ == "__main__":
    for path in SCRIPTS:
        path.with_suffix(".ipynb").write_text(notebook(path.read_text()))
