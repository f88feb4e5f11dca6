"""Explicit Runge–Kutta methods as data; `stepping` makes a program of any of them.

A step of size h from (t, y): k_i = f(t + c_i h, y + h Σ_j a_ij k_j), y₁ = y + h Σ b_i k_i, then k_{s+1} = f(t
+ h, y₁), which is the next step's k_1. Rows are written {stage: coefficient}, stages counted from 0.

The error of a step is measured by one or two rows of weights on all the stages (k_{s+1} too). Dense output at
t + θh is

    y(θ) = y + θ (r₁ + (1−θ) (r₂ + θ (r₃ + (1−θ) (r₄ + θ (r₅ + (1−θ) (r₆ + θ r₇))))))

with r₁ = y₁ − y, r₂ = h k₁ − r₁, r₃ = 2 r₁ − h (k₁ + k_{s+1}), further ones h Σ d_i k_i; the first three
alone are the cubic Hermite polynomial.

Source: Hairer, Nørsett, Wanner, Solving Ordinary Differential Equations I, 2nd ed., 1993: table II.1.2 (rk4),
II.5.2 and II.6 (dopri5), II.5 and II.6 with the authors' programs dopri5.f and dop853.f (numbers of the
latter in `dop853`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Row = Mapping[int, float]


@dataclass(frozen=True)
class Controller:
    """Step size control: h_new = h / clip(err^a / err_old^beta / safety, 1/growth, 1/shrink), a = exponent −
    0.75 beta.

    Hairer–Nørsett–Wanner I, section II.4 and (IV.2.43) of volume II (PI control); beta = 0 is plain control.
    """

    exponent: float
    beta: float = 0.0
    safety: float = 0.9
    shrink: float = 0.2
    growth: float = 10.0


@dataclass(frozen=True)
class Tableau:
    """An explicit method. Without `errors` its step is fixed."""

    name: str
    order: int
    dense_order: int
    c: tuple[float, ...]
    a: tuple[Row, ...]
    b: Row
    errors: tuple[Row, ...] = ()
    dense: tuple[Row, ...] = ()
    extra_c: tuple[float, ...] = ()
    extra_a: tuple[Row, ...] = ()
    """Stages for dense output only, after k_{s+1}."""
    controller: Controller | None = None

    @property
    def stages(self) -> int:
        return len(self.a)

    @property
    def rows(self) -> int:
        """Stages kept: those of the step, the one at its end, those of dense output."""
        return self.stages + 1 + len(self.extra_a)


RK4 = Tableau(
    name="rk4",
    order=4,
    dense_order=3,
    c=(0.0, 0.5, 0.5, 1.0),
    a=({}, {0: 0.5}, {1: 0.5}, {2: 1.0}),
    b={0: 1 / 6, 1: 1 / 3, 2: 1 / 3, 3: 1 / 6},
)
"""The classical method of Kutta (1901)."""

DOPRI5 = Tableau(
    name="dopri5",
    order=5,
    dense_order=4,
    c=(0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
    a=(
        {},
        {0: 1 / 5},
        {0: 3 / 40, 1: 9 / 40},
        {0: 44 / 45, 1: -56 / 15, 2: 32 / 9},
        {0: 19372 / 6561, 1: -25360 / 2187, 2: 64448 / 6561, 3: -212 / 729},
        {0: 9017 / 3168, 1: -355 / 33, 2: 46732 / 5247, 3: 49 / 176, 4: -5103 / 18656},
    ),
    b={0: 35 / 384, 2: 500 / 1113, 3: 125 / 192, 4: -2187 / 6784, 5: 11 / 84},
    errors=({0: 71 / 57600, 2: -71 / 16695, 3: 71 / 1920, 4: -17253 / 339200, 5: 22 / 525, 6: -1 / 40},),
    dense=(
        {
            0: -12715105075 / 11282082432,
            2: 87487479700 / 32700410799,
            3: -10690763975 / 1880347072,
            4: 701980252875 / 199316789632,
            5: -1453857185 / 822651844,
            6: 69997945 / 29380423,
        },
    ),
    controller=Controller(exponent=1 / 5, beta=0.04),
)
"""Dormand and Prince's 5(4) pair (1980), dense output of order 4 by Shampine."""
