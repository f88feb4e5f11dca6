"""YAML as plain values with the line of every key. Safe by what it leaves out: no tags, no classes.

YAML 1.2: `yes` and `on` are text. Keys are always text, duplicate ones refused, nesting and size limited.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML, __with_libyaml__
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from linkwork.errors import ModelError, Place, nearest
from linkwork.model import files
from linkwork.model.forms import Source

FAST = __with_libyaml__  # the parser in C, twenty times as fast; the one in Python knows YAML 1.2 and says more
SHORT = 50_000  # characters that the one in Python reads in half a second
LARGEST = 2**20  # characters
GLANCE = 100_000  # longer texts are looked at before they are parsed
DEEPEST = 30
MOST = 300_000  # values, those that anchors repeat counted each time

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_CONSTANTS = {"": None, "~": None} | {w: None for w in ("null", "Null", "NULL")}
_CONSTANTS |= {w: True for w in ("true", "True", "TRUE")} | {w: False for w in ("false", "False", "FALSE")}
_CONSTANTS |= {sign + w: float(sign + "inf") for sign in ("", "+", "-") for w in (".inf", ".Inf", ".INF")}
_CONSTANTS |= {w: math.nan for w in (".nan", ".NaN", ".NAN")}


@dataclass(slots=True)
class Node:
    """A scalar, a list of nodes, or a mapping from text to nodes."""

    file: str
    line: int
    value: Any
    text: str = ""  # of a scalar, as written
    key_lines: dict[str, int] = field(default_factory=dict)
    size: int = 1
    whole: bool = True

    @property
    def place(self) -> Place:
        return Place(self.file, self.line)

    def plain(self) -> Any:
        if isinstance(self.value, dict):
            return {k: n.plain() for k, n in self.value.items()}
        return [n.plain() for n in self.value] if isinstance(self.value, list) else self.value

    def source(self) -> Source:
        return Source(self.place, {k: Place(self.file, line) for k, line in self.key_lines.items()})

    def mapping(self, what: str, known: tuple[str, ...] | None = None) -> dict[str, Node]:
        """The entries of a mapping; unknown keys are refused."""
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            fix = "write one 'key: value' a line, indented"
            raise ModelError(f"{what} is not a mapping of names to values", where=self.place, fix=fix)
        for key in self.value if known is not None else ():
            if key not in known:  # type: ignore[operator]
                where = Place(self.file, self.key_lines[key])
                raise ModelError(f"{what} has an unknown key '{key}'", where=where, fix=nearest(key, known or ()))
        return self.value

    def items(self, what: str) -> list[Node]:
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            raise ModelError(f"{what} is not a list", where=self.place, fix="write [a, b], or one '- ' a line")
        return self.value

    def word(self, what: str) -> str:
        """The text of a scalar, whatever it looks like."""
        if isinstance(self.value, (list, dict)) or not self.text:
            raise ModelError(f"{what} is not a name", where=self.place, fix="write a name")
        return self.text


def parse(path: Path, sections: tuple[str, ...]) -> Node:
    """The only document of a YAML file: a mapping with some of these sections."""
    text, file = files.text(path), str(path)
    if len(text) > LARGEST:
        size = f"{len(text) / 2**20:.3g} MB of YAML, more than {LARGEST / 2**20:.0f} MB"
        raise ModelError(size, where=Place(file), fix="write big models as a folder of CSV tables")
    if len(text) > GLANCE and not re.search(rf"^\s*[{{\"']?({'|'.join(sections)})\b", text, re.MULTILINE):
        fix = f"a model has the sections {', '.join(sections)}"
        raise ModelError("this is not a model", where=Place(file, 1), fix=fix)
    events = _events(text, file)
    node = _document(events, file, sections)
    if node is None:
        raise ModelError("the file is empty", where=Place(file), fix="write a model into it, or name another file")
    return node


def _events(text: str, file: str) -> Iterator[Any]:
    try:
        yield from YAML(typ="safe", pure=len(text) <= SHORT or not FAST).parse(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        problem = " ".join(str(error.problem or error.context or "unreadable").split())
        fix = "indent with spaces, not tabs" if "\\t" in problem else "mend the YAML at this line"
        raise ModelError(f"not well-formed YAML: {problem}", where=Place(file, line), fix=fix) from None
    except (YAMLError, ValueError, RecursionError, AttributeError) as error:
        problem = " ".join(str(error).split())[:200]
        raise ModelError(f"not readable as YAML: {problem}", where=Place(file), fix="save it as plain text") from None


def _document(events: Iterator[Any], file: str, sections: tuple[str, ...]) -> Node | None:
    """Nodes from events, without recursion. Anchors are shared, not copied."""
    open_nodes: list[Node] = []
    keys: list[Node | None] = []  # of each open mapping, the key that waits for its value
    anchors: dict[str, Node] = {}
    top: Node | None = None
    for event in events:
        if len(open_nodes) == 1 and keys[0] is not None:  # told before the rest of a long file is parsed
            top.mapping("the model", sections)  # type: ignore[union-attr]
        kind = type(event)
        if kind is DocumentStartEvent and top is not None:
            where, fix = Place(file, event.start_mark.line + 1), "one model a file; remove '---'"
            raise ModelError("the file holds several documents", where=where, fix=fix)
        if kind in (SequenceEndEvent, MappingEndEvent):
            node = open_nodes.pop()
            keys.pop()
            node.whole = True
            if open_nodes:
                _put(open_nodes[-1], keys, node)
            continue
        if kind not in (ScalarEvent, AliasEvent, SequenceStartEvent, MappingStartEvent):
            continue
        node = _node(event, kind, file, event.start_mark.line + 1, anchors)
        top = top or node
        if kind in (SequenceStartEvent, MappingStartEvent):
            open_nodes.append(node)
            keys.append(None)
            if len(open_nodes) > DEEPEST:
                fix = "a model needs no more than a few levels"
                raise ModelError(f"nested more than {DEEPEST} levels deep", where=node.place, fix=fix)
        elif open_nodes:
            _put(open_nodes[-1], keys, node)
    return top


def _node(event: Any, kind: type, file: str, line: int, anchors: dict[str, Node]) -> Node:
    if kind is AliasEvent:
        node = anchors.get(str(event.anchor))
        if node is None or not node.whole:
            raise ModelError(
                f"*{event.anchor} stands for nothing",
                where=Place(file, line),
                fix=f"define it before with &{event.anchor}",
            )
        return node
    tag = getattr(event, "tag", None)
    if tag is not None and str(tag) != "!":
        text = f"the tag {str(tag).replace('tag:yaml.org,2002:', '!!')} is not read"
        raise ModelError(text, where=Place(file, line), fix="remove it; models are plain text and numbers")
    if kind is ScalarEvent:
        quoted = bool(event.style)  # None, or empty, of plain text
        node = Node(file, line, event.value if quoted else _scalar(event.value), event.value)
    else:
        node = Node(file, line, [] if kind is SequenceStartEvent else {}, whole=False)
    if event.anchor:
        anchors[str(event.anchor)] = node
    return node


def _put(parent: Node, keys: list[Node | None], node: Node) -> None:
    parent.size += node.size
    if parent.size > MOST:
        text = f"more than {MOST:,} values, those that anchors repeat counted each time"
        raise ModelError(text, where=node.place, fix="use fewer aliases, or a folder of CSV tables")
    if isinstance(parent.value, list):
        parent.value.append(node)
    elif (key := keys[-1]) is None:
        if isinstance(node.value, (list, dict)):
            raise ModelError("a key is a list or a mapping", where=node.place, fix="keys are names")
        if node.text in parent.value:
            text = f"the key '{node.text}' is there twice (line {parent.key_lines[node.text]})"
            raise ModelError(text, where=node.place, fix="keep one of them")
        parent.value[node.text] = None
        parent.key_lines[node.text] = node.line
        keys[-1] = node
    else:
        parent.value[key.text] = node
        keys[-1] = None


def _scalar(text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) < 300 else float(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def is_plain(text: str) -> bool:
    """Can the text be written without quotes and be read back as text?"""
    return re.fullmatch(r"[A-Za-z_][\w./-]*( [\w./()*^+-]+)*", text) is not None and isinstance(_scalar(text), str)
