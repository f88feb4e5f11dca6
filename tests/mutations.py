"""Thirty deliberate errors in each formulation, one at a time: does `verify` see them?

    python tests/mutations.py [--all] [--tell] [FORMULATION …]

A mutant (see mutants.py) stands in `lw.verify` beside the formulations as they are, on small models. It is caught when
they differ by more than the tolerance, when it fails, or when it refuses a model that its original takes.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from mutants import Site, imported
from mutation_subjects import SUBJECTS, Subject

import linkwork as lw
from linkwork.dynamics.ledger import ELEMENTS
from linkwork.verify import WAYS

COUNT = 30
SEED = 1
SAMPLES = 2


def judged(subject: Subject, site: Site | None) -> str | None:
    """How a mutant is caught, and by which model; None: it is not. Without a site the original is judged."""
    others = {f"{name} itself": way for name, way in WAYS.items()}  # 'aba' by that name would be compiled too
    with imported(subject.modules, site) as modules:
        for name, model in subject.models().items():
            original = {n for n, w in subject.ways(modules).items() if not _refuses(w, model)}
            try:
                found = lw.verify(model, SAMPLES, ways={**others, **subject.ways(modules)})
            except Exception as error:
                return f"{type(error).__name__} ({name})"
            if original & set(found.refused):
                return f"refusal ({name})"
            if not found.ok:
                return f"difference {found.worst[found.faults[0]][0]:.0e} in {found.faults[0]} ({name})"
    return None


def _refuses(way: Any, model: Any) -> bool:
    """By what the model holds, as its author declared."""
    return any(ELEMENTS[e](model) for e in getattr(way, "refuses", {}))


def chosen(subject: Subject, count: int | None = COUNT) -> list[Site]:
    """So many of the places, drawn by a seed, in the order of the text; None: all."""
    every = subject.sites()
    if count is None:
        return every
    drawn = random.Random(SEED).sample(range(len(every)), min(count, len(every)))
    return [every[k] for k in sorted(drawn)]


def study(
    name: str, count: int | None = COUNT, tell: Callable[[str], Any] = lambda text: None
) -> dict[Site, str | None]:
    """Every chosen mutant of a formulation and how it was caught."""
    subject, found = SUBJECTS[name], {}
    assert judged(subject, None) is None, f"{name} itself does not agree"
    for site in chosen(subject, count):
        found[site] = judged(subject, site)
        tell(f"{found[site] or 'NOT CAUGHT':<48} {site}")
    return found


def main(words: Iterable[str]) -> int:
    words = list(words)
    count, tell = (None if "--all" in words else COUNT), (print if "--tell" in words else lambda text: None)
    names = [w for w in words if not w.startswith("--")] or list(SUBJECTS)
    missed = 0
    print(f"{'formulation':<24}{'caught':>8}{'of':>5}   by")
    for name in names:
        begin, found = time.perf_counter(), study(name, count, tell)
        ways = Counter(how.partition(" ")[0] for how in found.values() if how)
        left = [site for site, how in found.items() if how is None]
        by = ", ".join(f"{n} {way}" for way, n in ways.most_common())
        print(
            f"{name:<24}{len(found) - len(left):>8}{len(found):>5}   {by}; {time.perf_counter() - begin:.0f} s",
            flush=True,
        )
        for site in left:
            print(f"    not caught: {site}")
        missed += len(left)
    return missed


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
