"""Changes to ``config.yaml`` that leave every other character of it alone, or are refused.

The changed text is parsed again: it is written only when exactly the wanted mapping comes out.
"""

import json
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from hermes_atomic.whole import replace
from hermes_core.config.document import parsed
from hermes_core.config.files import explain, held, read_bytes
from hermes_core.config.layers import put
from hermes_core.config.paths import Home
from hermes_core.config.secrets import Secrets
from hermes_core.config.settings import find_problems, foreign
from hermes_core.config.spellings import spelled_out
from hermes_core.errors import ConfigError, UserError
from hermes_core.types.base import JSON
from hermes_yaml_edit.document import Document, Unreadable
from hermes_yaml_edit.edit import Refused

__all__ = ["Edits", "overlap", "refuse_locked", "set_text", "set_value", "unset_value"]

_MARK = b"\xef\xbb\xbf"  # with which some editors begin a text


def overlap(key: str, other: str) -> bool:
    """Tell whether one of two dotted keys holds the other, or is the same."""
    return f"{other}.".startswith(f"{key}.") or f"{key}.".startswith(f"{other}.")


def refuse_locked(locked: Mapping[str, str], *keys: str) -> None:
    """Refuse settings that somebody has locked, in part or with what they are in. Raises UserError, which says who."""
    for one, who in locked.items():
        if any(overlap(key, one) for key in keys):
            raise UserError(f"{who} has locked {one}; it cannot be set.")


class Edits:
    """Changes to the settings of a home: made in the text of its file, and written together or not at all.

    ``sections`` are plugins' classes by path.
    """

    def __init__(self, home: Home, sections: Mapping[str, type] = {}) -> None:
        """Read the file. Raises ConfigError and UserError when it cannot be read."""
        home.create()
        self._home, self._sections = home, sections
        self._before = read_bytes(home.config_file)
        self._document = self._read = parsed(self._before or b"", home.config_file.name)
        if said := foreign(home, self._read.data):
            raise UserError(said)

    def set(self, key: str, value: JSON) -> None:
        """Set one, and create its section if need be.

        Raises ConfigError when the value is not allowed there, UserError when the text cannot be changed.
        """
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            wrong = [f"{key}: a settings file cannot hold {type(value).__name__}"]
            raise ConfigError(wrong, hint="Nothing was changed.") from None
        keys, new, data = _keys(key), value, self._document.data
        if keys[0] == "model" and len(keys) == 2:
            model = data.get("model")
            if isinstance(model, str):
                keys, new = ["model"], {**spelled_out(data)["model"], keys[1]: value}
            elif keys[1] == "default" and isinstance(model, dict) and "model" in model:
                keys = ["model", "model"]
        secrets, wanted = Secrets(self._home.env_file), put(data, keys, new)
        old = find_problems(data, secrets, self._sections)  # what was wrong before may be mended one by one
        wrong = [f"{p.path}: {p.text}" for p in find_problems(wanted, secrets, self._sections) if p not in old]
        if wrong:
            raise ConfigError(wrong, hint="Nothing was changed.")
        self._change(keys, lambda: self._document.with_value(keys, new))

    def unset(self, key: str) -> bool:
        """Remove one, and sections left empty by that; whether it was there. Raises UserError."""
        keys, before = _keys(key), self._document
        self._change(keys, lambda: before.without(keys))
        return self._document is not before

    def _change(self, keys: list[str], change: Callable[[], Document]) -> None:
        try:
            self._document = change()
        except Refused:
            place, hint = self._document.line(keys) or 1, f"Open the file and change {'.'.join(keys)} by hand."
            text = "is written in a way that cannot be changed safely; nothing was changed."
            raise UserError(f"{self._document.name}:{place} {text}", hint=hint) from None

    def write(self) -> None:
        """Write them. Raises UserError when that fails, or somebody else changed the file in the meantime."""
        with _locked(self._home):
            if read_bytes(self._home.config_file) != self._before:
                text = f"{self._home.config_file} was changed meanwhile; nothing was written."
                raise UserError(text, hint="Run it again.")
            self.write_locked()

    def write_locked(self) -> None:
        """Do the same for who keeps everybody else from changing the file. Raises OSError."""
        if self._document is not self._read:
            path, before = self._home.config_file, self._before
            mode = 0o600 if before is None else stat.S_IMODE(path.stat().st_mode)
            mark = _MARK if (before or b"").startswith(_MARK) else b""
            replace(path, mark + self._document.text.encode(), mode=mode, follow=True)


def set_value(home: Home, key: str, value: JSON, *, sections: Mapping[str, type] = {}) -> None:
    """Write one setting, creating file and section if need be. ``sections`` are plugins' classes by path.

    Raises ConfigError when the value is not allowed there, UserError when it cannot be written; nothing is changed
    then.
    """
    with _changing(home, sections) as edits:
        edits.set(key, value)


def set_text(home: Home, key: str, text: str, *, sections: Mapping[str, type] = {}) -> None:
    """Write one setting from what a person typed: ``5`` is a number where one is asked for, and text where not.

    Raises what ``set_value`` raises.
    """
    read: JSON = text
    with suppress(Unreadable):
        read = Document(f"x: {text}", "x").data["x"]
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
    with _changing(home) as edits:
        return edits.unset(key)


@contextmanager
def _changing(home: Home, sections: Mapping[str, type] = {}) -> Iterator[Edits]:
    """Yield changes to the file, which nobody else changes until the block ends; written when it ends well."""
    home.create()
    with _locked(home):
        yield (edits := Edits(home, sections))
        edits.write_locked()


@contextmanager
def _locked(home: Home) -> Iterator[None]:
    try:
        with held(home.root):
            yield
    except OSError as error:
        raise explain(error, "write", home.config_file) from error


def _keys(key: str) -> list[str]:
    if not all(keys := key.split(".")):
        raise UserError(f"{key!r} is not a setting's name.", hint="Write it as section.name.")
    return keys
