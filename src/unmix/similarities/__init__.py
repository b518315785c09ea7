"""How alike two embeddings are. Every similarity is homogeneous: s(ca, cb) = c^degree s(a, b)."""

from unmix.similarities.dot import Dot
from unmix.similarities.lp import Lp, LpNorm
from unmix.similarities.similarity import Similarity

__all__ = ["Dot", "Lp", "LpNorm", "Similarity"]
