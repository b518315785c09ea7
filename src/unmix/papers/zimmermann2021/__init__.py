"""Contrastive Learning Inverts the Data Generating Process: Tables 1 and 2, Figure 2."""
