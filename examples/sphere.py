# %% [markdown]
# # Latents on a sphere, up to a rotation
#
# Ten latents on a sphere are mixed by a three-layer network. An encoder sees pairs of observations whose latents are
# near each other, and nothing else. Theorem 2 of Zimmermann et al. 2021 promises the latents up to an orthogonal map.

# %%
import sys
from pathlib import Path

import matplotlib.pyplot as plt

import unmix as um

SHORT = "--short" in sys.argv  # a glance at how it goes, instead of the real thing

# %% [markdown]
# A process is one world. A model is an encoder, an objective, and where the output lies. Ask theory before training.

# %%
process = um.PairProcess(um.Sphere(10), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.MLP(layers=3))
model = um.Model(um.encoders.MLP(), um.InfoNCE(um.Dot(), temperature=0.1), um.outputs.Sphere())
print(um.guarantee(process, model))

# %% [markdown]
# At another temperature the objective assumes another concentration than the process has, and nothing is promised.

# %%
print(um.guarantee(process, um.Model(um.encoders.MLP(), um.InfoNCE(um.Dot(), temperature=1.0), um.outputs.Sphere())))

# %% [markdown]
# Train, then score rows that training never saw: R² up to each class of maps, and the smallest class that is enough.
# The observations themselves show what there was before training.

# %%
fit = um.fit(process, model, um.recipes.fast(steps=20 if SHORT else 2000), seed=0)
pairs = process.sample(10_000, um.stream(0, "evaluation"))
tables = {"observations": pairs.x, "encoder": fit.embed(pairs.x)}
counts = {"bootstraps": 40, "permutations": 99} if SHORT else {}
found = {name: um.recovery(table, truth=pairs.z, **counts) for name, table in tables.items()}
print(found["encoder"])

# %% [markdown]
# True against recovered, each after its best rotation, on rows that the rotation was not fitted on.

# %%
rotation = um.indeterminacy.Orthogonal()
figure, axes = plt.subplots(2, 4, figsize=(10, 5.4), sharex=True, sharey=True, layout="constrained")
for row, (name, recovery) in zip(axes, found.items(), strict=True):
    recovered, rows = recovery.recovered(tables[name], rotation), recovery.test_rows
    for i, ax in enumerate(row):
        ax.scatter(pairs.z[rows, i], recovered[rows, i], s=2, alpha=0.3)
        ax.axline((0, 0), slope=1, color="firebrick", linewidth=1)
        ax.set(title=f"latent {i + 1}, R² {recovery.step(rotation).per_dimension[i]:.3f}", aspect="equal")
    row[0].set_ylabel(f"recovered from\n{name}")
Path("runs").mkdir(exist_ok=True)
figure.savefig("runs/sphere.png", dpi=120)
