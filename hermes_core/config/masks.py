"""What keeps the secrets of a home out of texts that leave the process: logs, transcripts, tool output, errors."""

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from attrs import fields, has

from hermes_core.config.paths import Home
from hermes_core.config.secrets import Secrets
from hermes_core.environment import is_secret
from hermes_core.errors import UserError
from hermes_core.options import Secret
from hermes_core.redaction import Redactor, hidden, mask, redact
from hermes_core.redaction.known import Known
from hermes_core.types.base import JSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.redaction.pii import Pseudonyms

__all__ = ["Masks", "known_values", "pseudonyms"]

_SHORT, _REMEMBERED = 60, 1000  # characters of a text whose cleaned form is remembered, and how many are


class Masks:
    """Made once from the settings: what was on at the start stays on. Nothing is read or compiled before a text is."""

    def __init__(self, secrets: Secrets, config: Any, *, on: bool = True) -> None:
        self._secrets, self._config, self.on = secrets, config, on
        self._short: dict[str, str] = {}

    @cached_property
    def known(self) -> Known:
        """The values that this process was told."""
        return Known(known_values(self._secrets, self._config)) if self.on else Known(())

    def text(self, text: str) -> str:
        """For people and files."""
        if not self.on or len(text) > _SHORT:
            return redact(text, self.known) if self.on else text
        if (found := self._short.get(text)) is None:  # names and states, which come again and again
            found = redact(text, self.known)
            if len(self._short) >= _REMEMBERED:
                self._short.clear()
            self._short[text] = found
        return found

    def for_model(self, text: str) -> str:
        """For a model: a mask that cannot be mistaken for what stood there when it is written back."""
        return redact(text, self.known, mask=hidden) if self.on else text

    def stream(self) -> Redactor | None:
        """For text that comes in pieces; None when nothing is to be masked."""
        return Redactor(self.known, mask=mask) if self.on else None

    def data(self, value: JSON) -> JSON:
        """Every text in a value that is to become JSON; what stands under a secret's name counts as one."""
        if not self.on:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self._under(str(key), item) for key, item in value.items()}
        return [self.data(item) for item in value] if isinstance(value, list | tuple) else value

    def _under(self, key: str, value: JSON) -> JSON:
        from hermes_core.redaction.named import is_named_secret

        if isinstance(value, str) and is_named_secret(key, value):
            return mask(value)
        return self.data(value)


def known_values(secrets: Secrets, config: Any = None, environ: Mapping[str, str] | None = None) -> list[str]:
    """The values of ``.env``, of secret variables of the environment, and of secret settings."""
    try:
        kept = [secrets.get(name) for name in secrets.names()]
    except UserError:  # said elsewhere; what else is known is still hidden
        kept = []
    environ = os.environ if environ is None else environ
    inherited = [value for name, value in environ.items() if len(value) >= 6 and is_secret(name, value)]
    return [*kept, *filter(None, inherited), *_secret_settings(config)]


def _secret_settings(value: Any) -> Iterator[str]:
    if isinstance(value, Secret):
        if not value.reference:
            yield str(value)
    elif has(type(value)):
        for one in fields(type(value)):
            yield from _secret_settings(getattr(value, one.name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from _secret_settings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _secret_settings(item)


def pseudonyms(home: Home | None) -> "Pseudonyms":
    """Names for people that are the same in all texts of a home; without one, for this process only.

    Raises UserError when the key cannot be kept.
    """
    from hermes_core.config.files import explain, read_bytes, write_atomic
    from hermes_core.redaction.pii import Pseudonyms

    if home is None or not home.root.is_dir():
        return Pseudonyms(os.urandom(32))
    path = home.root / "data" / "pseudonyms.key"
    key = read_bytes(path)
    if not key:
        key = os.urandom(32)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomic(path, key)
        except OSError as error:
            raise explain(error, "keep the key of pseudonyms in", path) from error
    return Pseudonyms(key)
