"""README is true: its code runs, and its numbers are those that a run wrote."""

import json
import re
import sys
from pathlib import Path

import pytest

import unmix as um

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    import benchmarks.readme

    yield benchmarks.readme
    sys.modules.pop("benchmarks.readme")


def test_the_ten_lines_run(monkeypatch, tmp_path, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    monkeypatch.chdir(tmp_path)
    short = um.Recipe(steps=5, batch=64, rate=1e-2, whitening_rows=500)
    monkeypatch.setattr(um.recipes, "fast", lambda: short)
    names = {}
    exec(code, names)
    assert "Theorem 2" in capsys.readouterr().out
    assert um.load("runs/sphere").steps == 5


def test_the_table_is_what_the_benchmark_wrote(benchmarks):
    assert benchmarks.with_table(README) == README


def test_the_commands_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.fixture
def measures_table(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    import measures_table

    yield measures_table
    sys.modules.pop("measures_table")


def test_the_page_on_comparing_says_what_the_measures_declare(measures_table):
    page = (ROOT / "docs" / "comparing.md").read_text()
    assert measures_table.with_table(page) == page


def test_the_code_on_comparing_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "comparing.md").read_text(), re.DOTALL)
    exec(code, {})
    assert "The distributions are equal" in capsys.readouterr().out


def test_the_code_on_classifying_runs(monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "classifying.md").read_text(), re.DOTALL)
    short = um.Recipe(steps=20, batch=64, rate=1e-2, whitening_rows=500)
    monkeypatch.setattr(um.recipes, "suited", lambda process, model: short)
    exec(code, {})
    shown = capsys.readouterr().out
    assert "case C3" in shown
    assert "clusters held out" in shown


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    import tables

    yield tables
    sys.modules.pop("tables")


def test_published_and_obtained_are_what_reproduce_wrote(tables):
    page = tables.PAGE.read_text()
    assert tables.with_block(README, "reproduced", tables.readme_block()) == README
    assert tables.with_block(page, "reproduced", tables.page_block()) == page
    assert all(tables.picture(found).exists() for found in tables.kept())


def test_the_table_of_ones_own_runs(monkeypatch, tmp_path, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "reproducing.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert "| 2 | κ = 20 | ✓ |" in capsys.readouterr().out


def test_kept_results_follow_from_their_runs():
    kept = sorted((ROOT / "results").glob("*/*.json"))
    assert kept
    for path in kept:
        assert json.loads(json.dumps(um.papers.read(path).as_dict())) == json.loads(path.read_text())


def test_the_page_on_auditing_runs(monkeypatch, tmp_path, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "auditing.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert "Not found by a linear map or by gradient boosting: noise" in capsys.readouterr().out
    assert (tmp_path / "audit.html").stat().st_size > 50_000
