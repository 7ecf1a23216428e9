"""Secrets: the process environment first, then the home's ``.env``, which only its owner may read, and sources."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hermes_core.config.files import explain, held, read_bytes
from hermes_core.environment import is_secret
from hermes_core.errors import UserError
from hermes_core.types.views import SecretOrigin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Sources(Protocol):
        """What plugins read elsewhere; ``hermes_core.plugins.secret_sources`` has those that there are."""

        def get(self, name: str, kept: str) -> str:
            """Return a secret of which the file has ``kept``; empty where who should have it cannot say it."""

        def renew(self) -> bool:
            """Ask again for what was given; whether any of it is another one now."""

        def origins(self, *, ask: bool) -> Iterator[SecretOrigin]:
            """Yield who has which secret; ``ask`` asks them."""


# What changes how programs start is no secret, and whoever may set it may run anything.
_FORBIDDEN = (
    r"PATH|HOME|SHELL|USER|ENV|IFS|PAGER|EDITOR|VISUAL|BROWSER|BASH_ENV|PROMPT_COMMAND|CDPATH|ZDOTDIR|CLASSPATH"
    r"|(LD|DYLD|PYTHON|NODE|NPM_CONFIG|GIT|PERL5|RUBY|BASH_FUNC|UV|PIP|VIRTUAL)_?\w*"
    r"|(_?JAVA|JDK_JAVA|JAVA_TOOL)_OPTIONS|\w+_HOME|\w+_PROFILE|PERL\w*LIB|SSH_ASKPASS|SSL_CERT_\w+"
)
_ALLOWED = r"\w+_(TOKEN|KEY|SECRET|PASSWORD)|(GITHUB|GITLAB|GITEA)_\w+"
UNFIT = "[\0\ud800-\udfff]"  # what no value holds


def unfit(name: str) -> UserError | None:
    """Say why this cannot be a secret's name."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        hint = "Use letters, digits and _; not a digit first."
        return UserError(f"{name!r} cannot be a secret's name.", hint=hint)
    if re.fullmatch(_FORBIDDEN, name.upper()) and not re.fullmatch(_ALLOWED, name.upper()):
        hint = "Set it in the shell that starts Hermes."
        return UserError(f"{name} changes how programs start; it is never kept as a secret.", hint=hint)
    return None


class Secrets:
    """Secrets by name. The file is read when first needed; nothing in here shows a value."""

    def __init__(self, env_file: Path, environ: Mapping[str, str] | None = None) -> None:
        self._file = env_file
        self._environ = os.environ if environ is None else environ
        self._cache: dict[str, str] | None = None
        self.sources: Sources | None = None  # of a kernel, where settings name any
        self.learned: list[str] = []  # every value that those gave; it only grows

    def get(self, name: str) -> str:
        """Return the secret, or an empty string when it is not set, or who should have it cannot say it.

        The environment beats a source that settings map the name to; that beats the file, and the file those that
        give whatever they have. Raises UserError when the file is there and cannot be read.
        """
        if (around := self._environ.get(name)) or self.sources is None:
            return around or self.kept().get(name, "")
        return self.sources.get(name, self.kept().get(name, ""))

    def reload(self) -> bool:
        """Read the file again, and ask sources; whether they have something else than before. Raises UserError."""
        before, self._cache = self._cache, None
        return (self.kept() != (before or {})) | bool(self.sources and self.sources.renew())

    def names(self) -> list[str]:
        """Return the names kept in the file, sorted."""
        return sorted(self.kept())

    def origins(self, *, ask: bool) -> Sequence[SecretOrigin]:
        """Return who has which secret, one row for each; ``ask`` asks the sources too. Raises UserError."""
        theirs = list(self.sources.origins(ask=ask)) if self.sources else []
        around = [SecretOrigin(name=name, source=".env") for name in self.names()]
        names = {one.name for one in (*theirs, *around)}
        return [*(SecretOrigin(name=n, source="environment") for n in names if self._environ.get(n)), *theirs, *around]

    def held_in(self, text: str) -> bool:
        """Tell whether a text holds the value of a secret: one of the file, or of the environment by the look of it.

        Values of fewer than 8 characters stand in any text, and addresses and paths are kept in the file too; these do
        not count. Raises UserError.
        """
        kept = [v for n, v in self.kept().items() if is_secret(n, v) or not v.startswith(("http", "/"))]
        around = [value for name, value in self._environ.items() if is_secret(name, value)]
        return any(len(value) >= 8 and value in text for value in (*kept, *around, *self.learned))

    def set(self, name: str, value: str) -> None:
        """Keep a secret; other lines and comments stay as they are.

        Raises UserError for a forbidden name and when it cannot be written; the file is then unchanged.
        """
        if error := unfit(name):
            raise error
        theirs = self.sources.origins(ask=False) if self.sources else ()
        if place := next((one.source for one in theirs if one.name == name), ""):
            raise UserError(f"{name} is read from {place}.", hint=f"Put it there, or: config unset secrets.env.{name}")
        if re.search(UNFIT, value):
            raise UserError(f"The value of {name} holds characters that a text file cannot.", hint="Enter it again.")
        self._replace(name, value)

    def unset(self, name: str) -> bool:
        """Forget a secret; whether the file held it. Raises UserError when it cannot be written."""
        there = name in self.kept()
        if there:
            self._replace(name, None)
        return there

    def _replace(self, name: str, value: str | None) -> None:
        from hermes_atomic.whole import replace
        from hermes_env_file.lines import changed

        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with held(self._file.parent):
                text = changed(self._read(), name, value)
                replace(self._file, text.encode("utf-8", "surrogateescape"), follow=True)
        except OSError as error:
            raise explain(error, "write", self._file) from error
        self._cache = None

    def kept(self) -> dict[str, str]:
        """Return what the file holds. Raises UserError."""
        if self._cache is None:
            found: dict[str, str] = {}
            if text := self._read():
                from hermes_env_file.lines import values

                found = values(text)
            self._cache = found
        return self._cache

    def _read(self) -> str:
        data = read_bytes(self._file)
        if data and self._file.stat().st_mode & 0o077:
            with suppress(OSError):  # another one's file stays as it is; doctor tells
                self._file.chmod(0o600)
        return (data or b"").decode("utf-8-sig", "surrogateescape")
