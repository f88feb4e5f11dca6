"""The mass of a body, or of one part of it, from the keys it was told with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.errors import ModelError, Place, nearest
from linkwork.model import forms, shapes
from linkwork.model.describe import Body, Inertial, Visual
from linkwork.model.forms import Source
from linkwork.model.units import quantity


def inertia(given: Any, where: Place | None, what: str) -> shapes.Six:
    """(xx, yy, zz, xy, xz, yz) from 3 moments, those 6, or 3 rows of the tensor."""
    form = "3 moments, or 6 values xx, yy, zz, xy, xz, yz, or 3 rows of the tensor"
    entries = forms.listed(given, (3, 6), where, what, form)
    if len(entries) == 3 and isinstance(entries[0], (Sequence, np.ndarray)) and not isinstance(entries[0], str):
        rows = [forms.vector(row, "kg*m^2", where, what) for row in entries]
        biggest = max(abs(e) for row in rows for e in row)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            if abs(rows[i][j] - rows[j][i]) > 1e-6 * biggest:
                raise ModelError(
                    f"{what} is not symmetric: {rows[i][j]:g} and {rows[j][i]:g} face each other",
                    where=where,
                    fix="write the same number on both sides of the diagonal",
                )
        return (rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2])
    numbers = [quantity(e, "kg*m^2", where, what) for e in entries] + [0.0] * (6 - len(entries))
    return tuple(numbers)  # type: ignore[return-value]


def body(name: str, given: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], source: Source) -> Body:
    """A body of the mass told by `given` and of more parts."""
    found = [part(given, source, f"body '{name}'")]
    looks = [seen(given, source, f"body '{name}'")]
    if not isinstance(parts, Sequence) or not all(isinstance(one, Mapping) for one in parts):
        fix = "give a list of dictionaries, each with a mass"
        raise ModelError(f"parts of body '{name}' are {forms.brief(parts)}", where=source.at("parts"), fix=fix)
    for k, one in enumerate(parts):
        what, where = f"part '{one.get('name', k + 1)}' of body '{name}'", source.at(f"parts.{k}")
        if wrong := sorted(set(one) - set(PART_KEYS)):
            raise ModelError(f"{what} has an unknown key '{wrong[0]}'", where=where, fix=nearest(wrong[0], PART_KEYS))
        found.append(part(one, Source(where), what))
        looks.append(seen(one, Source(where), what))
    return Body(name, tuple(p for p in found if p), (), tuple(v for v in looks if v), source.place)


PART_KEYS = ("name", "mass", "centre", "inertia", "axes", "about", "shape", "size", "density", "unchecked")


def part(given: Mapping[str, Any], source: Source, what: str) -> Inertial | None:
    """One part of a body's mass from its keys (`PART_KEYS`); None when no mass is told."""
    said = {k: v for k, v in given.items() if v is not None and k in PART_KEYS}
    if "shape" in said:
        return _solid(said, source, what)
    if stray := [k for k in ("size", "density") if k in said]:
        raise ModelError(
            f"{what} has a {stray[0]} but no shape", where=source.at(stray[0]), fix="add the shape, e.g. box"
        )
    if "mass" not in said:
        if stray := [k for k in ("inertia", "centre", "axes", "about") if k in said]:
            raise ModelError(f"{what} has '{stray[0]}' but no mass", where=source.at(stray[0]), fix="add its mass")
        return None
    mass = quantity(said["mass"], "kg", source.at("mass"), f"mass of {what}")
    centre = forms.vector(said.get("centre", (0, 0, 0)), "m", source.at("centre"), f"centre of {what}")
    moments = inertia(said.get("inertia", (0, 0, 0)), source.at("inertia"), f"inertia of {what}")
    moments = shapes.turned(moments, forms.rotation(said, source, what, "axes"))
    about = forms.word(said.get("about", "centre"), source.at("about"), f"'about' of {what}")
    if about not in ("centre", "origin"):
        raise ModelError(
            f"inertia of {what} is about '{about}'", where=source.at("about"), fix="write centre or origin"
        )
    if about == "origin":
        moments = shapes.about_centre(mass, centre, moments)
    return Inertial(
        mass,
        centre,
        moments,
        str(said.get("name", "")),
        source.place,
        unchecked=said.get("unchecked") is True,
    )


def size_of(given: Mapping[str, Any], source: Source, what: str) -> tuple[str, tuple[float, ...]]:
    """Name and sizes of a solid."""
    shape = forms.word(given["shape"], source.at("shape"), f"shape of {what}")
    if shape not in shapes.SOLIDS:
        raise ModelError(
            f"{what} has an unknown shape '{shape}'",
            where=source.at("shape"),
            fix=nearest(str(shape), shapes.SOLIDS),
        )
    words = shapes.SOLIDS[shape][1]
    where, size = source.at("size"), given.get("size")
    if size is None:
        raise ModelError(
            f"{what} is a {shape} without size", where=source.at("shape"), fix=f"add size: {', '.join(words)}"
        )
    if len(words) == 1 and (isinstance(size, str) or not isinstance(size, (Sequence, np.ndarray))):
        size = [size]
    entries = forms.listed(size, len(words), where, f"size of {what}", f"{len(words)} numbers: {', '.join(words)}")
    numbers = tuple(quantity(e, "m", where, f"{w} of {what}") for e, w in zip(entries, words, strict=True))
    if bad := [w for w, e in zip(words, numbers, strict=True) if e < 0]:
        raise ModelError(f"{bad[0]} of {what} is below zero", where=where, fix="sizes are zero or more")
    if shape == "tube" and numbers[1] > numbers[0]:
        raise ModelError(f"{what} has a bore wider than itself", where=where, fix="give the outer radius first")
    return shape, numbers


def _solid(said: Mapping[str, Any], source: Source, what: str) -> Inertial:
    shape, size = size_of(said, source, what)
    if "inertia" in said or "about" in said:
        raise ModelError(
            f"{what} has a shape and an inertia",
            where=source.at("inertia"),
            fix="the shape gives the inertia; keep one",
        )
    if ("mass" in said) == ("density" in said) or (shape in shapes.MASS_ONLY and "density" in said):
        choice = "mass" if shape in shapes.MASS_ONLY else "mass or density"
        raise ModelError(
            f"{what} is a {shape}: how heavy is it?",
            where=source.at("shape"),
            fix=f"give {choice}, one of them",
        )
    word, unit_ = ("mass", "kg") if "mass" in said else ("density", "kg/m^3")
    heavy = quantity(said[word], unit_, source.at(word), f"{word} of {what}")
    centre = forms.vector(said.get("centre", (0, 0, 0)), "m", source.at("centre"), f"centre of {what}")
    made = shapes.placed(
        shapes.SOLIDS[shape][0](*size, **{word: heavy}), centre, forms.rotation(said, source, what, "axes")
    )
    return replace(made, name=str(said.get("name", "")), source=source.place)


# --- what is seen ---
_SEEN_AS = {"box": "box", "sphere": "sphere", "shell": "sphere", "cylinder": "cylinder", "capsule": "capsule"}


def seen(given: Mapping[str, Any], source: Source, what: str) -> Visual | None:
    """The shape of a part as a visual; a tube is shown as its outer cylinder, a rod as a thin one."""
    if given.get("shape") is None:
        return None
    shape, size = size_of(given, source, what)
    centre = (0, 0, 0) if given.get("centre") is None else given["centre"]
    centre = forms.vector(centre, "m", source.at("centre"), f"centre of {what}")
    turn = forms.rotation(given, source, what, "axes")
    if shape == "tube":
        size = (size[0], size[2])
    if shape == "rod":
        size = (size[0] / 50, size[0])
    return Visual(_SEEN_AS.get(shape, "cylinder"), size, centre, turn, source=source.place)  # type: ignore[arg-type]


def visual(shape: str, size: Any, color: Any, file: str | None, source: Source, what: str) -> Visual:
    shown = {"box", "sphere", "cylinder", "capsule", "mesh"}
    if forms.word(shape, source.at("shape"), f"shape of {what}") not in shown:
        fix = nearest(str(shape), sorted(shown))
        raise ModelError(f"{what} has an unknown shape '{shape}'", where=source.at("shape"), fix=fix)
    if file is not None:
        forms.word(file, source.at("file"), f"file of {what}")
    if (shape == "mesh") != (file is not None):
        fix = "a mesh, and nothing else, has a file"
        raise ModelError(f"{what} is a {shape} with{'' if file else 'out'} a file", where=source.at("shape"), fix=fix)
    if shape == "mesh":
        numbers = forms.vector((1, 1, 1) if size is None else size, "1", source.at("size"), f"scale of {what}")
    else:
        shape, numbers = size_of({"shape": shape, "size": size}, source, what)
    if color is not None:
        entries = forms.listed(
            color, (3, 4), source.at("color"), f"color of {what}", "red, green, blue (and alpha), 0 … 1"
        )
        rgba = [quantity(e, "1", source.at("color"), f"color of {what}") for e in entries]
        color = (*rgba, 1.0) if len(rgba) == 3 else tuple(rgba)
    return Visual(shape, numbers, color=color, file=file, source=source.place)  # type: ignore[arg-type]
