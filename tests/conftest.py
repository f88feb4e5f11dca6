"""Figures that tests measure are told in tables at the end. From this folder `import mechanisms` finds its file."""

import pytest

TABLES: dict[str, dict[str, dict[str, str]]] = {}


@pytest.fixture(scope="session")
def figures():
    """figures(table, row, column=text, …) notes a row of a table that is printed when all tests are done."""

    def note(table, row, **columns):
        TABLES.setdefault(table, {}).setdefault(row, {}).update({k: str(x) for k, x in columns.items()})

    return note


def pytest_sessionfinish(session):
    """A worker of a run on several processors hands its tables to the one that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["tables"] = TABLES


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    for title, rows in getattr(node, "workeroutput", {}).get("tables", {}).items():
        TABLES.setdefault(title, {}).update(rows)


def pytest_terminal_summary(terminalreporter):
    for title, rows in TABLES.items():
        columns = list(dict.fromkeys(c for row in rows.values() for c in row))
        widths = [max(len(c), *(len(row.get(c, "")) for row in rows.values())) for c in columns]
        first = max(map(len, rows))
        terminalreporter.section(title, sep="-")
        terminalreporter.write_line(
            "  ".join([" " * first, *(c.rjust(w) for c, w in zip(columns, widths, strict=True))])
        )
        for name, row in rows.items():
            cells = (row.get(c, "").rjust(w) for c, w in zip(columns, widths, strict=True))
            terminalreporter.write_line("  ".join([name.ljust(first), *cells]))
