# %% [markdown]
# # DIET: every row its own class
#
# DIET gives each training example a label of its own and trains an ordinary classifier on these labels. Nobody tells it
# the classes. Reizinger et al. 2025 show that its features are the latents all the same, and the rows of its head the
# cluster vectors, if the data come from clusters on a sphere.

# %%
import sys
from pathlib import Path

import matplotlib.pyplot as plt

import unmix as um

SHORT = "--short" in sys.argv

# %% [markdown]
# A hundred clusters, a thousand instance labels. `failing` lists what the theorems ask of a process and do not get.

# %%
process = um.ClusterProcess(
    um.Sphere(5), um.Clusters(100), um.VonMisesFisher(10.0), um.mixings.MLP(layers=4), instances=1000
)
print("fails:", process.failing)
model = um.Model(um.encoders.MLP(), um.DIET(unit_rows=True))
print(um.guarantee(process, model))

# %% [markdown]
# Latents and head: R² on held-out rows, R² of the cluster vectors with whole clusters held out, and how far the maps
# are from the rotations that theory promises.

# %%
recipe = um.Recipe(steps=20 if SHORT else 3000, batch=2048, rate=3e-2)
fit = um.fit(process, model, recipe, seed=0)
found = um.cluster_recovery(fit, rows=2000 if SHORT else 16_384)
print(found)

# %% [markdown]
# True against recovered: latents of fresh rows above, cluster vectors below (a dot is a row of the head). The map of
# the latents has seen neither of the two; that of the head has seen four fifths of its rows.

# %%
fresh = process.sample(2000, um.stream(1, "evaluation"))
rows = fit.network.loss.rows().detach()
pictures = {
    "latents": (fresh.z, found.latents.recovered(fit.embed(fresh.x), found.up_to)),
    "cluster vectors": (process.vectors[process.class_of], found.head.rows.recovered(rows, found.up_to)),
}
figure, axes = plt.subplots(2, 5, figsize=(11, 4.8), sharex=True, sharey=True, layout="constrained")
for row, (name, (true, recovered)) in zip(axes, pictures.items(), strict=True):
    for i, ax in enumerate(row):
        ax.scatter(true[:, i], recovered[:, i], s=2, alpha=0.5)
        ax.axline((0, 0), slope=1, color="firebrick", linewidth=1)
        ax.set(aspect="equal")
    row[0].set_ylabel(f"recovered\n{name}")
Path("runs").mkdir(exist_ok=True)
figure.savefig("runs/diet.png", dpi=120)
