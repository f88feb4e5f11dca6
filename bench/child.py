"""What has to be measured in a process of its own: `python -m bench.child WHAT [ARGUMENT]` prints one line of JSON."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from time import perf_counter
from typing import Any


def importing() -> dict[str, Any]:
    """Seconds of `import linkwork`."""
    begin = perf_counter()
    import linkwork  # noqa: F401

    return {"seconds": perf_counter() - begin}


def building(name: str) -> dict[str, Any]:
    """Seconds from a model to its machine code, tracing included, and of the first call, which meets fresh memory."""
    import numpy as np

    import linkwork as lw
    from bench.models import made

    begin = perf_counter()
    model = made(name)
    read = perf_counter()
    asked = lw.equations(model, lw.aba)
    traced = perf_counter()
    kernel = lw.compile(asked)
    kernel.variant(kernel.lanes)
    built = perf_counter()
    q = np.tile(model.neutral, (kernel.lanes, 1))
    rest = np.zeros((kernel.lanes, model.nv))
    answer = kernel(q=q, v=rest, tau=rest)
    done = perf_counter()
    if not np.isfinite(answer).all():
        raise SystemExit("the first answer is not finite")
    return {"seconds": built - read, "trace": traced - read, "read": read - begin, "first": done - built}


def long_chain(n: int) -> dict[str, Any]:
    """Nanoseconds a body of one sample, best of several; peak memory of all of it."""
    import numpy as np

    import linkwork as lw
    from bench.measure import Settings, best
    from bench.models import chain

    begin = perf_counter()
    model = chain(n)
    made = perf_counter()
    kernel = lw.compile(lw.equations(model, lw.aba))
    rng = np.random.default_rng(n)
    q, v, tau = (rng.uniform(-a, a, n) for a in (0.3, 0.1, 1.0))
    bound = kernel.bind(q=q, v=v, tau=tau)
    answer = bound()
    built = perf_counter()
    ns = best({"ours": (bound, n)}, Settings())["ours"]
    if not np.isfinite(answer).all():
        raise SystemExit("the accelerations are not finite")
    return {"ns": ns, "model": made - begin, "build": built - made, "peak": peak()}


def peak() -> int:
    """Bytes of memory this process held at most. On Linux `ru_maxrss` counts the parent's up to the start as well."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main(words: list[str]) -> None:
    what = words[0]
    if what == "import":
        found = importing()
    elif what == "build":
        found = building(words[1])
    else:
        found = long_chain(int(words[1]))
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
