"""A seeded part of the fuzz: a damaged file is answered or refused in a sentence, and what is wrong is noticed."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fuzz import trial
from fuzz.damage import damaged
from fuzz.page import PAGE, with_results
from fuzz.targets import targets
from fuzz.trial import ANSWERED, CHANGED, FINE, UNDECLARED, tried

from unmix.errors import InputError

SEED, CASES = 20, 8


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return targets(tmp_path_factory.mktemp("good"))


def test_every_good_file_is_answered(good):
    assert [(t.name, trial._called(t, t.file)) for t in good] == [(t.name, (ANSWERED, "")) for t in good]


@pytest.mark.parametrize("part", range(CASES))
def test_a_damaged_file_is_answered_or_refused_in_a_sentence(good, part, tmp_path):
    cases = range(part * len(good), (part + 1) * len(good))
    found = [tried(good, case, SEED, tmp_path / "scratch") for case in cases]
    assert [one for one in found if one.outcome not in FINE] == []


def test_the_fuzz_sees_errors_and_files_that_a_refusal_changed(good, tmp_path):
    """With readers that are wrong on purpose."""
    (target,) = [t for t in good if t.name == "load run/config.json"]

    def broken(path):
        raise KeyError("is")

    def careless(path):
        path.write_text("{}")
        raise InputError("no.")

    assert tried([replace(target, call=broken)], 0, SEED, tmp_path / "a").outcome == UNDECLARED
    assert tried([replace(target, call=careless)], 0, SEED, tmp_path / "b").outcome == CHANGED


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.safetensors", "a.npy"])
def test_damage_is_of_the_seed_and_nearly_always_changes_something(good, name):
    (content,) = {t.file.read_bytes() for t in good if t.name == "load estimator"}
    content = b'{"a": [1, {"b": 2}]}' if name == "a.json" else content
    first, second = ([damaged(content, name, np.random.default_rng(i)) for i in range(50)] for _ in range(2))
    assert first == second
    assert Counter(one == content for one in first)[True] < 10
    assert len(set(first)) > 25


def test_the_page_is_what_the_fuzz_wrote():
    page = Path(PAGE).read_text()
    assert with_results(page) == page
