"""What is kept of a sample, as said in a plan, and how it follows from trajectories.

    tool.height: tool.position.z at end          also: at start, at 0.5 s
    peak: max of abs(elbow.wrench.f_x)           also: min of, mean of, rms of, range of, time of max of, time of min of
    landed: time of event hit                    also: time of last event hit, count of event hit
    trajectory: {of: [tool.position, elbow], times: 50}

Extremes, means and ranges are those of the output times and of the end; what happens between them is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.errors import RunError, nearest
from linkwork.model.units import parse, quantity
from linkwork.simulation.trajectories import Trajectories

OVER = ("max", "min", "mean", "rms", "range", "time of max", "time of min")
_OVER = re.compile(rf"({'|'.join(sorted(OVER, key=len, reverse=True))}) of (.+)", re.DOTALL)
_EVENT = re.compile(r"(time|count) of (?:(first|last) )?event (.+)")
_AT = re.compile(r"(.+) at (end|start|[-+.\d].*)", re.DOTALL)
FIX = "write 'NAME at end', 'NAME at 0.5 s', 'max of NAME', 'min of NAME', 'mean of NAME' or 'time of event NAME'"


@dataclass(frozen=True)
class Reading:
    """One number of a sample: `how` it follows from what is traced (`what`), or from an event of that name."""

    name: str
    how: str
    what: str
    time: float = 0.0
    unit: str = ""


@dataclass(frozen=True)
class Record:
    """All that is kept: numbers, and quantities over `times` (how many intervals; None: every output time)."""

    readings: tuple[Reading, ...] = ()
    trajectory: tuple[str, ...] = ()
    times: int | None = None

    @property
    def over_time(self) -> bool:
        return any(r.how in OVER for r in self.readings)


def record_of(given: Any, events: Sequence[str], what: str = "record") -> Record:
    """A Record from a mapping, a list of readings, or the word `everything`."""
    if given is None:
        return Record()
    if given == "everything":
        return Record(trajectory=("q", "v"))
    if isinstance(given, str):
        given = [given]
    if isinstance(given, (list, tuple)):
        given = {str(text): text for text in given}
    if not isinstance(given, Mapping):
        raise RunError(f"{what} is {given!r}", fix="give NAME: READING for each number, e.g. peak: max of elbow.rate")
    readings, trajectory, times = [], (), None
    for name, text in given.items():
        if name == "trajectory":
            trajectory, times = _trajectory(text, what)
        else:
            readings.append(_reading(str(name), text, events, f"{what} of '{name}'"))
    return Record(tuple(readings), trajectory, times)


def _trajectory(given: Any, what: str) -> tuple[tuple[str, ...], int | None]:
    if given == "everything":
        return ("q", "v"), None
    if isinstance(given, (list, tuple)):
        given = {"of": given}
    if not isinstance(given, Mapping) or "of" not in given or set(given) - {"of", "times"}:
        fix = "trajectory: {of: [tool.position, elbow], times: 50}"
        raise RunError(f"{what} has an unreadable trajectory", fix=fix)
    of, times = given["of"], given.get("times")
    of = (of,) if isinstance(of, str) else tuple(map(str, of))
    if times is not None and (type(times) is not int or times < 1):
        raise RunError(f"times of the trajectory is {times!r}", fix="give how many equal intervals, one or more")
    return of, times


def _reading(name: str, given: Any, events: Sequence[str], what: str) -> Reading:
    unit = ""
    if isinstance(given, Mapping):
        if set(given) - {"value", "unit"} or "value" not in given:
            raise RunError(f"{what} is no reading", fix=f"{FIX}, or {{value: …, unit: N}}")
        given, unit = given["value"], str(given.get("unit", ""))
        if unit and parse(unit).factor != 1:
            raise RunError(f"{what} has the unit '{unit}', but numbers are in SI", fix="name the SI unit")
    text = str(given).strip()
    if match := _EVENT.fullmatch(text):
        if match[3] not in events:
            raise RunError(f"{what} names an unknown event '{match[3]}'", fix=nearest(match[3], events))
        if match[1] == "count":
            return Reading(name, "count", match[3], unit="1")
        return Reading(name, match[2] or "first", match[3], unit="s")
    if match := _OVER.fullmatch(text):
        return Reading(name, match[1], match[2].strip(), unit=unit)
    if match := _AT.fullmatch(text):
        if match[2] in ("end", "start"):
            return Reading(name, match[2], match[1].strip(), unit=unit)
        time = quantity(match[2], "s", None, f"the time of {what}")
        if time < 0:
            raise RunError(f"{what} is asked for at {time:g} s", fix="give a time from zero on")
        return Reading(name, "at", match[1].strip(), time, unit)
    raise RunError(f"{what} is '{text[:60]}', which says nothing of when", fix=FIX)


# --- numbers out of trajectories ---------------------------------------------------------------------------------
def over(how: str, time: np.ndarray, values: np.ndarray, end: np.ndarray, last: np.ndarray) -> np.ndarray:
    """max, mean … of values (sample, time), NaN from a sample's end on, where it was `last` at time `end`."""
    if how in ("max", "min", "range"):
        most = np.fmax(np.fmax.reduce(values, axis=1), last)
        least = np.fmin(np.fmin.reduce(values, axis=1), last)
        return most if how == "max" else least if how == "min" else most - least
    if how.startswith("time of"):
        return _when(1.0 if how.endswith("max") else -1.0, time, values, end, last)
    area, until = np.zeros(len(values)), np.zeros(len(values))
    before = values[:, 0] if how == "mean" else values[:, 0] * values[:, 0]
    final = last if how == "mean" else last * last
    for k in range(1, len(time)):  # trapezia, in order
        here = values[:, k] if how == "mean" else values[:, k] * values[:, k]
        there = np.isfinite(here)
        area = np.where(there, area + 0.5 * (time[k] - time[k - 1]) * (before + here), area)
        until, before = np.where(there, time[k], until), np.where(there, here, before)
    area = area + 0.5 * (end - until) * (before + final)
    average = np.where(end > 0, area / np.where(end > 0, end, 1.0), final)
    return average if how == "mean" else np.sqrt(average)


def _when(sign: float, time: np.ndarray, values: np.ndarray, end: np.ndarray, last: np.ndarray) -> np.ndarray:
    best, at = np.full(len(values), -np.inf), np.full(len(values), np.nan)
    for k in range(len(time)):
        better = sign * values[:, k] > best
        best, at = np.where(better, sign * values[:, k], best), np.where(better, time[k], at)
    return np.where(sign * last > best, end, at)


def happened(found: Trajectories, readings: Sequence[Reading], ok: np.ndarray) -> dict[str, np.ndarray]:
    """First times and counts of events, by name."""
    kept: dict[str, np.ndarray] = {}
    times, numbers = found.events.times, found.events.numbers

    def first(k: int) -> np.ndarray:
        return _least(np.where(numbers == k, times, np.inf))

    def last(k: int) -> np.ndarray:
        return -_least(np.where(numbers == k, -times, np.inf))

    def count(k: int) -> np.ndarray:
        return np.sum(numbers == k, axis=1).astype(np.float64)

    how: dict[str, Callable[[int], np.ndarray]] = {"first": first, "last": last, "count": count}
    for k, name in enumerate(found.events.names):
        kept |= {f"event:{name}": first(k), f"count:{name}": count(k)}
        for r in readings:
            if r.how in how and r.what == name:
                kept[f"value:{r.name}"] = np.where(ok, how[r.how](k), np.nan)
    return kept


def _least(times: np.ndarray) -> np.ndarray:
    least = np.minimum.reduce(times, axis=1, initial=np.inf)
    return np.where(np.isfinite(least), least, np.nan)
