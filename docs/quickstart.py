"""What the ten lines of docs/index.md print: `python docs/quickstart.py` runs them and puts it into the page."""

import contextlib
import io
import os
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import torch
from blocks import with_block

import unmix as um

PAGE = Path(__file__).parent / "index.md"


def main() -> None:
    page = PAGE.read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    printed, here = io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
        os.chdir(folder)
        exec(code, {})
        os.chdir(here)
    made = f"Printed on {datetime.now(UTC).date()} with unmix {um.__version__} and torch {torch.__version__}:"
    PAGE.write_text(with_block(page, "quickstart", f"{made}\n\n```text\n{printed.getvalue()}```\n"))


if __name__ == "__main__":
    main()
