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
    import benchmarks.page

    yield benchmarks.page
    sys.modules.pop("benchmarks.page")


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
    page = benchmarks.PAGE.read_text()
    assert benchmarks.with_table(page) == page


def test_the_commands_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_kept_results_follow_from_their_runs():
    kept = sorted((ROOT / "results").glob("*/*.json"))
    assert kept
    for path in kept:
        assert json.loads(json.dumps(um.papers.read(path).as_dict())) == json.loads(path.read_text())
