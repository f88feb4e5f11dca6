"""The decisions of an integrator, each a small function of one lane's numbers.

Masks are 0.0 or 1.0. Comparisons with NaN are false, so a step whose error is not a number is refused.
"""

from __future__ import annotations

from enum import IntEnum

import casadi as ca

from .sheet import finite, traced
from .tableaux import Controller


class Status(IntEnum):
    """How a sample ended."""

    OK = 0
    STOPPED = 1
    DIVERGED = 2
    UNDERFLOW = 3
    TOO_MANY_STEPS = 4
    NOT_RUN = 6


EPSILON = 2.220446049250313e-16
STRETCH = 1.01
"""A step is lengthened by up to this factor to reach the end."""
TINY_TIME = 1e-10
"""Times are told apart down to EPSILON times this, next to t = 0."""


def _choose(mask: ca.SX, yes: ca.SX | float, no: ca.SX | float) -> ca.SX:
    return ca.if_else(mask, yes, no)


def take() -> ca.Function:
    """need, busy, alive, number, samples → got, busy, alive, number within range."""

    def formula(need, busy, alive, number, samples):
        got = ca.logic_and(need, number < samples)
        lost = ca.logic_and(need, number >= samples)
        return [
            got,
            _choose(got, 1, _choose(lost, 0, busy)),
            _choose(lost, 0, alive),
            ca.fmin(number, ca.fmax(samples - 1, 0)),
        ]

    return traced("take", (1,) * 5, formula)


def plan_adaptive() -> ca.Function:
    """t, h, until → size and end of the step to be tried: h, or what is left when h reaches nearly so far."""

    def formula(t, h, until):
        last = t + STRETCH * h >= until
        return [_choose(last, until - t, h), _choose(last, until, t + h)]

    return traced("plan", (1, 1, 1), formula)


def plan_fixed() -> ca.Function:
    """t, base, count, step, until → size and end of the step; ends lie on base + k step, not on sums."""

    def formula(t, base, count, step, until):
        end = base + (count + 1) * step
        end = _choose(end + 1e-9 * step >= until, until, end)
        return [end - t, end]

    return traced("plan", (1,) * 5, formula)


def judge_adaptive(controller: Controller, error) -> ca.Function:
    """busy, t, t1, size, h, sums, norm, h_max, error_old, was_refused, counts → the verdict and the next
    step.

    `error(size, sums, norm)` is the norm of the error estimate, 1 being just good enough. Outputs: accepted,
    failed, h, error_old, was_refused, steps, refused, largest error, status.
    """
    a = controller.exponent - 0.75 * controller.beta

    def formula(busy, t, size, h, sums, norm, h_max, old, was_refused, steps, refused, largest, status):
        err = error(size, sums, norm)
        good = err <= 1
        accepted, rejected = ca.logic_and(busy, good), ca.logic_and(busy, ca.logic_not(good))
        power = ca.fmax(err, 1e-30) ** a
        smooth = power / old**controller.beta if controller.beta else power
        divisor = ca.fmin(ca.fmax(smooth / controller.safety, 1 / controller.growth), 1 / controller.shrink)
        grown = size / divisor
        grown = _choose(was_refused, ca.fmin(grown, size), grown)
        shrunk = size / ca.fmin(1 / controller.shrink, power / controller.safety)
        shrunk = _choose(finite(err), shrunk, size * controller.shrink)
        too_small = 0.1 * shrunk <= EPSILON * ca.fmax(ca.fabs(t), TINY_TIME)
        failed = ca.logic_and(rejected, too_small)
        return [
            accepted,
            failed,
            _choose(accepted, ca.fmin(grown, h_max), _choose(rejected, shrunk, h)),
            _choose(accepted, ca.fmax(err, 1e-4), old),
            _choose(busy, rejected, was_refused),
            steps + accepted,
            refused + rejected,
            _choose(accepted, ca.fmax(largest, err), largest),
            _choose(failed, _choose(finite(err), int(Status.UNDERFLOW), int(Status.DIVERGED)), status),
        ]

    return traced("judge", (1, 1, 1, 1, sums_of(error), 1, 1, 1, 1, 1, 1, 1, 1), formula)


def sums_of(error) -> int:
    """How many sums of squares an error formula takes."""
    return getattr(error, "sums", 1)


def judge_fixed() -> ca.Function:
    """busy, sums, counts → accepted, failed, count, steps, status: refused when the state is not finite."""

    def formula(busy, sums, count, steps, status):
        accepted = ca.logic_and(busy, finite(sums))
        failed = ca.logic_and(busy, ca.logic_not(finite(sums)))
        return [
            accepted,
            failed,
            count + accepted,
            steps + accepted,
            _choose(failed, int(Status.DIVERGED), status),
        ]

    return traced("judge", (1,) * 5, formula)


def conclude() -> ca.Function:
    """accepted, failed, stopped, t, until, counts, max_steps, status, fresh → ended, status, fresh."""

    def formula(busy, failed, stopped, t, until, steps, refused, most, status, fresh):
        finished = t >= until
        too_many = steps + refused >= most
        over = ca.logic_or(ca.logic_or(failed, stopped), ca.logic_or(finished, too_many))
        how = _choose(finished, int(Status.OK), int(Status.TOO_MANY_STEPS))
        how = _choose(stopped, int(Status.STOPPED), how)
        how = _choose(failed, status, how)
        ended = ca.logic_and(busy, over)
        return [ended, _choose(ended, how, status), _choose(ended, 0, fresh)]

    return traced("conclude", (1,) * 10, formula)


def first_step() -> ca.Function:
    """Sums of squares of y and y' (scaled), norm, h_max → a step for a trial. HNW I, II.4, a–c."""

    def formula(d0, d1, norm, h_max):
        d0, d1 = d0 * norm, d1 * norm
        h = _choose(ca.logic_or(d0 <= 1e-10, d1 <= 1e-10), 1e-6, 0.01 * ca.sqrt(d0 / d1))
        return [ca.fmin(_choose(finite(h), h, 1e-6), h_max)]

    return traced("first_step", (1,) * 4, formula)


def initial_step(order: int) -> ca.Function:
    """Trial step, sums for y' and its change, norm, h_max, wanted h0 or 0 → first step. HNW I, II.4, d–f."""

    def formula(h, d1, d2, norm, h_max, h0):
        slope, bend = ca.sqrt(d1 * norm), ca.sqrt(d2 * norm) / h
        steep = ca.fmax(slope, bend)
        wanted = _choose(steep <= 1e-15, ca.fmax(1e-6, h * 1e-3), (0.01 / ca.fmax(steep, 1e-300)) ** (1 / order))
        auto = ca.fmin(ca.fmin(100 * h, wanted), h_max)
        auto = _choose(ca.logic_and(finite(auto), auto > 0), auto, ca.fmin(1e-6, h_max))
        return [_choose(h0 > 0, ca.fmin(h0, h_max), auto)]

    return traced("initial_step", (1,) * 6, formula)


def add_scaled_square() -> ca.Function:
    """sum, x, y, atol, rtol → sum + (x / (atol + rtol |y|))²."""

    def formula(total, x, y, atol, rtol):
        return [total + (x / (atol + rtol * ca.fabs(y))) ** 2]

    return traced("add_scaled_square", (1,) * 5, formula)


def add_unless_finite() -> ca.Function:
    """sum, y → sum, or infinity if y is not finite."""
    return traced("add_unless_finite", (1, 1), lambda total, y: [_choose(finite(y), total, ca.SX.inf())])


def note_bad() -> ca.Function:
    """failed, first bad row so far (−1: none), row, y → first bad row, next row."""

    def formula(failed, bad, row, y):
        here = ca.logic_and(ca.logic_and(failed, bad < 0), ca.logic_not(finite(y)))
        return [_choose(here, row, bad), row + 1]

    return traced("note_bad", (1,) * 4, formula)


def scale(y: ca.SX, y1: ca.SX, atol: ca.SX, rtol: ca.SX) -> ca.SX:
    """atol + rtol max(|y|, |y₁|)."""
    return atol + rtol * ca.fmax(ca.fabs(y), ca.fabs(y1))


def rms(size: ca.SX, sums: ca.SX, norm: ca.SX) -> ca.SX:
    """√(Σ (e/sc)² / n) of an estimate that carries the step size already."""
    return ca.sqrt(sums * norm)


def rms_of_two(size: ca.SX, sums: ca.SX, norm: ca.SX) -> ca.SX:
    """Hairer's stretched estimate of dop853 from those of orders 5 and 3: e₅² / √(e₅² + 0.01 e₃²)."""
    total = sums[0] + 0.01 * sums[1]
    return sums[0] * ca.sqrt(norm / _choose(total <= 0, 1, total))


rms_of_two.sums = 2  # type: ignore[attr-defined]
