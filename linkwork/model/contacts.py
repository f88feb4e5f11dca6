"""A sphere against walls of revolution: where they touch, and the force of one law. Functions of frames and numbers.

The wall turns about the z axis of its frame, which points out of the opening. In the half plane (rho, z) through the
sphere's centre p, with the half angle β from the axis,

    u = (sin β, cos β)      along the generator, outwards          n_c = (−cos β, sin β)     into the opening
    a = p · u,   b = p · n_c + seat                                 distance to the cone |b|

A wall is the shortest way from it to the centre: w (a vector), distance |w|, depth δ = radius − |w|, normal w / |w|.
Walls are thin: they are met from both sides. The force of the wall on the sphere at the point p − w is

    F_n = k φ(δ) max(0, 1 + d δ'),     φ(δ) = m (δ − m/2) / onset,   m = min(max(δ, 0), onset)
    F_t = −μ F_n v_t / √(v_t² + slip²)

φ grows like δ² / (2 onset) and from δ = onset on like δ − onset/2: force and slope are continuous. The factor with δ'
is that of Hunt and Crossley (J. Appl. Mech. 42, 1975, 440–445); it dissipates only, and the restitution e of an impact
at speed v follows from d v alone, whatever φ, k and the mass: d v (1 + e) = ln((1 + d v) / (1 − e d v)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import casadi as ca

from linkwork.errors import ModelError
from linkwork.spatial import SX, cross

TINY = 1e-30
"""Keeps square roots regular where a distance is zero."""


@dataclass(frozen=True)
class Touch:
    """Where a sphere is nearest to a wall, world axes: the point on the wall, the unit normal towards the sphere's
    centre, and how far the two overlap (below zero: the gap)."""

    depth: SX
    normal: SX
    point: SX


def length(x: SX) -> SX:
    return ca.sqrt(ca.dot(x, x) + TINY)


def cup(centre: SX, origin: SX, rotation: SX, radius: Any, half_angle: Any, mouth: Any, seat: Any) -> Touch:
    """A cone that ends outwards in a rim of radius `mouth` and inwards, tangentially, in a spherical seat.

    The frame's origin is the centre of the seat, a sphere of radius `seat`; with `seat` = 0 the cone ends in its apex.
    There is one normal and no edge within: where the sphere leaves the cone it lies on the seat, or on the rim.
    """
    rho, z, radial = _half_plane(centre, origin, rotation)
    s, c = ca.sin(half_angle), ca.cos(half_angle)
    a, b = rho * s + z * c, z * s - rho * c + seat
    beyond = ca.fmax(a - (mouth - seat * c) / s, 0)
    from_cone = ca.sqrt(beyond * beyond + b * b + TINY)
    far = ca.sqrt(rho * rho + z * z + TINY)
    inside = ca.if_else(far <= seat, -1, 1)
    on_seat = a < 0
    distance = ca.if_else(on_seat, ca.fabs(seat - far), from_cone)
    n_rho = ca.if_else(on_seat, inside * rho / far, (beyond * s - b * c) / from_cone)
    n_z = ca.if_else(on_seat, inside * z / far, (beyond * c + b * s) / from_cone)
    normal = rotation @ (n_rho * radial + ca.vertcat(0, 0, n_z))
    return Touch(radius - distance, normal, centre - distance * normal)


def funnel(
    centre: SX, origin: SX, rotation: SX, radius: Any, half_angle: Any, mouth: Any, bore: Any, depth: Any
) -> Touch:
    """A cone with a rim of radius `mouth` that narrows to a cylindrical socket of radius `bore`, `depth` deep, flat.

    The frame's origin is the middle of the bottom. Rim, cone, throat and bore are one sheet, of which the nearest point
    counts; the bottom adds to it, so that in the corner the force is the sum of both.
    """
    rho, z, radial = _half_plane(centre, origin, rotation)
    s, c = ca.sin(half_angle), ca.cos(half_angle)
    x, y = rho - bore, z - depth
    a, b = x * s + y * c, y * s - x * c
    beyond = ca.fmax(a - (mouth - bore) / s, 0) + ca.fmin(a, 0)
    above = ca.fmax(y, 0) + ca.fmin(z, 0)
    from_cone, from_bore = beyond * beyond + b * b, x * x + above * above
    cone = from_cone < from_bore
    distance = ca.sqrt(ca.fmin(from_cone, from_bore) + TINY)
    side = ca.fmax(radius - distance, 0) / distance
    e_rho = side * ca.if_else(cone, beyond * s - b * c, x)
    e_z = side * ca.if_else(cone, beyond * c + b * s, above) + ca.if_else(rho < bore, ca.fmax(radius - z, 0), 0)
    over = ca.sqrt(e_rho * e_rho + e_z * e_z + TINY)
    normal = rotation @ ((e_rho * radial + ca.vertcat(0, 0, e_z)) / over)
    clear = ca.if_else(rho < bore, ca.fmin(distance, z), distance)
    overlap = ca.if_else(over > 2 * math.sqrt(TINY), over, radius - clear)
    return Touch(overlap, normal, centre - (radius - over) * normal)


def _half_plane(centre: SX, origin: SX, rotation: SX) -> tuple[SX, SX, SX]:
    """rho, z and the unit vector along rho, in the axes of the wall."""
    p = rotation.T @ (centre - origin)
    rho = ca.sqrt(p[0] * p[0] + p[1] * p[1] + TINY)
    return rho, p[2], ca.vertcat(p[0] / rho, p[1] / rho, 0)


def spring(depth: SX, onset: Any) -> SX:
    """φ(δ): zero for a gap, then quadratic up to `onset`, then linear [m]."""
    over = ca.fmax(depth, 0)
    m = ca.fmin(over, onset)
    return m * (over - m / 2) / onset


def stored(depth: SX, onset: Any) -> SX:
    """∫ φ dδ [m²]: the elastic energy of a contact is stiffness · stored."""
    over = ca.fmax(depth, 0)
    m = ca.fmin(over, onset)
    return m * m * m / (6 * onset) + (over - m) * over / 2


def push(depth: SX, rate: SX, stiffness: Any, onset: Any, dissipation: Any) -> SX:
    """F_n, zero or more."""
    return stiffness * spring(depth, onset) * ca.fmax(1 + dissipation * rate, 0)


def force(touch: Touch, velocity: SX, law: Any) -> tuple[SX, SX]:
    """The force on the sphere (3) and its normal part F_n, from the velocity of the sphere relative to the wall there.

    `law` has stiffness, onset, dissipation, friction and slip.
    """
    rate = -ca.dot(velocity, touch.normal)
    normal = push(touch.depth, rate, law.stiffness, law.onset, law.dissipation)
    along = velocity + rate * touch.normal
    grip = law.friction * normal / ca.sqrt(ca.dot(along, along) + law.slip * law.slip)
    return normal * touch.normal - grip * along, normal


def relative(state: Any, sphere: str, wall: str, point: SX) -> SX:
    """Velocity of the sphere's material relative to the wall's, at a point in the world."""
    own = state.velocity(sphere) + cross(state.omega(sphere), point - state.position(sphere))
    return own - state.velocity(wall) - cross(state.omega(wall), point - state.position(wall))


def wrenches(state: Any, sphere: str, wall: str, point: SX, force: SX) -> dict[str, SX]:
    """The force at the point as wrenches at both frames: equal and opposite, so momentum stays."""
    return {
        sphere: ca.vertcat(force, cross(point - state.position(sphere), force)),
        wall: ca.vertcat(-force, -cross(point - state.position(wall), force)),
    }


def dissipation(restitution: float, speed: float) -> float:
    """d [s/m] with which an impact at `speed` leaves with `restitution` times that speed."""
    if not 0 < restitution <= 1 or not speed > 0:
        fix = "give a restitution above 0 and up to 1, and a speed above zero"
        raise ModelError(f"restitution {restitution:g} at {speed:g} m/s", fix=fix)
    return 0.0 if restitution == 1 else _root(lambda x: _balance(x, restitution), 0.0, 1 / restitution) / speed


def restitution(dissipation: float, speed: float) -> float:
    """e of an impact at `speed` [m/s]: the inverse of `dissipation`."""
    x = dissipation * speed
    return 1.0 if x <= 0 else _root(lambda e: _balance(x, e), 0.0, min(1.0, 1 / x))


def _balance(x: float, e: float) -> float:
    """x (1 + e) − ln((1 + x) / (1 − e x)): zero where e is the restitution of x = d v; falling towards e x = 1."""
    return x * (1 + e) - math.log1p(x) + math.log1p(-e * x) if e * x < 1 else -math.inf


def _root(f: Any, low: float, high: float) -> float:
    """Where f falls through zero, by halving down to neighbouring numbers."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    return high
