"""A CSV table with units in its header: every cell with its line and column."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from linkwork.errors import ModelError, Place, nearest
from linkwork.model import files
from linkwork.model.forms import Source
from linkwork.model.units import quantity, unit_factor

_HEADER = re.compile(r"\s*([^\[\]]*?)\s*(?:\[\s*([^\]]*?)\s*\])?\s*")


class Row(NamedTuple):
    """One row: cells by column, and the units of the columns."""

    file: str
    line: int
    cells: dict[str, str]
    units: dict[str, str]

    @property
    def place(self) -> Place:
        return Place(self.file, self.line)

    def source(self) -> Source:
        return Source(self.place)

    def has(self, column: str) -> bool:
        return bool(self.cells.get(column))

    def word(self, column: str, what: str) -> str:
        if not self.has(column):
            raise ModelError(f"{what} has an empty '{column}'", where=self.place, fix=f"fill in column '{column}'")
        return self.cells[column]

    def told(self, column: str) -> str:
        """The cell with the unit of its column, unless it has its own."""
        cell, unit = self.cells[column], self.units.get(column, "")
        return f"{cell} {unit}" if unit and re.fullmatch(r"[-+.\deE]+", cell) else cell

    def number(self, column: str, dimension: str | None, what: str, default: float | None = None) -> float:
        if not self.has(column) and default is not None:
            return default
        self.word(column, what)
        return quantity(self.told(column), dimension, self.place, f"column '{column}' of {what}")


def table(path: Path, columns: Sequence[str]) -> list[Row]:
    """The rows of a file. Columns in any order, known names only; `#` lines and empty lines are skipped.

    Columns are separated by commas, or by semicolons when the header has no comma.
    """
    file, text = str(path), files.text(path)
    header: list[str] = []
    units: dict[str, str] = {}
    rows: list[Row] = []
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="," if "," in first else ";", strict=True)
    try:
        for cells in reader:
            cells = [c.strip() for c in cells]
            if not any(cells) or cells[0].startswith("#"):
                continue
            if not header:
                header, units = _header(cells, columns, Place(file, reader.line_num))
                continue
            if len(cells) != len(header):
                where, fix = Place(file, reader.line_num), f"columns: {', '.join(header)}"
                raise ModelError(f"{len(cells)} cells, but {len(header)} columns", where=where, fix=fix)
            rows.append(Row(file, reader.line_num, dict(zip(header, cells, strict=True)), units))
    except csv.Error as error:
        raise ModelError(
            f"not readable as CSV: {error}", where=Place(file, reader.line_num), fix="mend this line"
        ) from None
    return rows


def _header(cells: list[str], columns: Sequence[str], place: Place) -> tuple[list[str], dict[str, str]]:
    names: list[str] = []
    units: dict[str, str] = {}
    for cell in cells:
        match = _HEADER.fullmatch(cell)
        name, unit = (match[1], match[2]) if match else (cell.strip(), None)
        if name not in columns:
            raise ModelError(f"unknown column '{name[:60]}'", where=place, fix=nearest(name[:60], columns))
        if name in names:
            raise ModelError(f"two columns '{name}'", where=place, fix="keep one of them")
        names.append(name)
        if unit:
            unit_factor(unit, None, place, f"column '{name}'")
            units[name] = unit
    return names, units


def write(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table; columns that are empty in every row are left out, except the first."""
    used = [k for k in range(len(columns)) if k == 0 or any(row[k] for row in rows)]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([columns[k] for k in used])
    writer.writerows([row[k] for k in used] for row in rows)
    try:
        path.write_text(out.getvalue(), encoding="utf-8")
    except OSError as error:
        raise ModelError(f"cannot be written: {error.strerror}", where=str(path), fix="check the path") from None
