"""The meaning of a program, in plain Python: slow, one lane after the other, no machine code.

Values may differ from machine code in the last digits: CasADi evaluates without fused multiply-adds and with
the C library's elementary functions. Given `evaluate`, which computes a callee's value, the two agree bit by
bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .program import Assign, Call, Callee, ForRows, Gather, Program, Scatter, Statement, Take, View, While

Evaluate = Callable[[Callee, Sequence[np.ndarray]], list[np.ndarray]]


def interpret(
    program: Program,
    state: Mapping[str, np.ndarray],
    arrays: Mapping[str, np.ndarray],
    turns: int | None = None,
    evaluate: Evaluate = lambda function, inputs: function.evaluate(inputs),
) -> bool:
    """Run at most `turns` turns on `state` (name → rows × lanes) in place; whether a lane is still active."""
    machine = _Machine(state, arrays, evaluate)
    machine.run(While(program.mask, program.body, turns), 0)
    return bool(machine.rows(program.mask, 0).any())


class _Machine:
    def __init__(self, state: Mapping[str, np.ndarray], arrays: Mapping[str, np.ndarray], evaluate: Evaluate):
        self.state, self.arrays, self.evaluate = state, arrays, evaluate
        self.lanes = next(iter(state.values())).shape[1]

    def rows(self, view: View, turn: int) -> np.ndarray:
        first = view.first + turn * view.stride
        return self.state[view.buffer][first : first + view.rows]

    def run(self, statement: Statement, turn: int) -> None:
        match statement:
            case Call(function, inputs, outputs):
                self.call(function, inputs, outputs, turn)
            case ForRows(count, body):
                for i in range(count):
                    for inner in body:
                        self.run(inner, i)
            case While(mask, body, limit):
                done = 0
                while (limit is None or done < limit) and self.rows(mask, 0).any():
                    for inner in body:
                        self.run(inner, 0)
                    done += 1
            case Assign(mask, target, source):
                chosen = self.rows(mask, turn)[0] != 0
                self.rows(target, turn)[:, chosen] = self.rows(source, turn)[:, chosen]
            case _:
                for lane in range(self.lanes):
                    if self.rows(statement.mask, 0)[0, lane] != 0:
                        self.move(statement, lane)

    def call(self, function: Callee, inputs: Sequence[View], outputs: Sequence[View], turn: int) -> None:
        for lane in range(self.lanes):
            values = self.evaluate(function, [self.rows(v, turn)[:, lane].copy() for v in inputs])
            for view, value in zip(outputs, values, strict=True):
                self.rows(view, turn)[:, lane] = value

    def move(self, statement: Take | Gather | Scatter, lane: int) -> None:
        """Between one lane and memory."""
        match statement:
            case Take(_, target, queue):
                self.rows(target, 0)[0, lane] = self.arrays[queue][0]
                self.arrays[queue][0] += 1
            case Gather(_, target, array, index):
                at = int(self.rows(index, 0)[0, lane])
                self.rows(target, 0)[:, lane] = self.arrays[array].reshape(-1, target.rows)[at]
            case Scatter(_, source, array, index):
                at = int(self.rows(index, 0)[0, lane])
                self.arrays[array].reshape(-1, source.rows)[at] = self.rows(source, 0)[:, lane]
