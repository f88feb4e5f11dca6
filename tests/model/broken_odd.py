"""More files that cannot be models: odd spellings, odd numbers, big ones. As in `broken`."""

from __future__ import annotations

from broken import AB, ELBOW, LOWER, TABLES, YAML, A, B, Case, changed, inertial, joint, link, tables, urdf

LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def elbow(more: str) -> str:
    return changed(ELBOW, f"{ELBOW[:-1]}, {more}}}")


def lower(text: str) -> str:
    return changed(LOWER, text)


def mass(text: str) -> str:
    return changed("mass: 1 kg", f"mass: {text}")


def prescribed(motion: str) -> str:
    return changed(ELBOW, f"{{kind: prescribed, parent: upper, child: lower, motion: {motion}}}")


def law(text: str) -> str:
    return f"{YAML}laws: {{l: {{{text}}}}}\n"


SLIDE = changed(ELBOW, "{kind: prismatic, parent: upper, child: lower}")
BALL = changed(ELBOW, "{kind: spherical, parent: upper, child: lower}")
MANY = "".join(f"  b{i}: {{mass: 1, inertia: [1, 1, 3]}}\n" for i in range(25_000))

YAML_CASES: list[Case] = [
    (f"odd yaml {name}", "arm.yaml", content, fragment)
    for name, content, fragment in [
        ("merge key", lower("{<<: {mass: 1}}"), "unknown key '<<'"),
        ("key twice in one line", mass("1 kg, mass: 2 kg"), "the key 'mass' is there twice"),
        ("mass on", mass("on"), "'on', not a number"),
        ("mass yes", mass("yes"), "'yes', not a number"),
        ("hexadecimal", mass("0x10"), "unknown unit"),
        ("underscore", mass("1_000"), "unreadable unit '_000'"),
        ("decimal comma", mass('"1,5 kg"'), "unreadable unit ',5 kg'"),
        ("1e400", mass("1e400 kg"), "not a finite number"),
        ("1e300 kg", mass("1e300 kg"), "beyond anything mechanical"),
        ("five thousand nines", mass("9" * 5000), "not a finite number"),
        ("mass empty", mass('""'), "is '', not a number"),
        ("mass null", mass("~"), "has 'inertia' but no mass"),
        ("mass a mapping", mass("{value: 1}"), "not a number"),
        (
            "shape a mapping",
            lower("{mass: 1, shape: {box: 1}, size: [1, 1, 1]}"),
            "'shape' of body 'lower' is not",
        ),
        ("parent a list", changed("parent: upper", "parent: [upper]"), "'parent' of joint 'elbow' is not a name"),
        ("law of a list", law("kind: [spring]"), "'kind' of law 'l' is not a name"),
        ("looks of a mapping", lower("{mass: 1, visuals: [{shape: {a: 1}}]}"), "is not a name"),
        ("body called world", changed("  lower:", "  world:"), "there is a body 'world' already"),
        ("joint to itself", changed(ELBOW, "{kind: fixed, parent: lower, child: lower}"), "'lower' → 'lower'"),
        ("the world carried", changed(ELBOW, "{kind: fixed, parent: lower, child: world}"), "carries the world"),
        ("name with a newline", changed("  lower:", '  "low\\ner":'), "the name 'low\\ner'"),
        ("name that turns the text", changed("  lower:", '  "lo\\u202ewer":'), "control characters"),
        ("no name", changed("  lower:", '  "":'), "a body or marker has no name"),
        ("other letters", changed("parent: upper", "parent: üpper"), "did you mean 'upper'"),
        ("bodies empty list", "gravity: [0, 0, 0]\nbodies: []\njoints: {}\n", "bodies is not a mapping"),
        ("joints a list", "gravity: [0, 0, 0]\nbodies: {a: {mass: 1}}\njoints: [1]\n", "joints is not a mapping"),
        ("body a number", "gravity: [0, 0, 0]\nbodies: {a: 1}\njoints: {}\n", "body 'a' is not a mapping"),
        ("axis empty", changed("axis: y, at", "axis: [], at"), "has 0 entries"),
        ("axis nan", changed("axis: y, at", "axis: [.nan, 0, 1], at"), "is nan"),
        ("axis too small for a double", changed("axis: y, at", "axis: [1e-320, 0, 0], at"), "is zero"),
        ("place a number", changed("at: [0, 0, -0.4]", "at: 3"), "not a list"),
        ("place far off", changed("at: [0, 0, -0.4]", "at: [0, 0, 1e31]"), "beyond anything mechanical"),
        ("one limit", elbow("limits: [1]"), "has 1 entries"),
        ("limits nan", elbow("limits: [.nan, 1]"), "is nan"),
        ("no friction speed", elbow("friction: 3, friction_speed: 0"), "friction_speed of joint 'elbow' is 0"),
        ("rotor below zero", elbow("rotor_inertia: -3"), "below zero"),
        ("three dampings", elbow("damping: [1, 2, 3]"), "has 3 entries"),
        ("pitch of a hinge", elbow("pitch: 1 mm/rev"), "is revolute and has a pitch"),
        ("pitch a length", changed(ELBOW, "{kind: helical, parent: upper, child: lower, pitch: 5 mm}"), "an advance"),
        ("two axes of a hinge", elbow("axis2: x"), "no second axis"),
        (
            "parallel axes",
            changed(ELBOW, "{kind: universal, parent: upper, child: lower, axis: x, axis2: x}"),
            "are parallel",
        ),
        ("ratio of nothing", elbow("ratio: 2"), "follows no joint"),
        ("ratio an angle", elbow("follows: shoulder, ratio: 2 deg"), "not one of a plain number"),
        ("followers in a ring", elbow("follows: elbow2") + "  elbow2: {kind: fixed, parent: lower}\n", "has no child"),
        ("motion of a hinge", elbow("motion: {position: [t, 0, 0]}"), "has a motion"),
        ("motion with an unknown name", prescribed('{position: ["x", 0, 0]}'), "unknown name 'x'"),
        ("motion with a function", prescribed('{position: ["lambda: 1", 0, 0]}'), "something other than arithmetic"),
        ("motion in brackets", prescribed(f'{{position: ["{"(" * 5000}t{")" * 5000}", 0, 0]}}'), "10001 characters"),
        ("motion misspelt", prescribed("{rotaton: [0, 0, t]}"), "did you mean 'rotation'"),
        ("size below zero", lower("{mass: 1, shape: box, size: [1, -1, 1]}"), "is below zero"),
        ("size missing", lower("{mass: 1, shape: box}"), "a box without size"),
        ("tube inside out", lower("{mass: 1, shape: tube, size: [0.1, 0.2, 1]}"), "a bore wider than itself"),
        ("mass and density", lower("{mass: 1, density: 3, shape: box, size: [1, 1, 1]}"), "how heavy is it?"),
        ("density below zero", lower("{density: -3, shape: box, size: [1, 1, 1]}"), "below zero"),
        ("part misspelt", lower("{parts: [{mas: 1}]}"), "did you mean 'mass'"),
        ("part below zero", lower("{parts: [{mass: 1, inertia: [1, 1, 1]}, {mass: -1}]}"), "below zero"),
        ("marker misspelt", lower("{mass: 1, markers: {tip: {att: [0, 0, 1]}}}"), "did you mean 'at'"),
        ("visual in red", lower("{mass: 1, visuals: [{shape: sphere, size: 1, color: red}]}"), "'red', not a list"),
        ("mesh from the root", lower("{mass: 1, visuals: [{shape: mesh, file: /etc/passwd}]}"), "outside the folder"),
        ("spring misspelt", law("kind: spring, marker_a: upper, marker_b: lower, stifness: 3"), "'stiffness'"),
        ("spring with one end", law("kind: spring, marker_a: upper, stiffness: 3"), "has no 'marker_b'"),
        (
            "spring that twists",
            law("kind: spring, marker_a: upper, marker_b: lower, stiffness: 3 N*m/rad"),
            "not one of a stiffness",
        ),
        ("hinge pulled", law("kind: pd, joint: elbow, kp: 3 N/m"), "told in N/m, but joint 'elbow' turns"),
        ("slide twisted", SLIDE + "laws: {l: {kind: pd, joint: elbow, kp: 3 N*m/rad}}\n", "joint 'elbow' slides"),
        ("slide to an angle", SLIDE + "laws: {l: {kind: pd, joint: elbow, target: 3 deg}}\n", "told in rad"),
        ("ball driven", BALL + "laws: {l: {kind: pd, joint: elbow, kp: 3}}\n", "several freedoms"),
        ("open formula", law("kind: pd, joint: elbow, kp: 3, target: 'sin(t'"), "unreadable formula"),
        ("parameters a word", YAML + "parameters: lower.mass\n", "parameters is not a list"),
        ("constant a word", YAML + "constants: {a: hello}\n", "'hello', not a number"),
        ("constant with a dot", YAML + "constants:\n  a.b: 1\n", "arm.yaml:10: a constant is named 'a.b'"),
        ("start nan", YAML + "start: {elbow: .nan}\n", "is nan"),
        ("start of four numbers", BALL + "start: {elbow: [1, 0, 0, 0]}\n", "quat_wxyz"),
        ("start of a quarter", BALL + "start: {elbow.qw: 1}\n", "no unit quaternion"),
        ("gravity a word", changed("gravity: [0, 0, -9.81]", "gravity: earth"), "'earth', not a list"),
        ("UTF-16", YAML.encode("utf-16"), "not UTF-8"),
        ("UTF-32", YAML.encode("utf-32"), "UTF-8"),
        ("a zero", YAML.replace("arm", "a\0m"), "binary"),
        ("deep mappings", "bodies: " + "{a: " * 10_000, "levels deep"),
        ("deep lists", "- " * 10_000, "levels deep"),
        ("deep indents", "bodies:\n" + "".join(" " * i + "a:\n" for i in range(1, 300)), "levels deep"),
        ("other version", "%YAML 9.9\n---\n" + YAML, "incompatible"),
        ("tag of a number", mass("!!float 1"), "the tag !!float"),
        ("list as key", "? [a, b]\n: 1\n", "a key is a list"),
        ("open quote", changed("name: arm", 'name: "arm'), "not well-formed YAML"),
        ("1 MB of bodies", "bodies:\n" + MANY, "has no 'gravity'"),
        ("1 MB of numbers", "bodies: [" + "1," * 500_000 + "]", "values"),
        ("1 MB of one text", "bodies: " + "a " * 500_000, "has no 'gravity'"),
        ("1 MB of empty lines", "bodies:\n" + "\n" * 1_000_000 + "x", "not well-formed YAML"),
    ]
]

POINT = '<mass value="1"/>'
INCLUDES = '<robot name="r" xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/passwd"/></robot>'
MIMIC = '<mimic joint="{}"/>'


def hinge(inside: str) -> str:
    return urdf(A + B, joint("ab", "a", "b", inside=LIMIT + inside))


def heavy(inside: str) -> str:
    return urdf(A + link("b", f"<inertial>{inside}</inertial>"), AB)


URDF_CASES: list[Case] = [
    (f"odd urdf {name}", "arm.urdf", content, fragment)
    for name, content, fragment in [
        ("axis of two zeros", hinge('<axis xyz="0 0"/>'), "has 2 numbers"),
        ("axis of words", hinge('<axis xyz="x y z"/>'), "'x', not a number"),
        ("axis empty", hinge('<axis xyz=""/>'), "has 0 numbers"),
        ("axis nan", hinge('<axis xyz="nan 0 1"/>'), "not a finite number"),
        ("two axes", hinge('<axis xyz="0 0 1"/>' * 2), "2 elements <axis>"),
        ("place of four", hinge('<origin xyz="0 0 0 0"/>'), "has 4 numbers"),
        ("place with commas", hinge('<origin xyz="0, 0, 1"/>'), "'0,', not a number"),
        ("place far off", hinge('<origin xyz="0 0 1e300"/>'), "beyond anything mechanical"),
        ("turn of 1e400", hinge('<origin rpy="0 0 1e400"/>'), "is inf"),
        ("turn of pi", hinge('<origin rpy="0 0 pi"/>'), "'pi', not a number"),
        ("mass with underscore", urdf(link("b", inertial("1_0"))), "'1_0', not a number"),
        ("mass in wide digits", urdf(link("b", inertial("１"))), "'１', not a number"),
        ("mass without value", heavy("<mass/>"), "has no value"),
        ("moment missing", heavy(POINT + '<inertia iyy="1" izz="1" ixy="0"/>'), "<inertia> of link 'b' has no ixx"),
        ("two masses", heavy(POINT * 2), "2 elements <mass>"),
        ("damping below zero", hinge('<dynamics damping="-1"/>'), "below zero"),
        ("friction nan", hinge('<dynamics friction="nan"/>'), "not a finite number"),
        ("limit a word", urdf(A + B, AB.replace('"-1"', '"low"')), "'low', not a number"),
        ("two limits", hinge(LIMIT), "2 elements <limit>"),
        ("joint to itself", urdf(A + B, joint("ab", "b", "b")), "'b' → 'b'"),
        ("parent misspelt", urdf(A + B, AB.replace("parent link", "parent lnk")), "did you mean 'lnk'"),
        ("mimic of nobody", hinge('<mimic multiplier="2"/>'), "has no joint"),
        (
            "mimic nan",
            urdf(A + B + link("c"), AB + joint("bc", "b", "c", inside='<mimic joint="ab" offset="nan"/>')),
            "nan",
        ),
        (
            "mimics in a ring of three",
            urdf(
                A + B + link("c") + link("d"),
                joint("ab", "a", "b", inside=MIMIC.format("cd"))
                + joint("bc", "b", "c", inside=MIMIC.format("ab"))
                + joint("cd", "c", "d", inside=MIMIC.format("bc")),
            ),
            "follows itself",
        ),
        ("xinclude", INCLUDES, "has no links"),
        ("namespace", '<robot xmlns="urn:x" name="r"><link name="a"/></robot>', "must not be in a namespace"),
        ("links without joints", urdf(A + B), "2 links hang on no joint"),
        ("link with an empty name", urdf('<link name=""/>'), 'write name="…"'),
        ("link with a newline", urdf('<link name="a&#10;b"/>'), "the name 'a\\nb'"),
        (
            "document type in UTF-16",
            '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE r [<!ENTITY a "b">]><robot/>'.encode("utf-16"),
            "document type",
        ),
        ("attribute twice", '<robot name="r"><link name="a" name="b"/></robot>', "not well-formed XML"),
        ("10 MB in one attribute", f'<robot name="{"a" * (10 * 2**20)}"/>', "not well-formed XML"),
        ("10 MB of comments", f'<robot name="r">{"<!-- a -->" * 2**20}</robot>', "has no links"),
        (
            "100,000 links",
            f'<robot name="r">{"".join(map(link, map(str, range(100_000))))}</robot>',
            "hang on no joint",
        ),
        (
            "sphere inside out",
            urdf(link("a", '<visual><geometry><sphere radius="-1"/></geometry></visual>')),
            "below zero",
        ),
        ("visual of nothing", urdf(link("a", "<visual/>")), "has no <geometry>"),
        ("a page", "<html><body>404</body></html>", "this is a <html> file"),
        ("JSON", '{"robot": 1}', "not XML"),
    ]
]


def rows(file: str, content: str | bytes) -> dict[str, str | bytes]:
    return {**TABLES, file: content}


CSV_CASES: list[Case] = [
    (f"odd csv {name}", "arm", content, fragment)
    for name, content, fragment in [
        (
            "mark and CRLF",
            rows("tree.csv", "\ufeffbody,branch,parent\r\n1,0,0\r\n2,0,9\r\n"),
            "tree.csv:3: body '2' hangs on",
        ),
        ("UTF-16", rows("tree.csv", TABLES["tree.csv"].encode("utf-16")), "not UTF-8"),
        ("column without name", rows("tree.csv", "body,,parent\n1,0,0\n"), "unknown column ''"),
        ("joints of one name", rows("joints.csv", "body,joint,type,axis\n1,a,0,3\n2,a,0,3\n"), "is given to 2"),
        ("joint row twice", tables("joints.csv", "2,1,1,500", "1,1,1,500"), "'1' has a row already"),
        ("body on itself", tables("tree.csv", "2,0,1", "2,0,2"), "'2' → '2'"),
        ("10 MB in one line", rows("tree.csv", "a" * 10 * 2**20), "not readable as CSV"),
        ("10 MB of commas", rows("tree.csv", "," * 10 * 2**20), "in the tree"),
        ("10 MB in a quote", rows("tree.csv", 'body,branch,parent\n"' + "a\n" * 5 * 2**20), "not readable as CSV"),
        (
            "100,000 bodies",
            rows("tree.csv", "body,branch,parent\n" + "".join(f"{i},0,{i - 1}\n" for i in range(1, 100_000))),
            "'3' of the tree has no joint",
        ),
        ("open unit", tables("bodies.csv", "mass [kg]", "mass [kg"), "did you mean 'mass'"),
        ("mass inf", tables("bodies.csv", "2,1,100", "2,inf,100"), "not a finite number"),
        ("mass yes", tables("bodies.csv", "2,1,100", "2,yes,100"), "'yes', not a number"),
        ("empty gravity", tables("model.csv", "gravity_z,-9.81", "gravity_z,"), "an empty 'value'"),
        (
            "gravity in kilograms",
            tables("model.csv", "gravity_z,-9.81", "gravity_z,3 kg"),
            "not one of an acceleration",
        ),
        ("unknown start", tables("model.csv", "name,arm", "name,arm\nstart elbow,1"), "unknown coordinate or speed"),
        ("unknown parameter", tables("model.csv", "name,arm", "name,arm\nparameter,elbow.mass"), "did you mean"),
        ("axis twice", rows("joints.csv", "body,type,axis,axis_x\n1,0,3,1\n2,0,3,\n"), "has its axis twice"),
        ("zero axis", rows("joints.csv", "body,type,axis_x\n1,0,0\n2,0,1\n"), "is zero"),
        ("some cosines", rows("joints.csv", "body,type,axis,c11\n1,0,3,1\n2,0,3,1\n"), "an empty 'c12'"),
        ("limits reversed", rows("joints.csv", "body,type,axis,lower,upper\n1,0,3,1,-1\n2,0,3,,\n"), "above its upper"),
        ("follows nobody", rows("joints.csv", "body,type,axis,follows\n1,0,3,x\n2,0,3,\n"), "unknown joint 'x'"),
        ("marker on nobody", rows("markers.csv", "marker,body\nm,7\n"), "there is no body '7'"),
        ("markers of one name", rows("markers.csv", "marker,body\nm,1\nm,2\n"), "is given to 2"),
        ("law of no kind", rows("laws.csv", "law,key,value\nl,kind,sprung\n"), "did you mean 'spring'"),
        ("law told twice", rows("laws.csv", "law,key,value\nl,kind,drag\nl,kind,drag\n"), "tells its kind twice"),
    ]
]

ODD_CASES = YAML_CASES + URDF_CASES + CSV_CASES
