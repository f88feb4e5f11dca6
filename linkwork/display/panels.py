"""What goes into a picture: which lines share an axis. No drawing here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwork.display import style
from linkwork.errors import RunError, nearest
from linkwork.export import energy_balance, has_energies
from linkwork.result import Result, Series

CHOSEN = "Chosen quantities"


@dataclass(frozen=True, eq=False)
class Line:
    """One scalar over time for each sample: (sample, time)."""

    label: str
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines on one pair of axes."""

    title: str
    ylabel: str
    lines: tuple[Line, ...]
    log: bool = False

    def apart(self) -> list[Panel]:
        """One panel for each line."""
        if len(self.lines) == 1:
            return [self]
        own = self.title in (CHOSEN, style.TITLES["q"], style.TITLES["v"])  # the name of the line says enough
        titles = [style.words(line.label) if own else f"{self.title}: {style.words(line.label)}" for line in self.lines]
        return [replace(self, title=title, lines=(line,)) for title, line in zip(titles, self.lines, strict=True)]

    def of(self, samples: Sequence[int] | np.ndarray) -> Panel:
        """The same panel for some samples."""
        return replace(self, lines=tuple(replace(line, values=line.values[samples]) for line in self.lines))


def panels(run: Result, names: Iterable[str]) -> list[Panel]:
    """The panels for the named quantities; scalars of one unit that follow each other share one."""
    made: list[Panel] = []
    scalars: list[Series] = []

    def flush() -> None:
        if scalars:
            name = style.title(scalars[0].name) if len(scalars) == 1 else CHOSEN
            lines = tuple(Line(s.name, s.values) for s in scalars)
            made.append(Panel(name, style.axis_label(scalars[0].units[0]), lines))
            scalars.clear()

    for name in names or usual(run):
        if name == "energy":
            flush()
            made += energy(run)
        elif name == "energy balance":
            flush()
            made.append(balance(run))
        else:
            s = run[name]
            if not s.flat.shape[2]:
                continue  # no freedom, no coordinates
            if s.components or (scalars and scalars[0].units != s.units):
                flush()
            if s.components:
                made += by_unit(s)
            else:
                scalars.append(s)
    flush()
    return made


def usual(run: Result) -> list[str]:
    """What to look at first: coordinates, speeds, energy balance; of another result, all that is stored."""
    full = [name for name, s in run.series.items() if s.flat.shape[2]]  # none is, where nothing has freedom
    names = [name for name in ("q", "v") if name in full] or full
    if not names:
        raise RunError("this run holds nothing to draw")
    return names + (["energy balance"] if has_energies(run) else [])


def by_unit(s: Series) -> list[Panel]:
    """One panel for each unit: forces apart from moments, angles apart from positions."""
    made = []
    for units in dict.fromkeys(s.units):
        rows = [k for k, other in enumerate(s.units) if other == units]
        lines = tuple(Line(s.components[k], s.flat[:, :, k]) for k in rows)
        made.append(Panel(style.title(s.name, s.frame), style.axis_label(units), lines))
    return made


def energy(run: Result) -> list[Panel]:
    """Kinetic, potential and total energy and the work of forces; below, how well they balance."""
    if not has_energies(run):
        what = "this run has no 'kinetic_energy', 'potential_energy' and 'work' to draw"
        raise RunError(what, fix=nearest("energy", run.names))
    kinetic, potential, work = (run[name].values for name in ("kinetic_energy", "potential_energy", "work"))
    named = {"kinetic": kinetic, "potential": potential, "total": kinetic + potential, "work of forces": work}
    lines = tuple(Line(label, values) for label, values in named.items())
    return [Panel("Energy", style.axis_label("J"), lines), balance(run)]


def balance(run: Result) -> Panel:
    """|E(t) − E(0) − work| as a part of the energy in play, on a logarithmic axis."""
    error, play = energy_balance(run)
    part = np.abs(error) / play[:, None]
    part = np.where(part > 0, np.maximum(part, 1e-17), np.nan)
    title = "Energy balance: |E(t) − E(0) − work| / energy in play"
    return Panel(title, "relative error [–]", (Line("error", part),), log=True)
