"""Events as statements of a program: seen on the accepted step, located on its dense output, acted upon.

A step is looked at in quarters. That a component changes sign is first seen on the cubic Hermite polynomial,
which costs no evaluation; then the quarters are gone through in time on the dense output, and the earliest
change of sign is enclosed by the Illinois method, every fourth turn a bisection, to `event_tolerance` times
the step. Several components may cross in one interval: the secant's earliest zero is tried, and an interval
is kept if any component crosses in it, so the enclosure closes on the first. The event's time is the far end
of the enclosure.

The value an event is compared with next is kept with the sign it is to have: after an event was acted upon,
the sign it has moved to; after a reset, the sign its rate leads to, so that a ball leaving the floor is seen
to be above it, and one left at rest on it is seen to fall again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import casadi as ca

from ..compiler.program import Assign, Statement, View, call, for_rows, when
from .control import EPSILON, TINY_TIME, Status
from .explicit import copy
from .motion import Event, Motion
from .sheet import Sheet, traced

QUARTERS = 4
INSTANT = 256
"""Resets nearer to one another than so many units in the last place of t count as simultaneous."""
TINY = 1e-300
"""Stands for zero where a sign is wanted."""


@dataclass(frozen=True)
class Watch:
    """Rows for events. `g` are the values at the left end of what is still to be looked at."""

    motion: Motion
    g: View
    hold: View
    """Per event, when a motion begins: 0 nothing, ±1 the sign to keep, ±2 the sign it had when it fired."""
    maybe: View
    cut: View
    """Mask: the step ends at an event, at time `t_cut` in state `y_cut`."""
    t_cut: View
    y_cut: View
    which: View
    stopped: View
    f: View
    ends: View
    """Values at quarters of the step, then of the right end of an interval and at a trial point."""
    span: View
    """left, right, a, b, side, tries."""
    searching: View
    found: View
    refining: View
    fired: View
    noted: View
    cut_now: View
    place: View
    time: View
    reset_mask: View
    stuck: View
    """How many resets in a row have come without time going on, and the last of them."""
    latest: View

    @property
    def count(self) -> int:
        return self.g.rows


def watch(motion: Motion, s: Sheet) -> Watch:
    """Declare the rows."""
    m = len(motion.event_list)

    def rows(name: str, count: int = 1) -> View:
        return s.layout.rows(f"event {name}", count)

    masks = (
        "searching",
        "found",
        "refining",
        "fired",
        "noted",
        "cut_now",
        "place",
        "time",
        "reset_mask",
        "stuck",
        "latest",
    )
    return Watch(
        motion, rows("g", m), rows("hold", m), rows("maybe"), rows("cut"), rows("t_cut"), rows("y_cut", s.n),
        rows("which"), rows("stopped"), rows("f", m), rows("ends", m * QUARTERS), rows("span", 6),
        *(rows(name) for name in masks),
    )  # fmt: skip


def crossed(a: ca.SX, b: ca.SX, events: tuple[Event, ...]) -> list[ca.SX]:
    """Which components change sign from a to b in the direction that is asked for."""
    masks = []
    for k, event in enumerate(events):
        falls = ca.logic_and(a[k] > 0, b[k] <= 0)
        rises = ca.logic_and(a[k] < 0, b[k] >= 0)
        masks.append(falls if event.direction < 0 else rises if event.direction > 0 else ca.logic_or(falls, rises))
    return masks


def any_of(masks: list[ca.SX]) -> ca.SX:
    total = masks[0]
    for mask in masks[1:]:
        total = ca.logic_or(total, mask)
    return total


def forget(w: Watch, got: View) -> Statement:
    """A new sample knows nothing of the events of the one before it in its lane."""
    m = w.count
    blank = traced("forget", (1, m, 1, 1), lambda got, hold, stuck, latest: [
        ca.if_else(got, 0, hold), ca.if_else(got, 0, stuck), ca.if_else(got, -1, latest)
    ])  # fmt: skip
    return call(blank, (got, w.hold, w.stuck, w.latest), (w.hold, w.stuck, w.latest))


def arm(w: Watch, s: Sheet, step: View) -> list[Statement]:
    """Where a motion begins: g with the sign it has, or is about to have. Needs stage 0 and the step wanted.

    What was acted upon gets the size it is about to have too, lest the search find the old zero again.
    """
    motion, m = w.motion, w.count
    events = motion.events
    assert events is not None

    def formula(fresh, hold, old, t, y, p, rate, step):
        g = events(t, y, p)
        slope = ca.jtimes(g, y, rate) + ca.jtimes(g, t, ca.SX(1))
        rows, held = [], []
        for k in range(m):
            size = ca.fmax(ca.fabs(g[k]), TINY)
            led = ca.if_else(slope[k] == 0, g[k], ca.sign(slope[k]) * size + slope[k] * step)
            here = ca.if_else(g[k] == 0, led, g[k])
            acted = ca.if_else(slope[k] == 0, ca.sign(hold[k]) * size, led)
            value = ca.if_else(hold[k] == 0, here, ca.if_else(ca.fabs(hold[k]) == 2, acted, hold[k] * size))
            rows.append(ca.if_else(fresh, value, old[k]))
            held.append(ca.if_else(fresh, 0, hold[k]))
        return [ca.vertcat(*rows), ca.vertcat(*held)]

    function = traced("arm", (1, m, m, 1, s.n, s.p.rows, s.n, 1), formula)
    inputs = (s.fresh, w.hold, w.g, s.t, s.y, s.p, s.stage(0), step)
    return [call(function, inputs, (w.g, w.hold))]


def scan(w: Watch, s: Sheet) -> list[Statement]:
    """`maybe` = a sign changes between quarters of the step; clears what the last step left."""
    motion, m = w.motion, w.count
    assert motion.events is not None
    body: list[Statement] = []
    for j in range(1, QUARTERS):
        x = j / QUARTERS

        def hermite(y, y1, size, k0, k1, x=x):
            r1 = y1 - y
            r2 = size * k0 - r1
            return [y + x * (r1 + (1 - x) * (r2 + x * (2 * r1 - size * (k0 + k1))))]

        moment = traced("moment", (1, 1), lambda t, size, x=x: [t + x * size])
        inputs = (s.y.each(), s.y1.each(), s.size, s.stage(0).each(), s.last.each())
        body += [
            for_rows(s.n, traced("hermite", (1,) * 5, hermite), inputs, (s.out.each(),)),
            call(moment, (s.t, s.size), (w.time,)),
            call(motion.events, (w.time, s.out, s.p), (w.ends[(j - 1) * m : j * m],)),
        ]
    body.append(call(motion.events, (s.t1, s.y1, s.p), (w.ends[(QUARTERS - 1) * m :],)))

    def formula(accepted, g, ends, t1):
        chain = [g, *ca.vertsplit(ends, m)]
        seen = [any_of(crossed(a, b, motion.event_list)) for a, b in pairwise(chain)]
        return [ca.logic_and(accepted, any_of(seen)), 0, t1, 0]

    decide = traced("seen", (1, m, m * QUARTERS, 1), formula)
    body.append(call(decide, (s.accepted, w.g, w.ends, s.t1), (w.maybe, w.cut, w.t_cut, w.stopped)))
    keep = traced("keep_g", (1, m, m), lambda yes, new, old: [ca.if_else(yes, new, old)])
    return [
        *body,
        copy(s.accepted, w.f, w.g),
        call(keep, (s.accepted, w.ends[(QUARTERS - 1) * m :], w.g), (w.g,)),
    ]


def act(w: Watch, s: Sheet, failed: View) -> Statement:
    """Where the step was cut: y1, t1 become the state and time of the event, after its reset.

    The same reset twice at one time, or more resets than there are events (a ball coming to rest), end the
    sample.
    """
    body: list[Statement] = []
    for k, event in enumerate(w.motion.event_list):
        if event.reset is None:
            continue
        mask = traced("is_event", (1, 1), lambda cut, which, k=k: [ca.logic_and(cut, which == k)])
        body += [
            call(mask, (w.cut, w.which), (w.reset_mask,)),
            call(event.reset, (w.t_cut, w.y_cut, s.p), (s.work,)),
            Assign(w.reset_mask, w.y_cut, s.work),
        ]
    stops = [float(event.action == "stop") for event in w.motion.event_list]

    def formula(cut, which, fresh, t, t_cut, stuck, latest, failed, status):
        stop = ca.SX(0)
        for k, yes in enumerate(stops):
            stop = ca.if_else(which == k, yes, stop)
        still = t_cut - t <= INSTANT * EPSILON * ca.fmax(ca.fabs(t), TINY_TIME)
        again = ca.if_else(which == latest, w.count + 1, stuck + 1)
        stuck = ca.if_else(cut, ca.if_else(still, again, 0), stuck)
        fails = ca.logic_and(cut, stuck > w.count)
        return [
            ca.logic_and(cut, stop),
            ca.if_else(ca.logic_and(cut, ca.logic_not(stop)), 1, fresh),
            ca.if_else(fails, 0, stuck),
            ca.if_else(cut, which, latest),
            ca.logic_or(failed, fails),
            ca.if_else(fails, int(Status.UNDERFLOW), status),
        ]

    status = s.noted("status")
    inputs = (w.cut, w.which, s.fresh, s.t, w.t_cut, w.stuck, w.latest, failed, status)
    outputs = (w.stopped, s.fresh, w.stuck, w.latest, failed, status)
    return when(
        w.cut, *body, *s.projected(w.y_cut),
        Assign(w.cut, s.y1, w.y_cut), Assign(w.cut, s.t1, w.t_cut),
        call(traced("stop", (1,) * 9, formula), inputs, outputs),
    )  # fmt: skip
