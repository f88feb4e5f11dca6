"""Rotations, six-vectors, transforms and inertias on CasADi matrices. Six-vectors are [linear; angular].

Symmetry and the structure of elementary rotations are used here, so that the formulations need not speak of them.
A rotation R named child → parent turns child coordinates into parent coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

SX = ca.SX


def vector(entries: Any) -> SX:
    return SX(ca.vertcat(*entries))


def matrix(rows: Any) -> SX:
    return SX(ca.vertcat(*[ca.horzcat(*row) for row in rows]))


def zeros(*shape: int) -> SX:
    return SX(ca.DM.zeros(*shape))


def eye(n: int) -> SX:
    return SX(ca.DM.eye(n)) + 0  # dense: entries are addressed below


def skew(r: SX) -> SX:
    """r~, with r~ y = r × y."""
    return matrix([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def cross(a: SX, b: SX) -> SX:
    return ca.cross(a, b)


def spin(w: SX) -> SX:
    """w~ w~ = w wᵀ − |w|² E, the matrix of centripetal accelerations."""
    x, y, z = w[0], w[1], w[2]
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return matrix([[-(yy + zz), xy, xz], [xy, -(xx + zz), yz], [xz, yz, -(xx + yy)]])


def gyroscopic(inertia: SX, W: SX) -> SX:
    """w × (I w) from W = w~ w~: four products a component instead of five."""
    I = inertia
    return vector(
        [
            I[0, 2] * W[0, 1] - I[0, 1] * W[0, 2] + I[1, 2] * (W[1, 1] - W[2, 2]) + (I[2, 2] - I[1, 1]) * W[1, 2],
            I[0, 1] * W[1, 2] - I[1, 2] * W[0, 1] + I[0, 2] * (W[2, 2] - W[0, 0]) + (I[0, 0] - I[2, 2]) * W[0, 2],
            I[1, 2] * W[0, 2] - I[0, 2] * W[1, 2] + I[0, 1] * (W[0, 0] - W[1, 1]) + (I[1, 1] - I[0, 0]) * W[0, 1],
        ]
    )


def rotation(axis: SX, angle: SX) -> SX:
    """Turn by `angle` about the unit vector `axis` (Rodrigues); exact zeros for a coordinate axis."""
    c, s = ca.cos(angle), ca.sin(angle)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if is_zero(axis[i]) and is_zero(axis[j]):
            R = eye(3)
            s = s * axis[k]
            R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
            return R
    return c * eye(3) + s * skew(axis) + (1 - c) * (axis @ axis.T)


def quaternion_rotation(quat: SX) -> SX:
    """Rotation of a unit quaternion (w, x, y, z), child → parent when the quaternion is the child's attitude."""
    w, x, y, z = quat[0], quat[1], quat[2], quat[3]
    x2, y2, z2 = 2 * x, 2 * y, 2 * z
    xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return matrix(
        [
            [1 - (yy + zz), xy - wz, xz + wy],
            [xy + wz, 1 - (xx + zz), yz - wx],
            [xz - wy, yz + wx, 1 - (xx + yy)],
        ]
    )


def quaternion_product(a: SX, b: SX) -> SX:
    u, v = a[1:4], b[1:4]
    return ca.vertcat(a[0] * b[0] - ca.dot(u, v), a[0] * v + b[0] * u + cross(u, v))


def quaternion_exp(turn: SX) -> SX:
    """Unit quaternion of the rotation vector `turn`; regular at zero."""
    angle2 = ca.dot(turn, turn)
    small = angle2 < 1e-8
    angle = ca.sqrt(ca.if_else(small, 1.0, angle2))
    half = ca.if_else(small, 0.5 - angle2 / 48 + angle2 * angle2 / 3840, ca.sin(angle / 2) / angle)
    return ca.vertcat(ca.if_else(small, 1 - angle2 / 8 + angle2 * angle2 / 384, ca.cos(angle / 2)), half * turn)


def quaternion_log(quat: SX) -> SX:
    """Rotation vector of a unit quaternion, the shorter way round; regular at zero."""
    quat = ca.if_else(quat[0] < 0, -1.0, 1.0) * quat
    v = quat[1:4]
    sine2 = ca.dot(v, v)
    small = sine2 < 1e-8
    sine = ca.sqrt(ca.if_else(small, 1.0, sine2))
    return ca.if_else(small, 2 + sine2 / 3, 2 * ca.atan2(sine, quat[0]) / sine) * v


def is_zero(x: Any) -> bool:
    x = SX(x)
    return x.is_constant() and float(x) == 0.0


def is_one(x: Any) -> bool:
    x = SX(x)
    return x.is_constant() and float(x) == 1.0


def elementary(R: SX) -> tuple[int, SX, SX] | None:
    """(k, cos, sin) when R is by structure a turn about coordinate axis k, but not by a right angle."""
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if is_one(R[k, k]) and not any(is_constant_nonzero(R[a, b]) for a, b in ((i, k), (k, i), (j, k), (k, j))):
            if not (is_zero(R[i, i]) or is_zero(R[j, i])):
                return k, R[i, i], R[j, i]
    return None


def is_constant_nonzero(x: SX) -> bool:
    return not is_zero(x)


def rotate(R: SX, A: SX) -> SX:
    """R A Rᵀ."""
    turn = elementary(R)
    return R @ A @ R.T if turn is None else _turn_block(turn, R, A)


def rotate_symmetric(R: SX, A: SX) -> SX:
    """R A Rᵀ of a symmetric A, each pair of entries formed once."""
    turn = elementary(R)
    if turn is not None:
        return _turn_block(turn, R, A)
    T = R @ A
    B = zeros(3, 3)
    for i in range(3):
        for j in range(i + 1):
            B[i, j] = T[i, :] @ R[j, :].T
            B[j, i] = B[i, j]
    return B


def _turn_block(turn: tuple[int, SX, SX], R: SX, A: SX) -> SX:
    """R A Rᵀ for a turn about axis k: the 2×2 block across the axis needs four products, not sixteen.

    With x = a − d, B = b + g of the block [[a, b], [g, d]]: u = c² x − c s B, y = c s x − s² B, and the block becomes
    [[d + u, b + y], [g + y, a − u]].
    """
    k, c, s = turn
    i, j = (k + 1) % 3, (k + 2) % 3
    a, b, g, d = A[i, i], A[i, j], A[j, i], A[j, j]
    cs, x, B = c * s, a - d, b + g
    u, y = c * c * x - cs * B, cs * x - s * s * B
    out = zeros(3, 3)
    out[i, i], out[i, j], out[j, i], out[j, j] = d + u, b + y, g + y, a - u
    out[i, k], out[j, k] = c * A[i, k] - s * A[j, k], s * A[i, k] + c * A[j, k]
    out[k, i], out[k, j] = c * A[k, i] - s * A[k, j], s * A[k, i] + c * A[k, j]
    out[k, k] = A[k, k]
    return out


@dataclass(frozen=True)
class Transform:
    """From a parent's frame to a child's. Child axes → joint axes by `turn`, joint axes → parent axes by `place`;
    `r` is the child's origin in parent axes."""

    turn: SX
    place: SX
    r: SX

    @property
    def R(self) -> SX:
        """Child axes → parent axes."""
        return self.place @ self.turn

    def into(self, x: SX) -> SX:
        """A 3-vector in parent axes, told in child axes."""
        return self.turn.T @ (self.place.T @ x)

    def out(self, x: SX) -> SX:
        """A 3-vector in child axes, told in parent axes."""
        return self.place @ (self.turn @ x)

    def motion(self, a: SX) -> SX:
        """B a: a motion of the parent, taken at the child's origin, in child axes."""
        linear, angular = a[:3], a[3:]
        return ca.vertcat(self.into(linear + cross(angular, self.r)), self.into(angular))

    def force(self, f: SX) -> SX:
        """Bᵀ f: a wrench on the child at its origin, taken at the parent's origin, in parent axes."""
        linear = self.out(f[:3])
        return ca.vertcat(linear, self.out(f[3:]) + cross(self.r, linear))

    def inertia(self, M: SX) -> SX:
        """Bᵀ M B of a symmetric 6×6."""
        mass, mixed, turning = M[:3, :3], M[:3, 3:], M[3:, 3:]
        for R in (self.turn, self.place):
            mass, mixed, turning = rotate_symmetric(R, mass), rotate(R, mixed), rotate_symmetric(R, turning)
        r = skew(self.r)
        moved = mixed - mass @ r
        add = r @ mixed - moved.T @ r
        for i in range(3):
            for j in range(i):
                add[j, i] = add[i, j]
        return ca.blockcat([[mass, moved], [moved.T, turning + add]])

    def rigid(self, m: SX, md: SX, I: SX) -> tuple[SX, SX]:
        """First moment and inertia of a rigid body, mass m, about the parent's origin in the parent's axes."""
        r, there = self.r, self.out(md)
        moved = there + m * r
        for R in (self.turn, self.place):
            I = rotate_symmetric(R, I)
        both, half = there + moved, 0.5 * r
        add = zeros(3, 3)
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            add[k, k] = r[i] * both[i] + r[j] * both[j]
            add[i, j] = add[j, i] = -(half[i] * both[j] + half[j] * both[i])
        return moved, I + add


def rigid_inertia(m: SX, md: SX, I: SX) -> SX:
    """6×6 inertia about the pole: mass m, first moment m d, I about the pole."""
    return ca.blockcat([[m * eye(3), -skew(md)], [skew(md), I]])


def symmetric(entries: Any) -> SX:
    """3×3 of (xx, yy, zz, xy, xz, yz)."""
    xx, yy, zz, xy, xz, yz = entries
    return matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def solve_symmetric(D: SX, B: SX) -> SX:
    """D⁻¹ B for a small positive definite D, by L d Lᵀ without square roots, one division a row."""
    n = D.shape[0]
    L, x = [[SX(0)] * n for _ in range(n)], [B[i, :] for i in range(n)]
    d, inverse = [SX(0)] * n, [SX(0)] * n
    for j in range(n):
        d[j] = D[j, j] - sum((L[j][k] * L[j][k] * d[k] for k in range(j)), SX(0))
        inverse[j] = 1 / d[j]
        for i in range(j + 1, n):
            L[i][j] = (D[i, j] - sum((L[i][k] * L[j][k] * d[k] for k in range(j)), SX(0))) * inverse[j]
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - L[i][k] * x[k]
    for i in reversed(range(n)):
        x[i] = x[i] * inverse[i]
        for k in range(i + 1, n):
            x[i] = x[i] - L[k][i] * x[k]
    return ca.vertcat(*x)


def eliminate(M: SX, S: SX, U: SX, D: SX) -> SX:
    """M − U D⁻¹ Uᵀ, where U = M S and D = Sᵀ U plus rotor inertia.

    Where S picks coordinate directions and no rotor inertia is added, the rows picked vanish by structure.
    """
    picked = [i for i in range(6) if any(is_one(S[i, k]) or is_one(-S[i, k]) for k in range(S.shape[1]))]
    pure = (
        len(picked) == S.shape[1]
        and all(is_zero(S[i, k]) for i in range(6) if i not in picked for k in range(S.shape[1]))
        and ca.is_equal(ca.simplify(D - S.T @ U), zeros(*D.shape), 2)
    )
    K = solve_symmetric(D, U.T).T
    out = zeros(6, 6)
    for i in range(6):
        for j in range(i + 1):
            if not (pure and (i in picked or j in picked)):
                out[i, j] = M[i, j] - K[i, :] @ U[j, :].T
                out[j, i] = out[i, j]
    return out
