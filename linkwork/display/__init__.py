"""Pictures and pages of results."""

from linkwork.display.animation import animate
from linkwork.display.page import page
from linkwork.display.plots import plot

__all__ = ["animate", "page", "plot"]
