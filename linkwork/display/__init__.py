"""Pictures and pages of results."""

from linkwork.display.page import page
from linkwork.display.plots import plot

__all__ = ["page", "plot"]
