"""What pyproject.toml cannot say: README as an index shows it, and the pages of the docs inside the package."""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PICTURE = re.compile(r"^!\[[^]]*\]\([^)]*\)\n+(\*[^*]+\*\n+)?", re.MULTILINE)  # and its caption
RELATIVE = re.compile(r"\[([^]]+)\]\((?!https?:)[^)]*\)")


def for_an_index(text: str) -> str:
    """README without what leads nowhere outside of the repository: links become their words, pictures go."""
    return RELATIVE.sub(r"\1", PICTURE.sub("", text))


class BuildWithPages(build_py):
    """Puts docs/*.md beside the modules, where `unmix docs` finds them."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            folder = Path(self.build_lib) / "unmix" / "docs"
            folder.mkdir(parents=True, exist_ok=True)
            for page in ROOT.glob("docs/*.md"):
                shutil.copy(page, folder)


setup(
    long_description=for_an_index((ROOT / "README.md").read_text(encoding="utf-8")),
    long_description_content_type="text/markdown",
    cmdclass={"build_py": BuildWithPages},
)
