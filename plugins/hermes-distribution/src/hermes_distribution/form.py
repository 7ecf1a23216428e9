"""The file ``hermes-distribution.toml``: read whole, and refused whole where something in it is wrong."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from hermes_distribution.brand import Brand

__all__ = ["Form", "read"]

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_TITLE = re.compile(r"[^\x00-\x1f\x7f`\"'\\]{1,40}")
_WORDS = {  # what may stand in a list: these are printed, and some are handed to programs that install
    **dict.fromkeys(("plugins", "own", "builtin"), re.compile(r"[A-Za-z0-9*?][A-Za-z0-9._*?-]*")),
    "verbs": re.compile(r"[a-z*?][a-z0-9*?-]*(?: [a-z*?][a-z0-9*?-]*)*"),
    "interfaces": re.compile(r"[a-z][a-z0-9-]*"),
}
_KEY = re.compile(r"[\w.:/@*-]+")
_HOST = re.compile(r"(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?")
_LISTS = ("plugins", "own", "builtin", "verbs", "interfaces", "hosts")
_TEXTS = ("name", "title", "version", "skin", "package", "source")
_FLAGS = ("user_plugins", "network")
_TABLES = ("defaults", "locked")
_KNOWN = (*_TEXTS, *_LISTS, *_FLAGS, *_TABLES)


class Form(NamedTuple):
    """What a file says, checked. ``hosts`` is None where commands may reach what the person's settings allow."""

    brand: Brand
    version: str
    plugins: tuple[str, ...]
    own: tuple[str, ...]
    builtin: tuple[str, ...]
    verbs: tuple[str, ...]
    interfaces: tuple[str, ...]
    user_plugins: bool
    network: bool
    hosts: tuple[str, ...] | None
    defaults: Mapping[str, Any]
    locked: Mapping[str, Any]
    package: str
    source: str


def read(file: Path) -> Form:
    """Read a file. Raises UserError with every problem in it, each with its key."""
    try:
        told = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise _wrong(f"{file} cannot be read: {error.strerror}.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _wrong(f"{file} is no TOML: {error}.") from error
    if problems := _problems(told):
        raise _wrong(f"{file} is no distribution:\n" + "\n".join(f"- {one}" for one in problems))
    name, package = told["name"], told.get("package", told["name"])
    lists = {key: tuple(told[key]) for key in _LISTS if key in told}
    title = told.get("title") or name.replace("-", " ").title()
    return Form(
        brand=Brand(name=name, title=title, skin=told.get("skin", "")),
        version=told.get("version") or _version(package),
        plugins=lists.get("plugins", ("*",)),
        own=lists.get("own", ()),
        builtin=lists.get("builtin", ()),
        verbs=lists.get("verbs", ("*",)),
        interfaces=lists.get("interfaces", ("tui", "cli")),
        user_plugins=told.get("user_plugins", True),
        network=told.get("network", True),
        hosts=lists.get("hosts"),
        defaults=_flat(told.get("defaults", {})),
        locked=_flat(told.get("locked", {})),
        package=package,
        source=told.get("source", ""),
    )


def _wrong(text: str) -> Exception:
    from hermes_core.errors import UserError  # where all is well, not before the product's name is on

    return UserError(text)


def _problems(told: Mapping[str, Any]) -> list[str]:
    """Return what is wrong: first what is not to be shown, then its keys and their kinds, then what they say."""
    return list(_misshapen(told)) or list(_misnamed(told)) or list(_hidden(told))


def _hidden(told: Any) -> Iterator[str]:
    """Yield the texts that drive a terminal, or show otherwise than they are: a file is read before it is trusted."""
    if isinstance(told, dict):
        yield from _hidden([*told, *told.values()])
    elif isinstance(told, list):
        for one in told:
            yield from _hidden(one)
    elif isinstance(told, str) and not told.replace("\n", "").replace("\t", "").isprintable():
        yield f"{told!r}: has signs in it that are not seen."


def _misshapen(told: Mapping[str, Any]) -> Iterator[str]:
    for key in told:
        if key not in _KNOWN:
            near = get_close_matches(key, _KNOWN, 1)
            yield f"{key}: no such key" + (f"; did you mean {near[0]}?" if near else ".")
    for keys, kind, words in ((_TEXTS, str, "a text"), (_FLAGS, bool, "true or false"), (_TABLES, dict, "a table")):
        yield from (f"{key}: must be {words}." for key in keys if key in told and not isinstance(told[key], kind))
    for key in _LISTS:
        value = told.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
            yield f"{key}: must be a list of texts."


def _misnamed(told: Mapping[str, Any]) -> Iterator[str]:
    if not _NAME.fullmatch(told.get("name", "")):
        yield "name: must be small letters, digits and hyphens: it is the command and the home folder."
    elif f"{told['name']}-".startswith("hermes-"):
        yield "name: hermes is taken, by Hermes, and so are names that begin with hermes-."
    if "title" in told and not (_TITLE.fullmatch(told["title"]) and told["title"].isprintable()):
        yield "title: must be 1 to 40 characters that can be printed, without quotes and line ends."
    for key in ("version", "skin", "package", "source"):
        if not told.get(key, "").isprintable():
            yield f"{key}: must be characters that can be printed."
    for key, kind in _WORDS.items():
        yield from (f"{key}: {one!r} is no name or pattern." for one in told.get(key, ()) if not kind.fullmatch(one))
    yield from (f"hosts: {one!r} is no host." for one in told.get("hosts", ()) if not _HOST.fullmatch(one))
    if not told.get("network", True) and told.get("hosts"):
        yield "hosts: there are none where network is false."
    for table in _TABLES:
        for key, value in told.get(table, {}).items():
            if not _KEY.fullmatch(key):
                yield f"{table}: {key!r} is no setting."
            if isinstance(value, dict) and "." in key:
                yield f'{table}."{key}": write either a dotted key or tables.'


def _flat(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return dotted settings, of tables within each other and of keys that are dotted already."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict) and value:
            found |= _flat(value, f"{above}{key}.")
        else:
            found[f"{above}{key}"] = value
    return found


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "0"
