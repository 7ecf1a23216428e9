"""Changes to ``config.yaml`` that leave every other character of it alone, or are refused.

The text is cut and sewn by the positions of its YAML nodes, then parsed again: it is written only when exactly the
wanted mapping comes out.
"""

import copy
import json
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from textwrap import indent
from typing import Any

import yaml

from hermes_core.config.document import Document, entries, read_document
from hermes_core.config.files import explain, held, write_atomic
from hermes_core.config.paths import Home
from hermes_core.config.secrets import Secrets
from hermes_core.config.settings import find_problems, put
from hermes_core.config.spellings import spelled_out
from hermes_core.errors import ConfigError, UserError
from hermes_core.types.base import JSON

_MISSING = object()
_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):  # type: ignore[misc]
    """Sections on lines of their own, short lists in brackets, and texts of many lines on one line: safe anywhere."""


_Dumper.add_representer(
    list, lambda to, v: to.represent_sequence("tag:yaml.org,2002:seq", v, flow_style=len(str(v)) <= 80 or None)
)
_Dumper.add_representer(
    str, lambda to, v: to.represent_scalar("tag:yaml.org,2002:str", v, style='"' if "\n" in v else None)
)


class _Refusal(Exception):
    """Not a shape that can be changed safely."""


def overlap(key: str, other: str) -> bool:
    """Whether one of two dotted keys holds the other, or is the same."""
    return f"{other}.".startswith(f"{key}.") or f"{key}.".startswith(f"{other}.")


def refuse_locked(name: str, key: str, locked: Iterable[str]) -> None:
    """Raises UserError when the program of this name has locked a setting, a part of it or what it is in."""
    for one in locked:
        if overlap(key, one):
            raise UserError(f"{name} has locked {one}; it cannot be set.")


def set_value(home: Home, key: str, value: JSON, *, sections: Mapping[str, type] = {}) -> None:
    """Write one setting, creating file and section if need be. ``sections`` are plugins' classes by path.

    Raises ConfigError when the value is not allowed there, UserError when it cannot be written; nothing is changed
    then.
    """
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        raise ConfigError([f"{key}: a settings file cannot hold {type(value).__name__}"]) from None
    with _open(home, key) as (document, asked):
        keys, new, data = asked, value, document.data
        if keys[0] == "model" and len(keys) == 2:
            if isinstance(data.get("model"), str):
                keys, new = ["model"], {**spelled_out(data)["model"], keys[1]: value}
            elif keys[1] == "default" and _at(data, ["model", "model"]) is not _MISSING:
                keys = ["model", "model"]
        wanted = put(data, keys, new)
        if _same(wanted, data):
            return
        secrets = Secrets(home.env_file)
        old = find_problems(data, secrets, sections)  # what was wrong before may be mended one by one
        wrong = [f"{p.path}: {p.text}" for p in find_problems(wanted, secrets, sections) if p not in old]
        if wrong:
            raise ConfigError(wrong, hint="Nothing was changed.")
        _write(home, document, wanted, keys, lambda: _replace(document, keys, new))


def set_text(home: Home, key: str, text: str, *, sections: Mapping[str, type] = {}) -> None:
    """Write one setting from what a person typed: ``5`` is a number where one is asked for, and text where not.

    Raises what ``set_value`` raises.
    """
    try:
        read = Document(f"x: {text}", "x").data["x"]
    except ConfigError:
        read = text
    words = text.lower() in ("on", "off", "yes", "no")  # not what these mean to a person unless nothing else fits
    for value in (text, read) if words else (read, text):
        with suppress(ConfigError):
            set_value(home, key, value, sections=sections)
            return
    set_value(home, key, read, sections=sections)  # refused again: this is the reason a person understands


def unset_value(home: Home, key: str) -> bool:
    """Remove one setting, and sections left empty by that; whether it was there.

    Raises UserError when it cannot be removed; nothing is changed then.
    """
    with _open(home, key) as (document, keys):
        wanted = copy.deepcopy(document.data)
        if _at(wanted, keys) is _MISSING:
            return False
        while len(keys) > 1 and len(_at(wanted, keys[:-1])) == 1:
            keys.pop()
        del _at(wanted, keys[:-1])[keys[-1]]
        _write(home, document, wanted, keys, lambda: _remove(document, keys))
    return True


@contextmanager
def _open(home: Home, key: str) -> Iterator[tuple[Document, list[str]]]:
    """The file, which nobody else changes until the block ends, and the parts of the key."""
    keys = key.split(".")
    if not all(keys):
        raise UserError(f"{key!r} is not a setting's name.", hint="Write it as section.name.")
    home.create()
    try:
        with held(home.root):
            yield read_document(home.config_file), keys
    except OSError as error:
        raise explain(error, "write", home.config_file) from error


def _at(data: JSON, keys: list[str]) -> JSON:
    for key in keys:
        data = data.get(key, _MISSING) if isinstance(data, dict) else _MISSING
    return data


def _same(one: JSON, other: JSON) -> bool:
    """Equal also in kind: to Python true is 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _write(home: Home, document: Document, wanted: JSON, keys: list[str], change: Callable[[], str]) -> None:
    path, name = home.config_file, document.name
    try:
        text = change()
        if not _same(Document(text, name).data, wanted):
            raise _Refusal
    except (_Refusal, ConfigError):
        where = f"{name}:{document.line(keys) or 1}"
        raise UserError(
            f"{where} is written in a way that cannot be changed safely; nothing was changed.",
            hint=f"Open the file and change {'.'.join(keys)} by hand.",
        ) from None
    there = path.exists()
    mode = stat.S_IMODE(path.stat().st_mode) if there else 0o600
    mark = b"\xef\xbb\xbf" if there and path.read_bytes().startswith(b"\xef\xbb\xbf") else b""
    write_atomic(path, mark + text.encode(), mode=mode)


def _replace(document: Document, keys: list[str], value: JSON) -> str:
    """The text with the value in the place of what is there, or at the end of its section. Raises _Refusal."""
    text, (section, pair, missing) = document.text, _find(document, keys)
    if missing:
        for key in reversed(missing[1:]):
            value = {key: value}
        return _add(text, pair, section, {missing[0]: value})
    start, end = _span(text, pair)
    if "\n" in text[pair[0].end_mark.index : end] and not section.flow_style:
        return _cut(text, pair, _block(text, {keys[-1]: value}, pair[0].start_mark.column))
    return _swap(text, start, end, (" " if text[start - 1] == ":" else "") + _inline(value))


def _remove(document: Document, keys: list[str]) -> str:
    """The text without the setting; comment lines inside it stay. Raises _Refusal."""
    text, (section, pair, missing) = document.text, _find(document, keys)
    if missing:
        raise _Refusal
    if not section.flow_style:
        return _cut(text, pair, "")
    start, end = pair[0].start_mark.index, _span(text, pair)[1]
    at = section.value.index(pair)
    if at and pair is section.value[-1]:  # the last one takes the comma before it along
        comma = text.index(",", _span(text, section.value[at - 1])[1])
        return text[:comma] + text[comma + 1 : start].rstrip(" ") + _swap(text[start:], 0, end - start, "")
    comma_after = re.compile(r"\s*, *").match(text, end)
    return _swap(text, start, comma_after.end() if comma_after else end, "")


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
            raise _Refusal
        found = next((entry for entry in node.value if entry[0].value == key), None)
        if found is None:
            return node, pair, keys[depth:]
        start = found[1].start_mark.index
        if start < found[0].end_mark.index or document.text[start : start + 1] in ("&", "!", "*"):
            raise _Refusal
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
        raise _Refusal  # a comment would go
    return text[:start] + instead + text[end:]


def _cut(text: str, pair: Any, instead: str) -> str:
    """Replace an entry's lines, but keep comment lines among them (not lines of a text that only look so)."""
    start, end = text.rfind("\n", 0, pair[0].start_mark.index) + 1, _line_end(text, _span(text, pair)[1])
    if text[start : pair[0].start_mark.index].strip():
        raise _Refusal
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
        for _, value in entries(node):
            yield from _texts(value)


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _dump(value: JSON, **style: Any) -> str:
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 30, **style))


def _block(text: str, section: dict[str, JSON], column: int) -> str:
    return indent(_dump(section, default_flow_style=False, line_break=_newline(text)), " " * column)


def _inline(value: JSON) -> str:
    return _dump([value], default_flow_style=True).strip()[1:-1]
