"""Changes to ``config.yaml`` that leave every other character of it alone, or are refused.

The changed text is parsed again: it is written only when exactly the wanted mapping comes out.
"""

import copy
import json
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from hermes_core.config.document import parsed, read_document
from hermes_core.config.files import explain, held, write_atomic
from hermes_core.config.paths import Home
from hermes_core.config.secrets import Secrets
from hermes_core.config.settings import find_problems, put
from hermes_core.config.spellings import spelled_out
from hermes_core.errors import ConfigError, UserError
from hermes_core.types.base import JSON
from hermes_yaml_edit.document import Document
from hermes_yaml_edit.edit import Refused, removed, replaced

_MISSING = object()


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
        wrong = [f"{key}: a settings file cannot hold {type(value).__name__}"]
        raise ConfigError(wrong, hint="Nothing was changed.") from None
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
        _write(home, document, wanted, keys, lambda: replaced(document.text, document.node, keys, new))


def set_text(home: Home, key: str, text: str, *, sections: Mapping[str, type] = {}) -> None:
    """Write one setting from what a person typed: ``5`` is a number where one is asked for, and text where not.

    Raises what ``set_value`` raises.
    """
    try:
        read = parsed(f"x: {text}", "x").data["x"]
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
        _write(home, document, wanted, keys, lambda: removed(document.text, document.node, keys))
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
        if not _same(parsed(text, name).data, wanted):
            raise Refused
    except (Refused, ConfigError):
        where = f"{name}:{document.line(keys) or 1}"
        raise UserError(
            f"{where} is written in a way that cannot be changed safely; nothing was changed.",
            hint=f"Open the file and change {'.'.join(keys)} by hand.",
        ) from None
    there = path.exists()
    mode = stat.S_IMODE(path.stat().st_mode) if there else 0o600
    mark = b"\xef\xbb\xbf" if there and path.read_bytes().startswith(b"\xef\xbb\xbf") else b""
    write_atomic(path, mark + text.encode(), mode=mode)
