"""Locating events: the earliest change of sign on the dense output of a step, in all lanes at once."""

from __future__ import annotations

import casadi as ca

from ..compiler.program import Assign, Scatter, Statement, View, While, call, when
from .events import QUARTERS, TINY, Watch, any_of, crossed
from .explicit import Method
from .sheet import Sheet, traced

TRIES = 200


def search(w: Watch, s: Sheet, method: Method) -> Statement:
    """In the lanes of `maybe`: find events in order until one ends the step. Dense output is ready."""
    m, motion = w.count, w.motion
    right, trial = w.ends[:m], w.ends[m : 2 * m]
    left, to, a, b, side, tries = w.span
    begin = traced("begin", (1,), lambda maybe: [maybe, 0])
    begin_call = call(begin, (w.maybe,), (w.searching, left))

    def next_interval(x):
        return [ca.fmin((ca.floor(x * QUARTERS + 1e-9) + 1) / QUARTERS, 1)]

    def enclose(searching, f, g, x, y):
        found = ca.logic_and(searching, any_of(crossed(f, g, motion.event_list)))
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
    finish = traced("rest", (1, 1, m, m), lambda maybe, cut, f, g: [ca.if_else(ca.logic_and(maybe, 1 - cut), f, g)])
    return when(w.maybe, begin_call, While(w.searching, tuple(loop)), call(finish, (w.maybe, w.cut, w.f, w.g), (w.g,)))


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
        for k, mask in enumerate(crossed(f, g, events)):
            secant = a + (b - a) * (f[k] / (f[k] - g[k]))
            first = ca.if_else(mask, ca.fmin(first, secant), first)
        middle = 0.5 * (a + b)
        x = ca.fmax(a + 0.5 * tolerance, ca.fmin(first, b - 0.5 * tolerance))
        return [ca.if_else(tries - 4 * ca.floor(tries / 4) == 3, middle, x)]

    def update(refining, a, b, side, tries, f, g, trial, x, tolerance):
        hit = any_of(crossed(f, trial, events))
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
        masks = crossed(f, g, events)
        number, none, ends = ca.SX(-1), ca.SX(1), ca.SX(0)
        news, holds = [], []
        for k, mask in enumerate(masks):
            here = ca.logic_and(none, mask)
            none = ca.logic_and(none, ca.logic_not(mask))
            number, ends = ca.if_else(here, k, number), ca.if_else(here, ends_step[k], ends)
            away = ca.fmax(ca.fabs(g[k]), TINY) * ca.if_else(f[k] > 0, -1, 1)
            news.append(ca.if_else(here, away, ca.if_else(mask, f[k], g[k])))
            holds.append(ca.if_else(here, 2, ca.if_else(mask, 1, 0)) * ca.sign(f[k]))
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
