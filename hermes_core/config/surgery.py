"""Cutting and sewing in YAML text by the positions of its nodes. The caller parses the result again."""

import re
from collections.abc import Iterator
from textwrap import indent
from typing import Any, TypeAlias

import yaml

from hermes_core.config.document import Document, entries
from hermes_core.types.base import JSON

_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
Pair: TypeAlias = tuple[yaml.Node, yaml.Node]
_WIDE = 1 << 30


class _Dumper(_Base):  # type: ignore[misc]
    """Sections on lines of their own, short lists in brackets, and texts of many lines on one line: safe anywhere."""


_Dumper.add_representer(
    list, lambda to, v: to.represent_sequence("tag:yaml.org,2002:seq", v, flow_style=len(str(v)) <= 80 or None)
)
_Dumper.add_representer(
    str, lambda to, v: to.represent_scalar("tag:yaml.org,2002:str", v, style='"' if "\n" in v else None)
)


class Refusal(Exception):
    """Not a shape that can be changed safely."""


def replace(document: Document, keys: list[str], value: JSON) -> str:
    """The text with the value in the place of what is there, or at the end of its section. Raises Refusal."""
    text, (section, pair, missing) = document.text, _find(document, keys)
    if missing:
        for key in reversed(missing[1:]):
            value = {key: value}
        return _add(text, pair, section, {missing[0]: value})
    start, end = _span(text, pair)
    if "\n" in text[start:end] and not section.flow_style:
        return _cut(text, pair, _block(text, {keys[-1]: value}, pair[0].start_mark.column))
    return _swap(text, start, end, (" " if text[start - 1] == ":" else "") + _inline(value))


def remove(document: Document, keys: list[str]) -> str:
    """The text without the setting; comment lines inside it stay. Raises Refusal."""
    text, (section, pair, missing) = document.text, _find(document, keys)
    if missing:
        raise Refusal
    if not section.flow_style:
        return _cut(text, pair, "")
    pairs, at = section.value, section.value.index(pair)
    if at + 1 < len(pairs):
        return _swap(text, pair[0].start_mark.index, pairs[at + 1][0].start_mark.index, "")
    if at:  # the last one takes the comma before it along
        return _swap(text, _span(text, pairs[at - 1])[1], _span(text, pair)[1], "")
    return _swap(text, section.start_mark.index + 1, section.end_mark.index - 1, "")


def _find(document: Document, keys: list[str]) -> tuple[Any, Any, list[str]]:
    """The innermost section on the way, the entry that was found last, and the keys that are missing in the section.

    An alias stands for something elsewhere, and an anchor or tag would be lost: such an entry is refused.
    """
    section: Any = None
    pair: Any = None
    node: Any = document.node
    for depth, key in enumerate(keys):
        if node is None or node.tag.endswith(":null"):
            return None, pair, keys[depth:]
        if not isinstance(node, yaml.MappingNode):
            raise Refusal
        found = next((entry for entry in node.value if entry[0].value == key), None)
        if found is None:
            return node, pair, keys[depth:]
        start = found[1].start_mark.index
        if start < found[0].end_mark.index or document.text[start : start + 1] in ("&", "!", "*"):
            raise Refusal
        section, pair, node = node, found, found[1]
    return section, pair, []


def _add(text: str, pair: Any, section: Any, entry: dict[str, JSON]) -> str:
    """Add to what is there: a ``{...}``, lines of a section, an empty section, an empty file."""
    if section is not None and section.flow_style:
        at = _span(text, section.value[-1])[1] if section.value else section.start_mark.index + 1
        return text[:at] + (", " if section.value else "") + _inline(entry)[1:-1] + text[at:]
    at, column = len(text), 0
    if section is not None:
        at, column = _line_end(text, _span(text, section.value[-1])[1]), section.value[0][0].start_mark.column
    elif pair is not None:
        start, end = _span(text, pair)
        text = text[:start].rstrip(" ") + text[end:]  # a null in words goes
        at, column = _line_end(text, pair[0].end_mark.index), pair[0].start_mark.column + 2
    line_break = _newline(text) if at and text[at - 1] != "\n" else ""
    return text[:at] + line_break + _block(text, entry, column) + text[at:]


def _swap(text: str, start: int, end: int, instead: str) -> str:
    if re.search(r"\s#.*\n", text[start:end]):
        raise Refusal  # a comment would go
    return text[:start] + instead + text[end:]


def _cut(text: str, pair: Pair, instead: str) -> str:
    """Replace an entry's lines, but keep comment lines among them (not lines of a text that only look so)."""
    start, end = text.rfind("\n", 0, pair[0].start_mark.index) + 1, _line_end(text, _span(text, pair)[1])
    if text[start : pair[0].start_mark.index].strip():
        raise Refusal
    texts, kept = list(_texts(pair[1])), ""
    for line in re.compile(r"(?m)^[ \t]*#.*\n?").finditer(text, start, end):
        if not any(begin < line.end() and line.start() < stop for begin, stop in texts):
            kept += line[0]
    return text[:start] + instead + kept + text[end:]


def _span(text: str, pair: Pair) -> tuple[int, int]:
    """Where a value begins and ends. PyYAML lets a block run on over blank lines and comments to the next token."""
    key, node = pair
    start, end = int(node.start_mark.index), int(node.end_mark.index)
    if isinstance(node, yaml.ScalarNode):
        if start == end or start < key.end_mark.index:  # nothing there, or an alias
            start = end = text.index(":", key.end_mark.index) + 1
        elif node.style in ("|", ">"):
            end = start + len(text[start:end].rstrip())
    elif isinstance(node, yaml.CollectionNode) and not node.flow_style:
        inner = [item if isinstance(item, tuple) else (key, item) for item in node.value]
        end = max(_span(text, item)[1] for item in inner)
    return start, end


def _texts(node: yaml.Node) -> Iterator[tuple[int, int]]:
    if isinstance(node, yaml.ScalarNode):
        yield node.start_mark.index, node.end_mark.index
    else:
        for _, value in entries(node):
            yield from _texts(value)


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _dump(value: JSON, **style: Any) -> str:
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDE, **style))


def _block(text: str, section: dict[str, JSON], column: int) -> str:
    return indent(_dump(section, default_flow_style=False, line_break=_newline(text)), " " * column)


def _inline(value: JSON) -> str:
    return _dump([value], default_flow_style=True).strip()[1:-1]
