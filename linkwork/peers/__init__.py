"""Other packages, asked the same questions in our terms. They are optional and imported when they are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Protocol

import numpy as np

from linkwork.errors import RunError, nearest
from linkwork.model.model import Model


class Peer(Protocol):
    """A model in another package: calling it with a state gives quantities by name, as `dynamics.formulation` has them.

    told    of quantities of which it does not tell every entry: which it tells
    notes   what is known about its answers, after they were given
    """

    version: str
    gives: tuple[str, ...]
    told: Mapping[str, np.ndarray]

    @property
    def notes(self) -> list[str]: ...

    def __call__(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, f_ext: np.ndarray, t: np.ndarray
    ) -> dict[str, np.ndarray]: ...


def _pinocchio(model: Model) -> Peer:
    from linkwork.peers.by_pinocchio import Pinocchio

    return Pinocchio(model)


def _mujoco(model: Model) -> Peer:
    from linkwork.peers.by_mujoco import Mujoco

    return Mujoco(model)


PEERS: dict[str, Callable[[Model], Peer]] = {"pinocchio": _pinocchio, "mujoco": _mujoco}
PACKAGES = {"pinocchio": "pin", "mujoco": "mujoco"}
"""What they are called where packages are installed from."""


def peer(name: str) -> Callable[[Model], Peer]:
    """What makes a peer of a model; RunError for one that is not known or not installed."""
    if name not in PEERS:
        raise RunError(f"there is no peer '{name}'", fix=nearest(name, PEERS))
    if find_spec(name) is None:
        raise RunError(f"the peer '{name}' is not installed", fix=f"pip install {PACKAGES[name]}")
    return PEERS[name]
