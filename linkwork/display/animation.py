"""One sample in motion, as an HTML file that needs nothing else: drag to turn, wheel to zoom, a slider for the time."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from os import PathLike
from typing import Any

import numpy as np

from linkwork.display import style
from linkwork.display.animation_script import SCRIPT
from linkwork.display.html import CSS
from linkwork.display.scene import Scene, scene_of
from linkwork.errors import RunError
from linkwork.export import replacing
from linkwork.model.model import Model
from linkwork.result import Result

FRAMES = 600  # at most; of a finer run some are left out
STILL = np.array([1.0, 0, 0, 0, 1, 0, 0, 0, 1])
LOOK = """
canvas { width: 100%; height: min(70vh, 46rem); background: #fbfcfd; border: 1px solid #d9dde2; border-radius: .3rem;
  touch-action: none; cursor: grab; }
.bar { display: flex; gap: .8rem; align-items: center; margin: .7rem 0; flex-wrap: wrap; }
.bar input[type=range] { flex: 1; min-width: 12rem; } button, select { font: inherit; padding: .2rem .8rem; }
output { font-variant-numeric: tabular-nums; min-width: 7rem; } #told { color: #57606a; min-height: 1.5em; }
"""


def animate(
    run: Result,
    of: Model | Scene,
    path: str | PathLike[str],
    *,
    sample: int = 0,
    tell: Sequence[str] = (),
    title: str | None = None,
    follow: str | None = None,
) -> None:
    """Write the motion of one sample of a run as a page to look at and turn about.

    of      the model that was run, or a Scene: what is drawn on which frames
    tell    quantities whose values are shown beside the time: "energy", "tool.position.z"
    follow  the frame that stands still in the picture (default: the world)
    """
    scene = scene_of(of, follow) if isinstance(of, Model) else of
    if not 0 <= sample < len(run.statuses):
        raise RunError(f"no sample {sample}: the run has {len(run.statuses)}, counted from 0")
    chosen = _moments(run, sample, scene)
    heading = title or str(run.provenance.get("model") or "Motion")
    data = {
        "time": _short(run.time[chosen]),
        "frames": {name: _poses(run, sample, chosen, name, scene) for name in scene.frames},
        "wires": [{"frame": w.frame, "color": w.color, "lines": [_short(x) for x in w.lines]} for w in scene.wires],
        "strings": [{"a": [s.a[0], *s.a[1]], "b": [s.b[0], *s.b[1]], "color": s.color} for s in scene.strings],
        "follow": scene.follow,
        "view": scene.view,
        "size": scene.size or _reach(run, sample, chosen, scene),
        "told": [_told(run, sample, chosen, name) for name in tell],
        "events": [[float(t), str(name)] for t, name in (run.events[sample] if run.events else ())],
    }
    with replacing(path) as part:
        part.write_text(_page(heading, str(run.statuses[sample]), data), encoding="utf-8")


def _moments(run: Result, sample: int, scene: Scene) -> np.ndarray:
    """Which output times are shown: those before the sample's end, FRAMES of them."""
    names = [f"{name}.position" for name in scene.frames] or list(run.series)[:1]
    there = np.all([np.isfinite(run[name].flat[sample]).all(axis=1) for name in names], axis=0)
    at = np.flatnonzero(there)
    if not len(at):
        raise RunError(f"sample {sample} has no motion to show")
    return at if len(at) <= FRAMES else at[np.linspace(0, len(at) - 1, FRAMES).round().astype(int)]


def _poses(run: Result, sample: int, chosen: np.ndarray, name: str, scene: Scene) -> list[list[float]]:
    """Place and axes of a frame at each moment; axes only where lines need them."""
    place = run[f"{name}.position"].flat[sample][chosen]
    turned = any(w.frame == name and w.turns for w in scene.wires) or name == scene.follow
    turned |= any(end[0] == name and any(end[1]) for s in scene.strings for end in (s.a, s.b))
    axes = run[f"{name}.rotation"].flat[sample][chosen] if turned else np.tile(STILL, (len(chosen), 1))
    return _short(np.hstack([place, axes]))


def _reach(run: Result, sample: int, chosen: np.ndarray, scene: Scene) -> float:
    """How far from the middle of the picture anything gets."""
    places = {name: run[f"{name}.position"].flat[sample][chosen] for name in scene.frames}
    middle = places.get(scene.follow, np.zeros((len(chosen), 3)))
    far = [float(np.max(np.linalg.norm(x - middle, axis=1))) for x in places.values()]
    own = [float(np.max(np.linalg.norm(line, axis=1))) for w in scene.wires for line in w.lines]
    return max([*far, *own, 1e-3]) * 1.15


def _told(run: Result, sample: int, chosen: np.ndarray, name: str) -> dict[str, Any]:
    series = run[name]
    if series.components:
        raise RunError(f"'{name}' has {len(series.components)} components", fix=f"tell '{name}.{series.components[0]}'")
    values = [float(f"{x:.4g}") if np.isfinite(x) else None for x in series.flat[sample, chosen, 0]]
    return {"name": name, "unit": style.unit(series.units[0]), "values": values}


def _short(values: Any) -> Any:
    """Numbers with six decimals: what is drawn needs no more."""
    return np.round(np.asarray(values, float), 6).tolist()


def _page(heading: str, ended: str, data: dict[str, Any]) -> str:
    """Names end up in JSON and in escaped text only; of scripts just ours may run, told by its hash."""
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    guard = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    inside = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{guard}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(heading)}</title><style>{CSS}{LOOK}</style></head>
<body>
<h1>{escape(heading)}</h1>
<p class="lead">Ended: {escape(ended)}. Drag to turn, wheel to zoom, space to stop and go on.</p>
<canvas id="view" aria-label="the mechanism in motion"></canvas>
<div class="bar"><button id="play">pause</button><input type="range" id="at" min="0" max="1" step="any" value="0"
aria-label="time"><output id="clock"></output><label>speed <select id="speed"><option value="0.1">0.1×</option>
<option value="0.3">0.3×</option><option value="1" selected>1×</option><option value="3">3×</option>
<option value="10">10×</option></select></label></div>
<p id="told"></p>
<script type="application/json" id="data">{inside}</script>
<script>{SCRIPT}</script>
</body>
</html>
"""
