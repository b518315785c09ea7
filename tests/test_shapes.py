"""Shapes and kinds in the measures, which are called too often to be checked in every test, in one run of all."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
from jaxtyping import install_import_hook
install_import_hook(["unmix.moments", "unmix.indeterminacy", "unmix.measures"], "runtime_types.check")
import numpy as np, unmix as um
from unmix.cli.measures import measures_named
rng = np.random.default_rng(0)
x, y = rng.normal(size=(150, 4)), rng.normal(size=(150, 3)).astype(np.float32)
groups = np.repeat(np.arange(30), 5)
quick = dict(bootstraps=40, permutations=99)
for g in (None, groups):
    found = um.compare(x, y, measures=measures_named("all,svcca:2,ridge-back:3"), groups=g, **quick)
print(len(found.pairs[0].scores), len(um.recovery(x, y, **quick).steps))
"""


def test_every_function_of_the_measures_keeps_its_shapes():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["22", "6"]
