"""A YAML text as a mapping and as positions, read strictly: what would be guessed, lost or endless is refused.

A changed one is read again, so that exactly the wanted mapping is in it, and every other character stays.
"""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import yaml

from hermes_yaml_edit.edit import Refused, removed, replaced

__all__ = ["Document", "Unreadable", "entries"]

_PLAIN = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map", "merge")}
_DEEPEST = 50
_MOST_NODES = 100_000  # aliases multiply: a small file can stand for a huge tree

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """YAML 1.1 as PyYAML reads it, but dates stay text."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the name and shape PyYAML looks for
        start: [(tag, form) for tag, form in forms if not tag.endswith(":timestamp")]
        for start, forms in _Base.yaml_implicit_resolvers.items()
    }


class Unreadable(Exception):
    """A text that is no mapping, or more than one. ``problems`` are lines for a person, each with file and line."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = list(problems)


class Document:
    """One parsed file. ``data`` is the mapping; ``node`` its tree, None for an empty file."""

    def __init__(self, text: str, name: str) -> None:
        """Raises Unreadable with every problem that keeps the text from being a mapping of settings."""
        self.text = text
        self.name = name
        try:
            _shallow(text)
            loader = _Loader(text)
            self.node = loader.get_single_node()
            problems = list(dict.fromkeys(_odd(self.node, (), count()))) if self.node else []
            data = loader.construct_document(self.node) if self.node and not problems else None
        except yaml.YAMLError as error:
            raise Unreadable([name + _cause(error, text)]) from error
        except (ValueError, RecursionError) as error:
            why = "too deeply nested" if isinstance(error, RecursionError) else str(error)
            raise Unreadable([f"{name}:1: cannot be read: {why}"]) from error
        if not isinstance(data, dict | None):
            problems = [f"{_line(self.node)}: must hold settings as `name: value`, one a line"]
        if problems:
            raise Unreadable([f"{name}:{problem}" for problem in problems])
        self.data: dict[str, Any] = data or {}

    @classmethod
    def read(cls, data: bytes, name: str) -> "Document":
        """A file's bytes as a document. Raises Unreadable, also for what is not UTF-8."""
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise Unreadable([f"{name}:1: is UTF-16; save it as UTF-8"])
        try:
            return cls(data.decode("utf-8-sig"), name)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise Unreadable([f"{name}:{line}: is not UTF-8 text (byte 0x{data[error.start]:02x})"]) from error

    def line(self, keys: Sequence[str | int]) -> int:
        """The line, counted from 1, of the setting or else of what is nearest to it; 0 in an empty file."""
        node, line = self.node, 0
        for key in keys:
            named = isinstance(node, yaml.MappingNode)
            found = [pair for index, pair in enumerate(entries(node)) if key == (pair[0].value if named else index)]
            if not found:
                break
            line, node = _line(found[0][0]), found[0][1]
        return line

    def with_value(self, keys: Sequence[str], value: Any) -> "Document":
        """The document with a value in its place; itself where that stands there. Raises Refused."""
        wanted = _put(self.data, keys, value)
        return self if _same(wanted, self.data) else self._sure(replaced(self.text, self.node, keys, value), wanted)

    def without(self, keys: Sequence[str]) -> "Document":
        """The document without an entry, and sections left empty by that; itself where it has none. Raises Refused."""
        wanted, keys = copy.deepcopy(self.data), list(keys)
        sections: list[Any] = [wanted]
        for key in keys[:-1]:
            sections.append(sections[-1].get(key) if isinstance(sections[-1], dict) else None)
        if not isinstance(sections[-1], dict) or keys[-1] not in sections[-1]:
            return self
        while len(keys) > 1 and len(sections[-1]) == 1:
            sections.pop()
            keys.pop()
        del sections[-1][keys[-1]]
        return self._sure(removed(self.text, self.node, keys), wanted)

    def _sure(self, text: str, wanted: Mapping[str, Any]) -> "Document":
        try:
            made = Document(text, self.name)
        except Unreadable as error:
            raise Refused from error
        if not _same(made.data, wanted):
            raise Refused
        return made


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal, also in kind: to Python true is 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _put(data: Any, keys: Sequence[str], value: Any) -> dict[str, Any]:
    there = data if isinstance(data, dict) else {}
    return {**there, keys[0]: _put(there.get(keys[0]), keys[1:], value) if len(keys) > 1 else value}


def _shallow(text: str) -> None:
    """Raises ValueError for deep nesting. libyaml composes by recursion in C, which would end the process."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ValueError("it is too deeply nested")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def entries(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    """What is in a section or list; an item of a list is its own name."""
    items = node.value if isinstance(node, yaml.CollectionNode) else ()
    return [item if isinstance(item, tuple) else (item, item) for item in items]


def _odd(node: yaml.Node, above: tuple[int, ...], number: Iterator[int]) -> Iterator[str]:
    """What PyYAML accepts and we do not. Keys are made text on the way: ``on`` and ``12`` are names here."""
    many, itself = next(number) >= _MOST_NODES, id(node) in above
    if many or itself or len(above) > _DEEPEST:
        what = "stands for too much (aliases multiply)" if many else "is too deeply nested"
        what = "contains itself" if itself else what
        raise yaml.composer.ComposerError(None, None, what, node.start_mark)
    if node.tag not in _PLAIN:
        yield f"{_line(node)}: the tag {node.tag} has no meaning here"
    seen: dict[str, int] = {}
    for key, value in entries(node):
        if isinstance(node, yaml.MappingNode) and not isinstance(key, yaml.ScalarNode):
            yield f"{_line(key)}: a name must be text"
        elif isinstance(node, yaml.MappingNode) and key.tag != "tag:yaml.org,2002:merge":
            key.tag = "tag:yaml.org,2002:str"
            if key.value in seen:
                yield f"{_line(key)} {key.value}: is given twice, first in line {seen[key.value]}"
            seen.setdefault(key.value, _line(key))
        yield from _odd(value, (*above, id(node)), number)


def _cause(error: yaml.YAMLError, text: str) -> str:
    """The place in the file, as far as it is known, and what is wrong there."""
    position = getattr(error, "position", None)
    place = "" if position is None else f":{text.encode()[:position].count(10) + 1}"
    if mark := getattr(error, "problem_mark", None) or getattr(error, "context_mark", None):
        place = f":{mark.line + 1}:{mark.column + 1}"
        if text[mark.index : mark.index + 1] == "\t":
            return f"{place}: a tab is used for indentation; YAML wants spaces"
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or error
    return f"{place}: {problem} {getattr(error, 'context', None) or ''}".rstrip()
