"""Are two representations the same, up to what, and is that above chance?"""

from unmix.comparison.compare import compare
from unmix.comparison.comparison import Comparison, Pair
from unmix.comparison.export import terminal as comparison_table
from unmix.comparison.layers import LayerComparison, compare_layers

__all__ = ["Comparison", "LayerComparison", "Pair", "compare", "compare_layers", "comparison_table"]
