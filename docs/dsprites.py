"""The worked example of docs/auditing.md: pixels, their principal components, and a small encoder of dSprites.

`python docs/dsprites.py dsprites_downsampled.npz` audits all three against the factors, writes the reports to
runs/dsprites and puts the outcome into the page. The file is a factorial grid of the real images (3 shapes, 6 scales,
10 orientations, 16 × 16 positions), sorted by factor.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch
from blocks import with_block
from torch import nn

import unmix as um
from unmix.objectives import info_nce
from unmix.sheets import markdown_row

PAGE, OUT = Path(__file__).parent / "auditing.md", Path("runs/dsprites")
GRID = 3, 6, 10, 16, 16
SIDE, OUTPUTS, STEPS, BATCH, ROWS = 16, 8, 3000, 512, 20_000


def loaded(path: str) -> tuple[torch.Tensor, dict[str, np.ndarray]]:
    """Images at a quarter of their width, and their factors."""
    with np.load(path, allow_pickle=False) as file:
        images, values = file["imgs"], file["latents_values"]
    small = images.reshape(-1, SIDE, 4, SIDE, 4).mean((2, 4), dtype=np.float32).reshape(len(images), -1)
    shape, scale, orientation, x, y = values[:, -5:].T
    names = np.array(["square", "ellipse", "heart"], object)[shape.astype(int) - 1]
    return torch.tensor(small), {"shape": names, "scale": scale, "orientation": orientation, "x": x, "y": y}


def neighbours(index: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Images one step away in scale, orientation and position, or none; the same shape."""
    places = torch.stack(torch.unravel_index(index, GRID), 1)
    steps = torch.randint(-1, 2, places.shape, generator=generator)
    steps[:, 0] = 0
    sizes = torch.tensor(GRID)
    moved = (places + steps).clamp(min=torch.zeros_like(sizes)).minimum(sizes - 1)
    moved[:, 2] = (places[:, 2] + steps[:, 2]) % GRID[2]  # orientations go round
    weights = torch.tensor([int(np.prod(GRID[i + 1 :])) for i in range(5)])
    return (moved * weights).sum(1)


def encoder(images: torch.Tensor) -> torch.Tensor:
    """Outputs of a small network trained by InfoNCE on pairs of neighbouring images; it sees no factor."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = nn.Sequential(
            nn.Linear(SIDE**2, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(),
            nn.Linear(256, OUTPUTS),
        )  # fmt: skip
    optimiser = torch.optim.Adam(net.parameters(), 1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    for _ in range(STEPS):
        index = torch.randint(len(images), (BATCH,), generator=generator)
        a, b = net(images[index]), net(images[neighbours(index, generator)])
        optimiser.zero_grad()
        info_nce(um.Lp(2), a, b).backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        return net(images)


def main() -> None:
    images, factors = loaded(sys.argv[1])
    centred = images - images.mean(0)
    some = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))[:5000]
    directions = torch.linalg.svd(centred[some], full_matrices=False)
    tables = {"pixels": images, "32 principal components": centred @ directions.Vh[:32].T, "encoder": encoder(images)}
    rows = np.sort(np.random.default_rng(0).permutation(len(images))[:ROWS])
    kinds = {"scale": um.factors.Ordinal(), "orientation": um.factors.Periodic()}
    OUT.mkdir(parents=True, exist_ok=True)
    lines, said = [], []
    for name, table in tables.items():
        found = um.audit(table[rows], {k: v[rows] for k, v in factors.items()}, kinds=kinds, name=name, progress=True)
        found.save(OUT / f"{name.split()[-1]}.html")
        scores = [f"{f.probe.linear:.2f} / {f.probe.boosted:.2f}".replace("-0.00", "0.00") for f in found.findings]
        dci = f"{found.dci.disentanglement:.2f} / {found.dci.completeness:.2f}"
        lines.append(markdown_row([name, str(table.shape[1]), *scores, dci]))
        said.append(f"- **{name}**: {found.verdict}")
    heads = ["embedding", "outputs", *factors, "D / C"]
    table = "\n".join([markdown_row(heads), "|" + "---|" * len(heads), *lines])
    when = f"on {datetime.now(UTC).date()} with unmix {um.__version__}, seed 0"
    made = f"Made by `python docs/dsprites.py dsprites_downsampled.npz` {when}."
    block = "\n\n".join([table, made, "\n".join(said)]) + "\n"
    PAGE.write_text(with_block(PAGE.read_text(), "dsprites", block))


if __name__ == "__main__":
    main()
