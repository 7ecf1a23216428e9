"""What keeps the secrets of a home out of texts that leave the process: logs, tool output, errors."""

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from threading import RLock
from typing import Any

from attrs import fields, has

from hermes_core.config.paths import Home
from hermes_core.config.secrets import Secrets
from hermes_core.environment import is_secret
from hermes_core.errors import UserError
from hermes_core.masking import might_be_secret, put_to_use
from hermes_core.masking.watched import Watched
from hermes_core.options import Secret
from hermes_core.types.base import JSON
from hermes_known.known import Known
from hermes_known.stream import UNJUDGED, MaskingStream, hidden, mask, masked_text

__all__ = ["Masks", "known_values"]

_SHORT, _REMEMBERED = 60, 1000  # characters of a text whose cleaned form is remembered, and how many are
_NOBODY: Sequence[Watched] = (Watched("", None),)  # in the place of maskers that cannot be had: nothing can be judged

log = logging.getLogger(__name__)


class Masks:
    """Made once from the settings: what was on at the start stays on. Nothing is read or loaded before a text is."""

    def __init__(self, secrets: Secrets, config: Any, *, home: Home | None = None, on: bool = True) -> None:
        self._secrets, self._config, self._home, self.on = secrets, config, home, on
        self._source: Callable[[], Sequence[Watched]] = tuple
        self._maskers: Sequence[Watched] | None = None
        self._lock, self._loading = RLock(), False
        self._short: dict[tuple[str, str, int], str] = {}

    def use(self, source: Callable[[], Sequence[Watched]]) -> None:
        """Say where maskers come from: it is asked once, when the first text is masked. Until then there are none."""
        self._source, self._maskers = source, None
        self._short.clear()
        put_to_use(self)

    @property
    def maskers(self) -> Sequence[Watched]:
        """Who finds secrets. While they are loaded, and where that failed, nothing can be judged."""
        if self._maskers is None:
            with self._lock:
                if self._loading:  # what is said on the way: of a plugin that could not be imported, for example
                    return _NOBODY
                if self._maskers is None:
                    self._loading = True
                    found = _NOBODY
                    try:
                        found = tuple(self._source())
                    except Exception:
                        log.exception("the maskers could not be loaded")
                    finally:
                        self._loading = False
                    self._maskers = found
        return self._maskers

    @cached_property
    def known(self) -> Known:
        """The values that this process was told."""
        return Known(known_values(self._secrets, self._config), self._secrets.learned)

    def text(self, text: str) -> str:
        """Mask a text for people and files."""
        return self.always(text) if self.on else text

    def always(self, text: str) -> str:
        """Do the same, whatever the settings say."""
        return self._kept(text, "", lambda: masked_text(text, self.known, self.maskers))

    def _kept(self, text: str, name: str, clean: Callable[[], str]) -> str:
        if len(text) > _SHORT:
            return clean()
        key = text, name, len(self._secrets.learned)  # what was remembered before was cleaned without the newest
        if (found := self._short.get(key)) is None:  # names and states, which come again and again
            found = clean()
            if len(self._short) >= _REMEMBERED:
                self._short.clear()
            if self._maskers is not None:
                self._short[key] = found
        return found

    def for_model(self, text: str) -> str:
        """Mask a text for a model: so that the mask is not mistaken for what stood there when it is written back."""
        return masked_text(text, self.known, self.maskers, hidden) if self.on else text

    def stream(self) -> MaskingStream | None:
        """Return a mask for text that comes in pieces; None when nothing is to be masked."""
        return self.always_stream() if self.on else None

    def always_stream(self, *, people: bool = False) -> MaskingStream:
        """Return the same, whatever the settings say; with names for ``people`` too."""

        def named(secret: str, whole: bool) -> str:
            number = secret[:1] == "+" and secret[1:].isdigit()  # hidden as a secret is, and a person's
            return self.people(secret) if number else mask(secret, whole)

        if people:
            return MaskingStream(self.known, self.maskers, mask=named, after=self.people)
        return MaskingStream(self.known, self.maskers)

    def data(self, value: JSON) -> JSON:
        """Mask every text in a value that is to become JSON; what stands under a secret's name counts as one."""
        if not self.on:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self._under(str(key), item) for key, item in value.items()}
        return [self.data(item) for item in value] if isinstance(value, list | tuple) else value

    def _under(self, key: str, value: JSON) -> JSON:
        def clean() -> str:
            found = {masker.is_secret(value, key) for masker in self.maskers}
            return mask(value, None in found) if found - {False} else self.text(value)

        return self._kept(value, key, clean) if isinstance(value, str) else self.data(value)

    def is_token(self, value: str) -> bool:
        """Tell whether a value is a secret by its look."""
        found = {masker.is_secret(value) for masker in self.maskers}
        return True in found or (None in found and might_be_secret(value))

    @property
    def missing(self) -> Sequence[str]:
        """The plugins whose maskers should be there and are not, so that every text is hidden."""
        return [masker.label for masker in self.maskers if masker.missing]

    def people(self, text: str) -> str:
        """Return the text with names that stand for people; where nobody knows people, nothing of it is shown.

        Raises UserError when the key of the names cannot be kept.
        """
        told: str | None = text if self.maskers else None
        for masker in self.maskers:
            told = told if told is None else masker.people(told, self.name)
        return re.sub(UNJUDGED, "***", text) if told is None else told

    def name(self, kind: str, value: str) -> str:
        """Name a person: the same in all texts of a home; without one, of this process. Raises UserError."""
        import hashlib
        import hmac

        return f"{kind}-{hmac.new(self._key, value.encode('utf-8', 'replace'), hashlib.sha256).hexdigest()[:12]}"

    @cached_property
    def _key(self) -> bytes:
        from hermes_atomic.whole import replace
        from hermes_core.config.files import explain, read_bytes

        if self._home is None or not self._home.root.is_dir():
            return os.urandom(32)
        path = self._home.root / "data" / "pseudonyms.key"
        key = read_bytes(path)
        if not key:
            key = os.urandom(32)
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                replace(path, key)
            except OSError as error:
                raise explain(error, "keep the key of pseudonyms in", path) from error
        return key


def known_values(secrets: Secrets, config: Any = None) -> list[str]:
    """Return the values of ``.env``, of secret variables of the environment, and of secret settings."""
    try:
        kept = list(secrets.kept().values())
    except UserError:  # said elsewhere; what else is known is still hidden
        kept = []
    inherited = [value for name, value in os.environ.items() if len(value) >= 6 and is_secret(name, value)]
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
