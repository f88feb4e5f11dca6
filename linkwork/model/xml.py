"""XML from elsewhere, read safely: no entities, no document type, no network; every value with its line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from lxml import etree

from linkwork.errors import ModelError, Place, nearest
from linkwork.model import files, forms
from linkwork.model.describe import ORIGIN, Matrix, Note, Vector

Element: TypeAlias = Any  # lxml's elements have no public type

ATTRIBUTES = ("name", "type", "value", "xyz", "rpy", "ixx", "ixy", "ixz", "iyy", "iyz", "izz", "link", "joint")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE)


class Xml:
    """An XML file with the notes made while reading it."""

    def __init__(self, path: Path):
        self.path, self.file = path, str(path)
        self.notes: list[Note] = []
        self._tree = self._parsed(files.content(path))

    def _parsed(self, data: bytes) -> Any:
        head = data[:2000].lstrip(b"\xef\xbb\xbf \t\r\n")
        if not head.startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
            raise ModelError("the file is not XML", where=Place(self.file, 1), fix="an XML file begins with <")
        if b"<!DOCTYPE" in data:
            raise self._doctype(data.count(b"\n", 0, data.index(b"<!DOCTYPE")) + 1)
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False, dtd_validation=False
        )
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError as error:
            line = error.lineno or 1
            text = f"not well-formed XML: {_short(' '.join((error.msg or 'unreadable').split()))}"
            raise ModelError(text, where=Place(self.file, line), fix="mend the XML at this line") from None
        except (ValueError, LookupError) as error:
            text = f"not readable as XML: {_short(str(error))}"
            raise ModelError(text, where=Place(self.file, 1), fix="save it as UTF-8 XML") from None
        if root.getroottree().docinfo.doctype or root.getroottree().docinfo.internalDTD is not None:
            raise self._doctype(1)
        return root

    def _doctype(self, line: int) -> ModelError:
        return ModelError(
            "the file has a document type (<!DOCTYPE …>), which may bring in entities",
            where=Place(self.file, line),
            fix="remove the DOCTYPE; models do not need one",
        )

    def root(self, tag: str) -> Element:
        if self._tree.tag != tag:
            fix = f"the outermost element must be <{tag}>"
            if _tag(self._tree) == tag:
                fix = f"<{tag}> must not be in a namespace: remove its xmlns"
            raise ModelError(f"this is a <{_tag(self._tree)}> file", where=self.place(self._tree), fix=fix)
        return self._tree

    def place(self, element: Element) -> Place:
        return Place(self.file, element.sourceline)

    def note(self, text: str, element: Element) -> None:
        self.notes.append(Note(text, self.place(element)))

    # --- elements ---
    def known(self, element: Element, attributes: tuple[str, ...], children: tuple[str, ...], what: str = "") -> None:
        """A Note for every attribute and child element that is not read."""
        of = f" of {what}" if what else ""
        for name in element.attrib:
            if name not in attributes:
                self.note(f"ignored attribute '{name}' of <{_tag(element)}>{of}", element)
        ignored: dict[str, list[Element]] = {}
        for child in element:
            if isinstance(child.tag, str) and child.tag not in children:
                if "xacro" in (child.prefix or ""):
                    text = f"<{child.prefix}:{_tag(child)}> is xacro, not URDF"
                    raise ModelError(text, where=self.place(child), fix="expand the file with xacro first")
                title = child.get("name") or child.get("reference")
                ignored.setdefault(f"<{_tag(child)}>" + (f" '{title}'" if title else ""), []).append(child)
        for title, found in ignored.items():
            self.note(f"ignored {f'{len(found)} ' if len(found) > 1 else ''}{title}{of}", found[0])

    def all(self, element: Element, tag: str) -> Iterator[Element]:
        return element.iterchildren(tag)

    def one(self, element: Element, tag: str, what: str, required: bool = False) -> Element:
        """The only child with this tag; None when there is none and none is required."""
        found = element.findall(tag)
        if len(found) > 1:
            text = f"{what} has {len(found)} elements <{tag}>"
            raise ModelError(text, where=self.place(found[1]), fix="keep one of them")
        if not found and required:
            raise ModelError(f"{what} has no <{tag}>", where=self.place(element), fix=f"add a <{tag}> to it")
        return found[0] if found else None

    def name(self, element: Element) -> str:
        return self.text(element, "name", f"a <{_tag(element)}>")

    # --- values ---
    def text(self, element: Element, key: str, what: str) -> str:
        value = element.get(key)
        if not value:
            near = nearest(key, [a for a in element.attrib if a not in ATTRIBUTES])
            fix = near if near.startswith("did") else f'write {key}="…"'
            raise ModelError(f"{what} has no {key}", where=self.place(element), fix=fix)
        return value

    def number(
        self, element: Element, key: str, what: str, default: float | None = None, infinite: bool = False
    ) -> float:
        if default is not None and key not in element.attrib:
            return default
        return self._float(self.text(element, key, what), element, what, infinite)

    def vector(self, element: Element, key: str, what: str, default: Vector) -> Vector:
        if key not in element.attrib:
            return default
        words = element.get(key).split()
        if len(words) != 3:
            text = f'{what} has {len(words)} numbers in {key}="{_short(element.get(key))}"'
            raise ModelError(text, where=self.place(element), fix="give three numbers")
        x, y, z = (self._float(word, element, what) for word in words)
        return (x, y, z)

    def _float(self, word: str, element: Element, what: str, infinite: bool = False) -> float:
        value = float(word) if _NUMBER.fullmatch(word.strip()) else None  # float() alone takes 1_0 and ١ too
        if value is None:
            fix = "give a plain number in SI units and radians"
            raise ModelError(f"{what} is '{_short(word)}', not a number", where=self.place(element), fix=fix)
        if math.isnan(value) or (math.isinf(value) and not infinite):
            text = f"{what} is {value}, not a finite number"
            raise ModelError(text, where=self.place(element), fix="give a finite number")
        return value

    def origin(self, element: Element, what: str) -> tuple[Vector, Matrix]:
        """Position and rotation of the <origin> of an element."""
        origin = self.one(element, "origin", what)
        if origin is None:
            return ORIGIN, forms.UNTURNED
        self.known(origin, ("xyz", "rpy"), (), what)
        position = self.vector(origin, "xyz", f"origin of {what}", ORIGIN)
        return position, forms.of_rpy(self.vector(origin, "rpy", f"origin of {what}", ORIGIN))


def _tag(element: Element) -> str:
    return etree.QName(element).localname


def _short(text: str) -> str:
    return text if len(text) <= 100 else text[:97] + "…"
