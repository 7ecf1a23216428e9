"""Changes to one entry of a YAML text: the text is cut and sewn by the positions of its nodes.

Parse what comes out, and use it only when exactly the wanted mapping is in it.
"""

import re
from collections.abc import Iterator, Sequence
from textwrap import indent
from typing import Any

import yaml

__all__ = ["Refused", "removed", "replaced"]

_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):  # type: ignore[misc]
    """Sections on lines of their own, short lists in brackets, and texts of many lines on one line: safe anywhere."""


_Dumper.add_representer(
    list, lambda to, v: to.represent_sequence("tag:yaml.org,2002:seq", v, flow_style=len(str(v)) <= 80 or None)
)
_Dumper.add_representer(
    str, lambda to, v: to.represent_scalar("tag:yaml.org,2002:str", v, style='"' if "\n" in v else None)
)


class Refused(Exception):
    """Not a shape that can be changed safely: an alias, an anchor, a tag, a comment that would go."""


def replaced(text: str, root: yaml.Node | None, keys: Sequence[str], value: Any) -> str:
    """The text with the value in the place of what is there, or at the end of its section.

    ``root`` is the node of the text, None where it is empty. Raises Refused.
    """
    section, pair, missing = _find(text, root, keys)
    if missing:
        for key in reversed(missing[1:]):
            value = {key: value}
        return _add(text, pair, section, {missing[0]: value})
    start, end = _span(text, pair)
    if "\n" in text[pair[0].end_mark.index : end] and not section.flow_style:
        return _cut(text, pair, _block(text, {keys[-1]: value}, pair[0].start_mark.column))
    return _swap(text, start, end, (" " if text[start - 1] == ":" else "") + _inline(value))


def removed(text: str, root: yaml.Node | None, keys: Sequence[str]) -> str:
    """The text without the entry; comment lines inside it stay. Raises Refused, also where there is none."""
    section, pair, missing = _find(text, root, keys)
    if missing:
        raise Refused
    if not section.flow_style:
        return _cut(text, pair, "")
    start, end = pair[0].start_mark.index, _span(text, pair)[1]
    at = section.value.index(pair)
    if at and pair is section.value[-1]:  # the last one takes the comma before it along
        comma = text.index(",", _span(text, section.value[at - 1])[1])
        return text[:comma] + text[comma + 1 : start].rstrip(" ") + _swap(text[start:], 0, end - start, "")
    comma_after = re.compile(r"\s*, *").match(text, end)
    return _swap(text, start, comma_after.end() if comma_after else end, "")


def _find(text: str, root: yaml.Node | None, keys: Sequence[str]) -> tuple[Any, Any, Sequence[str]]:
    """The innermost section on the way, the entry that was found last, and the keys that are missing in the section.

    An alias stands for something elsewhere, and an anchor or tag would be lost: such an entry is refused.
    """
    section: Any = None
    pair: Any = None
    node: Any = root
    for depth, key in enumerate(keys):
        if node is None or node.tag.endswith(":null"):
            return None, pair, keys[depth:]
        if not isinstance(node, yaml.MappingNode):
            raise Refused
        found = next((entry for entry in node.value if entry[0].value == key), None)
        if found is None:
            return node, pair, keys[depth:]
        start = found[1].start_mark.index
        if start < found[0].end_mark.index or text[start : start + 1] in ("&", "!", "*"):
            raise Refused
        section, pair, node = node, found, found[1]
    return section, pair, []


def _add(text: str, pair: Any, section: Any, entry: dict[str, Any]) -> str:
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
        raise Refused  # a comment would go
    return text[:start] + instead + text[end:]


def _cut(text: str, pair: Any, instead: str) -> str:
    """Replace an entry's lines, but keep comment lines among them (not lines of a text that only look so)."""
    start, end = text.rfind("\n", 0, pair[0].start_mark.index) + 1, _line_end(text, _span(text, pair)[1])
    if text[start : pair[0].start_mark.index].strip():
        raise Refused
    texts, kept = list(_texts(pair[1])), ""
    for line in re.compile(r"(?m)^[ \t]*#.*\n?").finditer(text, start, end):
        if not any(begin < line.end() and line.start() < stop for begin, stop in texts):
            kept += line[0]
    return text[:start] + instead + kept + text[end:]


def _span(text: str, pair: Any) -> tuple[int, int]:
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
        for item in node.value if isinstance(node, yaml.CollectionNode) else ():
            yield from _texts(item[1] if isinstance(item, tuple) else item)


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _dump(value: Any, **style: Any) -> str:
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 30, **style))


def _block(text: str, section: dict[str, Any], column: int) -> str:
    return indent(_dump(section, default_flow_style=False, line_break=_newline(text)), " " * column)


def _inline(value: Any) -> str:
    return _dump([value], default_flow_style=True).strip()[1:-1]
