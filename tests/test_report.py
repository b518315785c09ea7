"""The page: self-contained, escaped, in a real browser; whatever file is damaged, the door says one sentence."""

import re
import shutil
import subprocess
import sys
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import save_file

import unmix as um
from unmix.audit.inputs import inputs
from unmix.cli.audit import named_kind
from unmix.factors import Ordinal, Periodic
from unmix.measures import CKA, R2
from unmix.report import Grid, Page, Spot, rendered

HOSTILE = "<img src=x onerror=\"document.title='owned'\">$x_{$</script><script>document.title='owned'</script>"
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(300, 2))
QUICK = {"bootstraps": 40, "permutations": 99}
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    factors = {HOSTILE: Z[:, 0], "shape": RNG.choice(["a", HOSTILE, "$\\frac$"], 300)}
    report = um.audit(Z @ RNG.normal(size=(2, 4)), factors, name=HOSTILE, **QUICK)
    report.save(folder / "audit.html")
    two = um.compare(Z, Z + 1, names=[HOSTILE, "b"], measures=[R2(), CKA()], **QUICK)
    two.save(folder / "two.html")
    three = um.compare(Z, Z + 1, Z[:, :1], names=[HOSTILE, "b", "$c"], measures=[R2()], **QUICK)
    three.save(folder / "three.html")
    return folder


@pytest.mark.parametrize("name", ["audit", "two", "three"])
def test_a_page_stands_alone_and_names_stay_text(pages, name):
    text = (pages / f"{name}.html").read_text()
    assert text.count("<script>") == 1
    assert "<img src=x" not in text
    loaded = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert all(link.startswith(("data:", "#")) for link in loaded)
    outside = set(re.findall(r"https?://[^\s\"'<)]*", text))
    assert all("w3.org" in link for link in outside)  # names of XML, which nobody fetches
    ids = re.findall(r'id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert text.count("<figcaption>") == text.count("<svg")


@pytest.mark.skipif(BROWSER is None, reason="no chromium here")
@pytest.mark.parametrize(("name", "figures"), [("audit", 5), ("two", 1)])
def test_a_browser_shows_it_without_an_error(pages, tmp_path, name, figures):
    wanted = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--enable-logging=stderr"]
    page = (pages / f"{name}.html").as_uri()
    done = subprocess.run([BROWSER, *wanted, "--dump-dom", page], capture_output=True, text=True, timeout=120)
    assert "CONSOLE" not in done.stderr
    assert re.findall(r"<title>(.*?)</title>", done.stdout, re.DOTALL)[0] != "owned"
    assert not re.search(r"<img[^>]*onerror", done.stdout)
    assert done.stdout.count("<svg") == figures
    shot = tmp_path / "shot.png"
    subprocess.run(
        [BROWSER, *wanted, "--window-size=400,3000", f"--screenshot={shot}", page], capture_output=True, timeout=120
    )
    assert len(set(zlib.decompress(_pixels(shot.read_bytes())))) > 50  # not a blank page


def _pixels(png: bytes) -> bytes:
    """The compressed pixels of a PNG."""
    at, found = 8, b""
    while at < len(png):
        size, kind = int.from_bytes(png[at : at + 4], "big"), png[at + 4 : at + 8]
        found += png[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    return found


def test_a_name_that_looks_like_a_colour_stays_a_name(tmp_path):
    um.audit(Z, {"#33608c": Z[:, 0], "fill": Z[:, 1]}, **QUICK, probe=False).save(tmp_path / "r.html")
    assert ">#33608c  (R²)<" in (tmp_path / "r.html").read_text()


def test_cells_of_a_grid_are_escaped():
    page = Page("t", "l", (("h", (Grid("<i>", ("<u>",), ((Spot("<b>", ("<s>",)),),)),)),))
    text = rendered(page)
    for mark in ("<i>", "<u>", "<b>", "<s>"):
        assert mark not in text
        assert mark.replace("<", "&lt;").replace(">", "&gt;") in text


@pytest.fixture(scope="module")
def whole_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    z = Z[:40]
    np.save(folder / "f.npy", z)
    np.savez(folder / "f.npz", a=z[:, 0], b=z[:, 1])
    save_file({"a": torch.tensor(z)}, folder / "f.safetensors")
    pq.write_table(pa.table({"a": z[:, 0], "b": [f"w{i % 3}" for i in range(40)]}), folder / "f.parquet")
    (folder / "f.csv").write_text("a,b\n" + "".join(f"{a},w{i % 3}\n" for i, a in enumerate(z[:, 0])))
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes flipped, cut off, inserted or set to zero."""
    found = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at = (
            int(rng.integers(len(found))) if rng.integers(2) else int(rng.integers(min(len(found), 200)))
        )  # headers too
        match rng.choice(["flip", "cut", "insert", "zero"]):
            case "flip":
                found[at] ^= int(rng.integers(1, 256))
            case "cut":
                del found[at + 1 :]
            case "insert":
                found[at:at] = rng.bytes(rng.integers(1, 9))
            case "zero":
                found[at : at + 16] = bytes(len(found[at : at + 16]))
    return bytes(found)


@pytest.mark.parametrize("kind", [".npy", ".npz", ".safetensors", ".parquet", ".csv"])
def test_a_damaged_file_is_one_sentence_or_its_rows(tmp_path, whole_files, kind):
    rng, said = np.random.default_rng(0), []
    path = tmp_path / f"damaged{kind}"
    for _ in range(150):
        path.write_bytes(damaged(whole_files[kind], rng))
        for call in (lambda: inputs(Z[:40], path, None, None, None, None, None, 5), lambda: um.tables.read(path)):
            try:
                call()
            except um.InputError as error:
                said.append(str(error))
    assert len(said) > 50
    assert not [text for text in said if "\n" in text or len(text) > 600]


def test_the_command_writes_the_report(tmp_path):
    np.save(tmp_path / "x.npy", Z @ RNG.normal(size=(2, 3)))
    (tmp_path / "f.csv").write_text("size,level\n" + "".join(f"{a},{i % 3}\n" for i, a in enumerate(Z[:, 0])))
    command = [sys.executable, "-m", "unmix", "audit", "x.npy", "--factors", "f.csv"]
    few = ["--bootstraps", "40", "--permutations", "99", "--no-probe"]
    done = subprocess.run(
        [*command, "--kind", "level=ordinal", *few], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "Linearly recovered (300 rows, held out): size" in done.stdout
    kept = {path.name for path in (tmp_path / "runs" / "audit-x").iterdir()}
    assert kept == {"audit.html", "audit.json", "audit.csv", "audit.tex"}


def test_kinds_on_the_command_line():
    kinds = ["a=continuous", "b=periodic:360", "c=ordinal:low,high", "d=e=categorical", "f=periodic", "g=ordinal"]
    found = dict(map(named_kind, kinds))
    assert found["b"] == Periodic(360)
    assert found["c"] == Ordinal(("low", "high"))
    assert list(found) == ["a", "b", "c", "d=e", "f", "g"]
    for text in ("level=round", "level", "=ordinal", "a=periodic:x", "a=periodic:-1", "a=continuous:3"):
        with pytest.raises(um.InputError):
            named_kind(text)
