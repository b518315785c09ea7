"""On Linear Identifiability of Learned Representations: Figure 2."""
