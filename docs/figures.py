"""Make docs/comparison.png: three encoders of one world, from different seeds, compared with each other."""

from pathlib import Path

import unmix as um
from unmix.measures import CCA, CKA, MCC, R2, Neighbours, Procrustes

SEEDS, STEPS = (0, 1, 2), 1000


def main() -> None:
    process = um.PairProcess(um.Sphere(10), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.MLP(layers=3))
    model = um.Model(um.encoders.MLP(), um.InfoNCE(um.Dot(), temperature=0.1), um.outputs.Sphere())
    x = process.sample(5_000, um.stream(0, "evaluation")).x
    fits = {f"seed {s}": um.fit(process, model, um.recipes.fast(steps=STEPS), seed=s) for s in SEEDS}
    tables = {name: fit.embed(x) for name, fit in fits.items()} | {"observations": x}
    measures = [R2(), R2(reverse=True), CCA(), Procrustes(), CKA(), MCC(), Neighbours()]
    found = um.compare(tables, measures=measures, progress=True)
    print(found)
    found.save(Path(__file__).parent / "comparison.png")


if __name__ == "__main__":
    main()
