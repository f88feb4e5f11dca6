"""Places whose change changes no answer that `verify` could compare, by formulation, and why.

Some changes are none: a cross product with itself, a row of a matrix that is zero. Others change results that only one
formulation gives or options that `verify` does not use; the tests named there see them.
"""

from __future__ import annotations

from mutants import Key

NO_TURN = "om · (om × J om) is zero: the term is there for the letters' sake"
STILL = "the world of a model is at rest; test_docking_tree.py has worlds that move"
WORLD = "what reaches the world is the base wrench; inverse dynamics tells it, and is judged with it"
SIDE = "from which side the plane is seen shows in a and R alone; test_separate_bodies.py compares them"
SHAPE = "the shape of results of its own; test_separate_bodies.py, test_block_matrix.py"
EXTRA = "of further rows, which verify has none of; test_kane_graph.py"

COLUMNS = "for columns without forces on a branch, which derivatives alone have; test_slopes.py"

MAIN = "Lambda_T(self.l_D) @ (self.zs @ self.q_dot) + self.D3 @ (self.zp @ self.q_dot)"

SAME: dict[str, dict[Key, str]] = {
    "aba": {
        ("sweeps", "run", "links[0]", 1): WORLD,
        ("sweeps", "run", "sums[0]", 0): WORLD,
        ("spatial", "solve_symmetric", "j + 1", 0): "rows above the diagonal are formed too, and not used",
        ("spatial", "eliminate", "-S[i, k]", 0): "rows that vanish are formed too, where an axis points backwards",
        ("spatial", "eliminate", "D - S.T @ U", 0): "rows that vanish are formed too",
    },
    "rnea, crba": {
        ("crba", "_answer", "-H[k][a]", 0): COLUMNS,
        ("crba", "_answer", "e - H[k][m] * p", 0): COLUMNS,
    },
    "separate_bodies": {
        ("separate_bodies", "separate_bodies", "model.bodies[1:]", 0): "a check is made of sound bodies too",
        ("separate_bodies", "separate_bodies", "bodies[0].Q_s - bodies[0].M_s @ bodies[0].a", 0): STILL,
        ("separate_bodies", "separate_bodies", "bodies[0]", 1): STILL,
        ("separate_bodies", "separate_bodies", "b.a.T", 0): SHAPE,
        ("separate_bodies", "power", "b.J @ b.a[3:] + cross(b.om, b.J @ b.om)", 0): NO_TURN,
        ("separate_bodies", "power", "cross(b.om, b.J @ b.om)", 0): NO_TURN,
    },
    "separate_bodies_planar": {
        ("separate_bodies_planar", "_normal", "-axis", 0): SIDE,
        ("separate_bodies_planar", "_normal", "lines[0]", 0): SIDE,
        ("separate_bodies_planar", "_normal", "across(tuple(a / np.linalg.norm(a)))[0]", 0): SIDE,
        ("separate_bodies_planar", "separate_bodies_planar", "b.a.T", 0): SHAPE,
        ("separate_bodies_planar", "separate_bodies_planar", "b.R.T", 0): SHAPE,
        ("separate_bodies", "accelerations", "b.M_s @ b.a - b.Q_s", 0): "R is judged in space",
    },
    "docking_tree": {
        ("docking_rows", "move", "rows[0]", 0): STILL,
        ("docking_rows", "move", "rows[0]", 1): STILL,
        ("docking_tree", "told", "G[k] - plain[k]", 0): "`residual` is its own; test_docking_tree.py",
    },
    "docking_open": {
        ("docking_rows", "move", "rows[0]", 0): STILL,
        ("docking_rows", "move", "rows[0]", 1): STILL,
        ("docking_open", "docking_open", "T.T", 0): "`dM_R` is its own; test_docking_open.py",
        ("docking_open", "docking_open", "chains.ds[R] - chains.dM[R] @ a_R", 0): "`G_R` is; test_docking_open.py",
    },
    "kane_graph": {
        ("kane_hinges", "Hinge.turned", "ca.diagcat(R, R).T", 0): "beside the rows across a screw's axis any direction "
        "that is not across it gives the row of its pitch",
        ("kane_graph", "Kane._extra", "rows @ z - right", 0): EXTRA,
        ("kane_graph", "Kane._extra", "found[2]", 0): EXTRA,
        ("kane_graph", "Kane._NT", "x[0]", 0): "of these only the number of columns is asked for",
        ("kane_graph", "Kane.energy_rate", "I @ self._z_dot[0][i] + cross(w, I @ w)", 0): NO_TURN,
        ("kane_graph", "Kane.energy_rate", "cross(w, I @ w)", 0): NO_TURN,
    },
    "block_matrix": {
        ("block_links", "chain", "AXES[2]", 0): "a weld has no axis",
        ("block_letters", "Letters.v", MAIN, 0): "`v_l` is its own; test_block_matrix.py",
        ("block_letters", "by_links", "ca.reshape(ca.densify(x), 3, -1).T", 0): SHAPE,
        ("block_matrix", "block_matrix", "x.J_d @ eps + x.gyroscopic", 0): NO_TURN,
    },
}  # fmt: skip
