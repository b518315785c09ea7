# %% [markdown]
# # An encoder of one's own, on rows of one's own
#
# The objectives are scikit-learn estimators too: rows in, representation out, in a pipeline if you like. Here a small
# convolutional network learns from half of 1,797 handwritten digits and shifted, noisy views of them. It sees no label.
# What it holds is then audited, next to principal components and to the same network when it is told the labels.

# %%
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from torch import nn

import unmix as um

SHORT = "--short" in sys.argv
images, digit = load_digits().images.astype("float32")[:, None] / 16, load_digits().target
train, test = train_test_split(np.arange(len(images)), test_size=0.5, random_state=0, stratify=digit)

# %% [markdown]
# A view is a function of a batch and a generator: here a shift by at most one pixel each way, and noise. Whatever a
# view changes, the representation is trained to forget.


# %%
def shifted(x, generator):
    shifts = torch.randint(-1, 2, (2,), generator=generator).tolist()
    return torch.roll(x, shifts, dims=(2, 3)) + 0.1 * torch.randn(x.shape, generator=generator)


torch.manual_seed(0)
network = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.GELU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.GELU(),
    nn.Flatten(), nn.Linear(512, 64), nn.GELU(), nn.Linear(64, 8),
)  # fmt: skip
steps = {"max_steps": 20 if SHORT else 1000, "learning_rate": 2e-3, "random_state": 0}
contrastive = um.estimators.ContrastiveEncoder(8, view=shifted, encoder=network, **steps).fit(images[train])
told = um.estimators.CrossEntropyEncoder(8, encoder=network, **steps).fit(images[train], digit[train])
flat = images.reshape(len(images), -1)
tables = {"principal components": PCA(8, random_state=0).fit(flat[train]).transform(flat[test])}
tables |= {"contrastive": contrastive.transform(images[test]), "told the labels": told.transform(images[test])}

# %% [markdown]
# What does a linear reader find in eight outputs, on rows that neither encoder nor reader has seen? Labels make the
# network keep the digit and drop much of the ink; views make it keep whatever tells rows apart and survives them.

# %%
counts = {"bootstraps": 40, "permutations": 99} if SHORT else {}
factors = {"digit": digit[test].astype(str), "ink": images[test].sum((1, 2, 3))}
reports = {name: um.audit(table, factors, name=name, probe=False, **counts) for name, table in tables.items()}
for name, report in reports.items():
    print(name, *(f"{f.name}: {f.score}" for f in report.findings), sep="\n  ")

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for ax, factor in zip(axes, factors, strict=True):
    scores = [report.finding(factor).score for report in reports.values()]
    ax.barh(list(reports), [max(s.value, 0) for s in scores])
    ax.set(title=f"{factor}: {reports['contrastive'].finding(factor).measure}", xlim=(0, 1))
Path("runs").mkdir(exist_ok=True)
figure.savefig("runs/own_estimator.png", dpi=120)
