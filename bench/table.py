"""Rows as text: the table, the machine it was measured on, the block in README.md, the file of results."""

from __future__ import annotations

import csv
import math
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.measure import Row
from linkwork.compiler.target import host

ROOT = Path(__file__).absolute().parent.parent
BEGIN, END = "<!-- bench:start -->", "<!-- bench:end -->"
COLUMNS = ("bench", "model", "ours_ns", "peer", "peer_ns", "ratio", "target", "met", "note")
VERSIONS = ("pin", "heyoka", "mujoco", "casadi", "llvmlite", "numpy")


def time(ns: float) -> str:
    """Three digits and a unit."""
    if not math.isfinite(ns):
        return ""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def ratio(x: float) -> str:
    return "" if not math.isfinite(x) else f"{x:.0f}×" if x >= 20 else f"{x:.1f}×" if x >= 3 else f"{x:.2f}×"


def goal(r: Row) -> str:
    if "target" not in r:
        return ""
    return f"≥ {r['target']:g}×" + ("" if r["met"] else " missed")


def markdown(rows: list[Row]) -> str:
    lines = ["| what | model | ours | peer | peer's | ratio | target |", "|---|---|--:|---|--:|--:|---|"]
    for r in rows:
        words = (r["bench"], r["model"], time(r["ours_ns"]), r["peer"], time(r["peer_ns"]), ratio(r["ratio"]), goal(r))
        lines.append("| " + " | ".join(words) + " |")
    return "\n".join(lines)


def plain(rows: list[Row]) -> str:
    """For a terminal, with the notes."""
    lines = []
    for r in rows:
        head = f"{r['bench']:<24}{r['model']:<22}{time(r['ours_ns']):>9}  {r['peer']:<23}{time(r['peer_ns']):>9}"
        lines.append(f"{head} {ratio(r['ratio']):>7}  {goal(r):<15} {r.get('note', '')}")
    return "\n".join(lines)


def processor() -> str:
    """The processor's name, and its family where the name says little."""
    words: dict[str, str] = {}
    try:
        for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines():
            key, _, value = line.partition(":")
            words[key.strip()] = value.strip()
    except OSError:
        return platform.processor() or platform.machine()
    name = words.get("model name", platform.machine())
    return f"{name} ({host().cpu})"


def machine() -> str:
    from linkwork.compiler.running import cores

    found = []
    for name in VERSIONS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return (
        f"{processor()}, {cores()} cores, {host().lanes} lanes; {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {', '.join(found)}"
    )


def write_readme(rows: list[Row], file: Path = ROOT / "README.md") -> None:
    """Replace what stands between the two marks."""
    text = file.read_text()
    if BEGIN not in text or END not in text:
        raise SystemExit(f"{file.name} has no lines {BEGIN} and {END}")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    said = f"Measured by `make bench` on {machine()}. One thread unless said; a limit is a time allowed."
    file.write_text(f"{before}{BEGIN}\n{markdown(rows)}\n\n{said}\n{END}{after}")


def write_csv(rows: list[Row], folder: Path = ROOT / "bench" / "results") -> Path:
    """One file for each kind of machine."""
    folder.mkdir(parents=True, exist_ok=True)
    kind = re.sub(r"[^a-z0-9]+", "-", f"{processor()} {host().lanes} lanes".lower()).strip("-")
    file = folder / f"{kind}.csv"
    with file.open("w", newline="") as stream:
        stream.write(f"# {machine()}\n")
        writer = csv.DictWriter(stream, COLUMNS, restval="")
        writer.writeheader()
        for r in rows:
            writer.writerow({k: f"{x:.4g}" if isinstance(x, float) else x for k, x in r.items()})
    return file
