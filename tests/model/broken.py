"""Model files that cannot be models: (name, file name, content, a fragment of the one error told)."""

from __future__ import annotations

import random
from typing import Any

Case = tuple[str, str, Any, str]

YAML = """\
name: arm
gravity: [0, 0, -9.81]
bodies:
  upper: {mass: 2 kg, centre: [0, 0, -0.2], inertia: [0.02, 0.02, 0.004]}
  lower: {mass: 1 kg, inertia: [0.01, 0.01, 0.002]}
joints:
  shoulder: {kind: revolute, parent: world, child: upper, axis: y}
  elbow: {kind: revolute, parent: upper, child: lower, axis: y, at: [0, 0, -0.4]}
"""


def changed(old: str, new: str) -> str:
    assert old in YAML
    return YAML.replace(old, new)


LOWER = "{mass: 1 kg, inertia: [0.01, 0.01, 0.002]}"
ELBOW = "{kind: revolute, parent: upper, child: lower, axis: y, at: [0, 0, -0.4]}"

YAML_CASES: list[Case] = [
    (f"yaml {name}", "arm.yaml", content, fragment)
    for name, content, fragment in [
        ("ring", changed("parent: world", "parent: lower"), "carry one another in a ring: 'upper'"),
        (
            "two parents",
            YAML + "  again: {kind: revolute, parent: world, child: lower}\n",
            "carried by two joints",
        ),
        ("unknown parent", changed("parent: upper", "parent: uper"), "did you mean 'upper'"),
        ("unknown child", changed("child: lower", "child: lowest"), "names an unknown body 'lowest'"),
        ("no joint", changed("  elbow: " + ELBOW + "\n", ""), "body 'lower' hangs on no joint"),
        ("duplicate body", changed("  lower: ", "  upper: "), "the key 'upper' is there twice (line 4)"),
        (
            "body and marker",
            YAML + "world: {markers: {upper: {at: [0, 0, 0]}}}\n",
            "the name 'upper' is given to 2",
        ),
        ("negative mass", changed("mass: 1 kg", "mass: -1 kg"), "mass of body 'lower' is -1 kg, below zero"),
        ("mass not a number", changed("mass: 1 kg", "mass: .nan"), "mass of body 'lower' is nan"),
        ("infinite mass", changed("mass: 1 kg", "mass: .inf"), "mass of body 'lower' is inf"),
        ("mass in metres", changed("mass: 1 kg", "mass: 1 m"), "'m', which is not one of a mass"),
        ("unknown unit", changed("mass: 1 kg", "mass: 1 kgs"), "unknown unit 'kgs'"),
        ("mass is a word", changed("mass: 1 kg", "mass: heavy"), "'heavy', not a number"),
        ("mass is true", changed("mass: 1 kg", "mass: true"), "is true, not a number"),
        ("mass is a list", changed("mass: 1 kg", "mass: [1, 2]"), "not a number"),
        ("mass is huge", changed("mass: 1 kg", "mass: 1e300"), "beyond anything mechanical"),
        ("mass overflows", changed("mass: 1 kg", "mass: 1e9999"), "not a finite number"),
        ("triangle", changed("[0.01, 0.01, 0.002]", "[0.01, 0.01, 0.03]"), "breaks the triangle inequality"),
        ("negative moment", changed("[0.01, 0.01, 0.002]", "[0.01, -0.01, 0.002]"), "below zero"),
        ("skew tensor", changed("[0.01, 0.01, 0.002]", "[[1, 2, 0], [0, 1, 0], [0, 0, 1]]"), "not symmetric"),
        ("four moments", changed("[0.01, 0.01, 0.002]", "[1, 1, 1, 0]"), "has 4 entries"),
        ("inertia without mass", changed(LOWER, "{inertia: [1, 1, 1]}"), "has 'inertia' but no mass"),
        ("mass zero", changed("mass: 1 kg", "mass: 0"), "its mass is zero"),
        ("unknown key", changed("mass: 1 kg", "mas: 1 kg"), "unknown key 'mas'"),
        ("unknown section", YAML + "gravitation: 1\n", "unknown key 'gravitation'"),
        ("unknown shape", changed(LOWER, "{mass: 1, shape: bax, size: [1, 1, 1]}"), "unknown shape 'bax'"),
        ("no gravity", changed("gravity: [0, 0, -9.81]\n", ""), "has no 'gravity'"),
        ("gravity in two numbers", changed("[0, 0, -9.81]", "[0, -9.81]"), "gravity has 2 entries"),
        (
            "zero axis",
            changed(ELBOW, ELBOW.replace("axis: y", "axis: [0, 0, 0]")),
            "axis of joint 'elbow' is zero",
        ),
        ("axis q", changed(ELBOW, ELBOW.replace("axis: y", "axis: q")), "axis of joint 'elbow' is 'q'"),
        ("unknown kind", changed(ELBOW, ELBOW.replace("revolute", "revolut")), "did you mean 'revolute'"),
        ("no parent", changed(ELBOW, "{kind: fixed, child: lower}"), "joint 'elbow' has no parent"),
        ("limits reversed", changed(ELBOW, ELBOW[:-1] + ", limits: [1, -1]}"), "is above its upper limit"),
        ("limits in metres", changed(ELBOW, ELBOW[:-1] + ", limits: [0 m, 1 m]}"), "not one of an angle"),
        ("negative damping", changed(ELBOW, ELBOW[:-1] + ", damping: -1}"), "damping of joint 'elbow' is -1"),
        (
            "damping of a weld",
            changed(ELBOW, "{kind: fixed, parent: upper, child: lower, damping: 1}"),
            "no freedom",
        ),
        ("no pitch", changed(ELBOW, "{kind: helical, parent: upper, child: lower}"), "has no pitch"),
        ("quaternion too long", changed(ELBOW, ELBOW[:-1] + ", quat_wxyz: [2, 0, 0, 0]}"), "has length 2"),
        (
            "two rotations",
            changed(ELBOW, ELBOW[:-1] + ", rotation: [0, 0, 1], quat_wxyz: [1, 0, 0, 0]}"),
            "given twice",
        ),
        (
            "not a rotation",
            changed(ELBOW, ELBOW[:-1] + ", rotation: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}"),
            "not a rotation",
        ),
        ("follows unknown", changed(ELBOW, ELBOW[:-1] + ", follows: sholder}"), "did you mean 'shoulder'"),
        ("follows itself", changed(ELBOW, ELBOW[:-1] + ", follows: elbow}"), "follows itself"),
        ("no motion", changed(ELBOW, "{kind: prescribed, parent: upper, child: lower}"), "has no motion"),
        (
            "motion calls python",
            changed(
                ELBOW,
                "{kind: prescribed, parent: upper, child: lower, motion: {position: [open('x')*t, 0, 0]}}",
            ),
            "unknown function 'open'",
        ),
        (
            "motion digs",
            changed(
                ELBOW,
                '{kind: prescribed, parent: upper, child: lower, motion: {position: ["t.__class__", 0, 0]}}',
            ),
            "something other than arithmetic",
        ),
        ("unknown start", YAML + "start: {elbo: 1}\n", "unknown coordinate or speed 'elbo'"),
        ("start in metres", YAML + "start: {elbow: 1 m}\n", "not one of an angle"),
        ("unknown parameter", YAML + "parameters: [lower.mas]\n", "no number 'lower.mas'"),
        (
            "law on nothing",
            YAML + "laws: {l: {kind: drag, body: lowr, coefficient: 1}}\n",
            "unknown body 'lowr'",
        ),
        ("law of no kind", YAML + "laws: {l: {kind: springs}}\n", "unknown kind 'springs'"),
        (
            "mesh outside",
            changed(LOWER, "{mass: 1, visuals: [{shape: mesh, file: ../../etc/passwd}]}"),
            "outside the folder",
        ),
        ("bodies a list", changed("bodies:\n", "bodies: [1, 2]\nbodes:\n"), "unknown key 'bodes'"),
        ("a list", "- a\n- b\n", "not a mapping"),
        ("a word", "hello\n", "not a mapping"),
        ("tabs", changed("  lower:", "\tlower:"), "not well-formed YAML"),
        ("open bracket", changed("[0, 0, -9.81]", "[0, 0, -9.81"), "not well-formed YAML"),
        (
            "python tag",
            changed("name: arm", "name: !!python/object/apply:os.system ['true']"),
            "the tag !!python/object",
        ),
        ("own tag", changed("name: arm", "name: !robot arm"), "the tag !robot"),
        (
            "alias bomb",
            "constants:\n  a: &a [x, x, x, x, x, x, x, x, x]\n"
            + "".join(
                f"  {b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
            ),
            "values, those that anchors repeat",
        ),
        ("anchor in itself", "name: &a [*a]\n", "stands for nothing"),
        ("deep", "name: " + "[" * 10_000 + "]" * 10_000 + "\n", "levels deep"),
        ("two documents", YAML + "---\n" + YAML, "several documents"),
        ("empty", "", "the file is empty"),
        ("only comments", "# nothing\n", "the file is empty"),
        ("binary", bytes(range(256)) * 40, "not UTF-8"),
        ("zeros", b"name: x\n" + bytes(100), "binary"),
        ("latin-1", "name: Träger\n".encode("latin-1"), "not UTF-8"),
        ("big", b"x: " + b"a" * (10 * 2**20), "10 MB of YAML"),
        ("garbage", bytes(random.Random(1).randbytes(10 * 2**20)), "not UTF-8"),
        ("control characters in a name", changed("name: arm", 'name: "a\\u0007m"'), "has the name"),
    ]
]


def urdf(links: str = "", joints: str = "", head: str = "") -> str:
    return f'<?xml version="1.0"?>\n{head}<robot name="r">\n{links}{joints}</robot>\n'


def link(name: str, inside: str = "") -> str:
    return f'<link name="{name}">{inside}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = "") -> str:
    ends = (f'<parent link="{parent}"/>' if parent else "") + (f'<child link="{child}"/>' if child else "")
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>\n'


def inertial(mass: str = "1", ixx: str = "1", iyy: str = "1", izz: str = "1") -> str:
    moments = f'ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"'
    return f'<inertial><mass value="{mass}"/><inertia {moments}/></inertial>'


A, B = link("a"), link("b", inertial())
AB = joint("ab", "a", "b", inside='<limit lower="-1" upper="1" effort="1" velocity="1"/>')
LOL = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)

URDF_CASES: list[Case] = [
    (f"urdf {name}", "arm.urdf", content, fragment)
    for name, content, fragment in [
        ("ring", urdf(A + B, AB + joint("ba", "b", "a")), "in a ring"),
        (
            "two parents",
            urdf(A + B + link("c"), AB + joint("ac", "a", "c") + joint("cb", "c", "b")),
            "two joints",
        ),
        ("two roots", urdf(A + B + link("c"), AB), "2 links hang on no joint: 'a', 'c'"),
        ("unknown link", urdf(A + B, joint("ab", "a", "bb") + joint("x", "a", "b")), "unknown body 'bb'"),
        ("duplicate link", urdf(A + B + B, AB), "the name 'b' is given to 2"),
        (
            "duplicate joint",
            urdf(A + B + link("c"), AB + AB.replace('"b"', '"c"')),
            "the name 'ab' is given to 2",
        ),
        ("no parent", urdf(A + B, joint("ab", "", "b")), "joint 'ab' has no <parent>"),
        ("no child", urdf(A + B, joint("ab", "a", "")), "joint 'ab' has no <child>"),
        ("no type", urdf(A + B, AB.replace('type="revolute"', "")), "has no type"),
        ("unknown type", urdf(A + B, joint("ab", "a", "b", "revolut")), "did you mean 'revolute'"),
        ("no name", urdf(A.replace(' name="a"', "") + B), "a <link> has no name"),
        ("negative mass", urdf(link("b", inertial("-1"))), "mass of link 'b' is -1 kg"),
        ("mass not a number", urdf(link("b", inertial("nan"))), "mass of link 'b' is nan"),
        ("mass is a word", urdf(link("b", inertial("1 kg"))), "'1 kg', not a number"),
        ("huge mass", urdf(link("b", inertial("1e200"))), "beyond anything mechanical"),
        ("negative moment", urdf(link("b", inertial(ixx="-1"))), "moment of inertia below zero"),
        ("infinite moment", urdf(link("b", inertial(ixx="inf"))), "ixx of link 'b' is inf"),
        ("two inertials", urdf(link("b", inertial() * 2)), "2 elements <inertial>"),
        ("no mass", urdf(link("b", "<inertial/>")), "link 'b' has no <mass>"),
        (
            "zero axis",
            urdf(A + B, joint("ab", "a", "b", inside='<axis xyz="0 0 0"/>')),
            "axis of joint 'ab' is zero",
        ),
        ("axis of two", urdf(A + B, joint("ab", "a", "b", inside='<axis xyz="0 1"/>')), "has 2 numbers"),
        ("limits reversed", urdf(A + B, AB.replace('lower="-1"', 'lower="2"')), "above its upper limit"),
        (
            "mimic of a joint without freedom",
            urdf(
                A + B + link("c"),
                joint("ab", "a", "b", kind="fixed") + joint("bc", "b", "c", inside='<mimic joint="ab"/>'),
            ),
            "has 0 freedoms",
        ),
        ("mimic itself", urdf(A + B, joint("ab", "a", "b", inside='<mimic joint="ab"/>')), "follows itself"),
        (
            "mimic ring",
            urdf(
                A + B + link("c"),
                joint("ab", "a", "b", inside='<mimic joint="bc"/>')
                + joint("bc", "b", "c", inside='<mimic joint="ab"/>'),
            ),
            "follows itself",
        ),
        ("entity bomb", urdf("&i;", head=LOL + "]>\n"), "document type"),
        (
            "external entity",
            urdf("&x;", head='<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n'),
            "document type",
        ),
        ("doctype", urdf(A, head='<!DOCTYPE r SYSTEM "http://example.org/r.dtd">\n'), "document type"),
        ("undefined entity", urdf("&x;"), "not well-formed XML"),
        ("deep", "<robot>" + "<a>" * 10_000 + "</a>" * 10_000 + "</robot>", "not well-formed XML"),
        ("not closed", '<robot name="r"><link name="a">', "not well-formed XML"),
        ("no links", '<robot name="r"/>', "has no links"),
        ("another root", '<mujoco model="x"/>', "this is a <mujoco> file"),
        (
            "xacro",
            '<robot name="r" xmlns:xacro="http://www.ros.org/xacro"><xacro:include/></robot>',
            "expand the file",
        ),
        ("empty", "", "the file is empty"),
        ("binary", bytes(range(256)) * 40, "not XML"),
        ("garbage", b"<" + random.Random(2).randbytes(10 * 2**20), "not well-formed XML"),
        ("text", "hello\n" * 100_000, "not XML"),
        (
            "wrong encoding",
            '<?xml version="1.0" encoding="UTF-8"?><robot name="ä"/>'.encode("latin-1"),
            "XML",
        ),
        ("unknown encoding", b'<?xml version="1.0" encoding="klingon"?><robot/>', "XML"),
    ]
]

TABLES = {
    "model.csv": "key,value\nname,arm\ngravity_x,0\ngravity_y,0\ngravity_z,-9.81\n",
    "tree.csv": "body,branch,parent\n1,0,0\n2,0,1\n",
    "bodies.csv": "body,mass [kg],centre_x [mm],Ixx_origin [kg*m^2],Iyy_origin [kg*m^2],Izz_origin [kg*m^2]\n"
    "1,1,0,1,1,1\n2,1,100,1,1,1\n",
    "joints.csv": "body,type,axis,position_x [mm],stiffness,active\n1,0,3,0,0,1\n2,1,1,500,2 N/m,1\n",
}


def tables(file: str, old: str, new: str) -> dict[str, str]:
    assert old in TABLES[file]
    return {**TABLES, file: TABLES[file].replace(old, new)}


def without(file: str) -> dict[str, str]:
    return {k: v for k, v in TABLES.items() if k != file}


CSV_CASES: list[Case] = [
    (f"csv {name}", "arm", content, fragment)
    for name, content, fragment in [
        ("no tables", {"readme.txt": "x"}, "has no tree.csv"),
        ("no bodies", without("bodies.csv"), "has no bodies.csv"),
        ("no model", without("model.csv"), "has no model.csv"),
        ("loops", {**TABLES, "loops.csv": "x\n"}, "closed loops are not part of this version"),
        ("no gravity", tables("model.csv", "gravity_z,-9.81\n", ""), "gravity_z is not told"),
        ("unknown key", tables("model.csv", "name,", "nam,"), "unknown key 'nam'"),
        ("unknown column", tables("bodies.csv", "mass [kg]", "mas [kg]"), "unknown column 'mas'"),
        ("double column", tables("bodies.csv", "centre_x [mm]", "mass"), "two columns 'mass'"),
        ("wrong unit", tables("bodies.csv", "mass [kg]", "mass [mm]"), "'mm', which is not one of a mass"),
        ("unknown unit", tables("bodies.csv", "mass [kg]", "mass [kgg]"), "unknown unit 'kgg'"),
        ("not a number", tables("bodies.csv", "2,1,100", "2,one,100"), "column 'mass' of body '2' is 'one'"),
        ("negative mass", tables("bodies.csv", "2,1,100", "2,-1,100"), "below zero"),
        ("nan", tables("bodies.csv", "2,1,100", "2,nan,100"), "nan"),
        ("about the centre it is negative", tables("bodies.csv", "2,1,100", "2,1,2000"), "below zero"),
        ("triangle", tables("bodies.csv", "100,1,1,1", "0,1,1,3"), "triangle inequality"),
        ("short row", tables("bodies.csv", "2,1,100,1,1,1", "2,1,100"), "3 cells, but 6 columns"),
        ("stray body", tables("bodies.csv", "2,1,100", "3,1,100"), "body '3' is not in the tree"),
        ("unknown parent", tables("tree.csv", "2,0,1", "2,0,7"), "hangs on an unknown body '7'"),
        ("ring", tables("tree.csv", "1,0,0", "1,0,2"), "in a ring"),
        ("two rows", tables("tree.csv", "2,0,1", "2,0,1\n2,0,0"), "'2' has a row already"),
        ("no joint", tables("joints.csv", "2,1,1,500,2 N/m,1\n", ""), "body '2' of the tree has no joint"),
        ("joint of nothing", tables("joints.csv", "2,1,1,", "9,1,1,"), "body '9' is not in the tree"),
        ("type 5", tables("joints.csv", "2,1,1,", "2,5,1,"), "unknown type '5'"),
        ("axis 4", tables("joints.csv", "2,1,1,", "2,1,4,"), "axis of joint 'joint_2' is '4'"),
        ("active 2", tables("joints.csv", "2 N/m,1", "2 N/m,2"), "'active' of"),
        ("torsion on a slide", tables("joints.csv", "2 N/m", "2 N*m/rad"), "not one of a stiffness"),
        ("free with an axis", tables("joints.csv", "2,1,1,500,2 N/m", "2,free,1,5,"), "and has no axis"),
        ("open quote", tables("tree.csv", "2,0,1", '"2,0,1'), "not readable as CSV"),
        ("empty tree", {**TABLES, "tree.csv": ""}, "the file is empty"),
        ("binary tree", {**TABLES, "tree.csv": bytes(range(256))}, "not UTF-8"),
    ]
]  # fmt: skip

OTHER_CASES: list[Case] = [
    ("missing file", "nothing.yaml", None, "there is no such file"),
    ("missing urdf", "nothing.urdf", None, "there is no such file"),
    ("unknown suffix", "arm.sdf", "x", "a file '.sdf' is not read"),
    ("no suffix", "arm", "x", "without a suffix"),
    ("directory called urdf", "arm.urdf", {"x": "y"}, "has no tree.csv"),
]

CASES = YAML_CASES + URDF_CASES + CSV_CASES + OTHER_CASES
