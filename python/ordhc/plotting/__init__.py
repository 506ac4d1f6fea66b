"""Draw dendrograms with Matplotlib, and write them as pictures or as html pages."""

from ordhc.plotting.drawing import PICTURES, need_matplotlib, plot_dendrogram, svg
from ordhc.plotting.saving import save_plot

__all__ = ["PICTURES", "need_matplotlib", "plot_dendrogram", "save_plot", "svg"]
__dir__ = __all__.copy
