"""The docs are true: every code block runs, generated parts are what their scripts write, and the site builds."""

import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

import unmix as um

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
SAYS = {  # what the code of a page must print, beyond running
    "auditing.md": ("Not shown by a linear map or by gradient boosting with 2,000 rows: noise",),
    "classifying.md": ("case C3", "clusters held out"),
    "comparing.md": ("The distributions are equal",),
    "extending.md": ("no theorem is about such a process", "explained variance x → y", "| 2 | κ = 20 | ✓ |"),
    "faq.md": ("'orthogonal'",),
    "index.md": ("Theorem 2", "Held-out R² up to"),
    "theory.md": ("Theorem 6", "Nothing is promised"),
}


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture
def short(monkeypatch):
    """Trainings of a few steps, and few resamples, unless a page asks for a number of its own."""
    recipe = um.Recipe(steps=5, batch=64, rate=1e-2, whitening_rows=500)
    for name in ("fast", "suited"):
        monkeypatch.setattr(um.recipes, name, lambda *args, **kwargs: recipe)
    for verb in (um.recovery, um.compare, um.audit):
        for count, few in (("bootstraps", 40), ("permutations", 99)):
            monkeypatch.setitem(inspect.unwrap(verb).__kwdefaults__, count, few)


@pytest.fixture
def script(monkeypatch):
    """A script of docs/, imported for one test."""
    monkeypatch.syspath_prepend(DOCS)
    before = set(sys.modules)

    def imported(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield imported
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(DOCS)):
            del sys.modules[name]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_the_code_of_a_page_runs(page, short, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__page__"}
    with torch.random.fork_rng():  # a page may use torch as its readers do
        for block in blocks(page):
            exec(compile(block, page, "exec"), names)
    shown = capsys.readouterr().out
    for said in SAYS.get(page, ()):
        assert said in shown


def test_what_must_be_said_is_of_pages_that_exist():
    assert set(SAYS) <= set(PAGES)


@pytest.mark.parametrize("name", ["api_page", "corollaries", "measures_table", "study", "theory_page"])
def test_a_page_is_what_its_script_writes(name, script):
    module = script(name)
    page = module.PAGE.read_text()
    assert module.written(page) == page


def test_published_and_obtained_are_what_reproduce_wrote(script):
    tables = script("tables")
    readme, page = (ROOT / "README.md").read_text(), tables.PAGE.read_text()
    assert tables.with_block(readme, "reproduced", tables.readme_block()) == readme
    assert tables.with_block(page, "reproduced", tables.page_block()) == page
    assert all(tables.picture(found).exists() for found in tables.kept())


def test_the_api_page_has_all_that_is_public(script):
    asked = {name for names in script("api_page").GROUPS.values() for name in names.split()}
    public = {name for name in um.__all__ if not isinstance(getattr(um, name), ModuleType)}
    assert public <= asked


def test_every_measure_is_in_the_table(script):
    measures = script("measures_table").MEASURES
    kinds = {value for value in vars(um.measures).values() if isinstance(value, type)}
    scored = {kind for kind in kinds if issubclass(kind, um.measures.Measure) and "assumes" in vars(kind)}
    assert scored - {um.measures.UpTo, um.measures.Measure} == {type(m) for m in measures}


def test_every_theorem_is_on_the_page(script):
    page = script("theory_page")
    asked = {t for found in page.THEOREMS.values() for t in found} | {um.theory.THEOREM_1}
    assert asked == set(page.EXAMPLES)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", (DOCS / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert link.startswith(("http://", "https://")) or (DOCS / link).exists(), f"{page} links to {link}"


def test_every_page_is_in_the_navigation():
    listed = re.findall(r": (\w+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert sorted(listed) == PAGES


def test_the_site_builds_without_a_warning_and_without_a_network(tmp_path):
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for page in PAGES:
        text = (tmp_path / "site" / page).with_suffix(".html").read_text()
        assert not re.findall(r"<(?:script|img|link)\b[^>]*?(?:src|href)=\"?https?://", text), page
