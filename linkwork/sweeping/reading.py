"""A plan, from a YAML file or from Python, and a model → a task: what is drawn, who computes it, what is success.

model: arm.yaml                 # beside the plan or below it
samples: 5000
seed: 1
until: 10 s
vary: {payload.mass: {uniform: [0.5, 5 kg]}, elbow: {normal: [30 deg, 2 deg]}}
record: {height: tool.position.z at end, peak: max of abs(elbow.rate)}
success: peak < 3 and height > 200 mm
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

from linkwork.driven import Event, System
from linkwork.dynamics.aba import aba
from linkwork.errors import ModelError, Place, RunError, nearest
from linkwork.experiment import _seconds
from linkwork.model import files
from linkwork.model.check import check_moves_mass
from linkwork.model.model import Model
from linkwork.model.read import read
from linkwork.model.units import quantity
from linkwork.model.yamltree import Node, parse
from linkwork.simulation import estimate
from linkwork.simulation.parted import Runner, Task
from linkwork.simulation.plan import PART, Correlated, Input, Plan, Stop
from linkwork.simulation.run import METHODS, STEPPED
from linkwork.sweeping.expression import Succeeds
from linkwork.sweeping.inputs import units
from linkwork.sweeping.record import Reading, Record, record_of
from linkwork.sweeping.samples import ModelSamples, Settings
from linkwork.sweeping.studies import refuse_unknown, study
from linkwork.sweeping.vary import Units, groups_of, inputs_of, node_of, table_of, told_at
from linkwork.sweeping.watching import event_of, events_of

RUN = ("until", "method", "rtol", "atol", "step", "h_max", "max_steps", "times", "trust")
SECTIONS = (
    "name", "model", "options", "study", "samples", "seed", "vary", "set", "correlate", "design", "table", *RUN,
    "record", "events", "success", "stop", "part",
)  # fmt: skip


def read_plan(path: str | PathLike[str], **changes: Any) -> Task:
    """The task of a plan file. `changes`: samples or seed, other than it says."""
    file = Path(path)
    if not file.is_file():
        raise RunError("there is no such file", where=Place(str(path)), fix="name a plan, such as plan.yaml")
    try:
        top = parse(file, SECTIONS)
        given = dict(top.mapping("the plan", SECTIONS))
    except ModelError as error:
        said = error.what.replace("the model", "the plan").replace("not a model", "not a plan")
        fix = error.fix and error.fix.replace("a model has", "a plan has").replace("write a model", "write a plan")
        raise RunError(said, where=error.where, fix=fix) from None
    given |= {k: node_of(x) for k, x in changes.items() if x is not None}
    if ("model" in given) == ("study" in given):
        raise RunError("the plan has no 'model'", where=top.place, fix="add model: arm.yaml")
    for needed, example in (("vary", "{elbow: {uniform: [-1, 1]}}"), ("until", "10 s")):
        if needed not in given and not ("table" in given and needed == "vary") and "study" not in given:
            raise RunError(f"the plan has no '{needed}'", where=top.place, fix=f"add {needed}: {example}")
    if "study" in given:
        with told_at(given["study"].place):
            refuse_unknown(given["study"].text)
        with told_at(given.get("options", given["study"]).place):
            made = study(given["study"].text, given.get("options"))
        with told_at(given["study"].place):
            return task_of(made, given, file.stem, file.parent)
    options = given["options"].plain() if "options" in given else {}
    with told_at(given["model"].place):
        return task_of(read(_inside(given["model"], file.parent), **(options or {})), given, file.stem, file.parent)


def _inside(node: Node, folder: Path) -> Path:
    name, root = node.word("model"), folder.resolve()
    found = (root / name).resolve()
    if not found.is_relative_to(root):
        raise RunError(f"model '{name}' lies outside the folder of the plan", fix="put it into the folder, or below it")
    return folder / name


def task_of(who: Model | System | Runner, plan: Mapping[str, Any], name: str = "", folder: Path = Path()) -> Task:
    """The task of a plan's sections (plain data, or nodes of a file) for a model, a system with events, or a study."""
    given = {key: node_of(x) for key, x in plan.items() if x is not None}
    for key in given:
        if key not in SECTIONS:
            raise RunError(f"a plan has no '{key}'", fix=nearest(key, SECTIONS))
    name = (
        given["name"].word("the name of the plan")
        if "name" in given
        else name or who.name
        if not isinstance(who, System)
        else name or who.model.name
    )
    is_model = isinstance(who, (Model, System))
    model = who.model if isinstance(who, System) else who
    known: Units = units(model) if isinstance(model, Model) else {k: u or None for k, u in model.inputs.items()}
    inputs, table = _inputs(given, known, folder)
    groups = _groups(given, inputs)
    if is_model:
        runner, run = _samples(who, given, inputs)
    else:
        runner, run = _study(model, given)
    made = _plan(name, given, inputs, table, groups, run)
    _stop_known(made, runner)
    if not made.success:
        return Task(made, runner)
    with told_at(_at(given, "success")):
        return Task(made, runner, Succeeds(made.success, tuple(names_of(made, runner))).checked())


def _at(given: Mapping[str, Node], key: str) -> Place | None:
    return given[key].place if key in given else None


def _inputs(given: Mapping[str, Node], known: Units, folder: Path) -> tuple[list[Input], dict[str, tuple[float, ...]]]:
    free = {}
    if "set" in given:  # names that only expressions use
        text = " ".join(n.text for n in given["set"].mapping("set").values())
        free = {k: None for k in given["vary"].mapping("vary") if k in text} if "vary" in given else {}
    inputs, columns = inputs_of(given["vary"], known, free) if "vary" in given else ([], {})
    if "table" in given:
        node = given["table"]
        if isinstance(node.value, dict):
            more, rows = inputs_of(node, known, free)
        else:
            try:
                path = files.inside(node.word("table"), [folder])
            except files.Outside:
                path = None
            if path is None:
                fix = "put it beside the plan, or below it"
                raise RunError(f"there is no table '{node.text}' in the folder of the plan", where=node.place, fix=fix)
            more, rows = table_of(path, known)
        inputs, columns = [*inputs, *more], {**columns, **rows}
    if not inputs:
        raise RunError("nothing varies", where=_at(given, "vary"), fix="vary: {elbow: {uniform: [-1, 1]}}")
    return inputs, columns


def _groups(given: Mapping[str, Node], inputs: list[Input]) -> tuple[Correlated, ...]:
    return groups_of(given["correlate"], inputs) if "correlate" in given else ()


def _samples(who: Any, given: Mapping[str, Node], inputs: list[Input]) -> tuple[ModelSamples, dict[str, Any]]:
    model, formulation = (who.model, who.formulation) if isinstance(who, System) else (who, aba)
    check_moves_mass(model)
    settings = _settings(given)
    events, watched = events_of(given["events"], model) if "events" in given else ((), [])
    own: tuple[Event, ...] = who.events if isinstance(who, System) else ()
    told = [{"name": e.name, "of": "", "action": e.action, "direction": e.direction} for e in own]
    events, watched = (*own, *events), [*told, *watched]
    with told_at(_at(given, "record")):
        record = record_of(given["record"].plain() if "record" in given else None, [e.name for e in events])
    computed = {k: n.text for k, n in given["set"].mapping("set").items()} if "set" in given else {}
    runner = ModelSamples(model, tuple(x.name for x in inputs), settings, record, events, computed, formulation)
    with told_at(_at(given, "set") or _at(given, "vary")):
        _ = runner.varied
    with told_at(_at(given, "record")):
        _ = runner.columns, runner.grid
    run = {**asdict(settings), "record": asdict(record), "events": watched, "set": computed}
    return runner, {**run, "formulation": formulation.__name__}


def _study(runner: Any, given: Mapping[str, Node]) -> tuple[Runner, dict[str, Any]]:
    for key in (*RUN, "record", "events", "set"):
        if key in given:
            text = f"'{runner.name}' runs by its own settings and takes no '{key}'"
            raise RunError(text, where=given[key].place, fix="leave it out")
    options = getattr(runner, "options", None)  # of a study made from a plan: with them it can be made again
    return runner, {"study": runner.name, **({} if options is None else {"options": dict(options)})}


def samples_of_told(model: Model, plan: Plan) -> ModelSamples:
    """The runner of a plan that was told as data, for its model."""
    run, record = plan.run, plan.run["record"]
    readings = tuple(Reading(**r) for r in record["readings"])
    if any(not e["of"] for e in run["events"]) or run["formulation"] != aba.__name__:
        fix = "give what the sweep was made of: lw.read_sweep(folder, model)"
        raise RunError("this sweep watched events, or used a formulation, that are written in Python", fix=fix)
    return ModelSamples(
        model, tuple(x.name for x in plan.inputs), Settings(**{k: run[k] for k in RUN}),
        Record(readings, tuple(record["trajectory"]), record["times"]),
        tuple(event_of(e, model) for e in run["events"]), run["set"],
    )  # fmt: skip


def _settings(given: Mapping[str, Node]) -> Settings:
    found: dict[str, Any] = {}
    for key in RUN:
        if key not in given:
            continue
        node = given[key]
        with told_at(node.place):
            if key in ("until", "step", "h_max"):
                found[key] = _seconds(node.value, key)
            elif key == "method":
                if node.text not in METHODS:
                    raise RunError(f"there is no integrator '{node.text}'", fix=nearest(node.text, METHODS))
                found[key] = node.text
            elif key == "trust":
                found[key] = _yes(node.value)
            elif key in ("rtol", "atol"):
                found[key] = quantity(node.value, "1", None, key)
            else:
                found[key] = _whole(node.value, key, 1)
    found.setdefault("until", 10.0)
    stepped = found.get("method", "dop853") in STEPPED
    if stepped != (found.get("step") is not None):
        what = "needs a step" if stepped else "chooses its own steps"
        raise RunError(f"{found.get('method', 'dop853')} {what}", where=_at(given, "method"), fix="see docs/run.md")
    for key in ("rtol", "atol"):
        if found.get(key, 1.0) <= 0:
            raise RunError(f"{key} is {found[key]:g}", where=_at(given, key), fix="give one above zero, such as 1e-6")
    return Settings(**found)


def _yes(value: Any) -> bool:
    if not isinstance(value, bool):
        raise RunError(f"trust is {value!r}", fix="trust: true or false")
    return value


def _whole(value: Any, what: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise RunError(f"{what} is {value!r}", fix=f"give a whole number, {least} or more")
    return value


def _plan(
    name: str, given: Mapping[str, Node], inputs: list[Input], table: dict[str, tuple[float, ...]],
    groups: tuple[Correlated, ...], run: dict[str, Any],
) -> Plan:  # fmt: skip
    design = given["design"].text if "design" in given else "table" if table else "random"
    whole = {}
    for key, least in (("samples", 1), ("seed", 0), ("part", 1)):
        if key in given:
            with told_at(given[key].place):
                whole[key] = _whole(given[key].value, key, least)
    samples = whole.get("samples")
    if samples is None and design == "grid":
        samples = 1
        for x in inputs:
            samples *= len(getattr(x.distribution, "values", (0,)))
    if samples is None and table:
        samples = len(next(iter(table.values())))
    if samples is None:
        raise RunError("the plan has no 'samples'", fix="say how many: samples: 1000")
    places = [_at(given, key) for key in ("design", "samples", "vary", "table") if key in given]
    stop = None
    if "stop" in given:
        with told_at(given["stop"].place, "stop: "):
            stop = _stop(given["stop"])
    with told_at(next(iter(places), None)):
        return Plan(
            name, tuple(inputs), samples, whole.get("seed", 0), design, whole.get("part", PART), groups, table, stop,
            given["success"].text if "success" in given else "", run,
        )  # fmt: skip


def _stop(node: Node) -> Stop:
    given = node.mapping("stop", ("of", "interval", "confidence", "least"))
    for needed in ("of", "interval"):
        if needed not in given:
            raise RunError(f"it has no '{needed}'", fix="stop: {of: success, interval: 0.02, confidence: 0.95}")
    confidence = quantity(given["confidence"].value, "1", None, "confidence") if "confidence" in given else 0.95
    least = _whole(given["least"].value, "least", 1) if "least" in given else 100
    return Stop(given["of"].text, quantity(given["interval"].value, None, None, "interval"), confidence, least)


def names_of(plan: Plan, runner: Runner) -> list[str]:
    """What `success` may name."""
    columns = [c.partition(":") for c in runner.columns]
    found = [n for kind, _, n in columns if kind in ("value", "event")]
    found += [f"{n}.count" for kind, _, n in columns if kind == "count"]
    found += [x.name for x in plan.inputs]
    if twice := sorted({n for n in found if found.count(n) > 1}):
        raise RunError(f"'{twice[0]}' names two things: inputs, values and events", fix="call one of them otherwise")
    return [*found, "end", "code"]


def _stop_known(plan: Plan, runner: Runner) -> None:
    names = names_of(plan, runner)
    if plan.stop is None:
        return
    kind, _, name = estimate.parse(plan.stop.of)
    if kind == "success" and not plan.success:
        raise RunError("stop looks at success, but the plan does not say what that is", fix="add success: peak < 100")
    if name and name not in names[:-2]:
        raise RunError(f"stop looks at an unknown '{name}'", fix=nearest(name, names[:-2]))
