"""Are p-values and intervals right? Rates of false positives and of coverage over designs with a known truth."""
