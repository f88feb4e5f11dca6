"""One look for all pictures: colours, words on the axes, how a figure is made and saved."""

from __future__ import annotations

import sys
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwork.errors import RunError
from linkwork.export import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Told apart by people with any colour vision (Okabe and Ito), without yellow, which fades on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444")
MANY = "viridis"

LOOK: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 7,
    "axes.labelsize": 9,
    "axes.labelcolor": "#333333",
    "axes.edgecolor": "#888888",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.use_mathtext": True,
    "axes.formatter.limits": (-3, 5),
    "axes.xmargin": 0,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.7,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "lines.linewidth": 1.4,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "savefig.dpi": 150,
    "svg.hashsalt": "linkwork",
}

WORDS = {
    "rad": "angle",
    "m": "position",
    "rad/s": "angular speed",
    "m/s": "speed",
    "rad/s^2": "angular acceleration",
    "m/s^2": "acceleration",
    "N": "force",
    "N m": "moment",
    "J": "energy",
    "W": "power",
    "N s": "momentum",
    "kg m/s": "momentum",
    "N m s": "angular momentum",
    "kg m^2/s": "angular momentum",
    "s": "time",
}
TITLES = {"q": "Coordinates", "v": "Speeds", "v_dot": "Accelerations", "tau": "Joint forces"}
TITLES |= {
    "kinetic_energy": "Kinetic energy",
    "potential_energy": "Potential energy",
    "work": "Work of forces",
}
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def need_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise RunError("pictures need matplotlib, which is missing", fix="pip install linkwork[plot]") from error


def words(text: str, longest: int = 48) -> str:
    """Text fit for a label: one line, not too long, and a $ stays a $."""
    text = " ".join(str(text).split())
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    return text.replace("$", r"\$")


def unit(text: str) -> str:
    """Powers raised, "rad/s^2" as "rad/s²"; no unit as a dash."""
    head, *powers = (text or "").strip().split("^")
    for power in powers:
        size = len(power) - len(power.lstrip("-0123456789"))
        head += power[:size].translate(RAISED) + power[size:]
    return "–" if head in ("", "1") else head


def axis_label(units: str) -> str:
    """What the axis shows, in words: "angular speed [rad/s]"."""
    word = WORDS.get(units.strip(), "value")
    return words(f"{word} [{unit(units)}]")


def title(name: str, frame: str | None = None) -> str:
    """Coordinates for "q"; other names as they are called, with their frame: "tool.position, in world"."""
    return words(TITLES.get(name, name) + (f", in {frame}" if frame else ""))


def new_figure(width: float, height: float, *, shown: bool) -> Figure:
    """A figure; one that `matplotlib.pyplot.show()` shows when it is not only to be saved."""
    if shown:
        import matplotlib.pyplot as plt

        if "ipykernel" not in sys.modules:  # a notebook shows what a cell returns; it must not show it twice
            return plt.figure(figsize=(width, height))
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def save(figure: Figure, path: str | PathLike[str]) -> None:
    """Write the picture as PNG, SVG or PDF, by the ending of the path."""
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in ("png", "svg", "pdf"):
        what = f"a picture cannot be saved as '{ending}'"
        raise RunError(what, where=f"file '{path}'", fix="let the path end with .png, .svg or .pdf")
    with replacing(path) as part:
        write(figure, part, ending)


def write(figure: Figure, target: Any, ending: str) -> None:
    """The same picture gives the same bytes."""
    from matplotlib import rc_context

    undated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[ending]
    with rc_context(LOOK):
        figure.savefig(target, format=ending, metadata=undated)
