"""How long `import unmix` takes, next to the packages it stands on."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.measure import Row, interleaved

MOST = 1.25


def rows() -> list[Row]:
    jobs = {"base": "import torch, scipy, sklearn", "ours": "import unmix"}

    def started(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True)

    times = interleaved(5, **{name: lambda code=code: started(code) for name, code in jobs.items()})
    ratio = times["ours"] / times["base"]
    what = f"{times['base']:.1f} s, import torch, scipy, sklearn"
    return [Row("import unmix", f"{times['ours']:.1f} s", what, ratio, f"≤ {MOST:g}", ratio <= MOST)]
