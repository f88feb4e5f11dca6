"""Writes docs/ledger.md from the code: python docs/ledger.py"""

from pathlib import Path

import linkwork as lw
from linkwork.dynamics import ledger
from linkwork.verify import WAYS

PAGE = Path(__file__).with_suffix(".md")
COLUMNS = {**WAYS, "docking_spacecraft": lw.docking_spacecraft}
TEXT = """# What a model may hold, and which formulation takes it

Written from the code by `python docs/ledger.py`. Every element of a model is taken by a formulation *exactly*,
*approximately* (the number says how) or is *refused* (the number says why): by name, before anything runs. *In tau*:
the element makes joint forces or wrenches that are added before any formulation sees them, by `simulate` and by
`equations(…, forces=True)`. *Stored*: no equation of motion holds it.
`separate_bodies_planar` takes all of this in a plane; a joint or a gravity that leaves it is refused by name as well.
`linkwork verify FILE` prints the rows that matter for a model. The column `aba` stands for all fast defaults: `aba`,
`rnea`, `wrenches`, `crba`, `kinetic_energy`.

"""


def text() -> str:
    return TEXT + ledger.markdown(COLUMNS).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
