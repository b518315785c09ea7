"""How data come about: latents, views of them, and their mixing."""

from unmix.processes.pairs import PairProcess, Pairs

__all__ = ["PairProcess", "Pairs"]
