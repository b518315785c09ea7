"""Arguments of the wrong kind are refused in words; in a process without the tests' own type checker."""

import json
import subprocess
import sys

CASES = {
    "um.Model(um.InfoNCE(), um.encoders.MLP())": "objective must be like um.InfoNCE",
    "um.Model(um.encoders.MLP(), um.encoders.MLP())": "objective must be like",
    "um.Model(output='sphere')": "output must be like",
    "um.encoders.MLP(64)": "write (64,)",
    "um.InfoNCE('dot')": "similarity must be like um.Dot()",
    "um.InfoNCE(um.Dot)": "not the class Dot",
    "um.objectives.info_nce(um.Dot(), torch.ones(4, 2), torch.ones(1, 2))": "tables of one shape",
    "um.Sphere(2.5)": "dimension 2 or more, not 2.5",
    "um.PairProcess(um.Sphere(3), um.Uniform, um.Uniform(), um.mixings.MLP())": "marginal must be like um.Uniform()",
    "um.PairProcess(um.Sphere(3), um.Uniform(), um.Uniform(), 'mlp')": "mixing must be like",
    "um.PairProcess('sphere', um.Uniform(), um.Uniform(), um.mixings.MLP())": "space must be like",
    "um.guarantee(um.Model(), P)": "process must be like",
    "um.guarantee(P, um.Model(), theorems=['mine'])": "each of theorems must be like um.theory.Theorem",
    "um.guarantee(P, um.Model(), theorems=7)": "each of theorems must be like um.theory.Theorem",
    "um.fit(um.Model(), P)": "process must be like",
    "um.fit(P, um.Model(), 'fast')": "recipe must be like um.recipes.fast(steps=200)",
    "um.recipes.fast(batch=1.5)": "batch must be a whole number",
    "um.Normal(0.1).log_prob(um.Box(2), [[0.5, 0.5]], [[0.5, 0.5]])": "the centre must be a tensor",
}
CASES |= {
    "um.compare_models(torch.ones(4, 2), um.CanonicalModel(torch.ones(4, 2), torch.eye(2)))": "like um.CanonicalModel",
    "um.compare(torch.ones(4, 2), torch.ones(4, 2), measures=['cca'])": "a measure must be like um.measures.CCA()",
    "um.compare(torch.ones(4, 2), torch.ones(4, 2), measures=[um.measures.CCA])": "a measure must be like",
    "um.compare(torch.ones(4, 2), torch.ones(4, 2), measures=um.measures.CKA())": "measures must be a list",
    "um.compare(torch.ones(4, 2), torch.ones(4, 2), measures='cka')": "measures must be a list",
    "um.measures.Neighbours(2.5)": "whole number",
    "um.measures.SVCCA(components=2.5)": "whole number",
    "um.compare(torch.ones(90, 2), 7)": "two axes",
    "um.compare(torch.ones(90, 2), torch.ones(90, 2), folds='many')": "folds must be",
    "um.compare(torch.ones(90, 2), torch.ones(90, 2), seed=None)": "seed must be",
    "um.compare(torch.ones(90, 2), torch.ones(90, 2), sample='all')": "a sample",
}
SCRIPT = """
import json, sys, torch, unmix as um
P = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(1.0), um.mixings.Linear(pool=5))
said = {}
for case in json.loads(sys.argv[1]):
    try:
        said[case] = f"gave {eval(case)}"
    except um.InputError as error:
        said[case] = str(error)
print(json.dumps(said))
"""


def test_arguments_of_another_kind_are_refused_in_words():
    command = [sys.executable, "-c", SCRIPT, json.dumps(list(CASES))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert {case: words for case, words in CASES.items() if words not in said[case]} == {}, said
