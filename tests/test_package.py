"""What is published is whole: an sdist whose tests run, a README for an index, docs for whoever installed it."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
UNTRACKED = shutil.ignore_patterns(".*", "runs", "build", "dist", "site", "*.egg-info", "__pycache__")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist and the wheel, by the project's own build backend."""
    tools = pytest.importorskip("setuptools")
    if int(tools.__version__.split(".")[0]) < 77:
        pytest.skip("setuptools is older than what builds unmix")
    copy = tmp_path_factory.mktemp("package") / "unmix"
    shutil.copytree(ROOT, copy, ignore=UNTRACKED)
    code = "from setuptools import build_meta as b; b.build_sdist('dist'); b.build_wheel('dist')"
    done = subprocess.run([sys.executable, "-c", code], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return copy / "dist"


def test_the_sdist_has_every_file_that_tests_and_docs_need(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        packed = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    folders = "benchmarks", "calibration", "docs", "examples", "fuzz", "results", "src", "tests"
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*") if path.is_file()]
    parts = [path.relative_to(ROOT) for path in files]
    needed = {
        str(p) for p in parts if "__pycache__" not in p.parts and not any(".egg-info" in part for part in p.parts)
    }
    needed |= {"Makefile", "README.md", "CHANGELOG.md", "constraints.txt", "mkdocs.yml", "pyproject.toml", "setup.py"}
    assert "tests/conftest.py" in needed
    assert needed - packed == set()


def test_an_index_shows_no_link_that_leads_nowhere(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("dist-info/METADATA")]
        about = message_from_string(archive.read(name).decode())
    text = about.get_payload()
    assert "Published next to obtained" in text
    assert [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith("https://")] == []
    assert about["Author"] == "The unmix developers"
    assert len(about.get_all("Project-URL")) == 3


def test_an_installed_user_has_the_docs(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert {path.name for path in (tmp_path / "unmix" / "docs").glob("*.md")} == pages
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from unmix.cli.docs import pages; print(pages()['faq'])"
    shown = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == str(tmp_path / "unmix" / "docs" / "faq.md")


def test_the_changelog_names_the_tag_of_this_version():
    version = PROJECT["project"]["version"]
    assert re.search(rf"^## {re.escape(version)} .*`v{re.escape(version)}`", (ROOT / "CHANGELOG.md").read_text(), re.M)
