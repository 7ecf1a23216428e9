"""Cutting and sewing in YAML text by the positions of its nodes. The caller parses the result again."""

import re
from typing import Any, TypeAlias

import yaml

from hermes_core.config.document import Document
from hermes_core.types.base import JSON

_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
Pair: TypeAlias = tuple[yaml.Node, yaml.Node]


class Refusal(Exception):
    """Not a shape that can be changed safely."""


def replace(document: Document, keys: list[str], value: JSON) -> str:
    """The text with the value in the place of what is there, or at the end of its section. Raises Refusal."""
    text, parent = document.text, document.node
    pair: Any = None
    section: Any = None
    for depth, key in enumerate(keys):
        found = _find(text, parent, key)
        if found is None:
            for missing in reversed(keys[depth + 1 :]):
                value = {missing: value}
            return _add(text, pair, parent, {key: value})
        section, pair, parent = parent, found, found[1]
    start, end = _span(text, pair)
    if "\n" not in text[start:end] and not (_is_block(value) and not section.flow_style):
        return text[:start] + (" " if text[start - 1] == ":" else "") + _inline(value) + text[end:]
    if section.flow_style:
        if re.search(r"\n\s*#", text[start:end]):
            raise Refusal
        return text[:start] + _inline(value) + text[end:]
    return _cut(text, pair, _block(text, {keys[-1]: value}, pair[0].start_mark.column))


def remove(document: Document, keys: list[str]) -> str:
    """The text without the setting; comment lines inside it stay. Raises Refusal."""
    text, inner = document.text, document.node
    pair: Any = None
    section: Any = None
    for key in keys:
        section, pair = inner, _find(text, inner, key)
        if pair is None:
            raise Refusal
        inner = pair[1]
    if not section.flow_style:
        return _cut(text, pair, "")
    start, end = pair[0].start_mark.index, _span(text, pair)[1]
    rest = text[end:].lstrip()
    at = section.value.index(pair)
    if rest.startswith(","):
        cut = (start, len(text) - len(rest[1:].lstrip(" ")))
    elif at:  # the last one takes the comma before it along
        comma = text.index(",", _span(text, section.value[at - 1])[1])
        text, cut = text[:comma] + text[comma + 1 :], (comma + len(text[comma + 1 : start].rstrip(" ")), end - 1)
    else:
        cut = (start, end)
    if re.search(r"\n\s*#", text[cut[0] : cut[1]]):
        raise Refusal
    return text[: cut[0]] + text[cut[1] :]


def _find(text: str, section: Any, key: str) -> Any:
    """The entry, None when there is none. An alias stands for something elsewhere; an anchor or tag would be lost."""
    if section is None or _is_empty(section):
        return None
    if not isinstance(section, yaml.MappingNode):
        raise Refusal
    pair = next((pair for pair in section.value if pair[0].value == key), None)
    if pair is not None:
        start = pair[1].start_mark.index
        if start < pair[0].end_mark.index or text[start : start + 1] in ("&", "!", "*"):
            raise Refusal
    return pair


def _add(text: str, pair: Any, section: Any, entry: dict[str, JSON]) -> str:
    """Add to what is there: a ``{...}``, lines of a section, an empty section, an empty file."""
    if section is not None and not _is_empty(section) and section.flow_style:
        after = _span(text, section.value[-1])[1] if section.value else section.start_mark.index + 1
        return text[:after] + (", " if section.value else "") + _inline(entry)[1:-1] + text[after:]
    if isinstance(section, yaml.MappingNode):
        at, column = _line_end(text, _span(text, section.value[-1])[1]), section.value[0][0].start_mark.column
    elif pair is None:
        at, column = len(text), 0
    else:
        start, end = _span(text, pair)
        text = text[:start].rstrip(" ") + text[end:]  # a null in words goes
        at, column = _line_end(text, pair[0].end_mark.index), pair[0].start_mark.column + 2
    line_break = _newline(text) if at and text[at - 1] != "\n" else ""
    return text[:at] + line_break + _block(text, entry, column) + text[at:]


def _cut(text: str, pair: Any, instead: str) -> str:
    """Replace an entry's lines, but keep comment lines among them (not lines of a text that only look so)."""
    start, end = _line_end(text, pair[0].start_mark.index, back=True), _line_end(text, _span(text, pair)[1])
    if text[start : pair[0].start_mark.index].strip():
        raise Refusal
    texts, at, kept = _texts(pair[1]), start, ""
    while at < end:
        stop = _line_end(text, at)
        if text[at:stop].lstrip().startswith("#") and not any(a < stop and at < b for a, b in texts):
            kept += text[at:stop]
        at = stop
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


def _texts(node: yaml.Node) -> list[tuple[int, int]]:
    if isinstance(node, yaml.ScalarNode):
        return [(node.start_mark.index, node.end_mark.index)]
    parts = [part for item in node.value for part in (item if isinstance(item, tuple) else (item,))]
    return [span for part in parts for span in _texts(part)]


def _line_end(text: str, at: int, *, back: bool = False) -> int:
    if back:
        return text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null")


def _is_block(value: JSON) -> bool:
    """Whether a value is better written on lines of its own."""
    return bool(value) and (isinstance(value, dict) or (isinstance(value, list) and len(_inline(value)) > 80))


def _block(text: str, section: dict[str, JSON], column: int) -> str:
    """A mapping as indented lines; lists in brackets unless they are long."""
    result, margin = "", " " * column
    for key, item in section.items():
        if isinstance(item, dict) and item:
            result += f"{margin}{_inline(key)}:{_newline(text)}{_block(text, item, column + 2)}"
        elif isinstance(item, list) and _is_block(item):
            result += f"{margin}{_inline(key)}:{_newline(text)}"
            result += "".join(f"{margin}  - {_inline(part)}{_newline(text)}" for part in item)
        else:
            result += f"{margin}{_inline(key)}: {_inline(item)}{_newline(text)}"
    return result


def _inline(value: JSON) -> str:
    """A value on one line, quoted so that it is safe inside brackets too."""
    style = '"' if isinstance(value, str) and "\n" in value else None
    options: dict[str, Any] = {
        "default_flow_style": True,
        "default_style": style,
        "width": 1 << 30,
        "allow_unicode": True,
    }
    return str(yaml.dump([value], Dumper=_Dumper, sort_keys=False, **options)).strip()[1:-1]
