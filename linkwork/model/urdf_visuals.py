"""The looks of URDF links: solids, meshes and materials. Meshes are found, never opened here."""

from __future__ import annotations

from pathlib import Path

from linkwork.errors import ModelError
from linkwork.model import files
from linkwork.model.describe import Visual
from linkwork.model.xml import Element, Xml

Color = tuple[float, float, float, float]


class Looks:
    def __init__(self, xml: Xml, root: Element, folders: list[Path]):
        self.xml, self.folders = xml, folders
        self.colors: dict[str, Color] = {}
        for material in xml.all(root, "material"):
            xml.known(material, ("name",), ("color",))
            if (color := self._rgba(material)) and material.get("name"):
                self.colors[material.get("name")] = color

    def visual(self, element: Element, what: str) -> Visual | None:
        xml, place = self.xml, self.xml.place(element)
        xml.known(element, ("name",), ("origin", "geometry", "material"), what)
        position, rotation = xml.origin(element, f"visual of {what}")
        geometry = xml.one(element, "geometry", f"visual of {what}", required=True)
        xml.known(geometry, ("name",), ("box", "sphere", "cylinder", "capsule", "mesh"), what)
        shapes = [e for e in geometry if isinstance(e.tag, str) and e.tag in _SIZES]
        if len(shapes) != 1:
            xml.note(f"ignored a visual of {what} with {len(shapes)} shapes", geometry)
            return None
        shape, file = shapes[0], None
        if shape.tag == "mesh":
            size = xml.vector(shape, "scale", f"mesh scale of {what}", (1.0, 1.0, 1.0))
            file = self._mesh(xml.text(shape, "filename", f"mesh of {what}"), shape, what)
            if file is None:
                return None
        elif shape.tag == "box":
            size = xml.vector(shape, "size", f"size of {what}", (0.0, 0.0, 0.0))
        else:
            size = tuple(xml.number(shape, key, f"{key} of {what}") for key in _SIZES[shape.tag])
        if shape.tag != "mesh" and min(size) < 0:
            text = f"a {shape.tag} of {what} has a size below zero"
            raise ModelError(text, where=xml.place(shape), fix="sizes are zero or more")
        return Visual(shape.tag, size, position, rotation, self._color(element, what), file, place)

    def _color(self, element: Element, what: str) -> Color | None:
        material = self.xml.one(element, "material", f"visual of {what}")
        if material is None:
            return None
        self.xml.known(material, ("name",), ("color",), what)
        name, color = material.get("name"), self._rgba(material)
        if color is not None and name:
            self.colors.setdefault(name, color)
        if color is None and name and name not in self.colors and len(material) == 0:
            self.xml.note(f"material '{name}' of {what} is not defined", material)
        return color or self.colors.get(name or "")

    def _rgba(self, material: Element) -> Color | None:
        color = self.xml.one(material, "color", "a material")
        if color is None:
            return None
        words = self.xml.text(color, "rgba", "a material's color").split()
        try:
            r, g, b, a = (float(w) for w in words)
        except ValueError:
            fix = "give four numbers, red, green, blue, alpha, 0 … 1"
            raise ModelError("a material's color is unreadable", where=self.xml.place(color), fix=fix) from None
        return (r, g, b, a)

    def _mesh(self, name: str, element: Element, what: str) -> str | None:
        """The path of a mesh inside the folder of the model or of the packages; a Note when there is none."""
        path, folders = name, self.folders
        if name.startswith("package://"):
            path = name.removeprefix("package://")
            package, _, rest = path.partition("/")
            own = [f for f in self.folders if f.name == package]
            try:
                found = files.inside(path, folders) or (files.inside(rest, own) if rest else None)
            except files.Outside:
                found = self._outside(name, element, what)
        elif "://" in name or Path(name).is_absolute() or name.startswith("\\"):
            found = self._outside(name, element, what)
        else:
            try:
                found = files.inside(path, folders)
            except files.Outside:
                found = self._outside(name, element, what)
        if found is None:
            self.xml.note(f"mesh '{name}' of {what} is not found; give package_dirs=", element)
        return str(found) if found else None

    def _outside(self, name: str, element: Element, what: str) -> bool:
        self.xml.note(f"mesh '{name}' of {what} lies outside the folder and is not opened", element)
        return False


_SIZES = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": (),
}
