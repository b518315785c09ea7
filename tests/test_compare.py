"""Compare: a verdict in words, tables and pictures; ids join or fail loudly; what was finished is not lost."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

import unmix as um
from unmix.comparison.notes import gathered
from unmix.measures import CCA, CKA, R2, RSA, Neighbours, Procrustes, Refusal

RNG = np.random.default_rng(0)
A = RNG.normal(size=(600, 4))
ROTATION = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
QUICK = {"bootstraps": 40, "permutations": 99}
FEW = {**QUICK, "measures": [R2(), R2(reverse=True)]}


@pytest.mark.parametrize(
    ("b", "words"),
    [
        (A.copy(), "the same up to a map of the class identity"),
        (3 * A @ ROTATION, "the same up to a map of the class scaled orthogonal"),
        (A @ RNG.normal(size=(4, 4)) + 2, "the same up to a map of the class affine"),
        (A[:, :2], "b is a linear function of a, but a holds more"),
        (np.column_stack([A, RNG.normal(size=(600, 2))]), "a is a linear function of b, but b holds more"),
        (A + RNG.normal(size=A.shape), "share a part linearly"),
        (np.column_stack([A[:, :1], RNG.normal(size=(600, 30))]), "A part of a is a linear function of b"),
        (0.15 * A + RNG.normal(size=A.shape), "a and b share hardly anything linearly"),
        (RNG.normal(size=(600, 3)), "No linear relation of a and b is shown with 600 rows"),
    ],
)
def test_the_verdict_says_up_to_what(b, words):
    found = um.compare(A, b, names=["a", "b"], **FEW)
    assert words in found.verdict
    assert found.pair("a", "b").verdict == found.verdict


def test_a_direction_that_is_not_there_is_told_of_whichever_table_it_is_of():
    wide = np.random.default_rng(3).normal(size=(2000, 50))
    more = np.column_stack([wide[:, :49], np.random.default_rng(4).normal(size=(2000, 20))])
    names = ["a", "b"]
    for x, y, words in (
        (wide, wide[:, :49], "b is a part of a up to a map of the class signed permutation"),
        (wide[:, :49], wide, "a and b are nearly the same up to an affine map, but in one direction of b R² is only"),
        (more, wide, "b is nearly a linear function of a, which holds more, but in one direction of b R² is only"),
        (wide, more, "a is nearly a linear function of b, which holds more, but in one direction of a R² is only"),
    ):
        found = um.compare(x, y, names=names, **FEW).pairs[0]
        assert found.verdict.startswith(words)
        assert float(re.search(r"of [ab] R² is only (-?[\d.]+)", found.verdict).group(1)) < 0.05
        assert found.as_dict()["verdict"] == found.verdict


def test_directions_that_hardly_vary_are_counted_as_not_judged(tmp_path):
    near = np.column_stack([A, A[:, 0] + 0.01 * RNG.normal(size=600)])
    said = "Not judged: 1 direction of b in which its columns hardly vary apart."
    for _ in range(2):  # measured, then as it is kept
        assert said in um.compare(A, near, names=["a", "b"], folder=tmp_path, **FEW).verdict


def test_where_chance_is_not_judged_nothing_is_said_of_a_score_that_is_small():
    x, y = np.cumsum(np.random.default_rng(1).normal(size=(2, 800, 2)), axis=1)
    options = {"time": True, **QUICK}
    pair = um.compare(x, y, names=["a", "b"], measures=FEW["measures"], **options).pairs[0]
    assert all(s.p_value is None and s.hardly for s in pair.scores)
    assert pair.verdict.startswith("No linear relation of a and b is shown with ")
    assert um.recovery(x, y, **options).verdict.startswith("No linear recovery is shown with ")
    assert um.audit(x, y, probe=False, **options).verdict.startswith("Not shown by a linear map with ")


def test_a_score_whose_interval_holds_chance_is_hardly_above_it_in_a_list_too():
    related = A[:, :1] + 4 * RNG.normal(size=(600, 1))
    found = um.compare(A, related, names=["a", "b"], measures=[R2()], **QUICK)
    score = found.pairs[0].scores[0]
    assert score.above_chance
    assert score.hardly
    assert found.verdict.startswith("a and b: hardly above chance: R² x → y 0.0")


def test_without_regression_the_verdict_lists_what_is_above_chance():
    related = um.compare(A, A @ ROTATION, names=["a", "b"], measures=[CCA()], **QUICK)
    assert related.verdict == ("a and b: above chance: CCA ρ 1.000 [1.000, 1.000], chance -0.001, p < 1/100; 600 rows.")
    noise = um.compare(A, RNG.normal(size=A.shape), names=["a", "b"], measures=[CKA()], **QUICK)
    assert "not above chance: CKA" in noise.verdict


def test_more_columns_than_rows_get_no_linear_verdict_but_other_scores():
    x, y = RNG.normal(size=(2, 50, 60))
    found = um.compare(x, y, names=["x", "y"], measures=[R2(), R2(reverse=True), RSA()], **QUICK)
    assert "No verdict on a linear relation" in found.verdict
    assert isinstance(found.pairs[0].scores[0], Refusal)
    assert np.isnan(found.matrix(R2())[0, 1])
    assert "refused" in str(found)


def test_three_tables_give_three_pairs_and_a_matrix_both_ways():
    tables = {"a": A, "b": A[:, :2], "c": torch.tensor(RNG.normal(size=(600, 3)))}
    found = um.compare(tables, measures=[R2(), R2(reverse=True), Procrustes()], **QUICK)
    assert [(p.x, p.y) for p in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    r2 = found.matrix(R2())
    assert r2[0, 1] == pytest.approx(1)
    assert r2[1, 0] < 0.7  # a from b, by the measure that asks the other way round
    assert np.isnan(found.matrix(Procrustes())[1, 0])
    p = found.matrix(R2(), "p_value")
    assert p[0, 1] == 0.01
    assert np.isnan(p[0, 0])
    assert "3 pairs, R² from" in found.verdict


def test_notes_tell_what_was_dropped():
    found = um.compare(A, np.column_stack([A, np.ones(600)]), names=["a", "b"], **FEW)
    assert found.pairs[0].notes == ("dropped constant column 4 of b",)
    assert found.pairs[0].widths == (4, 5)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_column_of_rounding_holds_nothing(kind):
    """Of two constant columns, one with noise of the last digit, the other "holds more"."""
    noise = 1 + 1e-15 * RNG.normal(size=(600, 1)) if kind == np.float64 else 1 + 1e-7 * RNG.normal(size=(600, 1))
    a, b = A.astype(kind), np.column_stack([A, noise]).astype(kind)
    for x, y, name in ((a, b, "b"), (b, a, "a")):
        (pair,) = um.compare(x, y, names=["a", "b"], **FEW).pairs
        assert pair.notes == (f"dropped column 4 of {name}, which varies by no more than rounding",)
        assert [s.value for s in pair.scores] == [s.value for s in um.compare(a, a, **FEW).pairs[0].scores]
    recovery = um.recovery(b, A, bootstraps=40, permutations=99)
    assert any("rounding" in note for note in recovery.notes)
    with pytest.raises(um.InputError, match="column 4 of the truth is constant"):
        um.recovery(A, b, bootstraps=40, permutations=99)


def test_the_same_seed_gives_the_same_numbers_and_another_another():
    b = A + RNG.normal(size=A.shape)
    first, again, other = (um.compare(A, b, seed=s, **FEW).as_dict() for s in (0, 0, 1))
    assert first == again
    assert first["pairs"] != other["pairs"]


def test_ids_join_rows_in_any_order():
    ids = np.array([f"id{i}" for i in range(600)])
    order = RNG.permutation(600)
    joined = um.compare(A, A[order], ids=[ids, ids[order]], **FEW)
    assert joined.pairs[0].scores[0].value == pytest.approx(1)
    assert um.compare(A, A[order], **FEW).pairs[0].scores[0].value < 0.1
    with pytest.raises(um.InputError, match="are not in"):
        um.compare(A, A, ids=[ids, np.where(ids == "id3", "else", ids)], **FEW)
    with pytest.raises(um.InputError, match="1 lists of ids for 2 tables"):
        um.compare(A, A, ids=[ids], **FEW)
    with pytest.raises(um.InputError, match="600 rows and 3 ids"):
        um.compare(A, A, ids=[ids, ids[:3]], **FEW)


def test_groups_follow_the_first_table_when_rows_are_joined():
    ids, order = np.arange(600), RNG.permutation(600)
    groups = np.repeat(np.arange(60), 10)
    plain = um.compare(A, 2 * A, groups=groups, **FEW)
    joined = um.compare(A, 2 * A[order], groups=groups, ids=[ids, ids[order]], **FEW)
    assert plain.as_dict() == joined.as_dict()


def test_a_large_table_is_sampled_for_nulls_and_says_so():
    x = np.random.default_rng(0).normal(size=(2000, 3))
    found = um.compare(
        x, x + np.random.default_rng(1).normal(size=x.shape), measures=[R2(), Neighbours(5)], sample=300, **QUICK
    )
    r2, near = found.pairs[0].scores
    assert (r2.rows, r2.null_rows) == (2000, 300)
    assert (near.rows, near.null_rows) == (300, 300)


def test_it_is_saved_as_json_csv_latex_and_picture(tmp_path):
    nasty = um.compare({"a_b & <i>": A, "50 % [red]": A @ ROTATION, "c": RNG.normal(size=(600, 2))}, **FEW)
    for kind in ("json", "csv", "tex", "png"):
        nasty.save(tmp_path / f"c.{kind}")
    kept = json.loads((tmp_path / "c.json").read_text())
    assert kept["pairs"][0]["scores"]["R² x → y"]["value"] == pytest.approx(1)
    assert kept["measures"]["R² x → y"]["assumes"]
    rows = list(csv.DictReader((tmp_path / "c.csv").open()))
    assert len(rows) == 6
    assert rows[0]["x"] == "a_b & <i>"
    assert float(rows[0]["low"]) <= float(rows[0]["value"]) <= float(rows[0]["high"])
    tex = (tmp_path / "c.tex").read_text()
    assert r"a\_b \& <i>, 50 \% [red]" in tex
    assert tex.count(r"\\") == 3
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    um.compare(A, A, **FEW).save(tmp_path / "two.png")
    with pytest.raises(um.InputError, match="saved as"):
        nasty.save(tmp_path / "c.docx")


def test_layers_by_layers_is_a_matrix(tmp_path):
    first = {"low": A, "high": RNG.normal(size=(600, 3)), "dead end": RNG.normal(size=(600, 2))}
    second = {"uno": first["high"] @ RNG.normal(size=(3, 5)), "due": A @ ROTATION}
    found = um.compare_layers(first, second, **QUICK)
    assert found.best == {"low": "due", "high": "uno"}
    assert found.values.shape == (3, 2)
    assert found.above_chance.tolist() == [[False, True], [True, False], [False, False]]
    assert "low is most like due" in found.verdict
    for kind in ("json", "csv", "png"):
        found.save(tmp_path / f"l.{kind}")
    table = list(csv.DictReader((tmp_path / "l.csv").open()))
    assert (table[1]["x"], table[1]["y"]) == ("low", "due")
    assert float(table[1]["value"]) == pytest.approx(1)
    assert "low       due" in str(found)


def test_each_layer_gets_a_sentence_that_can_be_quoted():
    layers = {"a": A, "noise": RNG.normal(size=(600, 3)), "faint": 0.2 * A + RNG.normal(size=A.shape)}
    number = r"CKA -?[\d.]+ \[-?[\d.]+, [\d.]+\], chance -?[\d.]+, p (< 1/100|= [\d.]+)"
    found = um.compare_layers(layers, {"uno": A @ ROTATION, "due": RNG.normal(size=(600, 2))}, **QUICK)
    for name, words in {
        "a": rf"a is most like uno: {number}; 600 rows\.",
        "noise": rf"No likeness of noise to any of 2 layers is shown with 600 rows: highest with (uno|due), {number}\.",
        "faint": rf"faint is hardly like any layer, most like uno: {number}; 600 rows\.",
    }.items():
        assert re.fullmatch(words, found.verdicts[name])
    assert found.verdict == "\n".join(found.verdicts.values()) == found.as_dict()["verdict"]
    assert str(found).endswith(found.verdict)
    one = um.compare_layers(layers, {"uno": A}, **QUICK).verdicts
    assert one["a"].startswith("a is like uno: CKA 1.000")
    assert one["noise"].startswith("No likeness of noise to uno is shown with 600 rows: CKA ")
    assert one["faint"].startswith("faint is hardly like uno: CKA 0.0")
    wide = um.compare_layers(
        {"wide": RNG.normal(size=(50, 60))}, {"w": RNG.normal(size=(50, 3))}, measure=R2(), **QUICK
    )
    assert wide.verdict.startswith("Nothing could be measured of wide: ")


def test_what_is_seen_of_the_rows_of_layers_is_told_everywhere(tmp_path):
    rng = np.random.default_rng(0)
    series = [np.cumsum(rng.normal(size=(600, 2)), axis=0) for _ in range(2)]
    copied = np.column_stack([A, A[:, :1], np.ones(600)])
    found = um.compare_layers({"low": series[0], "high": copied}, {"low": series[1], "mid": A}, **QUICK)
    assert found.notes[0].startswith("low, low: neighbouring rows correlate by 0.")
    assert "--time" in found.notes[0]
    assert found.notes[1:] == (
        "high, low; high, mid: dropped constant column 5 of high of the first model",
        "high, low; high, mid: columns of high of the first model, counted from 0, repeat others, up to scale and "
        "offset: 4 of 0",
    )
    assert all(f"note: {note}" in str(found) for note in found.notes)
    found.save(tmp_path / "l.json")
    kept = json.loads((tmp_path / "l.json").read_text())
    assert kept["notes"] == list(found.notes)
    assert kept["scores"][0][0]["notes"] == list(found.pairs[0][0].notes)
    twice = {"a": np.vstack([A, A])}
    assert "600 of 1,200 rows are copies" in str(um.compare_layers(twice, twice, **QUICK))
    few = um.compare_layers({"a": A}, {"a": A}, groups=np.repeat(np.arange(20), 30), **QUICK)
    assert few.notes == ("a, a: only 20 groups: intervals are rough",)


def test_notes_of_pairs_that_differ_only_in_numbers_are_one():
    pairs = [f"h.{i}, h.{j}" for i in range(3) for j in range(3)]
    same = gathered((pair, "dropped constant column 3 of h.0") for pair in pairs)
    assert same == ("h.0, h.0; h.0, h.1; h.0, h.2 and 6 more pairs: dropped constant column 3 of h.0",)
    assert len(gathered((pair, f"column {i} of h.1") for i, pair in enumerate(pairs))) == 1
    assert len(gathered((pair, f"column 1 of h.{i}") for i, pair in enumerate(pairs))) == 9


def test_layers_that_are_finished_are_not_measured_again(tmp_path, monkeypatch):
    layers = {"one": A, "two": A[:, :2]}
    first = um.compare_layers(layers, layers, folder=tmp_path, **QUICK)
    monkeypatch.setattr(sys.modules[um.compare.__module__], "evaluate", None)
    assert um.compare_layers(layers, layers, folder=tmp_path, **QUICK).as_dict() == first.as_dict()


def test_a_column_of_groups_is_needed_in_the_first_table_only(tmp_path):
    lines = [f"g{i // 10},{a},{b}" for i, (a, b, *_) in enumerate(A.tolist())]
    (tmp_path / "a.csv").write_text("\n".join(["who,a,b", *lines]))
    np.save(tmp_path / "b.npy", A)
    found = um.compare(tmp_path / "a.csv", tmp_path / "b.npy", groups="who", **FEW)
    assert found.settings["groups"]
    assert found.pairs[0].widths == (2, 4)


def test_a_score_below_zero_is_never_called_sharing():
    rng = np.random.default_rng(0)
    for _ in range(10):
        found = um.compare(*rng.normal(size=(2, 40, 10)), **FEW)
        if max(s.value for s in found.pairs[0].scores) <= 0:
            assert "No linear relation" in found.verdict


def test_finished_pairs_are_kept_and_not_measured_again(tmp_path, monkeypatch):
    tables = {"a": A, "b": A[:, :3], "c": A @ ROTATION}
    whole = um.compare(tables, folder=tmp_path, **FEW)
    files = sorted((tmp_path / "pairs").iterdir())
    assert len(files) == 3
    files[0].unlink()
    files[1].write_text("{ damaged")
    calls = []
    module = sys.modules[um.compare.__module__]
    plain = module.evaluate
    monkeypatch.setattr(module, "evaluate", lambda *a, **k: calls.append(1) or plain(*a, **k))
    again = um.compare(tables, folder=tmp_path, **FEW)
    assert len(calls) == 2
    assert again.as_dict() == whole.as_dict()
    um.compare(tables, folder=tmp_path, **FEW, seed=1)
    assert len(calls) == 5  # other settings are another comparison


def test_a_killed_comparison_goes_on_where_it_was(tmp_path):
    for i in range(4):
        np.save(tmp_path / f"t{i}.npy", RNG.normal(size=(2000, 6)))
    files = [str(tmp_path / f"t{i}.npy") for i in range(4)]
    command = [sys.executable, "-m", "unmix", "compare", *files, "--out", str(tmp_path / "out"), "--measures", "r2,cca"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pairs = tmp_path / "out" / "pairs"
    deadline = time.time() + 120
    while (not pairs.exists() or len(list(pairs.glob("*.json"))) < 2) and time.time() < deadline:
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    before = {p.name: p.stat().st_mtime_ns for p in pairs.glob("*.json")}
    assert len(before) >= 2
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    after = {p.name: p.stat().st_mtime_ns for p in pairs.glob("*.json")}
    assert len(after) == 6
    assert all(after[name] == stamp for name, stamp in before.items())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: um.compare(A), "two or more"),
        (lambda: um.compare(A, A[:10], **FEW), "600 rows and .* 10"),
        (lambda: um.compare(A, A, names=["a"], **FEW), "1 names for 2"),
        (lambda: um.compare(A, A, measures=[]), "at least one measure"),
        (lambda: um.compare(A, A, measures=[R2(), R2()], **QUICK), "there twice"),
        (lambda: um.compare(A, A, measures=[R2(ridge=1.0), R2(ridge=1.0 + 1e-15)], **QUICK), "there twice"),
        (lambda: um.compare(A, A, groups="who", **FEW), "no named columns"),
        (lambda: um.compare(A, A, ids="who", **FEW), "no named columns"),
        (lambda: um.compare(A, A, groups=[None] * 600, **FEW), "groups are missing in 600 rows"),
        (lambda: um.compare(A, A, groups=np.full(600, np.nan), **FEW), "groups are missing"),
        (lambda: um.compare(A, A * np.nan, **FEW), "NaN"),
        (lambda: um.compare(A, A, **FEW).pair("a", "b"), "no pair"),
        (lambda: um.compare(A, A, **FEW).pairs[0].score(CCA()), "was not measured"),
        (lambda: um.compare_layers({}, {"a": A}), "at least one layer"),
        (lambda: um.compare("nowhere.npy", A), "no file"),
    ],
)
def test_bad_comparisons_are_refused(call, words):
    with pytest.raises(um.InputError, match=words):
        call()


def test_names_may_be_numbers_and_rename_tables():
    assert um.compare({0: A, 1: A}, **FEW).names == ("0", "1")
    tables = [um.tables.read(A, name) for name in "ab"]
    assert um.compare(*tables, names=["p", "q"], **FEW).names == ("p", "q")
    assert um.compare(*tables, **FEW).names == ("a", "b")


def test_tables_of_one_name_are_told_apart():
    assert um.compare(A, A, A, names=["a", "a", "b"], **FEW).names == ("a", "a (2)", "b")


@pytest.mark.parametrize("seed", [0, 3, 9])
def test_a_table_and_its_double_are_the_same(seed):
    """All eigenvalues of what is missed are equal then, and a solver that is asked for the last one may give none."""
    z = np.random.default_rng(seed).normal(size=(400, 10))
    assert "same up to a map of the class permutation with one common scale" in um.compare(z, 2 * z, **FEW).verdict


@pytest.mark.parametrize("bend", [lambda z: np.sinh(3 * z), lambda z: np.tanh(2 * z)])
def test_columns_that_are_monotone_functions_are_called_so(bend, tmp_path):
    z = np.random.default_rng(0).normal(size=(600, 3))
    found = um.compare(bend(z)[:, ::-1], z, names=["x", "y"], folder=tmp_path, **FEW)
    assert "Each column of y is a monotone function of one column of x (R² of ranks 1.000" in found.verdict
    kept = um.compare(bend(z)[:, ::-1], z, names=["x", "y"], folder=tmp_path, **FEW)
    assert kept.as_dict() == found.as_dict()
    assert "monotone" not in um.compare(z @ np.linalg.qr(z[:3])[0], z, **FEW).verdict


def test_a_monotone_function_of_two_values_is_one():
    z = np.random.default_rng(0).normal(size=(600, 2))
    found = um.compare(z, (z > [1.5, 0]).astype(float), names=["x", "y"], **FEW)
    assert "Each column of y is a monotone function of one column of x" in found.verdict
    assert "column of x is" not in found.verdict


def test_pages_say_what_an_interval_is_of(tmp_path):
    z = np.random.default_rng(0).normal(size=(200, 2))
    um.compare(z, z**3, **FEW).save(tmp_path / "compare.html")
    um.audit(z, {"a": z[:, 0]}, probe=False, **QUICK).save(tmp_path / "audit.html")
    for page in ("compare", "audit"):
        text = (tmp_path / f"{page}.html").read_text()
        assert "what these fitted maps score on new rows of the same kind" in text
        assert "resamples for the intervals" not in text
