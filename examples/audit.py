# %% [markdown]
# # Audit an embedding
#
# Real images, and things one knows of each: which of them are in an embedding, and can a linear reader find them?
# Here the embedding is the 16 first principal components of 1,797 handwritten digits of 8 × 8 pixels.

# %%
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import unmix as um

SHORT = "--short" in sys.argv
images, digit = load_digits().images, load_digits().target
embedding = PCA(16, random_state=0).fit_transform(images.reshape(-1, 64))

# %% [markdown]
# Known variables: the digit, the amount of ink, where its centre is, the slant, how the ink is spread, and noise
# that is surely not there.

# %%
y, x = np.mgrid[:8, :8] - 3.5
ink = images.sum((1, 2))
across, down = ((images * place).sum((1, 2)) / ink for place in (x, y))
right, below = x - across[:, None, None], y - down[:, None, None]
height = (images * below**2).sum((1, 2)) / ink
factors = {
    "digit": digit.astype(str),
    "ink": ink,
    "across": across,
    "height": height,
    "slant": (images * right * below).sum((1, 2)) / ink / height,
    "noise": np.random.default_rng(0).normal(size=len(images)),
}

# %% [markdown]
# Every score is held out, and stands beside chance. The probe (gradient boosting) says what is there, but not linearly.

# %%
counts = {"bootstraps": 40, "permutations": 99} if SHORT else {}
report = um.audit(embedding, factors, name="16 principal components", probe=not SHORT, **counts)
print(report)
Path("runs").mkdir(exist_ok=True)
report.save("runs/audit.html")  # one page to send, with everything that was assumed

# %%
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for i, found in enumerate(report.findings):
    ax.plot([found.score.low, found.score.high], [i, i], color="tab:blue")
    ax.plot(found.score.value, i, "o", color="tab:blue", label="" if i else "linear, 95 %")
    ax.plot(found.score.null, i, "|", color="grey", markersize=12, label="" if i else "chance")
    if found.probe:
        ax.plot(found.probe.boosted, i, "D", mfc="none", color="tab:orange", label="" if i else "boosting")
ax.set_yticks(range(len(report.findings)), [f"{found.name} ({found.measure})" for found in report.findings])
ax.set(xlabel="score on held-out rows", xlim=(-0.1, 1.05))
ax.invert_yaxis()
ax.legend()
figure.savefig("runs/audit.png", dpi=120)
