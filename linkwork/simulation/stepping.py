"""The time loop as a program: lanes take samples from a queue, step, write outputs, end, take the next.

A turn of the loop tries one step in every lane. What only some lanes need (a new sample, dense output, an
event) is done when any lane needs it, for all lanes, and kept in those that need it. Each lane's numbers
depend on its own sample only.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from ..compiler.program import (
    Assign,
    Gather,
    Program,
    Scatter,
    Statement,
    Take,
    View,
    While,
    call,
    for_rows,
    when,
)
from . import control, events, locate
from . import peaks as extremes
from .explicit import Method, clear, copy
from .motion import Motion
from .sheet import RECORD, SETTINGS, Sheet, sheet, traced

ARRAYS = (
    "queue", "y0", "p", "spans", "times", "y", "y_end", "record", "event_times", "event_numbers", "peaks", "peak_times",
)  # fmt: skip
"""What the program reads and writes outside: the queue is an int64, the others doubles, a row a sample."""


def time_loop(motion: Motion, method: Method) -> Program:
    """The program that integrates a motion with a method."""
    s = sheet(
        motion.rhs, motion.project, nq=motion.nq, n=motion.n, np=len(motion.parameters),
        stages=method.stages, last=method.last, sums=method.sums, dense=method.dense,
    )  # fmt: skip
    rows = s.layout.rows
    memory = {name: rows(name) for name in ("error_old", "was_refused", "base", "count", "failed", "row")}
    outputs = {name: rows(name) for name in ("next", "number", "place", "pending", "wanted")}
    rows("blank", len(RECORD))
    w = events.watch(motion, s) if motion.event_list else None
    x = extremes.peaks(motion.peaks, s) if motion.peaks is not None else None
    body = (
        when(s.need, *_take(s, memory, outputs, w, x)),
        when(s.fresh, *_begin(s, method, memory, w, x)),
        *_plan(s, method, memory),
        *method.attempt(s),
        *_judge(s, method, memory),
        when(s.accepted, *_accept(s, method, outputs, w, x, memory["failed"])),
        when(memory["failed"], *_name_culprit(s, memory)),
        *_end(s, memory, w, x),
    )
    return Program(f"{method.name} loop", s.layout.buffers, ARRAYS, s.alive, body)


def initialise(state: Mapping[str, np.ndarray], settings: Mapping[str, float], atol: np.ndarray) -> None:
    """Fill the buffers of one thread: every lane wants a sample."""
    state["alive"][:] = 1.0
    state["need"][:] = 1.0
    for name, value in settings.items():
        state["settings"][SETTINGS.index(name)] = value
    state["atol"][:] = atol[:, None]
    state["blank"][RECORD.index("bad")] = -1.0
    if "peak least" in state:
        state["peak least"][:] = -np.inf
    state["error_old"][:] = 1e-4
    state["size"][:] = state["h"][:] = 1.0


def _take(
    s: Sheet,
    memory: Mapping[str, View],
    outputs: Mapping[str, View],
    w: events.Watch | None,
    x: extremes.Peaks | None,
) -> list[Statement]:
    """Lanes that want a sample take the next one, if there is any, and write its first output."""
    got = s.accepted
    start = traced("start", (1,) * 5, lambda got, fresh, old, refused, number: [
        ca.if_else(got, 1, fresh), ca.if_else(got, 1e-4, old), ca.if_else(got, 0, refused),
        ca.if_else(got, 0, number),
    ])  # fmt: skip
    return [
        Take(s.need, s.index, "queue"),
        call(
            control.take(),
            (s.need, s.busy, s.alive, s.index, s.setting("samples")),
            (got, s.busy, s.alive, s.index),
        ),
        Gather(got, s.span, "spans", s.index),
        copy(got, s.t, s.setting("start")),
        *((events.forget(w, got),) if w is not None else ()),
        *(extremes.reset(x, got) if x is not None else ()),
        *clear((s.need,)),
        copy(got, s.record, View("blank", 0, len(RECORD))),
        call(
            start,
            (got, s.fresh, memory["error_old"], memory["was_refused"], outputs["number"]),
            (s.fresh, memory["error_old"], memory["was_refused"], outputs["number"]),
        ),
        Gather(got, s.y1, "y0", s.index),
        Gather(got, s.p, "p", s.index),
        *s.projected(s.y1),
        Assign(got, s.y, s.y1),
        *_write(s, s.y, got, outputs),
    ]


def _write(s: Sheet, y: View, mask: View, outputs: Mapping[str, View]) -> list[Statement]:
    """Write y as the next output of the lanes of the mask; find the time of the one after."""
    number, most = outputs["number"], s.setting("outputs")
    place = traced("place", (1, 1, 1), lambda index, number, most: [index * most + ca.fmin(number, most - 1)])

    def formula(mask, number, most):
        return [number + mask, ca.fmin(number + mask, most - 1)]

    none_left = traced("none_left", (1, 1, 1, 1), lambda mask, number, most, t: [
        ca.if_else(ca.logic_and(mask, number >= most), ca.SX.inf(), t)
    ])  # fmt: skip
    return [
        call(place, (s.index, number, most), (outputs["place"],)),
        Scatter(mask, y, "y", outputs["place"]),
        call(traced("count", (1, 1, 1), formula), (mask, number, most), (number, outputs["place"])),
        Gather(mask, outputs["next"], "times", outputs["place"]),
        call(none_left, (mask, number, most, outputs["next"]), (outputs["next"],)),
    ]


def _begin(
    s: Sheet, method: Method, memory: Mapping[str, View], w: events.Watch | None, x: extremes.Peaks | None
) -> list[Statement]:
    """Where a motion begins: its first slope, a first step size, the signs of its events, its first peaks."""
    other = s.stage(1)
    rebase = traced("rebase", (1,) * 4, lambda fresh, t, base, count: [
        ca.if_else(fresh, t, base), ca.if_else(fresh, 0, count)
    ])  # fmt: skip
    body: list[Statement] = [
        s.evaluate(s.t, s.y, other),
        copy(s.fresh, s.stage(0), other),
        call(rebase, (s.fresh, s.t, memory["base"], memory["count"]), (memory["base"], memory["count"])),
    ]
    if method.controller is not None:
        body += _first_step(s, method)
    if w is not None:
        body += events.arm(w, s, s.setting("step") if method.controller is None else s.h)
    if x is not None:
        body += extremes.begin(x, s)
    return [*body, *clear((s.fresh,))]


def _first_step(s: Sheet, method: Method) -> list[Statement]:
    """Hairer's automatic first step; y1, stage 1 and three rows serve as scratch."""
    d0, d1, d2, h, t = s.layout.rows("first", 5)
    other, settings = s.stage(1), (s.setting("norm"), s.setting("h_max"))
    add, tolerance = control.add_scaled_square(), (s.y.each(), s.atol.each(), s.setting("rtol"))
    go = traced("go", (1, 1, 1), lambda y, h, rate: [y + h * rate])
    less = traced("less", (1, 1), lambda a, b: [a - b])
    later = traced("later", (1, 1), lambda t, h: [t + h])
    wanted = s.size
    return [
        *clear((d0, d1, d2)),
        for_rows(s.n, add, (d0, s.y.each(), *tolerance), (d0,)),
        for_rows(s.n, add, (d1, s.stage(0).each(), *tolerance), (d1,)),
        call(control.first_step(), (d0, d1, *settings), (h,)),
        for_rows(s.n, go, (s.y.each(), h, s.stage(0).each()), (s.y1.each(),)),
        call(later, (s.t, h), (t,)),
        s.evaluate(t, s.y1, other),
        for_rows(s.n, less, (other.each(), s.stage(0).each()), (s.y1.each(),)),
        for_rows(s.n, add, (d2, s.y1.each(), *tolerance), (d2,)),
        call(control.initial_step(method.order), (h, d1, d2, *settings, s.setting("h0")), (wanted,)),
        Assign(s.fresh, s.h, wanted),
    ]


def _plan(s: Sheet, method: Method, memory: Mapping[str, View]) -> list[Statement]:
    """The step to be tried: size and t1."""
    if method.controller is not None:
        return [call(control.plan_adaptive(), (s.t, s.h, s.setting("until")), (s.size, s.t1))]
    inputs = (s.t, memory["base"], memory["count"], s.setting("step"), s.setting("until"))
    return [call(control.plan_fixed(), inputs, (s.size, s.t1))]


def _judge(s: Sheet, method: Method, memory: Mapping[str, View]) -> list[Statement]:
    """Accept, refuse or give up."""
    old, was, failed = memory["error_old"], memory["was_refused"], memory["failed"]
    steps, refused, status, largest = (s.noted(name) for name in ("steps", "refused", "status", "error_max"))
    if method.controller is None:
        inputs = (s.busy, s.sums, memory["count"], steps, status)
        return [call(control.judge_fixed(), inputs, (s.accepted, failed, memory["count"], steps, status))]
    function = control.judge_adaptive(method.controller, method.error)
    settings = (s.setting("norm"), s.setting("h_max"))
    inputs = (s.busy, s.t, s.size, s.h, s.sums, *settings, old, was, steps, refused, largest, status)
    return [call(function, inputs, (s.accepted, failed, s.h, old, was, steps, refused, largest, status))]


def _accept(
    s: Sheet,
    method: Method,
    outputs: Mapping[str, View],
    w: events.Watch | None,
    x: extremes.Peaks | None,
    failed: View,
) -> list[Statement]:
    """Events, outputs and peaks within the step, then the step itself."""
    pending, wanted = outputs["pending"], outputs["wanted"]
    due = traced("due", (1, 1, 1), lambda mask, next_time, limit: [ca.logic_and(mask, next_time <= limit)])
    theta = traced("theta", (1, 1, 1, 1), lambda next_time, t, t1, size: [
        ca.if_else(next_time >= t1, 1, ca.fmax((next_time - t) / size, 0))
    ])  # fmt: skip
    body: list[Statement] = [call(due, (s.accepted, outputs["next"], s.t1), (pending,))]
    until = s.t1
    if w is None:
        body.append(when(pending, *method.prepare(s)))
    else:
        either = traced("either", (1, 1), lambda a, b: [ca.logic_or(a, b)])
        body += events.scan(w, s)
        body.append(call(either, (pending, w.maybe), (wanted,)))
        body.append(when(wanted, *method.prepare(s)))
        body.append(locate.search(w, s, method))
        until = w.t_cut
        body.append(call(due, (s.accepted, outputs["next"], until), (pending,)))
    body.append(
        While(
            pending,
            (
                call(theta, (outputs["next"], s.t, s.t1, s.size), (s.theta,)),
                *method.interpolate(s),
                *s.projected(s.out),
                *_write(s, s.out, pending, outputs),
                call(due, (pending, outputs["next"], until), (pending,)),
            ),
        )
    )
    if x is not None:
        body += extremes.within(x, s, method, until)
    if w is not None:
        body.append(events.act(w, s, failed))
    if x is not None:
        body += extremes.end(x, s, None if w is None else w.cut)
    return [
        *body,
        Assign(s.accepted, s.y, s.y1),
        Assign(s.accepted, s.stage(0), s.last),
        Assign(s.accepted, s.t, s.t1),
    ]


def _name_culprit(s: Sheet, memory: Mapping[str, View]) -> list[Statement]:
    """The first row of the state tried that is not finite, else of its slope."""
    function, failed, bad, row = control.note_bad(), memory["failed"], s.noted("bad"), memory["row"]
    body: list[Statement] = []
    for values in (s.y1, s.last):
        body += clear((row,))
        body.append(for_rows(s.n, function, (failed, bad, row, values.each()), (bad, row)))
    return body


def _end(s: Sheet, memory: Mapping[str, View], w: events.Watch | None, x: extremes.Peaks | None) -> list[Statement]:
    """Write down the samples that have ended; their lanes want the next."""
    status, steps, refused = (s.noted(name) for name in ("status", "steps", "refused"))
    stopped = w.stopped if w is not None else s.layout.rows("stopped")
    release = traced("release", (1, 1), lambda ended, busy: [ended, ca.if_else(ended, 0, busy)])
    until, most = s.setting("until"), s.setting("max_steps")
    inputs = (s.busy, memory["failed"], stopped, s.t, until, steps, refused, most, status, s.fresh)
    body: list[Statement] = [call(control.conclude(), inputs, (s.ended, status, s.fresh))]
    body.append(
        when(
            s.ended,
            Assign(s.ended, s.noted("t"), s.t),
            Scatter(s.ended, s.record, "record", s.index),
            Scatter(s.ended, s.y, "y_end", s.index),
            *(
                (Scatter(s.ended, x.most, "peaks", s.index), Scatter(s.ended, x.when, "peak_times", s.index))
                if x is not None
                else ()
            ),
            call(release, (s.ended, s.busy), (s.need, s.busy)),
        )
    )
    return [*body, *clear((stopped,))]
