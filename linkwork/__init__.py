"""Linkwork: dynamics of mechanisms made of rigid bodies.

model  = lw.read("arm.yaml")                       what it is
motion = lw.equations(model, lw.aba)               what it does
kernel = lw.compile(motion)                        how fast
run    = lw.simulate(model, until=5.0)             what happened
lw.plot(run)                                       picture
"""

from linkwork.display import page, plot
from linkwork.driven import Event, system
from linkwork.dynamics.aba import aba
from linkwork.dynamics.crba import crba, forward
from linkwork.dynamics.energy import (
    centre_of_mass,
    energy,
    gravity_energy,
    kinetic_energy,
    momentum,
    potential_energy,
    spring_energy,
)
from linkwork.dynamics.formulation import returns
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

__version__ = "0.1.0"

__all__ = [
    "CompileError",
    "Equations",
    "Event",
    "LinkworkError",
    "Mechanism",
    "Model",
    "ModelError",
    "Result",
    "RunError",
    "aba",
    "acceleration",
    "bias",
    "centre_of_mass",
    "compile",
    "crba",
    "difference",
    "energy",
    "equations",
    "forward",
    "function",
    "gravity_energy",
    "gravity_forces",
    "integrate",
    "jacobian",
    "kinetic_energy",
    "laws",
    "linearize",
    "momentum",
    "page",
    "plot",
    "position",
    "potential_energy",
    "read",
    "read_tables",
    "read_urdf",
    "read_yaml",
    "returns",
    "rnea",
    "rotation_of",
    "shapes",
    "simulate",
    "spring_energy",
    "system",
    "velocity",
    "wrenches",
    "write_tables",
    "write_yaml",
]
