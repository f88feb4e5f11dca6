"""Events as statements of a program: seen on the accepted step, located on its dense output, acted upon.

A step is looked at in quarters. That a component changes sign is first seen on the cubic Hermite polynomial, which costs
no evaluation; then the quarters are gone through in time on the dense output, and the earliest change of sign is
enclosed by the Illinois method, every fourth turn a bisection, to `event_tolerance` times the step. Several components
may cross in one interval: the secant's earliest zero is tried, and an interval is kept if any component crosses in it,
so the enclosure closes on the first. The event's time is the far end of the enclosure.

The value an event is compared with next is kept with the sign it is to have: after an event was acted upon, the sign
it has moved to; after a reset, the sign its rate leads to, so that a ball leaving the floor is seen to be above it.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..compiler.program import Assign, Scatter, Statement, View, While, call, for_rows, when
from .explicit import Method, copy
from .motion import Event, Motion
from .sheet import Sheet, traced

QUARTERS = 4
TRIES = 200
TINY = 1e-300
"""Stands for zero where a sign is wanted."""


@dataclass(frozen=True)
class Watch:
    """Rows for events. `g` are the values at the left end of what is still to be looked at."""

    motion: Motion
    g: View
    hold: View
    """Per event, for the next beginning: 0 nothing, 2 it was acted upon, ±1 the sign it must keep."""
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

    @property
    def count(self) -> int:
        return self.g.rows


def watch(motion: Motion, s: Sheet) -> Watch:
    """Declare the rows."""
    m = len(motion.event_list)
    def rows(name: str, count: int = 1) -> View:
        return s.layout.rows(f"event {name}", count)

    masks = ("searching", "found", "refining", "fired", "noted", "cut_now", "place", "time", "reset_mask")
    return Watch(
        motion, rows("g", m), rows("hold", m), rows("maybe"), rows("cut"), rows("t_cut"), rows("y_cut", s.n),
        rows("which"), rows("stopped"), rows("f", m), rows("ends", m * QUARTERS), rows("span", 6),
        *(rows(name) for name in masks),
    )  # fmt: skip


def _crossed(a: ca.SX, b: ca.SX, events: tuple[Event, ...]) -> list[ca.SX]:
    """Which components change sign from a to b in the direction that is asked for."""
    masks = []
    for k, event in enumerate(events):
        falls = ca.logic_and(a[k] > 0, b[k] <= 0)
        rises = ca.logic_and(a[k] < 0, b[k] >= 0)
        masks.append(
            falls if event.direction < 0 else rises if event.direction > 0 else ca.logic_or(falls, rises)
        )
    return masks


def _any(masks: list[ca.SX]) -> ca.SX:
    total = masks[0]
    for mask in masks[1:]:
        total = ca.logic_or(total, mask)
    return total


def arm(w: Watch, s: Sheet) -> list[Statement]:
    """Where a motion begins: g with the sign it has, or is about to have. Needs stage 0."""
    motion, m = w.motion, w.count
    events = motion.events
    assert events is not None

    def formula(fresh, hold, old, t, y, p, rate):
        g = events(t, y, p)
        slope = ca.jtimes(g, y, rate) + ca.jtimes(g, t, ca.SX(1))
        rows, held = [], []
        for k in range(m):
            size = ca.fmax(ca.fabs(g[k]), TINY)
            led = ca.if_else(slope[k] == 0, g[k], ca.if_else(slope[k] > 0, size, -size))
            here = ca.if_else(g[k] == 0, led, g[k])
            value = ca.if_else(hold[k] == 0, here, ca.if_else(hold[k] == 2, led, hold[k] * size))
            rows.append(ca.if_else(fresh, value, old[k]))
            held.append(ca.if_else(fresh, 0, hold[k]))
        return [ca.vertcat(*rows), ca.vertcat(*held)]

    function = traced("arm", (1, m, m, 1, s.n, s.p.rows, s.n), formula)
    inputs = (s.fresh, w.hold, w.g, s.t, s.y, s.p, s.stage(0))
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
        crossed = [_any(_crossed(a, b, motion.event_list)) for a, b in zip(chain, chain[1:], strict=False)]
        return [ca.logic_and(accepted, _any(crossed)), 0, t1, 0]

    decide = traced("seen", (1, m, m * QUARTERS, 1), formula)
    body.append(call(decide, (s.accepted, w.g, w.ends, s.t1), (w.maybe, w.cut, w.t_cut, w.stopped)))
    keep = traced("keep_g", (1, m, m), lambda yes, new, old: [ca.if_else(yes, new, old)])
    return [
        *body,
        copy(s.accepted, w.f, w.g),
        call(keep, (s.accepted, w.ends[(QUARTERS - 1) * m :], w.g), (w.g,)),
    ]


def search(w: Watch, s: Sheet, method: Method) -> Statement:
    """In the lanes of `maybe`: find events in the order of time until one ends the step. Dense output is ready."""
    m, motion = w.count, w.motion
    right, trial = w.ends[:m], w.ends[m : 2 * m]
    left, to, a, b, side, tries = w.span
    begin = traced("begin", (1,), lambda maybe: [maybe, 0])
    begin_call = call(begin, (w.maybe,), (w.searching, left))

    def next_interval(x):
        return [ca.fmin((ca.floor(x * QUARTERS + 1e-9) + 1) / QUARTERS, 1)]

    def enclose(searching, f, g, x, y):
        found = ca.logic_and(searching, _any(_crossed(f, g, motion.event_list)))
        return [found, found, x, y, 0, 0]

    evaluate = _evaluator(w, s, method)
    loop: list[Statement] = [
        call(traced("next_interval", (1,), next_interval), (left,), (to,)),
        *evaluate(to, right),
        call(
            traced("enclose", (1, m, m, 1, 1), enclose),
            (w.searching, w.f, right, left, to),
            (w.found, w.refining, a, b, side, tries),
        ),
        While(w.refining, (*_refine(w, s, right, trial, evaluate),)),
        *_fire(w, s, right),
        when(w.fired, *_note(w, s)),
        when(w.cut_now, *evaluate(b, trial), Assign(w.cut_now, w.y_cut, s.out)),
    ]
    # whatever was not cut is compared from its end on
    finish = traced(
        "rest", (1, 1, m, m), lambda maybe, cut, f, g: [ca.if_else(ca.logic_and(maybe, 1 - cut), f, g)]
    )
    return when(
        w.maybe, begin_call, While(w.searching, tuple(loop)), call(finish, (w.maybe, w.cut, w.f, w.g), (w.g,))
    )


def _evaluator(w: Watch, s: Sheet, method: Method):
    """Statements for `to` = events at t + x size, from dense output (put back on its manifold)."""
    events = w.motion.events
    assert events is not None
    point = traced("point", (1, 1, 1, 1), lambda x, t, t1, h: [x, ca.if_else(x >= 1, t1, t + x * h)])

    def evaluate(x: View, to: View) -> list[Statement]:
        return [
            call(point, (x, s.t, s.t1, s.size), (s.theta, w.time)),
            *method.interpolate(s),
            *s.projected(s.out),
            call(events, (w.time, s.out, s.p), (to,)),
        ]

    return evaluate


def _refine(w: Watch, s: Sheet, right: View, trial: View, evaluate) -> list[Statement]:
    """One turn of enclosing the first change of sign in [a, b]."""
    m, events = w.count, w.motion.event_list
    _, _, a, b, side, tries = w.span

    def choose(a, b, f, g, tries, tolerance):
        first = b
        for k, mask in enumerate(_crossed(f, g, events)):
            secant = a + (b - a) * (f[k] / (f[k] - g[k]))
            first = ca.if_else(mask, ca.fmin(first, secant), first)
        middle = 0.5 * (a + b)
        x = ca.fmax(a + 0.5 * tolerance, ca.fmin(first, b - 0.5 * tolerance))
        return [ca.if_else(ca.fmod(tries, 4) == 3, middle, x)]

    def update(refining, a, b, side, tries, f, g, trial, x, tolerance):
        hit = _any(_crossed(f, trial, events))
        yes, no = ca.logic_and(refining, hit), ca.logic_and(refining, ca.logic_not(hit))
        left, to = ca.if_else(no, x, a), ca.if_else(yes, x, b)
        weaker_f = ca.if_else(ca.logic_and(yes, side == 1), 0.5, 1) * f
        weaker_g = ca.if_else(ca.logic_and(no, side == -1), 0.5, 1) * g
        tries = tries + refining
        again = ca.logic_and(ca.logic_and(refining, to - left > tolerance), tries < TRIES)
        side = ca.if_else(yes, 1, ca.if_else(no, -1, side))
        f, g = ca.if_else(no, trial, weaker_f), ca.if_else(yes, trial, weaker_g)
        return [again, left, to, side, tries, f, g]

    tolerance = s.setting("event_tolerance")
    return [
        call(traced("choose", (1, 1, m, m, 1, 1), choose), (a, b, w.f, right, tries, tolerance), (w.place,)),
        *evaluate(w.place, trial),
        call(
            traced("update", (1, 1, 1, 1, 1, m, m, m, 1, 1), update),
            (w.refining, a, b, side, tries, w.f, right, trial, w.place, tolerance),
            (w.refining, a, b, side, tries, w.f, right),
        ),
    ]


def _fire(w: Watch, s: Sheet, right: View) -> list[Statement]:
    """Act on the first event of the enclosure, or go on to the next interval."""
    m, events = w.count, w.motion.event_list
    left, to, _, b, _, _ = w.span
    ends_step = [float(event.action != "record") for event in events]

    def formula(searching, found, left, to, b, f, g, t, t1, size, cut, t_cut, which, hold):
        crossed = _crossed(f, g, events)
        number, none, ends = ca.SX(-1), ca.SX(1), ca.SX(0)
        news, holds = [], []
        for k, mask in enumerate(crossed):
            here = ca.logic_and(none, mask)
            none = ca.logic_and(none, ca.logic_not(mask))
            number, ends = ca.if_else(here, k, number), ca.if_else(here, ends_step[k], ends)
            away = ca.fmax(ca.fabs(g[k]), TINY) * ca.if_else(f[k] > 0, -1, 1)
            news.append(ca.if_else(here, away, ca.if_else(mask, f[k], g[k])))
            holds.append(ca.if_else(here, 2, ca.if_else(mask, ca.sign(f[k]), 0)))
        fired = ca.logic_and(found, number >= 0)
        cut_now = ca.logic_and(fired, ends)
        moved = ca.if_else(fired, b, to)
        time = ca.if_else(b >= 1, t1, t + b * size)
        again = ca.logic_and(ca.logic_and(searching, ca.logic_not(cut_now)), moved < 1)
        new = ca.if_else(fired, ca.vertcat(*news), g)
        return [
            again,
            ca.if_else(searching, moved, left),
            ca.if_else(searching, new, f),
            fired,
            cut_now,
            ca.if_else(cut_now, 1, cut),
            ca.if_else(cut_now, time, t_cut),
            ca.if_else(fired, number, which),
            ca.if_else(cut_now, ca.vertcat(*holds), hold),
            time,
        ]

    function = traced("fire", (1, 1, 1, 1, 1, m, m, 1, 1, 1, 1, 1, 1, m), formula)
    inputs = (
        w.searching,
        w.found,
        left,
        to,
        b,
        w.f,
        right,
        s.t,
        s.t1,
        s.size,
        w.cut,
        w.t_cut,
        w.which,
        w.hold,
    )
    outputs = (w.searching, left, w.f, w.fired, w.cut_now, w.cut, w.t_cut, w.which, w.hold, w.time)
    return [call(function, inputs, outputs)]


def _note(w: Watch, s: Sheet) -> list[Statement]:
    """Write down time and number of what fired, as long as there is room."""

    def formula(fired, index, events, most):
        return [ca.logic_and(fired, events < most), index * most + ca.fmin(events, most - 1), events + fired]

    events = s.noted("events")
    return [
        call(
            traced("note", (1,) * 4, formula),
            (w.fired, s.index, events, s.setting("max_events")),
            (w.noted, w.place, events),
        ),
        Scatter(w.noted, w.time, "event_times", w.place),
        Scatter(w.noted, w.which, "event_numbers", w.place),
    ]


def act(w: Watch, s: Sheet) -> Statement:
    """Where the step was cut: y1, t1 become the state and time of the event, after its reset."""
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

    def formula(cut, which, fresh):
        stop = ca.SX(0)
        for k, yes in enumerate(stops):
            stop = ca.if_else(which == k, yes, stop)
        return [ca.logic_and(cut, stop), ca.if_else(ca.logic_and(cut, ca.logic_not(stop)), 1, fresh)]

    return when(
        w.cut, *body, *s.projected(w.y_cut),
        Assign(w.cut, s.y1, w.y_cut), Assign(w.cut, s.t1, w.t_cut),
        call(traced("stop", (1, 1, 1), formula), (w.cut, w.which, s.fresh), (w.stopped, s.fresh)),
    )  # fmt: skip
