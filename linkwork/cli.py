"""The command line: parse, then call the package's public functions.

Exit codes
    0     done
    1     the model, the run or the file is at fault; the reason is told on stderr, with --json on stdout too
    2     the command is not understood
    3     a defect of linkwork itself; --debug shows where
    130   stopped by Ctrl-C; of a simulation what is done is kept
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, CycloptsError, Parameter

from linkwork.commands.options import Base, Fixed, Json, Packages, Whole, for_reading
from linkwork.errors import LinkworkError

OK, FAILED, MISUSED, DEFECT, STOPPED = 0, 1, 2, 3, 130


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("linkwork")
    except PackageNotFoundError:
        from linkwork import __version__

        return __version__


app = App(
    name="linkwork",
    help="Dynamics of mechanisms made of rigid bodies.\n\nFILE is a model: .yaml, .urdf, or a folder of CSV tables.",
    help_epilogue="--debug after any command shows the traceback of a defect.",
    version=_version,
)


@app.command
def check(
    file: str,
    /,
    *,
    base: Base = None,
    fixed: Fixed = None,
    packages: Packages = None,
    json: Json = False,
) -> int:
    """Can FILE be simulated? Tree, freedoms, mass, inertias, and what was ignored, with its line."""
    from linkwork.commands import looking

    return looking.check(file, for_reading(base, fixed, packages), json)


@app.command
def show(
    file: str,
    /,
    *,
    base: Base = None,
    fixed: Fixed = None,
    packages: Packages = None,
    json: Json = False,
) -> int:
    """Tree and tables of FILE: bodies, joints, markers, parameters."""
    from linkwork.commands import looking

    return looking.show(file, for_reading(base, fixed, packages), json)


@app.command
def simulate(
    file: str,
    /,
    *,
    until: str = "10",
    start: Annotated[
        list[str] | None, Parameter(negative="", help="NAME=VALUE, e.g. elbow=30deg, elbow.rate=2.")
    ] = None,
    set: Annotated[list[str] | None, Parameter(negative="", help="NAME=VALUE, e.g. payload.mass=3.")] = None,
    method: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-9,
    step: str | None = None,
    h_max: str | None = None,
    times: Whole = 200,
    max_steps: Whole = 1_000_000,
    base: Base = None,
    fixed: Fixed = None,
    packages: Packages = None,
    also: Annotated[
        list[str] | None, Parameter(negative="", help="A quantity to write and draw, e.g. tool.position.")
    ] = None,
    out: Path | None = None,
    plot: Path | None = None,
    page: Path | None = None,
    json: Json = False,
) -> int:
    """Run FILE from a start to a time.

    Parameters
    ----------
    until
        End time: seconds, or with a unit ("500 ms").
    method
        dop853, dopri5, rodas5p (stiff); rk4, euler (with --step).
    rtol
        Relative error allowed in a step, of adaptive methods.
    atol
        The same, absolute.
    step
        Length of a step, of rk4 and euler.
    h_max
        Longest step, of adaptive methods: "10 ms".
    times
        How many equal intervals to record.
    max_steps
        Give up after so many steps.
    out
        Write the result: run.nc or run.csv.
    plot
        Draw it: run.png, run.svg or run.pdf.
    page
        Tell it in one HTML file.
    """
    from linkwork.commands import run

    lists = (tuple(start or ()), tuple(set or ()), tuple(also or ()))
    order = run.Order(
        file,
        for_reading(base, fixed, packages),
        until,
        *lists,
        method,
        rtol,
        atol,
        step,
        h_max,
        times,
        max_steps,
        out,
        plot,
        page,
    )
    return run.simulate(order, json)


LATER = {
    "sweep": "Run the many samples of PLAN; the same command goes on where it was stopped.",
    "report": "What the sweep in FOLDER tells: success, loads, what matters, worst samples, and why to believe it.",
    "verify": "Do all formulations give the same accelerations, wrenches, mass matrix and energy rate for FILE?",
    "demo": "Random first contacts of two spacecraft, from a plan to a report; or the chain of ten rods.",
    "bench": "How fast, against whom. Runs the benches of the repository you stand in.",
}
"""Commands whose modules are imported when they are called."""
for _name, _help in LATER.items():
    app.command(f"linkwork.commands.{_name}:command", name=_name, help=_help)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    tokens = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in tokens
    tokens = [token for token in tokens if token != "--debug"]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        command, bound, _ = app.parse_args(tokens, exit_on_error=False)
        return command(*bound.args, **bound.kwargs) or OK
    except CycloptsError as error:  # it has told on stderr what it did not understand
        if "--json" in tokens:
            from linkwork.commands import tell

            tell.as_json({"ok": False, "error": {"kind": "Misuse", "what": str(error)}})
        return MISUSED
    except LinkworkError as error:
        return _told(error, "--json" in tokens)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:
        return _defect(error, tokens, debug)


def _told(error: LinkworkError, as_json: bool) -> int:
    from linkwork.commands import tell

    print(tell.readable(str(error)), file=sys.stderr)
    if as_json:
        tell.as_json({"ok": False, "error": tell.error(error)})
    return FAILED


def _defect(error: Exception, tokens: list[str], debug: bool) -> int:
    import traceback

    if debug:
        traceback.print_exc()
    name, text = type(error).__name__, (str(error).splitlines() or [""])[0]
    print(f"linkwork failed: {name}: {text[:300]}", file=sys.stderr)
    print(
        "  this is a defect, not your model's fault. Please report it with the model file and the output of\n"
        f"  linkwork {' '.join(tokens)} --debug",
        file=sys.stderr,
    )
    return DEFECT


if __name__ == "__main__":
    sys.exit(main())
