"""Figures about trees and answers, with Matplotlib (the extra `plot`).

Each function draws into the argument `ax`, by default into pyplot's current axes, and returns the axes.
"""

from ordhc.plots.answers import agreement, learning_curve
from ordhc.plots.matrices import heatmap
from ordhc.plots.scores import compare, support_calibration
from ordhc.plots.tanglegrams import tanglegram

__all__ = ["agreement", "compare", "heatmap", "learning_curve", "support_calibration", "tanglegram"]
__dir__ = __all__.copy
