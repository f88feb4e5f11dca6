"""Docking with probe and cone: `lw.docking.DockingStudy()` runs random first contacts to their end."""

from linkwork.docking.probe_cone import Capture, Docking, apart, contact, joined, limiter, stops
from linkwork.docking.recorded import COLUMNS, recorded
from linkwork.docking.study import BOX, DockingStudy
from linkwork.docking.vehicles import CHASER, STATION, TARGET, Cone, Design, Latch, Mode, Probe, Vehicle

__all__ = [
    "BOX",
    "CHASER",
    "COLUMNS",
    "STATION",
    "TARGET",
    "Capture",
    "Cone",
    "Design",
    "Docking",
    "DockingStudy",
    "Latch",
    "Mode",
    "Probe",
    "Vehicle",
    "apart",
    "contact",
    "joined",
    "limiter",
    "recorded",
    "stops",
]
