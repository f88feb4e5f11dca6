"""Which results can a system give? A text that differs when any of its numbers or equations does."""

from __future__ import annotations

import hashlib

import casadi as ca
import numpy as np

from linkwork.driven import System


def fingerprint(system: System, kept: ca.Function) -> str:
    """SHA-256 of the traced equations, of what is kept of a motion, of start and parameters as the model has them."""
    motion, whole = system.motion, hashlib.sha256()
    graphs = [motion.rhs, motion.advance, motion.project, motion.events, kept]
    graphs += [event.reset for event in motion.event_list]
    for graph in graphs:
        if isinstance(graph, ca.Function):
            whole.update(graph.serialize().encode())
        elif graph is not None:  # loops over tables: the model's own numbers and tree stand for them
            m = system.model
            tree = [(body.name, parent) for body, parent in zip(m.bodies, m.parent, strict=True)]
            whole.update(repr((sorted(m.values.items()), tree, [m.kind(i).name for i in m.tree])).encode())
        whole.update(b"\0")
    for event in motion.event_list:
        whole.update(f"{event.name} {event.action} {event.direction}\0".encode())
    for array in (system.start(None), system.parameters()[0]):
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()
