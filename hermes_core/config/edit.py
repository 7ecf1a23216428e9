"""Changes to ``config.yaml`` that leave every other character of it alone, or are refused."""

import copy
import json
import stat
from collections.abc import Mapping, Sequence

from hermes_core.config.check import Problem
from hermes_core.config.document import Document
from hermes_core.config.files import explain, held, write_atomic
from hermes_core.config.paths import Home
from hermes_core.config.schema import spelled_out
from hermes_core.config.secrets import Secrets
from hermes_core.config.settings import read_document, read_kernel, read_section
from hermes_core.config.surgery import Refusal, remove, replace
from hermes_core.errors import ConfigError, UserError
from hermes_core.types.base import JSON

_MISSING = object()


def set_value(home: Home, key: str | Sequence[str], value: JSON, *, sections: Mapping[str, type] | None = None) -> None:
    """Write one setting, creating file and section if need be. ``sections`` are plugins' classes by path.

    Raises ConfigError when the value is not allowed there, UserError when it cannot be written; nothing is changed
    then.
    """
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        raise ConfigError([f"{key}: a settings file cannot hold {type(value).__name__}"]) from None
    _edit(home, _split(key), value, sections or {})


def set_text(home: Home, key: str | Sequence[str], text: str, *, sections: Mapping[str, type] | None = None) -> None:
    """Write one setting from what a person typed: ``5`` is a number where one is asked for, and text where not.

    Raises what ``set_value`` raises.
    """
    try:
        read = Document(f"x: {text}", "x").data["x"]
    except ConfigError:
        read = text
    words = text.lower() in ("on", "off", "yes", "no")  # not what these mean to a person unless nothing else fits
    first, second = (text, read) if words else (read, text)
    try:
        set_value(home, key, first, sections=sections)
    except ConfigError:
        if first == second:
            raise
        try:
            set_value(home, key, second, sections=sections)
        except ConfigError as error:
            raise error from None


def unset_value(home: Home, key: str | Sequence[str]) -> bool:
    """Remove one setting, and sections left empty by that; whether it was there.

    Raises UserError when it cannot be removed; nothing is changed then.
    """
    return _edit(home, _split(key), _MISSING, {})


def _split(key: str | Sequence[str]) -> list[str]:
    keys = key.split(".") if isinstance(key, str) else list(key)
    if not all(keys):
        raise UserError(f"{key!r} is not a setting's name.", hint="Write it as section.name.")
    return keys


def _edit(home: Home, keys: list[str], value: JSON, sections: Mapping[str, type]) -> bool:
    home.create()
    path = home.config_file
    try:
        with held(home.root):
            document = read_document(path)
            wanted, keys, value = _wanted(document.data, keys, value)
            if _same(wanted, document.data):
                return value is not _MISSING
            _check(home, document.data, wanted, sections)
            text = _changed(document, keys, value, wanted)
            mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
            mark = b"\xef\xbb\xbf" if path.exists() and path.read_bytes().startswith(b"\xef\xbb\xbf") else b""
            write_atomic(path, mark + text.encode(), mode=mode)
    except OSError as error:
        raise explain(error, "write", path) from error
    return True


def _has(data: JSON, keys: list[str]) -> bool:
    for key in keys:
        if not isinstance(data, dict) or key not in data:
            return False
        data = data[key]
    return True


def _wanted(data: dict[str, JSON], keys: list[str], value: JSON) -> tuple[dict[str, JSON], list[str], JSON]:
    """The mapping that must come out, and the single change that leads there."""
    wanted = copy.deepcopy(data)
    if keys[0] == "model" and len(keys) == 2 and value is not _MISSING:
        if isinstance(data.get("model"), str):
            return _wanted(data, ["model"], {**spelled_out(data)["model"], keys[1]: value})
        if keys[1] == "default" and _has(data, ["model", "model"]):
            keys = ["model", "model"]
    if value is _MISSING:
        while len(keys) > 1 and _has(wanted, keys) and len(_at(wanted, keys[:-1])) == 1:
            keys = keys[:-1]  # the section would be empty
        if _has(wanted, keys):
            del _at(wanted, keys[:-1])[keys[-1]]
        return wanted, keys, value
    there: JSON = wanted
    for depth, key in enumerate(keys[:-1]):
        child = there.get(key)
        if child is not None and not isinstance(child, dict):
            raise UserError(f"{'.'.join(keys[: depth + 1])} is a value, not a section.", hint="Unset it first.")
        there[key] = there = {} if child is None else child
    there[keys[-1]] = copy.deepcopy(value)
    return wanted, keys, value


def _at(data: JSON, keys: list[str]) -> JSON:
    for key in keys:
        data = data[key]
    return data


def _check(home: Home, before: dict[str, JSON], after: dict[str, JSON], sections: Mapping[str, type]) -> None:
    """Refuse what the change makes wrong; what was wrong before may be mended one by one."""
    secrets = Secrets(home.env_file)

    def found(data: dict[str, JSON]) -> list[Problem]:
        parts = (read_section(data, secrets, path, cls)[1] for path, cls in sections.items())
        return [problem for part in (read_kernel(data, secrets)[1], *parts) for problem in part]

    old = found(before)
    new = [f"{problem.path}: {problem.text}" for problem in found(after) if problem not in old]
    if new:
        raise ConfigError(new, hint="Nothing was changed.")


def _same(one: JSON, other: JSON) -> bool:
    """Equal also in kind: to Python true is 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _changed(document: Document, keys: list[str], value: JSON, wanted: dict[str, JSON]) -> str:
    try:
        text = remove(document, keys) if value is _MISSING else replace(document, keys, value)
        if _same(Document(text, document.name).data, wanted):
            return text
    except (Refusal, ConfigError):
        pass
    line = document.line(keys) or 1
    todo = f"remove {'.'.join(keys)}" if value is _MISSING else f"set {'.'.join(keys)}"
    raise UserError(
        f"{document.name}:{line} is written in a way that cannot be changed safely; nothing was changed.",
        hint=f"Open the file and {todo} by hand.",
    )
