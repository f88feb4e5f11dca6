"""Linearly implicit methods for stiff motions: each stage solves with W = I/(hγ) − ∂f/∂y, formed by
differentiation.

With f_t = ∂f/∂t, stages U_i and W of the beginning of the step,

    W U_i = f(t + c_i h, y + Σ_j a_ij U_j) + Σ_j (C_ij / h) U_j + h d_i f_t,
    y₁ = y + Σ b_i U_i, error U_s,
    y(θ) = (1−θ) y + θ (y₁ + (1−θ) (K₁ + θ (K₂ + θ K₃))),  K_k = Σ H_ki U_i.

The form is that of Hairer, Wanner, Solving Ordinary Differential Equations II, 2nd ed., 1996, section IV.7,
(7.25).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from ..compiler.program import Statement, View, call, for_rows
from ..errors import RunError
from . import control
from .explicit import clear
from .factor import Factors, factorise
from .motion import Motion
from .sheet import Sheet, traced
from .tableaux import Controller


@dataclass(frozen=True)
class Rodas:
    """Numbers of a stiffly accurate Rosenbrock method: b is the last row of a with a further 1."""

    name: str
    order: int
    dense_order: int
    gamma: float
    c: tuple[float, ...]
    d: tuple[float, ...]
    a: tuple[tuple[float, ...], ...]
    C: tuple[tuple[float, ...], ...]
    H: tuple[tuple[float, ...], ...]
    controller: Controller

    @property
    def stages(self) -> int:
        return len(self.a)


_A6 = (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946)

RODAS5P = Rodas(
    name="rodas5p",
    order=5,
    dense_order=4,
    gamma=0.21193756319429014,
    c=(0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0),
    d=(0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069,
       0.0, 0.0, 0.0),
    a=(
        (),
        (3.0,),
        (2.849394379747939, 0.45842242204463923),
        (-6.954028509809101, 2.489845061869568, -10.358996098473584),
        (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
        _A6,
        (*_A6, 1.0),
        (*_A6, 1.0, 1.0),
    ),
    C=(
        (),
        (-14.155112264123755,),
        (-17.97296035885952, -2.859693295451294),
        (147.12150275711716, -1.41221402718213, 71.68940251302358),
        (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
        (24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471),
        (30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
         -28.087943162872662),
        (37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
         -54.66780262877968, -9.48861652309627),
    ),
    H=(
        (25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
         1.1241088310450404, 0.4272876194431874, -0.17202221070155493),
        (-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
         15.98066361424651, -6.789040303419874, -6.710236069923372),
        (11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
         -59.78993625266729, -0.15582684282751913, 4.883087185713722),
    ),
    controller=Controller(exponent=1 / 5, growth=6.0),
)  # fmt: skip
"""Steinebach, Construction of Rosenbrock–Wanner method Rodas5P, BIT Numer. Math. 63:27, 2023. L-stable."""

FIRST = 3
"""Stage rows before U_0: rhs at both ends of the step and at the stage."""


@dataclass(frozen=True)
class Rosenbrock:
    """A method and the factors of its matrix for one motion."""

    numbers: Rodas
    factors: Factors
    prepare_factors: ca.Function
    """t, y, p, h → values of the factors, ∂f/∂t."""
    solve: ca.Function
    """Values of the factors, b → W⁻¹ b."""

    @classmethod
    def of(cls, motion: Motion, numbers: Rodas) -> Rosenbrock:
        """Differentiate the motion's right-hand side and factorise."""
        if not isinstance(motion.rhs, ca.Function):
            raise RunError(f"'{numbers.name}' needs a right-hand side that can be differentiated")
        t, y = ca.SX.sym("t"), ca.SX.sym("y", motion.n)
        p, h = ca.SX.sym("p", len(motion.parameters)), ca.SX.sym("h")
        rhs = motion.rhs if motion.rhs.is_a("SXFunction") else motion.rhs.expand()
        f = ca.SX(rhs(t, y, p))
        matrix = ca.SX.eye(motion.n) / (h * numbers.gamma) - ca.jacobian(f, y)
        factors = factorise(matrix)
        slope = ca.densify(ca.jacobian(f, t))
        prepare = ca.Function("factor", [t, y, p, h], [factors.values, slope])
        values, b = ca.SX.sym("lu", len(factors.places)), ca.SX.sym("b", motion.n)
        return cls(numbers, factors, prepare, ca.Function("solve", [values, b], [factors.solve(values, b)]))

    @property
    def name(self) -> str:
        return self.numbers.name

    @property
    def order(self) -> int:
        return self.numbers.order

    @property
    def dense_order(self) -> int:
        return self.numbers.dense_order

    @property
    def controller(self) -> Controller | None:
        return self.numbers.controller

    @property
    def stages(self) -> int:
        return FIRST + self.numbers.stages

    @property
    def last(self) -> int:
        return 1

    @property
    def sums(self) -> int:
        return 1

    @property
    def dense(self) -> int:
        return 3

    @property
    def error(self) -> Callable[[ca.SX, ca.SX, ca.SX], ca.SX]:
        return control.rms

    def _u(self, s: Sheet, i: int) -> View:
        return s.stage(FIRST + i)

    def attempt(self, s: Sheet) -> list[Statement]:
        numbers = self.numbers
        lu, slope = s.layout.rows("lu", len(self.factors.places)), s.layout.rows("slope", s.n)
        times = s.layout.rows("times", numbers.stages)
        function = traced("times", (1, 1), lambda t, h: [ca.vertcat(*(t + c * h for c in numbers.c))])
        body: list[Statement] = [
            call(function, (s.t, s.size), (times,)),
            call(self.prepare_factors, (s.t, s.y, s.p, s.size), (lu, slope)),
        ]
        for i in range(numbers.stages):
            rate = s.stage(0)
            if i > 0:
                rate = s.stage(2)
                body.append(self._state(s, i, s.y1))
                body.append(s.evaluate(times[i], s.y1, rate))
            body.append(self._right_side(s, i, rate, slope))
            body.append(call(self.solve, (lu, s.work), (self._u(s, i),)))
        body.append(self._add_last(s))
        body += s.projected(s.y1)
        return [*body, s.evaluate(s.t1, s.y1, s.last), *self._errors(s)]

    def _state(self, s: Sheet, i: int, to: View) -> Statement:
        """to = y + Σ_j a_ij U_j."""
        row = self.numbers.a[i]

        def formula(y, *u):
            total = y
            for weight, x in zip(row, u, strict=True):
                total = total + weight * x
            return [total]

        inputs = (s.y.each(), *(self._u(s, j).each() for j in range(i)))
        return for_rows(s.n, traced(f"state{i}", (1,) * (1 + i), formula), inputs, (to.each(),))

    def _right_side(self, s: Sheet, i: int, rate: View, slope: View) -> Statement:
        """work = rate + Σ_j (C_ij / h) U_j + h d_i ∂f/∂t."""
        row, d = self.numbers.C[i], self.numbers.d[i]

        def formula(rate, slope, h, *u):
            total = ca.SX(0)
            for weight, x in zip(row, u, strict=True):
                total = total + weight * x
            return [rate + total / h + (h * d) * slope]

        inputs = (rate.each(), slope.each(), s.size, *(self._u(s, j).each() for j in range(i)))
        return for_rows(s.n, traced(f"right{i}", (1,) * (3 + i), formula), inputs, (s.work.each(),))

    def _add_last(self, s: Sheet) -> Statement:
        """y1 = the last stage's state + its U."""
        add = traced("add", (1, 1), lambda y, u: [y + u])
        return for_rows(s.n, add, (s.y1.each(), self._u(s, self.numbers.stages - 1).each()), (s.y1.each(),))

    def _errors(self, s: Sheet) -> list[Statement]:
        def formula(total, y, y1, atol, rtol, u):
            term = (u / control.scale(y, y1, atol, rtol)) ** 2
            return [total + ca.if_else(control.finite(y1), term, ca.SX.inf())]

        last = self._u(s, self.numbers.stages - 1)
        inputs = (s.sums, s.y.each(), s.y1.each(), s.atol.each(), s.setting("rtol"), last.each())
        return [*clear((s.sums,)), for_rows(s.n, traced("errors", (1,) * 6, formula), inputs, (s.sums,))]

    def prepare(self, s: Sheet) -> list[Statement]:
        def formula(*u):
            rows = []
            for weights in self.numbers.H:
                total = ca.SX(0)
                for weight, x in zip(weights, u, strict=True):
                    total = total + weight * x
                rows.append(total)
            return rows

        count = self.numbers.stages
        parts = [s.dense[i * s.n : (i + 1) * s.n].each() for i in range(3)]
        inputs = [self._u(s, i).each() for i in range(count)]
        return [for_rows(s.n, traced("prepare", (1,) * count, formula), inputs, parts)]

    def interpolate(self, s: Sheet) -> list[Statement]:
        def formula(x, y, y1, k1, k2, k3):
            inner = y1 + (1 - x) * (k1 + x * (k2 + x * k3))
            return [ca.if_else(x >= 1, y1, (1 - x) * y + x * inner)]

        parts = [s.dense[i * s.n : (i + 1) * s.n].each() for i in range(3)]
        inputs = (s.theta, s.y.each(), s.y1.each(), *parts)
        return [for_rows(s.n, traced("interpolate", (1,) * 6, formula), inputs, (s.out.each(),))]
