"""Tables as text: a spreadsheet runs no name, paper and terminal get only characters that one sees."""

import csv
import io
import json
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest
from rich.console import Console

import unmix as um
from unmix.audit import audit_table
from unmix.printable import escape, printable
from unmix.report.drawing import shortened
from unmix.sheets import sheet, tex

FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-1+cmd",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "-inf",
    "=",
    "-",
    "--1",
]
PLAIN = ["a", "", "a=1", " 5", "-1", "+2.5", "-1e-05", "−0.5", "–", "'quoted'", "1 + 1"]
UNSEEN = "a\x1b]0;owned\x07b\x9b31mc\u202ed\u2066e\u200ff\x00g\ud800h\ufeffi\U000e0041"
HOSTILE = '=HYPERLINK("http://x";"a")\x1b[2J\u202e'
QUICK = {"bootstraps": 40, "permutations": 99, "probe": False}


def cells(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_spreadsheet_runs_no_name(text):
    shown = "'" + text.replace("\r", "\n")
    assert cells(sheet([text, "b"], [[text, -0.5]])) == [[shown, "b"], [shown, "-0.5"]]


def test_numbers_and_other_names_stay_as_they_are():
    assert cells(sheet(PLAIN, [[-1, -0.5, 1e-30, None, True, np.float64(-2.5)]])) == [
        PLAIN, ["-1", "-0.5", "1e-30", "", "True", "-2.5"]
    ]  # fmt: skip


@pytest.mark.skipif(shutil.which("node") is None, reason="no node here")
def test_the_button_of_the_page_writes_the_same():
    script = files("unmix.report").joinpath("page.js").read_text(encoding="utf-8")
    asked = [*FORMULAS, *PLAIN, "-0.020 … 0.031", "-1 … =1", "-0.1; =1"]
    code = (
        "const document = { querySelectorAll: () => [] };\n" + script.replace('"use strict";', "")
        + f"\nconsole.log(JSON.stringify({json.dumps(asked)}.map(shown)));"
    )  # fmt: skip
    done = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True, timeout=60)
    wanted = [*(f"'{text}" for text in FORMULAS), *PLAIN, "-0.020 … 0.031", "'-1 … =1", "'-0.1; =1"]
    assert json.loads(done.stdout) == wanted


def test_what_nobody_sees_reaches_neither_paper_nor_terminal():
    seen = "a]0;ownedb31mcdefghi"
    assert printable(UNSEEN) == tex(UNSEEN) == seen
    assert escape(UNSEEN + "[red]") == seen + r"\[red]"
    assert shortened(UNSEEN) == seen
    assert tex("a\nb\tc\u2028d") == "a b cd"
    assert printable("می\u200cخواهم ñ 日本 ✓") == "می\u200cخواهم ñ 日本 ✓"


def test_an_audit_of_hostile_names_writes_none_of_them(tmp_path):
    z = np.random.default_rng(0).normal(size=(200, 2))
    shape = np.where(z[:, 0] > 0, HOSTILE, "b")
    report = um.audit(z, {HOSTILE: z[:, 0], "shape": shape, "=still" + HOSTILE: np.ones(200)}, name=HOSTILE, **QUICK)
    for suffix in (".csv", ".tex", ".html"):
        report.save(tmp_path / f"a{suffix}")
    names = [row[0] for row in cells((tmp_path / "a.csv").read_text())]
    assert names == ["factor", f"'{HOSTILE}", "shape", f"'=still{HOSTILE}"]
    console = Console(file=io.StringIO(), width=200)
    console.print(audit_table(report))
    for text in ((tmp_path / "a.tex").read_text(), console.file.getvalue()):
        assert "HYPERLINK" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
