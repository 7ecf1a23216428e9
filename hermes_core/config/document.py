"""``config.yaml`` as text, as a mapping and as positions. Imports yaml: only on a cache miss or for a message."""

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from hermes_core.errors import ConfigError
from hermes_core.types.base import JSON

_PLAIN = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map", "merge")}
_TEXT = "tag:yaml.org,2002:str"
_DEEPEST = 50
_MOST_NODES = 100_000  # aliases multiply: a small file can stand for a huge tree

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """YAML 1.1 as PyYAML reads it, but dates stay text."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the name and shape PyYAML looks for
        start: [(tag, form) for tag, form in forms if not tag.endswith(":timestamp")]
        for start, forms in _Base.yaml_implicit_resolvers.items()
    }


class Document:
    """One parsed file. ``data`` is the mapping; ``node`` its tree, None for an empty file."""

    __slots__ = ("data", "name", "node", "text")

    def __init__(self, text: str, name: str) -> None:
        """Raises ConfigError with every problem that keeps the text from being a mapping of settings."""
        self.text = text
        self.name = name
        self.data: dict[str, JSON] = {}
        try:
            loader = _Loader(text)
            self.node = loader.get_single_node()
            if self.node is None:
                return
            problems = list(dict.fromkeys(self._odd(self.node, ())))
            data = None if problems else loader.construct_document(self.node)
        except yaml.YAMLError as error:
            raise ConfigError([f"{name}{_place(error, text)}: {_cause(error, text)}"]) from error
        except (ValueError, RecursionError) as error:
            why = "too deeply nested" if isinstance(error, RecursionError) else str(error)
            raise ConfigError([f"{name}:1: cannot be read: {why}"]) from error
        if not problems and not isinstance(data, dict) and data is not None:
            problems.append(f"{name}:{self._line(self.node)}: must hold settings as `name: value`, one a line")
        if problems:
            raise ConfigError(problems)
        self.data = data or {}

    def line(self, keys: Sequence[str | int]) -> int:
        """The line, counted from 1, of the setting or else of what is nearest to it; 0 in an empty file."""
        node, line = self.node, 0
        for key in keys:
            if isinstance(node, yaml.MappingNode):
                pair = next((pair for pair in node.value if pair[0].value == key), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
                pair = (node.value[key], node.value[key])
            else:
                pair = None
            if pair is None:
                break
            line, node = self._line(pair[0]), pair[1]
        return line

    @staticmethod
    def _line(node: yaml.Node) -> int:
        return int(node.start_mark.line) + 1

    def _odd(self, root: yaml.Node, above: tuple[int, ...], count: list[int] | None = None) -> Iterator[str]:
        """What PyYAML accepts and we do not. Keys are made text on the way: ``on`` and ``12`` are names here."""
        count = count if count is not None else [0]
        count[0] += 1
        if id(root) in above or len(above) > _DEEPEST or count[0] > _MOST_NODES:
            what = "stands for too much (aliases multiply)" if count[0] > _MOST_NODES else "is too deeply nested"
            what = "contains itself" if id(root) in above else what
            raise yaml.composer.ComposerError(None, None, what, root.start_mark)
        if root.tag not in _PLAIN:
            yield f"{self.name}:{self._line(root)}: the tag {root.tag} has no meaning here"
        seen: dict[str, int] = {}
        for item in root.value if not isinstance(root, yaml.ScalarNode) else ():
            key, value = item if isinstance(item, tuple) else (None, item)
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                key.tag = _TEXT
                if key.value in seen:
                    yield (
                        f"{self.name}:{self._line(key)} {key.value}: is given twice, first in line {seen[key.value]}"
                    )
                seen.setdefault(key.value, self._line(key))
            elif key is not None and not isinstance(key, yaml.ScalarNode):
                yield f"{self.name}:{self._line(key)}: a name must be text"
            yield from self._odd(value, (*above, id(root)), count)


def decode(data: bytes, name: str) -> str:
    """The file's text without its byte order mark. Raises ConfigError naming the line that is not UTF-8."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ConfigError([f"{name}:1: is UTF-16; save it as UTF-8"])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError([f"{name}:{line}: is not UTF-8 text (byte 0x{data[error.start]:02x})"]) from error


def _place(error: yaml.YAMLError, text: str) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        return f":{mark.line + 1}:{mark.column + 1}"
    position = getattr(error, "position", None)
    return "" if position is None else f":{text.encode()[:position].count(10) + 1}"


def _cause(error: yaml.YAMLError, text: str) -> str:
    mark = getattr(error, "problem_mark", None)
    lines = text.splitlines()
    if mark is not None and mark.line < len(lines) and lines[mark.line][mark.column : mark.column + 1] == "\t":
        return "a tab is used for indentation; YAML wants spaces"
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or error
    context = getattr(error, "context", None)
    return f"{problem} {context}" if context else str(problem)
