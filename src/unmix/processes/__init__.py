"""How data come about: latents, views or labels of them, and their mixing."""

from unmix.processes.cluster_process import ClusterProcess, Instances
from unmix.processes.clusters import Clusters, ClusterVectors, GivenClusters
from unmix.processes.pairs import PairProcess, Pairs
from unmix.processes.process import Process
from unmix.processes.sectors import Labelled, SectorProcess

__all__ = [
    "ClusterProcess", "ClusterVectors", "Clusters", "GivenClusters", "Instances", "Labelled", "PairProcess", "Pairs",
    "Process", "SectorProcess",
]  # fmt: skip
