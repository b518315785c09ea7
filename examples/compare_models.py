# %% [markdown]
# # Compare two models
#
# Two classifiers of the same labels, from different initial weights. Are their features the same? Theorem 1 of Roeder
# et al. 2021: they are one linear map apart, if both predict the same distribution and their label vectors are diverse.

# %%
import sys
from pathlib import Path

import matplotlib.pyplot as plt

import unmix as um

SHORT = "--short" in sys.argv

# %% [markdown]
# Points of the plane, bent by a small network; a label is drawn from p(y|z) ∝ exp(⟨z, u_y⟩), with 18 directions u_y.

# %%
process = um.SectorProcess(sharpness=1.0, mixing=um.mixings.MLP(layers=2))
model = um.Model(um.encoders.MLP(), um.CrossEntropy())
print(um.guarantee(process, model))
recipe = um.Recipe(steps=20 if SHORT else 3000, batch=2048, rate=1e-2)
fits = {f"seed {seed}": um.fit(process, model, recipe, seed=seed) for seed in (2, 3)}
rows = process.sample(1000 if SHORT else 5000, um.stream(0, "evaluation"))

# %% [markdown]
# Features alone: every measure on held-out rows, next to chance. R² and CCA do not see linear maps, Procrustes, CKA and
# RSA do not see rotations, MCC sees both. The observations are there to compare with.

# %%
features = {name: fit.embed(rows.x) for name, fit in fits.items()}
counts = {"bootstraps": 40, "permutations": 99} if SHORT else {}
found = um.compare(features | {"observations": rows.x}, **counts)
print(found)

# %% [markdown]
# With the label vectors too, theory can be checked: its assumptions, and the map A by three ways that must agree.

# %%
first, second = (
    um.CanonicalModel(features[name], fit.network.loss.rows().detach(), name=name) for name, fit in fits.items()
)
both = um.compare_models(first, second)
print(both)

# %% [markdown]
# The features of the one, of the other, and of the one after a linear map that was found from the labels alone.

# %%
moved = both.alignment.maps["labels"](first.f)
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for ax, points, title in zip(axes, (first.f, second.f, moved), ("first", "second", "A · first"), strict=True):
    ax.scatter(*points.T, c=rows.label, cmap="hsv", s=2)
    ax.set(title=title, aspect="equal")
axes[2].set(xlim=axes[1].get_xlim(), ylim=axes[1].get_ylim())
Path("runs").mkdir(exist_ok=True)
figure.savefig("runs/compare_models.png", dpi=120)
