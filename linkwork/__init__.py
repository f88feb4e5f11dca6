"""Linkwork: dynamics of mechanisms made of rigid bodies.

model  = lw.read("arm.yaml")                       what it is
motion = lw.equations(model, lw.aba)               what it does
kernel = lw.compile(motion)                        how fast
run    = lw.simulate(model, until=5.0)             what happened
lw.plot(run)                                       picture
found  = lw.sweep(model, vary, samples=1000, …)     many samples, kept and evaluated
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwork.display import animate, page, plot
from linkwork.driven import Event, system
from linkwork.dynamics.aba import aba
from linkwork.dynamics.block_drives import drive_forces, link_forces
from linkwork.dynamics.block_matrix import block_matrix
from linkwork.dynamics.crba import crba, forward
from linkwork.dynamics.docking_open import docking_open
from linkwork.dynamics.docking_rows import Base
from linkwork.dynamics.docking_spacecraft import Modes, Spacecraft, docking_spacecraft
from linkwork.dynamics.docking_tree import docking_tree
from linkwork.dynamics.energy import (
    centre_of_mass,
    energy,
    gravity_energy,
    kinetic_energy,
    momentum,
    potential_energy,
    spring_energy,
)
from linkwork.dynamics.fictitious_chain import chain_state, fictitious_chain
from linkwork.dynamics.formulation import returns
from linkwork.dynamics.kane_graph import kane_graph
from linkwork.dynamics.kane_loops import marker_rows
from linkwork.dynamics.kinematics import (
    acceleration,
    difference,
    integrate,
    jacobian,
    position,
    rotation_of,
    velocity,
)
from linkwork.dynamics.rnea import bias, gravity_forces, rnea, wrenches
from linkwork.dynamics.separate_bodies import separate_bodies
from linkwork.dynamics.separate_bodies_planar import separate_bodies_planar
from linkwork.errors import CompileError, LinkworkError, ModelError, RunError
from linkwork.experiment import simulate
from linkwork.linear import linearize
from linkwork.model import laws, shapes
from linkwork.model.mechanism import Mechanism
from linkwork.model.model import Model
from linkwork.model.native import read_yaml, write_yaml
from linkwork.model.read import read
from linkwork.model.tables import read_tables, write_tables
from linkwork.model.urdf import read_urdf
from linkwork.result import Result
from linkwork.system import Equations, compile, equations, function
from linkwork.verify import Agreement, verify

if TYPE_CHECKING:
    from linkwork import docking
    from linkwork.phases import Phase, Study
    from linkwork.sweeps import SweepResult, read_sweep, report, sweep

__version__ = "0.1.0"

LATER = {
    **dict.fromkeys(("Phase", "Study"), "linkwork.phases"),
    **dict.fromkeys(("SweepResult", "read_sweep", "report", "sweep"), "linkwork.sweeps"),
}
"""Names that are imported when they are first used: many a program runs one model only."""
MODULES = ("docking", "phases")


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return import_module(f"linkwork.{name}")
    if name not in LATER:
        raise AttributeError(f"module 'linkwork' has no attribute '{name}'")
    globals()[name] = found = getattr(import_module(LATER[name]), name)
    return found


__all__ = [
    "Agreement",
    "Base",
    "CompileError",
    "Equations",
    "Event",
    "LinkworkError",
    "Mechanism",
    "Model",
    "ModelError",
    "Modes",
    "Phase",
    "Result",
    "RunError",
    "Spacecraft",
    "Study",
    "SweepResult",
    "aba",
    "acceleration",
    "animate",
    "bias",
    "block_matrix",
    "centre_of_mass",
    "chain_state",
    "compile",
    "crba",
    "difference",
    "docking",
    "docking_open",
    "docking_spacecraft",
    "docking_tree",
    "drive_forces",
    "energy",
    "equations",
    "fictitious_chain",
    "forward",
    "function",
    "gravity_energy",
    "gravity_forces",
    "integrate",
    "jacobian",
    "kane_graph",
    "kinetic_energy",
    "laws",
    "linearize",
    "link_forces",
    "marker_rows",
    "momentum",
    "page",
    "plot",
    "position",
    "potential_energy",
    "read",
    "read_sweep",
    "read_tables",
    "read_urdf",
    "read_yaml",
    "report",
    "returns",
    "rnea",
    "rotation_of",
    "separate_bodies",
    "separate_bodies_planar",
    "shapes",
    "simulate",
    "spring_energy",
    "sweep",
    "system",
    "velocity",
    "verify",
    "wrenches",
    "write_tables",
    "write_yaml",
]
