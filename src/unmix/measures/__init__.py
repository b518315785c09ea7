"""What is measured: recovery of known latents, held out."""

from unmix.measures.mcc import mcc
from unmix.measures.recovery import Recovery, recovery

__all__ = ["Recovery", "mcc", "recovery"]
