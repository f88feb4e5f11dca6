"""In which order the values of a tape are computed, and where a long tape is cut."""

from __future__ import annotations

from collections.abc import Sequence

from .tape import LEAVES, LIBRARY, Tape

EARLY = 24
"""An elementary function whose argument needs at most so many operations is evaluated at the start."""


def arrange(tape: Tape) -> Tape:
    """Elementary functions of little-computed arguments first, then CasADi's own depth-first order.

    A call leaves no vector register alone; before anything else is alive it spills nothing. Both halves of a
    sine and cosine follow their call.
    """
    nodes = tape.nodes
    size = [0] * len(nodes)
    first = [False] * len(nodes)
    for k, node in enumerate(nodes):
        if node[0] not in LEAVES:
            size[k] = min(1 + sum(size[a] for a in node[1:]), EARLY + 1)
        if node[0] in LIBRARY and size[k] <= EARLY:
            first[k] = True
    for k in range(len(nodes) - 1, -1, -1):
        if first[k] and nodes[k][0] not in LEAVES:
            for a in nodes[k][1:]:
                first[a] = True
    halves: dict[int, list[int]] = {}
    for k, node in enumerate(nodes):
        if node[0] in ("sin", "cos"):
            halves.setdefault(node[1], []).append(k)
    order: list[int] = []
    for wanted in (True, False):
        for k, node in enumerate(nodes):
            if node[0] not in ("sin", "cos") and first[k] == wanted:
                order.append(k)
                order.extend(halves.get(k, ()))
    return permuted(tape, order)


def permuted(tape: Tape, order: Sequence[int]) -> Tape:
    """The same values in another order."""
    number = {k: position for position, k in enumerate(order)}
    nodes = [
        tape.nodes[k] if tape.nodes[k][0] in LEAVES else (tape.nodes[k][0], *[number[a] for a in tape.nodes[k][1:]])
        for k in order
    ]
    return Tape(nodes, [[None if r is None else number[r] for r in rows] for rows in tape.outputs])


def cuts(tape: Tape, chunk: int) -> list[int]:
    """Where each part begins: every `chunk` operations or up to a fifth earlier, where fewest cross."""
    nodes = tape.nodes
    last = list(range(len(nodes)))
    for k, node in enumerate(nodes):
        if node[0] not in LEAVES:
            for a in node[1:]:
                last[a] = k
    ends = [0] * (len(nodes) + 1)
    alive = 0
    live: list[int] = []
    for k, node in enumerate(nodes):
        live.append(alive if node[0] not in ("sin", "cos") else len(nodes))
        alive -= ends[k]
        if node[0] not in LEAVES and last[k] > k:
            alive += 1
            ends[last[k]] += 1
    starts = [0]
    while len(nodes) - starts[-1] > chunk:
        stop = starts[-1] + chunk
        start = max(starts[-1] + 1, stop - chunk // 5)
        starts.append(min(range(start, stop + 1), key=lambda k: (live[k], -k)))
    return starts
