"""A docking study from the `options` of a plan: numbers with units, every one of which may be left out.

study: docking
options:
  target: station                       # or module, or {mass: 30 t, inertia: [6e4, 4e5, 4e5 kg*m^2], port: 6 m}
  probe: {axial_damping: 3 kN*s/m}      # and chaser, cone, latch, capture: fields of the records of those names
  cone: {restitution: 0.3}              # at 0.2 m/s, in place of dissipation
  modes: [{motion: turn, axis: y, frequency: 0.8 Hz}]
  thrust: 1.5 kN
  control: {frequency: 0.2 rad/s, damping: 0.7}            # or none
  until: 10 s
  times: 50                             # equal intervals at which some of the motion is kept; none without
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from linkwork.docking.check import RESTITUTION_AT, check
from linkwork.docking.probe_cone import Capture, Docking
from linkwork.docking.study import DockingStudy
from linkwork.docking.vehicles import CHASER, STATION, TARGET, Design, Mode
from linkwork.docking.words import LATCH, UNITS
from linkwork.errors import RunError, nearest
from linkwork.model import contacts
from linkwork.model.units import quantity

VEHICLES = {"soyuz": CHASER, "module": TARGET, "station": STATION}
RUN = ("until", "gap", "method", "rtol", "atol", "max_steps", "times")
ADAPTIVE = ("dop853", "dopri5", "rodas5p")


def docking(**options: Any) -> DockingStudy:
    """The study of these options."""
    known = (*(f.name for f in fields(Design)), "capture", *RUN)
    for name in options:
        if name not in known:
            raise RunError(f"a docking has no option '{name}'", fix=nearest(name, known))
    told = {name: x for name, x in options.items() if x is not None or name == "control"}
    design, base = {name: READ[name](told[name]) for name in told if name in READ}, Design()
    for name in ("probe", "cone", "latch"):
        if name in told:
            design[name] = _record(getattr(base, name), told[name], name)
    if "probe" in design and "seat" not in (told.get("cone") or {}):  # it fits the head that is told
        cone = design.get("cone", base.cone)
        design["cone"] = replace(cone, seat=design["probe"].head + base.cone.seat - base.probe.head)
    run = {"intervals" if n == "times" else n: _setting(n, told[n]) for n in RUN if n in told}
    capture = _record(Capture(), told.get("capture", {}), "capture")
    study = DockingStudy(Docking(replace(base, **design), capture), **run, options=options)
    check(study.docking)
    return study


def _record(base: Any, given: Any, what: str) -> Any:
    """A record with some of its fields told anew."""
    known, mine = [f.name for f in fields(base)], _mapping(given, what)
    units = LATCH if what == "latch" else UNITS
    more = ["restitution"] if what == "cone" else []
    found: dict[str, Any] = {}
    for name, x in mine.items():
        if name not in (*known, *more):
            raise RunError(f"{what} of the docking has no '{name}'", fix=nearest(name, [*known, *more]))
        if name == "restitution":
            e = quantity(x, "1", None, "restitution of the cone")
            found["dissipation"] = contacts.dissipation(e, RESTITUTION_AT)
        else:
            several = len(getattr(base, name)) if isinstance(getattr(base, name), tuple) else 0
            found[name] = _numbers(x, units[name], f"{name} of {what}", several)
    return replace(base, **found)


def _numbers(x: Any, unit: str, what: str, several: int) -> Any:
    if not several:
        return quantity(x, unit, None, what)
    if not isinstance(x, (list, tuple)) or len(x) != several:
        raise RunError(f"{what} is {x!r}", fix=f"give {several} numbers: [{', '.join(['…'] * several)}]")
    return tuple(quantity(one, unit, None, what) for one in x)


def _mapping(given: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise RunError(f"{what} of the docking is {given!r}", fix=f"write {what}: {{name: value}}")
    return given


def _vehicle(what: str, base: Any) -> Callable[[Any], Any]:
    def read(given: Any) -> Any:
        if not isinstance(given, str):
            return _record(base, given, what)
        if given not in VEHICLES:
            raise RunError(f"{what} of the docking is an unknown vehicle '{given}'", fix=nearest(given, VEHICLES))
        return VEHICLES[given]

    return read


def _modes(given: Any) -> tuple[Mode, ...]:
    if not isinstance(given, (list, tuple)):
        raise RunError(f"modes of the docking is {given!r}", fix="modes: [{motion: turn, axis: y, frequency: 0.8 Hz}]")
    return tuple(_mode(_mapping(one, f"mode {k + 1}"), f"mode {k + 1}") for k, one in enumerate(given))


def _mode(given: Mapping[str, Any], what: str) -> Mode:
    known = [f.name for f in fields(Mode)]
    for name in given:
        if name not in known:
            raise RunError(f"{what} of the docking has no '{name}'", fix=nearest(name, known))
    for name, choices in (("motion", ("slide", "turn")), ("axis", ("x", "y", "z", "-x", "-y", "-z"))):
        if given.get(name) not in choices:
            raise RunError(f"{name} of {what} is {given.get(name)!r}", fix=f"one of {', '.join(choices)}")
    frequency = quantity(given.get("frequency"), "1/s", None, f"frequency of {what}")
    damping = quantity(given.get("damping", 0.01), "1", None, f"damping of {what}")
    if not frequency > 0 or damping < 0:
        raise RunError(f"{what} has {frequency:g} Hz and damping {damping:g}", fix="above zero; zero or more")
    return Mode(given["motion"], given["axis"], frequency, damping)


def _control(given: Any) -> tuple[float, float] | None:
    if given is None or given in ("none", False):
        return None
    mine = _mapping(given, "control")
    for name in mine:
        if name not in ("frequency", "damping"):
            raise RunError(f"control of the docking has no '{name}'", fix=nearest(name, ("frequency", "damping")))
    frequency = quantity(mine.get("frequency", 0.2), "rad/s", None, "frequency of the control")
    return frequency, quantity(mine.get("damping", 0.7), "1", None, "damping of the control")


def _setting(name: str, x: Any) -> Any:
    if name == "method":
        if x not in ADAPTIVE:
            raise RunError(f"method of the docking is {x!r}", fix=nearest(str(x), ADAPTIVE))
        return x
    if name in ("max_steps", "times"):
        if type(x) is not int or x < 1:
            raise RunError(f"{name} of the docking is {x!r}", fix="give a whole number, one or more")
        return x
    return quantity(x, UNITS[name], None, f"{name} of the docking")


def _yes(x: Any) -> bool:
    if not isinstance(x, bool):
        raise RunError(f"rigid of the docking is {x!r}", fix="rigid: true or false")
    return x


READ: dict[str, Callable[[Any], Any]] = {
    "chaser": _vehicle("chaser", CHASER),
    "target": _vehicle("target", TARGET),
    "modes": _modes,
    "port_mass": lambda x: quantity(x, "kg", None, "port_mass of the docking"),
    "port_inertia": lambda x: _numbers(x, "kg*m^2", "port_inertia of the docking", 3),
    "thrust": lambda x: quantity(x, "N", None, "thrust of the docking"),
    "control": _control,
    "rigid": _yes,
}
