"""CasADi functions made into machine code whose SIMD lanes are samples."""

from .kernel import Kernel, compile_function
from .lower import Lowered, lower
from .ports import Outputs, Port

__all__ = ["Kernel", "Lowered", "Outputs", "Port", "compile_function", "lower"]
