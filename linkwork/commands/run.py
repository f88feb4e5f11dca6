"""`simulate`: a model file, a start, a time → a summary and files."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.commands import tell
from linkwork.commands.looking import unmoved
from linkwork.errors import ModelError, RunError, nearest
from linkwork.export import trust_rows
from linkwork.model.dimensions import in_si
from linkwork.model.forms import Source
from linkwork.model.model import Model
from linkwork.model.read import read
from linkwork.model.start import expanded
from linkwork.result import Result
from linkwork.simulation.run import STEPPED

ENDINGS = {"out": (".nc", ".csv"), "plot": (".png", ".svg", ".pdf"), "page": (".html", ".htm")}


@dataclass(frozen=True)
class Order:
    """What was asked for on the command line."""

    file: str
    options: dict[str, Any]
    until: str
    start: tuple[str, ...]
    set: tuple[str, ...]
    also: tuple[str, ...]
    method: str
    rtol: float
    atol: float
    step: str | None
    h_max: str | None
    times: int
    max_steps: int
    out: Path | None
    plot: Path | None
    page: Path | None


def simulate(order: Order, as_json: bool) -> int:
    import linkwork as lw

    writable(order)
    model = changed(read(order.file, **order.options), order.set)
    start = starts(model, order.start)
    for fault in unmoved(model):
        raise ModelError(fault["text"], where=fault["where"], fix="give what it carries a mass, or it an armature")
    for name in order.also:
        _known_quantity(model, name)
    began = time.perf_counter()
    adaptive = order.method not in STEPPED
    settings: dict[str, Any] = {"max_steps": order.max_steps}
    settings |= {"rtol": order.rtol, "atol": order.atol} if adaptive else {}
    settings |= {"h_max": order.h_max} if order.h_max is not None else {}
    if order.step is not None or not adaptive:
        settings["step"] = order.step or _no_step(order.method)
    run = lw.simulate(
        model, start, order.until, method=order.method, times=order.times,
        progress=False if as_json else None, **settings,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    interrupted = "not run" in run.statuses.text
    if interrupted:
        print("stopped; what is done is kept", file=sys.stderr)
    files = write(run, model, order)
    (_json if as_json else _print)(run, files, seconds, order)
    if not interrupted:
        for line in run.failures():
            print(f"{line}{_advice(line)}", file=sys.stderr)
    return 130 if interrupted else 0 if bool(np.all(run.ok)) else 1


def _advice(line: str) -> str:
    """What to do about a sample that failed."""
    known = {
        "too many steps": "raise --max-steps, or try --method rodas5p if it is stiff",
        "step size too small": "look for a jump in a law, or loosen --rtol and --atol",
        "diverged": "start it elsewhere, or look at the masses beyond that joint",
    }
    return next((f"\n  fix: {fix}" for word, fix in known.items() if word in line), "")


def writable(order: Order) -> None:
    """Told before a long run, not after it."""
    for key, endings in ENDINGS.items():
        path: Path | None = getattr(order, key)
        if path is None:
            continue
        if path.suffix.lower() not in endings:
            fix = f"let it end with {' or '.join(endings)}"
            raise RunError(f"--{key} '{path}' is no file of a known kind", fix=fix)
        if not path.parent.is_dir():
            raise RunError(f"--{key} '{path}': there is no folder '{path.parent}'", fix="make it first")
    if order.plot or order.page:
        from linkwork.display import style

        style.need_matplotlib()


def changed(model: Model, settings: Sequence[str]) -> Model:
    """The model with `--set NAME=VALUE`."""
    given = {}
    for name, value in pairs(settings, "set"):
        if name not in model.values:
            raise ModelError(f"--set: the model has no number '{name}'", fix=nearest(name, model.values))
        given[name] = in_si(model, name, value, f"--set {name}")
    return model.replace(given).check() if given else model


def starts(model: Model, given: Sequence[str]) -> dict[str, Any]:
    """`--start NAME=VALUE`; a value with commas is a vector: base.position=0,0,1."""
    found: dict[str, Any] = {}
    for name, value in pairs(given, "start"):
        found[name] = [part.strip() for part in value.split(",")] if "," in value else value
    expanded(model, found, Source())  # what is wrong is told of the command line, not of the file
    return found


def pairs(given: Sequence[str], option: str) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise RunError(f"--{option} '{text}' is not NAME=VALUE", fix=f"--{option} elbow=30deg")
        if name in found:
            raise RunError(f"--{option} tells '{name}' twice", fix="remove one of them")
        found[name] = value
    return list(found.items())


def _known_quantity(model: Model, name: str) -> None:
    from linkwork import outputs

    names = (*outputs.names(model), "work")
    whole, _, component = name.rpartition(".")  # tool.position.z
    parts = outputs.quantity(model, whole).components if name not in names and whole in names[:-1] else ()
    if name not in names and component not in parts:
        near = [f"{whole}.{part}" for part in parts] or names
        raise RunError(f"--also: the model has no quantity '{name}'", fix=nearest(name, near))


def _no_step(method: str) -> str:
    raise RunError(f"{method} needs a step", fix=f"--method {method} --step 1ms")


def write(run: Result, model: Model, order: Order) -> list[str]:
    import linkwork as lw

    names = [*run.series, *order.also] if order.also else []
    files = []
    if order.out is not None:
        to = run.to_netcdf if order.out.suffix.lower() == ".nc" else run.to_csv
        to(order.out, *names)
        files.append(str(order.out))
    if order.plot is not None:
        lw.plot(run, *(["q", "v", *order.also] if order.also else []), path=order.plot)
        files.append(str(order.plot))
    if order.page is not None:
        lw.page(run, order.page, model=model)
        files.append(str(order.page))
    return files


def final(run: Result, also: Sequence[str]) -> list[tuple[str, float, str]]:
    """(name, last value before it ended, unit) of every coordinate and speed, and of what was asked for."""
    rows = []
    for name in ("q", "v", *also):
        s = run[name]
        own = "" if name in ("q", "v") else f"{name}."
        for k, component in enumerate(s.components or (name,) * s.flat.shape[2]):
            seen = s.flat[0, :, k][np.isfinite(s.flat[0, :, k])]
            label = f"{own}{component}" if s.components else name
            unit = s.units[k if s.components else 0]
            rows.append((label, float(seen[-1]) if len(seen) else float("nan"), unit))
    return rows


def _json(run: Result, files: list[str], seconds: float, order: Order) -> None:
    status, trust = run.statuses[0], run.trust
    tell.as_json(
        {
            "ok": bool(run.ok[0]),
            "model": run.provenance.get("model"),
            "method": order.method,
            "until": float(run.time[-1]),
            "times": len(run.time),
            "status": {"text": status.text, "time": status.time, "where": status.where},
            "final": {name: {"value": value, "unit": unit} for name, value, unit in final(run, order.also)},
            "trust": {
                "energy_error": trust.energy_error,
                "momentum_drift": trust.momentum_drift,
                "step_error": trust.step_error,
                "steps": trust.steps,
                "refusals": trust.refusals,
            },
            "seconds": seconds,
            "files": files,
        }
    )


def _print(run: Result, files: list[str], seconds: float, order: Order) -> None:
    title = f"{run.provenance.get('model')}: {run.statuses[0]}, {order.method}, {seconds:.2g} s to build and run"
    rows = [(name, tell.number(value, 8), unit) for name, value, unit in final(run, order.also)]
    shown = rows if len(rows) <= 40 else rows[:40]
    tell.table(title, ("at its end", "value", "unit"), shown, (1,))
    if len(rows) > len(shown):
        print(f"… {len(rows)} in all; --out run.csv writes them")
    tell.table("how far to trust it", ("", "value", "what it means"), trust_rows(run.trust), (1,))
    for path in files:
        print(f"wrote {path}")
