"""Writes docs/agreement.md: `verify` on every URDF of example-robot-data, fixed and free base, peers as extra columns.

python docs/agreement.py            all of them, about half an hour
python docs/agreement.py panda pr2  only these files, printed and not written
"""

import re
import sys
import textwrap
import time
from pathlib import Path

import linkwork as lw
from linkwork.model.check import unmoved
from linkwork.verifying.compare import CLOSE

PAGE = Path(__file__).with_suffix(".md")
SAMPLES, SEED, PEERS = 50, 0, ("pinocchio", "mujoco")
WORDS = {"v_dot": "v_dot", "wrenches": "wrenches", "base_wrench": "base wrench", "M": "M", "energy_rate": "energy rate"}
HEAD = ("robot", "base", "bodies", "freedoms", "ways", *WORDS.values(), *PEERS, "verdict")
TEXT = """# Do the formulations agree on real robots?

`linkwork verify` on every URDF of `example-robot-data` {data}, {samples} random states of seed {seed} each, with
Pinocchio {pinocchio} and MuJoCo {mujoco} as extra columns. Written by `python docs/agreement.py`.

A number is the largest relative difference between any two ways, peers included, as [verify.md](verify.md) tells it;
allowed are 1e-10 and what the condition of the mass matrix costs. `ways` counts formulations, the machine code of `aba`
and peers. The columns `pinocchio` and `mujoco` hold the largest difference of that peer from any formulation, in any
quantity. Coupled (`mimic`) joints leave out the formulations that refuse them by name: `separate_bodies`,
`docking_open`; see [ledger.md](ledger.md).

{summary}

{table}

{notes}
"""


def robots():
    """Every file, by a short name."""
    import cmeel

    prefix = next(Path(p) for p in cmeel.__path__).parent / "cmeel.prefix"
    folder = prefix / "share/example-robot-data/robots"
    found = {path: path.relative_to(folder).parts[0].removesuffix("_description") for path in folder.rglob("*.urdf")}
    return dict(sorted((f"{robot}/{path.stem}", path) for path, robot in found.items()))


def fingerprint(model):
    """Everything the equations depend on; several files describe one mechanism and differ in their shapes."""
    joints = [
        (j.name, j.kind, j.parent, j.position, j.rotation, j.axis, j.coupling and j.coupling.ratio)
        for j in model.joints[1:]
    ]
    return repr((joints, [[(p.mass, p.centre, p.inertia) for p in b.inertials] for b in model.bodies]))


def numbers(found):
    """Cells of a row that hold differences, and the verdict."""
    cells = [f"{found.worst[q].difference:.1e}" if q in found.worst else "" for q in WORDS]
    for peer in PEERS:
        apart = [
            each.largest[k, j]
            for each in found.quantities.values()
            for k, way in enumerate(each.names)
            for j, other in enumerate(each.names)
            if way.startswith(peer) and not other.startswith(PEERS)
        ]
        cells.append(f"{max(apart):.1e}" if apart else "refuses")
    return [*cells, "agree" if found.ok else "**do not agree**"]


def row(name, path, base, seen):
    """Cells of one robot on one base, and the notes about it; `seen`: fingerprints told so far."""
    blank = [""] * (len(HEAD) - 6)
    try:
        model = lw.read_urdf(path, base=base)
    except lw.ModelError as error:
        return [name, base, "", "", "", *blank, f"refused: {error.what}"], []
    first = [name, base, str(len(model.bodies) - 1), str(model.nv)]
    same = seen.setdefault((base, fingerprint(model)), name)
    if same != name:
        return [*first, "", *blank, f"the same mechanism as {same}"], []
    if stuck := unmoved(model):
        return [*first, "", *blank, f"refused: joint '{model.joint(stuck[0]).name}' moves no mass"], []
    found = lw.verify(model, SAMPLES, SEED, peers=PEERS)
    notes = [(name, base, note) for note in found.notes if "crba" in note]
    if any(worst.difference > CLOSE for worst in found.worst.values()):
        notes.append((name, base, f"the condition of its mass matrix is large, up to {found.condition:.0e}"))
    notes += [(name, base, found.refused[p]) for p in PEERS if p in found.refused]
    return [*first, str(len(found.ways)), *numbers(found)], notes


def markdown(rows):
    lines = [HEAD, ["---", "---", *["--:"] * (len(HEAD) - 3), "---"], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def summary(rows):
    judged = [r for r in rows if r[4]]
    agree = sum(r[-1] == "agree" for r in judged)
    worst = {" ".join(r[:2]): max(float(cell) for cell in r[5:10] if cell) for r in judged}
    close = {name: x for name, x in worst.items() if x <= CLOSE}
    other = ", ".join(f"{name} {x:.0e}" for name, x in worst.items() if name not in close) or "none"
    pin, mujoco = (sum(r[k] != "refuses" for r in judged) for k in (10, 11))
    same, massless, empty = (sum(word in r[-1] for r in rows) for word in ("same mechanism", "moves no", "no links"))
    words = (
        f"**{agree} of {len(judged)} different mechanisms agree ({pin} with Pinocchio, {mujoco} with MuJoCo):",
        f"{len(close)} within {max(close.values()):.1e}.** By more, though not by more than the condition of its mass",
        f"matrix allows: {other}. {same} rows hold a mechanism that is there already, {massless} a joint that moves no",
        f"mass, which every formulation refuses by name, {empty} a file without links.",
    )
    return textwrap.fill(" ".join(words), 120)


def told(notes):
    """Notes (robot, base, text), each text once with the robots it is about and the figure in it, if any."""
    found = {}
    for robot, base, text in notes:
        text = re.sub(r"^'mujoco' does not take '.*?':", "MuJoCo does not take it:", text)
        text = re.sub(r"^body '.*?': 'mujoco' takes no", "MuJoCo takes no", text)
        figure = re.search(r",? (by|up to) (\d\S*e[+-]\d+)", text)
        text = text.replace(figure[0], "") if figure else text
        found.setdefault(text, {}).setdefault(robot, []).append(f"{base} {figure[2]}" if figure else base)
    lines = (
        f"- {text}: " + ", ".join(f"{robot} ({', '.join(bases)})" for robot, bases in of.items())
        for text, of in found.items()
    )
    return "Notes\n\n" + "\n".join(lines) if notes else ""


def main(only):
    from importlib.metadata import version

    rows, notes, seen, began = [], [], {}, time.monotonic()
    files = {name: path for name, path in robots().items() if not only or path.stem in only}
    for k, (name, path) in enumerate(files.items(), 1):
        for base in ("fixed", "free"):
            cells, more = row(name, path, base, seen)
            rows.append(cells)
            notes += more
            print(f"{k} of {len(files)}, {time.monotonic() - began:.0f} s: " + " | ".join(cells), file=sys.stderr)
    versions = {k: version(v) for k, v in (("data", "example-robot-data"), ("pinocchio", "pin"), ("mujoco", "mujoco"))}
    parts = {"summary": summary(rows), "table": markdown(rows), "notes": told(notes)}
    text = TEXT.format(samples=SAMPLES, seed=SEED, **parts, **versions).rstrip() + "\n"
    if only:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
