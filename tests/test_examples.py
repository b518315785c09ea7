"""The examples run, are short, and are what the notebooks show."""

import runpy
import sys
from pathlib import Path

import pytest
import torch

nbformat = pytest.importorskip("nbformat")

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
NAMES = ("audit", "box", "compare_models", "diet", "own_estimator", "sphere")


@pytest.fixture
def notebooks(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    import notebooks

    yield notebooks
    sys.modules.pop("notebooks")


def test_all_of_them_are_tested(notebooks):
    assert tuple(path.stem for path in notebooks.SCRIPTS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_script_is_short_runs_and_draws(name, monkeypatch, tmp_path):
    script = EXAMPLES / f"{name}.py"
    assert len(script.read_text().splitlines()) < 70
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "argv", [str(script), "--short"])
    with torch.random.fork_rng():  # a script may use torch's own generator
        runpy.run_path(str(script), run_name="__main__")
    assert (tmp_path / "runs" / f"{name}.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_what_the_script_says(name, notebooks):
    text = (EXAMPLES / f"{name}.ipynb").read_text()
    assert notebooks.notebook((EXAMPLES / f"{name}.py").read_text()) == text
    cells = nbformat.reads(text, as_version=4).cells
    assert cells[0].cell_type == "markdown"
    assert not any(cell.get("outputs") for cell in cells)
