"""What an integration gave: arrays over samples, and how each sample ended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .control import Status

_TEXTS = {
    Status.OK: "reached the end",
    Status.STOPPED: "stopped by event '{event}'",
    Status.DIVERGED: "diverged: {bad} is not finite",
    Status.UNDERFLOW: "step size too small",
    Status.TOO_MANY_STEPS: "too many steps",
    Status.NOT_RUN: "not run",
}


@dataclass(frozen=True)
class Events:
    """Events in the order of time: `times` and `numbers` (−1: none) are batch × most, `counts` how many there
    were.

    A count may exceed the room; what did not fit is not kept.
    """

    names: tuple[str, ...]
    times: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray

    def of(self, sample: int) -> list[tuple[float, str]]:
        """Times and names of the events of one sample."""
        kept = min(int(self.counts[sample]), self.times.shape[1])
        return [(float(self.times[sample, k]), self.names[int(self.numbers[sample, k])]) for k in range(kept)]

    def with_those_of(self, more: Events, samples: np.ndarray) -> Events:
        """The same, with `more` in place of what was kept of some samples."""
        shape = len(self.counts), max(self.times.shape[1], more.times.shape[1])
        times, numbers = np.full(shape, np.nan), np.full(shape, -1, self.numbers.dtype)
        for to, ours, theirs in ((times, self.times, more.times), (numbers, self.numbers, more.numbers)):
            to[:, : ours.shape[1]] = ours
            to[samples, : theirs.shape[1]] = theirs
        return Events(self.names, times, numbers, self.counts)


@dataclass(frozen=True)
class Trajectories:
    """States y (batch × times × rows) at the times asked for; NaN from the end of a sample on.

    Per sample: `status` (see `Status`), `t_end` and `y_end` where it ended, accepted `steps`, `refusals`,
    `error_max` (the largest error estimate of an accepted step, 1 being the tolerance), `bad` (the first row
    that was not finite, or −1), and the greatest values of what the motion's `peaks` watch, with their times.
    """

    t: np.ndarray
    y: np.ndarray
    status: np.ndarray
    t_end: np.ndarray
    y_end: np.ndarray
    steps: np.ndarray
    refusals: np.ndarray
    error_max: np.ndarray
    bad: np.ndarray
    events: Events
    names: tuple[str, ...]
    method: str
    peak_names: tuple[str, ...]
    peaks: np.ndarray
    peak_times: np.ndarray

    def reason(self, sample: int) -> str:
        """How the sample ended, in words."""
        status, bad = Status(int(self.status[sample])), int(self.bad[sample])
        name = f"'{self.names[bad]}'" if bad >= 0 else "its rate"
        happened = self.events.of(sample)
        text = _TEXTS[status].format(bad=name, event=happened[-1][1] if happened else "")
        return text if status == Status.NOT_RUN else f"{text} at t = {self.t_end[sample]:.6g}"

    @property
    def ok(self) -> np.ndarray:
        """Samples that reached the end or were stopped by an event."""
        return self.status <= Status.STOPPED
