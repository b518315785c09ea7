"""What turns observations into embeddings."""

from unmix.encoders import outputs
from unmix.encoders.encoder import Encoder
from unmix.encoders.mlp import MLP
from unmix.encoders.whitening import Whitening

__all__ = ["MLP", "Encoder", "Whitening", "outputs"]
