"""What the layers of a network say about rows of data, straight to files that `compare` and `audit` take."""

from unmix.activations.head import Head, head
from unmix.activations.layers import layers_of, shapes_of
from unmix.activations.pretrained import Pretrained, Texts, pretrained
from unmix.activations.record import record
from unmix.activations.result import Activations, load
from unmix.activations.rows import EachToken, Flatten, LastToken, Mean, Rows

__all__ = [
    "Activations",
    "EachToken",
    "Flatten",
    "Head",
    "LastToken",
    "Mean",
    "Pretrained",
    "Rows",
    "Texts",
    "head",
    "layers_of",
    "load",
    "pretrained",
    "record",
    "shapes_of",
]
